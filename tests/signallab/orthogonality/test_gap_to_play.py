"""Gaps to play with against the chain written out, exact starts and the stationary moments."""

import json
import re

import numpy as np
import pytest

import signalprop as sp
from signallab.orthogonality import gap_depth_width
from signallab.orthogonality import gap_to_play as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def found():
    return lab.paths([2, 3], [24, 48], depth=2, runs=3, stream=Stream(5))


def test_starts_have_the_gaps_that_they_say(found):
    first = found[found["layer"] == 0].groupby(["start", "samples"])
    assert first["orthogonality gap"].max()["orthogonal"].max() < 1e-12
    assert first["isometry gap"].max()["orthogonal"].max() < 1e-12
    parallel = first["orthogonality gap"].min()["nearly parallel"]
    assert parallel.tolist() == pytest.approx([np.sqrt(1 / 2), np.sqrt(2 / 3)], abs=1e-9)
    assert first["orthogonality gap"].min()["random"].min() > 0.01


def test_means_are_those_of_the_chain(found):
    part = found.query("samples == 3 and width == 48 and start == 'nearly parallel'")
    part = part[part["normalization"] == "with batch normalization"]
    net = gap_depth_width.chain(48)
    path = net.run(lab.STARTS["nearly parallel"](3), 2, 3, Stream(5).child("gaps", 3, 48))
    for name, measure in lab.MEASURES.items():
        assert part[name].to_numpy() == pytest.approx(path.measure(measure).values.mean(axis=0))


def test_without_normalization_the_chain_is_a_product(found):
    """One factor for all entries changes neither gap, as both are of the shape."""
    part = found.query("samples == 2 and width == 24 and start == 'orthogonal'")
    part = part[part["normalization"] == "without normalization"]
    net = sp.Chain(24, sp.gaussian())
    path = net.run(lab.STARTS["orthogonal"](2), 2, 3, Stream(5).child("gaps", 2, 24))
    expected = path.measure(sp.orthogonality_gap).values.mean(axis=0)
    assert part["orthogonality gap"].to_numpy() == pytest.approx(expected)


def test_the_isometry_gap_near_orthogonality():
    """Half the mean square of the relative deviations of squared singular values, by hand."""
    squares = np.array([1.001, 0.9995, 0.9995])
    exact = -np.log(squares).mean() + np.log(squares.mean())
    gap = np.sqrt(((squares / squares.sum() - 1 / 3) ** 2).sum())
    assert 3 / 2 * gap**2 == pytest.approx(exact, rel=1e-3)
    theories = lab.theories(3, [100, 400])
    ratio = theories["isometry gap"][0] / theories["isometry gap"][1]
    assert ratio == pytest.approx(4, rel=1e-3)
    square = sp.theory.stationary_gap(3, 100, "mean square")
    assert theories["isometry gap"][0] == pytest.approx(3 / 2 * square, rel=1e-3)


def test_the_script_gets_every_path(found):
    html = lab.played(found)._repr_html_()
    data = json.loads(re.search(r">(.*)</script>", html)[1])
    assert data["widths"] == [24, 48]
    assert len(data["gaps"]) == 2 * 3 * 2 * 2
    part = found.query("samples == 3 and width == 24 and start == 'random'")
    part = part[part["normalization"] == "without normalization"]
    told = data["gaps"]["3|random|without normalization|24"]["isometry gap"]
    assert told == pytest.approx(part["isometry gap"].tolist(), rel=1e-3)
    assert data["theory"]["2"]["orthogonality gap"][1] == pytest.approx(
        sp.theory.stationary_gap(2, 48), rel=1e-3
    )
