"""Statistics of random runs: intervals, slopes, rates, sequential means."""

from signalprop.stats.intervals import Estimate, batch_means, mean_interval, per_test_error
from signalprop.stats.rates import Rate, exponential_rate, power_rate
from signalprop.stats.sequential import SequentialEstimate, sequential_mean
from signalprop.stats.slopes import Slope, exponent, slope

__all__ = [
    "Estimate",
    "Rate",
    "SequentialEstimate",
    "Slope",
    "batch_means",
    "exponent",
    "exponential_rate",
    "mean_interval",
    "per_test_error",
    "power_rate",
    "sequential_mean",
    "slope",
]
