"""Settings that all tests share, and the names of the tests that cost most."""

import os
from collections.abc import Iterator

import hypothesis
import pytest

# No deadline: a busy machine must not fail a test.
hypothesis.settings.register_profile("signalprop", deadline=None)
hypothesis.settings.load_profile("signalprop")

DEAR = 20.0  # seconds of CPU time


def cpu_time() -> float:
    """Seconds that the processors have worked for this process and for the children it waited for.

    Other than the clock's, they hardly depend on what else the machine does.
    """
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Note when a test starts; fixtures that several share count for the first of them."""
    item.stash[STARTED] = cpu_time()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Note what a test cost, in its last report."""
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu", round(cpu_time() - item.stash[STARTED], 2)))


STARTED = pytest.StashKey[float]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that took more than ``DEAR``: a warning, since seconds prove nothing wrong."""
    costs = {
        report.nodeid: dict(report.user_properties).get("cpu", 0.0)
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport)
    }
    dear = sorted((cost, name) for name, cost in costs.items() if cost > DEAR)
    if dear:
        terminalreporter.section(f"more than {DEAR:.0f} s of CPU time", yellow=True)
        for cost, name in reversed(dear):
            terminalreporter.line(f"{cost:6.1f} s  {name}")
