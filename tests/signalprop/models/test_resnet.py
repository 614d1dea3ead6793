"""VGG and ResNet: parameters as published, shapes, layers by hand, gradients, a training step."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from signalprop import Stream
from signalprop.models import ResNet, Stacked, vgg
from signalprop.training import Group, Recipe, train
from tests.signalprop.models.differences import has_the_gradient_of_its_differences

NORM = partial(nn.BatchNorm2d, track_running_stats=False)


def parameters(net):
    return sum(p.numel() for p in net.parameters())


def count(net, kind):
    return sum(isinstance(layer, kind) for layer in net.modules())


@pytest.mark.parametrize(
    ("options", "published"),
    [
        # Published with torchvision's weights: vgg19, vgg19_bn.
        ({"norm": None}, 143_667_240),
        ({"norm": nn.BatchNorm2d}, 143_678_248),
    ],
)
def test_vgg_19_has_the_published_number_of_parameters(options, published):
    with torch.device("meta"):
        net = vgg(size=224, outputs=1000, hidden=(4096, 4096), dropout=0.5, **options)
        assert net(torch.empty(2, 3, 224, 224)).shape == (2, 1000)
    assert parameters(net) == published


def test_resnet_50_has_the_published_number_of_parameters():
    with torch.device("meta"):
        net = ResNet(outputs=1000, photographs=True)
        assert net(torch.empty(2, 3, 224, 224)).shape == (2, 1000)
    assert parameters(net) == 25_557_032


def test_networks_for_cifar_have_nineteen_and_fifty_layers():
    with torch.device("meta"):
        deep, residual = vgg(norm=NORM), ResNet(norm=NORM)
        for net in (deep, residual):
            assert net(torch.empty(2, 3, 32, 32)).shape == (2, 10)
    assert count(deep, nn.Conv2d) + count(deep, nn.Linear) == 19
    # Projections in the shortcuts, one a stage, are not counted among the fifty.
    assert count(residual, nn.Conv2d) - 4 + count(residual, nn.Linear) == 50
    # Sixteen convolutions, three linear layers, two numbers a normalized channel.
    assert parameters(deep) == 20_024_384 + 2 * 512 * 513 + 10 * 513 + 2 * 5504
    # The original, less its 7 x 7 kernels and 990 of its outputs.
    assert parameters(residual) == 25_557_032 - 64 * 3 * (49 - 9) - 990 * 2049


def small(norm=NORM):
    torch.manual_seed(0)
    return {
        "vgg": vgg([4, 8], [1, 2], size=8, hidden=[6], norm=norm),
        "resnet": ResNet([4, 8], [1, 2], norm=norm),
    }


def test_vgg_is_its_layers_in_turn():
    net = vgg([4, 8, 8], [1, 2, 1], size=4, hidden=[6])
    convolutions = [layer for layer in net if isinstance(layer, nn.Conv2d)]
    linear = [layer for layer in net if isinstance(layer, nn.Linear)]
    x = torch.randn(5, 3, 4, 4, generator=Stream(0).torch())
    h = F.max_pool2d(F.relu(convolutions[0](x)), 2)
    h = F.max_pool2d(F.relu(convolutions[2](F.relu(convolutions[1](h)))), 2)
    h = F.relu(convolutions[3](h)).flatten(1)  # one pixel is left: nothing to pool
    torch.testing.assert_close(net(x), linear[1](F.relu(linear[0](h))))


def test_a_bottleneck_is_its_formula():
    net = small(norm=lambda channels: nn.Identity())["resnet"]
    first, second = net.stages[1], net.stages[2]
    x = torch.randn(3, 16, 8, 8, generator=Stream(0).torch())
    narrow, middle, wide = (p for name, p in first.branch.named_parameters())
    branch = F.conv2d(F.relu(F.conv2d(F.relu(F.conv2d(x, narrow)), middle, None, 2, 1)), wide)
    shortcut = F.conv2d(x, first.shortcut[0].weight, stride=2)
    torch.testing.assert_close(first(x), F.relu(shortcut + branch))
    y = torch.randn(3, 32, 4, 4, generator=Stream(1).torch())
    torch.testing.assert_close(second(y), F.relu(y + second.branch(y)))


@pytest.mark.parametrize("name", ["vgg", "resnet"])
def test_gradients_are_those_of_finite_differences(name):
    net = small()[name].double()
    x = torch.randn(4, 3, 8, 8, generator=Stream(0).torch(), dtype=torch.float64)
    labels = torch.arange(4)

    has_the_gradient_of_its_differences(
        lambda: F.cross_entropy(net(x), labels), list(net.parameters()), step=1e-6, rel=1e-4
    )


@pytest.mark.parametrize("name", ["vgg", "resnet"])
def test_a_training_step_on_the_full_network(name):
    """As written, on images of 8 pixels: one step lowers the loss of its own batch."""
    torch.manual_seed(0)
    net = {"vgg": partial(vgg, size=8), "resnet": ResNet}[name](norm=NORM)
    x = torch.rand(4, 3, 8, 8, generator=Stream(0).torch())
    labels = torch.arange(4)
    group = Group(name, Stacked([net]), seeds=[0], rates=[1e-3])
    history = train([group], x, labels, Recipe(steps=1, batch=4))[name]
    before, after = history.values["loss"][:, 0]
    assert after < before


@pytest.mark.parametrize("family", [vgg, ResNet])
def test_stages_must_fit(family):
    with pytest.raises(ValueError, match="as many stages, at least one, got 2 and 1"):
        family([4, 8], [1])
