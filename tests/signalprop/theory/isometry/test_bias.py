"""The factors of ISO Section 4.2 against mpmath and against Gram matrices, on lengths and samples
that hypothesis picks."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import signalprop as sp
from signalprop import theory

LENGTHS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12)
SMALL = st.integers(-3, 3)


def means(lengths):
    with mp.workdps(40):
        a = [mp.mpf(x) for x in lengths]
        n = len(a)
        return sum(a) / n, sum(x * x for x in a) / n, mp.root(mp.fprod(a), n)


@given(LENGTHS)
def test_factors_are_ratios_of_means(lengths):
    arithmetic, square, geometric = means(lengths)
    assert theory.iso_theorem_4_3(lengths) == pytest.approx(float(square / arithmetic**2), rel=1e-9)
    gain = theory.iso_normalization_gain(lengths)
    assert gain == pytest.approx(float(square / geometric**2), rel=1e-9)
    assert theory.iso_equation_4_6(lengths, d=7) == pytest.approx(gain * len(lengths) / 7)


@given(LENGTHS)
def test_what_the_theorem_drops_is_at_least_one(lengths):
    ratio = theory.iso_normalization_gain(lengths) / theory.iso_theorem_4_3(lengths)
    arithmetic, _, geometric = means(lengths)
    assert ratio == pytest.approx(float((arithmetic / geometric) ** 2), rel=1e-9)
    assert ratio >= 1 - 1e-12


@given(st.data(), st.integers(1, 4), st.integers(1, 5))
@pytest.mark.slow
def test_theorem_4_3_for_integer_samples_in_many_digits(data, n, d):
    """Any small integers: dependent samples, duplicates, one sample, more samples than
    coordinates."""
    rows = st.lists(SMALL, min_size=d, max_size=d).filter(any)
    x = data.draw(st.lists(rows, min_size=n, max_size=n))
    with mp.workdps(80):
        x = mp.matrix(x)
        gram = x * x.T
        a = [mp.sqrt(gram[i, i]) for i in range(n)]
        shrink = mp.diag([1 / length for length in a])
        both = gram, shrink * gram * shrink  # mpmath's det fails where a column of a pivot is 0
        before, after = ((abs(mp.fprod(mp.eigsy(g, eigvals_only=True))), g) for g in both)
        isometry = [
            det ** (mp.mpf(1) / n) / (sum(g[i, i] for i in range(n)) / n)
            for det, g in (before, after)
        ]
        mean = sum(a) / n
        factor = 1 + sum((length - mean) ** 2 for length in a) / n / mean**2
        # A determinant that is 0 comes out as 1e-70 at most, its fourth root as 1e-17.
        assert isometry[1] >= isometry[0] * factor - mp.mpf(10) ** -12
        assert theory.iso_theorem_4_3([float(v) for v in a]) == pytest.approx(float(factor))


@given(st.floats(0.1, 10), st.integers(1, 9), st.integers(1, 9))
def test_corollary_4_5_with_equal_lengths(length, d, n):
    """The printed mean is d/n of the length: 1 + (1 - d/n)^2 / (d/n)^2."""
    t = d / n
    printed = theory.iso_corollary_4_5(np.full(d, length), n=n)
    assert printed == pytest.approx(1 + (1 - t) ** 2 / t**2)


def test_corollary_4_5_is_the_theorem_where_the_batch_is_as_large_as_the_width():
    a = np.array([0.5, 2.0, 3.0])
    assert theory.iso_corollary_4_5(a, n=3) == pytest.approx(theory.iso_theorem_4_3(a))


@given(arrays(float, (3, 5), elements=st.floats(-1, 1)))
def test_recentring_gain(noise):
    x = np.eye(3, 5) * 4 + noise
    centred = x - x.mean(axis=-1, keepdims=True)
    gain = sp.isometry(centred) / sp.isometry(x)
    assert theory.iso_recentring_gain(x) == pytest.approx(gain, rel=1e-9)


def test_recentring_takes_everything_from_a_basis():
    x = np.array([[2.0, 1.0], [0.0, 3.0]])
    assert theory.iso_recentring_gain(x) < 1e-7  # the square root of rounding


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 3))
def test_figure_4_1_is_half_of_the_isometry(a, b, angle):
    pair = np.array([[a, 0.0], [b * np.cos(angle), b * np.sin(angle)]])
    ratio = theory.iso_figure_4_1(a, b, angle)
    assert ratio == pytest.approx(sp.isometry(pair) / 2, rel=1e-9)


@pytest.mark.parametrize("norms", [[], [1.0, 0.0], [-1.0, 2.0], 3.0])
def test_lengths_must_be_positive(norms):
    with pytest.raises(ValueError, match="norms must be"):
        theory.iso_theorem_4_3(norms)
