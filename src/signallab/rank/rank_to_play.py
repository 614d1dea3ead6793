"""Spectra of deep linear networks by depth, width and branch, for the figure to play with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signalbook.play import Embedded
from signallab.rank.rank_against_depth import NETWORKS
from signalprop.random import Stream

__all__ = ["NAMES", "SMALLEST", "played", "ranks", "recorded", "spectra"]

#: What a reader chooses, by the name of the network.
NAMES = {"batch norm": "with batch normalization", "none": "without normalization"}
SMALLEST = -13.0  # decimal logarithm relative to the largest: below, doubles hold rounding
THRESHOLD = 1e-9  # of the document, relative to the largest singular value


def recorded(depth: int) -> list[int]:
    """Return layers that are dense at first: steps of a fifth at most, from 0 to ``depth``.

    >>> recorded(20)
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20]
    """
    layers = [0]
    while layers[-1] < depth:
        layers.append(min(depth, max(layers[-1] + 1, round(1.2 * layers[-1]))))
    return layers


def spectra(
    widths: Iterable[int], gammas: Sequence[float], depth: int, stream: Stream
) -> pd.DataFrame:
    """Return the singular values of one network each, at the layers of `recorded`.

    Columns are ``normalization, strength, width, layer, place, log10 singular value``: the decimal
    logarithm relative to the largest, largest first, at least `SMALLEST`. Networks are linear,
    ``H -> H + strength W H`` with square inputs of full rank; strength 0 stands for no skip
    connection, ``H -> W H``. With and without normalization weights are the same.

    >>> found = spectra([4], [0.5], depth=1, stream=Stream(0))
    >>> found.groupby(["normalization", "layer"])["log10 singular value"].max().tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    return pd.concat(
        _spectrum(name, width, gamma, depth, stream)
        for width, gamma, name in product(widths, gammas, NETWORKS)
    )


def _spectrum(name: str, width: int, gamma: float, depth: int, stream: Stream) -> pd.DataFrame:
    net = sp.Chain(width, sp.uniform(), [NETWORKS[name]], residual=gamma or None)
    path = net.run(sp.inputs.gaussian_samples(width), depth, 1, stream.child("spectra", width))
    layers = recorded(depth)
    values = torch.linalg.svdvals(path.states(layers)).reshape(len(layers), width)
    logs = torch.log10(values / values[:, :1]).clamp(min=SMALLEST).numpy()
    layer, place = (index.ravel() for index in np.indices(logs.shape))
    return pd.DataFrame(
        {
            "normalization": NAMES[name],
            "strength": gamma,
            "width": width,
            "layer": np.array(layers)[layer],
            "place": place + 1,
            "log10 singular value": logs.ravel(),
        }
    )


def ranks(found: pd.DataFrame, threshold: float = THRESHOLD) -> pd.DataFrame:
    """Return ``numerical rank, effective rank`` by network and layer.

    The first counts singular values above ``threshold`` times the largest. The second is
    ``tr(M)^2 / |M|_F^2`` of the matrix of moments, which is at most the rank and needs no
    threshold.
    """
    squares = 100.0 ** found["log10 singular value"]
    rows = found.assign(
        above=found["log10 singular value"] > np.log10(threshold), square=squares, fourth=squares**2
    )
    network = ["normalization", "strength", "width", "layer"]
    sums = rows.groupby(network, as_index=False)[["above", "square", "fourth"]].sum()
    effective = sums["square"] ** 2 / sums["fourth"]
    return sums[network].assign(**{"numerical rank": sums["above"], "effective rank": effective})


def played(found: pd.DataFrame) -> Embedded:
    """Return the rows of `spectra` as ``assets/rank-explorer.js`` reads them.

    Logarithms stand in whole hundredths, with the sign left out.
    """
    layers = sorted(int(layer) for layer in found["layer"].unique())
    networks = {}
    for (name, gamma, width), part in found.groupby(["normalization", "strength", "width"]):
        logs = part["log10 singular value"].to_numpy().reshape(len(layers), int(width))
        networks[f"{name}|{gamma:g}|{width}"] = np.rint(-100 * logs).astype(int).tolist()
    return Embedded("rank-explorer-data", {"layers": layers, "spectra": networks})
