"""Fixed matrices, the law of the moments and the bound, by hand and by brute force."""

import numpy as np
import pytest
import torch

from signallab.rank import rank_two as lab
from signalprop.random import Stream


@pytest.mark.parametrize("activation", list(lab.ACTIVATIONS))
def test_fixed_matrices_do_not_move(activation):
    """Every matrix of signs of rank one stays under random weights if the count says all do."""
    d, n, rng = 3, 2, np.random.default_rng(0)
    f, bound = lab.ACTIVATIONS[activation]
    edge = 1 / (np.sqrt(3) * d * abs(f(1.0)))  # where the worst weights turn a sign
    assert lab.fixed_matrices(activation, d, n, 0.99 * edge) == 2 ** (d + n - 1)
    assert lab.fixed_matrices(activation, d, n, 1.01 * edge) == 0
    h = lab.rank_one(d, n, True, Stream(1))
    for w in rng.uniform(-np.sqrt(3), np.sqrt(3), (50, d, d)):
        np.testing.assert_allclose(lab.layer(h, w, 1 / (8 * bound * d), activation), h)
    assert lab.uniqueness(activation, d, n).left == 16


def test_layer_by_hand():
    h = np.array([[1.0, 1.0], [1.0, -1.0]])
    w = np.array([[0.0, 1.0], [0.0, 0.0]])
    found = lab.layer(h, w, 1.0, "identity")  # rows (2, 0) and (1, -1)
    np.testing.assert_allclose(found, [[np.sqrt(2), 0], [1, -1]])


@pytest.mark.parametrize("balanced", [True, False])
def test_starts_of_rank_one(balanced):
    h = lab.rank_one(4, 6, balanced, Stream(2))
    assert np.linalg.matrix_rank(h) == 1
    np.testing.assert_allclose(np.mean(h**2, axis=1), 1)
    assert (np.ptp(abs(h)) < 1e-12) == balanced


@pytest.mark.parametrize(
    ("activation", "balanced", "stays"),
    [
        ("identity", False, True),
        ("tanh", True, True),
        ("tanh", False, False),
        ("sin", False, False),
    ],
)
def test_which_starts_of_rank_one_stay(activation, balanced, stays):
    args = (activation, 3, 4, balanced, 6, Stream(3))
    case = lab.moments_stay(*args)
    assert np.allclose(case.left, case.right, rtol=0, atol=1e-9) == stays
    assert (lab.rise_of_rank(*args).left == 1) == stays
    average = lab.average_is_a_sign(activation, 3, 4, balanced, 3000, Stream(3))
    assert (average.left == pytest.approx(1, abs=1e-9)) == stays


def test_first_step_of_tanh_by_hand():
    """Row i becomes u_i v + gamma (W u)_i tanh(v)."""
    d, n, stream = 3, 4, Stream(4)
    h = lab.rank_one(d, n, False, stream)
    weights = stream.numpy("moments", "tanh", d, n).uniform(-np.sqrt(3), np.sqrt(3), (1, d, d))
    u, v = np.sign(h[:, 0]), abs(h[0, 0]) * h[0] / h[0, 0]
    rows = np.outer(u, v) + np.outer(weights[0] @ u, np.tanh(v)) / (8 * d)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    path = lab.moment_path("tanh", d, n, False, 1, stream)
    assert path[1] == pytest.approx(rows[0] @ rows[1], rel=1e-12)


def test_signs_turn_beyond_the_step_of_the_theorem():
    case = lab.moments_stay("identity", 4, 3, True, 40, Stream(5), times_step=100)
    assert np.array_equal(abs(case.left), abs(case.right))
    assert not np.array_equal(case.left, case.right)


@pytest.mark.parametrize("activation", ["identity", "tanh", "sin"])
@pytest.mark.parametrize("gamma", [0.04, 1.0])
def test_rank_is_not_lost(activation, gamma):
    case = lab.keeps_its_rank(activation, 3, 4, 2, gamma, 8, Stream(6))
    assert case.right == (2 if activation == "identity" else case.right)
    assert case.right >= case.left == 2


def test_reading_of_k():
    h, w = np.array([[1.0, 1.0], [2.0, 0.5]]), np.array([[0.3, -1.0], [0.7, 0.2]])
    right = lab.change_of_moments(h, w, 0.5, "tanh")
    np.testing.assert_allclose(right.left, right.right, atol=1e-14)
    wrong = lab.change_of_moments(h, w, 0.5, "tanh", k="H F(H)^T")
    assert np.abs(wrong.left - wrong.right).max() > 1e-3


def test_extreme_layers_attain_the_bound_for_linear_networks_only():
    cases = [
        (p["activation"], lab.bound_of_lemma_20(**p)) for p in lab.extreme_layers(Stream(7), 6)
    ]
    largest = {a: max(c.left / c.right for b, c in cases if a == b) for a in lab.ACTIVATIONS}
    assert largest["identity"] == pytest.approx(1, abs=1e-9)
    assert largest["doubling"] == pytest.approx(1, abs=1e-9)
    assert 0.5 < largest["tanh"] < 0.9
    assert all(all(c.hypotheses.values()) for _, c in cases)
    assert lab.signs_kept(3, "identity").left == pytest.approx(0.479888, abs=1e-6)
    assert lab.signs_kept(3, "doubling", times=2).left == pytest.approx(0.86602540 + 3 / 16)


def test_ratio_path():
    frame = lab.ratio_path(4, ["identity", "tanh"], 30, 2, Stream(8), every=10)
    assert len(frame) == 2 * 2 * 4
    column = frame["second over first singular value"]
    assert ((column > 0) & (column <= 1)).all()
    first = frame[frame["layer"] == 0].groupby("run")["second over first singular value"]
    assert (first.nunique() == 1).all()


def test_the_least_rank_met_counts_for_one_claim_and_the_largest_for_the_other(monkeypatch):
    monkeypatch.setattr(lab, "_ranks", lambda *args: (3, 2, 4))
    assert lab.keeps_its_rank("tanh", 4, 4, 3, 0.1, 3, Stream(0)).right == 2
    assert lab.rise_of_rank("tanh", 4, 4, False, 3, Stream(0)).left == 4


def test_the_average_is_taken_before_its_size(monkeypatch):
    monkeypatch.setattr(lab, "moment_path", lambda *args, **kwargs: np.array([1.0, -0.5]))
    case = lab.average_is_a_sign("tanh", 2, 2, False, 1, Stream(0))
    assert (case.left, case.right) == (0.25, 1)


def test_lemma_20_is_about_the_largest_entry():
    """Two units, one of which moves: entry 11 by (1.5)^2 - 1, entry 12 by a half."""
    h, w = np.ones((2, 2)), np.array([[0.5, 0.0], [0.0, 0.0]])
    assert lab.bound_of_lemma_20(h, w, 1.0, "identity").left == pytest.approx(1.25)


def test_second_over_first():
    assert lab._second_over_first(torch.diag(torch.tensor([1.0, 4.0, 2.0]))) == pytest.approx(0.5)
