"""Sides of the certified counterexamples, each beside an evaluation in doubles."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from signallab.meanfield import certificates as certified
from signallab.meanfield import covariance_concentration


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
