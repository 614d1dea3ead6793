"""Settings that all tests share, and the names of the tests that cost much."""

import os
import sys
from collections.abc import Iterator

import hypothesis
import pytest

# The cores run tests side by side: a second thread in each of them only waits for the first, and
# burns twenty times the time of small matrices where the machine is busy. Said before torch loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests start interpreters by the hundred. Compiling what they import costs each of them seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No deadline: a busy machine must not fail a test.
hypothesis.settings.register_profile("signalprop", deadline=None)
hypothesis.settings.load_profile("signalprop")
# `pytest --hypothesis-profile=scheduled tests/fuzz`: for hours, outside of the usual suite.
hypothesis.settings.register_profile("scheduled", deadline=None, max_examples=10_000)

DEAR = 20.0  # seconds of CPU time that no test should take
SLOW = 2.0  # and those from which on a test should be marked `slow`
STARTED = pytest.StashKey[float]()


def cpu_time() -> float:
    """Seconds that the processors have worked for this process and for the children it waited for.

    Other than the clock's, they hardly depend on what else the machine does.
    """
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker more than cores: a third of their time tests wait for what they have started."""
    cores = os.environ.get("CORES") or str(os.cpu_count() or 1)
    if not cores.isdecimal():
        raise pytest.UsageError(f"CORES must be a whole number, got {cores!r}")
    return int(cores) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the tests that build books, dealt out evenly; whole files keep their order.

    A worker takes its share of the list from the front, and then the ends of others' shares: what
    is left for the last minute is short, and no core waits for another's longest test.
    """
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    builds = [item for item in items if item.path.parent.name == "signalbook"]
    builds = [item for item in builds if item.get_closest_marker("slow")]
    chosen = set(builds)
    others = [item for item in items if item not in chosen]
    share = -(-len(others) // workers)
    items[:] = [
        item
        for k in range(workers)
        for item in (*builds[k::workers], *others[k * share : (k + 1) * share])
    ]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Note when a test starts; fixtures that several share count for the first of them."""
    item.stash[STARTED] = cpu_time()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Note what a test cost, for its last report: without what ends with the last test of all.

    There the browser ends, and its work for every page would count for one.
    """
    before = cpu_time()
    try:
        return (yield)
    finally:
        ended = cpu_time() if nextitem else before
        item.user_properties.append(("cpu", round(ended - item.stash[STARTED], 2)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that cost too much: warnings, since seconds prove nothing wrong."""
    reports = [
        report
        for found in terminalreporter.stats.values()
        for report in found
        if isinstance(report, pytest.TestReport) and dict(report.user_properties).get("cpu")
    ]
    costs = {(r.nodeid, "slow" in r.keywords): dict(r.user_properties)["cpu"] for r in reports}
    dear = {name: cost for (name, _), cost in costs.items() if cost > DEAR}
    slow = {name: cost for (name, marked), cost in costs.items() if cost > SLOW and not marked}
    for title, found in (
        (f"more than {DEAR:.0f} s of CPU time: make these cheaper", dear),
        (f"more than {SLOW:.0f} s of CPU time: mark these `slow`", slow),
    ):
        if found:
            terminalreporter.section(title, yellow=True)
            for name, cost in sorted(found.items(), key=lambda entry: -entry[1]):
                terminalreporter.line(f"{cost:6.1f} s  {name}")
