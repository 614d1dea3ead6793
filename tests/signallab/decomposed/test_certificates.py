"""Sides of the certified counterexamples, each beside the chapter's own evaluation in doubles."""

import numpy as np
import pytest

from signallab.decomposed import certificates as certified
from signallab.decomposed import (
    finite_time_stability,
    odd_point_and_cluster,
    rank_through_relu,
    three_clusters,
    towards_the_invariant,
    two_clusters,
)
from signalprop import theory


def sides(found):
    return float(found.left), float(found.right)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_odd_polygons_have_twice_as_many_classes(n):
    assert sides(certified.classes_of_odd_polygons(n)) == (2 * n, n)
    turns = np.random.default_rng(0).uniform(0, 2 * np.pi, 2000)[:, None]
    signs = np.cos(turns - 2 * np.pi * np.arange(n) / n) > 0
    assert len(np.unique(signs, axis=0)) == 2 * n


def test_ranks_are_bounded_by_columns():
    rng = np.random.default_rng(0)
    for columns, found in (
        ([(1, 1), (1, 2), (1, 1)], certified.repeated_columns()),
        ([(1, 0), (0, 1), (0.5, 0.5)], certified.a_point_at_the_mean()),
    ):
        x = np.array(columns, dtype=float).T
        x = x - x.mean(axis=1, keepdims=True) if 0.5 in x else x
        images = np.maximum(rng.standard_normal((200, 2)) @ x, 0)
        assert np.linalg.matrix_rank(images) <= found.right < found.left == x.shape[1]


def test_one_neuron():
    draws = np.random.default_rng(0).standard_normal(10**6)
    root = np.sqrt(2) * np.maximum(draws, 0).mean()  # E ReLU of variance 2
    assert float(certified.mean_norm_of_the_odd_point().left) == pytest.approx(root, rel=0.01)
    assert float(certified.mean_norm_of_the_centre(5).left) == pytest.approx(root / 4, rel=0.01)
    assert float(certified.mean_of_the_invariant().left) == pytest.approx(root**2, rel=0.01)


def test_distances_and_kernels():
    assert certified.no_invariant_is_that_far(7).right == pytest.approx(1 + 1 / 36)
    found = certified.equality_along_one_direction()
    assert sides(found) == pytest.approx((50, 50 * float(theory.dec_kernel(1.0))))
    assert sides(certified.equality_of_distances()) == (1, 1)


def test_rows():
    assert sides(certified.a_child_loses_two_clusters()) == (2, 3)
    assert sides(certified.the_sign_stays()) == (1, -1)
    left, right = float(three_clusters.equation_61(3, 2)), -16 / 81
    assert sides(certified.a_negative_bound()) == pytest.approx((left, right))
    assert sides(certified.no_uneven_split()) == (1, 0)


def test_branches_are_those_of_the_chapter():
    values, signs = (-1305, 1437, 1452, 1566, 9982, 9982), (-1, 1, -1)
    theirs = finite_time_stability.branch(values, signs)[1:]
    for row, other in zip(certified.branch(values, signs)[1:], theirs, strict=True):
        assert np.array(row, float) == pytest.approx(np.array(other, float))
    assert sides(certified.a_gap_changes()) == (15, 114)
    assert sides(certified.entries_turn_zero()) == (5, 4)
    assert sides(certified.the_mean_grows())[0] == pytest.approx(2433.037037037037)
    assert sides(certified.equality_of_heights())[0] == sides(certified.equality_of_heights())[1]


def test_the_two_gains_are_one():
    assert certified.gain_at_the_invariant().symbols == ("n",)
    for n in (2, 5, 9):
        radius = float(theory.dec_invariant_radius(n))
        assert theory.dec_theorem_14_alpha(n, radius) == pytest.approx(
            theory.dec_theorem_13_alpha(n)
        )


def test_rows_and_trees():
    found = certified.not_linear_in_the_rows()
    assert sides(found) == (rank_through_relu.certified(32), 4 * rank_through_relu.certified(8))
    case = rank_through_relu.independence(0.1, 1)
    assert sides(certified.waits_depend()) == pytest.approx((case.left, case.right))
    case = three_clusters.persisting([0, 1, 2, 3], 1)
    assert sides(certified.three_clusters_vanish()) == (case.left, case.right)
    case = three_clusters.positive_sums([0, 1, 2, 3, 4], 0)
    assert sides(certified.a_kind_is_missing()) == (case.left, case.right)


def test_layers_of_infinite_width():
    gram = np.diag([4.0, 5, 6])
    after, _ = odd_point_and_cluster.wide(gram[None], 300)
    shape = odd_point_and_cluster.shape(after)
    assert float(certified.no_odd_point().left) == pytest.approx(1 / shape["norm ratio"][0])
    state = odd_point_and_cluster.shape(odd_point_and_cluster.end_state(7, True))
    assert float(certified.an_open_cluster().left) == pytest.approx(state["among others"], rel=1e-4)
    points = np.array([[1, 0, 0], *([0, 0.25, k * 1e-3] for k in (-3, -1, 1, 3))])
    case = towards_the_invariant.closer(points)
    assert sides(certified.the_cluster_widens()) == pytest.approx((case.left, case.right))


def test_the_weaker_exponent():
    assert len(certified.weaker_exponent()) == 3
    a, g = 3.0, 0.25
    sharp = rank_through_relu.weaker_tail(a, g).right
    assert sharp == pytest.approx((a / g - 1) * np.log((a - g) / (1 - g)) - a / g * np.log(a))


def test_one_of_two_ends():
    assert certified.one_of_two_ends().symbols == ("n", "r")
    assert two_clusters.norm_bound(5, 0.3).left <= 2 / (4**2 + 1)


def test_rows_for_two_points_at_every_angle():
    """The means of the chapter's Markov chain keep to both bounds by the proven margins."""
    proofs = certified.rows_for_two_points()
    for share in (0.02, 0.2, 0.25, 0.3, 0.45):  # of a turn between the points
        angle = 2 * np.pi * share
        x = np.array([[1, 0], [np.cos(angle), np.sin(angle)]])
        case = rank_through_relu.expected_rows(x, rows=4000)
        gamma = min(share, 0.5 - share)
        sharper = float(rank_through_relu.sharper_bound(2, gamma))
        rooms = gamma * np.array([case.right - case.left, sharper - case.left])
        margins = [min(p.margin for p in proofs[k : k + 2]) for k in (0, 2)]
        assert (np.array(margins) > 0).all()
        assert (margins <= rooms + 1e-9).all()
