"""The operators, the weights and the chain of RANK, and two lower bounds on rank and soft rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy
import torch
from sympy import ImmutableMatrix, Matrix, Rational, eye
from sympy.polys.matrices import DomainMatrix

import signalprop as sp
from signallab.case import Case
from signallab.rank.long_chains import linear_chain
from signalprop import theory, weights
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "above_ratio",
    "above_soft_rank",
    "adversarial",
    "below_rank",
    "decaying_spectra",
    "entries",
    "exact_rank",
    "exact_ratio",
    "exact_soft_rank",
    "float_ranks",
    "integer_matrices",
    "one_layer",
    "print_and_mend",
    "rows_of_norm",
    "scale_is_lost",
    "second_layer",
    "soft_rank_agrees",
    "unit_rows",
    "with_spectrum",
]

ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "linear": lambda h: h,
    "tanh": np.tanh,
    "ReLU": lambda h: np.maximum(h, 0),
}
LAYERS: Mapping[str, list[Any]] = {"linear": [], "tanh": [torch.tanh], "ReLU": [torch.relu]}


def unit_rows(h: Floats, *, mended: bool = True, freedom: int = 0) -> Floats:
    """RANK Eq. 1 and 2 with alpha = 0, beta = 1 on ``h`` ``(d, N)``: ``diag(M)^(-1/2) G(h)``.

    As printed M is the second moment of h itself; ``mended`` that of ``G(h)``, whose rows have mean
    zero. ``freedom = 1`` divides by N - 1 in place of N.

    >>> unit_rows(np.array([[1.0, 3.0]])), unit_rows(np.array([[1.0, 3.0]]), mended=False).round(3)
    (array([[-1.,  1.]]), array([[-0.447,  0.447]]))
    """
    n = h.shape[1]
    centred = h - h.mean(axis=1, keepdims=True)
    inside = centred if mended else h
    moments = (inside**2).sum(axis=1, keepdims=True) / (n - freedom)
    result: Floats = centred / np.sqrt(moments)
    return result


def print_and_mend(offset: float, stream: Stream, samples: int = 50, **options: Any) -> Case:
    """Means and variances after batch normalization of rows with mean over deviation ``offset``.

    >>> print_and_mend(1.0, Stream(0), mended=False).left.round(6)
    array([0. , 0.5])
    """
    rows = stream.numpy("rows").normal(size=(3, samples))
    rows = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
    out = unit_rows(rows + offset, **options)
    left = np.array([np.abs(out.mean(axis=1)).max(), out.var(axis=1).mean()])
    return Case(left, np.array([0.0, 1.0]), words=f"mean over deviation {offset:g}")


def integer_matrices(stream: Stream, count: int) -> dict[str, ImmutableMatrix]:
    """Return whole-number matrices ``(d, N)`` by name: chosen ones, and random ones, none zero.

    Random entries are -2 to 2, with up to 5 rows and columns, so that many are rank deficient.

    >>> len(integer_matrices(Stream(0), 20)) > 20
    True
    """
    found = {
        "I₃": eye(3),
        "rank one": Matrix([[1, -1, 2], [2, -2, 4]]),
        "a Hadamard matrix": Matrix([[1, 1], [1, -1]]),
        "more units than samples": Matrix([[1, 0], [0, 1], [1, 1]]),
    }
    for run in range(count):
        draw = stream.numpy("integers", run)
        h = Matrix(draw.integers(-2, 3, size=draw.integers(1, 6, size=2)).tolist())
        if any(h):
            found[f"random {run}"] = h
    return {name: ImmutableMatrix(h) for name, h in found.items()}


@cache
def exact_rank(h: ImmutableMatrix) -> int:
    """Return the rank, by elimination in whole numbers.

    >>> exact_rank(ImmutableMatrix([[10**9, 10**9 + 1], [10**9 - 1, 10**9]]))
    2
    """
    return int(DomainMatrix.from_Matrix(h).rank())


def exact_ratio(h: ImmutableMatrix) -> Fraction:
    """Return ``r(h) = tr(M)^2 / |M|_F^2``, a fraction; the factor 1/N cancels.

    >>> exact_ratio(Matrix([[1, 0], [0, 2]]))
    Fraction(25, 17)
    """
    m = h * h.T
    value = Rational(m.trace() ** 2, sum(entry**2 for entry in m))
    return Fraction(int(value.p), int(value.q))


@cache
def exact_soft_rank(h: ImmutableMatrix, tau: Fraction) -> int:
    """RANK Eq. 4 without rounding: how many eigenvalues of ``h h^T / N`` are at least ``tau``.

    Why it is right: the characteristic polynomial of ``M - tau I`` has real roots only, so that by
    Descartes' rule its number of negative roots is the number of changes of sign of ``p(-x)``.

    >>> [exact_soft_rank(ImmutableMatrix([[2, 0], [0, 1]]), Fraction(k, 2)) for k in (1, 2, 5)]
    [2, 1, 0]
    """
    d = int(h.rows)
    shifted = h * h.T / h.cols - Rational(tau.numerator, tau.denominator) * eye(d)
    coefficients = DomainMatrix.from_Matrix(shifted).charpoly()
    signs = [np.sign(float(c)) * (-1) ** (d - k) for k, c in enumerate(coefficients) if c]
    negative = sum(a != b for a, b in pairwise(signs))
    return d - int(negative)


def soft_rank_agrees(
    h: ImmutableMatrix, words: str, taus: Sequence[Fraction], strict: bool = False
) -> Case:
    """The library's soft rank beside the exact one, for each tau; ``strict`` does not count ties.

    >>> case = soft_rank_agrees(ImmutableMatrix([[2, 0], [0, 2]]), "", [Fraction(2)])
    >>> case.left.tolist(), case.right.tolist()
    ([2], [2])
    """
    samples: Any = np.array(h.T.tolist(), dtype=float)
    zeros = max(h.rows - h.cols, 0)  # the library counts min(d, N) values, Eq. 4 sums over d
    library = [int(sp.soft_rank(samples, float(tau))) + (zeros if tau == 0 else 0) for tau in taus]
    nudge = Fraction(1, 10**6) if strict else Fraction(0)
    exact = [exact_soft_rank(h, tau + nudge) for tau in taus]
    return Case(np.array(library), np.array(exact), words=words)


def below_rank(h: ImmutableMatrix, words: str, taus: Sequence[Fraction], margin: float = 0) -> Case:
    """RANK Sec. 2.2: the soft rank, plus a ``margin``, is at most the rank. "Less" has margin 1.

    >>> case = below_rank(ImmutableMatrix(eye(2)), "", [Fraction(1, 4)], margin=1)
    >>> case.left.tolist(), case.right.tolist()
    ([3], [2])
    """
    soft = np.array([exact_soft_rank(h, tau) for tau in taus]) + margin
    return Case(soft, np.full(len(taus), exact_rank(h)), words=words)


def above_ratio(h: ImmutableMatrix, words: str, factor: float = 1.0, margin: float = 0.0) -> Case:
    """RANK Lemma 1: ``r(h)``, times a factor, is at most the rank, less a margin.

    >>> case = above_ratio(ImmutableMatrix(eye(2)), "")
    >>> case.left, case.right
    (2.0, 2.0)
    """
    return Case(factor * float(exact_ratio(h)), exact_rank(h) - margin, words=words)


def float_ranks(digits: Sequence[int]) -> pd.DataFrame:
    """Return exact and numerical ranks of ``[[a, a + 1], [a - 1, a]]`` with ``a = 10^digits``.

    Its determinant is 1 whatever a is, and the ratio of its singular values about ``4 a^2``.

    >>> float_ranks([2, 9])["rank in float64"].tolist()
    [2, 1]
    """
    rows = []
    for k in digits:
        h = ImmutableMatrix([[10**k, 10**k + 1], [10**k - 1, 10**k]])
        numbers: Any = np.array(h.tolist(), dtype=float)
        total = float(sum(entry**2 for entry in h))  # of squared singular values of product 1
        rows.append(
            {
                "entries near": f"10^{k}",
                "exact rank": exact_rank(h),
                "smallest over largest singular value": 2 / (total + np.sqrt(total**2 - 4)),
                "rank in float64": int(sp.metrics.rank(numbers)),
                "r": float(exact_ratio(h)),
            }
        )
    return pd.DataFrame(rows)


def one_layer(h: Floats, w: Floats, gamma: float, activation: str = "linear") -> Floats:
    """RANK Eq. 5 on ``h`` ``(d, N)``: ``h + gamma W F(h)``, each row scaled to norm ``sqrt N``.

    >>> one_layer(np.array([[3.0, 4.0]]), np.zeros((1, 1)), 1.0).round(4)
    array([[0.8485, 1.1314]])
    """
    z = h + gamma * w @ ACTIVATIONS[activation](h)
    result: Floats = np.diag(np.diag(z @ z.T / h.shape[1]) ** -0.5) @ z
    return result


def rows_of_norm(
    d: int, samples: int, activation: str, stream: Stream, norm: str = "samples"
) -> Case:
    """The norms of the rows of the library's layer beside ``sqrt N`` (or ``sqrt d``), at 3 gammas.

    >>> case = rows_of_norm(3, 5, "tanh", Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    norms = []
    for gamma in (0.1, 1.0, 10.0):
        bn = [sp.BatchNorm(center=False)]
        net = sp.Chain(d, weights.uniform(), bn, before=LAYERS[activation], residual=gamma)
        path = net.run(sp.inputs.gaussian_samples(samples), 3, seed=stream.child(str(gamma)))
        norms.append(path.states([1, 2, 3])[0].norm(dim=-2).numpy())
    right = np.sqrt({"samples": samples, "width": d}[norm])
    return Case(np.stack(norms), np.full((3, 3, d), right), words=f"d = {d}, N = {samples}")


def scale_is_lost(factor: float, stream: Stream, activation: str = "linear") -> Case:
    """RANK Eq. 5: the library's layer at ``factor`` times H, and at H; equal for linear F.

    >>> case = scale_is_lost(10.0, Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    x = stream.numpy("scaled").normal(size=(6, 4))
    bn = [sp.BatchNorm(center=False)]
    net = sp.Chain(4, weights.uniform(), bn, before=LAYERS[activation], residual=0.5)
    scaled, plain = (
        net.run(c * x, 1, seed=stream.child("scale")).states([1])[0].numpy() for c in (factor, 1.0)
    )
    return Case(scaled, plain, words=f"{activation}, {factor:g} times the input")


def entries(stream: Stream, count: int) -> Floats:
    """Return ``count`` matrices of the weights of RANK Definition 1, ten by ten, as one sample.

    >>> entries(Stream(0), 2).shape
    (200,)
    """
    drawn: Floats = weights.uniform().sample(10, 10, stream.runs(count)).numpy().ravel()
    return drawn


def second_layer(
    stream: Stream, runs: int, *, library: bool = False, once: bool = True, gamma: float = 1.0
) -> Floats:
    """Return ``r(H_2)`` of ``runs`` chains of width 3 from one full-rank input.

    From the library's chain, or layer by layer from the formula: with fresh weights in the second
    layer, or (``once=False``) those of the first again, as RANK Definition 2 is printed.

    >>> second_layer(Stream(0), 4).shape
    (4,)
    """
    x = np.array([[1.0, 0.5, -1.0], [0.2, 1.0, 0.3], [0.0, -0.4, 1.0]])
    if library:
        path = linear_chain(3, gamma).run(x.T, 2, runs=runs, seed=stream.child("library"))
        return np.asarray(path.measure(sp.rank_ratio).values[:, 2])
    values = []
    for generator in stream.child("formula").runs(runs):
        first, second = generator.uniform(-np.sqrt(3), np.sqrt(3), size=(2, 3, 3))
        h: Any = one_layer(one_layer(x, first, gamma), second if once else first, gamma)
        values.append(float(sp.rank_ratio(h.T)))
    return np.array(values)


def with_spectrum(eigenvalues: Floats) -> Floats:
    """Return a matrix ``(d, d)`` with rows of norm ``sqrt d`` whose M has these eigenvalues.

    d is a power of two and the eigenvalues sum to d. With a Hadamard matrix of eigenvectors, each
    entry of modulus ``1/sqrt d``, every diagonal entry of M is their mean, which is 1.

    >>> h = with_spectrum(np.array([3.0, 1.0, 0.0, 0.0]))
    >>> (h @ h.T / 4).diagonal()
    array([1., 1., 1., 1.])
    """
    d = len(eigenvalues)
    if abs(eigenvalues.sum() - d) > 1e-9 * d:
        raise ValueError(f"eigenvalues must sum to their number {d}, got {eigenvalues.sum():.12g}")
    result: Floats = scipy.linalg.hadamard(d) * np.sqrt(eigenvalues)
    return result


def adversarial(d: int, high: int, tau: float, below: float = 1e-6) -> Floats:
    """Return the spectrum that comes closest to RANK Lemma 2: ``high`` equal large values.

    All others lie just below tau, where they count for nothing and still carry trace.

    >>> adversarial(4, 1, 0.5).round(3)
    array([2.5, 0.5, 0.5, 0.5])
    """
    spectrum = np.full(d, tau * (1 - below))
    spectrum[:high] = (d - spectrum[high:].sum()) / high
    return spectrum


def above_soft_rank(
    spectrum: Floats,
    tau: float,
    words: str = "",
    bound: Callable[[Any, Any], Any] = theory.rank_lemma_2,
    scale: float = 1.0,
) -> Case:
    """RANK Lemma 2 at a matrix with this spectrum, times ``scale``: bound and soft rank.

    >>> case = above_soft_rank(adversarial(4, 1, 0.5), 0.5)
    >>> round(case.left, 3), case.right
    (0.571, 1)
    """
    x: Any = scale * with_spectrum(spectrum).T
    rows = np.linalg.norm(x, axis=0)
    return Case(
        float(bound(sp.rank_ratio(x), tau)),
        int(sp.soft_rank(x, tau)),
        {"the rows have norm sqrt N": bool(np.allclose(rows, scale * np.sqrt(len(x))))},
        words=words,
    )


def decaying_spectra(d: int, scales: Sequence[float]) -> pd.DataFrame:
    """Return rank, soft rank, r and r/4 of spectra that fall like ``exp(-i / scale)``, sum d.

    >>> decaying_spectra(8, [100.0])["value"].round(2).tolist()
    [8.0, 8.0, 8.0, 2.0]
    """
    rows = []
    for scale in scales:
        spectrum = np.exp(-np.arange(d) / scale)
        spectrum *= d / spectrum.sum()
        x: Any = with_spectrum(spectrum).T
        ratio = float(sp.rank_ratio(x))
        soft = float(sp.soft_rank(x, 0.5))
        told = {"rank": float(d), "soft rank": soft, "r": ratio, "r/4": ratio / 4}
        rows += [{"scale of decay": scale, "of": n, "value": v} for n, v in told.items()]
    return pd.DataFrame(rows)
