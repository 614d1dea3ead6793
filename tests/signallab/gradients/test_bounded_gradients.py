"""Bounds by hand, gradients by another route, explosions where they have to be."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import signalprop as sp
from signallab.gradients import bounded_gradients as lab
from signallab.gradients.deep_networks import Setting, draw
from signallab.gradients.expected_isometry import gap, haar, unit_rows
from signallab.gradients.rotated_chain import Descent, descent
from signalprop import theory
from signalprop.random import Stream


def test_bounds_by_hand():
    assert lab.sharper_total(8, 0.5) == pytest.approx(0.5 * 8 * 0.5 * 21 + 7.5)
    assert lab.sharper_bound(8, 0.5) == pytest.approx(49.5 + np.log(2) / 2)
    assert lab.pathwise_total(2, 0.25, 9) == pytest.approx((0.5 + 3) / 2)


@given(st.integers(2, 300), st.floats(0, 100))
def test_what_is_sharper_is_sharper(d, psi):
    """The absolute constant of Theorem 6.5 may be 1."""
    assert lab.sharper_bound(d, psi) <= theory.grad_theorem_6_5(d, psi)


def test_no_rotations_exceed_the_bound_without_probability():
    def lazy(d, runs, stream):
        """Rotations close to none."""
        noise = 0.02 * stream.numpy("noise").normal(size=(runs, d, d))
        return np.linalg.qr(np.eye(d) + noise - noise.transpose(0, 2, 1))[0]

    x = unit_rows(np.random.default_rng(0).normal(size=(4, 4)))
    for rotations in (None, lazy):
        chosen = {"rotations": rotations} if rotations else {}
        path = descent(x, 200, 5, Stream(1), **chosen)
        for depth in (1, 20, 200):
            sums = path.log_norms[:, :depth].sum(axis=1)
            assert (sums <= lab.pathwise_total(4, float(gap(x)), depth)).all()


def test_slow_total_is_a_chain_in_the_plane():
    """Each layer makes the squared lengths 1 ± e, by a turn that is computed from the rows."""
    psi, depth = 0.4, 50
    e = np.sqrt(1 - np.exp(-2 * psi / depth))
    rho = np.sqrt(1 - np.exp(-2 * psi))
    x = np.array([[1.0, 0.0], [rho, np.sqrt(1 - rho**2)]])
    total = 0.0
    for _ in range(depth - 1):
        correlation = x[0] @ x[1]
        angle = np.arcsin(np.clip(-e / correlation, -1, 1)) / 2
        w = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        h = w @ x
        total += -np.log(np.linalg.norm(h, axis=1).min())
        x = unit_rows(h)
    assert total == pytest.approx(lab.slow_total(psi, depth) * (depth - 1) / depth, rel=1e-6)
    assert lab.slow_total(psi, depth) <= lab.pathwise_total(2, psi, depth)


def test_total_takes_layers_1_to_depth():
    lengths = np.log(np.array([[[0.1, 1], [0.5, 1], [1, 0.25], [0.1, 0.1]]]))
    case = lab.total(Descent(np.ones((1, 5)), lengths), 2, lambda d, psi, depth: d * psi * depth)
    assert case.left[0] == pytest.approx(np.log(8))
    assert case.right == 4


def test_descents_end_near_isometry():
    for point in lab.descents([3], 4, Stream(2)):
        if point["depth"] > 10:
            assert (point["path"].gaps[:, -1] < 1e-2).all()
            assert point["path"].gaps.shape[1] == point["depth"] + 2


def test_table_of_sums():
    row = lab.table_of_sums([4], 30, Stream(3)).iloc[0]
    assert 0 < row["measured sum"] < row["bound here"] < row["d⁵ (gap³ + 1)"]
    assert row["bound here"] == pytest.approx(lab.sharper_total(4, row["gap"]))
    x = unit_rows(Stream(3).numpy("growth", 4).normal(size=(4, 4)))
    path = descent(x, 48, 30, Stream(3).child("growth", 4))
    from_layer_1 = lab.total(path, 48, lambda d, psi, depth: 0.0).left.mean()
    assert row["measured sum"] == pytest.approx(from_layer_1)


def test_nearly_repeated():
    x = lab.nearly_repeated(6, 2, 1e-6, Stream(4))
    values = torch.linalg.svdvals(x)
    assert values[1] > 0.1
    assert 1e-8 < values[2] < 1e-4


def test_log_norms_are_those_of_autograd():
    x, labels = lab.gaussian_batch(3, 4, Stream(5)), torch.tensor([0, 3, 9, 1])
    found = lab.log_norms(Setting(x, labels, 5, 2, Stream(6)), [2, 3], [0, 1], sp.gaussian())
    w = draw(Stream(6), 1, 3, 5, 3, sp.gaussian())
    first = w.first.clone().requires_grad_()
    h = x @ first.mT
    for matrix in (None, *w.square[:1]):
        h = h if matrix is None else h @ matrix.mT
        h = h / h.norm(dim=0)
    loss = torch.nn.functional.cross_entropy(h @ w.head.mT, labels)
    (gradient,) = torch.autograd.grad(loss, first)
    assert found[1, 0, 0] == pytest.approx(float(gradient.norm().log()))


def test_last_gaps_are_those_of_the_chain():
    x = lab.gaussian_batch(4, 4, Stream(15))
    setting = Setting(x, torch.arange(4), 4, 1, Stream(16))
    w = draw(Stream(16), 0, 3, 4, 4, sp.gaussian())
    h = x.mT.numpy()
    for matrix in w.hidden:
        h = unit_rows(matrix.numpy() @ h)
    assert lab.last_gaps(setting, 3, sp.gaussian())[0] == pytest.approx(float(gap(h)))


def test_single_precision_is_near_double():
    x = lab.gaussian_batch(4, 3, Stream(17))
    double = Setting(x, torch.arange(3), 4, 2, Stream(18))
    single = Setting(x.float(), torch.arange(3), 4, 2, Stream(18))
    logs = [lab.first_gradients(each, [2, 5]) for each in (double, single)]
    assert 0 < np.abs(logs[0] - logs[1]).max() < 1e-3


def test_copies_are_told_apart_by_a_change_of_one_of_them():
    """What rounding does is seen on a batch whose copies differ by as much."""
    x = lab.gaussian_batch(8, 4, Stream(19))
    found = lab.told_apart(Setting(x.float(), torch.arange(4), 8, 1, Stream(20)), [1, 400])
    assert found[0] < 1e-4
    assert np.isfinite(found).all()
    w = draw(Stream(20), 0, 1, 8, 8)
    (end,) = lab.states(lab.NETWORK, w, torch.cat([x, x + 0.1]), [1])
    assert float((end[:4] - end[4:]).norm()) > 1e-3


def test_copies_of_a_sample_are_computed_once():
    x, labels = lab.gaussian_batch(4, 3, Stream(7)), torch.arange(3)
    setting = Setting(x, labels, 4, 2, Stream(8))
    thrice = Setting(x.repeat(3, 1), labels.repeat(3), 4, 2, Stream(8))
    found = lab.first_gradients(setting, [2, 4], repeats=3)
    np.testing.assert_allclose(found, lab.log_norms(thrice, [2, 4], [1])[..., 0], rtol=1e-9)


def test_few_samples_explode_and_many_do_not():
    x = lab.gaussian_batch(20, 8, Stream(9))
    setting = Setting(x, torch.arange(8), 1, 4, Stream(10))
    rows = lab.table_of_shapes(setting, [(8, 3), (4, 8)], [20, 60, 120])
    assert rows["growth a layer"][0] > 0.03 > abs(rows["growth a layer"][1]) + 0.01
    part = Setting(x[:3], torch.arange(3), 8, 4, Stream(10))
    speed = lab.slopes([20, 60, 120], lab.first_gradients(part, [20, 60, 120]))
    assert rows["growth a layer"][0] == pytest.approx(speed.mean())
    assert rows["standard error"][0] == pytest.approx(speed.std(ddof=1) / 2)


def test_gradients_near_degeneracy_name_their_point():
    points = list(lab.gradients_near_degeneracy([4], 2, [1, 3, 6], [0, 2], Stream(11)))
    assert len(points) == 15
    assert points[0]["words"] == "d = 4, Gaussian, L = 1, layer 0"
    assert all(np.isfinite(point["logs"]).all() for point in points)
    assert points[-1]["words"] == "d = 4, 1e-12 apart, L = 6, layer 2"
    assert points[0]["psi"] < 4 < 10 < points[-1]["psi"]


def test_changes_with_depth_are_differences_of_two_networks():
    found = lab.changes_with_depth([3, 4], (2, 6), 2, Stream(25))
    inner = Stream(25).child("headline", 4)
    x, w = lab.gaussian_batch(4, 4, inner), draw(inner, 1, 6, 4, 4)
    ends = [
        lab.log_gradients(lab.NETWORK, w, x, torch.arange(4), [depth], [1])[0, 0]
        for depth in (2, 6)
    ]
    assert found[1, 1] == pytest.approx(ends[1] - ends[0])


def test_log_slopes_of_an_entry_are_those_of_autograd():
    """Two batches of a stream with the same weights, and a loss that is one entry."""
    batches = np.stack([lab.of_unequal_lengths(3, e) for e in (0.5, 1e-3)])
    found = lab.log_slopes_of_an_entry(batches, 4, 2, Stream(21))
    weights = [haar(3, 2, Stream(21).child("entry", layer))[1] for layer in range(4)]
    for x, logs in zip(batches, found, strict=True):
        h = torch.from_numpy(x)
        first, *others = (torch.from_numpy(w).requires_grad_(k == 0) for k, w in enumerate(weights))
        for w in (first, *others):
            h = w @ h
            h = h / h.norm(dim=1, keepdim=True)
        (gradient,) = torch.autograd.grad(h[0, 0], first)
        assert logs[1] == pytest.approx(float(gradient.norm().log()))


def test_short_samples_are_as_good_as_none():
    """Far from the end, gradients are those of the two long samples alone."""
    batches = np.stack([lab.of_unequal_lengths(6, e) for e in (1e-120, 0.0)])
    tiny, none = lab.log_slopes_of_an_entry(batches, 60, 3, Stream(22))
    np.testing.assert_allclose(tiny, none, rtol=1e-9)


def test_shorter_samples_have_the_gap_of_their_lengths():
    (point,) = lab.shorter_samples([5], (1e-3, 1e-30), 80, 3, Stream(23))
    assert point["gaps"][1] == pytest.approx(np.log(2 / 5) - 2 * 3 / 5 * np.log(1e-30))
    batches = np.stack([np.diag([1, 1, e, e, e]) for e in (1e-3, 1e-30)])
    same = lab.log_slopes_of_an_entry(batches, 80, 3, Stream(23).child("lengths", 5))
    np.testing.assert_array_equal(same, [point["near"], point["far"]])


def test_headline_lets_a_constant_be_used_up():
    near, far = np.array([2.0, 3.0]), np.array([7.0, 7.0])
    case = lab.headline(4, near, far, (1.0, 2.0))
    assert (case.left.tolist(), case.right) == ([5, 4], 1)
    case = lab.headline(4, near, far, (1.0, 2.0), power=3)
    assert (case.left.tolist(), case.right) == ([-2, -6.5], 4.5)
    assert not all(lab.headline(4, near, far, (1.0, np.inf)).hypotheses.values())


def test_table_of_lengths_has_a_row_a_batch():
    point = {"d": 4, "near": np.array([1.0, 3]), "far": np.array([5.0, 5]), "gaps": (1.0, 2.0)}
    rows = lab.table_of_lengths([point, point | {"d": 5}])
    assert rows["width"].tolist() == [4, 4, 5, 5]
    assert rows["gap"].tolist() == [1, 2, 1, 2]
    assert rows["mean log gradient"].tolist() == [2, 5, 2, 5]
    assert rows["standard error"].tolist() == [1, 0, 1, 0]


def test_the_scale_of_the_identity_is_forgotten_by_one_layer():
    """With one layer the logits are W_1 W_0, and BN removes what points along the rows of W_0."""
    assert lab.from_a_large_identity(2, 0, 1, Stream(24)).left == pytest.approx(62)
    assert lab.from_a_large_identity(2, 3, 1, Stream(24), normalize=False).left > 50
    case = lab.from_a_large_identity(3, 1, 2, Stream(24))
    w0, w1 = haar(3, 2, Stream(24).child("identity", 1))
    # row j of dL/dX_1 is w1[0, j] e_1, and loses its part along row j of X_1 = W_0
    rows = w1[0][:, None] * (np.eye(3)[0] - w0[:, :1] * w0)
    assert case.left[1] == pytest.approx(np.log(np.linalg.norm(rows)) + 10)
    assert case.right == 3**5 + 10


def test_table_of_largest_takes_the_largest_mean_of_each_batch():
    logs = [[1.0, 3.0], [0.0, 2.0], [5.0, 5.0], [-1.0, 1.0]]
    batches = [(3, 0.5), (3, 0.5), (3, 2.0), (4, 0.5)]
    points = [
        {"logs": np.array(each), "d": d, "psi": psi, "words": ""}
        for each, (d, psi) in zip(logs, batches, strict=True)
    ]
    rows = lab.table_of_largest(points)
    assert rows["largest mean"].tolist() == [2, 5, 0]
    assert rows["standard error"].tolist() == [1, 0, 1]
    assert rows["gap"].tolist() == [0.5, 2, 0.5]
    assert rows["bound here"][2] == lab.sharper_bound(4, 0.5)
    assert rows["d⁵ (gap³ + 1)"][1] == 243 * 9


def test_tidy():
    rows = lab.tidy({"a": np.array([[1.0, 2.0]]), "b": np.array([[3.0, 4.0]])}, "batch", [5, 7])
    assert rows["log gradient norm"].tolist() == [1, 2, 3, 4]
    assert rows["depth"].tolist() == [5, 7, 5, 7]


def test_theorem_lifts_both_sides():
    case = lab.theorem(np.array([-1.0, 1.0]), 2, 3.0, lambda d, psi: d * psi)
    assert case.left.tolist() == [9, 11]
    assert case.right == 16


@pytest.mark.parametrize("project", [True, False])
def test_chain_rule(project):
    (point,) = lab.networks(4, 6, 1, Stream(12))
    case = lab.by_chain_rule(**point, project=project)
    assert np.allclose(case.left, case.right, rtol=1e-9) == project


def test_networks_of_both_kinds_of_batch():
    apart, near = (next(lab.networks(6, 2, 1, Stream(12), each)) for each in (None, 1e-6))
    assert apart["words"] == "Gaussian, network 0"
    assert near["words"] == "1e-06 apart, network 0"
    assert torch.linalg.svdvals(apart["x"])[2] > 0.1
    assert torch.linalg.svdvals(near["x"])[2] < 1e-4
    assert torch.equal(apart["weights"].square[:], near["weights"].square[:])


def test_chain_multiplies_norms():
    """With two layers there is one weight matrix after the first, and one Jacobian."""
    (point,) = lab.networks(3, 2, 1, Stream(13))
    x, w = point["x"], point["weights"]
    case = lab.chain(**point, factor=lambda d: d)
    first = x.mT.numpy()
    first = unit_rows(w.first.numpy() @ first)
    lengths = np.linalg.norm(w.hidden[1].numpy() @ first, axis=1)
    logits = w.head.numpy() @ unit_rows(w.hidden[1].numpy() @ first)
    flow = (torch.softmax(torch.from_numpy(logits), 0) - torch.eye(10)[:, :3]) / 3
    np.testing.assert_allclose(case.right, [float(flow.norm()) * 3 / lengths.min()])
    assert case.left[0] < case.right[0]
    without = lab.chain(**point, factor=lambda d: d, skip=1)
    np.testing.assert_allclose(without.right, [float(flow.norm()) * 3])


def test_isometry_exactly():
    x = [[1, 0], [0, 2]]
    assert lab.isometry_exactly(x).left == pytest.approx(0.8)
    assert lab.isometry_exactly(x, changed=-2).left == 0
    for point in lab.repeated_columns(4, 5, Stream(14)):
        assert np.linalg.matrix_rank(np.array(point["x"])) < 4
        assert lab.isometry_exactly(**point).left == 0
