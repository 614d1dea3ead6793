"""Statistics of random runs: intervals, slopes, rates, two-sample tests, sequential means."""

from signalprop.stats.intervals import Estimate, batch_means, mean_interval, per_test_error
from signalprop.stats.rates import Rate, exponential_rate, power_rate
from signalprop.stats.sequential import SequentialEstimate, sequential_mean
from signalprop.stats.slopes import Slope, exponent, slope
from signalprop.stats.two_sample import TwoSample, energy_test, ks_test, projected_ks_test

__all__ = [
    "Estimate",
    "Rate",
    "SequentialEstimate",
    "Slope",
    "TwoSample",
    "batch_means",
    "energy_test",
    "exponent",
    "exponential_rate",
    "ks_test",
    "mean_interval",
    "per_test_error",
    "power_rate",
    "projected_ks_test",
    "sequential_mean",
    "slope",
]
