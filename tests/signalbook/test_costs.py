"""Costs are kept by the values of a run; a guess rests on the nearest that is known."""

import json
from types import SimpleNamespace

import pytest

from signalbook import costs
from signalbook.project import Project

A = "orthogonality/a"
VALUES = {"runs": 20, "device": "cpu", "seed": 0}


def took(seconds):
    return SimpleNamespace(seconds=seconds, cpu_seconds=seconds / 2, memory_mb=300)


@pytest.fixture
def project(book):
    book.chapter(A, "ORTH-X1")
    return Project(book.root)


def test_a_cost_is_kept_by_its_values(project):
    costs.keep(project, A, VALUES, took(8.0))
    cost = costs.measured(project, A, VALUES)
    assert (cost["seconds"], cost["cpu_seconds"], cost["memory_mb"]) == (8.0, 4.0, 300)
    assert cost["device"] == "cpu"
    assert "cores" in cost["machine"]
    assert costs.measured(project, A, {**VALUES, "seed": 1}) is None


def test_the_nearest_known_run_counts(project):
    assert costs.estimate(project, A, VALUES) == (15.0, "a rough guess"), "the page's own word"
    costs.keep(project, A, {**VALUES, "runs": 2}, took(10.0))
    costs.keep(project, A, {**VALUES, "runs": 40}, took(50.0))
    assert costs.estimate(project, A, {**VALUES, "runs": 40}) == (50.0, "as the last time")
    assert costs.estimate(project, A, {**VALUES, "runs": 80}) == (100.0, "a rough guess")
    assert costs.estimate(project, A, {**VALUES, "runs": 4}) == (20.0, "a rough guess")
    assert costs.estimate(project, A, {**VALUES, "runs": 40, "seed": 7})[0] == 50.0


def test_a_record_is_known_too_and_what_is_torn_is_not(project):
    path = project.record(A)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"parameters": {**VALUES, "runs": 900}, "seconds": 7000.0}))
    told = costs.estimate(project, A, {**VALUES, "runs": 900})
    assert told == (7000.0, "when it was recorded")
    torn = project.cost(A, "x")
    torn.parent.mkdir(parents=True)
    torn.write_text('{"torn')
    assert costs.estimate(project, A, {**VALUES, "runs": 900}) == told


def test_a_device_is_called_by_its_model(monkeypatch):
    monkeypatch.setattr("torch.cuda.get_device_name", lambda name: f"Model of {name}")
    assert costs.device_name("cpu") == "cpu"
    assert costs.device_name("cuda:1") == "Model of cuda:1"


def test_a_cluster_is_asked_for_more_than_was_measured(project):
    least = {"mem_mb": costs.MEMORY, "runtime": costs.RUNTIME, "gpu": 0}
    assert costs.needs(project, A, VALUES) == least
    large = SimpleNamespace(seconds=7200.0, cpu_seconds=1.0, memory_mb=4000)
    costs.keep(project, A, VALUES, large)
    assert costs.needs(project, A, VALUES) == {"mem_mb": 6000, "runtime": 360, "gpu": 0}
    assert costs.needs(project, A, {**VALUES, "device": "cuda:0"})["gpu"] == 1
