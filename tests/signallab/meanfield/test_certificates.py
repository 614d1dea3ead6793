"""Sides of the certified counterexamples, each beside an evaluation in doubles."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from signallab.meanfield import certificates as certified
from signallab.meanfield import covariance_concentration, surrogate_law, tails


def sides(found):
    return float(found.left), float(found.right)


def test_fixed_points_of_linear_networks():
    assert sides(certified.fixed_point_of_two_samples()) == (-1, 0)
    assert sides(certified.equal_samples_stay()) == (1, 1e-6)


def test_tails():
    assert sides(certified.one_vector_on_a_sphere()) == pytest.approx((1, np.exp(-(0.05**2))))
    with pytest.raises(ValueError, match="surely"):
        certified.one_vector_on_a_sphere(Fraction(1, 2))
    case = covariance_concentration.bernstein(1.0, 10, 0.45)
    assert sides(certified.bernstein_without_a_mean()) == pytest.approx((case.left, case.right))
    case = covariance_concentration.average_of_norms(2, 10, 0.1)
    assert sides(certified.an_average_of_norms()) == pytest.approx((case.left, case.right))
    assert sides(certified.change_of_variable()) == pytest.approx(
        (np.exp(-0.25 * 6 / 7), np.exp(-0.25 / (1 + 0.5 / (6 * 2**0.5)))), rel=1e-6
    )


def test_symmetric_product():
    c, root = np.diag([4.0, 1.0]), np.diag([2.0, 1.0])
    c_d = root @ (np.eye(2) + 0.01 * np.eye(2)[::-1]) @ root
    one = np.linalg.inv(c) @ c_d - np.eye(2)
    other = np.linalg.inv(root) @ c_d @ np.linalg.inv(root) - np.eye(2)
    assert sides(certified.symmetric_product()) == pytest.approx(((one**2).sum(), (other**2).sum()))


def test_two_gaussian_laws():
    found = certified.two_gaussian_laws(Fraction(101, 100))
    one, other = stats.norm(0, 1).pdf, stats.norm(0, 1.01**0.5).pdf
    distance = integrate.quad(lambda x: abs(one(x) - other(x)), -12, 12, limit=200)[0] / 2
    assert float(found.left) == pytest.approx(distance, rel=1e-6)


@pytest.mark.parametrize("width", [64, 128])
def test_the_gaussian_law_moves(width):
    exact = surrogate_law.distance(width)
    least = float(certified._moved_at_least(width))
    assert exact - 0.01 < least < exact
    assert exact < 0.5
    assert all(certified._mixing(width, Fraction(1, 2)).values())
    assert not all(certified._mixing(width, Fraction(7, 10)).values())


def test_bounds_of_the_distance():
    width, half = 512, Fraction(1, 2)
    for found, bound in (
        (certified.the_gaussian_law_moves(), surrogate_law.bound_3_3(width)),
        (certified.the_gaussian_law_moves_by_b_3(), surrogate_law.bound_b_3(width)),
        (certified.the_gaussian_law_moves_by_b_3(alpha=half), 2 * surrogate_law.bound_b_3(width)),
        (certified.the_gaussian_law_is_far(), 16 / width),
    ):
        assert float(found.right) == pytest.approx(bound)
        assert float(found.left) < surrogate_law.distance(width)
    found = certified.the_gaussian_law_moves_by_b_3(alpha=half, depth=10)
    case = surrogate_law.invariant(width, 1.0, depth=10)
    assert float(found.right) == pytest.approx(case.right)


def test_steps_between_laws():
    chain = surrogate_law.two_groups(4, 0.1)
    case = surrogate_law.from_single_states(chain, [0.5, 0.5, 0, 0])
    assert sides(certified.single_inputs_and_laws()) == pytest.approx((case.left, case.right))
    case = surrogate_law.omitted_constant(0.999, 10)
    assert sides(certified.the_omitted_constant()) == pytest.approx((case.left, case.right))
    assert sides(certified.no_rate_for_all_inputs()) == pytest.approx((1, 2 * 0.9**10))


def test_tails_of_gram_matrices():
    case = tails.some_layer(257, 1e20)
    assert sides(certified.some_layer_is_beyond()) == pytest.approx((case.left, case.right))
    case = tails.theorem_b_6(2, 0.1, depth=400)
    assert sides(certified.a_negative_tail()) == pytest.approx((case.left, case.right))
    case = tails.moved_norm(10, 2200)
    assert sides(certified.the_norm_in_the_logarithm()) == pytest.approx((case.left, case.right))
    case = tails.lemma_b_7(lambda: tails.scalar(11.0))
    assert sides(certified.a_large_deviation()) == pytest.approx((case.left, case.right))


def test_a_mean_of_laws_is_nearer():
    def apart(density):
        found = integrate.quad(lambda x: abs(density(x) - stats.norm.pdf(x)), 0, 12, limit=200)
        return found[0]

    laws = [stats.norm(scale=v**0.5).pdf for v in (0.9, 1.1)]
    found = certified.a_mean_of_laws()
    assert float(found.right) == pytest.approx(np.mean([apart(law) for law in laws]), rel=1e-6)
    assert found.left.contains(apart(lambda x: (laws[0](x) + laws[1](x)) / 2))
