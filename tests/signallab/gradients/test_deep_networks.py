"""Deep networks before training: gradients by hand, by finite differences, and what depth means."""

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.gradients import deep_networks as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def batch():
    x = torch.randn(7, 9, generator=Stream(0).torch(), dtype=torch.float64)
    return x, torch.tensor([0, 3, 9, 1, 1, 2, 5])


@pytest.fixture(scope="module")
def weights():
    return lab.draw(Stream(1), 0, depth=5, width=6, inputs=9)


SHAPED = lab.Network("tanh", lambda layer: (layer + 1.0) ** -0.4)


def by_hand(network, hidden, x):
    """The same network in numpy, one product at a time."""
    phi = {"identity": lambda h: h, "tanh": np.tanh, "sin": np.sin}[network.activation]
    for layer, w in enumerate(hidden):
        h = w.numpy() @ x
        if network.norm == "standard":
            h = (h - h.mean(1, keepdims=True)) / h.std(1, keepdims=True)
        else:
            h = h / np.sqrt((h**2).sum(1, keepdims=True))
        x = phi(network.gain(layer) * h)
    return x


@pytest.mark.parametrize("norm", ["standard", "simplified"])
@pytest.mark.parametrize("activation", ["identity", "tanh", "sin"])
def test_states_are_those_of_the_printed_recursion(batch, weights, activation, norm):
    network = lab.Network(activation, lambda layer: 0.5 + layer, norm)
    found = lab.states(network, weights, batch[0], [2, 5])
    for depth, h in zip([2, 5], found, strict=True):
        expected = by_hand(network, weights.hidden[:depth], batch[0].numpy().T)
        np.testing.assert_allclose(h.numpy(), expected.T, atol=1e-12)


def loss(network, hidden, head, x, labels):
    logits = head.numpy() @ by_hand(network, hidden, x.numpy().T)
    logits = logits - np.log(np.exp(logits).sum(0))
    return -np.mean(logits[labels.numpy(), np.arange(len(labels))])


@pytest.mark.parametrize("layer", [0, 2])
def test_gradients_are_finite_differences_of_the_loss(batch, weights, layer):
    x, labels = batch
    depth, step = 4, 1e-6
    found = lab.log_gradients(SHAPED, weights, x, labels, [depth], [layer])[0, 0]
    total = 0.0
    for i in range(weights.hidden[layer].numel()):
        ends = []
        for sign in (1, -1):
            hidden = [w.clone() for w in weights.hidden[:depth]]
            hidden[layer].view(-1)[i] += sign * step
            ends.append(loss(SHAPED, hidden, weights.head, x, labels))
        total += ((ends[0] - ends[1]) / (2 * step)) ** 2
    assert found == pytest.approx(np.log(total) / 2, abs=1e-6)


def test_all_depths_at_once_are_networks_of_each_depth(batch, weights):
    x, labels = batch
    together = lab.log_gradients(SHAPED, weights, x, labels, [1, 3, 5], [0, 1, 4])
    assert np.isnan(together).tolist() == [[False, True, True], [False, False, True], [False] * 3]
    for row, depth in enumerate([1, 3, 5]):
        cut = lab.Weights(weights.first, weights.square[: depth - 1], weights.head)
        layers = [k for k in (0, 1, 4) if k < depth]
        alone = lab.log_gradients(SHAPED, cut, x, labels, [depth], layers)[0]
        np.testing.assert_allclose(together[row, : len(layers)], alone, atol=1e-12)


def test_draws_do_not_depend_on_depth_and_are_orthogonal():
    shallow, deep = (lab.draw(Stream(2), 3, depth, width=5, inputs=8) for depth in (1, 4))
    assert torch.equal(shallow.first, deep.first)
    assert torch.equal(shallow.head, deep.head)
    assert shallow.square[:].shape == (0, 5, 5)
    deeper = lab.draw(Stream(2), 3, 6, width=5, inputs=8)
    assert torch.equal(deep.square[:], deeper.square[:3])
    eye = torch.eye(5, dtype=torch.float64)
    assert torch.allclose(deep.square[:] @ deep.square[:].mT, eye.expand(3, 5, 5), atol=1e-12)
    assert torch.allclose(deep.first @ deep.first.mT, eye, atol=1e-12)
    assert torch.allclose(deep.head.mT @ deep.head, eye, atol=1e-12)
    gaussian = lab.draw(Stream(2), 3, 200, width=5, inputs=8, law=sp.gaussian())
    assert float(gaussian.square[:].var()) == pytest.approx(1 / 5, rel=0.1)


def test_images_are_standardized_by_the_moments_of_all(monkeypatch):
    every = torch.rand(50, 3, 32, 32, generator=Stream(3).torch())
    monkeypatch.setattr(sp.data, "load", lambda name: (every, torch.arange(50)))
    x, labels = lab.images(4)
    mean, spread = every.numpy().mean((0, 2, 3)), every.numpy().std((0, 2, 3))
    expected = (every[:4].numpy() - mean[:, None, None]) / spread[:, None, None]
    np.testing.assert_allclose(x.numpy(), expected.reshape(4, -1), atol=1e-5)
    assert x.dtype == torch.float64
    assert labels.tolist() == [0, 1, 2, 3]


@pytest.fixture(scope="module")
def setting(batch):
    x = batch[0][:6]
    return lab.Setting(x, batch[1][:6], width=6, runs=3, stream=Stream(4))


def test_runs_are_single_networks_and_share_weights(setting):
    networks = {"a": SHAPED, "b": lab.Network("sin")}
    found = lab.over_runs(setting, networks, [2, 4], [0, 1])
    assert found["a"].shape == (3, 2, 2)
    weights = lab.draw(setting.stream, 2, 4, 6, 9)
    for key, network in networks.items():
        alone = lab.log_gradients(network, weights, setting.x, setting.labels, [2, 4], [0, 1])
        np.testing.assert_allclose(found[key][2], alone)


def test_gaps_are_those_of_the_samples_and_infinite_where_centering_takes_a_dimension(setting):
    networks = {norm: lab.Network("identity", norm=norm) for norm in lab.NORMS}
    found = lab.gaps(setting, networks, [1, 3])
    assert np.isinf(found["standard"]).all()
    weights = lab.draw(setting.stream, 1, 3, 6, 9)
    x = by_hand(networks["simplified"], weights.hidden, setting.x.numpy().T)
    eigenvalues = np.linalg.eigvalsh(x.T @ x)
    expected = np.log(eigenvalues.mean()) - np.log(eigenvalues).mean()
    assert found["simplified"][1, 1] == pytest.approx(expected)


def test_slopes_are_growth_per_layer_and_gains_fade(setting):
    logs = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]])
    np.testing.assert_allclose(lab.slopes([10, 20, 40], logs), [0.1, 0.0], atol=1e-12)
    assert [lab.shaped(0.5)(layer) for layer in (0, 3, 8)] == pytest.approx([1, 1 / 2, 1 / 3])


def plain_log_gradients(network, hidden, head, x, labels, layers):
    """The same by one graph through all layers, which keeps everything."""
    leaves = [w.clone().requires_grad_() for w in hidden]
    phi, norm = lab.ACTIVATIONS[network.activation], lab.NORMS[network.norm]
    for layer, w in enumerate(leaves):
        x = phi(network.gain(layer) * norm(x @ w.mT))
    loss = torch.nn.functional.cross_entropy(x @ head.mT, labels)
    gradients = torch.autograd.grad(loss, [leaves[layer] for layer in layers])
    return [float(gradient.norm().log()) for gradient in gradients]


@pytest.mark.parametrize("network", [SHAPED, lab.Network("sin"), lab.Network(norm="simplified")])
def test_gradients_of_deep_networks_are_those_of_one_graph(batch, network):
    x, labels = batch
    deep = lab.draw(Stream(6), 0, depth=90, width=6, inputs=9)
    depths, layers = [1, 7, 40, 90], [0, 1, 6, 39]
    found = lab.log_gradients(network, deep, x, labels, depths, layers)
    for row, depth in enumerate(depths):
        inside = [layer for layer in layers if layer < depth]
        expected = plain_log_gradients(network, deep.hidden[:depth], deep.head, x, labels, inside)
        np.testing.assert_allclose(found[row, : len(inside)], expected, atol=1e-9)


def test_gradients_beyond_the_range_of_floats_are_found():
    """Sizes of 2^1500 at the input: each layer multiplies what is passed back by some 2^5."""
    x = torch.eye(2, dtype=torch.float64)
    network = lab.Network(gain=lambda layer: 1.0, norm="scaled")
    weights = lab.Weights(x, x.expand(299, 2, 2), x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(lab.NORMS, "scaled", lambda h: 32 * (h - h.detach()) + h.detach())
        found = lab.log_gradients(network, weights, x, torch.tensor([0, 1]), [300], [0, 299])[0]
    assert found[0] - found[1] == pytest.approx(299 * np.log(32), rel=1e-12)


def most_held(depth):
    """The most numbers that graphs hold at any moment, and the most matrices drawn at once."""
    held, most, drawn = 0, 0, []

    class Kept:
        def __init__(self, tensor):
            nonlocal held, most
            self.tensor = tensor.detach()  # else it would hold the graph that holds it
            held += tensor.numel()
            most = max(most, held)

        def __del__(self):
            nonlocal held
            held -= self.tensor.numel()

    class Counting(sp.weights.Law):
        def fill(self, out, generator):
            drawn.append(out[..., 0, 0].size)
            super().fill(out, generator)

    weights = lab.draw(Stream(7), 0, depth, 4, 4, Counting("orthogonal", 1.0))
    x = torch.randn(5, 4, generator=Stream(8).torch(), dtype=torch.float64)
    with torch.autograd.graph.saved_tensors_hooks(Kept, lambda kept: kept.tensor):
        lab.log_gradients(SHAPED, weights, x, torch.arange(5), [depth // 2, depth], [1])
    return most, max(drawn)


def test_memory_grows_with_the_root_of_the_depth():
    (few, short), (many, long) = most_held(36), most_held(576)
    assert many <= 4.5 * few
    assert (short, long) == (6, 24)


def test_weights_are_drawn_again_as_they_were():
    """In any order, and whatever was read before."""
    law, width, count = sp.orthogonal(), 3, 7
    generator = Stream(9).numpy()
    whole = law.sample(width, width, [generator] * count)
    redrawn = lab.Redrawn(law, width, count, Stream(9).numpy())
    for start, stop in [(2, 5), (0, 2), (5, 7), (4, 6), (0, 7), (3, 3)]:
        assert torch.equal(redrawn[start:stop], whole[start:stop])
    assert len(redrawn) == 7
