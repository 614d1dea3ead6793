"""Second moments and RANK's two regularity terms, written out as sums."""

import numpy as np
import pytest

from signalprop import Stream
from signalprop.metrics import regularity_terms, second_moment

X = Stream(0).child("regularity").numpy().standard_normal((2, 5, 3))


def test_second_moments_are_means_of_products():
    for x, moments in zip(X, second_moment(X), strict=True):
        expected = [[np.mean(x[:, i] * x[:, j]) for j in range(3)] for i in range(3)]
        np.testing.assert_allclose(moments, expected, rtol=1e-12)


def test_the_terms_are_their_sums():
    for x, diagonal, cube in zip(X, *regularity_terms(X), strict=True):
        m = x.T @ x / 5
        eigenvalues = np.linalg.eigvalsh(m)
        assert cube == pytest.approx(np.sum(eigenvalues**3), rel=1e-12)
        rows = [sum(m[i, j] ** 2 for j in range(3)) for i in range(3)]
        assert diagonal == pytest.approx(sum(row**2 for row in rows), rel=1e-12)


def test_the_terms_scale_with_their_degrees():
    """M is of degree two in x: the terms of degree eight and six."""
    one, other = regularity_terms(X), regularity_terms(2 * X)
    np.testing.assert_allclose(other[0], 2.0**8 * one[0], rtol=1e-12)
    np.testing.assert_allclose(other[1], 2.0**6 * one[1], rtol=1e-12)


def test_terms_beyond_the_floats_are_refused_and_those_of_zero_are_zero():
    batch = np.stack([np.zeros((2, 3)), np.eye(2, 3)])
    for term in regularity_terms(batch):
        assert term[0] == 0 < term[1]
    small = np.stack([np.eye(2, 3), 1e-60 * np.eye(2, 3)])
    with pytest.raises(ValueError, match="below the least"):
        regularity_terms(small)
    single = np.zeros((2, 3))
    single[1, 2] = 1e-60
    with pytest.raises(ValueError, match="below the least"):
        regularity_terms(single)
    with pytest.raises(ValueError, match="a regularity term is beyond the largest"):
        regularity_terms(1e60 * np.eye(2, 3))
