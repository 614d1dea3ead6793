"""Whether a network sees that its activation is normalized: COND Lemmas 1 and 17.

The network is COND Eq. 1, with batch normalization of pre-activations or layer normalization on
either side of the activation. A batch is ``(b, d)``. For an activation ``sigma`` with Gaussian mean
c and standard deviation s, the normalized one is ``(sigma - c) / s``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

import signalprop as sp
from signallab.case import Case
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.layers.functional import batch_norm, layer_norm
from signalprop.random import Stream

__all__ = [
    "ACTIVATIONS",
    "Norm",
    "Setting",
    "affine_map",
    "eps_matters",
    "hidden_unit",
    "moments",
    "network",
    "outputs",
    "same_output",
]

A = sp.activations
#: As they come, of various means and standard deviations. (SELU comes normalized.)
ACTIVATIONS: Mapping[str, Activation] = {
    "ReLU": A.relu,
    "step": A.step,
    "sigmoid": A.sigmoid,
    "softplus": A.softplus,
    "SiLU": A.silu,
    "GELU": A.gelu,
    "ELU": A.elu,
}
#: Where the network normalizes: nowhere; batch normalization of the hidden pre-activations, or of
#: the output too; layer normalization after or before the activations.
Norm = Literal["none", "batch", "batch, output too", "layer, after", "layer, before"]


@dataclass(frozen=True)
class Setting:
    """Sizes of a network of COND Eq. 1, and of the batch.

    >>> Setting(8, 2).batch
    16
    """

    width: int
    depth: int
    batch: int = 16
    dimension: int = 10


def network(
    phi: Activation, setting: Setting, norm: Norm, stream: Stream, eps: float = 0.0
) -> Floats:
    """Return the outputs for one batch of unit inputs, ``(b,)``; weights depend on the stream only.

    >>> network(A.relu, Setting(32, 2), "batch, output too", sp.Stream(0)).mean().round(9) + 0.0
    np.float64(0.0)
    """
    features, v = _top(phi, setting, norm, stream, eps)
    column: Any = (features @ v)[:, None]
    if norm == "batch, output too":
        column = batch_norm(column, eps=eps)
    return np.asarray(column)[:, 0]


def _top(
    phi: Activation, setting: Setting, norm: Norm, stream: Stream, eps: float = 0.0
) -> tuple[Floats, Floats]:
    """Features of the last hidden layer, ``(b, width)``, and the weights of the output."""
    rng = stream.numpy()
    x = rng.standard_normal((setting.batch, setting.dimension))
    h = x / np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(setting.depth):
        before = h @ rng.standard_normal((setting.width, h.shape[1])).T
        if norm.startswith("batch"):
            before = batch_norm(before, eps=eps)
        elif norm == "layer, before":
            before = layer_norm(before, eps=eps)
        h = phi(before) / np.sqrt(setting.width)
        if norm == "layer, after":
            # the next matrix has no factor 1/sqrt(m) of its own, and LN undoes the one above
            h = layer_norm(h, eps=eps) / np.sqrt(setting.width)
    return np.asarray(h), rng.standard_normal(setting.width)


def same_output(name: str, setting: Setting, norm: Norm, stream: Stream) -> Case:
    """COND Lemma 1: outputs with an activation as it comes, beside those with it normalized.

    >>> case = same_output("ReLU", Setting(32, 3), "layer, after", sp.Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    phi = ACTIVATIONS[name]
    return Case(
        network(phi, setting, norm, stream),
        network(phi.standardized(), setting, norm, stream),
        words=name,
    )


def affine_map(
    name: str, setting: Setting, stream: Stream, *, scale: bool = True, shift: bool = True
) -> Case:
    """Return outputs with batch normalization of hidden layers, beside ``s f + c v.1 / sqrt(m)``.

    f is the output with the normalized activation, v the weights of the output. Right because all
    layers below agree, so that the last features are ``s`` times as long, plus ``c / sqrt(m)``.
    Without ``scale`` or ``shift``: rivals.

    >>> case = affine_map("step", Setting(32, 3), sp.Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    phi = ACTIVATIONS[name]
    features, v = _top(phi.standardized(), setting, "batch", stream)
    s = float(np.sqrt(phi.variance)) if scale else 1.0
    c = phi.mean if shift else 0.0
    right = s * (features @ v) + c * v.sum() / np.sqrt(setting.width)
    return Case(network(phi, setting, "batch", stream), right, words=name)


def hidden_unit(
    name: str, width: int, batch: int, layer: Literal["batch", "layer", "before"], stream: Stream
) -> Case:
    """COND Eqs. 5 and 6: one layer, with an activation as it comes and normalized.

    ``batch`` is Eq. 5, over a batch of a unit's pre-activations; ``layer`` is Eq. 6. ``before``
    normalizes pre-activations over the layer, a rival.

    >>> case = hidden_unit("SiLU", 9, 4, "batch", sp.Stream(0))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    rng = stream.numpy()
    x = rng.standard_normal((batch, width))
    w = rng.standard_normal((width, width))

    def normalized(phi: Activation) -> Floats:
        features = phi(x) / np.sqrt(width)
        if layer == "layer":
            return np.asarray(layer_norm(features))
        before = features @ w.T
        return np.asarray(batch_norm(before) if layer == "batch" else layer_norm(before))

    phi = ACTIVATIONS[name]
    return Case(normalized(phi), normalized(phi.standardized()), words=f"{layer}, {name}")


def moments(
    name: str,
    width: int,
    batch: int,
    layer: Literal["batch", "layer"],
    stream: Stream,
    *,
    mended: bool = False,
    scale: bool = True,
) -> Case:
    """COND, proof of Lemma 17: mean and standard deviation with the normalized activation.

    ``left`` is computed from ``w.(sigma(X) - c) / s sqrt(m)`` over the batch, or over the layer
    without w. ``right`` is printed ``(mu - c)/s`` and ``nu/s``; ``mended`` multiplies c by
    ``w.1/sqrt(m)``, or by ``1/sqrt(m)``. Without ``scale`` s is left out of ``nu/s``: a rival.

    >>> case = moments("ReLU", 9, 4, "layer", sp.Stream(0), mended=True)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    phi, rng = ACTIVATIONS[name], stream.numpy()
    x = rng.standard_normal((batch, width))
    w = rng.standard_normal(width)

    def mean_and_deviation(psi: Activation) -> tuple[float, float]:
        features = np.asarray(psi(x)) / np.sqrt(width)
        v = features @ w if layer == "batch" else features[0]
        return float(v.mean()), float(v.std())

    mu, nu = mean_and_deviation(phi)
    s = float(np.sqrt(phi.variance))
    share = (w.sum() if layer == "batch" else 1.0) / np.sqrt(width) if mended else 1.0
    right = [(mu - phi.mean * share) / s, nu / (s if scale else 1.0)]
    left = mean_and_deviation(phi.standardized())
    return Case(np.array(left), np.array(right), words=f"{layer} normalization, {name}")


def outputs(name: str, setting: Setting, norms: Sequence[Norm], stream: Stream) -> pd.DataFrame:
    """Return ``normalization, as it comes, normalized``: outputs for each input of the batch.

    >>> outputs("ReLU", Setting(32, 2), ["batch"], sp.Stream(0)).shape
    (16, 3)
    """
    parts = []
    for norm in norms:
        case = same_output(name, setting, norm, stream)
        part = {"normalization": norm, "as it comes": case.left, "normalized": case.right}
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def eps_matters(
    name: str, setting: Setting, sizes: Sequence[float], stream: Stream
) -> pd.DataFrame:
    """Return the largest difference of outputs when ``eps`` is added to variances.

    Relative to the largest output, under batch normalization with the output's and under layer
    normalization after the activations.

    >>> eps_matters("ReLU", Setting(32, 2), [0.0, 0.1], sp.Stream(0)).shape
    (2, 3)
    """
    phi = ACTIVATIONS[name]
    rows = []
    norms: tuple[Norm, Norm] = ("batch, output too", "layer, after")
    for eps in sizes:
        row = {"eps": eps}
        for norm in norms:
            one = network(phi, setting, norm, stream, eps)
            other = network(phi.standardized(), setting, norm, stream, eps)
            row[norm] = float(np.abs(one - other).max() / np.abs(one).max())
        rows.append(row)
    return pd.DataFrame(rows)
