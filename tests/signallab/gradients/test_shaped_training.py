"""Shaped networks in training: data, a step by hand, gaps and gradients, how far weights move."""

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.gradients import shaped_training as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def setting():
    draw = Stream(0).torch()
    x, test_x = (torch.randn(n, 20, generator=draw) for n in (64, 32))
    data = lab.Data(x, (x[:, 0] > 0).long(), test_x, (test_x[:, 0] > 0).long())
    return lab.Setting(data, 12, Stream(1), batch=16, epochs=2, rate=0.2, runs=2, probe=32)


@pytest.fixture(scope="module")
def found(setting):
    scores = {**sp.training.METRICS, **lab.over_layers(16)}
    return lab.trained(setting, ["tanh", "identity"], [3], scores)


def by_hand(weights, x, exponent=0.4, phi=np.tanh):
    for layer, w in enumerate(weights[:-1]):
        h = x @ w.T
        h = (h - h.mean(0)) / np.sqrt(h.var(0) + 1e-5)
        x = phi((layer + 1) ** -exponent * h)
    return x @ weights[-1].T


def test_networks_are_the_shaped_ones_of_the_document(setting):
    net = lab._networks(setting, "tanh", 3)
    weights = [p.detach()[1].double().numpy() for p in net.parameters()]
    assert [w.shape for w in weights] == [(12, 20), (12, 12), (12, 12), (2, 12)]
    x = setting.data.x[:16]
    expected = by_hand(weights, x.double().numpy())
    np.testing.assert_allclose(net(x)[1].detach().numpy(), expected, atol=1e-5)
    for w in weights:
        np.testing.assert_allclose(w @ w.T, np.eye(len(w)), atol=1e-6)


def test_records_are_one_an_epoch(setting, found):
    _, history = found["tanh", 3]
    assert history.steps.tolist() == [0, 4, 8]


def test_gaps_and_gradients_are_those_of_each_layer(setting, found):
    _, history = found["tanh", 3]
    assert history.values["gap"].shape == history.values["gradient"].shape == (3, 2, 3)
    assert (history.values["gap"][0] < 1e-9).all()
    assert (history.values["gap"][-1] > 1e-9).all()
    net = lab._networks(setting, "tanh", 3)
    x, labels = setting.data.x[:16], setting.data.labels[:16]
    loss = torch.nn.functional.cross_entropy(net(x)[1], labels)
    gradients = torch.autograd.grad(loss, list(net.parameters())[:3])
    norms = [float(g[1].norm()) for g in gradients]
    # The probe has two batches of 16; of each the first 16 images are taken.
    x, labels = setting.data.x[16:32], setting.data.labels[16:32]
    loss = torch.nn.functional.cross_entropy(net(x)[1], labels)
    second = [float(g[1].norm()) for g in torch.autograd.grad(loss, list(net.parameters())[:3])]
    expected = (np.array(norms) + second) / 2
    np.testing.assert_allclose(history.values["gradient"][0, 1], expected, rtol=1e-4)


def test_gradients_are_of_the_first_images_only(setting):
    net = lab._networks(setting, "tanh", 2)
    x, labels = (
        part[:16].expand(2, *part[:16].shape) for part in (setting.data.x, setting.data.labels)
    )
    found = lab.over_layers(5)["gradient"](net, x, labels)
    loss = torch.nn.functional.cross_entropy(net(x[:, :5])[0], labels[0, :5])
    (gradient,) = torch.autograd.grad(loss, list(net.parameters())[1])
    assert float(found[0, 1]) == pytest.approx(float(gradient[0].norm()), rel=1e-4)


def test_weights_move_by_the_squared_distance_a_row(setting, found):
    net, _ = found["tanh", 3]
    before = lab._networks(setting, "tanh", 3)
    moved = lab.moved(setting, "tanh", 3, net)
    assert moved.shape == (2, 3)
    for layer in (0, 1):
        a, b = (list(n.parameters())[layer].detach()[1].double() for n in (before, net))
        assert float(moved[1, layer]) == pytest.approx(float(((a - b) ** 2).sum() / 12))


def test_a_blind_step_has_a_gap_of_its_squared_length():
    """The share of directions that are symmetric and free of trace, twice, in few dimensions."""
    ratios = lab.blind(4, 3000, Stream(2))
    assert ratios.mean() == pytest.approx(3 * 6 / 16, abs=0.03)
    assert ratios.std() > 0.1


def test_data_are_averaged_down_and_standardized_by_the_training_images(monkeypatch):
    images = {s: torch.rand(40, 1, 8, 8, generator=Stream(4).torch(s)) for s in ("train", "test")}
    monkeypatch.setattr(
        sp.data, "load", lambda name, split, n: (images[split][:n], torch.arange(n) % 7)
    )
    data = lab.load("any", 30, 10, 4)
    small = {s: images[s].reshape(40, 4, 2, 4, 2).mean((2, 4)) for s in images}
    mean, spread = small["train"][:30].mean(), small["train"][:30].std(correction=0)
    expected = (small["test"][:10] - mean) / spread
    torch.testing.assert_close(data.test_x, expected.flatten(1), atol=1e-5, rtol=1e-4)
    assert data.x.shape == (30, 16)
    assert data.classes == 7


def test_a_small_step_has_the_gap_that_its_gradient_foretells(setting):
    """Over its squared length: both for a gradient of the network and for one along the group."""
    found = lab.across(setting, "tanh", 3)
    assert found.shape == (2, 2)
    net = lab._networks(setting, "tanh", 3).double()
    x, labels = setting.data.x[:16].double(), setting.data.labels[:16]
    loss = torch.nn.functional.cross_entropy(net(x)[1], labels)
    for layer in (1, 2):
        (g,) = torch.autograd.grad(loss, list(net.parameters())[layer], retain_graph=True)
        w = list(net.parameters())[layer].detach()[1]
        u, _, v = torch.linalg.svd(w)  # nearer to orthogonal than single precision is
        step = 1e-3 * g[1] / g[1].norm()
        ratio = float(sp.isometry_gap(u @ v + step)) / float(step.square().sum() / 12)
        assert float(found[1, layer - 1]) == pytest.approx(ratio, abs=0.01)


def test_turns_and_lost_diagonals_forget_the_symmetric_part():
    """The prediction against matrices that are turned and lose their diagonals, at width 6."""
    d, runs, layers = 6, 3000, 5
    turn, draws = np.empty((runs, d, d)), Stream(6).numpy()
    m = torch.randn(runs, d, d, generator=Stream(5).torch(), dtype=torch.float64)
    m = m - torch.diag_embed(m.diagonal(dim1=-2, dim2=-1))
    lengths = []
    for _ in range(layers):
        lengths.append([float((m + sign * m.mT).square().sum((-2, -1)).mean()) for sign in (1, -1)])
        sp.orthogonal().fill(turn, draws)
        m = torch.from_numpy(turn).mT @ m @ torch.from_numpy(turn)
        m = m - torch.diag_embed(m.diagonal(dim1=-2, dim2=-1))
    symmetric, skew = np.array(lengths).T
    q = symmetric / symmetric[0] * skew[0] / skew
    expected = lab.predicted_across(d, np.arange(layers))
    np.testing.assert_allclose(2 * q / (1 + q), expected, rtol=0.02)
