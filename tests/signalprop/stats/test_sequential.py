import numpy as np
import pytest
from scipy import stats

from signalprop.random import Stream
from signalprop.stats import mean_interval, sequential_mean


def normals(seed):
    values = Stream(seed).numpy("test_sequential").normal(1.0, 1.0, size=4096)
    return lambda runs: values[runs.start : runs.stop]


def test_intervals_cover_though_we_stop_when_they_please():
    results = [sequential_mean(normals(s), 0.25, budget=4096, level=0.9) for s in range(600)]
    assert all(result.reached and result.half_width <= 0.25 for result in results)
    misses = sum(not result.contains(1.0) for result in results)
    assert stats.binomtest(misses, 600, 0.1, "greater").pvalue > 1e-6
    assert len({result.draws for result in results}) > 1  # the stopping was random


def test_errors_of_all_looks_add_up_to_the_level():
    result = sequential_mean(normals(2), half_width=0.2, budget=10**4, level=0.9)
    look = result.draws.bit_length() - 5  # 32 draws are look 1
    spent = mean_interval(normals(2)(range(result.draws)), level=1 - 0.1 / (look * (look + 1)))
    assert (result.low, result.high, result.level) == (spent.low, spent.high, 0.9)
    assert sum(1 / (k * (k + 1)) for k in range(1, 1000)) < 1


def test_budget_ends_the_search_honestly():
    result = sequential_mean(normals(0), half_width=1e-3, budget=100)
    assert (result.reached, result.draws) == (False, 100)
    assert result.half_width > 1e-3


def test_draws_are_asked_for_once_each():
    asked = []

    def draw(runs):
        asked.extend(runs)
        return normals(1)(runs)

    result = sequential_mean(draw, half_width=0.2, budget=1000)
    assert asked == list(range(result.draws))
    np.testing.assert_allclose(result.value, normals(1)(range(result.draws)).mean())


@pytest.mark.parametrize(
    ("draw", "arguments", "words"),
    [
        (lambda runs: [1.0], (0.1, 100), "draw.* must return 32 numbers"),
        (lambda runs: [np.nan] * len(runs), (0.1, 100), "draw.* must be finite"),
        (lambda runs: [1.0] * len(runs), (0.0, 100), "half_width"),
        (lambda runs: [1.0] * len(runs), (0.1, 1), "budget"),
    ],
)
def test_bad_input_is_named(draw, arguments, words):
    with pytest.raises(ValueError, match=words):
        sequential_mean(draw, *arguments)
