"""Isometry and what normalizing the samples does to it: ISO Sections 4.1 and 4.2.

Samples are rows, ``(..., n, d)``. Families of them are chosen to attack a statement that is said to
hold for all.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import optimize
from sympy import Matrix, Rational

import signalprop as sp
from signallab.case import Case
from signalprop import layers, theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "angles_and_lengths",
    "bias",
    "both_ways",
    "by_definition",
    "degenerate",
    "determinants",
    "displays",
    "drawn_examples",
    "exact_matrices",
    "families",
    "in_range",
    "is_one",
    "is_scale_free",
    "is_zero",
    "largest_constant",
    "maximizer",
    "multiple_of_identity",
    "parallelepiped",
    "power",
    "rank",
    "step",
    "twice_the_ratio",
    "with_lengths",
    "worst_case",
]

Factor = Callable[[Any], Any]
Condition = Callable[[Matrix], Any]


def by_definition(x: Floats) -> Any:
    """ISO Eq. 4.2 from the log-determinant of the Gram matrix (Eq. 4.1), ``(...)``.

    >>> round(float(by_definition(np.diag([1.0, 2.0]))), 12)
    0.8
    """
    gram = x @ np.swapaxes(x, -1, -2)
    n = gram.shape[-1]
    return np.exp(np.linalg.slogdet(gram)[1] / n) / (np.trace(gram, axis1=-2, axis2=-1) / n)


def power(m: Matrix) -> Fraction:
    """Return ``I(m)^n`` of a rational matrix, exactly: ``det(m) / (tr(m) / n)^n``.

    The root is left out because it is irrational; 0 and 1 stay what they are.

    >>> power(Matrix([[1, 0], [0, 2]]))
    Fraction(8, 9)
    """
    n = m.rows
    if m.trace() == 0:
        raise ValueError("m must not be zero: its isometry is 0/0")
    value = Rational(m.det(method="bareiss") * n**n, m.trace() ** n)
    return Fraction(int(value.p), int(value.q))


def multiple_of_identity(m: Matrix) -> bool:
    """Tell whether ``m = c I``, entry by entry.

    >>> multiple_of_identity(2 * Matrix.eye(3)), multiple_of_identity(Matrix([[1, 1], [1, 1]]))
    (True, False)
    """
    return bool(m == m[0, 0] * Matrix.eye(m.rows))


def degenerate(m: Matrix) -> bool:
    """Tell whether ``m`` has not full rank, by elimination in exact arithmetic.

    >>> degenerate(Matrix([[1, 1], [1, 1]]))
    True
    """
    return bool(m.rank() < m.rows)


def exact_matrices(stream: Stream, count: int) -> dict[str, Matrix]:
    """Return positive semi-definite integer matrices by name: chosen ones, and random Gram ones.

    The random ones have 1 to 5 samples with up to 5 coordinates in -2 to 2, so that many are
    degenerate; the zero matrix is left out.

    >>> len(exact_matrices(Stream(0), 5)) >= 10
    True
    """
    matrices = {
        "I₃": Matrix.eye(3),
        "2 I₂": 2 * Matrix.eye(2),
        "I₄ / 3": Matrix.eye(4) / 3,
        "one sample": Matrix([[5]]),
        "diag(1, 2)": Matrix.diag(1, 2),
        "diag(1, 0)": Matrix.diag(1, 0),
        "a duplicate": Matrix([[1, 1], [1, 1]]),
        "equal angles": Matrix([[2, 1, 1], [1, 2, 1], [1, 1, 2]]),
        "three vectors in a plane": Matrix([[1, 0, 1], [0, 1, 1], [1, 1, 2]]),
        "three directions at 120 degrees": Matrix([[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]),
    }
    for run in range(count):
        draw = stream.numpy("integers", run)
        x = Matrix(draw.integers(-2, 3, size=draw.integers(1, 6, size=2)).tolist())
        if any(x):
            matrices[f"random {run}"] = x * x.T
    return matrices


def is_one(m: Matrix, words: str, exactly: Condition = lambda m: m == m.eye(m.rows)) -> Case:
    """ISO Lemma 4.2, 3: whether the isometry is 1, and whether ``m`` is as said (the identity).

    >>> case = is_one(2 * Matrix.eye(2), "2 I")
    >>> case.left, case.right
    (True, False)
    """
    return Case(power(m) == 1, bool(exactly(m)), words=words)


def is_zero(m: Matrix, words: str, exactly: Condition = degenerate) -> Case:
    """ISO Lemma 4.2, 4: whether the isometry is 0, and whether ``m`` is as said (degenerate).

    >>> case = is_zero(Matrix([[1, 1], [1, 1]]), "ones")
    >>> case.left, case.right
    (True, True)
    """
    return Case(power(m) == 0, bool(exactly(m)), words=words)


def is_scale_free(m: Matrix, words: str, measure: Callable[[Matrix], Any] = power) -> Case:
    """ISO Lemma 4.2, 1: the measure of ``3 m`` and ``m / 7`` beside that of ``m``.

    >>> is_scale_free(Matrix.diag(1, 2), "").right == 8 / 9
    True
    """
    multiples = [float(measure(3 * m)), float(measure(m / 7))]
    return Case(multiples, float(measure(m)), words=words)


def in_range(m: Matrix, words: str, low: float = 0, high: float = 1) -> Case:
    """ISO Lemma 4.2, 2: ``low <= I(m)^n <= high``.

    >>> in_range(Matrix.diag(1, 0), "").left.tolist()
    [0.0, 0.0]
    """
    value = float(power(m))
    return Case(np.array([low, value]), np.array([value, high]), words=words)


def both_ways(n: int, stream: Stream, root: bool = True, center: bool = False) -> Case:
    """ISO Definition 4.1 on Gaussian samples ``(n, 2n)``: from singular values and from Eq. 4.2.

    >>> case = both_ways(3, Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    count = 2 if n > 50 else 21  # about a thousand for n = 2 to 50
    x: Any = stream.numpy("definition", n).normal(size=(count, n, 2 * n))
    right = by_definition(x - center * x.mean(axis=-2, keepdims=True))
    return Case(sp.isometry(x), right if root else right**n, words=f"n = {n}")


def rank(n: int, d: int, stream: Stream, most: Callable[[int, int], int] = min) -> Case:
    """ISO Eq. 4.1: how many eigenvalues of the Gram matrix of Gaussian samples are positive.

    >>> rank(5, 3, Stream(0)).left
    3
    """
    x = stream.numpy("ranks", n, d).normal(size=(n, d))
    gram = np.array([[xi @ xj for xj in x] for xi in x])
    positive = int(np.sum(np.linalg.eigvalsh(gram) > 1e-9))
    return Case(positive, most(n, d), words=f"n = {n}, d = {d}")


def twice_the_ratio(a: float, b: float, factor: float = 2.0, turn: float = 0.0) -> Case:
    """ISO Section 4.1: the isometry of two vectors beside the printed ratio, at 30 angles.

    >>> case = twice_the_ratio(1.0, 3.0)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    angles = np.linspace(0.1, 3.0, 30)
    ratio = theory.iso_figure_4_1(a, b, angles + turn)
    vectors = b * angles_and_lengths(a / b, angles)
    return Case(sp.isometry(vectors), factor * ratio, words=f"lengths {a}, {b}")


def with_lengths(x: Floats, lengths: Floats) -> Floats:
    """Return samples ``(..., n, d)`` of the directions of ``x`` with other ``lengths``.

    >>> with_lengths(np.array([[3.0, 4.0]]), np.array([10.0]))
    array([[6., 8.]])
    """
    scaled: Floats = x / np.linalg.norm(x, axis=-1, keepdims=True) * lengths[..., None]
    return scaled


def families(stream: Stream, draws: int) -> dict[str, Floats]:
    """Return samples ``(draws, n, d)`` by name, meant to break the bound of Theorem 4.3.

    Lengths of all spreads, for 2 to 8 samples with as many or twice as many coordinates; and the
    corners: one sample, equal lengths, one long among many, samples that depend on one another.

    >>> families(Stream(0), 2)["one sample"].shape
    (2, 1, 3)
    """
    draw = stream.numpy("families")
    found: dict[str, Floats] = {}
    for n in range(2, 9):
        for d in (n, 2 * n):
            for spread in (0.1, 1.0, 2.0):
                lengths = np.exp(spread * draw.normal(size=(draws, n)))
                name = f"n = {n}, d = {d}, log-lengths of spread {spread}"
                found[name] = with_lengths(draw.normal(size=(draws, n, d)), lengths)
    outlier = np.ones(100)
    outlier[0] = 10
    found["one sample"] = draw.normal(size=(draws, 1, 3))
    found["equal lengths"] = with_lengths(draw.normal(size=(draws, 4, 8)), np.full(4, 7.0))
    found["one long among 100"] = with_lengths(draw.normal(size=(draws, 100, 200)), outlier)
    near = draw.normal(size=(draws, 4, 8))
    near[:, 1] = 3 * near[:, 0] + 1e-3 * near[:, 1]
    found["nearly parallel"] = near
    found["more samples than coordinates"] = draw.normal(size=(draws, 5, 3))
    twice = draw.normal(size=(draws, 3, 6))
    twice[:, 1] = twice[:, 0]
    found["a point twice"] = twice
    opposite = draw.normal(size=(draws, 3, 6))
    opposite[:, 1] = -2 * opposite[:, 0]
    found["opposite points"] = opposite
    return found


def bias(x: Any, words: str = "", factor: Factor = theory.iso_theorem_4_3) -> Case:
    """ISO Theorem 4.3 at ``x`` ``(draws, n, d)``: ``I(G) factor(lengths) <= I(G~)``.

    >>> case = bias(np.array([[[1.0, 0.0], [0.0, 3.0]]]))
    >>> case.left.round(12), case.right
    (array([0.75]), array([1.]))
    """
    lengths = np.linalg.norm(x, axis=-1)
    return Case(
        sp.isometry(x) * factor(lengths),
        sp.isometry(x / lengths[..., None]),
        {"no sample is zero": bool((lengths > 0).all())},
        words=words,
    )


def displays(x: Floats, radius: float | None = None) -> dict[str, Any]:
    """Return both sides of the determinants, and the lines of the proof, for independent samples.

    The directions have length ``radius`` (by default ``sqrt d``, as in the proof). Everything of
    ``G`` and ``G~`` is taken from singular values and traces, the rest from the lengths ``a``.

    >>> lines = displays(np.array([[[1.0, 0.0, 0.0], [0.0, 3.0, 0.0]]]))
    >>> [round(float(lines[name][0]), 4) for name in ("4.4", "4.5", "4.6", "4.7")]
    [1.6667, 1.6667, 1.1111, 1.25]
    """
    n, d = x.shape[-2:]
    radius = np.sqrt(d) if radius is None else radius
    a = np.linalg.norm(x, axis=-1)
    directions = x / a[..., None] * radius
    # Forming the Gram matrix would square the condition number of nearly parallel samples.
    singular = [np.linalg.svd(m, compute_uv=False) for m in (x, directions)]
    volumes = [2 * np.log(values).sum(axis=-1) for values in singular]
    traces = [np.mean(np.sum(m**2, axis=-1), axis=-1) for m in (x, directions)]
    logs = np.log(a).sum(axis=-1)
    return {
        "log det G": volumes[0],
        "log det G~": volumes[1],
        "log det D": logs - n / 2 * np.log(d),
        "4.4": traces[0] / traces[1] * np.exp((volumes[1] - volumes[0]) / n),
        "4.5": np.mean(a**2, axis=-1) / d * np.exp(np.log(d) - 2 * logs / n),
        "4.6": theory.iso_equation_4_6(a, d),
        "4.7": theory.iso_theorem_4_3(a),
    }


def determinants(x: Floats, words: str, times: float = 2, radius: float | None = None) -> Case:
    """``det G`` over ``det(G~) det(D)^times``, which is 1 with the square.

    >>> determinants(np.array([[[1.0, 0.0], [0.0, 3.0]]]), "").left.round(12)
    array([1.])
    """
    found = displays(x, radius)
    quotient = found["log det G"] - found["log det G~"] - times * found["log det D"]
    return Case(np.exp(quotient), np.ones(len(x)), words=words)


def step(
    x: Floats,
    words: str,
    left: str = "4.5",
    right: str = "4.6",
    mend: Callable[[int, int], float] = lambda n, d: 1.0,
) -> Case:
    """Two lines of the proof of ISO Theorem 4.3, the second times ``mend(n, d)``.

    >>> case = step(np.array([[[1.0, 0.0, 0.0], [0.0, 3.0, 0.0]]]), "", mend=lambda n, d: d / n)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    found = displays(x)
    return Case(found[left], mend(*x.shape[1:]) * found[right], words=words)


def worst_case(
    n: int,
    d: int,
    steps: int,
    starts: int,
    stream: Stream,
    factor: Factor = theory.iso_theorem_4_3,
    layer: Factor = layers.rms_norm,
) -> pd.DataFrame:
    """Search for samples that break Theorem 4.3: gradient descent (Adam) on its logarithmic slack.

    Return start, step, ``slack`` ``= log I(G~) - log I(G) - log factor`` and the spread of the
    lengths, standard deviation over mean. All entries of the samples are free. ``layer`` makes G~:
    by default all lengths become ``sqrt d``, which is the projection of the theorem, scaled.

    >>> frame = worst_case(2, 2, 2, 1, Stream(0))
    >>> bool((frame["slack"] > 0).all())
    True
    """
    draw = stream.numpy("search", n, d)
    data = draw.normal(size=(starts, n, d)) * np.exp(draw.normal(size=(starts, n, 1)))
    x = torch.tensor(data, requires_grad=True)
    search = torch.optim.Adam([x], lr=0.02)
    frames = []
    for step in range(steps + 1):
        lengths = x.norm(dim=-1)
        slack = _log_isometry(layer(x)) - _log_isometry(x) - factor(lengths).log()
        spread = lengths.std(-1, correction=0) / lengths.mean(-1)
        columns = {"slack": slack.detach().numpy(), "spread": spread.detach().numpy()}
        frames.append(pd.DataFrame({"start": range(starts), "step": step, **columns}))
        search.zero_grad()
        slack.sum().backward()
        search.step()
    return pd.concat(frames, ignore_index=True)


def largest_constant(n: int) -> float:
    """Return the least ``(gain - 1) / (variance / mean^2)`` with one length t among ones.

    No larger constant than this can stand before the variance in Theorem 4.3, for n samples.

    >>> round(largest_constant(2), 3)
    2.0
    """

    def quotient(log_length: float) -> float:
        a: Any = np.ones(n)
        a[0] = np.exp(log_length)
        return float((theory.iso_normalization_gain(a) - 1) / (theory.iso_theorem_4_3(a) - 1))

    grid = np.linspace(0.01, 15, 400)
    at = int(np.argmin([quotient(g) for g in grid]))
    bounds = (grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)])
    return float(optimize.minimize_scalar(quotient, bounds=bounds, method="bounded").fun)


def angles_and_lengths(ratios: Any, angles: Any) -> Any:
    """Return two vectors of the plane, lengths ``ratio`` and 1, at each angle: ``(..., 2, 2)``.

    >>> angles_and_lengths(np.array(2.0), np.array(0.0))
    array([[2., 0.],
           [1., 0.]])
    """
    ratios, angles = np.broadcast_arrays(ratios, angles)
    first = np.stack([ratios, 0 * ratios], axis=-1)
    return np.stack([first, np.stack([np.cos(angles), np.sin(angles)], axis=-1)], axis=-2)


def maximizer(start: tuple[float, float]) -> Floats:
    """Return the length ratio and the angle where two vectors have the largest isometry.

    Found from the isometry alone, without derivatives.

    >>> maximizer((0.5, 1.0)).round(4)
    array([1.    , 1.5708])
    """

    def gap(at: Floats) -> float:
        return float(1 - sp.isometry(angles_and_lengths(np.exp(at[0]), at[1])))

    options = {"xatol": 1e-9, "fatol": 1e-16}
    begin = np.array([np.log(start[0]), start[1]])
    at = optimize.minimize(gap, begin, method="Nelder-Mead", options=options).x
    return np.array([np.exp(at[0]), at[1]])


def parallelepiped(vectors: Floats) -> list[Floats]:
    """Return the edges ``(2, n)`` of what n vectors of n coordinates (rows) span.

    >>> len(parallelepiped(np.eye(2))), len(parallelepiped(np.eye(3)))
    (4, 12)
    """
    n = len(vectors)
    corners = [np.array([k >> i & 1 for i in range(n)]) for k in range(2**n)]
    return [
        np.stack([corner @ vectors, corner @ vectors + vectors[i]])
        for corner in corners
        for i in range(n)
        if not corner[i]
    ]


def drawn_examples() -> dict[str, Floats]:
    """Return pairs and triples of vectors, all of mean square length 1, from flat to isometric.

    >>> [round(float(sp.isometry(v)), 3) for v in drawn_examples().values()]
    [0.342, 0.6, 1.0, 0.242, 0.333, 1.0]
    """
    slanted = angles_and_lengths(np.array(1.0), np.deg2rad(20.0))
    uneven = angles_and_lengths(np.array(3.0), np.deg2rad(90.0))
    flat = np.array([[1.0, 0.2, 0.0], [0.5, 1.0, 0.0], [0.9, 0.9, 0.2]])
    long = np.diag([0.4, 1.0, 3.0])
    chosen = {
        "two, at a small angle": slanted,
        "two, of unequal lengths": uneven,
        "two, isometric": np.eye(2),
        "three, nearly in a plane": flat,
        "three, of unequal lengths": long,
        "three, isometric": np.eye(3),
    }
    return {name: v * np.sqrt(len(v) / np.sum(v**2)) for name, v in chosen.items()}


def _log_isometry(x: torch.Tensor) -> torch.Tensor:
    gram = x @ x.transpose(-1, -2)
    n = gram.shape[-1]
    trace: torch.Tensor = gram.diagonal(dim1=-2, dim2=-1).mean(-1)
    volume: torch.Tensor = torch.linalg.slogdet(gram)[1] / n
    return volume - trace.log()
