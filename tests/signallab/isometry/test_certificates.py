"""Sides of the certified counterexamples, each beside an evaluation in doubles."""

import numpy as np
import pytest

from signallab.isometry import certificates as certified


def isometry(m):
    return np.linalg.det(m) ** (1 / len(m)) / (np.trace(m) / len(m))


def sides(found):
    return float(found.left), float(found.right)


def test_squared_isometries():
    m = [[3, 1], [1, 2]]
    assert float(certified.squared_isometry(m)) == pytest.approx(isometry(np.array(m, float)) ** 2)
    assert sides(certified.a_multiple_of_the_identity()) == (1, 1)


def test_lengths():
    a = np.array([1.0, 2.0])
    gain = (a**2).mean() / np.prod(a**2) ** (1 / 2)
    printed = 1 + a.var() / a.mean() ** 2
    assert sides(certified.dimension_for_samples()) == pytest.approx((gain, gain * 2 / 4))
    assert sides(certified.last_equals_sign()) == pytest.approx((gain, printed))
    with pytest.raises(ValueError, match="two"):
        certified.last_equals_sign((1, 2, 4))


def test_normalization():
    assert sides(certified.centred_samples()) == (1, 0)
    assert sides(certified.samples_for_features()) == (2, 1)
    x = np.array([[2.0, 1, 1], [-2, 1, 1]])
    found = certified.recentred_features()
    assert float(found.left) == pytest.approx(isometry(x @ x.T) ** 2)
    centred = x - x.mean(axis=1, keepdims=True)
    assert abs(np.linalg.det(centred @ centred.T)) < 1e-12
