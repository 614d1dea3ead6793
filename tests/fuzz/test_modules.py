"""What sets and measures the weights of networks: refused in words, or the weights it should be."""

import math

import numpy as np
import torch
from hypothesis import strategies as st
from torch import nn

import signalprop as sp
from signalprop import initializers, layers, metrics, models, weights

from .budget import fuzz
from .test_options import attempt, numbers, sizes

NUMBERS = torch.randn(2, 3, 5, 5, generator=sp.Stream(0).torch())
IMAGES = {"two": NUMBERS, "one": NUMBERS[:1], "none": NUMBERS[:0]}


def network(kind, scale=1.0):
    """Return a small network for images whose weights are as they are made, times ``scale``."""
    torch.manual_seed(0)
    parts = {
        "linear": [nn.Flatten(), nn.Linear(75, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU()],
        "normalized": [nn.Flatten(), nn.Linear(75, 4), nn.BatchNorm1d(4), nn.ReLU()],
        "convolutions": [nn.Conv2d(3, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(27, 2)],
        "no weights": [nn.Flatten()],
        "dropout": [nn.Flatten(), nn.Dropout(), nn.Linear(75, 2)],
    }
    net = nn.Sequential(*parts[kind])
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(scale)
    return net


nets = st.sampled_from(["linear", "normalized", "convolutions", "no weights", "dropout"])
images = st.sampled_from(sorted(IMAGES))


def finite(net):
    return all(bool(torch.isfinite(p).all()) for p in net.parameters())


@fuzz(
    kind=nets,
    law=st.sampled_from(["he", "xavier", "orthogonal", "pytorch_default", "none"]),
    seed=st.integers(-9, 9),
    bias=st.booleans(),
)
def test_weights_drawn_from_a_law(kind, law, seed, bias):
    drawn, again = network(kind), network(kind, 2.0)
    if attempt(lambda: initializers.initialize_(drawn, law, seed, bias) or True):
        initializers.initialize_(again, law, seed, bias)
        layers_of = zip(drawn.modules(), again.modules(), strict=True)
        for one, other in layers_of:
            if isinstance(one, nn.Linear | nn.Conv2d):
                assert torch.equal(one.weight, other.weight)
                assert torch.equal(one.bias, other.bias)
                assert bias or not one.bias.any()


LAWS = {"xavier": weights.xavier, "pytorch_default": weights.pytorch_default}


@fuzz(name=st.sampled_from(sorted(LAWS)), shape=st.lists(sizes, min_size=1, max_size=4))
def test_named_laws(name, shape):
    tensor = torch.zeros([max(size, 0) for size in shape])
    law = LAWS[name]()
    assert weights.as_law(name) == law
    filled = attempt(law.fill_, tensor, sp.Stream(0))
    if filled is not None:
        assert filled is tensor
        assert bool(torch.isfinite(tensor).all())
        assert bool(tensor.any())


@fuzz(shape=st.tuples(sizes, sizes), value=numbers, extra=st.integers(-1, 1))
def test_laws_of_ones_own(shape, value, extra):
    law = weights.own(lambda outputs, inputs, _: np.full((outputs, inputs + extra), value))
    drawn = attempt(law.sample, *shape, sp.Stream(0).runs(2))
    if drawn is not None:
        assert bool((drawn == value).all())
        assert drawn.shape == (2, *shape)


@fuzz(kind=nets, scale=numbers)
def test_weights_made_orthogonal(kind, scale):
    net = network(kind, scale)
    sums = [
        torch.linalg.svdvals(p.detach().flatten(1)).sum()
        for p in net.parameters()
        if p.ndim > 1 and bool(torch.isfinite(p).all())
    ]
    if attempt(lambda: initializers.orthogonal_(net) or True):
        made = [torch.linalg.svdvals(p.detach().flatten(1)) for p in net.parameters() if p.ndim > 1]
        for values, total in zip(made, sums, strict=True):
            torch.testing.assert_close(values, (total / len(values)).expand(len(values)))


@fuzz(kind=nets, of=images, size=numbers, scale=st.sampled_from(["printed", "measured", "none"]))
def test_weights_that_undo_a_batch(kind, of, size, scale):
    net, x = network(kind), size * IMAGES[of]
    made = attempt(lambda: initializers.iterative_orthogonalization_(net, x, scale=scale) or True)
    assert net.training
    assert not made or finite(net)


@fuzz(
    steps=st.integers(-1, 3),
    rate=st.one_of(st.floats(0.01, 1), numbers),
    batch=sizes,
    scale=numbers,
    depth=st.integers(0, 2),
    objective=st.sampled_from(["activations", "preactivations", "none"]),
)
def test_rank_pretraining(steps, rate, batch, scale, depth, objective):
    net = models.MLP(4, 5, depth, 2)
    head = net.head.weight.detach().clone()
    x = scale * NUMBERS.reshape(-1)[:40].reshape(10, 4)
    options = {"rate": rate, "batch": batch, "objective": objective}
    if attempt(lambda: initializers.rank_pretraining_(net, x, steps, **options) or True):
        assert finite(net)
    assert torch.equal(net.head.weight, head)


@fuzz(depth=st.sampled_from([8, 14]), width=st.integers(1, 3), scale=numbers)
def test_fixup(depth, width, scale):
    net = models.CifarResNet(depth, width=width, norm=None, fixup=True)
    with torch.no_grad():
        for parameter in net.head.parameters():
            parameter.mul_(scale)
    assert models.fixup_(net) is net
    assert finite(net)
    assert not net(NUMBERS).any()


@fuzz(kind=nets, of=images, scale=numbers, loss=st.sampled_from(["sum", "each", "apart"]))
def test_gradients_of_weights(kind, of, scale, loss):
    net = network(kind)
    outputs = attempt(lambda: net.eval()(IMAGES[of]))
    each = (scale * outputs).flatten(1).sum(1)
    if loss == "apart":
        each = torch.arange(len(each)) * torch.ones(len(each), requires_grad=True)
    norms = attempt(metrics.gradient_norms, net, each if loss == "each" else each.sum())
    for norm in (norms or {}).values():
        assert norm >= 0 or not bool(torch.isfinite(each).all())
    aligned = attempt(metrics.alignment_by_layer, net, each)
    for value in (aligned or {}).values():
        assert 0 <= value <= 1 or math.isnan(value)
    assert all(p.grad is None for p in net.parameters())


@fuzz(kind=nets, of=images)
def test_preactivations(kind, of):
    seen = attempt(models.preactivations, network(kind).eval(), IMAGES[of])
    if seen is not None:
        assert [h.ndim for h in seen] == [2] * len(seen)
        assert len(seen) == {"linear": 2}.get(kind, 1)


@fuzz(
    kind=nets,
    n=st.integers(0, 2),
    scale=numbers,
    outputs=st.sampled_from(["mean", "all", "none"]),
    budget=numbers,
)
def test_tangent_kernels(kind, n, scale, outputs, budget):
    net, x = network(kind, scale).eval(), NUMBERS[:n]
    kernel = attempt(sp.empirical_ntk, net, x, outputs, budget)
    if kernel is None:
        return
    assert kernel.shape[:2] == (n, n)
    assert bool(torch.isfinite(kernel).all())
    torch.testing.assert_close(kernel, kernel.swapaxes(0, 1).mT if outputs == "all" else kernel.mT)


@fuzz(shape=st.tuples(sizes, sizes, st.integers(-1, 3)), given=st.lists(sizes, max_size=5))
def test_stacks_of_convolutions(shape, given):
    net = attempt(models.ConvStack, *shape)
    if net is None:
        return
    x = torch.ones([max(size, 0) for size in given])
    states = attempt(net.states, x)
    if states is not None:
        assert len(states) == shape[2]
        assert all(h.shape == (len(x), shape[1], *x.shape[-2:]) for h in states)
        assert all(bool(torch.isfinite(h).all()) for h in states)


@fuzz(
    sides=st.tuples(sizes, sizes),
    count=st.integers(0, 3),
    bias=st.sampled_from(["drawn", "zero", "none", ""]),
    given=st.lists(sizes, max_size=4),
)
def test_linear_and_affine_layers(sides, count, bias, given):
    x = torch.ones([max(size, 0) for size in given])
    generators = sp.Stream(0).runs(count) if count else sp.Stream(0).numpy()
    linear = attempt(models.Linear, *sides, weights.he(), generators, bias)
    y = None if linear is None else attempt(linear, x)
    if y is not None:
        assert y.shape[-2:] == (x.shape[-2], sides[1])
        assert bool(torch.isfinite(y).all())
    affine = attempt(models.Affine, sides[0])
    z = None if affine is None else attempt(affine, x)
    assert z is None or torch.equal(z, x)


@fuzz(
    widths=st.lists(st.integers(1, 3), max_size=3),
    how=st.sampled_from(["auto", "together", "in turn", ""]),
    n=st.integers(0, 3),
)
def test_stacked_modules(widths, how, n):
    net = attempt(models.Stacked, [nn.Linear(3, width) for width in widths], how)
    if net is None:
        return
    x = torch.ones(len(widths), n, 3)
    assert net(x).shape == (len(widths), n, widths[0])
    for k, one in enumerate(net.each()):
        torch.testing.assert_close(net(x)[k], one(x[k]))


MODULES = {
    "BatchNorm2d": lambda a: layers.BatchNorm2d(eps=a),
    "FrobeniusNorm": lambda a: layers.FrobeniusNorm(),
    "NormReLU": lambda a: layers.NormReLU(threshold=a),
    "Recenter": lambda a: layers.Recenter(),
    "Residual": lambda a: layers.Residual(nn.Tanh(), gamma=a),
}


@fuzz(
    name=st.sampled_from(sorted(MODULES)),
    a=st.one_of(st.floats(-3, 3), numbers),
    shape=st.lists(st.integers(0, 4), max_size=5),
    scale=st.sampled_from([0.0, 1.0, 1e-30, 1e30]),
)
def test_layers_as_modules(name, a, shape, scale):
    layer = attempt(MODULES[name], a)
    if layer is None or abs(a) > 1e7:
        return
    x = scale * torch.randn(shape, generator=sp.Stream(0).torch())
    y = attempt(layer, x)
    if y is not None:
        assert y.shape == x.shape
        assert bool(torch.isfinite(y).all())
