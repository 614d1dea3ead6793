"""The orthogonality gap against depth and width: ORTH, Theorem 1 and Figure 2.

The chain is ORTH Eq. 1. A *spectrum* is the list of the n squared singular values of a
representation, which sum to 1. Two kinds of spectra keep their shape from layer to layer at
infinite width and are described by one number, their *share*: n times the smallest square, 1 at
orthogonality.

- *one strong direction*: the n - 1 others are equal and smallest;
- *one weak direction*: the n - 1 others are equal and larger.

They are the two extremes of ORTH, Lemma 4: with the smallest square given, the gap is largest for
the first and smallest for the second. Layer 0 is the input throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import torch
from scipy.special import expit

import signalprop as sp
from signallab.case import Case
from signalprop.random import Stream

__all__ = [
    "assumed",
    "at_widths",
    "average_over_layers",
    "bound",
    "chain",
    "compare",
    "distinct_samples",
    "gap_by_layer",
    "gap_from_spectrum",
    "grid",
    "induction",
    "infinite_width",
    "least_width_nearby",
    "log_gap_at",
    "loss_per_layer",
    "lyapunov_bound",
    "one_step",
    "outrun_from",
    "sharpened",
    "slopes",
    "start",
    "theorem_1",
    "weakest_by_layer",
    "width_to_see",
]

Shape = Literal["one strong direction", "one weak direction"]
Floats = np.ndarray[Any, np.dtype[np.float64]]

WEAK_ENTRY = 1e-6  # of the authors' start diag(1, 1e-6, ..., 1e-6)
STEP = 0.25  # of the trapezoidal rule, see _next
LINEAR = 1e-7  # deviation from 1/n, relative, from which on a layer is linear to as many digits


def chain(width: int) -> sp.Chain:
    """Return the random chain of ORTH Eq. 1: Gaussian weights, every row scaled to 1/sqrt(width).

    >>> path = chain(64).run(np.eye(4), depth=3)
    >>> round(float(path.final().square().sum()), 12)
    1.0
    """
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    return sp.Chain(width, sp.gaussian(), layers=[normalize])


def gap_by_layer(
    widths: Iterable[int],
    depth: int,
    runs: int,
    stream: Stream,
    *,
    samples: int = 4,
    device: str = "cpu",
) -> pd.DataFrame:
    """Return ``width, run, layer, gap`` at layers 1..depth from diag(1, 1e-6, ..., 1e-6).

    That is the start of the authors' Figure 2.

    >>> gaps = gap_by_layer([32], depth=50, runs=3, stream=Stream(0))
    >>> bool(gaps["gap"].iloc[0] > gaps["gap"].iloc[-1])
    True
    """
    return _from_authors_start(
        sp.orthogonality_gap, "gap", widths, depth, runs, stream, samples, device
    )


def weakest_by_layer(
    widths: Iterable[int],
    depth: int,
    runs: int,
    stream: Stream,
    *,
    samples: int = 4,
    device: str = "cpu",
) -> pd.DataFrame:
    """Return ``width, run, layer, smallest square`` of the same runs as :func:`gap_by_layer`.

    The smallest squared singular value is ``1/n - Vhat``.

    >>> squares = weakest_by_layer([32], depth=2, runs=1, stream=Stream(0))
    >>> bool(squares["smallest square"].iloc[0] < 1e-6)
    True
    """

    def smallest(h: torch.Tensor) -> torch.Tensor:
        return 1 / samples - sp.lyapunov_gap(h)

    return _from_authors_start(
        smallest, "smallest square", widths, depth, runs, stream, samples, device
    )


def gap_from_spectrum(
    samples: int,
    shape: Shape,
    share: float,
    widths: Iterable[int],
    depth: int,
    runs: int,
    stream: Stream,
    *,
    device: str = "cpu",
) -> pd.DataFrame:
    """Return ``width, run, layer, gap`` at layers 1..depth from the spectra of the module.

    >>> start = (2, "one strong direction", 1.0)  # orthogonal
    >>> gaps = gap_from_spectrum(*start, widths=[256], depth=3, runs=2, stream=Stream(0))
    >>> bool((gaps["gap"] < 0.3).all())
    True
    """
    draw: dict[str, Any] = {"depth": depth, "runs": runs, "stream": stream, "device": device}
    return pd.concat(
        _frame(width, "gap", _simulated(samples, shape, share, width, **draw)[0])
        for width in widths
    )


def average_over_layers(gaps: pd.DataFrame, windows: Mapping[str, tuple[int, int]]) -> pd.DataFrame:
    """Return the gap averaged over windows of layers: ``width, run, gap, window``."""
    parts = []
    for name, (first, last) in windows.items():
        inside = gaps[gaps["layer"].between(first, last)]
        mean = inside.groupby(["width", "run"], as_index=False)["gap"].mean()
        parts.append(mean.assign(window=name))
    return pd.concat(parts, ignore_index=True)


def slopes(averages: pd.DataFrame) -> pd.DataFrame:
    """Return the slope of log gap against log width: a row for each run, a column for each window.

    >>> widths, gaps = [16, 64, 256], [0.4, 0.2, 0.1]
    >>> frame = pd.DataFrame({"width": widths, "run": 0, "gap": gaps, "window": "all"})
    >>> float(slopes(frame)["all"].iloc[0].round(12))
    -0.5
    """
    fitted = [
        {"run": run, "window": window, "slope": _slope(np.log(part["width"]), np.log(part["gap"]))}
        for (run, window), part in averages.groupby(["run", "window"])
    ]
    return pd.DataFrame(fitted).pivot(index="run", columns="window", values="slope")


def log_gap_at(gaps: pd.DataFrame, where: pd.DataFrame, later: int = 0) -> Floats:
    """Return log gaps ``(runs, rows of where)``: means over the layers ``first..last`` of a width.

    ``later`` shifts every layer, to see whether a comparison would notice.
    """
    columns = []
    for width, first, last in where[["width", "first", "last"]].itertuples(index=False):
        inside = gaps["layer"].between(first + later, last + later) & (gaps["width"] == width)
        columns.append(np.log(gaps[inside].set_index("run")["gap"]).groupby("run").mean())
    return np.stack(columns, axis=1)


def loss_per_layer(gaps: pd.DataFrame, first: int, last: int) -> float:
    """Return by how much the mean log gap falls a layer between the layers ``first`` and ``last``.

    >>> loss_per_layer(pd.DataFrame({"layer": [1, 2, 3], "gap": np.exp([0.0, -1, -2])}), 1, 3)
    1.0
    """
    mean = np.log(gaps.set_index("layer")["gap"]).groupby("layer").mean()
    return float((mean[first] - mean[last]) / (last - first))


def distinct_samples(
    samples: int,
    distinct: int,
    width: int,
    depth: int,
    runs: int,
    stream: Stream,
    *,
    device: str = "cpu",
) -> Floats:
    """Return the gaps ``(runs,)`` after ``depth`` layers if only ``distinct`` samples differ.

    The others repeat them. Weights are drawn one by one, since the reduced engine would round equal
    samples apart.
    """
    start = np.eye(samples, width)[np.arange(samples) % distinct]
    stream = stream.child("distinct", distinct)
    path = chain(width).run(start, depth, runs, stream, engine="direct", device=device)
    gaps: Floats = path.measure(sp.orthogonality_gap, every=depth).values[:, -1]
    return gaps


def infinite_width(samples: int, shape: Shape, share: float, depth: int) -> pd.DataFrame:
    """Return ``layer, gap, smallest singular value`` at infinite width, layers 0..depth.

    The input has one of the two shapes and the given share. Small gaps keep all their digits: the
    recursion is written in deviations from 1/n.

    >>> infinite_width(2, "one weak direction", 0.2, 2)["smallest singular value"].round(4).tolist()
    [0.3162, 0.5, 0.605]
    """
    excess = _excess(samples, shape, share, depth)
    return pd.DataFrame(
        {
            "layer": np.arange(depth + 1),
            "gap": _gap(samples, shape, excess),
            "smallest singular value": _smallest(samples, excess),
        }
    )


def bound(
    alpha: Any, layers: Any, n: int, d: Any, *, power: float = 1, factor: float = 2 / 3
) -> Any:
    """Return ``2 (1 - factor alpha^power)^layers + 3 n / (alpha^power sqrt d)``.

    It is ORTH Thm. 1 as printed unless ``power`` or ``factor`` say otherwise.
    """
    rate = np.asarray(alpha) ** power
    return 2 * (1 - factor * rate) ** layers + 3 * n / (rate * np.sqrt(d))


def lyapunov_bound(
    alpha: Any,
    layers: Any,
    n: int,
    d: Any,
    *,
    front: float = 1,
    power: float = 2,
    factor: float = 1,
    later: int = 0,
    noise: float = 1,
    decay: float = 0.5,
) -> Any:
    """Return a bound of the root mean square of Vhat, ``layers`` layers after the first.

    ``(1/n - alpha^2) (1 - c alpha^2)^layers + (n-1) / (n c alpha^2 sqrt d)`` with
    ``c = 2n/(n+2)``, not in the paper; the options make rivals of it.

    Why it is right: the printed proof, without giving anything away. The last display of the proof
    of Lemma 8 has the rate c, which is at least 2/3. Lemma 6 gives ``(1 - 1/n)/d``, as the squared
    distance of a projection ``u u^T`` from the mean of such is at most ``1 - 1/n`` on average; the
    smallest eigenvalue of a symmetric matrix without trace is at least ``-sqrt(1 - 1/n)`` times its
    norm. Roots of mean squares obey the triangle inequality (Minkowski), so that the noise of the
    layers adds up to a geometric series. A1 bounds ``Vhat(H_1)`` by ``1/n - alpha^2``.

    >>> round(float(lyapunov_bound(alpha=0.5, layers=0, n=4, d=np.inf)), 12)  # orthogonal already
    0.0
    """
    rate = factor * 2 * n / (n + 2) * np.asarray(alpha) ** power
    start = front * (1 / n - np.asarray(alpha) ** 2)
    floor = noise * (n - 1) / (n * rate * np.asarray(d, dtype=float) ** decay)
    return start * (1 - rate) ** (np.asarray(layers) + later) + floor


def sharpened(alpha: Any, layers: Any, n: int, d: Any, **rival: Any) -> Any:
    """Return a sharper form of ORTH Thm. 1, not in the paper.

    It is ``sqrt(n(n-1))``, the best constant of Lemma 4, times :func:`lyapunov_bound`, whose
    options it takes.

    >>> float(sharpened(0.5, 3, 2, 64) / lyapunov_bound(0.5, 3, 2, 64)).__round__(12)
    1.414213562373
    """
    return np.sqrt(n * (n - 1)) * lyapunov_bound(alpha, layers, n, d, **rival)


def theorem_1(right: Callable[..., Any]) -> Callable[..., Case]:
    """Return the statement "the mean gap at layer ``layers + 1`` is at most ``right``" of points.

    ``right(alpha, layers, n, d)`` is the bound. A point is ``samples, shape, share, layers`` (the
    input, and l of the theorem) and, for a finite width, ``width, runs, stream, device``. alpha is
    the smallest singular value on layers 1..l, in all runs if there are several: the largest for
    which Assumption A1 holds.

    >>> case = theorem_1(bound)(4, "one strong direction", 0.5, layers=10)
    >>> bool(case.left < case.right)
    True
    """

    def statement(
        samples: int, shape: Shape, share: float, layers: int, width: float = np.inf, **draw: Any
    ) -> Case:
        if np.isinf(width):
            excess = _excess(samples, shape, share, layers + 1)
            gap, smallest = _gap(samples, shape, excess[-1]), _smallest(samples, excess[1:-1])
        else:
            gaps, squares = _simulated(samples, shape, share, int(width), **draw)
            gap, smallest = gaps[:, layers + 1], np.sqrt(squares[:, 1 : layers + 1])
        alpha, hypotheses = assumed(samples, smallest)
        one, others = _spectrum(samples, shape, share)
        return Case(
            gap,
            float(right(alpha, layers, samples, width)),
            hypotheses,
            f"{'infinite width' if np.isinf(width) else f'width {width}'}, {samples} samples with "
            f"squared singular values {one:.4g} (once) and {others:.4g} ({samples - 1} times) at "
            rf"the input, $\ell = {layers}$, $\alpha = {alpha:.4f}$",
            {"alpha": alpha},
        )

    return statement


def assumed(samples: int, smallest: Any) -> tuple[float, dict[str, bool]]:
    """Return the largest alpha of Assumption A1 for these smallest singular values, and what it is.

    >>> assumed(4, [0.4, 0.3])[0]
    0.3
    """
    alpha = float(np.min(smallest))
    return alpha, {
        r"$0 < \alpha \le \sigma_n(H_k)$ for $k = 1, \dots, \ell$": alpha > 0
        and bool(np.all(np.asarray(smallest) >= alpha)),
        r"$n \alpha^2 \le 1$, since the squares sum to 1": samples * alpha**2 <= 1 + 1e-12,
    }


def start(samples: int, shape: Shape, share: float) -> sp.inputs.Input:
    """Return the diagonal input of one of the two shapes, with the given share.

    >>> start(2, "one weak direction", 0.2)(3, 1, Stream(0)).square()[0].round(decimals=9)
    tensor([[0.1000, 0.0000, 0.0000],
            [0.0000, 0.9000, 0.0000]], dtype=torch.float64)
    """
    one, others = _spectrum(samples, shape, share)
    return sp.inputs.diagonal(np.sqrt([one] + [others] * (samples - 1)).tolist())


def compare(right: Callable[..., Any], points: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return alpha, the mean gap and the bound at points of :func:`theorem_1`, a row for each."""
    rows = []
    for point in points:
        case = theorem_1(right)(**point)
        place = {name: point[name] for name in ("samples", "width", "layers") if name in point}
        gap = float(np.mean(case.left))
        sides = {
            "smallest singular value": case.where["alpha"],
            "mean gap": gap,
            "bound": case.right,
        }
        rows.append({**place, **sides, "bound / gap": case.right / gap})
    return pd.DataFrame(rows)


def grid(
    samples: Iterable[int], shares: Iterable[float], depths: Iterable[float]
) -> list[dict[str, Any]]:
    """Return points at infinite width: both shapes, ``depths`` in multiples of the samples.

    >>> grid([2], [0.5], [0.1, 10])[1]
    {'samples': 2, 'shape': 'one strong direction', 'share': 0.5, 'layers': 20}
    """
    return [
        {"samples": n, "shape": shape, "share": share, "layers": layers}
        for n, shape, share in product(samples, get_args(Shape), shares)
        for layers in sorted({max(1, round(depth * n)) for depth in depths})
    ]


def at_widths(
    sizes: Iterable[tuple[int, int]],
    shares: Iterable[float],
    layers: int,
    **draw: Any,
) -> list[dict[str, Any]]:
    """Return points at finite sizes ``(samples, width)``, one strong direction, layers 1..layers.

    ``draw`` holds ``runs, stream, device``.

    >>> len(at_widths([(2, 64), (3, 64)], [0.5, 1.0], 10, runs=2, stream=Stream(0)))
    40
    """
    same = {"shape": "one strong direction", "depth": layers + 1, **draw}
    return [
        {"samples": n, "width": width, "share": share, "layers": count, **same}
        for (n, width), share in product(sizes, shares)
        for count in range(1, layers + 1)
    ]


def width_to_see(samples: int, shape: Shape, share: float, layers: int) -> float:
    """Return the width from which ORTH Thm. 1 as printed, noise term included, fails at a point.

    At a finite width the right side has its second term, and the mean gap may lie below that of
    infinite width by ``(n + 2) / (2 sqrt d)``: noise of size ``1/sqrt d`` a layer (Lemma 6),
    shrunk by ``n/(n+2)`` from layer to layer. Both are counted against the violation. It is
    infinite where there is none. (Far from orthogonality a layer shrinks noise less; whether the
    allowance covers that depends on the point.)
    """
    case = theorem_1(sp.theory.orth_theorem_1)(samples, shape, share, layers)
    alpha = case.where["alpha"]
    second = sp.theory.orth_theorem_1(alpha, layers, samples, 1.0) - case.right
    excess = case.left - case.right
    return float(((second + (samples + 2) / 2) / excess) ** 2) if excess > 0 else np.inf


def least_width_nearby(
    samples: int, shape: Shape, share: float, layers: int, step: float = 0.02
) -> float:
    """Return the least :func:`width_to_see` that steps downhill from a point lead to.

    A step moves samples and layers by one at most and the share by ``step``, which is halved where
    no step leads down, four times. What comes out is a local minimum on that grid, and nothing is
    said of points far away.

    >>> least_width_nearby(50, "one strong direction", 0.9, 100) < 3.1e13
    True
    """
    here, least = (samples, share, layers), width_to_see(samples, shape, share, layers)
    for halved in (step / 2**k for k in range(5)):
        while True:
            around = {
                place: width_to_see(place[0], shape, place[1], place[2])
                for moves in product((-1, 0, 1), repeat=3)
                for place in [(here[0] + moves[0], here[1] + halved * moves[1], here[2] + moves[2])]
            }
            best = min(around, key=around.__getitem__)
            if around[best] >= least:
                break
            here, least = best, around[best]
    return least


def outrun_from(power: float, most: int = 10**5) -> int | None:
    """Return the smallest batch for which ``(1 - 2/3 alpha^power)^l`` falls faster than the gap.

    Close to orthogonality a layer shrinks the gap by ``n/(n+2)``, and alpha may be as close to
    ``1/sqrt n`` as one likes. None if no batch up to ``most`` is.

    >>> outrun_from(1), outrun_from(2)
    (5, None)
    """
    n = np.arange(2, most + 1)
    faster = 3 * n ** (power / 2) < (n + 2) * (1 - 1e-12)  # n = 4 is equal at power 1
    return int(n[faster][0]) if faster.any() else None


def one_step(power: float) -> Callable[..., Case]:
    """Return the display of the proof that puts alpha into ORTH Thm. 5, at infinite width.

    ``Vhat(H_{l+1}) <= (1 - 2/3 alpha^power) Vhat(H_l)`` if the smallest singular value of H_l is
    alpha; ``power=1`` is printed. Points are ``samples, shape, share``.
    """

    def statement(samples: int, shape: Shape, share: float) -> Case:
        before, after = _excess(samples, shape, share, 1) / samples  # Vhat at two layers
        alpha = np.sqrt(1 / samples - before)
        return Case(
            after,
            (1 - 2 / 3 * alpha**power) * before,
            {r"$\alpha > 0$": alpha > 0},
            f"infinite width, {samples} samples, {shape}, "
            rf"$\sigma_n(H_\ell) = \alpha = {alpha:.4f}$",
        )

    return statement


def induction(first: int, last: int) -> Callable[..., Case]:
    """Return what l steps of ``v -> (1 - r) v + noise`` give, against a closed form of it.

    The closed form ``(1 - r)^l v + noise sum_k (1 - r)^k`` sums over ``k = first..l + last``;
    printed is ``first=1, last=0``. Points are ``rate, layers, start, noise``.
    """

    def statement(rate: float, layers: int, start: float, noise: float) -> Case:
        value = start
        for _ in range(layers):
            value = (1 - rate) * value + noise
        powers = (1 - rate) ** np.arange(first, layers + last + 1)
        closed = (1 - rate) ** layers * start + noise * float(powers.sum())
        place = rf"$\ell = {layers}$, $\frac23\alpha = {rate:g}$, $\hat V(H_1) = {start:g}$"
        return Case(value, closed, words=rf"{place}, $1/\sqrt d = {noise:g}$")

    return statement


def _from_authors_start(
    metric: Callable[[torch.Tensor], Any],
    name: str,
    widths: Iterable[int],
    depth: int,
    runs: int,
    stream: Stream,
    samples: int,
    device: str,
) -> pd.DataFrame:
    start = sp.inputs.diagonal([1.0] + [WEAK_ENTRY] * (samples - 1))
    frames = []
    for width in widths:
        draw = stream.child("figure 2", samples, width)
        path = chain(width).run(start, depth, runs, draw, device=device)
        frames.append(_frame(width, name, path.measure(metric).values))
    return pd.concat(frames, ignore_index=True)


def _frame(width: int, name: str, values: Floats) -> pd.DataFrame:
    """Values ``(runs, layers 0..depth)`` as rows, without the input."""
    run, layer = np.indices(values[:, 1:].shape)
    place = {"width": width, "run": run.ravel(), "layer": layer.ravel() + 1}
    return pd.DataFrame({**place, name: values[:, 1:].ravel()})


@cache
def _simulated(
    samples: int,
    shape: Shape,
    share: float,
    width: int,
    *,
    depth: int,
    runs: int,
    stream: Stream,
    device: str = "cpu",
) -> tuple[Floats, Floats]:
    """The gaps and the smallest squared singular values ``(runs, layers 0..depth)``."""
    draw = stream.child("theorem 1", samples, shape, repr(share), width)
    path = chain(width).run(start(samples, shape, share), depth, runs, draw, device=device)
    metrics = {"gap": sp.orthogonality_gap, "lyapunov": sp.lyapunov_gap}
    measured = path.measure_many(metrics)
    return measured["gap"].values, 1 / samples - measured["lyapunov"].values


def _spectrum(n: int, shape: Shape, share: float) -> tuple[float, float]:
    """The squared singular value that stands alone, and the n - 1 equal ones."""
    smallest = share / n
    if shape == "one weak direction":
        return smallest, (1 - smallest) / (n - 1)
    return 1 - (n - 1) * smallest, smallest


def _gap(n: int, shape: Shape, excess: Any) -> Any:
    """The gap where ``n Vhat = excess``: the extremes of Lemma 4."""
    return excess / n * np.sqrt(n / (n - 1) if shape == "one weak direction" else n * (n - 1))


def _smallest(n: int, excess: Any) -> Any:
    """The smallest singular value where ``n Vhat = excess``."""
    return np.sqrt((1 - excess) / n)


@cache
def _excess(n: int, shape: Shape, share: float, depth: int) -> Floats:
    """``n Vhat = 1 - n sigma_n^2`` at layers 0..depth; the share is 1 minus it."""
    values = np.array(_until_linear(n, shape, 1 - share))[: depth + 1]
    rest = np.arange(1, depth + 2 - len(values))
    return np.append(values, values[-1] * sp.theory.contraction_at_orthogonality(n) ** rest)


@cache
def _until_linear(n: int, shape: Shape, excess: float) -> tuple[float, ...]:
    values = [excess]
    while n * values[-1] > LINEAR:
        values.append(_next(n, shape, values[-1]))
    return tuple(values)


def _next(n: int, shape: Shape, excess: float) -> float:
    """One layer at infinite width, in relative deviations ``a_i = n s_i - 1`` from orthogonality.

    ORTH Eq. 15 is ``p_i = s_i int (1 + 2 t s_i)^-1 prod_k (1 + 2 t s_k)^-1/2 dt``. With
    ``y = 2t / (n + 2t)`` every factor becomes ``1 + 2 t s_k = (1 + a_k y) / (1 - y)``, and
    subtracting the same integral for the flat spectrum leaves

        a_i' = n/2 int_0^1 (1 - y)^(n/2 - 1) [a_i (1 - y) / (1 + a_i y) (1 + r) + r] dy,
        1 + r = prod_k (1 + a_k y)^(-1/2).

    As the a_k sum to 0, r is of second order: nothing cancels. The integral is a trapezoidal sum in
    the logit of y, where the integrand is analytic in a strip and decays exponentially.
    """
    one = -excess if shape == "one weak direction" else excess * (n - 1)
    a = np.array([[one], [-one / (n - 1)]])
    x = np.arange(-40, 80 - np.log1p(-excess), STEP)
    y, rest = expit(x), expit(-x)
    factors = rest + (1 + a) * y  # 1 + a y, also where that is tiny
    second_order = np.where(np.abs(a * y) < 0.5, np.log1p(a * y), np.log(factors)) - a * y
    r = np.expm1(-0.5 * (np.array([[1], [n - 1]]) * second_order).sum(axis=0))
    integrand = a * rest / factors * (1 + r) + r
    after = n / 2 * STEP * (y * rest ** (n / 2) * integrand).sum(axis=1)
    return float(-after.min())


def _slope(x: Any, y: Any) -> float:
    return float(np.polyfit(x, y, 1)[0])
