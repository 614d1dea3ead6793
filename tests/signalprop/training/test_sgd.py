"""Descent during the backward pass against torch.optim.SGD; adaptive clipping."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from signalprop import Stream
from signalprop.models import MLP
from signalprop.training import accuracy, adaptive_clip, clipped_share, cross_entropy, descending

X = torch.randn(9, 5, generator=Stream(0).torch(), dtype=torch.float64)
Y = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2])


def losses(net):
    return cross_entropy(net(X), Y.expand(len(net.head.weight), 9))


def test_descent_is_that_of_torch():
    rates = [0.3, 0.03]
    net = MLP(5, 6, 2, 3, seeds=[0, 1], dtype=torch.float64)
    with descending(net, torch.tensor(rates, dtype=torch.float64)):
        for _ in range(10):
            losses(net).sum().backward()
    assert all(p.grad is None for p in net.parameters())
    for k, rate in enumerate(rates):
        alone = MLP(5, 6, 2, 3, seeds=[k], dtype=torch.float64)
        optimizer = torch.optim.SGD(alone.parameters(), lr=rate)
        for _ in range(10):
            optimizer.zero_grad()
            losses(alone).sum().backward()
            optimizer.step()
        for one, other in zip(net.parameters(), alone.parameters(), strict=True):
            torch.testing.assert_close(one[k], other[0], rtol=1e-11, atol=1e-13)


def test_hooks_end_with_the_context():
    net = MLP(5, 6, 1, 3, seeds=[0])
    with pytest.raises(KeyError), descending(net, torch.tensor([1.0])):
        raise KeyError
    weight = net.head.weight.detach().clone()
    cross_entropy(net(X.float()), Y[None]).sum().backward()
    torch.testing.assert_close(net.head.weight, weight)
    assert net.head.weight.grad is not None


def test_clipped_descent_shortens_each_parameter_of_each_network():
    net = MLP(5, 6, 1, 3, seeds=[0, 1], dtype=torch.float64)
    old = [p.detach().clone() for p in net.parameters()]
    gradients = torch.autograd.grad(losses(net).sum(), list(net.parameters()))
    clip = 0.05
    with descending(net, torch.tensor([1.0, 1.0]), clip):
        losses(net).sum().backward()
    for before, gradient, after in zip(old, gradients, net.parameters(), strict=True):
        for k in range(2):
            row = [t[k].reshape(1, -1) for t in (gradient, before)]
            step = adaptive_clip(*row, clip).reshape(before[k].shape)
            torch.testing.assert_close(after[k], before[k] - step)


W = np.array([[3.0, 0.0], [0.0, 4.0]])  # Frobenius norm 5
G = np.array([[0.0, 1.0], [1.0, 0.0]]) / np.sqrt(2)  # Frobenius norm 1


@pytest.mark.parametrize(
    ("gradient", "weight", "expected"),
    [
        (0.4 * G, W, 0.4 * G),  # below the threshold 0.1 * 5: left alone
        (2.0 * G, W, 0.5 * G),  # above: scaled to it
        (2.0 * G, 0 * W, 1e-3 * G),  # a zero weight counts as 1e-2
        (0.0 * G, W, 0.0 * G),
    ],
)
def test_clip_branches(gradient, weight, expected):
    np.testing.assert_allclose(adaptive_clip(gradient, weight, 0.1), expected, rtol=1e-12)


def test_clip_is_continuous_at_the_threshold():
    lengths = 0.5 + np.linspace(-1e-9, 1e-9, 21)
    clipped = adaptive_clip(lengths[:, None, None] * G, np.tile(W, (21, 1, 1)), 0.1)
    norms = np.linalg.norm(clipped, axis=(1, 2))
    np.testing.assert_allclose(norms, np.minimum(lengths, 0.5), rtol=1e-14)
    assert np.abs(np.diff(norms)).max() < 2e-10


def test_clipped_share_counts_what_descent_shortens():
    net = MLP(5, 6, 2, 3, seeds=[0, 1], dtype=torch.float64)
    gradients = torch.autograd.grad(losses(net).sum(), list(net.parameters()))
    pairs = list(zip(gradients, net.parameters(), strict=True))
    ratios = torch.stack([(g.flatten(1).norm(dim=1) / p.flatten(1).norm(dim=1)) for g, p in pairs])
    middle = float(ratios.detach().median())
    share = clipped_share(net, X.expand(2, *X.shape), Y.expand(2, 9), middle)
    torch.testing.assert_close(share, (ratios > middle).float().mean(0))
    assert net.head.weight.grad is None


class Reached(nn.Module):
    """Networks ``(2,)`` whose output does not depend on ``hidden``, for a ReLU is off."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Parameter(torch.full((2, 3), -1.0))
        self.bias = nn.Parameter(torch.zeros(2, 3))
        self.none = nn.Parameter(torch.zeros(2, 0))

    def forward(self, x):
        off = (x * self.hidden[:, None]).relu()
        return off + self.bias[:, None] + self.none.sum()


def test_what_has_no_gradient_or_no_entries_is_not_clipped():
    net, x, y = Reached(), torch.ones(2, 4, 3), torch.zeros(2, 4, dtype=torch.int64)
    for ratio, share in ((1e-6, 1 / 3), (1e6, 0.0)):
        torch.testing.assert_close(clipped_share(net, x, y, ratio), torch.full((2,), share))
    with descending(net, torch.ones(2), clip=1e-6):
        cross_entropy(net(x), y).sum().backward()
    torch.testing.assert_close(net.hidden.detach(), torch.full((2, 3), -1.0))
    torch.testing.assert_close(net.bias.detach().norm(dim=1), torch.full((2,), 1e-8))


@given(
    size=st.floats(1e-6, 1e6),
    weight=st.floats(0, 1e3),
    ratio=st.floats(1e-3, 10),
    seed=st.integers(0, 99),
)
@settings(max_examples=50, deadline=None)
def test_clip_keeps_the_direction_and_the_bound(size, weight, ratio, seed):
    g, w = (Stream(seed).numpy(name).standard_normal((3, 4)) for name in ("g", "w"))
    clipped = adaptive_clip(size * g, weight * w, ratio)
    length = np.linalg.norm(clipped)
    limit = ratio * max(weight * np.linalg.norm(w), 1e-2)
    assert length == pytest.approx(min(limit, size * np.linalg.norm(g)), rel=1e-9)
    np.testing.assert_allclose(clipped / length, g / np.linalg.norm(g), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    "arguments", [(G, W, 0.0), (G, W, float("nan")), (G, W[:1], 0.1), (G[0], W[0], 0.1)]
)
def test_clip_bad_input(arguments):
    with pytest.raises(ValueError, match="ratio must be positive, gradient and weight"):
        adaptive_clip(*arguments)


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [
        (torch.float64, [(1e200, 1.0), (1e200, 1e200), (1e-200, 1e-200), (1e-300, 0.0)]),
        (torch.float64, [(1e308, 1e308), (1e308, 0.0), (1e300, 1e-300)]),
        (torch.float32, [(1e30, 1.0), (1e30, 1e30), (1e-30, 1e-30), (3e38, 1e-30)]),
    ],
)
def test_clip_squares_nothing_that_leaves_the_floats(dtype, sizes):
    g, w = (torch.tensor(a, dtype=dtype) for a in (2 * G, W / 5))
    for size, weight in sizes:
        limit = min(0.1 * max(weight, 1e-2), 2 * size)
        clipped = adaptive_clip(size / 2 * g, weight * w, 0.1)
        torch.testing.assert_close(clipped, min(limit, size) / 2 * g, rtol=1e-5, atol=0)


def test_an_empty_gradient_has_no_length():
    with pytest.raises(ValueError, match=r"of one shape, got 1.0, \(0, 2\) and \(0, 2\)"):
        adaptive_clip(np.ones((0, 2)), np.ones((0, 2)), 1.0)


def test_loss_and_accuracy_are_per_network():
    logits = torch.randn(3, 9, 4, generator=Stream(0).torch())
    labels = torch.randint(4, (3, 9), generator=Stream(1).torch())
    for k in range(3):
        expected = torch.nn.functional.cross_entropy(logits[k], labels[k])
        torch.testing.assert_close(cross_entropy(logits, labels)[k], expected)
        share = (logits[k].argmax(1) == labels[k]).float().mean()
        torch.testing.assert_close(accuracy(logits, labels)[k], share)
