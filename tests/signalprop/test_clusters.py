from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from signalprop.clusters import ClusterTree, gram_angles, gram_norms, literal_tree, transform
from signalprop.random import Stream
from signalprop.stats import exponential_rate
from signalprop.theory import dec_growth, dec_tree_angles, dec_tree_norms

STREAM = Stream(0).child("test_clusters")
batches = st.lists(st.integers(-50, 50), min_size=2, max_size=7).filter(lambda x: len(set(x)) > 1)


def children(row):
    """One step of DEC Eq. 10 on a row of fractions, written out."""
    mean = sum(row) / len(row)
    return [max(x - mean, 0) for x in row], [max(mean - x, 0) for x in row]


def rows(values, depth):
    layer = [[Fraction(value) for value in values]]
    for _ in range(depth):
        layer = [child for row in layer for child in children(row)]
    return layer


@given(batches, st.integers(0, 6))
def test_merged_tree_is_the_literal_tree(values, depth):
    tree, literal = ClusterTree.start(values).after(depth), rows(values, depth)
    gram = [
        [sum(r[i] * r[j] for r in literal) for j in range(len(values))] for i in range(len(values))
    ]
    np.testing.assert_array_equal(tree.gram() * tree.scale, gram)
    assert tree.most_clusters == max(2, max(len(set(row)) for row in literal))


@given(batches, st.integers(1, 6))
def test_every_neuron_is_counted_in_its_pattern(values, depth):
    tree, literal = ClusterTree.start(values).after(depth), rows(sorted(values), depth)
    assert tree.count.sum() + sum(tree.rows.values()) == 2**depth
    for m in range(1, len(values)):
        sides = [m * [True] + (len(values) - m) * [False], m * [False] + (len(values) - m) * [True]]
        for side, zero in enumerate(sides):
            equal = [r for r in literal if len(set(r)) == 2 and [x == 0 for x in r] == zero]
            assert tree.count[m - 1, side] == len(equal)
            energy = sum((max(row) ** 2 for row in equal), Fraction(0))
            assert tree.energy[m - 1, side] * tree.scale == energy


@given(batches, st.integers(0, 8))
def test_clusters_beyond_two_never_grow(values, depth):
    # The invariant that keeps the state small: the sum over neurons of (clusters - 2).
    tree = ClusterTree.start(values).after(depth)
    excess = sum(number * (len(row) - 2) for row, number in tree.rows.items())
    following = sum(number * (len(row) - 2) for row, number in tree.step().rows.items())
    assert following <= excess <= len(set(values)) - 2
    assert sum(tree.rows.values()) <= max(1, len(values) - 2)  # the root may have two clusters


def test_floating_point_loses_the_third_cluster():
    exact = [Fraction(value) for value in (0.1, 0.25, 0.45, 0.7, 1.0)]
    rounded = np.array([[float(value)] for value in exact])
    for _ in range(300):
        positive, negative = children(exact)
        sign = 1.0 if len(set(positive)) >= len(set(negative)) else -1.0
        exact, rounded = positive if sign > 0 else negative, transform(rounded, sign)
    assert (len(set(exact)), len(set(rounded.ravel()))) == (3, 2)


def test_floats_and_other_numbers_are_taken_exactly():
    values = STREAM.numpy("floats").normal(size=6)
    tree = ClusterTree.start(values).after(3)
    exact = ClusterTree.start([Fraction(value) for value in values]).after(3)
    np.testing.assert_array_equal(tree.gram(), exact.gram())
    literal = literal_tree(values[:, None], 3)
    np.testing.assert_allclose(
        (tree.gram() * tree.scale).astype(float), literal @ literal.T, rtol=1e-12, atol=1e-15
    )
    single = torch.tensor(values, dtype=torch.float32)
    assert ClusterTree.start(single).unit >= Fraction(1, 2**40)


@given(batches, st.permutations(range(7)), st.integers(0, 5))
def test_points_keep_their_places(values, permutation, depth):
    order = [i for i in permutation if i < len(values)]
    gram = ClusterTree.start(values).after(depth).gram()
    moved = ClusterTree.start([values[i] for i in order]).after(depth).gram()
    np.testing.assert_array_equal(moved, gram[np.ix_(order, order)])


def test_trees_of_several_features_add_up():
    x = STREAM.numpy("features").integers(-9, 9, size=(5, 3))
    literal = literal_tree(x, 4)
    trees = [ClusterTree.start(feature).after(4) for feature in x.T]
    total = sum(tree.gram() for tree in trees)
    expected = np.round(literal @ literal.T * 5**8).astype(int)
    np.testing.assert_array_equal(total.astype(int), expected)
    reference = literal / np.linalg.norm(literal, axis=1, keepdims=True)
    np.testing.assert_allclose(np.cos(gram_angles(total)), reference @ reference.T, atol=1e-12)


@pytest.mark.parametrize("n", [3, 4, 5, 10, 20])
def test_theorem_11_at_great_depth(n):
    values = np.sort(STREAM.numpy("deep", n).normal(size=n))
    tree = ClusterTree.start(values).after(max(150, 24 * n))
    gram = tree.gram()
    norms, angles = gram_norms(gram), gram_angles(gram)
    assert gram[0, -1] == 0  # item 1, exactly
    assert min(norms) > 0
    assert np.degrees(angles[1:-1, 1:-1].max()) < 0.01  # item 2
    assert tree.most_clusters <= 3  # Theorem 10
    upper, lower = (float(tree.energy[m - 1].sum() / tree.energy.sum()) for m in (1, n - 1))
    squares = np.array(dec_tree_norms(n, upper, lower))
    following = gram_norms(tree.step().gram())[[0, 1, -1]] ** 2
    np.testing.assert_allclose(following / following.sum(), squares / squares.sum(), rtol=1e-3)
    np.testing.assert_allclose(
        (angles[1, 0], angles[1, -1]), dec_tree_angles(n, upper, lower), atol=1e-3
    )


def test_middle_points_merge_at_the_rate_of_the_second_split():
    # Points 2 and 3 are told apart by splits after 2, which die out faster than splits after 1.
    n, tree, angles = 8, ClusterTree.start([i**2 for i in range(8)]).after(60), []
    for _ in range(40):
        tree = tree.after(5)
        angles.append(gram_angles(tree.gram())[1, 2])
    fit = exponential_rate(angles, x=5 * np.arange(40))
    assert fit.value == pytest.approx(np.log(dec_growth(n, 1) / dec_growth(n, 2)) / 2, rel=1e-3)


def test_two_clusters_stay_two_with_the_documents_heights():
    # DEC Eq. 36-38 with composition (2, 3) and height 1.
    tree = ClusterTree.start([0, 0, 1, 1, 1]).step()
    assert (tree.energy * tree.scale)[1].tolist() == [Fraction(4, 25), Fraction(9, 25)]
    heights = [Fraction(2, 5) ** (2 - k) * Fraction(3, 5) ** k for k in (0, 1, 1, 2)]
    second = tree.step()
    assert (second.energy.sum() * second.scale) == sum(height**2 for height in heights)


def test_small_angles_keep_their_digits():
    tiny = 10**-9
    gram = np.array([[10**18, 10**18], [10**18, 10**18 + 1]], dtype=object)
    assert gram_angles(gram)[0, 1] == pytest.approx(tiny, rel=1e-12)
    negative = np.array([[1, -1], [-1, 2]], dtype=object)
    assert gram_angles(negative)[0, 1] == pytest.approx(0.75 * np.pi)
    assert gram_angles(np.array([[0, 0], [0, 1]], dtype=object))[0, 1] == np.pi / 2


def test_a_point_at_the_mean_vanishes_and_returns():
    tree = ClusterTree.start([1, 2, 3]).step()
    assert gram_norms(tree.gram()).tolist() == [1.0, 0.0, 1.0]
    assert gram_norms(tree.step().gram())[1] > 0


@given(batches, st.sampled_from([1.0, -1.0]))
def test_transformations_of_definition_5(values, sign):
    x = np.array(values, dtype=float)[:, None]
    positive, negative = transform(x, 1.0), transform(x, -1.0)
    np.testing.assert_allclose(positive - negative, x - x.mean(), atol=1e-12)
    assert (positive * negative == 0).all()
    assert (np.diff(sign * transform(np.sort(x, axis=0), sign), axis=0) >= 0).all()


def test_sampled_branches_have_the_law_of_the_tree():
    x, runs, depth = np.array([0.0, 1.0, 3.0, 7.0]), 20_000, 5
    signs = STREAM.numpy("branches").choice([-1.0, 1.0], size=(depth, runs))
    h = np.repeat(x[:, None], runs, axis=1)
    for sign in signs:
        h = transform(h, torch.from_numpy(sign))
    products = h[:, None] * h[None]
    tree = ClusterTree.start(x).after(depth)
    expected = (tree.gram() * tree.scale / 2**depth).astype(float)
    error = products.std(axis=-1) / np.sqrt(runs)
    assert (np.abs(products.mean(axis=-1) - expected) <= 6 * error + 1e-15).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, 1, 1], "two different"),
        ([3], "two different"),
        ([], "two different"),
        ([0.0, float("nan")], "finite"),
        ([0.0, float("inf")], "finite"),
        (np.eye(2), "vector"),
        (["a", "b"], "values must be"),
    ],
)
def test_bad_values_are_named(values, words):
    with pytest.raises(ValueError, match=words):
        ClusterTree.start(values)


def test_bad_depths_are_named():
    with pytest.raises(ValueError, match="depth"):
        ClusterTree.start([0, 1]).after(-1)
    with pytest.raises(ValueError, match="depth"):
        literal_tree(np.ones((2, 1)), -1)


def test_equal_neurons_of_three_clusters_count_as_often_as_they_occur():
    tree = ClusterTree.start([0, 1, 5, 6]).step()
    assert tree.rows
    twice = replace(tree, rows=tree.rows + tree.rows, count=2 * tree.count, energy=2 * tree.energy)
    np.testing.assert_array_equal(twice.gram(), 2 * tree.gram())
    np.testing.assert_array_equal(twice.step().gram(), 2 * tree.step().gram())
