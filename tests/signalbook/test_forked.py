"""Forks in the place of kernels: what they answer, and that none touches another."""

import json
import subprocess
import sys

import pytest


def answers(shared, own, side_by_side=2):
    order = {"shared": shared, "own": list(own.items()), "side_by_side": side_by_side}
    worker = subprocess.run(
        [sys.executable, "-m", "signalbook.forked"],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=True,
    )
    return {found["seed"]: found for found in map(json.loads, worker.stdout.splitlines())}


OWN = """
print("seen", number)
display(number + seed)
print("shown")
numbers = [*numbers, seed]
len(numbers)
"""


@pytest.fixture(scope="module")
def found():
    """Three seeds: one shows numbers, one fails in its second cell, one ends itself."""
    shared = ["from IPython.display import display\nnumber, numbers = 5, []", "number"]
    begins = {seed: [f"seed = {seed}", OWN] for seed in (1, 2, 3, 4)}
    ends = {1: "numbers;", 2: "1 / 0", 3: "import os; os._exit(9)", 4: "import signalprop"}
    return answers(shared, {seed: [*cells, ends[seed]] for seed, cells in begins.items()})


def test_outputs_are_those_of_a_notebook(found):
    plain = {"text/plain": "5"}
    first, number, none, shown, quiet = found[1]["outputs"]
    assert first == none == quiet == []
    shared = {"data": plain, "metadata": {}, "execution_count": 2, "output_type": "execute_result"}
    assert number == [shared], "what ran before the fork is shown too"
    types = [output["output_type"] for output in shown]
    assert types == ["stream", "display_data", "stream", "execute_result"], "as they come"
    assert shown[0] == {"output_type": "stream", "name": "stdout", "text": "seen 5\n"}
    assert [shown[k]["data"] for k in (1, 3)] == [{"text/plain": "6"}, {"text/plain": "1"}]
    assert shown[3]["execution_count"] == 4


def test_no_fork_touches_another(found):
    assert [len(found[seed]["outputs"]) for seed in (1, 4)] == [5, 5]
    assert found[4]["outputs"][3][-1]["data"] == {"text/plain": "1"}, "its own list, not a longer"
    assert found[1]["testimony"]["modules"] == {}
    assert "signalprop" in found[4]["testimony"]["modules"]


def test_what_ends_a_fork_is_told(found):
    assert found[2]["error"] == "ZeroDivisionError: division by zero"
    assert "outputs" not in found[2]
    assert found[3]["code"] == 9
    assert not {"outputs", "error"} & set(found[3])
    assert found[1]["code"] == found[2]["code"] == 0


def test_an_error_before_the_forks_is_that_of_each():
    found = answers(["1 / 0"], {1: ["2"], 2: ["3"]}, side_by_side=1)
    assert {answer["error"] for answer in found.values()} == {"ZeroDivisionError: division by zero"}
