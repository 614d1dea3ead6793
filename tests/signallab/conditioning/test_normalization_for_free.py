"""Networks written out by hand with numpy, and identities that have nothing to do with them."""

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import normalization_for_free as lab

SETTING = lab.Setting(24, 3, 8, 5)


def off(case):
    return np.abs(case.left - case.right).max() / np.abs(case.left).max()


def standard(v, axis):
    v = v - v.mean(axis=axis, keepdims=True)
    return v / np.sqrt((v**2).mean(axis=axis, keepdims=True))


@pytest.mark.parametrize(
    "norm", ["none", "batch", "batch, output too", "layer, after", "layer, before"]
)
def test_network_by_hand(norm):
    rng = sp.Stream(3).numpy()
    x = rng.standard_normal((8, 5))
    h = x / np.linalg.norm(x, axis=1, keepdims=True)
    for width in (5, 24, 24):
        u = h @ rng.standard_normal((24, width)).T
        if norm.startswith("batch"):
            u = standard(u, 0)
        if norm == "layer, before":
            u = standard(u, 1)
        h = np.maximum(u, 0) / np.sqrt(24)
        if norm == "layer, after":
            h = standard(h, 1) / np.sqrt(24)
    out = h @ rng.standard_normal(24)
    if norm == "batch, output too":
        out = standard(out, 0)
    found = lab.network(sp.activations.relu, SETTING, norm, sp.Stream(3))
    np.testing.assert_allclose(found, out, rtol=1e-9)


@pytest.mark.parametrize("name", list(lab.ACTIVATIONS))
def test_where_the_output_is_the_same(name):
    for norm in ("batch, output too", "layer, after"):
        assert off(lab.same_output(name, SETTING, norm, sp.Stream(1))) < 1e-10
    for norm in ("none", "batch", "layer, before"):
        assert off(lab.same_output(name, SETTING, norm, sp.Stream(1))) > 1e-2
    assert off(lab.affine_map(name, SETTING, sp.Stream(1))) < 1e-10


def test_affine_map_needs_both():
    assert off(lab.affine_map("ReLU", SETTING, sp.Stream(1), scale=False)) > 1e-2
    assert off(lab.affine_map("ReLU", SETTING, sp.Stream(1), shift=False)) > 1e-2


def test_hidden_unit():
    for layer in ("batch", "layer"):
        case = lab.hidden_unit("ReLU", 12, 6, layer, sp.Stream(2))
        assert off(case) < 1e-12
        np.testing.assert_allclose((case.left**2).mean(axis=0 if layer == "batch" else 1), 1)
    assert off(lab.hidden_unit("ReLU", 12, 6, "before", sp.Stream(2))) > 1e-2


@pytest.mark.parametrize("layer", ["batch", "layer"])
def test_moments(layer):
    assert off(lab.moments("softplus", 12, 6, layer, sp.Stream(2), mended=True)) < 1e-12
    printed = lab.moments("softplus", 12, 6, layer, sp.Stream(2))
    phi = lab.ACTIVATIONS["softplus"]
    assert abs(printed.left[0] - printed.right[0]) > 1e-2
    assert printed.left[1] == pytest.approx(printed.right[1])
    rival = lab.moments("softplus", 12, 6, layer, sp.Stream(2), mended=True, scale=False)
    assert rival.right[1] == pytest.approx(printed.right[1] * np.sqrt(phi.variance))


def test_outputs():
    rows = lab.outputs("ReLU", SETTING, ["batch", "layer, after"], sp.Stream(1))
    case = lab.same_output("ReLU", SETTING, "batch", sp.Stream(1))
    first = rows[rows["normalization"] == "batch"]
    np.testing.assert_array_equal(first["as it comes"], case.left)
    np.testing.assert_array_equal(first["normalized"], case.right)


def test_eps_matters():
    rows = lab.eps_matters("ReLU", SETTING, [0.0, 1e-4, 1e-2], sp.Stream(1))
    assert (rows.iloc[0, 1:] < 1e-10).all()
    assert (rows.iloc[2, 1:] > 10 * rows.iloc[1, 1:]).all()
    phi, norm = lab.ACTIVATIONS["ReLU"], "layer, after"
    one, other = (
        lab.network(f, SETTING, norm, sp.Stream(1), 1e-2) for f in (phi, phi.standardized())
    )
    assert rows.loc[2, norm] == pytest.approx(max(abs(one - other)) / max(abs(one)))
    # eps for the normalized activation is eps times its variance for the activation as it comes
    relu = lab.ACTIVATIONS["ReLU"]
    one = lab.network(
        relu.standardized(), lab.Setting(24, 1, 8, 5), "layer, after", sp.Stream(1), 1.0
    )
    other = lab.network(relu, lab.Setting(24, 1, 8, 5), "layer, after", sp.Stream(1), relu.variance)
    np.testing.assert_allclose(one, other, rtol=1e-10)
