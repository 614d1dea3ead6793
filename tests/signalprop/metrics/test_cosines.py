import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from signalprop import angles, cosine_similarity, mean_absolute_cosine


@given(st.floats(-100, 0), st.booleans(), st.floats(-150, 150), st.integers(2, 20))
def test_angles_keep_their_digits_near_zero_and_pi(exponent, opposite, size, d):
    angle = 10.0**exponent
    sign = -1 if opposite else 1
    x = np.zeros((2, d))
    x[0, 0] = 1
    x[1, :2] = sign * 10.0**size * np.cos(angle), 10.0**size * np.sin(angle)
    expected = np.pi - angle if opposite else angle
    assert angles(x)[0, 1] == pytest.approx(expected, rel=4e-15, abs=1e-150)


def test_angles_agree_with_the_cosines_and_are_symmetric():
    x = np.random.default_rng(0).standard_normal((3, 6, 5))
    theta = angles(x)
    np.testing.assert_allclose(np.cos(theta), cosine_similarity(x), atol=1e-14)
    np.testing.assert_array_equal(theta, theta.swapaxes(-2, -1))
    assert np.abs(theta.diagonal(axis1=-2, axis2=-1)).max() == 0


def test_cosines_are_clipped_and_scale_free():
    x = np.random.default_rng(0).standard_normal((50, 3))
    x = np.concatenate([x, 1e200 * x, -1e-200 * x])
    cosines = cosine_similarity(x)
    assert np.abs(cosines).max() <= 1
    np.testing.assert_allclose(np.diag(cosines[:50, 50:100]), 1, atol=1e-15)
    np.testing.assert_allclose(np.diag(cosines[:50, 100:]), -1, atol=1e-15)


def test_mean_absolute_cosine_is_the_mean_over_pairs():
    x = np.random.default_rng(0).standard_normal((4, 5, 7))
    above = np.abs(cosine_similarity(x))[:, *np.triu_indices(5, 1)]
    np.testing.assert_allclose(mean_absolute_cosine(x), above.mean(-1), rtol=1e-12)


@pytest.mark.parametrize("function", [angles, cosine_similarity, mean_absolute_cosine])
def test_a_zero_sample_is_an_error(function):
    with pytest.raises(ValueError, match="samples of x must not be zero, got 1 of 2"):
        function([[1.0, 0.0], [0.0, 0.0]])


def test_one_sample_has_no_pairs():
    with pytest.raises(ValueError, match="at least two"):
        mean_absolute_cosine([[1.0, 2.0]])
    assert angles([[1.0, 2.0]]) == 0


def test_gradients():
    x = torch.randn(3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(mean_absolute_cosine, x.requires_grad_())
    assert torch.autograd.gradcheck(lambda y: angles(y)[0, 1:], x)
