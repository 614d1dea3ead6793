"""Sides of the certified counterexamples, each beside an evaluation in doubles."""

import numpy as np
import pytest

from signallab.gradients import certificates as certified
from signallab.gradients import exponential_orthogonalization


def sides(found):
    return float(found.left), float(found.right)


def test_gaps_and_eigenvalues():
    assert sides(certified.a_negative_gap(3)) == pytest.approx((0, -np.log(3)))
    rows = np.array([[1, 0], [0.6, 0.8]])
    assert float(certified.a_large_eigenvalue().left) == pytest.approx(
        np.linalg.eigvalsh(rows @ rows.T).max()
    )
    found = certified.a_wider_interval()
    assert sides(found) == (0.02, 0.01)


def test_displays_of_proofs():
    case = exponential_orthogonalization.roots(1)
    assert float(certified.root_of_the_quadratic().left) == pytest.approx(
        48 * case.right**2 - 4 * case.right - 6
    )
    case = exponential_orthogonalization.first_term(2, 0.001)
    assert sides(certified.first_term_of_the_sum()) == pytest.approx((case.left, case.right))
    case = exponential_orthogonalization.last_step(1, 0)
    assert np.array(sides(certified.a_reversed_step())) / 32 == pytest.approx(
        [case.left, case.right]
    )


def test_jacobians_of_small_inputs():
    assert sides(certified.small_inputs()) == pytest.approx((np.log(10), 1))
    assert sides(certified.small_inputs_without_a_gap()) == pytest.approx((np.log(10), 0))


def test_numerical_inequalities():
    inequalities = exponential_orthogonalization.INEQUALITIES
    assert len(certified.numerical_inequalities()) == len(inequalities)
    y = np.linspace(0, 1, 11)[:-1]
    left, right = inequalities["(C.105) to (C.108)"]
    s = np.sqrt(1 - y)
    np.testing.assert_allclose(right(y) - left(y), (1 - s) ** 3 * (1 + s) / 2, atol=1e-12)
    left, right = inequalities["(C.99)"]
    np.testing.assert_allclose(right(y) - left(y), y**2 / (1 - y), atol=1e-12)
