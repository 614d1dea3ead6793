"""Layers by hand: two vectors, orthonormal features, and networks whose layers are known."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import signalprop as sp
from signallab.case import Case
from signallab.isometry import definition_and_bias
from signallab.isometry import normalization_layers as lab
from signalprop import layers, theory
from signalprop.random import Stream

PAIR = np.array([[[1.0, 0.0, 0.0], [0.0, 3.0, 0.0]]])  # I = 3/5, factor 5/4


def test_bound_by_hand():
    """Centred, the two are at 120 degrees: the isometry after LN is sin 120."""
    case = lab.bound(PAIR, "")
    assert case.left == pytest.approx(0.75)
    assert case.right == pytest.approx(np.sqrt(3) / 2)
    assert lab.bound(PAIR, "", layers.rms_norm).right == pytest.approx(1)
    centred = lab.bound(PAIR, "", center=True)
    assert centred.left == pytest.approx(0.6 * np.sqrt(3) / 2 * 1.25)
    assert centred.right == pytest.approx(np.sqrt(3) / 2)


@given(arrays(float, (3, 6), elements=st.floats(-1, 1)), st.floats(0, 5))
def test_rms_norm_obeys_the_corollary_and_layer_norm_for_centred_samples(noise, offset):
    x = (np.eye(3, 6) * 3 + noise + offset)[None]
    plain = lab.bound(x, "", layers.rms_norm)
    centred = lab.bound(x, "", center=True)
    assert (plain.left <= plain.right * (1 + 1e-7) + 1e-12).all()
    assert (centred.left <= centred.right * (1 + 1e-7) + 1e-12).all()


@given(arrays(float, 4, elements=st.floats(-4, 4)), st.floats(1e-3, 1e3))
def test_with_epsilon_nothing_is_lost_and_short_samples_gain_nothing(logs, eps):
    """Orthogonal samples of any lengths: the gain by the lengths before and after the layer."""
    a = np.exp(logs)
    found = lab.with_epsilon(np.diag(a)[None], [1.0, 1e-6], eps)
    assert found["size"].tolist() == [1.0, 1e-6]
    after = a / np.sqrt(a**2 / 4 + eps)
    means = [(np.mean(x**2) / np.exp(2 * np.mean(np.log(x)))) for x in (a, after)]
    assert found["least gain"][0] == pytest.approx(means[0] / means[1], rel=1e-9)
    assert found["least gain"].min() >= 1 - 1e-9
    assert found["least gain"][1] == pytest.approx(1, abs=1e-5)
    printed = np.mean(a**2) / np.mean(a) ** 2
    over = found["least gain"] / printed
    np.testing.assert_allclose(found["over the printed one"], over, rtol=1e-9)


def test_with_epsilon_takes_the_least_of_the_draws():
    pair = np.stack([np.diag([1.0, 1.0]), np.diag([1.0, 3.0])])
    found = lab.with_epsilon(pair, [1e6], 1.0)
    assert found["least gain"][0] == pytest.approx(1)
    assert found["over the printed one"][0] == pytest.approx(1)  # of the equal ones; 4/3


def test_a_basis_loses_everything_to_layer_norm():
    """As many samples as coordinates: after centring they are dependent."""
    shares = lab.shares(lab.batches(Stream(1), 20)).set_index("batch")
    square = shares.loc["d = 2, n = 2"]
    assert square["LN loses isometry"] == 1
    assert square["LN breaks it"] == 1
    assert (shares["RMS breaks it"] == 0).all()
    assert (shares["LN of centred samples breaks it"] == 0).all()
    assert shares.loc["d = 100, n = 99", "LN loses isometry"] == 1


@pytest.mark.slow
def test_search_breaks_layer_norm_and_not_rms_norm():
    lost = definition_and_bias.worst_case(2, 4, 150, 4, Stream(5), layer=layers.layer_norm)
    kept = definition_and_bias.worst_case(2, 4, 150, 4, Stream(5))
    assert lost["slack"].min() < -0.5
    assert kept["slack"].min() > -1e-9


def test_features_bound_by_hand():
    """Rows (1, 0, 0, 0) and (0, 2, 0, 0): lengths 1 and 2, mean 3/2 or, printed, 3/4."""
    x = np.diag([1.0, 2.0]) @ np.eye(2, 4)
    printed = lab.features_bound(x[None], "")
    assert printed.left == pytest.approx(0.8 * (1 + (0.25**2 + 1.25**2) / 2 / 0.75**2))
    assert printed.right == pytest.approx(1)
    assert lab.features_bound(x[None], "", "1/d").left == pytest.approx(0.8 * 10 / 9)
    assert lab.features_bound(x[None], "", "1/d", times=3).left == pytest.approx(0.8 * 4 / 3)
    reduced = lab.features_bound(x[None], "", "1/d", "with mean reduction")
    angle = np.arccos(-1 / 3)  # (3, -1, -1, -1) and (-1, 3, -1, -1)
    assert reduced.right == pytest.approx(np.sin(angle))
    centred = lab.features_bound(x[None], "", "1/d", "with mean reduction", center=True)
    assert centred.left == pytest.approx(0.8 * np.sin(angle) * 10 / 9)


def test_batch_norm_of_the_library_is_the_layer_meant():
    x = np.random.default_rng(0).normal(size=(3, 7)) + 1
    for name, center in (("plain", False), ("with mean reduction", True)):
        normalized = layers.batch_norm(x.T, center=center).T
        after = lab.features_bound(x[None], "", "1/d", name).right
        assert after == pytest.approx(sp.isometry(normalized))


def test_broken_features():
    broken = lab.broken_features(lab.features(Stream(2), 20)).set_index("batch")
    assert (broken["plain, mean 1/d"] == 0).all()
    assert broken.loc["orthonormal features, d = 2, n = 4", "plain, mean 1/n"] == 1
    square = broken.loc["Gaussian, d = 4, n = 4"]
    assert square["plain, mean 1/n"] == 0  # the two means are one
    assert square["with mean reduction, mean 1/d"] == 1


def test_gains_with_offset_grow_for_layer_norm_only():
    frame = lab.gains_with_offset(5, 12, [0.0, 8.0], 40, Stream(3))
    np.testing.assert_allclose(frame["gain"], frame["formula"], rtol=1e-9)
    mean = frame.groupby(["layer", "offset"])["gain"].mean()
    assert mean["layer norm", 8.0] > 5 * mean["layer norm", 0.0]
    assert mean["RMS norm", 8.0] < mean["RMS norm", 0.0]


def test_layer_gains_of_a_known_network():
    """The first layer's products are computed by hand."""
    net = sp.MLP(6, 16, 2, 3, lambda _: [sp.RMSNorm(), torch.relu], seeds=[0, 1], stream=Stream(4))
    x = torch.randn(5, 6, generator=Stream(4).torch())
    gains = lab.layer_gains(net, x.expand(2, 5, 6))
    assert gains.shape == (2, 2, 3)
    z = net.hidden[0][0](x.expand(2, 5, 6)).double().detach()
    lengths = z.norm(dim=-1)
    torch.testing.assert_close(gains[:, 0, 0], sp.isometry(z))
    torch.testing.assert_close(gains[:, 0, 1], sp.isometry(z / lengths[..., None]))
    second = net.hidden[1][0](torch.relu(16**0.5 * (z / lengths[..., None]).float())).double()
    torch.testing.assert_close(gains[:, 1, 0], sp.isometry(second.detach()), rtol=1e-4, atol=1e-6)
    expected = 1 + lengths.var(-1, correction=0) / lengths.mean(-1) ** 2
    torch.testing.assert_close(gains[:, 0, 2], expected)
    exact = gains[:, 0, 0] * theory.iso_normalization_gain(lengths)
    torch.testing.assert_close(exact, gains[:, 0, 1])


def test_trained_networks_learn_and_are_recorded_in_order():
    draw = Stream(6).torch()
    labels = torch.randint(0, 10, (320,), generator=draw)
    images = torch.eye(10)[labels] * 2 + 0.3 * torch.randn(320, 10, generator=draw)
    frame = lab.trained(
        images,
        labels,
        lambda: sp.RMSNorm(eps=1e-5),
        width=32,
        depth=2,
        batch=16,
        rate=0.1,
        epochs=3,
        runs=2,
        stream=Stream(6),
    )
    assert len(frame) == 2 * 4 * 2  # runs, records, layers
    assert set(frame["layer"]) == {1, 2}
    loss = frame.groupby("epoch")["loss"].mean()
    assert loss[3] < loss[0] / 1.5
    # 10 coordinates, 16 samples: isometry is 0 before and after the first norm, to rounding.
    case = lab.during_training(frame, run=1, epoch=2)
    rows = frame[(frame["run"] == 1) & (frame["epoch"] == 2)]
    np.testing.assert_allclose(case.left, rows["before"] * rows["factor"])
    np.testing.assert_allclose(case.right, rows["after"])
    tripled = lab.during_training(frame, run=1, epoch=2, times=3)
    np.testing.assert_allclose(tripled.left, rows["before"] * (3 * rows["factor"] - 2))


def test_batches_and_features_hold_what_their_names_say():
    for name, x in lab.batches(Stream(7), 3).items():
        n, d = x.shape[1:]
        assert name in ("two basis vectors of the plane", f"d = {d}, n = {n}")
    found = lab.features(Stream(7), 30)
    for name, x in found.items():
        d, n = x.shape[1:]
        assert name == "a feature far from 0" or name.endswith(f"d = {d}, n = {n}")
    far = found["a feature far from 0"].mean(axis=(0, 2))
    assert far[0] > 4
    assert np.abs(far[1:]).max() < 1
    assert lab.bound(PAIR, "").hypotheses == {"no sample is zero": True}
    assert lab.features_bound(PAIR, "").hypotheses == {"no feature is zero": True}


def test_shares_by_hand():
    """Lengths 1 and a at a right angle, in three dimensions: I = 2a/(1 + a^2), the printed bound is
    4a/(1 + a)^2, and LN ends at sin 120 = 0.866. For a = 2 that is between the two."""
    x = np.stack([np.diag([1.0, a]) @ np.eye(2, 3) for a in (1.0, 2.0, 3.0)])
    row = lab.shares({"three": x}).iloc[0]
    assert row["LN breaks it"] == pytest.approx(2 / 3)
    assert row["LN loses isometry"] == pytest.approx(1 / 3)


def test_broken_allows_rounding_only():
    case = Case(np.array([1 + 1e-8, 1 + 1e-10, 1e-13, 1e-11]), np.array([1.0, 1, 0, 0]))
    assert lab._broken(case) == 1 / 2


def test_offset_is_added_to_all_coordinates():
    frame = lab.gains_with_offset(3, 6, [0.5], 4, Stream(8)).query("layer == 'RMS norm'")
    x = Stream(8).numpy("offset", 3, 6).normal(size=(4, 3, 6)) + 0.5
    a = np.linalg.norm(x, axis=-1)
    expected = np.mean(a**2, axis=-1) / np.prod(a, axis=-1) ** (2 / 3)
    np.testing.assert_allclose(frame["gain"], expected)
    assert frame["offset"].unique().tolist() == [0.5]


def test_lengths_of_features_differ():
    lengths = np.linalg.norm(lab.features(Stream(9), 200)["Gaussian, d = 5, n = 100"], axis=-1)
    assert np.log(lengths).std() == pytest.approx(1, rel=0.15)


def test_training_takes_all_images_in_each_epoch(monkeypatch):
    class Seen(Exception):
        pass

    def train(*args, **_):
        raise Seen(args[3])

    monkeypatch.setattr(sp.training, "train", train)
    sizes = {"width": 8, "depth": 1, "batch": 16, "rate": 0.1, "epochs": 3, "runs": 1}
    images, labels = torch.zeros(70, 5), torch.zeros(70, dtype=torch.long)
    with pytest.raises(Seen) as seen:
        lab.trained(images, labels, sp.RMSNorm, **sizes, stream=Stream(6))
    recipe = seen.value.args[0]
    assert (recipe.steps, recipe.batch, recipe.record_every) == (12, 16, 4)
