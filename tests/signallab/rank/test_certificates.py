"""Sides of the certified counterexamples, each beside an evaluation in doubles."""

from fractions import Fraction

import numpy as np
import pytest

from signallab.rank import certificates as certified
from signallab.rank import regularity_constant


def sides(found):
    return float(found.left), float(found.right)


def test_matrices_of_rank_one_stay():
    rng = np.random.default_rng(0)
    gamma, width = 0.05, 3
    for _ in range(100):
        h = np.outer(rng.choice([-1, 1], width), [1, 1])
        moved = h + gamma * rng.uniform(-(3**0.5), 3**0.5, (width, width)) @ h
        assert (np.sign(moved) == h).all()
    assert sides(certified.several_fixed_matrices()) == (8, 1)
    assert sides(certified.several_fixed_matrices(2, 1, Fraction(1, 16))) == (4, 1)
    with pytest.raises(ValueError, match="each matrix stays"):
        certified.several_fixed_matrices(3, 2, Fraction(1, 5))


def test_a_layer_of_tanh():
    row = np.array([1.0, 2.0]) * np.sqrt(2 / 5)
    h = np.array([row + np.tanh(row) / 16, row])
    cosine = h[0] @ h[1] / np.linalg.norm(h[0]) / np.linalg.norm(h[1])
    assert sides(certified.moment_moves()) == pytest.approx((cosine, 1), abs=1e-12)
    assert float(certified.rank_rises().left) == pytest.approx(np.linalg.det(h))


def test_whole_numbers():
    assert sides(certified.soft_rank_reaches_rank()) == (1, 1)
    assert sides(certified.a_zero_input()) == sides(certified.a_zero_factor()) == (0, 1)
    assert sides(certified.features_of_two_sides()) == (1, 0)
    assert float(certified.alignment_of_a_split(32).left) == pytest.approx(0.4838709677419354)


def test_first_order_of_the_norm():
    d, h = 5, 1e-6
    norm = lambda x: (d - (d - 1) * x) ** 2 + (d - 1) * x**2  # noqa: E731
    slope = (norm(h) - norm(-h)) / (2 * h)
    assert sides(certified.first_order_of_the_norm(d)) == pytest.approx((slope, -2 * d))


def test_regularity_constants():
    assert sides(certified.rows_symmetric_alone()) == (2, 1)
    for d in (2, 3):
        case = regularity_constant.one_sample(d, 2.0)
        assert sides(certified.one_sample_has_constant_one(d)) == (case.left, case.right)
    with pytest.raises(ValueError, match="any sign"):
        certified.one_sample_has_constant_one(2, 0)
    case = regularity_constant.example_17("the others equal", 0.1, 20)
    assert sides(certified.a_dominant_eigenvalue()) == pytest.approx((case.left, case.right))


def test_pairs_of_eigenvalues_make_the_loss_of_a_unit():
    assert certified.pairs_of_eigenvalues().symbols == ("p", "q", "x", "y")
    rng = np.random.default_rng(0)
    h = rng.normal(size=(5, 9))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    m = h @ h.T
    values, vectors = np.linalg.eigh(m)
    p = vectors**2
    square, cube = np.linalg.matrix_power(m, 2), np.linalg.matrix_power(m, 3)
    for i in range(5):
        pairs = [
            p[i, k] * p[i, j] * values[k] * values[j] * (values[k] - values[j]) ** 2
            for k in range(5)
            for j in range(k)
        ]
        assert cube[i, i] - square[i, i] ** 2 == pytest.approx(sum(pairs))
