"""Rows of three clusters against rows and trees written out in doubles."""

from fractions import Fraction

import numpy as np
import pytest

from signallab.decomposed import three_clusters as lab
from signallab.decomposed.two_clusters import stable
from signalprop.clusters import ClusterTree, literal_tree
from signalprop.random import Stream
from signalprop.theory import dec_equation_62

VALUES = [0, 1, 3, 9, 10, 17]


def layer(values, depth):
    """All rows of a layer of the tree, (rows, n), in doubles."""
    return literal_tree(np.array(values, dtype=float)[:, None], depth).T


def clusters(row):
    return len(set(row.round(9) + 0.0))


def test_all_rows_are_counted():
    rows = lab.all_rows(5, 4)
    assert len(rows) == (1 + 3 + 6) * 6
    assert all(sum(p["sizes"]) <= 5 and p["heights"][1] < p["heights"][2] for p in rows)
    assert len({(p["sizes"], p["heights"]) for p in rows}) == len(rows)


@pytest.mark.parametrize("point", lab.all_rows(5, 4)[::7])
def test_children_are_counted_as_in_doubles(point):
    case = lab.kinds_of_children(**point, expected=lab.unless_at_mean)
    row = np.repeat(point["heights"], point["sizes"])
    assert case.left.tolist() == sorted(clusters(child) for child in layer(row, 1))
    assert case.right.tolist() == case.left.tolist()
    at_mean = abs(row.mean() - point["heights"][1]) < 1e-12
    assert (lab.kinds_of_children(**point).right.tolist() == case.left.tolist()) != at_mean


def test_stable_and_the_rows_that_persist():
    skewed = [0, 1, 2, 3, 50]
    assert stable(skewed).layer == 4
    assert max(map(clusters, layer(skewed, 3))) == 4
    assert max(map(clusters, layer(skewed, 4))) == 3
    three = [row for row in layer(skewed, 6) if clusters(row) == 3]
    case = lab.persisting(skewed, 2, fewer=1)
    assert (case.left, case.right) == (len(three), 2)
    sizes = sorted(int((row.round(9) == np.median(np.unique(row.round(9)))).sum()) for row in three)
    assert sorted(lab.middle_sizes(skewed, 2).left) == sizes
    outer = lab.middle_sizes(skewed, 2, place=0).left
    assert sorted(outer) == sorted(int((row.round(9) == row.round(9)[0]).sum()) for row in three)


def test_which_rows_reach_the_uneven_splits():
    for sizes in ((1, 1, 3), (2, 1, 2), (3, 1, 1)):
        case = lab.reaches_outer(sizes, (0, 3, 7), 12)
        found = [
            row
            for row in layer(np.repeat((0, 3, 7), sizes), 12)
            if clusters(row) == 2 and 1 in np.unique(row.round(9), return_counts=True)[1]
        ]
        assert case.left == bool(found) == case.right


def test_compositions_of_the_child_of_two():
    assert lab.child_composition((1, 1, 5), (0, 1, 9)).left == 0  # (0, 0, c, ...): two at zero
    assert lab.child_composition((1, 1, 5), (0, 8, 9)).left == 0  # (m, 0, 0, ...): n - 1 at zero
    assert lab.child_composition((1, 1, 5), (0, 8, 9), by_place=True).left == 1
    assert lab.child_composition((1, 1, 5), (0, 1, 9), by_place=True).left == 0


@pytest.mark.parametrize(("sizes", "heights"), [((4, 1, 1), (0, 3, 7)), ((1, 1, 4), (0, 2, 7))])
def test_the_top_that_keeps_three_clusters(sizes, heights):
    for layers in (1, 3, 7):
        rows = layer(np.repeat(heights, sizes), layers)
        (kept,) = [row for row in rows if clusters(row) == 3]
        case = lab.top_after(sizes, heights, layers)
        assert case.left == pytest.approx(kept.max() / 7)
        assert case.right == pytest.approx((5 / 6) ** layers)
    assert lab.top_after((2, 1, 1), (0, 1, 3), 1).left == 0


def test_equations_61_and_62():
    u, g = (4 / 5) ** 2, (2 / 5) ** 2 + (3 / 5) ** 2
    assert float(lab.equation_61(5, 4)) == pytest.approx(
        (3 / 5) ** 2 * (u * g * g + u * u * g + u**3)
    )
    for n in (4, 9):
        assert lab.equation_62(n, 6).right == pytest.approx(dec_equation_62(n, 6))
    assert lab.equation_62(5, 1).left == 0
    assert lab.equation_62(3, 2).right == pytest.approx(-(1 / 9) * 4 * 4 / 9)
    other = lab.equation_62(5, 3, rest=lambda n: 2 * n - 6, power=1)
    assert other.right == pytest.approx((3 / 5) ** 2 * 4 / 4 * u**2)


def test_small_splits_against_the_literal_tree():
    row = np.repeat((0, 3, 7), (1, 1, 3))
    rows = layer(row, 4)
    two = [r for r in rows if clusters(r) == 2 and clusters(r[:2]) == 1 and clusters(r[2:]) == 1]
    upper = sum(r[-1] ** 2 for r in two)
    lower = sum(r[0] ** 2 for r in two)
    case = lab.small_splits((1, 1, 3), (0, 3, 7), 4, part=0.5)
    assert case.left == pytest.approx(max(upper, lower) / 49)
    assert case.right == pytest.approx(float(lab.equation_61(5, 4)) / 2)


def test_small_splits_of_the_mirrored_row():
    """Turned over, heights (0, 3, 7) are (0, 4, 7): the children are those of before, swapped."""
    mirrored = lab.small_splits((3, 1, 1), (0, 4, 7), 5)
    assert mirrored.left == pytest.approx(lab.small_splits((1, 1, 3), (0, 3, 7), 5).left)


def test_sums_of_appendix_e_against_the_literal_tree():
    low, high, n, depth = (0, 2, 7), (0, 3, 5), 6, 4
    starts = [np.repeat(low, (1, 1, 4)), np.repeat(high, (4, 1, 1))]
    parents = np.concatenate([layer(start, depth - 1) for start in starts])
    two = [row for row in parents if clusters(row) == 2]
    below = np.concatenate([layer(row, 1) for row in two])
    gram = below.T @ below
    gram /= np.trace(gram)
    case, other = lab.norms(low, high, n, depth), lab.inner_products(low, high, n, depth)
    squares = np.diagonal(gram)
    np.testing.assert_allclose(case.left, [*squares[2:4], squares[0], squares[5]], rtol=1e-9)
    np.testing.assert_allclose(other.left, [*gram[2:4, 0], *gram[2:4, 5]], rtol=1e-9)
    np.testing.assert_allclose(case.right, case.left, rtol=1e-12)
    np.testing.assert_allclose(other.right, other.left, rtol=1e-12)
    assert not np.allclose(lab.norms(low, high, n, depth, four=1).right, case.left, rtol=1e-3)
    assert not np.allclose(
        lab.inner_products(low, high, n, depth, four=1).right, other.left, rtol=1e-3
    )


def test_positive_sums_count_rows():
    rows = layer([0, 1, 2, 3, 4], 4)
    first = stable([0, 1, 2, 3, 4]).layer
    splits = [
        sum(clusters(r) == 2 and clusters(r[:m]) == 1 and clusters(r[m:]) == 1 for r in rows)
        for m in (1, 2, 3, 4)
    ]
    assert lab.positive_sums([0, 1, 2, 3, 4], 4 - first).right == min(splits)
    assert lab.positive_sums([0, 1, 2, 3, 4], 30).right > 0


def test_steps_by_hand():
    n, sums = 7, (1.0, 2.0, 3.0, 5.0)
    case = lab.step_67(n, *sums)
    assert case.left == pytest.approx((1 + 2 + 12 + 20) / (36 + 2 + 75 + 20))
    assert case.right == pytest.approx(44 / (25 * 4 + 7))
    case = lab.step_67(n, *sums, last=True)
    assert case.left == pytest.approx(35 / (1 + 72 + 12 + 125))
    assert case.right == pytest.approx(44 / (25 * 7 + 4))
    case = lab.step_85(n, *sums)
    assert case.left == pytest.approx(22 / np.sqrt(35 * 133))
    assert case.right == pytest.approx(4 * 7 / np.sqrt(11 * (25 * 4 + 7)))
    case = lab.from_85(20)
    assert case.left == pytest.approx(np.pi / 2 - np.sqrt(2) * np.pi / 18)
    assert case.right == pytest.approx(np.arccos(4 / np.sqrt(2 * 325)))
    assert lab.from_85(4).right == 0


def test_limits_in_closed_form():
    """Symmetric batches have equal sums."""
    n, values = 6, [0, 1, 4, 6, 9, 10]
    square = 2 / ((n - 1) ** 2 + 1)
    assert lab.squared_bound(values).left == pytest.approx(square)
    assert lab.squared_bound(values).right == 0.5
    assert lab.norm_bound(values).left == pytest.approx(np.sqrt(square))
    assert lab.norm_bound(values).right == 0.75
    case = lab.angle_bound(values)
    cosine = 1 / np.sqrt(2 * ((n - 1) ** 2 + 1))
    assert np.cos(case.right[0]) == pytest.approx(cosine) == np.cos(case.left[1])
    assert case.left[0] == pytest.approx(np.pi / 2 - np.sqrt(2 * np.pi) / 4)
    assert lab.end_norms([values]).iloc[0].tolist() == pytest.approx([6, 13**0.5, 13**0.5, 2])
    case = lab.circle(values, extra=2)
    assert (case.left, case.right) == (pytest.approx(26), 27)
    case = lab.theta(values, least=0.5, most=2)
    np.testing.assert_allclose(case.left, [0.5 * 13**0.5, 13**0.5])
    np.testing.assert_allclose(case.right, [13**0.5, 10])


def test_limits_of_a_lopsided_batch_are_those_of_its_better_end():
    values = [2**i for i in range(6)]
    rows = layer(values, 13)
    norm = np.linalg.norm(rows, axis=0)
    assert norm[-1] > 2 * norm[0]
    limit = lab.end_norms([values]).iloc[0]
    assert limit["last"] > 2 * limit["first"]
    assert lab.norm_bound(values).left == pytest.approx(1 / limit["last"])
    assert lab.squared_bound(values).left == pytest.approx(1 / limit["last"] ** 2)
    cosine = (rows[:, 2] @ rows[:, -1]) / norm[2] / norm[-1]
    assert np.cos(lab.angle_bound(values).right[0]) == pytest.approx(cosine, abs=0.05)
    assert cosine < 0.1


def test_ratios_and_cosines_of_a_lopsided_batch():
    depth = 9
    rows = layer(VALUES, depth + 1)
    gram = rows.T @ rows
    norm = np.sqrt(np.diagonal(gram))
    energy = ClusterTree.start(VALUES).after(depth).energy
    r = int(energy[-1].sum()) / int(energy[0].sum())
    case = lab.ratio_formula(VALUES, depth)
    for line, end, x in zip(case.left, norm[[0, -1]], (r, 1 / r), strict=True):
        np.testing.assert_allclose(line, (norm[1:-1] / end) ** 2 / ((1 + x) / (25 + x)), rtol=1e-9)
    case = lab.cosines(VALUES, depth)
    expected = [gram[1, 0] / norm[1] / norm[0], gram[1, -1] / norm[1] / norm[-1]]
    np.testing.assert_allclose(case.left, expected, rtol=1e-9)
    printed = lab.cosines(VALUES, depth, printed=True).left
    np.testing.assert_allclose(printed, [expected[0], gram[1, -1] / norm[1] / norm[0]], rtol=1e-9)
    energy = ClusterTree.start(VALUES).after(200).energy
    late = int(energy[-1].sum()) / int(energy[0].sum())
    for deep in (lab.ratio_formula(VALUES, 200), lab.cosines(VALUES, 200)):
        np.testing.assert_allclose(deep.left, deep.right, rtol=1e-9)
    slip = lab.ratio_formula(VALUES, 200, far=lambda n: n - 2).left
    np.testing.assert_allclose(slip[0], (16 + late) / (25 + late), rtol=1e-9)
    np.testing.assert_allclose(slip[1], (16 + 1 / late) / (25 + 1 / late), rtol=1e-9)


def test_the_network_has_one_end_or_none():
    five = lab.network_ends([np.arange(5) ** 2], 300)
    np.testing.assert_allclose(five.iloc[0], [5, 1, 1, 1, 1], atol=1e-6)
    found = lab.network_ends([np.arange(20) ** 2, 7 + 3.0 * np.arange(20) ** 2], 300)
    np.testing.assert_allclose(found.iloc[0], found.iloc[1])
    np.testing.assert_allclose(found["longest"], found["last"])
    assert found["longest"].iloc[1] > 17
    np.testing.assert_allclose(found[["second", "first"]], 1, atol=1e-6)


def test_norms_of_the_network_against_one_layer_of_the_kernel():
    x = np.array([0.0, 1, 3, 9, 10, 17])
    x -= x.mean()
    found = lab.network_ends([x + 4], 1).iloc[0]
    norm = np.abs(x) / np.median(np.abs(x))  # one layer keeps the norms of a centred batch
    expected = [6, norm[0], norm[-1], *np.sort(norm)[[-1, -2]]]
    np.testing.assert_allclose(found, expected)


def test_odd_points_are_counted():
    row = {"points": 8, "first": 0.0, "last": 0.0, "longest": 6.0, "second": 2.1}
    assert lab.as_many_odd(**row, odd=1).left == 2
    assert lab.as_many_odd(**row | {"second": 2.0}, odd=1).right == 1
    case = lab.of_order_n(**row, least=0.25)
    assert (case.left.tolist(), case.right.tolist()) == ([2, 6], [6, 8])
    assert lab.end_norms([[0, 1, 5, 6]])["odd"].tolist() == [2]
    five = lab.end_norms([[1, 2, 4, 8, 16]]).iloc[0]
    assert five["odd"] == 2
    assert 5 / 4 < five["first"] < 5 / 2 < five["last"]
    assert lab.end_norms([[2**i for i in range(12)]])["odd"].tolist() == [1]


def test_odd_is_more_than_a_quarter_of_n():
    """One layer keeps the distances from the mean: 10.33 for a median of 4.67, n/4 = 1.5."""
    row = lab.beside_network({("by hand", 6): [[0, 1, 3, 9, 10, 17]]}, 1).iloc[0]
    assert row["longest"] == pytest.approx(31 / 14)
    assert not row["network none odd"]
    assert not row["network two odd"]  # the second is 10/7


def test_tree_and_network_stand_beside_each_other():
    batches = {
        ("squares", 10): [[i * i for i in range(10)]],
        ("powers", 12): [[2**i for i in range(12)]],
    }
    found = lab.beside_network(batches, 300)
    assert found["law"].tolist() == ["squares", "powers"]
    for row, ((_, n), (values,)) in zip(found.to_dict("records"), batches.items(), strict=True):
        tree, network = lab.end_norms([values]).iloc[0], lab.network_ends([values], 300).iloc[0]
        assert row["points"] == n
        assert row["odd"] == tree["odd"]
        assert row["last"] == tree["last"]
        assert row["last of network"] == network["last"]
        odd = sum(network[name] > n / 4 for name in ("longest", "second"))
        assert (row["network two odd"], row["network none odd"]) == (odd == 2, odd == 0)


def test_drawn_batches_have_their_laws():
    gaussian, uniform, skewed = (
        np.array(lab.draw(law, 5, 400, Stream(5))) for law in ("Gaussian", "uniform", "log-normal")
    )
    for x in (gaussian, uniform, skewed):
        assert x.shape == (400, 5)
        assert (np.diff(x, axis=1) > 0).all()
    assert abs(gaussian.mean()) < 6 / np.sqrt(2000)
    assert abs(uniform.mean() - 0.5) < 6 * np.sqrt(1 / 12 / 2000)
    assert 0 <= uniform.min() <= uniform.max() <= 1
    assert abs(np.log(skewed).mean()) < 6 / np.sqrt(2000)


def test_fractions_are_exact():
    assert lab.equation_61(3, 2) == Fraction(1, 9) * Fraction(4, 9)
