"""Decay of kernel entries beside maps that can be iterated by hand, and limits of networks."""

import math

import numpy as np
import pandas as pd
import pytest

import signalprop as sp
from signallab.conditioning import off_diagonal_decay as lab
from signallab.conditioning.reference import ACTIVATIONS

SQUARE = sp.KernelMap.from_series([0, 0, 1.0])
HALF = sp.KernelMap.from_series([0, 0.5, 0.5])
CUBE = sp.KernelMap.from_series([0, 0.5, 0, 0.5])


@pytest.mark.parametrize("name", list(lab.sets_of_inputs()))
def test_separation(name):
    case = lab.separation(name)
    assert case.left == pytest.approx(case.right, abs=1e-12)


def test_sets_of_inputs_are_what_their_names_say():
    for name, (gram, _) in lab.sets_of_inputs().items():
        n = int(name.rsplit(" ", 1)[-1] if name.startswith("a fan") else name.split()[0])
        assert gram.shape == (n, n)


def test_separation_rivals():
    negative = "4 inputs of cosine -0.33"
    assert lab.separation(negative, signed=True).left == pytest.approx(4 / 3)
    assert lab.separation(negative, mean=True).left == pytest.approx(2 / 3)
    assert lab.separation("a fan of 3", mean=True).left == pytest.approx(0.5)
    assert lab.separation("a fan of 8", mean=True).left > 0.3


def test_which_rounding():
    down = lab.readings(1.0, 0.4, 10, "down")
    assert (down.left, down.right) == (pytest.approx(0.36), pytest.approx(0.25))
    none = lab.readings(1.0, 0.48, 10, "none")
    assert none.left == pytest.approx(0.52**2)
    exponent = 1 - math.log(1 / 0.96) / math.log(1.5)
    assert none.right == pytest.approx(0.5 ** (1 + exponent))
    assert none.left > none.right
    up = lab.readings(1.0, 0.4, 10, "up")
    assert up.left <= up.right


def test_where_the_bound_rises():
    whole = lab.falls(0.5, 0.3, 6)
    assert whole.left <= whole.right
    # L_0 = 3 and B(3) = 1 - 0.3 * 1.25^3 here, below 1/2 by nearly as much as a layer beyond.
    half = lab.falls(0.5, 0.3, 6, step=0.5)
    assert (half.left, half.right) == (
        pytest.approx(math.sqrt(0.75) / 2),
        pytest.approx(1 - 0.3 * 1.25**3),
    )
    zero = lab.falls(0.5, 0.9, 6, first=0.0)
    assert (zero.left, zero.right) == (pytest.approx(0.375), pytest.approx(0.1))


def test_order_of_l_0():
    case = lab.order_of_l_0(0.5, 0.01, constant=2, power=2)
    assert case.left == math.ceil(math.log(50) / math.log(1.25))
    assert case.right == pytest.approx(2 * math.log(100) / 0.25 / math.log(1.5))
    assert not lab.order_of_l_0(0.5, 0.6).hypotheses["δ < 1/2"]


def test_one_step_of_polynomials():
    """mu of (rho + rho^3)/2 is 1/2, as of (rho + rho^2)/2, which attains all bounds."""
    assert lab.one_step("", HALF).left[0] == pytest.approx(1, abs=1e-12)
    assert lab.product("", HALF).left == pytest.approx(1, abs=1e-12)
    assert lab.product("", HALF, factor=1.01).left > 1.001
    assert lab.one_step("", HALF, share=0.51).left[0] > 1.003
    assert lab.one_step("", HALF, share=0.51).left[1] > 1.003
    d = lab.GAPS
    ratio = d * (1.5 - 0.5 * d) / (1 - (1 - d + (1 - d) ** 3) / 2)
    assert lab.product("", CUBE).left == pytest.approx(ratio.max(), rel=1e-12)
    near, far = d[d <= 0.5], d[d > 0.5]
    first = 1.25 * near / (1 - (1 - near + (1 - near) ** 3) / 2)
    second = ((1 - far) + (1 - far) ** 3) / 2 / (0.75 * (1 - far))
    np.testing.assert_allclose(lab.one_step("", CUBE).left, [first.max(), second.max()], rtol=1e-12)
    assert lab.mirrored("", CUBE).left == pytest.approx(1)
    assert lab.mirrored("", CUBE, factor=0.9).left == pytest.approx(1 / 0.9)
    r = d
    assert lab.mirrored("", HALF).left == pytest.approx(((r - r**2) / (r + r**2)).max(), rel=1e-12)


def test_maps():
    members = lab.maps(7, 5, sp.Stream(0))
    assert np.shape(members["random series"](0.5)) == (7,)
    assert set(ACTIVATIONS) < set(members)
    for k in members.values():
        np.testing.assert_allclose(k(1.0), 1, rtol=1e-12)


def test_paths_start_on_both_sides():
    found = lab.paths(HALF, np.array([0.5]), 1)[0, :, 0]
    np.testing.assert_allclose(found, [0.375, 0.125, 0.15625, 0.09375], rtol=1e-12)


def test_paths():
    found = lab.paths(CUBE, np.array([0.5, 0.2]), 1)
    expected = [(r + r**3) / 2 for r in (0.8, 0.8, 0.4, 0.4)]
    np.testing.assert_allclose(found[1, :, 0], expected, rtol=1e-12)


def test_decay():
    assert lab.decay("", HALF, 40, "sharpest").left == pytest.approx(1, abs=1e-12)
    assert lab.decay("", HALF, 40, "B").left <= 1
    assert lab.decay("", HALF, 40, "sharpest, a layer ahead").left > 1.1
    assert lab.decay("", HALF, 40, "sharpest", factor=1.01).left > 1.01
    batch = sp.KernelMap.from_series([[0, 0.5, 0, 0.5], [0, 0.5, 0.5, 0]])
    assert lab.decay("", batch, 5, "sharpest").left == pytest.approx(1, abs=1e-12)
    with pytest.raises(ValueError, match="nu must lie in"):
        lab.decay("", sp.KernelMap(sp.activations.hermite(1)), 2)


def test_entries():
    case = lab.entries("10 inputs of cosine 0.9", "second Hermite", 1, "sharpest")
    assert case.left == pytest.approx(0.81)
    assert case.right == pytest.approx(0.81)
    case = lab.entries("10 inputs of cosine 0.9", "second Hermite", 1, "B")
    assert case.right == pytest.approx(0.85)
    case = lab.entries("10 inputs of cosine 0.9", "second Hermite", 1, "B", missing=1)
    assert case.left == pytest.approx(0.9)
    assert case.right == pytest.approx(0.85)


def test_depths():
    rows = lab.depths(0.1, 0.1, 4).set_index("activation")
    sine = np.asarray(sp.KernelMap(ACTIVATIONS["sine"]).iterate(0.9, 40))
    at = rows.loc["sine", "layers, in truth"]
    assert sine[at] <= 0.1 < sine[at - 1]
    assert rows.loc["sine", "after 4 layers"] == pytest.approx(sine[4])
    assert rows.loc["second Hermite", "B after 4 layers"] == pytest.approx(1 - 0.1 * 1.5**4)
    assert (rows["layers, in truth"] <= rows["layers, at worst"]).all()
    assert (rows["layers, at worst"] <= rows["layers, by B"]).all()


def test_kernels_of_wide_networks_are_near_the_iterated_dual():
    found = lab.chains(["tanh"], 0.5, [64, 1024], 3, 200, sp.Stream(0))
    limit = np.asarray(sp.KernelMap(ACTIVATIONS["tanh"]).iterate(0.5, 3))[1:]
    wide = found["tanh"][1024]
    standard = wide.std(0) / math.sqrt(len(wide))
    assert np.all(np.abs(wide.mean(0) - limit) < 6 * standard + 2e-3)
    rows = lab.errors(found, 0.5, [1, 3])
    means = rows.groupby("width")["error"].mean()
    assert 2.5 < means[64] / means[1024] < 6.5
    row = rows[(rows["width"] == 64) & (rows["layer"] == 3)]
    np.testing.assert_allclose(row["error"], np.abs(found["tanh"][64][:, 2] - limit[2]))
    ahead = lab.errors(found, 0.5, [1], lag=1)
    row = ahead[ahead["width"] == 64]
    np.testing.assert_allclose(row["error"], np.abs(found["tanh"][64][:, 0] - limit[1]))


def test_exponents():
    parts = [
        pd.DataFrame({"activation": a, "layer": 1, "width": w, "run": range(6), "error": w**power})
        for a, power in [("a", -0.5), ("b", -1.0)]
        for w in (4.0, 8.0, 32.0)
    ]
    found = lab.exponents(pd.concat(parts), 3)
    np.testing.assert_allclose(found, [[-0.5, -1]] * 3, rtol=1e-9)
