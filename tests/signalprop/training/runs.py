"""What the tests of training train: a small data set, networks, groups of them."""

import numpy as np
import torch

from signalprop import Stream
from signalprop.layers import BatchNorm
from signalprop.models import MLP
from signalprop.training import Recipe, grid

X = torch.randn(60, 5, generator=Stream(0).torch("x"))
Y = (X[:, 0] * X[:, 1] > 0).long()
RECIPE = Recipe(steps=30, batch=16, record_every=10, drop_every=20)


def build(seeds, depth=2):
    return MLP(5, 8, depth, 2, [BatchNorm(eps=1e-5), torch.relu], seeds=seeds)


def same(one, other):
    assert set(one) == set(other)
    for name in one:
        np.testing.assert_array_equal(one[name].steps, other[name].steps)
        for metric in one[name].values:
            np.testing.assert_array_equal(one[name].values[metric], other[name].values[metric])


def vanilla(seeds):
    return MLP(5, 16, 3, 2, seeds=seeds, weights="he")


class Killed(Exception):
    pass


def kill_after(steps):
    calls = []

    def progress(name, done, total):
        calls.append(name)
        if len(calls) == steps:
            raise Killed

    return progress


def groups():
    return [grid("one", build, [0, 1], [0.2, 0.1]), grid("two", vanilla, [0], [0.05, 1e12])]
