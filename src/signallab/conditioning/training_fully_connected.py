"""Fully connected networks of COND, Figures 1, 3 and 7: how they start, and which rates they stand.

Training itself is in :mod:`signallab.conditioning.image_training`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.interpolate import CubicSpline

import signalprop as sp
from signallab.case import Case
from signallab.conditioning import paired
from signallab.conditioning.image_training import Data, Setting, dots
from signalprop import activations
from signalprop._arrays import Floats
from signalprop.limits import nngp, ntk
from signalprop.random import Stream

__all__ = [
    "ACTIVATIONS",
    "METHODS",
    "Rates",
    "at_head",
    "builder",
    "decided",
    "dots_fall",
    "gram",
    "largest_rate",
    "means",
    "moves",
    "setting",
    "start",
    "steps",
]

#: Below it a variance counts as zero, as in the layers of PyTorch.
EPS = 1e-5
#: Activations with mean 0 and variance 1, which need no normalization layer.
ACTIVATIONS = {"NormReLU": activations.norm_relu(), "SELU": activations.selu}
CLASSES = 10
#: Angles at which a kernel is computed; between them a cubic spline errs by 1e-6 of it at most.
ANGLES = 301

Layers = list[Callable[[torch.Tensor], torch.Tensor]]


def _normalized(norm: type[Any], width: int, models: int) -> Layers:
    return [norm(eps=EPS), sp.models.Affine(width, (models,)), torch.relu]


def _alone(phi: activations.Activation, width: int, models: int) -> Layers:
    return [phi]


#: What follows each product of a hidden layer, by method, for a width and a number of networks.
METHODS: Mapping[str, Callable[[int, int], Layers]] = {
    "batch norm": partial(_normalized, sp.BatchNorm),
    "layer norm": partial(_normalized, sp.LayerNorm),
    **{name: partial(_alone, phi) for name, phi in ACTIVATIONS.items()},
}


def builder(data: Data, width: int, stream: Stream) -> Callable[[str, int, Sequence[int]], sp.MLP]:
    """Return what makes networks of a method and a depth, one for each of the seeds.

    Weights are Gaussian of variance one over the inputs, biases zero. Networks of one seed have the
    same weights, whatever the method.
    """
    inputs = data.x[0].numel()

    def build(method: str, depth: int, seeds: Sequence[int]) -> sp.MLP:
        return _Flat(
            inputs,
            width,
            depth,
            CLASSES,
            lambda _: METHODS[method](width, len(seeds)),
            weights=sp.gaussian(),
            bias="zero",
            seeds=seeds,
            stream=stream.child("weights"),
        )

    return build


class _Flat(sp.MLP):
    """A perceptron that takes images."""

    def features(self, x: torch.Tensor) -> torch.Tensor:
        return super().features(x.flatten(-3))


def at_head(net: sp.MLP, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return of images the last hidden representation ``(models, n, width)`` and the logits."""
    h = net.features(x)
    return h, net.head(h)


def setting(data: Data, width: int, stream: Stream, **how: Any) -> Setting:
    """Return how networks of ``width`` learn ``data``; ``how`` are other fields of a `Setting`."""
    return Setting(data, builder(data, width, stream), at_head, stream, **how)


def gram(images: torch.Tensor) -> Floats:
    """Return the cosines ``(n, n)`` between images ``(n, ...)``, in float64.

    >>> gram(torch.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    unit = torch.nn.functional.normalize(images.flatten(1).double(), dim=1)
    product: Floats = (unit @ unit.mT).numpy()
    np.fill_diagonal(product, 1.0)
    return product


def start(
    images: torch.Tensor,
    methods: Sequence[str],
    width: int,
    depths: Sequence[int],
    stream: Stream,
) -> pd.DataFrame:
    """Return method, depth and the mean dot product of the images before training.

    "dot product" is that of one random network of ``width``, sampled in law without its matrices.
    "infinite width" is what the kernel map makes of the cosines between the images, for activations
    that need no normalization layer (NaN for the others); images of other lengths are scaled to
    one. At depth 0 both are those of the images.
    """
    cosines = gram(images)
    rows = []
    for method in methods:
        layers = [f for f in METHODS[method](width, 1) if not isinstance(f, sp.models.Affine)]
        path = sp.Chain(width, layers=layers).run(
            images.flatten(1).double(),
            max(depths),
            seed=stream.child("start"),
            engine="reduced",
        )
        measured = path.measure(dots).values[0]
        for depth in depths:
            limit = np.nan
            if method in ACTIVATIONS:
                limit = _off_diagonal(np.asarray(nngp(cosines, ACTIVATIONS[method], depth)))
            rows.append((method, depth, float(measured[depth]), limit))
    return pd.DataFrame(rows, columns=["method", "depth", "dot product", "infinite width"])


def largest_rate(activation: str, depth: int, width: int, cosines: Floats) -> float:
    """Return the rate up to which gradient descent on n images is stable at its start.

    A wide network begins to move as its tangent kernel says. With weights of variance one over the
    width m, the kernel is m times that of COND's parameterization (in the first layer as many times
    as it has inputs, which is left aside here). While all classes are equally likely the second
    derivatives of the cross-entropy are 1/10 at most, so that the largest curvature is
    ``m lambda_max / (10 n)``, and descent is stable below 2 over it. Above it need not diverge: the
    curvature falls as soon as the classes are no longer equally likely.

    >>> rates = [largest_rate("SELU", 4, width, np.eye(3)) for width in (100, 200)]
    >>> round(rates[0] / rates[1], 12)
    2.0
    """
    kernel = _kernel(activation, depth)(np.arccos(np.clip(cosines, -1, 1)))
    top = float(np.linalg.eigvalsh(kernel)[-1]) / len(cosines)
    return 2 * CLASSES / (width * top)


@cache
def _kernel(activation: str, depth: int) -> CubicSpline:
    """The tangent kernel of samples of one length, as a function of their angle: it is smooth."""
    angles = np.linspace(0, np.pi, ANGLES)
    pairs = np.ones((ANGLES, 2, 2))
    pairs[:, 0, 1] = pairs[:, 1, 0] = np.cos(angles)
    return CubicSpline(angles, np.asarray(ntk(pairs, ACTIVATIONS[activation], depth))[:, 0, 1])


def steps(
    data: Data,
    activation: str,
    depth: int,
    widths: Sequence[int],
    multiples: Sequence[float],
    count: int,
    stream: Stream,
) -> pd.DataFrame:
    """Descend on all images of ``data`` for ``count`` steps, at multiples of :func:`largest_rate`.

    Returns width, multiple, rate and the loss before and after; it is NaN where descent diverged.
    """
    frames = []
    for width in widths:
        edge = largest_rate(activation, depth, width, gram(data.x))
        rates = [multiple * edge for multiple in multiples]
        net = builder(data, width, stream)(activation, depth, [0] * len(rates))
        group = sp.training.Group(f"width {width}", net, [0] * len(rates), rates)
        recipe = sp.training.Recipe(count, len(data.x), record_every=count)
        history = sp.training.train([group], data.x, data.labels, recipe, seed=stream)[group.name]
        before, after = history.values["loss"][[0, -1]]
        columns = {"width": width, "multiple": multiples, "rate": rates}
        frames.append(pd.DataFrame({**columns, "before": before, "after": after}))
    return pd.concat(frames, ignore_index=True)


class Rates:
    """What a search says of the rates that a method stands, and of those at which it learns.

    ``found`` is the outcome of the search, with accuracies on ``kept`` images. ``stands`` is, by
    method and depth, the largest rate at which the loss stays finite. ``useful`` is the largest at
    which the network learns, 0 if there is none: it is right more often than a guess by five
    standard deviations of a guess, which chance does not bring about.

    >>> columns = {"method": "a", "depth": 2, "rate": [1.0, 0.1], "loss": 2.0}
    >>> rates = Rates(pd.DataFrame(columns | {"accuracy": [0.12, 0.3]}), 100)
    >>> float(rates.stands["a", 2]), float(rates.useful["a", 2])
    (1.0, 0.1)
    """

    def __init__(self, found: pd.DataFrame, kept: int) -> None:
        least = paired.GUESS + 5 * np.sqrt(paired.GUESS * (1 - paired.GUESS) / kept)
        plans = [found["method"], found["depth"]]
        self.stands = found["rate"].where(found["loss"].notna(), 0.0).groupby(plans).max()
        self.useful = found["rate"].where(found["accuracy"] >= least, 0.0).groupby(plans).max()

    def smaller(self, other: str, depth: int) -> Case:
        """NormReLU stands at most a quarter of the largest rate that the other stands."""
        left = 4 * self.stands["NormReLU", depth]
        return Case(left, self.stands[other, depth], words=f"{other}, depth {depth}")

    def larger(self, other: str, depth: int) -> Case:
        """The other learns at twice the largest rate that NormReLU stands, or at more."""
        left = 2 * self.stands["NormReLU", depth]
        return Case(left, self.useful[other, depth], words=f"{other}, depth {depth}")

    def learns(self, other: str, depth: int) -> Case:
        """There is a rate at which the other learns."""
        none = float(self.useful[other, depth] == 0)
        return Case(none, 0.0, words=f"{other}, depth {depth}")

    def words(self, method: str, of: pd.Series) -> str:
        """Return for a sentence how far the rates go at each depth, ``of`` being one of the two."""
        rates = of[method]
        parts = [f"up to {rate:g}" if rate else "at none" for rate in rates]
        return ", ".join(f"{part} at depth {d}" for part, d in zip(parts, rates.index, strict=True))


def dots_fall(
    path: pd.DataFrame, inputs: str, method: str, since: int, until: int, mix: bool = False
) -> Case:
    """The mean dot product over runs is smaller at epoch ``until`` than at ``since``.

    ``path`` has the columns inputs, method, run, epoch, "dot product" and "test accuracy". It
    counts as smaller if the interval of the paired difference lies on that side of 0. A network
    that diverged has no dot product, and counts as one whose dot product rose. With ``mix`` every
    second run goes backwards.
    """
    before, after = (_at(path, inputs, method, e)["dot product"] for e in (since, until))
    first, second = after.fillna(1.0).to_numpy(), before.fillna(0.0).to_numpy()
    first, second = paired.mixed(first, second) if mix else (first, second)
    return paired.ahead(first, second, inputs)


def decided(
    path: pd.DataFrame,
    inputs: str,
    method: str,
    since: int,
    until: int,
    level: float = paired.LEVEL,
) -> Case:
    """All networks are there, their accuracy rose to twice a guess, and the mean dot product moved.

    Both changes are outside of what chance explains, by intervals at 95 %; that of the dot product
    at ``level``.
    """
    before, after = (_at(path, inputs, method, e) for e in (since, until))
    if after[["test accuracy", "dot product"]].isna().any(axis=None):
        return Case(1.0, 0.0, words=f"a network diverged, {inputs}")
    accuracy = float(after["test accuracy"].mean())
    if accuracy < paired.LEARNED:
        return Case(paired.LEARNED, accuracy, words=f"accuracy, {inputs}")
    rose = paired.ahead(
        before["test accuracy"], after["test accuracy"], f"accuracy rises, {inputs}"
    )
    if rose.left > rose.right:
        return rose
    moved = before["dot product"], after["dot product"]
    return paired.decided(*moved, [0.0], inputs, level)


def moves(path: pd.DataFrame, since: int, until: int) -> pd.DataFrame:
    """Return by how much the mean dot product changes from one epoch to another: an interval.

    A row for each kind of images and each method, over networks that did not diverge; where fewer
    than two are left there is none.
    """
    rows = []
    for (inputs, method), _ in path.groupby(["inputs", "method"], sort=False):
        both = [_at(path, inputs, method, e).set_index("run") for e in (since, until)]
        one, two = pd.concat([of["dot product"] for of in both], axis=1).dropna().T.to_numpy()
        if len(one) > 1:
            change = paired.interval(one, two)
            rows.append((inputs, method, change.value, change.low, change.high))
    return pd.DataFrame(rows, columns=["inputs", "method", "change", "low", "high"])


def means(path: pd.DataFrame, method: str, since: int, until: int) -> dict[str, float]:
    """Return, for a sentence, the mean dot products ``one`` and ``end``, and how often ``right``.

    For standardized images; ``one_unit``, ``end_unit`` and ``right_unit`` are of unit length.
    """
    found = {}
    for inputs, mark in (("standardized", ""), ("unit length", "_unit")):
        before, after = (_at(path, inputs, method, e) for e in (since, until))
        found[f"one{mark}"] = float(before["dot product"].mean())
        found[f"end{mark}"] = float(after["dot product"].mean())
        found[f"right{mark}"] = float(after["test accuracy"].mean())
    return found


def _at(path: pd.DataFrame, inputs: str, method: str, epoch: int) -> pd.DataFrame:
    of = (path["inputs"] == inputs) & (path["method"] == method) & (path["epoch"] == epoch)
    return path[of].sort_values("run")


def _off_diagonal(matrix: Floats) -> float:
    n = len(matrix)
    return float((matrix.sum() - np.trace(matrix)) / (n * (n - 1)))
