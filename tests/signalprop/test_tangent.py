"""The empirical tangent kernel against torch.func's Jacobian of everything."""

import pytest
import torch
from torch import nn

import signalprop as sp
from signalprop.tangent import empirical_ntk


class Attention(nn.Module):
    """A block that calls one Linear twice and uses another only through its weight."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.norm = nn.LayerNorm(6)
        self.shared = nn.Linear(6, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        y = self.norm(x + self.attention(x, x, x, need_weights=False)[0])
        y = self.shared(torch.tanh(self.shared(y)))
        return self.head(y.mean(1))


def convolutional():
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, stride=2, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Conv2d(4, 4, 3, groups=2, bias=False),
        nn.Conv2d(4, 3, 2, padding=1, dilation=2),
        nn.GELU(),
        nn.Flatten(),
        nn.LazyLinear(3),
    ).eval()


def dense():
    return nn.Sequential(
        nn.Linear(5, 7),
        nn.ReLU(inplace=True),
        nn.Linear(7, 7, bias=False),
        nn.Tanh(),
        nn.Linear(7, 3),
    )


def by_torch_func(model, x):
    parameters = {k: v.detach() for k, v in model.named_parameters() if v.requires_grad}

    def outputs(p):
        return torch.func.functional_call(model, p, (x,)).flatten(1)

    rows = torch.cat([j.flatten(2) for j in torch.func.jacrev(outputs)(parameters).values()], -1)
    return torch.einsum("ncp,mdp->nmcd", rows, rows)


CASES = {
    "dense": (dense, (4, 5)),
    "sequence": (
        lambda: nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Flatten(), nn.Linear(12, 3)),
        (4, 3, 5),
    ),
    "convolutional": (convolutional, (4, 2, 9, 9)),
    "attention": (Attention, (4, 3, 6)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("budget", [1e9, 3000.0])
def test_against_torch_func(case, budget):
    torch.manual_seed(0)
    make, shape = CASES[case]
    model = make().double()
    x = torch.randn(shape, dtype=torch.float64)
    model(x)
    exact = by_torch_func(model, x)
    ours = empirical_ntk(model, x, outputs="all", budget=budget)
    torch.testing.assert_close(ours, exact, rtol=1e-10, atol=1e-10)
    mean = exact.diagonal(dim1=2, dim2=3).mean(-1)
    torch.testing.assert_close(empirical_ntk(model, x, budget=budget), mean, rtol=1e-10, atol=1e-10)
    assert all(p.grad is None for p in model.parameters())
    assert not ours.requires_grad  # no graph is kept
    assert not any(module._forward_hooks for module in model.modules())


def test_frozen_and_tied_parameters():
    torch.manual_seed(1)
    model = dense().double()
    model[0].weight.requires_grad_(False)
    x = torch.randn(4, 5, dtype=torch.float64)
    torch.testing.assert_close(empirical_ntk(model, x, "all"), by_torch_func(model, x))
    tied = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 5)).double()
    tied[2].weight = tied[0].weight
    torch.testing.assert_close(empirical_ntk(tied, x, "all"), by_torch_func(tied, x))


def test_wide_networks_come_to_the_infinite_kernel():
    """He weights, in torch's parametrization: each weight's gradient has its own variance."""
    torch.manual_seed(2)
    width, d = 4096, 6
    x = torch.randn(5, d, dtype=torch.float64)
    first, last = nn.Linear(d, width, bias=False), nn.Linear(width, 1, bias=False)
    model = nn.Sequential(first, nn.ReLU(), last).double()
    nn.init.normal_(first.weight)
    nn.init.normal_(last.weight)
    ours = empirical_ntk(model, x) / width
    exact = sp.ntk(x @ x.T, sp.activations.relu, depth=1)
    assert (ours - exact).abs().max() < 0.15 * exact.abs().max()


def test_what_has_no_kernel_is_refused():
    x = torch.randn(4, 5)
    with pytest.raises(ValueError, match="1 mixes the samples in training mode"):
        empirical_ntk(nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)), x)
    with pytest.raises(ValueError, match="must not depend on the others"):
        empirical_ntk(nn.Sequential(nn.Linear(5, 40), nn.Dropout()), x)
    with pytest.raises(ValueError, match="budget must be positive"):
        empirical_ntk(dense(), x, budget=0)
    with pytest.raises(ValueError, match='outputs must be "mean" or "all"'):
        empirical_ntk(dense(), x, outputs="sum")


@pytest.mark.parametrize(
    "model",
    [
        nn.Linear(5, 2),
        nn.Sequential(nn.Unflatten(1, (1, 5, 1)), nn.Conv2d(1, 2, 1), nn.Flatten()),
        nn.Sequential(nn.Linear(5, 4), nn.LayerNorm(4)),
    ],
)
def test_a_budget_may_be_without_end(model):
    x = torch.randn(4, 5)
    endless = empirical_ntk(model, x, budget=float("inf"))
    torch.testing.assert_close(endless, empirical_ntk(model, x))
