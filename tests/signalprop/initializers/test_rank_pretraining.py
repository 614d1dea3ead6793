"""Rank pre-training: the ratio rises by gradient steps, each network by itself."""

import pytest
import torch

from signalprop import Stream
from signalprop.initializers import (
    rank_pretraining_,
)
from signalprop.metrics import rank_ratio
from signalprop.models import MLP


@pytest.mark.parametrize("objective", ["activations", "preactivations"])
def test_rank_pretraining_raises_the_ratio_and_does_not_mix_networks(objective):
    x = torch.randn(200, 16, generator=Stream(0).torch())
    together, alone = (MLP(16, 16, 6, 3, seeds=seeds) for seeds in ([0, 1, 2], [1]))
    before = rank_ratio(together.features(x)).detach()
    head = together.head.weight.clone()
    for net in (together, alone):
        rank_pretraining_(net, x, 40, batch=64, objective=objective)
    after = rank_ratio(together.features(x)).detach()
    assert bool((after > before + 0.3).all())
    torch.testing.assert_close(
        alone.hidden[2][0].weight[0], together.hidden[2][0].weight[1], rtol=1e-2, atol=1e-3
    )
    torch.testing.assert_close(together.head.weight, head)


def test_rank_pretraining_takes_gradient_steps():
    x = torch.randn(50, 4, generator=Stream(0).torch(), dtype=torch.float64)
    net = MLP(4, 4, 1, 2, dtype=torch.float64)
    weight = net.hidden[0][0].weight.detach().clone()
    bias = net.hidden[0][0].bias.detach()
    rank_pretraining_(net, x, 1, rate=1e-6, batch=50)
    change = (net.hidden[0][0].weight.detach() - weight) / 1e-6
    bump = torch.zeros_like(weight)
    bump[1, 2] = 1e-6
    ratios = [float(rank_ratio(torch.relu(x @ w.T + bias))) for w in (weight + bump, weight - bump)]
    assert float(change[1, 2]) == pytest.approx((ratios[0] - ratios[1]) / 2e-6, rel=1e-3)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"steps": -1}, "steps must be at least 0"),
        ({"steps": 1, "batch": 9}, "batch in 1..8, got 1 and 9"),
        ({"steps": 1, "batch": 8, "objective": "rank"}, "objective must be one of"),
        ({"steps": 1, "batch": 8, "rate": 1e300}, "rate must be at least 0 and at most"),
        ({"steps": 1, "batch": 8, "rate": float("nan")}, "rate must be at least 0 and at most"),
    ],
)
def test_rank_pretraining_bad_arguments(keywords, message):
    with pytest.raises(ValueError, match=message):
        rank_pretraining_(MLP(3, 3, 1, 2), torch.ones(8, 3), **keywords)


def test_steps_of_no_size_lead_nowhere():
    x = torch.randn(20, 4, generator=Stream(0).torch())
    net, same = MLP(4, 8, 3, 2), MLP(4, 8, 3, 2)
    rank_pretraining_(net, x, 5, rate=0.0, batch=10)
    for one, other in zip(net.parameters(), same.parameters(), strict=True):
        assert torch.equal(one, other)


def test_rank_pretraining_names_the_rate_at_which_layers_diverge():
    x = torch.randn(20, 4, generator=Stream(0).torch())
    with pytest.raises(ValueError, match="rate must be so small that all layers stay finite"):
        rank_pretraining_(MLP(4, 8, 3, 2), x, 5, rate=1e38, batch=10)
    with pytest.raises(ValueError, match="inputs must be finite"):
        rank_pretraining_(MLP(4, 8, 3, 2), x / 0, 5, batch=10)
