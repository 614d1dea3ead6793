"""Laws for modules, orthogonal weights, gains, rank pre-training, one neuron a point."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from torch import nn

from signalprop import Stream
from signalprop.initializers import (
    gain_schedule,
    initialize_,
    isolable,
    one_neuron_per_point,
    orthogonal_,
    rank_pretraining_,
)
from signalprop.metrics import rank_ratio
from signalprop.models import MLP, conv_net


def test_initialize_fills_layers_from_the_law():
    net = conv_net([32, "relu", 32, "relu"], size=8)
    initialize_(net, "one_sided_uniform", seed=0, bias=True)
    kernel = net[2].weight.detach()
    high = 2 / np.sqrt(32 * 9)
    assert 0 <= float(kernel.min()) < 0.01 * high
    assert 0.99 * high < float(kernel.max()) <= high
    # RANK Fig. 7: the same variance 1/(3d) as the symmetric law.
    assert float(kernel.var()) == pytest.approx(1 / (3 * 32 * 9), rel=0.05)
    assert 0 < float(net[2].bias.detach().min()) < float(net[2].bias.detach().max()) <= high
    initialize_(net, "pytorch_default", seed=0)
    assert float(net[2].bias.abs().max()) == 0
    assert float(net[2].weight.var()) == pytest.approx(1 / (3 * 32 * 9), rel=0.05)


def test_initialize_is_keyed_by_layer():
    one, other = (nn.Sequential(nn.Linear(5, 5), nn.Linear(5, size)) for size in (2, 9))
    for net in (one, other):
        initialize_(net, "he", Stream(3))
    torch.testing.assert_close(one[0].weight, other[0].weight)
    assert not torch.equal(one[0].weight[:2], one[1].weight)
    with pytest.raises(ValueError, match="torch's own layers, got a signalprop Linear"):
        initialize_(MLP(3, 3, 1, 3), "he", 0)


def test_orthogonal_keeps_directions_and_mean_singular_value():
    net = MLP(9, 9, 2, 4, seeds=[0, 1], weights="xavier")
    old = net.hidden[1][0].weight.detach().clone()
    orthogonal_(net)
    new = net.hidden[1][0].weight.detach()
    sizes = torch.linalg.svdvals(new)
    torch.testing.assert_close(sizes, torch.linalg.svdvals(old).mean(-1, True).expand(2, 9))
    # The polar factor of W: W^T times it is symmetric and positive.
    polar = old.mT @ new
    torch.testing.assert_close(polar, polar.mT, rtol=1e-4, atol=1e-6)
    assert bool((torch.linalg.eigvalsh(polar) > 0).all())


def test_orthogonal_of_a_kernel():
    layer = nn.Conv2d(3, 8, 3)
    orthogonal_(layer)
    sizes = torch.linalg.svdvals(layer.weight.detach().flatten(1))
    torch.testing.assert_close(sizes, sizes.mean().expand(8))


def test_gain_schedule():
    torch.testing.assert_close(gain_schedule(4, -0.4)[3], torch.tensor(4.0).double() ** -0.4)
    assert gain_schedule(0, -0.4).shape == (0,)
    with pytest.raises(ValueError, match="depth must be at least 0, got -1"):
        gain_schedule(-1, 1.0)


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
    ],
)
def test_rank_pretraining_bad_arguments(keywords, message):
    with pytest.raises(ValueError, match=message):
        rank_pretraining_(MLP(3, 3, 1, 2), torch.ones(8, 3), **keywords)


@given(seed=st.integers(0, 999), n=st.integers(2, 12), d=st.integers(2, 40))
@settings(max_examples=30, deadline=None)
def test_one_neuron_fires_for_each_point_of_a_sphere(seed, n, d):
    x = Stream(seed).numpy().standard_normal((n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for unit in (True, False):
        weight, bias = one_neuron_per_point(x, unit_response=unit)
        response = np.maximum(x @ weight.T + bias, 0)
        assert np.all((response > 0) == np.eye(n, dtype=bool))
    weight, bias = one_neuron_per_point(x)
    np.testing.assert_allclose(np.diag(x @ weight.T + bias), 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([[1.0, 0.0], [2.0, 0.0]], "1 samples whose own product"),
        ([[1.0, 0.0], [1.0, 0.0]], "2 samples whose own product"),
        ([[1.0, 0.0]], "n >= 2"),
        ([1.0, 0.0], "n >= 2"),
    ],
)
def test_one_neuron_refuses_what_it_cannot_isolate(x, message):
    with pytest.raises(ValueError, match=message):
        one_neuron_per_point(x)


def test_isolable_are_the_corners_of_the_hull():
    x = Stream(0).numpy().standard_normal((60, 2))
    corners = np.zeros(60, bool)
    corners[ConvexHull(x).vertices] = True
    np.testing.assert_array_equal(isolable(x), corners)
    np.testing.assert_array_equal(isolable(1e-9 * x), corners)


def test_isolable_in_high_dimension_and_with_doubles():
    x = Stream(0).numpy().standard_normal((10, 12))
    x[3] = x[7]
    np.testing.assert_array_equal(isolable(x), [i not in (3, 7) for i in range(10)])
    np.testing.assert_array_equal(isolable(np.ones((3, 2))), [False] * 3)
    with pytest.raises(ValueError, match="n >= 2"):
        isolable(np.ones((1, 2)))
