"""Batches, recipes and groups: each sample once a pass, and bad input named."""

import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.training import (
    Group,
    Recipe,
    batches,
)
from tests.signalprop.training.runs import build


def test_every_pass_takes_each_sample_once_in_a_new_order():
    steps = batches(Stream(0), [3], size=10, batch=5)
    first, second = (torch.cat([next(steps), next(steps)], 1)[0].tolist() for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second


def test_batches_leave_out_the_rest_and_start_anywhere():
    take = [next(b) for b in (batches(Stream(0), [0, 1], 11, 4, start=s) for s in range(7))]
    run = batches(Stream(0), [0, 1], 11, 4)
    for expected in take:
        torch.testing.assert_close(next(run), expected)
    assert len(set(torch.cat(take[:2], 1)[0].tolist())) == 8


def test_batches_depend_on_the_own_seed_only():
    pair, alone = next(batches(Stream(0), [5, 6], 50, 9)), next(batches(Stream(0), [6], 50, 9))
    torch.testing.assert_close(pair[1], alone[0])
    assert not torch.equal(pair[0], pair[1])
    with pytest.raises(ValueError, match=r"batch must be in 1..50"):
        next(batches(Stream(0), [5], 50, 51))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 0}, "batch must be at least 1, got 0"),
        ({"steps": -1}, "steps must be at least 0"),
        ({"record_every": 0}, "record_every must be"),
        ({"drop_every": 0}, "drop_every must be"),
        ({"clip": -1.0}, "clip must be positive"),
        ({"drop": float("nan")}, "drop must be positive"),
    ],
)
def test_bad_recipes(changes, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**({"steps": 1, "batch": 1} | changes))


@pytest.mark.parametrize(
    ("seeds", "rates", "message"),
    [
        ([0], [0.1, 0.1], "seeds and rates must be as many"),
        ([], [], "seeds and rates must be as many"),
        ([0, 1], [0.1, float("inf")], r"rates must be positive and finite, got \[inf\]"),
        ([0, 1, 2], [0.1] * 3, r"parameters must be \(models=3, ...\), got hidden"),
    ],
)
def test_bad_groups(seeds, rates, message):
    with pytest.raises(ValueError, match=message):
        Group("a", build([0, 1]), seeds, rates)
    with pytest.raises(ValueError, match=r"got 0.weight of shape"):
        Group("b", nn.Sequential(nn.Linear(1, 3)), [0, 1], [0.1, 0.1])
