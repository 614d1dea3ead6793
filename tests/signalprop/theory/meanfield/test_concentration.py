import numpy as np
import pytest

from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_meanfield")


def test_linear_moments_are_those_of_wishart_products():
    width, n, depth, runs = 20, 3, 6, 20_000
    x = np.diag([1.0, 0.5, 2.0])
    grams = np.repeat((x.T @ x)[None], runs, axis=0)
    generator = STREAM.numpy("wishart")
    for _ in range(depth):
        h = generator.normal(size=(runs, width, n)) @ np.linalg.cholesky(grams).mT
        grams = h.mT @ h / width
    gram = x.T @ x
    moments = theory.mf_linear_moments((gram**2).sum(), np.trace(gram) ** 2, width, depth)
    squares = (grams**2).sum(axis=(1, 2))
    traces = np.trace(grams, axis1=1, axis2=2) ** 2
    for samples, expected in zip((squares, traces), moments[-1], strict=True):
        assert abs(samples.mean() - expected) < 6 * samples.std() / np.sqrt(runs)
    distance = ((grams - gram) ** 2).sum(axis=(1, 2))
    expected = moments[-1, 0] - moments[0, 0]
    assert abs(distance.mean() - expected) < 6 * distance.std() / np.sqrt(runs)


def test_the_printed_tail_is_stronger_than_the_one_derived():
    t, width = 5.0, 100
    derived = np.exp(-(t**2) / (1 + np.sqrt(2) * t / (3 * np.sqrt(width))))
    assert theory.mf_equation_b_14(t, width) < derived


def test_scales_at_a_point():
    np.testing.assert_allclose(
        theory.mf_lemma_b_1(np.array([100, 400]), 5, growth=3.0), [1.5, 0.75]
    )
    found = theory.mf_lemma_b_2(np.array([100, 400]), 5, growth=3.0, inverse_norm=4.0)
    np.testing.assert_allclose(found, [6.0, 3.0])
    # t / (3 sqrt(2) d) = 1/2 at t = 3 sqrt 2, d = 2
    t = 3 * np.sqrt(2)
    assert theory.mf_equation_b_14(t, 2) == pytest.approx(np.exp(-18 / 1.5))


def test_the_gram_matrix_of_a_layer_is_as_far_from_its_mean_as_lemma_b_1_says():
    """For bounded features the scale is B n / sqrt d up to a constant, from both sides."""
    n, growth = 4, 1.0
    for width in (50, 800):
        signs = STREAM.numpy("signs", width).choice([-1.0, 1.0], size=(2000, n, width))
        distance = signs @ signs.mT / width - np.eye(n)
        mean = np.sqrt((distance**2).sum(axis=(1, 2)).mean())
        # exactly sqrt(n (n - 1) / d), sampled to 1 %
        assert mean / theory.mf_lemma_b_1(width, n, growth) == pytest.approx(0.75**0.5, rel=0.05)


def test_equation_b_13_is_the_fraction_of_b_11():
    t, d, n, growth = 1.7, 11, 3, 0.6
    fraction = d * t**2 / 2 / (4 * n**2 * growth**2 + 2 * growth * n * t / 3)
    assert theory.mf_equation_b_13(t, d, n, growth) == pytest.approx(np.exp(-fraction))
