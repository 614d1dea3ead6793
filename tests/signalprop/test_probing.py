import numpy as np
import pytest
import torch
from torch import nn

import signalprop as sp

METRICS = [sp.isometry_gap, sp.rank]


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 7)).double()


X = torch.randn(5, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_rows_are_what_one_measures_by_hand(model):
    with sp.probe(model, METRICS, gradients=True) as p:
        model(X).pow(3).sum().backward()
    first = model[0](X)
    second = torch.tanh(first)
    third = model[2](second)
    states = {"0": first, "1": second, "2": third}
    gradients = torch.autograd.grad(third.pow(3).sum(), list(states.values()))
    expected = {(name, "forward"): h for name, h in states.items()}
    expected |= {(n, "backward"): g for n, g in zip(states, gradients, strict=True)}
    assert [(row["layer"], row["signal"]) for row in p.rows] == [
        *(("0", "forward"), ("1", "forward"), ("2", "forward")),
        *(("2", "backward"), ("1", "backward"), ("0", "backward")),
    ]
    for row in p.rows:
        h = expected[row["layer"], row["signal"]].detach()
        assert row["isometry_gap"] == pytest.approx(float(sp.isometry_gap(h)), rel=1e-9)
        assert row["rank"] == float(sp.rank(h))
        assert (row["samples"], row["features"]) == tuple(h.shape)
    assert [row["kind"] for row in p.rows[:3]] == ["Linear", "Tanh", "Linear"]


def test_the_model_and_its_numbers_are_left_as_they_were(model):
    before = model(X)
    before.sum().backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with sp.probe(model, METRICS, gradients=True) as p:
        during = model(X)
        during.sum().backward()
    count = len(p.rows)
    torch.testing.assert_close(during, before, rtol=0, atol=0)
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=0, atol=0)
    model(X)
    assert len(p.rows) == count
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def test_hooks_go_even_after_an_error(model):
    with pytest.raises(RuntimeError), sp.probe(model, METRICS):
        model(torch.ones(5, 9, dtype=torch.float64))
    assert not any(part._forward_hooks for part in model.modules())


@pytest.mark.parametrize(
    ("net", "shape", "options", "read"),
    [
        (nn.Conv2d(3, 4, 3), (2, 3, 6, 6), {}, (32, 4, "positions")),
        (nn.Conv2d(3, 4, 3), (2, 3, 6, 6), {"reading": "inputs"}, (2, 64, "inputs")),
        (nn.Conv1d(3, 4, 3), (2, 3, 6), {}, (8, 4, "positions")),
        (nn.Linear(3, 4), (2, 6, 3), {}, (12, 4, "positions")),
        (nn.Linear(3, 4), (2, 6, 3), {"channels": 1}, (8, 6, "positions")),
        (nn.LSTM(3, 4, batch_first=True), (2, 6, 3), {}, (12, 4, "positions")),
        (nn.Linear(3, 4), (3,), {}, (4, 1, "inputs")),
    ],
)
def test_what_counts_as_a_sample_is_said(net, shape, options, read):
    with sp.probe(net, {"mean": lambda h: h.mean()}, **options) as p:
        net(torch.randn(shape))
    assert len(p.rows) == 1
    assert tuple(p.rows[0][key] for key in ("samples", "features", "reading")) == read


def test_pixels_are_rows_of_their_channels():
    net = nn.Conv2d(2, 3, 1).double()
    x = torch.randn(2, 2, 2, 2, dtype=torch.float64)
    seen = []
    with sp.probe(net, {"kept": lambda h: seen.append(h.clone()) or 0.0}):
        y = net(x)
    torch.testing.assert_close(seen[0], y.detach().permute(0, 2, 3, 1).reshape(8, 3))


def test_layers_by_name_and_by_class(model):
    for layers, names in ((["1"], ["1"]), ([nn.Linear], ["0", "2"]), (["2", nn.Tanh], ["1", "2"])):
        with sp.probe(model, METRICS, layers=layers) as p:
            model(X)
        assert [row["layer"] for row in p.rows] == names
    with sp.probe(model, METRICS, layers=["Sequential"]) as p:
        model(X)
    assert p.rows[0]["layer"] == "Sequential"


def test_passes_and_calls_are_counted():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.spare = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            return self.inner(self.inner(x))

    net = Twice()
    with sp.probe(net, [sp.rank], gradients=True) as p:
        for _ in range(2):
            net(torch.randn(3, 3)).sum().backward()
    found = [(row["pass"], row["call"], row["signal"]) for row in p.rows]
    once = [(1, "forward"), (2, "forward"), (2, "backward"), (1, "backward")]
    assert found == [(number, *row) for number in (0, 1) for row in once]
    assert p.unseen == ["spare"]


def test_layers_in_place_and_without_gradients():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)).double()
    x = torch.randn(3, 4, dtype=torch.float64)
    with sp.probe(net, {"least": lambda h: h.min()}, gradients=True) as p:
        net(x).sum().backward()
    assert [row["signal"] for row in p.rows].count("backward") == 2
    assert p.rows[0]["least"] == float(net[0](x).detach().min()) < 0 == p.rows[1]["least"]
    with torch.no_grad(), sp.probe(net, [sp.rank], gradients=True) as p:
        net(x)
    assert len(p.rows) == 2


def test_attention_is_seen_as_a_whole():
    net = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).eval()
    with sp.probe(net, [sp.rank], gradients=True) as p:
        net(torch.randn(2, 5, 8)).sum().backward()
    kinds = [row["kind"] for row in p.rows if row["signal"] == "forward"]
    assert "MultiheadAttention" in kinds
    assert not [name for name in p.unseen if "dropout" not in name]
    assert {row["samples"] for row in p.rows} == {10}


def test_half_precision_and_a_frame(model):
    half = nn.Linear(4, 3).to(torch.bfloat16)
    with sp.probe(half, METRICS) as p:
        half(torch.ones(2, 4, dtype=torch.bfloat16))
    assert p.rows[0]["rank"] == 1
    with sp.probe(model, METRICS, gradients=True) as p:
        model(X).sum().backward()
    frame = p.to_frame()
    assert len(frame) == 6
    assert {"layer", "signal", "isometry_gap", "rank"} <= set(frame.columns)
    assert repr(p) == "Probe(Sequential, 6 rows, metrics: isometry_gap, rank)"


def test_a_refusal_names_the_layer_or_stands_in_the_row():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    nn.init.constant_(net[0].weight, -1.0)
    nn.init.constant_(net[0].bias, 0.0)
    x = torch.ones(3, 2)
    with pytest.raises(ValueError, match="must not be zero") as refusal:  # noqa: SIM117
        with sp.probe(net, [sp.orthogonality_gap]):
            net(x)
    assert "at layer '1' of the model" in refusal.value.__notes__[0]
    with sp.probe(net, [sp.orthogonality_gap], strict=False) as p:
        net(x)
    assert np.isnan(p.rows[1]["orthogonality_gap"])
    assert "must not be zero" in p.rows[1]["remark"]


def test_bad_requests_are_named(model):
    with pytest.raises(ValueError, match=r"model must be an nn\.Module"):
        sp.probe(torch.tanh, METRICS)
    with pytest.raises(ValueError, match=r"metrics must be a list.*write \[\.\.\.\]"):
        sp.probe(model, sp.rank)
    for metrics in ([], ["rank"], {}):
        with pytest.raises(ValueError, match="metrics must be functions"):
            sp.probe(model, metrics)
    with pytest.raises(ValueError, match="names of their own"):
        sp.probe(model, [lambda h: 0.0, lambda h: 1.0])
    with pytest.raises(ValueError, match="reading must be one of positions, inputs"):
        sp.probe(model, METRICS, reading="pixels")
    for layers in (["no"], [nn.Conv2d], "0"):
        with pytest.raises(ValueError, match="layers must be"):
            sp.probe(model, METRICS, layers=layers)
    with pytest.raises(ValueError, match="gram must map"), sp.probe(model, [sp.gram]):
        model(X)
    p = sp.probe(model, METRICS)
    with p, pytest.raises(RuntimeError, match="running already"):
        p.__enter__()


def test_networks_side_by_side_have_a_row_each():
    x = torch.randn(5, 4, generator=sp.Stream(0).torch())
    together = sp.MLP(4, 6, 1, 3, seeds=[3, 7], dtype="float64")
    with sp.probe(together, [sp.soft_rank], gradients=True) as seen:
        together(x.double()).square().sum().backward()
    assert {row["samples"] for row in seen.rows} == {5}
    for network, seed in enumerate((3, 7)):
        alone = sp.MLP(4, 6, 1, 3, seeds=[seed], dtype="float64")
        with sp.probe(alone, [sp.soft_rank], gradients=True) as one:
            alone(x.double()).square().sum().backward()
        mine = [row["soft_rank"] for row in seen.rows if row["network"] == network]
        np.testing.assert_allclose(mine, [row["soft_rank"] for row in one.rows], rtol=1e-12)
        assert len(mine) == len(seen.rows) / 2
    stacked = sp.models.Stacked([torch.nn.Linear(4, 3) for _ in range(2)])
    with sp.probe(stacked, [sp.rank]) as seen:
        stacked(x.expand(2, 5, 4))
    assert [row["network"] for row in seen.rows] == [0, 1]
