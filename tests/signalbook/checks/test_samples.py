"""Checks of random runs err as seldom as they say."""

import math

import numpy as np
import pytest
from scipy import stats

from signalbook import checks
from signalbook.checks import samples


@pytest.mark.parametrize("runs", [5, 20, 200])
@pytest.mark.slow
def test_false_alarms_come_as_seldom_as_said(runs, monkeypatch):
    """At a level of 1 % a true mean is rejected in 1 % of samples, whatever their number."""
    monkeypatch.setattr(samples, "LEVEL", 0.01)
    rng = np.random.default_rng(3)
    trials = 4000
    level = sum(
        not checks.near(rng.normal(1, 3, runs), 1.0, reading=0).passed for _ in range(trials)
    )
    theirs = sum(
        not checks.near(
            rng.normal(0, 1, runs), rng.normal(0, runs**-0.5), reading=0, their_runs=runs
        ).passed
        for _ in range(trials)
    )
    for alarms in (level, theirs):
        assert stats.binomtest(alarms, trials, 0.01).pvalue > 1e-6


def test_the_chance_of_escape_is_that_of_another_draw(monkeypatch):
    """A rival 4 standard errors off is rejected at 1 % most of the time; the rest was foreseen."""
    monkeypatch.setattr(samples, "LEVEL", 0.01)
    rng = np.random.default_rng(5)
    passed = [checks.near(rng.normal(0, 1, 100), 0.4, reading=0).passed for _ in range(3000)]
    typical = np.concatenate([np.full(50, -1.0), np.full(50, 1.0)]) * math.sqrt(0.99)
    foreseen = checks.near(typical, 0.4, reading=0).escape
    assert np.mean(passed) == pytest.approx(foreseen, abs=0.02)


def test_a_print_is_not_drawn_again():
    """Their sampling error widens the tolerance; only ours changes from draw to draw."""
    runs = np.random.default_rng(0).normal(0, 1, 10_000)
    check = checks.near(runs, 0.0, reading=0, their_runs=20)
    assert not check.rival(1.5).passed
    assert check.rival(1.5).escape < checks.LEVEL
    assert check.rival(1.0).passed


def test_orders_are_paired_where_runs_are():
    """The same runs under two treatments: a small gain is seen through a large spread."""
    base = np.random.default_rng(0).normal(0, 100, 30)
    gain = base + 1 + np.random.default_rng(1).normal(0, 0.1, 30)
    assert checks.ordered({"before": base, "after": gain}).passed
    assert not checks.ordered({"before": base[1:], "after": gain}).passed


@pytest.mark.parametrize("hits", [0, 3, 500, 1000])
def test_share_is_the_exact_interval(hits):
    events = np.arange(1000) < hits
    ends = stats.binomtest(hits, 1000).proportion_ci(1 - 2 * checks.LEVEL, method="exact")
    assert checks.share(events, at_least=ends.high - 1e-9).passed
    if ends.high < 1:
        assert not checks.share(events, at_least=ends.high + 1e-9).passed
