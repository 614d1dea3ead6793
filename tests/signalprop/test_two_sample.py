import numpy as np
import pytest
from scipy import stats

from signalprop.random import Stream

from .two_sample import energy_test, projected_ks_test

STREAM = Stream(0).child("test_two_sample")


def test_energy_statistic_is_the_energy_distance():
    a, b = STREAM.numpy("distance").normal(size=20), STREAM.numpy("other").normal(size=30)
    # scipy's is the square root, for samples on the line.
    expected = stats.energy_distance(a, b) ** 2
    assert energy_test(a[:, None], b[:, None]).statistic == pytest.approx(expected)


def test_energy_p_values_are_uniform_under_one_law():
    samples = STREAM.numpy("null").normal(size=(300, 2, 12, 3))
    p = [energy_test(a, b, permutations=199, seed=i).p_value for i, (a, b) in enumerate(samples)]
    jitter = STREAM.numpy("jitter").uniform(size=300) / 200  # p-values live on multiples of 1/200
    assert stats.kstest(np.array(p) - jitter, "uniform").pvalue > 1e-6


@pytest.mark.slow
def test_projected_p_values_are_valid_under_one_law():
    samples = STREAM.numpy("null 2").normal(size=(400, 2, 40, 5))
    p = np.array([projected_ks_test(a, b, seed=i).p_value for i, (a, b) in enumerate(samples)])
    assert stats.binomtest(int((p <= 0.1).sum()), 400, 0.1, "greater").pvalue > 1e-6


@pytest.mark.parametrize("change", ["mean", "scale", "correlation"])
def test_differences_are_found(change):
    a, b = STREAM.numpy(change).normal(size=(2, 400, 4))
    if change == "mean":
        b = b + 0.5
    elif change == "scale":
        b = b * 1.6
    else:
        b[:, 1] = 0.1 * b[:, 1] + 0.99**0.5 * b[:, 0]  # the margins stay as they are
    assert energy_test(a, b).p_value < 0.01
    assert projected_ks_test(a, b, projections=32).p_value < 1e-4


def test_identical_samples_are_never_rejected():
    a = STREAM.numpy("same").normal(size=(10, 2))
    assert energy_test(a, a).p_value == 1
    assert projected_ks_test(a, a).p_value == 1
    assert energy_test(np.ones((5, 2)), np.ones((6, 2))).p_value == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: projected_ks_test([[1.0], [np.nan]], [[1.0]]), "a must be finite"),
        (lambda: projected_ks_test(np.ones((0, 1)), [[1.0]]), "a must not be empty"),
        (lambda: energy_test([1.0], [[1.0]]), "a must have 2 dimensions"),
        (lambda: energy_test([[1.0]], [[1.0, 2.0]]), "equal dimension"),
        (lambda: energy_test([[1.0]], [[1.0]], permutations=0), "permutations"),
        (lambda: projected_ks_test([[1.0]], [[1.0]], projections=0), "projections"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
