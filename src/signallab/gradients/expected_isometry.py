"""Isometry after a random rotation and batch normalization: GRAD, Section 6.2.1, Appendix C.1.

Matrices are ``(..., d, n)`` as in the document: rows are features, columns samples, and mostly
``n = d``. Spectra ``(d,)`` hold the eigenvalues of ``X X^T``, which sum to d where ``X = BN(.)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import special
from sympy import Integer, Matrix

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "as_defined",
    "bounds_on_eigenvalues",
    "by_definition",
    "correlated",
    "corollary",
    "corollary_exactly",
    "degenerate",
    "displays",
    "expected_log_length",
    "fixed_rotations",
    "gap",
    "gap_as_printed",
    "growth",
    "haar",
    "in_the_plane",
    "inputs",
    "invariants",
    "moment",
    "moments",
    "multiples",
    "perfect_rotation",
    "quadrature",
    "rotation",
    "sharper_factor",
    "some_rotation",
    "spread",
    "squares",
    "sum_of_eigenvalues",
    "table_of_falls",
    "table_of_growth",
    "unit_rows",
    "weingarten",
]

Factor = Callable[[Any], Any]


def unit_rows(x: Floats) -> Floats:
    """BN of GRAD Eq. 6.4, ``(..., d, n)``: each row is divided by its length.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 2.0]])).tolist()
    [[0.6, 0.8], [0.0, 1.0]]
    """
    result: Floats = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return result


def by_definition(x: Floats, axis: int = 1, printed: bool = False) -> Case:
    """GRAD Eq. 6.4: entry by entry, and as a product with a diagonal matrix; ``axis`` is summed.

    ``printed`` ends the sum after d terms, for ``(d, n)``.

    >>> case = by_definition(np.array([[3.0, 4.0], [0.0, 2.0]]))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    summed = x[:, : len(x)] if printed else x
    entries = x / np.sqrt(np.sum(summed**2, axis=axis, keepdims=True))
    return Case(np.diag(np.diag(x @ x.T) ** -0.5) @ x, entries, words=f"{x.shape}")


def gap(x: Floats) -> Any:
    """GRAD Eq. 6.5 for square matrices ``(..., d, d)``, from the log-determinant.

    >>> round(float(gap(np.diag([1.0, 2.0]))), 6)  # log(5/4) with squared singular values 1, 4
    0.223144
    """
    d = x.shape[-1]
    return np.log(np.sum(x**2, axis=(-2, -1)) / d) - 2 * np.linalg.slogdet(x)[1] / d


def gap_as_printed(x: Floats) -> float:
    """GRAD Eq. 6.5 for one matrix ``(d, n)`` of independent columns, with the printed 1/d.

    >>> round(gap_as_printed(np.array([[1.0], [0.0]])), 6)  # -log 2
    -0.693147
    """
    d = len(x)
    gram = x.T @ x
    return float(np.log(np.trace(gram) / d) - np.linalg.slogdet(gram)[1] / d)


def as_defined(x: Any, mended: bool = False, lift: float = 0.0) -> Case:
    """GRAD Eq. 6.5: the gap is not negative, ``lift <= phi(x)``; ``mended`` has 1/n for 1/d.

    >>> case = as_defined(np.array([[1.0], [0.0]]))
    >>> case.left <= case.right
    False
    """
    value = float(sp.isometry_gap(x.T)) if mended else gap_as_printed(x)
    words = f"d = {x.shape[0]}, n = {x.shape[1]}"
    return Case(lift, value + 1e-12, {"independent columns": np.isfinite(value)}, words=words)


def haar(d: int, draws: int, stream: Stream) -> Floats:
    """Return Haar-orthogonal matrices ``(draws, d, d)``.

    >>> w = haar(3, 2, Stream(0))
    >>> bool(np.allclose(w @ w.transpose(0, 2, 1), np.eye(3)))
    True
    """
    w: Floats = np.empty((draws, d, d))
    sp.orthogonal().fill(w, stream.numpy("rotations", d))
    return w


def correlated(d: int, rho: float) -> Floats:
    """Return a normalized ``X`` ``(d, d)`` whose rows have equal inner products ``rho``.

    The eigenvalues of ``X X^T`` are ``1 + (d - 1) rho`` and, d - 1 times, ``1 - rho``; X is the
    symmetric root.

    >>> x = correlated(3, 0.5)
    >>> bool(np.allclose(x @ x.T, [[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]]))
    True
    """
    if not -1 / (d - 1) < rho < 1:
        raise ValueError(f"rho must lie between -1/(d - 1) and 1, got {rho}")
    mean = np.full((d, d), 1 / d)
    root: Floats = np.sqrt(1 - rho) * (np.eye(d) - mean) + np.sqrt(1 + (d - 1) * rho) * mean
    return root


def inputs(d: int, stream: Stream) -> dict[str, Floats]:
    """Return normalized, full-rank inputs ``(d, d)`` by name, from near isometry to near rank one.

    >>> [name for name in inputs(2, Stream(0))]
    ['correlation 0.1', 'correlation 0.5', 'correlation 0.95', 'Gaussian']
    """
    found = {f"correlation {rho}": correlated(d, rho) for rho in (0.1, 0.5, 0.95)}
    found["Gaussian"] = unit_rows(stream.numpy("inputs", d).normal(size=(d, d)))
    return found


def fixed_rotations(x: Floats) -> dict[str, Floats]:
    """Return orthogonal matrices by name, some of them made for ``x`` ``(d, d)``.

    >>> list(fixed_rotations(np.eye(2)))
    ['none', 'reversed order', 'a reflection', 'its left singular vectors']
    """
    d = len(x)
    v = np.ones((d, 1)) / np.sqrt(d)
    return {
        "none": np.eye(d),
        "reversed order": np.eye(d)[::-1].copy(),
        "a reflection": np.eye(d) - 2 * v @ v.T,
        "its left singular vectors": np.linalg.svd(x)[0].T,
    }


def squares(d: int, count: int, stream: Stream) -> dict[str, Floats]:
    """Return ``count`` square inputs ``(count, d, d)`` by name: rows of all lengths, and of one.

    >>> {name: x.shape for name, x in squares(2, 3, Stream(0)).items()}
    {'all lengths': (3, 2, 2), 'length 1': (3, 2, 2)}
    """
    draw = stream.numpy("squares", d)
    x = draw.normal(size=(count, d, d))
    lengths = np.exp(draw.normal(size=(count, d, 1)))
    return {"all lengths": x * lengths, "length 1": unit_rows(x)}


def degenerate() -> list[dict[str, Any]]:
    """Return points for :func:`perfect_rotation`: a row is twice, or 4/3 of, another.

    >>> [np.linalg.matrix_rank(point["x"]).item() for point in degenerate()]
    [1, 2]
    """
    rows = ([[9, 12], [12, 16]], [[1, 2, 0], [2, 4, 0], [0, 0, 3]])
    return [{"x": np.array(x, dtype=float), "words": f"rows {x}"} for x in rows]


def multiples(stream: Stream) -> list[dict[str, Any]]:
    """Return points for :func:`some_rotation`: ``2 Q`` with a random orthogonal Q.

    >>> [point["words"] for point in multiples(Stream(0))]
    ['d = 2, 2Q', 'd = 3, 2Q']
    """
    return [{"x": 2.0 * haar(d, 1, stream)[0], "words": f"d = {d}, 2Q"} for d in (2, 3)]


def rotation(
    x: Floats,
    w: Floats,
    words: str = "",
    factor: Factor = theory.iso_theorem_4_3,
    layer: Factor = unit_rows,
) -> Case:
    """GRAD Lemma 6.2: ``factor(row lengths of W X) I(X) <= I(BN(W X))``.

    ``x`` is ``(d, d)``, or a stack; ``w`` likewise. The factor that makes it an equality is
    ``theory.iso_normalization_gain``.

    >>> case = rotation(np.diag([1.0, 3.0]), np.eye(2))
    >>> round(float(case.left), 12), float(case.right)
    (0.75, 1.0)
    """
    rotated = w @ x
    before = np.exp(-gap(x))
    left = before * factor(np.linalg.norm(rotated, axis=-1))
    right = np.exp(-gap(layer(rotated)))
    return Case(left, right, {"X is not degenerate": bool(np.all(before > 0))}, words=words)


def invariants(x: Floats, w: Floats, words: str = "") -> Case:
    """GRAD (C.3) to (C.6): log-determinant and trace of ``W X X^T W^T`` and of ``X X^T``.

    >>> case = invariants(np.diag([1.0, 3.0]), np.eye(2)[::-1])
    >>> bool(np.allclose(case.left, case.right))
    True
    """

    def both(m: Floats) -> Floats:
        # The determinant of m squared: forming the Gram matrix would square the condition number.
        return np.stack([2 * np.linalg.slogdet(m)[1], np.sum(m**2, axis=(-2, -1))])

    return Case(both(w @ x), both(np.broadcast_to(x, (w @ x).shape)), words=words)


def perfect_rotation(x: Floats, words: str = "", side: str = "U^T") -> Case:
    """GRAD Corollary C.3: ``BN(U^T X)`` beside ``V^T``, and its isometry beside 1.

    ``side`` says what multiplies X from the left, of its singular value decomposition. BN leaves a
    row of zeros as it is; what is below 1e-12 of the longest row is rounding, and counts as zeros.

    >>> case = perfect_rotation(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    u, _, vt = np.linalg.svd(x)
    after = _normalized({"U^T": u.T, "U": u, "V^T": vt}[side] @ x)
    left = np.append(after, np.exp(-gap(after)))
    return Case(left, np.append(vt, 1.0), words=words)


def some_rotation(x: Floats, words: str = "", rotated: bool = True) -> Case:
    """GRAD, after Corollary C.3: some rotation increases isometry, ``I(X) < I(BN(U^T X))``.

    None does better than this one, which reaches 1 if any does. A millionth stands for the strict
    sign; without ``rotated`` batch normalization has to increase isometry alone.

    >>> case = some_rotation(np.diag([1.0, 2.0]))
    >>> case.left < case.right
    True
    """
    turned = np.linalg.svd(x)[0].T @ x if rotated else x
    before, after = np.exp(-gap(x)), np.exp(-gap(_normalized(turned)))
    return Case(float(before) + 1e-6, float(after), words=words)


def _normalized(x: Floats) -> Floats:
    """Rows of length 1, but those of zeros, up to rounding, which stay zeros."""
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    zero = lengths < 1e-12 * lengths.max()
    result: Floats = np.where(zero, 0.0, x / np.where(zero, 1.0, lengths))
    return result


def spread(eigenvalues: Any) -> float:
    """Return ``sum (lambda_k - 1)^2``, how far a normalized input is from isometry.

    >>> spread([0.5, 1.5])
    0.5
    """
    return float(np.sum((np.asarray(eigenvalues) - 1) ** 2))


def sharper_factor(eigenvalues: Any) -> float:
    """Return ``exp(sum (lambda_k - 1)^2 / (d (d + 2) max lambda))``, also a lower bound.

    Why it is right: with ``a_j^2 = 1 + u_j`` the squared row lengths of WX, isometry grows by
    ``exp(-mean log(1 + u_j))``, whose mean is at least ``exp(E(u - log(1 + u)))`` (Jensen,
    ``E u = 0``). Since ``u - log(1 + u) >= u^2 / (2 max(1, 1 + u))`` and ``1 + u`` is an average of
    the eigenvalues, that is at least ``exp(E u^2 / (2 max lambda))``, and
    ``E u^2 = 2 sum (lambda_k - 1)^2 / (d (d + 2))`` by the fourth moments of one row of W.

    >>> round(sharper_factor([0.0, 2.0]), 6)  # exp(1/8)
    1.133148
    """
    d = len(eigenvalues)
    return float(np.exp(spread(eigenvalues) / (d * (d + 2) * np.max(eigenvalues))))


def quadrature(d: int, order: int = 32) -> tuple[Floats, Floats]:
    """Return rotations ``(m, d, d)`` of the plane or of space, and weights ``(m,)`` that sum to 1.

    Means over O(d) of functions that do not depend on the signs of rows are sums with these
    weights, exactly for polynomials of degree below ``order``. Why it is right: Haar measure of
    SO(3) in Euler angles is ``d alpha d(cos beta) d gamma``, and equidistant points integrate
    trigonometric polynomials, Gauss's points those in ``cos beta``. Odd powers of ``sin beta`` come
    with odd frequencies of the other angles and so integrate to zero on both sides.

    >>> w, weights = quadrature(2)
    >>> round(float(weights @ w[:, 0, 0] ** 4), 12)  # the mean of cos^4
    0.375
    """
    turns = 2 * np.pi * np.arange(order) / order
    zero, one = np.zeros(order), np.ones(order)
    cos, sin = np.cos(turns), np.sin(turns)
    about = np.array([[cos, -sin, zero], [sin, cos, zero], [zero, zero, one]]).transpose(2, 0, 1)
    if d == 2:
        return about[:, :2, :2], one / order
    if d != 3:
        raise ValueError(f"d must be 2 or 3, got {d}")
    c, weights = np.polynomial.legendre.leggauss(order)
    s = np.sqrt(1 - c**2)
    tilt = np.array([[c, zero, s], [zero, one, zero], [-s, zero, c]]).transpose(2, 0, 1)
    w: Floats = about[:, None, None] @ tilt[None, :, None] @ about[None, None, :]
    all_weights = np.broadcast_to(weights[None, :, None] / 2 / order**2, (order,) * 3)
    return w.reshape(-1, 3, 3), all_weights.ravel()


def growth(
    x: Floats,
    w: Floats,
    words: str = "",
    factor: Factor = theory.grad_theorem_6_3,
    weights: Floats | None = None,
) -> Case:
    """GRAD Theorem 6.3: ``E (1 - I(BN(W X))) <= 1 - factor I(X)`` over ``w`` ``(draws, d, d)``.

    Without ``weights`` the left side has one number a draw, with them it is the mean.

    >>> w, weights = quadrature(2)
    >>> case = growth(correlated(2, 0.6), w, weights=weights)
    >>> bool(case.left < case.right)
    True
    """
    lost = 1 - np.exp(-gap(unit_rows(w @ x)))
    right = 1 - factor(np.linalg.eigvalsh(x @ x.T)) * float(np.exp(-gap(x)))
    rows = {"rows of X have length 1": bool(np.allclose(np.sum(x**2, axis=-1), 1))}
    return Case(lost if weights is None else float(weights @ lost), right, rows, words=words)


def in_the_plane(epsilon: float, factor: Factor = theory.grad_theorem_6_3) -> Case:
    """GRAD Theorem C.4 for d = 2 and the eigenvalues ``1 ± epsilon``: factor and exact growth.

    ``E I(BN(W X)) / I(X) = (2 / pi) K(epsilon)``, the complete elliptic integral of the first kind
    (of the modulus epsilon): the squared lengths are ``1 ± epsilon cos 2 theta``.

    >>> case = in_the_plane(0.0)
    >>> float(case.left), float(case.right)
    (1.0, 1.0)
    """
    exact = 2 / np.pi * float(special.ellipk(epsilon**2))
    return Case(factor([1 - epsilon, 1 + epsilon]), exact, words=f"eigenvalues 1 ± {epsilon}")


def displays(x: Floats, words: str = "", times: float = 1.0) -> Case:
    """GRAD (C.16), (C.35), (C.39) for d = 2 or 3 by integration: left sides and bounds ``(3,)``.

    ``times`` multiplies the spread in (C.35) and (C.39).

    >>> case = displays(correlated(2, 0.5))
    >>> bool((case.left < case.right).all())
    True
    """
    d = len(x)
    w, weights = quadrature(d)
    a = np.linalg.norm(w @ x, axis=-1)
    total = a.sum(axis=-1) ** 2
    values = np.linalg.eigvalsh(x @ x.T)
    left = [d**2 / (weights @ total), weights @ (a[:, 0] * a[:, 1]), weights @ total]
    right = [
        weights @ (d**2 / total),
        theory.grad_equation_c_35(values, times),
        theory.grad_equation_c_39(values, times),
    ]
    return Case(np.array(left), np.array(right), words=words)


def expected_log_length(eigenvalues: Any) -> float:
    """Return ``E log(sum_k lambda_k w_k^2)`` for a unit vector w of uniform direction.

    For ``X = BN(.)`` and Haar W this is the mean of ``psi(BN(W X)) - psi(X)``, exactly: the lengths
    alone decide (Lemma 6.2), and each row of W is such a vector.

    Why it is right: w is a Gaussian vector over its length, so the mean is that of
    ``log(sum lambda_k g_k^2) - log(sum g_k^2)``. With ``log q = ∫ (e^-t - e^-qt) / t dt`` it is
    ``∫ (prod (1 + 2 t)^(-1/2) - prod (1 + 2 lambda_k t)^(-1/2)) / t dt``. In ``log t`` both ends
    decay exponentially, and equidistant points converge faster than any power.

    >>> bool(np.isclose(expected_log_length([0.4, 1.6]), np.log((1 + 0.8) / 2)))  # by hand
    True
    """
    values = np.asarray(eigenvalues, dtype=float)
    logs, step = np.linspace(-60, 120, 6001, retstep=True)
    t = np.exp(logs)
    flat = -len(values) / 2 * np.log1p(2 * t)
    spectrum = -np.log1p(2 * values * t[:, None]).sum(axis=-1) / 2
    return float(-np.sum(np.exp(flat) * np.expm1(spectrum - flat)) * step)


def corollary(
    x: Floats, w: Floats, words: str = "", layer: Factor = lambda m: m, times: float = 1.0
) -> Case:
    """GRAD Corollary 6.4 at draws ``w``: ``E psi(layer(W X)) <= psi(X) + times log(1 - ...)``.

    As printed there is no layer.

    >>> case = corollary(correlated(2, 0.5), haar(2, 3, Stream(0)))
    >>> bool((case.left > case.right).all())
    True
    """
    right = float(gap(x)) - times * np.log(theory.grad_theorem_6_3(np.linalg.eigvalsh(x @ x.T)))
    return Case(gap(layer(w @ x)), float(right), words=words)


def corollary_exactly(
    eigenvalues: Any, words: str = "", layer: bool = False, times: float = 1.0
) -> Case:
    """GRAD Corollary C.6 from the spectrum: the exact fall of the gap and the printed one.

    ``layer`` says whether batch normalization follows the rotation; ``times`` multiplies the print.

    >>> case = corollary_exactly([0.5, 1.5], layer=True)
    >>> bool(case.left < case.right < 0)
    True
    """
    fall = expected_log_length(eigenvalues) if layer else 0.0
    total = {"the eigenvalues sum to d": bool(np.isclose(np.mean(eigenvalues), 1))}
    return Case(fall, -times * np.log(theory.grad_theorem_6_3(eigenvalues)), total, words=words)


def table_of_falls(sizes: Sequence[int], correlations: Sequence[float]) -> pd.DataFrame:
    """Return d, correlation, and the fall of the gap: exact, printed, and of the sharper bound.

    >>> table_of_falls([2], [0.5]).round(4).values.tolist()
    [[2.0, 0.5, 0.0693, 0.0157, 0.0417]]
    """
    rows = []
    for d in sizes:
        for rho in correlations:
            values = np.full(d, 1 - rho)
            values[0] += d * rho
            bounds = [float(np.log(f(values))) for f in (theory.grad_theorem_6_3, sharper_factor)]
            rows.append((d, rho, -expected_log_length(values), *bounds))
    return pd.DataFrame(rows, columns=["d", "correlation", "exact", "printed", "sharper"])


def table_of_growth(points: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the mean growth ``I(BN(W X)) / I(X)``, its standard error, and both bounds on it.

    ``points`` hold the arguments of :func:`growth`.

    >>> frame = table_of_growth([{"x": np.eye(2), "w": haar(2, 5, Stream(0)), "words": "plane"}])
    >>> frame.round(6).values.tolist()
    [['plane', 1.0, 1.0, 0.0, 1.0, 1.0]]
    """
    rows = []
    for point in points:
        x, lost = point["x"], np.asarray(growth(**point).left)
        values, before = np.linalg.eigvalsh(x @ x.T), float(np.exp(-gap(x)))
        error = lost.std(ddof=1) / np.sqrt(lost.size) if lost.ndim else 0.0
        bounds = (theory.grad_theorem_6_3(values), sharper_factor(values))
        rows.append((point["words"], before, (1 - lost.mean()) / before, error / before, *bounds))
    names = ["input", "isometry before", "growth", "standard error", "printed", "sharper"]
    return pd.DataFrame(rows, columns=names)


Pairing = tuple[tuple[int, int], ...]


def _pairings(indices: tuple[int, ...]) -> Iterator[Pairing]:
    """All ways to put the indices in pairs."""
    if not indices:
        yield ()
        return
    first, *rest = indices
    for k, partner in enumerate(rest):
        for others in _pairings(tuple(rest[:k] + rest[k + 1 :])):
            yield ((first, partner), *others)


def _loops(p: Pairing, q: Pairing) -> int:
    """Return how many closed loops the pairs of p and of q make together."""
    group = {index: index for pair in p for index in pair}
    for a, b in (*p, *q):
        group = {index: group[a] if g == group[b] else g for index, g in group.items()}
    return len(set(group.values()))


@cache
def _weingarten(size: int, d: int) -> dict[tuple[Pairing, Pairing], Fraction]:
    """Return ``Wg(p, q)`` for all pairings of ``size`` indices, in exact arithmetic."""
    pairings = list(_pairings(tuple(range(size))))
    inverse = Matrix([[Integer(d) ** _loops(p, q) for q in pairings] for p in pairings]).inv()
    return {
        (p, q): Fraction(int(inverse[i, k].p), int(inverse[i, k].q))
        for i, p in enumerate(pairings)
        for k, q in enumerate(pairings)
    }


def moment(rows: Sequence[int], columns: Sequence[int], d: int, printed: bool = False) -> Fraction:
    """Return ``E prod W[rows[k], columns[k]]`` over O(d), exactly, for at most 2 d factors.

    Weingarten's formula, GRAD (C.25): the sum over pairings p and q of the factors, such that p
    pairs equal rows and q equal columns, of ``Wg(p, q)``. Wg is the inverse of the matrix of
    ``d^loops(p, q)`` (Collins and Sniady 2006). ``printed`` asks p for both.

    >>> moment((0, 0), (1, 1), 5), moment((0, 0, 1, 1), (0, 0, 1, 1), 2)
    (Fraction(1, 5), Fraction(3, 8))
    """
    if len(rows) % 2 or not 2 <= len(rows) <= 2 * d:
        raise ValueError(f"rows must hold an even number of 2 to {2 * d} indices, got {len(rows)}")

    def fit(pairing: Pairing, indices: Sequence[int]) -> bool:
        return all(indices[a] == indices[b] for a, b in pairing)

    terms = _weingarten(len(rows), d).items()
    fitting = [wg for (p, q), wg in terms if fit(p, rows) and fit(p if printed else q, columns)]
    return sum(fitting, start=Fraction(0))


def weingarten(d: int, formula: Callable[[int], Any], printed: bool = False) -> Case:
    """GRAD (C.25) to (C.31): E1 and E2 by :func:`moment` beside a ``formula``, as `moments`.

    >>> case = weingarten(3, lambda d: (2 / 15, 1 / 15))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    left = [float(moment((0, 0, 1, 1), (0, 0, q, q), d, printed)) for q in (1, 0)]
    return Case(np.array(left), np.array(formula(d), dtype=float), words=f"O({d})")


def moments(d: int, formula: Callable[[int], Any]) -> Case:
    """GRAD (C.25) to (C.31): E1 and E2 by integration over O(2) or O(3), beside a ``formula``.

    >>> case = moments(3, lambda d: (2 / 15, 1 / 15))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    w, weights = quadrature(d, 12)
    integrals = [weights @ (w[:, 0, 0] * w[:, 1, q]) ** 2 for q in (1, 0)]
    return Case(np.array(integrals), np.array(formula(d), dtype=float), words=f"O({d})")


def sum_of_eigenvalues(x: Floats, words: str = "", total: Factor = len) -> Case:
    """GRAD Remark C.5 for ``X = BN(x)``: the eigenvalues of ``X X^T`` sum to ``total(x)``, d.

    >>> float(sum_of_eigenvalues(np.eye(3)).left)
    3.0
    """
    values = np.linalg.svd(unit_rows(x), compute_uv=False) ** 2
    return Case(float(values.sum()), float(total(x)), words=words)


def bounds_on_eigenvalues(
    eigenvalues: Any,
    words: str = "",
    quantity: str = "largest",
    bound: Factor = lambda values: 1.0,
) -> Case:
    """Return a quantity of a spectrum that sums to d, and a ``bound`` on it.

    The quantity is the largest eigenvalue, the sum of their squares, or the fraction of Remark C.7.

    >>> bounds_on_eigenvalues([0.5, 1.5]).left
    1.5
    """
    values = np.asarray(eigenvalues, dtype=float)
    d = len(values)
    quantities = {
        "largest": values.max(),
        "squares": np.sum(values**2),
        "fraction": spread(values) / (2 * d**2 * (d + 2)),
    }
    total = {"the eigenvalues sum to d": bool(np.isclose(values.mean(), 1))}
    return Case(float(quantities[quantity]), float(bound(values)), total, words=words)
