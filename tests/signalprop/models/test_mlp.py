"""Networks side by side against torch's own, one at a time."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from signalprop import Stream, probe, rank
from signalprop.activations import relu
from signalprop.layers import BatchNorm
from signalprop.models import MLP, Affine, Linear
from signalprop.training import Group, Recipe, train

X = torch.randn(7, 6, generator=Stream(0).torch(), dtype=torch.float64)


def reference(net, k, norm):
    """Return network k of a batched MLP as torch's own layers, sharing its numbers."""
    layers = []
    for linear in [*(block[0] for block in net.hidden), net.head]:
        out, size = linear.weight.shape[-2:]
        layer = nn.Linear(size, out, dtype=torch.float64)
        layer.weight.data, layer.bias.data = linear.weight.data[k], linear.bias.data[k]
        layers += [layer]
        layers += [nn.BatchNorm1d(out, affine=False, dtype=torch.float64)] if norm else []
        layers += [nn.ReLU()]
    return nn.Sequential(*layers[: -1 - norm])


@pytest.mark.parametrize("norm", [False, True])
def test_loss_and_gradients_are_those_of_torch(norm):
    layers = [BatchNorm(eps=1e-5), relu] if norm else [relu]
    net = MLP(6, 5, 3, 4, layers, seeds=[0, 3, 3], dtype=torch.float64)
    y = torch.tensor([0, 1, 2, 3, 0, 1, 2])
    outputs = net(X)
    losses = [nn.functional.cross_entropy(o, y) for o in outputs]
    sum(losses).backward()
    for k, loss in enumerate(losses):
        own = reference(net, k, norm)
        expected = nn.functional.cross_entropy(own(X), y)
        torch.testing.assert_close(loss, expected, rtol=1e-12, atol=0)
        expected.backward()
        mine = [linear for linear in net.modules() if isinstance(linear, Linear)]
        theirs = [layer for layer in own if isinstance(layer, nn.Linear)]
        for one, other in zip(mine, theirs, strict=True):
            torch.testing.assert_close(one.weight.grad[k], other.weight.grad, rtol=1e-9, atol=1e-14)
            torch.testing.assert_close(one.bias.grad[k], other.bias.grad, rtol=1e-9, atol=1e-14)


def test_networks_do_not_depend_on_their_neighbours():
    together = MLP(6, 5, 2, 4, seeds=[4, 0, 7], stream=11)(X.float())
    for k, seed in enumerate([4, 0, 7]):
        alone = MLP(6, 5, 2, 4, seeds=[seed], stream=11)(X.float())
        torch.testing.assert_close(alone[0], together[k])
    torch.testing.assert_close(MLP(6, 5, 2, 4, stream=11)(X.float()), together[1])


def test_default_has_the_law_of_torch():
    ours = MLP(100, 100, 1, 100, seeds=range(20))
    weight, bias = ours.head.weight.detach(), ours.head.bias.detach()
    assert float(weight.abs().max()) <= 0.1
    assert float(bias.abs().max()) <= 0.1
    # Uniform on [-0.1, 0.1]: variance 1/300; 2000 biases give it to sqrt(0.8 / 2000) = 2 percent.
    assert float(weight.var()) == pytest.approx(1 / 300, rel=0.02)
    assert float(bias.var()) == pytest.approx(1 / 300, rel=0.12)


def test_states_features_and_depth_zero():
    net = MLP(6, 5, 3, 4, lambda i: [Affine(5, (2,)), torch.tanh], seeds=[0, 1])
    states = net.states(X.float())
    assert [tuple(state.shape) for state in states] == [(2, 7, 5)] * 3
    torch.testing.assert_close(states[-1], net.features(X.float()))
    torch.testing.assert_close(net.head(states[-1]), net(X.float()))
    shallow = MLP(6, 5, 0, 4, bias="none")
    assert shallow.states(X) == []
    torch.testing.assert_close(shallow(X.float()), X.float() @ shallow.head.weight.T)


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((0, 5, 2, 4), {}, "sizes must be at least 1"),
        ((6, 5, -1, 4), {}, "depth at least 0"),
        ((6, 5, 2, 4), {"seeds": []}, "seeds must name at least one"),
        ((6, 5, 2, 4, [Affine(5)]), {}, "layers must be a function of the index"),
        ((6, 5, 2, 4), {"weights": "hee"}, "weights must be a Law or one of"),
    ],
)
def test_bad_arguments(arguments, keywords, message):
    with pytest.raises(ValueError, match=message):
        MLP(*arguments, **keywords)


def test_depth_of_gains():
    gains = np.array([1.0, 0.5])
    net = MLP(6, 6, 2, 4, lambda i: [lambda x: gains[i] * x], weights="orthogonal", bias="none")
    sizes = [float(torch.linalg.matrix_norm(s)) for s in net.states(X.float())]
    norm = float(torch.linalg.matrix_norm(X))
    assert sizes == pytest.approx([norm, 0.5 * norm], rel=1e-5)


@pytest.mark.parametrize("seeds", [None, [0, 1]])
@pytest.mark.parametrize("shape", [(4,), (3, 5), (7, 3, 5), (3, 3, 4)])
def test_inputs_that_do_not_fit_are_named(seeds, shape):
    net, x = MLP(4, 8, 2, 3, seeds=seeds), torch.ones(shape)
    if shape == (3, 3, 4) and seeds is None:
        assert net(x).shape == (3, 3, 3)
        return
    with pytest.raises(ValueError, match=r"x must be \(n, 4\) or .*, got"):
        net(x)


@pytest.mark.parametrize("layers", [torch.nn.ReLU(), [torch.nn.ReLU], lambda i: torch.relu])
def test_layers_that_are_no_list_of_layers_are_refused(layers):
    with pytest.raises(ValueError, match=r"write layers=\[|make one of it"):
        MLP(4, 8, 2, 3, layers)


@pytest.mark.parametrize("depth", [32, 64])
def test_parameters_by_hand(depth):
    """The shape of COND's networks, 3072 inputs and 3000 units, a hundredth as wide."""
    net = MLP(31, 30, depth, 10, seeds=[0, 1])
    each = 32 * 30 + (depth - 1) * 31 * 30 + 31 * 10
    assert sum(p.numel() for p in net.parameters()) == 2 * each
    assert net(torch.ones(5, 31)).shape == (2, 5, 10)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [32, 64])
def test_a_training_step_at_full_width(depth):
    """COND Figures 2 and 3: layers of 3000 units, with batch normalization."""
    net = MLP(3072, 3000, depth, 10, [BatchNorm(eps=1e-5), torch.relu], seeds=[0])
    wide = 3073 * 3000 + (depth - 1) * 3001 * 3000
    assert sum(p.numel() for p in net.parameters()) == wide + 30010
    x = torch.randn(4, 3072, generator=Stream(0).torch())
    group = Group("wide", net, seeds=[0], rates=[1e-4])
    history = train([group], x, torch.arange(4), Recipe(steps=1, batch=4))["wide"]
    before, after = history.values["loss"][:, 0]
    # Gradients grow with depth under batch normalization, so no rate is sure to descend.
    assert math.isfinite(after)
    assert after != before


@pytest.mark.parametrize("depth", [32, 64])
def test_a_training_step_goes_down_the_gradient(depth):
    """Float64: batch normalization makes rounding grow with depth, as it does gradients."""
    norm = [BatchNorm(eps=1e-5), torch.relu]
    net = MLP(31, 30, depth, 10, norm, seeds=[0], dtype=torch.float64)
    x = torch.randn(16, 31, generator=Stream(0).torch(), dtype=torch.float64)
    y = torch.arange(16) % 10
    weights = list(net.parameters())
    before = [p.detach().clone() for p in weights]
    gradients = torch.autograd.grad(nn.functional.cross_entropy(net(x)[0], y), weights)
    rate = 0.01 / max(float(g.abs().max()) for g in gradients)
    train([Group("one", net, seeds=[0], rates=[rate])], x, y, Recipe(steps=1, batch=16))
    for p, old, gradient in zip(weights, before, gradients, strict=True):
        torch.testing.assert_close(p.detach(), old - rate * gradient, rtol=1e-6, atol=1e-8)


def test_types_by_their_names():
    assert MLP(3, 4, 1, 2, dtype="float64").head.weight.dtype == torch.float64
    with pytest.raises(ValueError, match="dtype must be a floating type"):
        MLP(3, 4, 1, 2, dtype="int32")


def test_functions_among_the_layers_have_their_names():
    net = MLP(4, 8, 1, 2, [torch.tanh])
    assert "(1): tanh()" in repr(net)
    with probe(net, [rank]) as seen:
        net(torch.randn(3, 4))
    assert [row["kind"] for row in seen.rows] == ["Linear", "tanh", "Linear"]
