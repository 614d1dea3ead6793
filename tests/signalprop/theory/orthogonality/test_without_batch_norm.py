"""Chains without batch normalization and the cosine deep in those with it, against simulation."""

import numpy as np
import pytest
from scipy.special import polygamma

import signalprop as sp
from signalprop.random import Stream
from signalprop.theory import (
    gap_of_spectrum,
    largest_gap,
    log_distance_from_rank_one,
    lyapunov_exponents,
    vanilla_collapse_rate,
)


def test_sum_of_exponents_is_the_mean_log_determinant():
    """Simulated: log|det W| of one Gaussian matrix, whose mean is the sum of the exponents."""
    for d in (1, 2, 5):
        w = np.random.default_rng(d).normal(size=(20_000, d, d)) * 0.7
        log_det = np.linalg.slogdet(w)[1]
        error = log_det.std() / np.sqrt(len(w))
        assert abs(log_det.mean() - lyapunov_exponents(d, 0.49).sum()) < 5.5 * error


def test_exponents_fall_and_shift_with_the_variance():
    exponents = lyapunov_exponents(7)
    assert np.all(np.diff(exponents) < 0)
    assert np.allclose(lyapunov_exponents(7, 4 / 7) - exponents, np.log(2))


@pytest.mark.parametrize("d", [2, 5, 40])
def test_collapse_rate_is_the_difference_of_exponents(d):
    first, second = lyapunov_exponents(d)[:2]
    assert np.isclose(vanilla_collapse_rate(d), 2 * (first - second), rtol=1e-12)


@pytest.mark.parametrize("d", [3, 20])
def test_sine_between_two_samples_falls_at_the_collapse_rate_at_every_layer(d):
    runs, depth = 4000, 6
    net = sp.Chain(d, layers=[sp.FrobeniusNorm()])
    angle = net.run(sp.inputs.orthogonal_samples(2), depth, runs, 2).measure(sp.angles)
    log_sine = 2 * np.log(np.sin(angle.values[:, :, 0, 1]))
    expected = -vanilla_collapse_rate(d) * np.arange(depth + 1)
    error = log_sine.std(axis=0) / np.sqrt(runs) + 1e-12
    assert np.all(np.abs(log_sine.mean(axis=0) - expected) < 5.5 * error)


def test_collapse_rate_is_near_one_over_d():
    # digamma(x) - digamma(x - 1/2) = polygamma(1, x) / 2 + polygamma(2, x) * O(1)
    d = np.array([100, 1000])
    assert np.allclose(vanilla_collapse_rate(d), polygamma(1, d / 2) / 2, rtol=1.5 / d[0])
    assert np.allclose(d * vanilla_collapse_rate(d), 1, rtol=2 / d[0])
    with pytest.raises(ValueError, match="at least 2"):
        vanilla_collapse_rate(1)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_distance_from_rank_one(n):
    s = np.random.default_rng(n).exponential(size=(50, n)) ** 3
    e1 = s.sum(axis=1)
    e2 = (e1**2 - (s**2).sum(axis=1)) / 2
    distance = np.exp(log_distance_from_rank_one(np.log(e1), np.log(e2), n))
    direct = largest_gap(n) - gap_of_spectrum(s / e1[:, None])
    assert np.allclose(distance, direct, rtol=1e-9, atol=1e-14)


def test_distance_from_rank_one_where_the_gap_has_rounded():
    # shares (1 - eps, eps): distance eps / sqrt(1/2) to leading order
    value = log_distance_from_rank_one(0.0, -500.0, 2)
    assert np.isclose(value, -500 + np.log(np.sqrt(2)), atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_each_exponent_is_the_mean_log_of_a_part_of_a_frame(d):
    """Newman's argument, sampled: the diagonal of R in W = Q R."""
    w = Stream(0).numpy("frames", d).standard_normal((20_000, d, d)) / np.sqrt(d)
    logs = np.log(np.abs(np.linalg.qr(w, mode="r").diagonal(axis1=1, axis2=2)))
    error = logs.std(axis=0) / np.sqrt(len(logs))
    assert np.all(np.abs(logs.mean(axis=0) - lyapunov_exponents(d)) < 5.5 * error)
    np.testing.assert_allclose(lyapunov_exponents(d), lyapunov_exponents(d, 1 / d))


def test_distance_at_orthogonality_does_not_pass_through_the_root_of_a_negative_number():
    e2 = 3 * (1 / 3) ** 2 * (1 + 1e-15)
    value = np.exp(log_distance_from_rank_one(0.0, np.log(e2), 3))
    assert np.isclose(value, largest_gap(3), rtol=1e-6)
