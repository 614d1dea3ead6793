"""Spectra to play with against networks written out in numpy, and ranks of known spectra."""

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from signallab.rank import rank_to_play as lab
from signalprop import rank_ratio
from signalprop.random import Stream


@pytest.fixture(scope="module")
def found():
    return lab.spectra([5], [0.0, 0.5], depth=9, stream=Stream(3))


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_spectra_are_those_of_the_network_written_out(found, gamma):
    stream = Stream(3).child("spectra", 5)
    net = {
        name: lab.sp.Chain(5, lab.sp.uniform(), [layer], residual=gamma or None)
        for name, layer in lab.NETWORKS.items()
    }
    start = net["none"].run(lab.sp.inputs.gaussian_samples(5), 0, 1, stream).final()[0].numpy()
    draw = stream.child("weights").numpy(0)
    plain, normal = start, start
    for _ in range(9):
        w = draw.uniform(-np.sqrt(3), np.sqrt(3), (5, 5))
        a = w if gamma == 0 else np.eye(5) + gamma * w
        plain, normal = plain @ a.T, normal @ a.T
        normal = normal / np.sqrt((normal**2).mean(axis=0))
    for name, h in (("none", plain), ("batch norm", normal)):
        values = np.linalg.svd(h, compute_uv=False)
        part = found.query("layer == 9 and strength == @gamma")
        part = part[part["normalization"] == lab.NAMES[name]]
        expected = np.log10(values / values[0])
        assert part["log10 singular value"].to_numpy() == pytest.approx(expected, abs=1e-6)


def test_layers_are_close_at_first_and_end_at_the_depth():
    layers = lab.recorded(1000)
    assert layers[:6] == [0, 1, 2, 3, 4, 5]
    assert layers[-1] == 1000
    assert max(b / a for a, b in pairwise(layers[5:])) < 1.26


def test_ranks_of_a_known_spectrum():
    place = {"normalization": "x", "strength": 1.0, "width": 4, "layer": 0}
    spectrum = pd.DataFrame({**place, "log10 singular value": [0.0, -1.0, -8.9, -9.1]})
    row = lab.ranks(spectrum).iloc[0]
    assert row["numerical rank"] == 3
    matrix = np.diag([1, 0.1, 10**-8.9, 10**-9.1])
    assert row["effective rank"] == pytest.approx(float(rank_ratio(matrix)), rel=1e-9)


def test_the_script_gets_every_spectrum(found):
    html = lab.played(found)._repr_html_()
    data = json.loads(re.search(r">(.*)</script>", html)[1])
    assert data["layers"] == lab.recorded(9)
    told = np.array(data["spectra"]["without normalization|0.5|5"])
    part = found.query("strength == 0.5 and normalization == 'without normalization'")
    expected = part["log10 singular value"].to_numpy().reshape(told.shape)
    assert -told / 100 == pytest.approx(expected, abs=0.006)
