import numpy as np
import pytest
from scipy import stats

import signalprop as sp
from signalprop import theory
from signalprop.random import Stream
from signalprop.theory import (
    stationary_cosine,
)

STREAM = Stream(0).child("test_orthogonality")


NORMALIZE = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")


@pytest.mark.parametrize("n", [2, 3, 7])
def test_moments_of_the_stationary_gap_are_those_of_a_chi_variable(n):
    """From the covariance of one step's noise in the space of traceless symmetric matrices."""
    d, freedom = 10**4, n * (n + 1) // 2 - 1
    noise = (1 - 1 / n) / d  # |u u^T - I/n|^2 is 1 - 1/n for unit u, and d of them are averaged
    variance = sum(noise / freedom * (n / (n + 2)) ** (2 * k) for k in range(400))
    law = stats.chi(freedom, scale=np.sqrt(variance))
    assert theory.stationary_gap(n, d) == pytest.approx(law.mean(), rel=1e-10)
    assert theory.stationary_gap(n, d, "mean square") == pytest.approx(law.moment(2), rel=1e-10)
    expected = law.expect(np.log)
    assert theory.stationary_gap(n, d, "mean log") == pytest.approx(expected, rel=1e-7)
    # an off-diagonal entry is 1/sqrt 2 of a coordinate; the cosine is n times it
    cosine = stats.halfnorm(scale=n * np.sqrt(variance / 2)).mean()
    assert theory.stationary_cosine(n, d) == pytest.approx(cosine, rel=1e-10)


def test_widths_broadcast():
    widths = np.array([100, 400])
    for moment, ratio in (("mean", 2), ("mean square", 4)):
        first, second = theory.stationary_gap(3, widths, moment)
        assert first / second == pytest.approx(ratio)
    assert np.diff(theory.stationary_gap(3, widths, "mean log"))[0] == pytest.approx(-np.log(2))


@pytest.mark.parametrize("n", [2, 5])
def test_contraction_is_the_slope_of_the_map_of_spectra_at_the_flat_one(n):
    step = 1e-6 * (np.eye(n)[0] - np.eye(n)[1])
    slope = (theory.expected_spectrum(1 / n + step) - 1 / n) @ step / (step @ step)
    assert theory.contraction_at_orthogonality(n) == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.slow
def test_stationary_gap_is_that_of_wide_chains(n):
    d, runs = 400, 3000
    chain = sp.Chain(d, layers=[NORMALIZE])
    h = chain.run(sp.inputs.orthogonal_samples(n), 15, runs, STREAM.child("stationary", n)).final()
    gap = sp.orthogonality_gap(h).numpy()
    moments = {"mean": gap, "mean square": gap**2, "mean log": np.log(gap)}
    for moment, values in moments.items():
        error = values.std() / np.sqrt(runs)
        expected = theory.stationary_gap(n, d, moment)
        # leading order: relative corrections of order n / d
        assert abs(values.mean() - expected) < 6 * error + 2 * n / d * abs(expected)
    with pytest.raises(ValueError, match="moment"):
        theory.stationary_gap(n, d, "median")


@pytest.mark.parametrize(("n", "d"), [(2, 200), (5, 400)])
def test_stationary_cosine(n, d):
    net = sp.Chain(d, layers=[sp.BatchNorm(center=False)])
    cosine = net.run(sp.inputs.gaussian_samples(n), 60, 200, 3).measure(sp.mean_absolute_cosine)
    runs = cosine.between(30, 60).values.mean(axis=1)
    # The next order in 1/d is about n/d (measured); the sampling error far less.
    assert np.isclose(runs.mean(), stationary_cosine(n, d), rtol=1.5 * n / d + 0.02)
