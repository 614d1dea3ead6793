"""Narrow networks: growth is a difference of two depths, for the batch that the width asks for."""

import numpy as np
import pytest
import torch

from signallab.gradients import deep_networks as deep
from signallab.gradients import without_shaping as lab
from signalprop.random import Stream


def test_growth_is_the_difference_of_two_networks():
    x = torch.randn(9, 12, generator=Stream(0).torch(), dtype=torch.float64)
    labels = torch.arange(9)
    found = lab.narrow(x, labels, [4, 6], 2, (3, 20), runs=2, stream=Stream(1))
    assert sorted(found) == [4, 6]
    for d, growth in found.items():
        weights = deep.draw(Stream(1).child(d), 1, 20, d, 12)
        network, n = deep.Network("identity"), d + 2
        ends = [
            deep.log_gradients(network, weights, x[:n], labels[:n], [depth], [1])[0, 0]
            for depth in (3, 20)
        ]
        np.testing.assert_allclose(growth[1], ends[1] - ends[0])


@pytest.mark.slow
def test_a_batch_as_large_as_the_width_explodes_and_one_more_sample_does_not():
    x = torch.randn(11, 12, generator=Stream(2).torch(), dtype=torch.float64)
    growth = {
        extra: lab.narrow(x, torch.arange(11) % 10, [10], extra, (50, 800), 20, Stream(3))[10]
        for extra in (0, 1)
    }
    assert growth[0].mean() > 1.5  # about 5, with a standard error of 0.6
    assert abs(growth[1].mean()) < 0.5  # a standard error of 0.05
