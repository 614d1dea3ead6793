"""What enters the activations of a network."""

from functools import partial

import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.models import ResNet, preactivations, vgg

NORM = partial(nn.BatchNorm2d, track_running_stats=False)


def test_preactivations_are_what_enters_the_units():
    net = vgg([4, 8], [1, 2], size=8, hidden=[6], norm=NORM)
    x = torch.randn(5, 3, 8, 8, generator=Stream(0).torch())
    seen = preactivations(net, x)
    assert [tuple(h.shape) for h in seen] == [(320, 4), (80, 8), (80, 8), (5, 6)]
    h = net[:2](x)
    torch.testing.assert_close(seen[0][:64], h[0].flatten(1).T)
    # Batch normalization takes the same matrix: each of its columns has mean 0 and variance 1.
    torch.testing.assert_close(seen[1].mean(0), torch.zeros(8), atol=1e-5, rtol=0)
    torch.testing.assert_close(seen[1].square().mean(0), torch.ones(8), atol=1e-2, rtol=0)
    assert len(preactivations(ResNet([4, 8], [1, 2], norm=NORM), x)) == 1 + 3 * 3
    with pytest.raises(ValueError, match=r"must have nn\.ReLU modules, got Linear"):
        preactivations(nn.Linear(2, 2), torch.ones(1, 2))
