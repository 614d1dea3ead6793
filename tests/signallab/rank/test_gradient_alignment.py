"""Families, features and gradients of rank one, by hand and by numerical differentiation."""

import numpy as np
import pytest
import torch

from signallab.rank import gradient_alignment as lab
from signalprop import theory
from signalprop.random import Stream


@pytest.mark.parametrize("family", list(lab.FAMILIES))
def test_families(family):
    h = lab.FAMILIES[family](6, 5, np.random.default_rng(0))
    assert np.linalg.matrix_rank(h) == (2 if family == "rank two" else 1)
    if family == "no sign restricted":
        assert h[0, 0] * h[0, 1] < 0
    if family == "units of one sign":
        assert (np.sign(h) == np.sign(h[0])).all()
        assert len(np.unique(np.sign(h[0]))) == 2
    if family == "one sample zero":
        assert not h[:, -1].any()


def test_which_features_are_multiples():
    bad = [
        (a, f)
        for a in lab.ACTIVATIONS
        for f in lab.FAMILIES
        if lab.features_are_multiples(a, f, 8, 5, 20, Stream(1)).left > 1e-9
    ]
    assert bad == [
        ("identity", "one sample zero"),
        ("identity", "rank two"),
        ("relu", "units of one sign"),
        ("relu", "no sign restricted"),
        ("relu", "one sample zero"),
        ("relu", "rank two"),
    ]


def test_rest_by_hand():
    """Features (1, 0) and (1, 1): the rests are 1/sqrt 2 and 1, relative 1/sqrt 2 and 1/sqrt 2."""
    lab.FAMILIES["by hand"] = lambda d, n, rng: np.array([[1.0, 1.0], [0.0, 1.0]])
    try:
        case = lab.features_are_multiples("identity", "by hand", 2, 2, 1, Stream(2))
    finally:
        del lab.FAMILIES["by hand"]
    assert case.left == pytest.approx(1 / np.sqrt(2))


def test_gradients_against_finite_differences():
    case = lab.gradients_are_multiples("relu", "samples of one sign", 4, 3, 3, 1, Stream(3))
    np.testing.assert_allclose(case.left, case.right, atol=1e-12)
    draw = Stream(3).numpy("features", "samples of one sign", 4, 3)
    f = np.maximum(lab.FAMILIES["samples of one sign"](4, 3, draw), 0)
    draw = Stream(3).numpy("labels", "relu", "samples of one sign")
    labels, weights = draw.integers(3, size=3), draw.normal(size=(3, 4))

    def loss(w):
        z = torch.from_numpy(w @ f[:, 2])[None]
        return float(torch.nn.functional.cross_entropy(z, torch.tensor([labels[2]])))

    step = np.zeros((3, 4))
    step[1, 0] = 1e-5
    slope = (loss(weights + step) - loss(weights - step)) / 2e-5
    assert case.left[0, 2, 1, 0] == pytest.approx(slope, abs=1e-8)
    bare = lab.gradients_are_multiples(
        "relu", "samples of one sign", 4, 3, 3, 1, Stream(3), with_losses=False
    )
    assert np.abs(bare.left - bare.right).max() > 1e-3


def test_alignment_follows_the_closed_form():
    frame = lab.alignment_by_side(6, 32, 10, Stream(4))
    np.testing.assert_allclose(frame["measured"], frame["closed form"], atol=1e-12)
    one = lab.alignment_is_one(3, 6, 32, 4, Stream(4))
    assert (one.right == 1).all()
    assert (one.left < 0.5).all()
    law = lab.alignment_is_one(3, 6, 32, 4, Stream(4), law=theory.rank_one_alignment)
    np.testing.assert_allclose(law.left, law.right)


def test_deep_networks_align():
    found = lab.networks(64, 8, [1, 60], 3, Stream(5))
    mean = found.groupby("layer")["alignment"].mean()
    assert mean[60] > 0.97 > 0.7 > mean[1]
    assert (found.loc[found["layer"] == 60, "pairs on one side"] == 1).all()
    case = lab.misalignment_of_network(found, 60)
    np.testing.assert_allclose(1 - case.left, found.loc[found["layer"] == 60, "alignment"])


def test_networks_count_pairs_of_different_samples_and_align_features():
    """Two samples are one pair. After one ReLU orthogonal samples have the cosine 1/pi, and the
    features of the next layer that of the arc-cosine kernel at 1/pi.
    """
    pairs = lab.networks(12, 2, [1], 40, Stream(8))["pairs on one side"]
    assert set(pairs) == {0.0, 1.0}
    found = lab.networks(600, 3, [1], 4, Stream(9))["alignment"].mean()
    rho = 1 / np.pi
    expected = (np.sqrt(1 - rho**2) + rho * (np.pi - np.arccos(rho))) / np.pi
    assert found == pytest.approx(expected, abs=0.05)
