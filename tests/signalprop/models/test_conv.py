"""Convolutional networks: Table 3, convolution as a product, modules side by side."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from signalprop import Stream
from signalprop.models import Stacked, conv_net, orth_table_3, unfold_rows
from signalprop.training import Group, Recipe, train
from tests.signalprop.models.differences import has_the_gradient_of_its_differences

IMAGES = torch.randn(2, 3, 9, 8, generator=Stream(0).torch(), dtype=torch.float64)


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("stride", [1, 2])
def test_convolution_is_a_product_of_patches(padding, stride):
    kernel = torch.randn(5, 3, 3, 3, generator=Stream(1).torch(), dtype=torch.float64)
    expected = F.conv2d(IMAGES, kernel, padding=padding, stride=stride)
    product = unfold_rows(IMAGES, 3, padding, stride) @ kernel.flatten(1).T
    height, width = expected.shape[2:]
    folded = product.reshape(2, height, width, 5).movedim(-1, 1)
    torch.testing.assert_close(folded, expected, rtol=1e-12, atol=1e-12)


def count(net, kind):
    return sum(isinstance(layer, kind) for layer in net)


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("convolutions", [20, 80])
def test_table_3(published, convolutions):
    with torch.device("meta"):
        net = orth_table_3(convolutions, published=published)
        assert net(torch.empty(2, 3, 32, 32)).shape == (2, 10)
    linear = [layer for layer in net if isinstance(layer, nn.Linear)]
    assert count(net, nn.Conv2d) == convolutions
    assert (count(net, nn.MaxPool2d), count(net, nn.Dropout)) == (3, 2)
    # The table's 1024 features only come out with the published code's stride 2.
    first = 1024 if published else 4096
    sizes = [(layer.in_features, layer.out_features) for layer in linear]
    assert sizes == [(first, 4096), (4096, 4096), (4096, 10)]


def test_parameters_of_table_3_by_hand():
    def convolution(one, other):
        return 9 * one * other + other

    with torch.device("meta"):
        nets = {(n, p): orth_table_3(n, published=p) for n in (20, 80) for p in (True, False)}
    wide = convolution(256, 256)
    first = convolution(3, 64) + convolution(64, 192) + convolution(192, 256) + wide
    last = 4097 * 4096 + 4097 * 10
    for (convolutions, published), net in nets.items():
        extra = convolution(192, 192) if published else 0
        repeats = convolutions - 4 - published
        features = 1025 if published else 4097
        counted = sum(p.numel() for p in net.parameters())
        assert counted == first + extra + repeats * wide + features * 4096 + last


def small_table_3(published):
    """Narrow, with all its convolutions, on images of the published size."""
    torch.manual_seed(0)
    net = orth_table_3(20, published=published, widths=(4, 6, 8), hidden=(16, 16), dropout=0.0)
    for p in net.parameters():  # torch's own start dies out in twenty layers
        if p.ndim == 4:
            nn.init.kaiming_normal_(p)
    return net


@pytest.mark.parametrize("published", [True, False])
def test_gradients_of_table_3_are_those_of_finite_differences(published):
    net = small_table_3(published).double()
    x = torch.randn(4, 3, 32, 32, generator=Stream(0).torch(), dtype=torch.float64)

    has_the_gradient_of_its_differences(
        lambda: F.cross_entropy(net(x), torch.arange(4)),
        list(net.parameters()),
        step=1e-7,
        rel=1e-3,
    )


@pytest.mark.slow
@pytest.mark.parametrize("convolutions", [20, 80])
def test_a_training_step_of_table_3(convolutions):
    torch.manual_seed(0)
    net = orth_table_3(convolutions, dropout=0.0)
    for p in net.parameters():
        if p.ndim == 4:
            nn.init.kaiming_normal_(p)
    x = torch.randn(2, 3, 32, 32, generator=Stream(0).torch())
    group = Group("table 3", Stacked([net]), seeds=[0], rates=[1e-3])
    history = train([group], x, torch.arange(2), Recipe(steps=1, batch=2))["table 3"]
    before, after = history.values["loss"][:, 0]
    assert after < before


@pytest.mark.parametrize(("size", "stride"), [(16, 1), (16, 2), (15, 2), (33, 2)])
def test_features_follow_the_size(size, stride):
    net = conv_net(
        [4, "norm", "relu", "pool", 6, "relu"], size=size, first_stride=stride, norm=nn.BatchNorm2d
    )
    assert net(torch.randn(3, 3, size, size)).shape == (3, 10)
    assert net[1].num_features == 4


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (["norm"], "got 'norm'"),
        (["tanh"], "plan must hold channel numbers and norm, relu, pool"),
        (["pool"] * 6, "got 'pool' at 1 pixels"),
    ],
)
def test_bad_plans(plan, message):
    with pytest.raises(ValueError, match=message):
        conv_net(plan)
    with pytest.raises(ValueError, match="convolutions must be at least 5, got 4"):
        orth_table_3(4)


def test_stacked_is_each_alone():
    nets = [conv_net([4, "relu", "pool"], channels=1, size=4, hidden=[3]) for _ in range(3)]
    stacked = Stacked(nets)
    x = torch.randn(3, 5, 1, 4, 4)
    outputs = stacked(x)
    outputs.square().sum().backward()
    for k, net in enumerate(nets):
        alone = net(x[k])
        torch.testing.assert_close(outputs[k], alone)
        alone.square().sum().backward()
        for one, other in zip(stacked.parameters(), net.parameters(), strict=True):
            torch.testing.assert_close(one.grad[k], other.grad)


def test_each_of_a_stack_is_a_copy_of_what_it_is_now():
    nets = [nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5)) for _ in range(3)]
    stacked = Stacked(nets).eval()
    with torch.no_grad():
        next(stacked.parameters()).mul_(2)
    x = torch.randn(3, 5, 3)
    alone = stacked.each()
    torch.testing.assert_close(
        torch.stack([n(xk) for n, xk in zip(alone, x, strict=True)]), stacked(x)
    )
    torch.testing.assert_close(alone[1][0].weight, 2 * nets[1][0].weight)
    with torch.no_grad():
        alone[0][0].weight.zero_()
    assert bool(stacked(x)[0].any())


def test_stacked_follows_the_mode():
    stacked = Stacked([nn.Dropout(0.5)] * 2).eval()
    torch.testing.assert_close(stacked(torch.ones(2, 9)), torch.ones(2, 9))
    assert not bool(stacked.train()(torch.ones(2, 99)).all())
    with pytest.raises(ValueError, match="at least one"):
        Stacked([])


def test_unfold_rows_refuses_other_shapes():
    with pytest.raises(ValueError, match=r"images must be \(n, c, h, w\)"):
        unfold_rows(torch.ones(3, 3))
    with pytest.raises(ValueError, match=r"kernel must fit on floating images, .* \(0, 1, 0, 4\)"):
        unfold_rows(torch.ones(0, 1, 0, 4), kernel=1, padding=1)
