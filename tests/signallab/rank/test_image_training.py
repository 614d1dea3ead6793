"""Training of convolutional networks: draws, a run by hand, the ratio of a layer."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

import signalprop as sp
from signallab.rank import image_training as lab
from signalprop.random import Stream

MAKE = partial(sp.models.vgg, [4, 4], [1, 2], size=8, hidden=[6], norm=lab.BATCH_NORM)


@pytest.fixture(scope="module")
def setting():
    """Thirty-two random images of eight pixels, ten classes."""
    x = torch.randn(32, 3, 8, 8, generator=Stream(0).torch())
    labels = torch.arange(32) % 10
    return lab.Setting(
        x, labels, Stream(1), batch=8, iterations=6, rate=0.05, runs=2, probe=16, records=3
    )


def build(setting, run):
    return lab.drawn(setting, MAKE, "pytorch_default", run)


def test_draws_are_keyed_by_their_names_and_biases_are_drawn(setting):
    one, again, other = (build(setting, run) for run in (0, 0, 1))
    torch.testing.assert_close(one[0].weight, again[0].weight)
    assert not torch.equal(one[0].weight, other[0].weight)
    assert bool(one[0].bias.any())
    torch.testing.assert_close(one[1].weight, torch.ones(4))  # the scale of the normalization
    positive = lab.drawn(setting, MAKE, "one_sided_uniform", 0)
    torch.testing.assert_close(
        positive[0].weight - one[0].weight, torch.full((4, 3, 3, 3), 27**-0.5)
    )


def test_training_is_gradient_descent_by_hand(setting):
    plans = [
        lab.Plan("slow", partial(build, setting), 0.01),
        lab.Plan("set", partial(build, setting)),
    ]
    found = lab.trained(setting, plans, {"r": lab.ratio_at(0)})
    assert list(found.columns) == ["network", "run", "iteration", "loss", "accuracy", "r"]
    assert sorted(found["iteration"].unique()) == [0, 2, 4, 6]
    net = build(setting, 1)
    order = sp.training.batches(setting.stream.child("training"), [1], 32, 8)
    for _, chosen in zip(range(6), order, strict=False):
        loss = nn.functional.cross_entropy(
            net(setting.images[chosen[0]]), setting.labels[chosen[0]]
        )
        gradients = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(net.parameters(), gradients, strict=True):
                parameter -= 0.05 * gradient
    with torch.no_grad():
        parts = setting.images[:16].split(8), setting.labels[:16].split(8)
        losses = [nn.functional.cross_entropy(net(x), y) for x, y in zip(*parts, strict=True)]
        first = [sp.models.preactivations(net, x)[0].double() for x in parts[0]]
    row = found.query("network == 'set' and run == 1 and iteration == 6").iloc[0]
    assert float(row["loss"]) == pytest.approx(float(np.mean(losses)), rel=1e-4)
    expected = np.mean([float(sp.rank_ratio(h)) for h in first])
    assert float(row["r"]) == pytest.approx(expected, rel=1e-4)
    slow = found.query("network == 'slow' and run == 1 and iteration == 6").iloc[0]
    assert float(slow["loss"]) != pytest.approx(float(row["loss"]), rel=1e-4)


def test_layers_of_the_ratio_count_from_the_end_if_negative(setting):
    nets = [build(setting, run) for run in range(2)]
    x = setting.images[None, :8].expand(2, -1, -1, -1, -1)
    with torch.no_grad():
        found = lab.ratio_at(-1)(sp.models.Stacked(nets), x, setting.labels[:8])
        last = [sp.models.preactivations(net, setting.images[:8])[-1].double() for net in nets]
    expected = [float(sp.rank_ratio(h)) for h in last]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
