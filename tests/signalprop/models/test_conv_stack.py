"""The stack of convolutions against torch's own layers."""

import pytest
import torch
from torch import nn

from signalprop import BatchNorm2d, Stream
from signalprop.models import ConvStack


@pytest.mark.parametrize("padding", ["zeros", "reflect", "circular"])
def test_states_are_those_of_torch_layers(padding):
    net = ConvStack(
        2, 5, 3, before=[torch.relu], layers=[BatchNorm2d(eps=1e-5)], padding=padding, stream=1
    )
    x = torch.randn(4, 2, 7, 6, generator=Stream(0).torch())
    norm = nn.BatchNorm2d(5, affine=False, track_running_stats=False)
    h = x
    for weight, state in zip(net.parameters(), net.states(x), strict=True):
        mode = "constant" if padding == "zeros" else padding
        h = norm(nn.functional.conv2d(nn.functional.pad(torch.relu(h), (1,) * 4, mode), weight))
        assert torch.allclose(h, state, atol=1e-5)
    assert torch.equal(net(x), net.states(x)[-1])


def test_weights_have_the_variance_of_their_law_and_their_own_stream():
    net = ConvStack(40, 40, 2, weights="xavier", stream=3)
    first, second = (c.weight for c in net.convolutions)
    expected = torch.empty(40, 40, 3, 3)
    nn.init.xavier_normal_(expected)
    assert abs(first.std() / expected.std() - 1) < 0.05  # 5 standard errors
    assert not torch.equal(first, second)
    assert torch.equal(ConvStack(40, 40, 1, stream=3).convolutions[0].weight, first)


def test_depth_zero_is_the_identity():
    x = torch.ones(1, 2, 3, 3)
    assert torch.equal(ConvStack(2, 4, 0)(x), x)
    assert ConvStack(2, 4, 0).states(x) == []


@pytest.mark.parametrize("bad", [(0, 4, 1), (2, 0, 1), (2, 4, -1)])
def test_bad_sizes(bad):
    with pytest.raises(ValueError, match="sizes must be"):
        ConvStack(*bad)


@pytest.mark.parametrize("shape", [(2, 3, 3), (1, 3, 4, 4), (1, 2, 0, 4)])
def test_what_is_no_image_is_refused(shape):
    with pytest.raises(ValueError, match=r"x must be \(n, 2, height, width\), got shape"):
        ConvStack(2, 4, 1)(torch.ones(shape))
