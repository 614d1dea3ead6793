import numpy as np
import pytest

import signalprop as sp
from signalprop import theory
from signalprop.random import Stream
from signalprop.theory import (
    stationary_cosine,
)

STREAM = Stream(0).child("test_orthogonality")


NORMALIZE = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")


@pytest.mark.parametrize("n", [2, 4])
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
