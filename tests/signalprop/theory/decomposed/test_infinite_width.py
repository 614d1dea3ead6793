import numpy as np
import pytest

from signalprop import theory
from signalprop.activations import relu
from signalprop.limits import KernelMap, LengthMap
from signalprop.random import Stream

STREAM = Stream(0).child("test_decomposed")


def test_kernel_is_a_mean_over_gaussian_weights():
    rho = 0.3
    x, z = STREAM.numpy("kernel").normal(size=(2, 1_000_000))
    y = rho * x + np.sqrt(1 - rho**2) * z
    samples = 2 * np.maximum(x, 0) * np.maximum(y, 0)
    error = samples.std() / 1000
    assert abs(theory.dec_kernel(rho) - samples.mean()) < 6 * error


def test_infinite_width_map_is_the_limit_of_wide_layers():
    x = STREAM.numpy("inputs").normal(size=(6, 4))
    x[5] = x[:5].mean(axis=0)  # a point at the mean
    weights = STREAM.numpy("weights").normal(size=(4, 200_000))
    y = np.maximum((x - x.mean(axis=0)) @ weights, 0)
    gram = y @ y.T
    expected = theory.dec_infinite_width_map(x @ x.T)
    np.testing.assert_allclose(gram / gram.diagonal().max(), expected, atol=0.02)
    # A point at the mean is zero to the square root of rounding.
    np.testing.assert_allclose(theory.dec_infinite_width_map(7 * x @ x.T), expected, atol=1e-7)


def test_kernel_is_the_map_of_relu_with_the_variance_of_he():
    rho = np.linspace(-1, 1, 9)
    expected = KernelMap(relu.scaled(np.sqrt(2)))(rho)
    np.testing.assert_allclose(theory.dec_kernel(rho), expected, atol=1e-14)


def test_infinite_width_map_is_the_covariance_of_relu_at_unequal_lengths():
    """Entry by entry by two-dimensional quadrature, which knows no closed form."""
    x = STREAM.numpy("points").normal(size=(3, 5))
    centred = x - x.mean(axis=0)
    squares = (centred**2).sum(axis=1)
    cosines = centred @ centred.T / np.sqrt(np.outer(squares, squares))
    layer = LengthMap(relu, weight_variance=2.0)
    moments = layer.covariance(squares[:, None], squares, cosines.clip(-1, 1))
    result = theory.dec_infinite_width_map(x @ x.T)
    np.testing.assert_allclose(result, moments / moments.diagonal().max(), atol=1e-12)


def test_batches_of_gram_matrices_are_scaled_one_by_one():
    grams = np.stack([np.eye(3), 9 * np.eye(3) + 1])
    one, other = theory.dec_infinite_width_map(grams)
    np.testing.assert_allclose(one, other, atol=1e-14)
    assert one.max() == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.dec_kernel([0.0, 1.5]), "rho"),
        (lambda: theory.dec_infinite_width_map(np.ones((3, 3))), "points that differ"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
