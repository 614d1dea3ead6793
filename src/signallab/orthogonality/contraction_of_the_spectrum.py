"""Why a layer of ORTH contracts on average: its Lemmas 8, 9 and 10 and the steps of their proofs.

A *spectrum* holds the n squared singular values of a representation of norm 1, decreasing; ``s_n``
is the smallest, ``vhat = 1/n - s_n``, and ``p`` the mean of the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import integrate, optimize, special

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop.random import Stream
from signalprop.weights import Law

__all__ = [
    "RATIOS",
    "best_constant",
    "convexity",
    "factor_h_2",
    "factor_h_4",
    "growth",
    "lemma_8",
    "lemma_9",
    "others_that_minimize",
    "running_means",
    "sampled_shares",
    "tangent",
    "vhat_by_law",
    "worst_spectrum",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Mgf = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Constant = Callable[[int], float]


def lemma_8(
    samples: int,
    *,
    count: int,
    stream: Stream,
    rate: Callable[[Floats, int], Floats] = lambda s, n: 2 / 3 * s,
) -> Case:
    """Return ORTH Lemma 8 for many spectra: ``1/n - p_n`` against ``(1 - rate) vhat``.

    ``rate(s_n, n)`` stands for the printed ``2/3 s_n``. Half of the spectra differ from the flat
    one in the last entry alone, some by little.

    >>> case = lemma_8(3, count=10, stream=Stream(0))
    >>> bool((case.left <= case.right).all())
    True
    """
    n = samples
    short = 1 / n - np.geomspace(1e-4, 0.5, count) / n
    s = np.concatenate([sp.spectra.varied(n, count, stream), _others_equal(short, n)])
    s = s[s[:, -1] < (1 - 1e-6) / n]  # nearer to the flat one both sides are rounding
    last = s[:, -1]
    return Case(
        left=1 / n - theory.expected_spectrum(s)[:, -1],
        right=(1 - rate(last, n)) * (1 / n - last),
        hypotheses={"the entries sum to 1": bool(np.allclose(s.sum(axis=1), 1, atol=1e-12))},
        words=f"{n} samples",
    )


def best_constant(batches: Iterable[int], shares: Floats) -> pd.DataFrame:
    """Return ``samples, share, constant``: the constant for which Lemma 8 would be an equality.

    ``share`` is ``n s_n``, in (0, 1); the larger entries are equal.

    >>> best_constant([2], np.array([0.5]))["constant"].round(3).tolist()
    [1.856]
    """
    parts = []
    for n in batches:
        s = _others_equal(shares / n, n)
        constant = (growth(s) - 1) / (1 / n - s[:, -1])
        parts.append(pd.DataFrame({"samples": n, "share": shares, "constant": constant}))
    return pd.concat(parts, ignore_index=True)


def growth(spectra: Floats) -> Floats:
    """Return ``f_n = p_n / s_n`` (ORTH Eq. 15), by how much the smallest entry grows, ``(...)``.

    >>> growth(np.array([[0.9, 0.1]]))
    array([2.5])
    """
    result: Floats = theory.expected_spectrum(spectra)[..., -1] / spectra[..., -1]
    return result


def worst_spectrum(
    samples: int,
    *,
    count: int,
    stream: Stream,
    others: Callable[[Floats, int], Floats] | None = None,
) -> Case:
    """Return the growth with the other entries equal against the growth of varied spectra.

    The proof of Lemma 8 says that the former is smallest. ``others(s_n, n)`` makes other spectra,
    ``(..., n)``, with the same last entry.

    >>> case = worst_spectrum(3, count=10, stream=Stream(0))
    >>> bool((case.left <= case.right + 1e-12).all())
    True
    """
    s = sp.spectra.varied(samples, count, stream)
    s = s[s[:, -1] > 0]
    made = (others or _others_equal)(s[:, -1], samples)
    return Case(growth(made), growth(s), words=f"{samples} samples")


def others_that_minimize(smallest: float, samples: int) -> Floats:
    """Return the spectrum ``(n,)`` of least growth with this last entry, found by a minimizer.

    >>> others_that_minimize(0.2, 3).round(4)
    array([0.4, 0.4, 0.2])
    """

    def spectrum(logits: Floats) -> Floats:
        return np.append((1 - smallest) * special.softmax(logits), smallest)

    start = np.arange(samples - 1, 0, -1.0)
    found = optimize.minimize(
        lambda logits: float(growth(spectrum(logits))), start, method="Nelder-Mead"
    )
    return spectrum(found.x)


def sampled_shares(spectra: Iterable[Floats], draws: int, stream: Stream) -> Floats:
    """Return ``s_n w_n^2 / sum_k s_k w_k^2`` with Gaussian w, whose mean is p_n: ``(draws, k)``.

    One column a spectrum.

    >>> sampled_shares([np.array([0.5, 0.5])], 1000, Stream(0)).mean().round(1)
    np.float64(0.5)
    """
    columns = []
    for s in spectra:
        squares = s * stream.numpy("shares", len(s)).standard_normal((draws, len(s))) ** 2
        columns.append(squares[:, -1] / squares.sum(axis=1))
    return np.stack(columns, axis=1)


def tangent(samples: int, *, slope: Constant = theory.constant_of_lemma_8) -> Case:
    """Return the integrals of ``g(0)`` and ``g'(0)`` over theta, against 1 and ``slope(n)``.

    The integrands are those of the proof of ORTH Lemma 8, by adaptive quadrature.

    >>> tangent(2).left.round(10)
    array([1., 1.])
    """
    n = samples
    integrands = (
        lambda t: (1 + 2 * t / n) ** (-n / 2 - 1),
        lambda t: 2 * t * (1 + 2 * t / n) ** (-n / 2 - 2),
    )
    integrals = [integrate.quad(g, 0, np.inf, epsabs=1e-12, epsrel=1e-12)[0] for g in integrands]
    return Case(np.array(integrals), np.array([1.0, slope(n)]), words=f"{n} samples")


def convexity(samples: int, *, factor: float = 0.0) -> Case:
    """Return ORTH Lemma 10: ``factor (g'/g)^2 <= g''/g``; with factor 0, that g is convex.

    At theta from 1e-3 to 1e6 and delta from 0 to 1/n, derivatives by automatic differentiation.

    >>> bool((convexity(3).right > 0).all())
    True
    """
    theta, share = torch.meshgrid(
        torch.logspace(-3, 6, 37, dtype=torch.float64),
        torch.linspace(0, 1, 11, dtype=torch.float64),
        indexing="ij",
    )
    delta = (share / samples).requires_grad_()
    g = theory.orth_lemma_10(delta, theta, samples)
    first = _derivative(g, delta)
    second = _derivative(first, delta)
    left, right = factor * (first / g) ** 2, second / g
    return Case(left.detach().numpy(), right.detach().numpy(), words=f"{samples} samples")


def factor_h_2(
    samples: int, theta: float, delta: float, *, slope: Constant = lambda n: 2 * n + 4
) -> Case:
    """Return ``g' / (theta h_1)`` against ``h_2`` as the proof of ORTH Lemma 10 displays it.

    >>> case = factor_h_2(4, 1.0, 0.125)
    >>> round(float(case.left), 12), case.right
    (3.5, 3.5)
    """
    n = samples
    h_2 = 2 + 4 * theta / n + theta * delta * slope(n) / (n - 1)
    return Case(_quotient(n, theta, delta, 0), h_2, words=_place(n, theta, delta))


def factor_h_4(
    samples: int,
    theta: float,
    delta: float,
    *,
    outer: Constant = lambda n: 4 * n - 2,
    middle: Constant = lambda n: 1.0,
    slope: Constant = lambda n: n + 2,
) -> Case:
    """Return ``h_1' / (theta h_3)`` against ``h_4`` as the proof of ORTH Lemma 10 displays it.

    ``h_4 = outer / (n-1) (1 + 2 theta / middle) + 2 theta delta slope / (n-1)``. The paper has
    ``4n - 2``, 1 and ``n + 2``; the thesis has n for the 1.

    >>> case = factor_h_4(4, 1.0, 0.125)
    >>> round(float(case.left), 12), case.right
    (5.833333333333, 14.5)
    """
    n = samples
    h_4 = outer(n) / (n - 1) * (1 + 2 * theta / middle(n)) + 2 * theta * delta * slope(n) / (n - 1)
    return Case(_quotient(n, theta, delta, 1), h_4, words=_place(n, theta, delta))


@dataclass(frozen=True)
class Ratio:
    """Two random variables X1 > 0 and X2: their generating function and the mean of X2 / X1.

    ``positive(cut)`` is the mean of the positive part of the ratio where ``X1 > cut``, and
    ``negative(cut)`` that of the negative part, both from other sources than ``mgf``; ``finite``
    says whether they stay finite as the cut goes to 0.
    """

    words: str
    mgf: Mgf
    positive: Callable[[float], float]
    negative: Callable[[float], float] = lambda cut: 0.0
    finite: bool = True


def lemma_9(
    ratio: str,
    *,
    cut: float = 1e-100,
    finite: bool = False,
    integral: Callable[[Mgf], float] = theory.orth_lemma_9,
) -> Case:
    """Return ORTH Lemma 9 for one of :data:`RATIOS`: the mean of X2 / X1 against the integral.

    The mean is computed from both parts of the ratio, cut off at ``X1 > cut**2`` and ``X1 > cut``.
    If X2 / X1 has a mean it does not matter where: the two cuts are the test of that. ``finite``
    adds the hypothesis that ``|X2| / X1`` has a finite mean.

    >>> case = lemma_9("share of two samples")
    >>> round(case.left, 12), round(case.right, 9)
    (0.25, 0.25)
    """
    pair = RATIOS[ratio]
    hypotheses = {
        "X1 > 0 with probability one": True,
        "the generating function exists near 0": _exists(pair.mgf),
    }
    if finite:
        hypotheses["|X2| / X1 has a finite mean"] = pair.finite
    mean = pair.positive(cut**2) - pair.negative(cut)
    return Case(mean, integral(pair.mgf), hypotheses, words=pair.words)


def running_means(shapes: Iterable[float], terms: int, runs: int, stream: Stream) -> pd.DataFrame:
    """Return ``shape, run, terms, average``: averages of so many ratios of a fair sign and X1.

    X1 is a Gamma variable of that shape; the ratio has a mean, 0, if the shape exceeds 1.

    >>> running_means([1.0], 100, 2, Stream(0)).columns.tolist()
    ['shape', 'run', 'terms', 'average']
    """
    shown = np.unique(np.geomspace(1, terms, 200).astype(int))
    parts = []
    for shape in shapes:
        generator = stream.numpy("running means", str(shape))
        signs = generator.choice([-1.0, 1.0], (runs, terms))
        ratios = signs / generator.standard_gamma(shape, (runs, terms))
        averages = ratios.cumsum(axis=1)[:, shown - 1] / shown
        run, place = np.indices(averages.shape).reshape(2, -1)
        columns = {"shape": shape, "run": run, "terms": shown[place]}
        parts.append(pd.DataFrame({**columns, "average": averages.ravel()}))
    return pd.concat(parts, ignore_index=True)


def vhat_by_law(
    spectrum: Floats, laws: Mapping[str, Law], width: int, runs: int, stream: Stream
) -> pd.DataFrame:
    """Return ``weights, vhat``: that of the mean Gram matrix one layer after a diagonal batch.

    >>> frame = vhat_by_law(np.array([0.9, 0.1]), {"signs": sp.rademacher()}, 8, 5, Stream(0))
    >>> frame["vhat"].round(6).tolist()  # the rows have one length: the layer changes nothing
    [0.4]
    """
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    rows = []
    for name, law in laws.items():
        chain = sp.Chain(width, law, layers=[normalize])
        h = chain.run(np.diag(np.sqrt(spectrum)), 1, runs, stream.child(law.entries)).final()
        # The mean is diagonal, as symmetric weights may change any sign; the last entry is least.
        last = np.asarray(sp.gram(h))[:, -1, -1].mean()
        rows.append((name, 1 / len(spectrum) - last))
    return pd.DataFrame(rows, columns=["weights", "vhat"])


def _others_equal(smallest: Floats, n: int) -> Floats:
    """Spectra ``(..., n)`` with these last entries, the other ones equal."""
    others = np.repeat(((1 - smallest) / (n - 1))[..., None], n - 1, axis=-1)
    return np.concatenate([others, smallest[..., None]], axis=-1)


def _derivative(value: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    (found,) = torch.autograd.grad(value.sum(), by, create_graph=True)
    return found


def _quotient(n: int, theta: float, delta: float, k: int) -> float:
    """``g'/(theta h_1)`` for k = 0, ``h_1'/(theta h_3)`` for k = 1, by differentiation."""

    def helper(d: torch.Tensor, k: int) -> torch.Tensor:
        low, high = 1 + 2 * theta * (1 / n - d), 1 + 2 * theta * (1 / n + d / (n - 1))
        return low ** (-1.5 - k) * high ** (-(n - 1) / 2 - k)

    d = torch.tensor(delta, dtype=torch.float64, requires_grad=True)
    slope = _derivative(helper(d, k), d)
    return float((slope / (theta * helper(d, k + 1))).detach())


def _place(n: int, theta: float, delta: float) -> str:
    return rf"$n = {n}$, $\theta = {theta:g}$, $\delta = {delta:.4g}$"


def _exists(mgf: Mgf, near: float = 0.01) -> bool:
    t = torch.tensor([-1.0, near, near], dtype=torch.float64)
    return bool(torch.isfinite(mgf(t, t.new_tensor([near, near, -near]))).all())


def _share_mgf(spectrum: Iterable[float]) -> Mgf:
    """Generating function of ``sum_k s_k w_k^2`` and its last term."""
    s = torch.tensor(list(spectrum), dtype=torch.float64)
    last = torch.zeros_like(s)
    last[-1] = s[-1]
    return lambda t1, t2: (1 - 2 * (t1[:, None] * s + t2[:, None] * last)).rsqrt().prod(-1)


def _share_of_three(a: float, b: float, c: float) -> float:
    """``E[c w_3^2 / (a w_1^2 + b w_2^2 + c w_3^2)]``, over the latitude of a uniform direction.

    The mean over longitudes is ``int dx / (A cos^2 x + B sin^2 x) / 2 pi = 1 / sqrt(A B)``.
    """

    def latitude(z: float) -> float:
        return float(c * z**2 / np.sqrt((a + (c - a) * z**2) * (b + (c - b) * z**2)))

    return float(integrate.quad(latitude, 0, 1, epsabs=1e-13, epsrel=1e-13)[0])


def _signed(shape: float, up: float) -> Ratio:
    """X1 a Gamma variable, X2 an independent sign, 1 with probability ``up``."""

    def inverse(cut: float) -> float:
        """``E[1 / X1; X1 > cut]``."""
        if shape == 1:
            return float(special.exp1(cut))
        return float(special.gammaincc(shape - 1, cut) / (shape - 1))

    return Ratio(
        f"X1 a Gamma variable of shape {shape:g}, X2 a sign, 1 with probability {up:g}",
        lambda t1, t2: (up * torch.exp(t2) + (1 - up) * torch.exp(-t2)) * (1 - t1) ** -shape,
        lambda cut: up * inverse(cut),
        lambda cut: (1 - up) * inverse(cut),
        finite=shape > 1,
    )


MEAN_INVERSE = float(np.e * special.exp1(1.0))  # of 1 + E with an exponential variable E of mean 1

#: Pairs of random variables by name. E is exponential with mean 1.
RATIOS: dict[str, Ratio] = {
    "share of two samples": Ratio(
        "X1 the squared norm of a row for two samples, X2 its last term",
        _share_mgf([0.9, 0.1]),
        lambda cut: 0.1**0.5 / (0.9**0.5 + 0.1**0.5),
    ),
    "share of three samples": Ratio(
        "X1 the squared norm of a row for three samples, X2 its last term",
        _share_mgf([0.6, 0.3, 0.1]),
        lambda cut: _share_of_three(0.6, 0.3, 0.1),
    ),
    "1 / (1 + E)": Ratio(
        "X1 = 1 + E, X2 = 1",
        lambda t1, t2: torch.exp(t1 + t2) / (1 - t1),
        lambda cut: MEAN_INVERSE,
    ),
    "E / (1 + E)": Ratio(
        "X1 = 1 + E, X2 = E",
        lambda t1, t2: torch.exp(t1) / (1 - t1 - t2),
        lambda cut: 1 - MEAN_INVERSE,
    ),
    "biased sign / Gamma(2)": _signed(2, 0.75),
    "biased sign / Gamma(1.5)": _signed(1.5, 0.75),
    "fair sign / E": _signed(1, 0.5),
}
