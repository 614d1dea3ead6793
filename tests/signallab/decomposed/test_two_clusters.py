"""Rows and trees of two clusters against rows written out by other means."""

import itertools

import numpy as np
import pytest

from signallab.decomposed import two_clusters as lab
from signalprop.clusters import ClusterTree, gram_angles, literal_tree
from signalprop.random import Stream
from signalprop.theory import dec_growth, dec_tree_norms

STREAM = Stream(3).child("two clusters")
VALUES = [0, 1, 3, 9, 10]


def floats(x, sign):
    """One transformation with numpy, independent of the fractions."""
    return np.maximum(sign * (x - x.mean()), 0)


def test_batches_ascend_and_are_what_they_are_called():
    for kind in lab.BATCHES:
        values = lab.batch(kind, 6, STREAM)
        assert len(values) == 6
        assert (np.diff(values) > 0).all()
    assert lab.batch("powers of two", 3, STREAM) == [2, 4, 8]
    assert lab.batch("equally spaced", 3, STREAM) == [1, 2, 3]
    assert lab.batch("squares", 3, STREAM) == [1, 4, 9]


@pytest.mark.parametrize(("zero", "positive"), [(2, 3), (1, 3)])
def test_branches_against_every_sequence_of_signs(zero, positive):
    case = lab.branches(zero, positive, 4)
    start = np.repeat([0.0, 1.0], [zero, positive])
    found = []
    for signs in itertools.product([1, -1], repeat=4):
        row = start
        for sign in signs:
            row = floats(row, sign)
        found.append([row.max(), (row == 0).sum()])
    np.testing.assert_allclose(case.left, np.transpose(found), rtol=1e-12)
    np.testing.assert_allclose(case.right, case.left, rtol=1e-14)
    assert not np.allclose(lab.branches(zero, positive, 4, before=True).right, case.left)


def test_evolution_is_the_tree_of_two_layers():
    rows = lab.evolution([0, 0, 1, 1, 1])
    last = rows[rows.layer == 2]
    tops = last.groupby("transformations", sort=False)["height"].max().tolist()
    np.testing.assert_allclose(tops, [0.16, 0.24, 0.36, 0.24])
    assert last[last.height > 0].points.tolist() == ["3 4 5", "1 2", "1 2", "3 4 5"]
    assert rows["mean"].iloc[0] == pytest.approx(0.6)


def test_contribution_against_the_literal_tree():
    for positive in (True, False):
        start = np.where(np.arange(5) < 3, float(positive), float(not positive))
        features = literal_tree(start[:, None], 4)
        case = lab.contribution(5, 3, 4, positive=positive)
        assert case.left == pytest.approx((features[0] ** 2).sum(), rel=1e-12)
        assert case.right == pytest.approx(case.left, rel=1e-12)


def test_equation_39_by_hand():
    case = lab.equation_39(5, 2, 2)  # (3/5)^4 + (3/5)^2 (2/5)^2
    assert case.left == pytest.approx((81 + 36) / 625)
    assert lab.equation_39(5, 2, 2, power=0).right == pytest.approx(case.left * 13 / 25)


def test_domination_and_same_cluster():
    assert lab.domination(6).left == pytest.approx((4 + 16) / 36)
    assert lab.domination(6).right == pytest.approx(26 / 36)
    assert lab.domination(6, split=2).left == pytest.approx(26 / 36)
    assert lab.same_cluster(5).left.min() == 2
    assert len(lab.same_cluster(5).left) == 6
    assert lab.same_cluster(5, last=0).left.min() == 1


def test_outer_rows_against_the_literal_tree():
    values = [0, 1, 5, 6]
    for later in (0, 1, 3):
        features = literal_tree(np.array(values, dtype=float)[:, None], 1 + later)
        split = [len(set(f[1:])) == 1 or len(set(f[:-1])) == 1 for f in features.round(9).T]
        assert lab.outer_rows(values, later).right == sum(split)
    skewed = np.array([[0.0], [1], [2], [3], [50]])
    clusters = [
        max(len(set(row)) for row in literal_tree(skewed, depth).round(9).T) for depth in (3, 4)
    ]
    assert clusters == [4, 3]
    assert lab.outer_rows(skewed.ravel()).words.endswith("layer 4")


def test_sums_of_both_readings():
    tree = ClusterTree.start(VALUES).after(9)
    features = literal_tree(np.array(VALUES, dtype=float)[:, None], 9).T
    sums = np.zeros((2, 2))
    for row in features:
        for place, alone in enumerate((0, -1)):
            rest = row[1:] if alone == 0 else row[:-1]
            if np.ptp(rest) < 1e-9:
                sums[0, place] += row.max() ** 2
                sums[1, place if row[alone] < 1e-9 else 1 - place] += 0
                sums[1, 0 if row[alone] < 1e-9 else 1] += row.max() ** 2
    scale = float(tree.scale)
    np.testing.assert_allclose(np.array(lab.left_first(tree.energy)) * scale, sums[0])
    np.testing.assert_allclose(np.array(lab.zero_first(tree.energy)) * scale, sums[1])


@pytest.mark.parametrize("layers", [1, 4])
def test_norm_formula_against_a_literal_tree(layers):
    """At a small depth the sides differ, and the left one is the tree's."""
    case = lab.norm_formula(VALUES, 5, layers)
    features = literal_tree(np.array(VALUES, dtype=float)[:, None], 5 + layers)
    tree = ClusterTree.start(VALUES).after(5)
    s1, s2 = (s * float(tree.scale) for s in lab.left_first(tree.energy))
    first, inner, last = np.array(dec_tree_norms(5, s1, s2)) * dec_growth(5, 1) ** (layers - 1)
    printed = np.array([first, inner, inner, inner, last])
    np.testing.assert_allclose(case.left, (features**2).sum(axis=1) / printed, rtol=1e-10)
    assert np.abs(case.left - case.right).max() > 1e-3


def test_a_slip_in_the_small_inner_norms_is_seen_beside_large_ends():
    values = [i * i for i in range(20)]
    assert np.abs(lab.norm_formula(values, 240).left - 1).max() < 1e-7
    slip = lab.norm_formula(values, 240, sums=lambda energy: lab.left_first(energy * 2))
    np.testing.assert_allclose(slip.left, 0.5, rtol=1e-7)


def test_angle_formula_against_a_literal_tree():
    case = lab.angle_formula(VALUES, 6)
    features = literal_tree(np.array(VALUES, dtype=float)[:, None], 7)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    angles = np.arccos(np.clip(unit @ unit.T, -1, 1))
    np.testing.assert_allclose(case.left, [angles[1:-1, 0], angles[1:-1, -1]], rtol=1e-9)
    deep = lab.angle_formula(VALUES, 200)
    np.testing.assert_allclose(deep.left, deep.right, rtol=1e-9)


def test_bounds_are_reached_at_equal_sums_only():
    sharp = {"right": lambda n: 2 / ((n - 1) ** 2 + 1)}
    assert lab.norm_bound(7, 1.0, **sharp).left == pytest.approx(2 / 37)
    for ratio in (0.1, 10.0):
        case = lab.norm_bound(7, ratio)
        assert case.left == pytest.approx(1.1 / 36.1)
        assert case.right == pytest.approx(2 / 36)
        assert lab.angle_bound(7, ratio).right > lab.angle_bound(7, 1.0).right
    cosine = np.cos(lab.angle_bound(7, 1.0).right)
    assert cosine == pytest.approx(1 / np.sqrt(2 * 37))
    case = lab.equation_59(3)
    assert (case.left, case.right) == (
        pytest.approx(np.pi / 2 * (1 - 1 / np.sqrt(8))),
        pytest.approx(np.arccos(1 / np.sqrt(8))),
    )


def test_extremes_and_other_pairs():
    case = lab.extremes(VALUES, 6)
    assert (case.left == np.pi / 2).all()
    assert all(case.hypotheses.values())
    assert (lab.extremes(VALUES, 6, (1, -1)).left < np.pi / 2).any()
    middle = lab.extremes([1, 2, 3], 1, (1, 1))
    assert not all(middle.hypotheses.values())  # the point at the mean vanishes
    assert not all(lab.extremes([1, 2, 3], 1, (0, 1)).hypotheses.values())


def test_merging_is_measured_at_its_layer():
    values = [0, 1, 5, 6, 20]
    tree = ClusterTree.start(values).after(30)
    expected = np.degrees(gram_angles(tree.gram())[1:-1, 1:-1].max())
    assert lab.merging(values, 30, 1.0).left == pytest.approx(expected)
    table = lab.relative_angles(values, [10, 30])
    assert table["angle"].iloc[3] == pytest.approx(expected)
    rate = lab.merging_rate(values, 100, 20)
    assert rate.left == pytest.approx(np.log((17 / 25) / (13 / 25)) / 2, rel=1e-6)
    assert rate.right == pytest.approx(rate.left, rel=1e-6)
    layer = lab.layers_until(values, 1.0)
    assert lab.merging(values, layer, 1.0).left <= 1 < lab.merging(values, layer - 10, 1.0).left


def test_far_end_in_closed_form():
    """Symmetric batches have equal sums: single ends, and ends of two points each."""
    assert lab.far_end(range(8), 300) == pytest.approx(np.sqrt((7**2 + 1) / 2))
    doubled = lab.far_end([0, 0, 1, 2, 3, 4, 5, 5], 300)
    assert doubled == pytest.approx(np.sqrt((6**2 + 2**2) / (2 * 2**2)))


def test_far_end_is_the_longer_one():
    features = literal_tree(np.array([1.0, 2, 4, 8, 16])[:, None], 10)
    norms = np.linalg.norm(features, axis=1)
    assert lab.far_end([1, 2, 4, 8, 16], 10) == pytest.approx(norms[-1] / norms[2])
    assert norms[-1] > 2 * norms[0]


def test_split_shares_against_the_literal_tree():
    shares = lab.split_shares(VALUES, 4)
    assert shares.groupby("layer")["share"].sum().to_numpy() == pytest.approx(np.ones(4))
    energy = {}
    for row in literal_tree(np.array(VALUES, dtype=float)[:, None], 4).T:
        values = np.unique(row.round(9))
        lower = int((np.abs(row - row[0]) < 1e-9).sum())
        two = f"split {min(lower, 5 - lower)} or n - {min(lower, 5 - lower)}"
        name = two if len(values) == 2 else "three clusters or more"
        energy[name] = energy.get(name, 0.0) + row.max() ** 2
    last = shares[shares.layer == 4].set_index("rows")["share"]
    for name, value in energy.items():
        assert last[name] == pytest.approx(value / sum(energy.values()))
