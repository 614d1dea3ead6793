"""ResNets for small images: parameters as published, a block by hand, Fixup, a training step."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from signalprop import Stream
from signalprop.layers import NormReLU
from signalprop.models import CifarResNet, Stacked, fixup_
from signalprop.training import Group, Recipe, train
from tests.signalprop.models.differences import has_the_gradient_of_its_differences

NORM = partial(nn.BatchNorm2d, track_running_stats=False)


def count(net):
    return sum(p.numel() for p in net.parameters())


def draw(*shape, key=0, **options):
    return torch.randn(*shape, generator=Stream(key).torch(), **options)


@pytest.mark.parametrize(
    ("depth", "published"),
    [(20, 0.27e6), (32, 0.46e6), (110, 1.7e6)],  # He et al. (2016), Table 6
)
def test_parameters_are_as_many_as_published(depth, published):
    with torch.device("meta"):
        net = CifarResNet(depth)
        assert net(torch.empty(2, 3, 32, 32)).shape == (2, 10)
        assert net.features(torch.empty(2, 3, 32, 32)).shape == (2, 64)
    assert count(net) == pytest.approx(published, rel=0.02)
    assert sum(isinstance(part, nn.Conv2d | nn.Linear) for part in net.modules()) == depth


def test_parameters_by_hand_with_and_without_normalization():
    n = 5
    stages = [9 * 16**2 * 2 * n]
    stages += [9 * (c // 2 * c + (2 * n - 1) * c**2) for c in (32, 64)]
    plain = 9 * 3 * 16 + sum(stages) + 65 * 10
    channels = 16 + 2 * n * (16 + 32 + 64)
    assert count(CifarResNet(32, norm=None)) == plain
    assert count(CifarResNet(32)) == plain + 2 * channels
    # Five numbers a block, and one before the first activation and before the head.
    assert count(CifarResNet(32, norm=None, fixup=True)) == plain + 5 * 3 * n + 2


@pytest.mark.parametrize("activation", [nn.ReLU, NormReLU])
def test_a_block_is_its_formula(activation):
    net, phi = CifarResNet(8, width=4, norm=None, activation=activation), activation()
    block = net.blocks[1]
    x = draw(3, 4, 6, 6)
    first, second = block.parameters()
    branch = F.conv2d(phi(F.conv2d(x, first, None, 2, 1)), second, None, 1, 1)
    shortcut = torch.cat([x[:, :, ::2, ::2], torch.zeros(3, 4, 3, 3)], dim=1)
    torch.testing.assert_close(block(x), phi(shortcut + branch))


def test_fixup_scalars_stand_where_they_should():
    net = CifarResNet(8, width=4, norm=None, fixup=True)
    block = net.blocks[0]
    values = torch.linspace(0.1, 0.5, 5)
    scalars = [p for p in block.parameters() if p.ndim == 1]
    with torch.no_grad():
        for p, value in zip(scalars, values, strict=True):
            p.fill_(value)
    before, between, after, scale, last = values
    first, second = (p for p in block.parameters() if p.ndim == 4)
    x = draw(2, 4, 5, 5)
    h = F.relu(F.conv2d(x + before, first, None, 1, 1) + between) + after
    expected = F.relu(x + F.conv2d(h, second, None, 1, 1) * scale + last)
    torch.testing.assert_close(block(x), expected)


def test_fixup_scalars_learn_at_a_rate_of_their_own_and_kernels_do_not():
    nets = [CifarResNet(8, width=4, norm=None, fixup=True, scalar_rate=r) for r in (1.0, 0.1)]
    nets[1].load_state_dict(nets[0].state_dict())
    x = draw(2, 3, 8, 8)
    outputs = [net(x) for net in nets]
    assert torch.equal(*outputs)
    for output in outputs:
        output.square().sum().backward()
    for (name, one), other in zip(nets[0].named_parameters(), nets[1].parameters(), strict=True):
        factor = 0.1 if name.endswith("value") else 1.0
        torch.testing.assert_close(other.grad, factor * one.grad, msg=name)


def test_fixup_begins_as_an_identity_with_small_weights():
    net = fixup_(CifarResNet(20, norm=None, fixup=True), Stream(0).torch())
    x = draw(2, 3, 8, 8, key=1)
    torch.testing.assert_close(net.blocks[:3](net.stem(x)), net.stem(x))
    assert not net(x).any()
    stem, *others = (part.weight for part in net.modules() if isinstance(part, nn.Conv2d))
    assert float(stem.detach().var()) == pytest.approx(2 / 27, rel=0.2)
    variance = float(others[-2].detach().var())
    assert variance == pytest.approx(2 / (9 * 64) / 9, rel=0.03)  # nine blocks
    assert not others[-1].any()


def networks():
    torch.manual_seed(0)
    return {
        "batch norm": CifarResNet(14, width=4, norm=NORM),
        "NormReLU": CifarResNet(14, width=4, norm=None, activation=NormReLU),
        "Fixup": fixup_(CifarResNet(14, width=4, norm=None, fixup=True)),
    }


@pytest.mark.parametrize("name", ["batch norm", "NormReLU", "Fixup"])
def test_gradients_are_those_of_finite_differences(name):
    net = networks()[name].double()
    x, labels = draw(4, 3, 8, 8, dtype=torch.float64), torch.arange(4)
    weights = list(net.parameters())
    with torch.no_grad():  # away from zero, where Fixup begins
        for p in weights:
            p += 0.05 * torch.randn_like(p)
    has_the_gradient_of_its_differences(
        lambda: F.cross_entropy(net(x), labels), weights, step=1e-7, rel=1e-3
    )


@pytest.mark.parametrize("name", ["batch norm", "NormReLU", "Fixup"])
def test_a_training_step_lowers_the_loss_of_its_batch(name):
    x, labels = draw(8, 3, 8, 8), torch.arange(8)
    group = Group(name, Stacked([networks()[name]]), seeds=[0], rates=[0.01])
    history = train([group], x, labels, Recipe(steps=1, batch=8))[name]
    before, after = history.values["loss"][:, 0]
    assert after < before


@pytest.mark.slow
@pytest.mark.parametrize("depth", [32, 110])
@pytest.mark.parametrize("name", ["batch norm", "NormReLU", "Fixup"])
def test_a_training_step_of_the_full_network(name, depth):
    torch.manual_seed(0)
    options = {
        "batch norm": {"norm": NORM},
        "NormReLU": {"norm": None, "activation": NormReLU},
        "Fixup": {"norm": None, "fixup": True},
    }[name]
    net = CifarResNet(depth, **options)
    net = fixup_(net) if name == "Fixup" else net
    x, labels = draw(4, 3, 32, 32), torch.arange(4)
    group = Group(name, Stacked([net]), seeds=[0], rates=[1e-3])
    before, after = train([group], x, labels, Recipe(steps=1, batch=4))[name].values["loss"][:, 0]
    assert after < before


def test_depths_must_fit():
    with pytest.raises(ValueError, match="6n \\+ 2"):
        CifarResNet(18)
    with pytest.raises(ValueError, match="norm=None"):
        CifarResNet(8, fixup=True)


@pytest.mark.parametrize("net", [CifarResNet(8, width=2, norm=None), torch.nn.Linear(2, 2)])
def test_fixup_is_for_networks_made_for_it(net):
    with pytest.raises(ValueError, match=f"with fixup=True, got {type(net).__name__}"):
        fixup_(net)
