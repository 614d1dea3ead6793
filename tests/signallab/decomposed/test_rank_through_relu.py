"""The exact law of the waiting time against simulation, closed forms and ranks by other means."""

from fractions import Fraction

import numpy as np
import pytest

import signalprop as sp
from signallab.decomposed import rank_through_relu as lab
from signalprop.random import Stream

STREAM = Stream(7).child("rank through relu")
X = np.array([[1.0, 0.2], [0.3, -1.0], [-0.8, 0.9], [0.1, 2.0]])


def two_points(turn):
    return np.array([[1, 0], [np.cos(np.pi * turn), np.sin(np.pi * turn)]])


@pytest.mark.parametrize("n", range(1, 22))
def test_the_example_against_the_library(n):
    case = lab.equally_spaced(n)
    volumes = sp.metrics.sign_class_volumes(lab.circle(n))
    np.testing.assert_allclose(case.left, [len(volumes), volumes.min()], rtol=1e-9)
    expected = [2 * n, 1 / (2 * n)] if n % 2 else [n, 1 / n]
    np.testing.assert_allclose(case.left, expected)


def test_volumes_against_sampling():
    x = np.array([[3, 1], [-1, 4], [2, -5]])
    case = lab.volumes(x)
    w = STREAM.numpy("w").normal(size=(40_000, 2))
    _, counts = np.unique(np.sign(w @ x.T), axis=0, return_counts=True)
    np.testing.assert_allclose(np.sort(counts) / len(w), case.right, atol=6 * 0.5 / 200)
    np.testing.assert_allclose(case.left, case.right)
    np.testing.assert_allclose(lab.volumes(x, up_to_sign=True).right[:3], 0)
    assert lab.volumes(np.array([[1, 0], [2, 0], [-1, 0]])).right.tolist() == [0] * 4 + [0.5] * 2


def test_most_classes_are_reached_in_the_plane_and_bound_gamma():
    assert len(sp.metrics.sign_class_volumes(X)) == lab.most_classes(4, 2) == 8
    assert lab.most_classes(4, 3) == 14


@pytest.mark.parametrize(("n", "k"), [(4, 3), (5, 3), (6, 3), (5, 4), (3, 5)])
def test_generic_points_have_the_most_classes(n, k):
    x = STREAM.numpy("generic").normal(size=(n, k))
    signs = STREAM.numpy("rows of signs").normal(size=(60_000, k)) @ x.T > 0
    assert len(np.unique(signs, axis=0)) == lab.most_classes(n, k)


@pytest.mark.parametrize("x", [X, lab.circle(3), lab.bundle(0.05)], ids=["X", "circle", "bundle"])
def test_the_law_of_the_waiting_time_against_simulation(x):
    runs = 4000
    y = lab.waits(x, runs, STREAM)
    tail = lab.failing(x, 200)
    for d in (2, 3, 5, 10, 20):
        assert abs((y > d).mean() - tail[d]) < 6 * np.sqrt(tail[d] / runs) + 3 / runs
    np.testing.assert_allclose(lab.failing(x, 50, rtol=1e-11), lab.failing(x, 50, rtol=1e-7))


def test_waits_against_singular_values():
    """The first d for which numpy's rank is n, from the same draws."""
    y = lab.waits(X, 1, STREAM)
    rng = STREAM.numpy("rows")
    w = np.concatenate([rng.normal(size=(1, 2)) for _ in range(y[0])])
    features = np.maximum(w @ X.T, 0)
    assert np.linalg.matrix_rank(features) == 4
    assert np.linalg.matrix_rank(features[:-1]) == 3


def test_the_tolerance_of_ranks_does_not_matter_and_rescaling_neither():
    for rtol in (1e-7, 1e-11):
        np.testing.assert_array_equal(
            lab.waits(X, 300, STREAM, rtol=rtol), lab.waits(X, 300, STREAM)
        )
    normed, recentred = (
        lab.waits(X, 300, STREAM, normalize=n) for n in ("batch norm", "recentred")
    )
    np.testing.assert_array_equal(normed, recentred)
    np.testing.assert_array_equal(recentred, lab.waits(X - X.mean(axis=0), 300, STREAM))
    assert lab.waits(np.array([[1, 1], [2, 2]]), 3, STREAM, most=20).tolist() == [20] * 3


@pytest.mark.parametrize("turn", [0.1, 0.5, 0.75])
def test_two_points_in_closed_form(turn):
    """The mean of y_1 is 2; that of y_2 follows from the joint law, summed over y_1."""
    parts = [lab.joint_law(turn, m) for m in range(1, 200)]
    mean = 2 + sum(p["first"] * (p["missed"] * 2 + p["seen"] * 2 / (1 + turn)) for p in parts)
    assert lab.expected_rows(two_points(turn), rows=2000).left == pytest.approx(mean, rel=1e-9)
    for d in (1, 4, 9):
        tail = sum(
            p["first"] * (lab.conditional_tail(turn, m, d - m).left if m <= d else 1)
            for m, p in enumerate(parts, 1)
        )
        assert lab.failing(two_points(turn), d)[d] == pytest.approx(tail, rel=1e-9)
    total = sum(p["first"] * p["zero"] for p in parts)
    assert lab.independence(turn, 3).right == pytest.approx(total)
    assert lab.conditional_tail(turn, 2, 1, factor=0).right == 1


def test_success_against_ranks():
    """Each class is tried with one row, and the rank of the features decides."""
    for item in lab.integer_instances(STREAM, 20, 3):
        x, w = item["x"], item["w"]
        new = STREAM.numpy("new").normal(size=(1500, 2))
        ranks = [np.linalg.matrix_rank(np.maximum(np.vstack([w, v]) @ x.T, 0)) for v in new]
        chance = lab.success(x, w)
        assert abs(np.mean(np.array(ranks) == 4) - chance) < 6 * 0.5 / np.sqrt(1500)


def test_instances_of_lemma_2_satisfy_it():
    for t in (1, 4):
        for item in lab.integer_instances(STREAM, 40, t):
            x, w = item["x"], item["w"]
            pairs = [(i, j) for i in range(t + 1) for j in range(i)]
            assert all(x[i, 0] * x[j, 1] != x[i, 1] * x[j, 0] for i, j in pairs)
            assert np.linalg.matrix_rank(np.maximum(w @ x[:t].T, 0)) == t


def test_lemma_2_by_hand():
    case = lab.lemma_2(np.array([[1, 0], [0, 1]]), np.array([[1, 2]]))
    assert (case.left, case.right) == (0.25, 0.75)  # only rows that see neither point fail
    hat = lab.lemma_2(
        np.array([[100, 1], [100, -1], [100, 0]]), np.array([[1, 0], [5, 3]]), factor=4
    )
    assert hat.right == pytest.approx(hat.left)
    assert hat.right == pytest.approx(4 * np.arctan(0.01) / (2 * np.pi))


def test_centred_batches():
    x = np.array([[1, 0], [0, 1], [0.5, 0.5]])
    case = lab.expected_rows(x, centred=True, rows=50)
    assert case.left == pytest.approx(50)
    assert all(case.hypotheses.values())
    case = lab.expected_rows(x, centred=True, mended=True, rows=50)
    assert not any(case.hypotheses.values())
    assert lab.expected_rows(X + 5, centred=True).left == pytest.approx(
        lab.expected_rows(X - X.mean(axis=0)).left
    )
    for own, points in ((True, X - X.mean(axis=0)), (False, X + 5)):
        case = lab.expected_rows(X + 5, centred=True, gamma_of_centred=own)
        assert case.right == pytest.approx(4 / float(sp.metrics.gamma(points)))


def test_bounds():
    assert lab.sharper_bound(5, 0.1) == 2 + 4 * 5
    for gamma, n in ((0.5, 1), (0.1, 4)):
        assert lab.sharper_bound(n, gamma) <= n / gamma
    case = lab.chernoff(2.0, 0.3)
    s = np.log((2 - 0.3) / (2 * 0.7))  # where the derivative vanishes
    value = np.log(0.3 * np.exp(s) / (1 - 0.7 * np.exp(s))) - s * 2 / 0.3
    np.testing.assert_allclose([case.left, case.right], value, rtol=1e-7)
    case = lab.weaker_tail(2.0, 1e-6)
    assert case.left == pytest.approx(case.right, rel=1e-4)
    assert lab.weaker_tail(2.0, 0.3, log_factor=0).left == 1


def test_the_tail_uses_the_whole_part():
    assert lab.tail(lab.circle(1), 1.4).left == pytest.approx(0.5**2)
    case = lab.tail(lab.circle(1), 3.0, power=2)
    assert case.right == pytest.approx((5**-5 * 3**6) ** 2)


def test_decay_of_a_bundle_is_that_of_its_four_classes():
    case = lab.decay(lab.bundle(0.05), 300, lambda gamma: -np.log1p(-4 * gamma))
    np.testing.assert_allclose(case.left, case.right, rtol=1e-9)
    assert all(lab.decay(lab.bundle(0.05), 4, abs, apart=True).hypotheses.values())


@pytest.mark.parametrize("last", [(0, 2), (0, 0), (0, -1)])
def test_failure_need_not_fall_if_columns_are_collinear(last):
    case = lab.decay(np.array([(1, 0), (0, 1), last], dtype=float), 20, abs, apart=True)
    assert not any(case.hypotheses.values())
    np.testing.assert_allclose(case.left, 0.25)
    np.testing.assert_allclose(case.right, np.log(2) if last == (0, -1) else 0, atol=5e-3)


def test_flipped_by_hand():
    x, w = np.array([[0.5, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0])
    assert lab.flipped(x, w).left.tolist() == [1, 1]  # a short vector is not passed
    assert lab.flipped(x, w, square=True).left.tolist() == [-1, 1]
    twice = np.array([[2.0, 0.0], [0.0, 9.0]])
    assert lab.flipped(twice, w, square=True).left.tolist() == [-1, 1]
    assert lab.flipped(x, -w, square=True, signed=False).right.tolist() == [1, -1]
    long = np.array([[1.0, 0.0], [9.0, 9.0]])  # the line of the second is nearer to (1, -0.9)
    w = np.array([1.0, -0.9])
    assert lab.flipped(long, w).right.tolist() == [1, -1]
    w = np.array([1.0, -0.8])
    assert lab.flipped(long, w).right.tolist() == [-1, 1]
    assert lab.flipped(long, w, relative=True).right.tolist() == [1, -1]


def test_rank_modulo_against_singular_values():
    a = STREAM.numpy("a").integers(-2, 3, size=(200, 4, 3))
    a[:50, :, 2] = a[:50, :, 0] - a[:50, :, 1]
    np.testing.assert_array_equal(lab.rank_modulo(a), np.linalg.matrix_rank(a))
    assert lab.rank_modulo(np.zeros((2, 2), dtype=int)) == 0


def test_products_of_every_rank_occur():
    case = lab.product_rank(STREAM, 500)
    assert set(case.right) == {0, 1, 2, 3, 4}
    assert (lab.product_rank(STREAM, 500, relu=True).left > case.right).any()


@pytest.mark.parametrize("d", [3, 12])
def test_the_span_is_that_of_functions_with_their_own_kinks(d):
    case = lab.span_dimension(STREAM, d, claimed=2)
    assert (case.left, case.right) == (d, 2 * d)


def test_certified():
    assert [lab.certified(d) for d in (1, 2, 7, 8, 200)] == [0, 1, 1, 2, 10]
    assert lab.growth_of_certified(50, exponent=1).right == 1
    assert Fraction(1, lab.most_classes(5, 2)) == Fraction(1, 10)


def test_simulated_rows():
    case = lab.simulated_rows(lab.circle(1), 2, 400, STREAM)
    assert case.right == 2
    assert abs(case.left.mean() - 2) < 6 * np.sqrt(2 / 400)


def test_added_column():
    case = lab.added_column(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    assert (case.left, case.right) == (pytest.approx(0.125), pytest.approx(0.25))


def test_impossible_batches():
    rows = lab.impossible(40)
    np.testing.assert_allclose(rows["failure after all neurons"], [1, 1, 1, 0], atol=1e-9)
