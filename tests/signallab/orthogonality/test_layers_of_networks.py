"""Images through ReLU networks against torch's own layers and plain numpy."""

import numpy as np
import pytest
import torch
from torch import nn

from signallab.orthogonality import layers_of_networks as lab
from signalprop.random import Stream

STREAM = Stream(8)
NOISE = torch.rand(40, 3, 6, 6, generator=torch.Generator().manual_seed(1))


def gap(x: torch.Tensor) -> float:
    """The gap from its definition, for samples in rows."""
    gram = (x.flatten(1) @ x.flatten(1).T).double().numpy()
    return float(np.linalg.norm(gram / gram.trace() - np.eye(len(x)) / len(x)))


def test_batches_are_shifted_images_without_repetition():
    batches = lab.batches_of(NOISE, 40, 2, STREAM)
    pixels = (batches * 0.3081 + 0.1307).sum((2, 3, 4)).sort().values
    expected = NOISE.sum((1, 2, 3)).sort().values
    for batch in pixels:  # all forty images, each once
        torch.testing.assert_close(batch, expected)
    assert not torch.equal(batches[0], batches[1])


@pytest.mark.parametrize("network", list(lab.PERCEPTRONS))
def test_perceptron_by_hand(network):
    width, batch = 12, 5
    found = lab.perceptron_gaps(network, NOISE, width, 3, batch, 2, 1, STREAM)[0]
    own = STREAM.child("perceptron", 0)
    for k, x in enumerate(lab.batches_of(NOISE, batch, 2, own.child("images"))):
        h = x.flatten(1).double()
        expected = [gap(h)]
        for layer in (1, 2):
            weights = own.numpy(network, layer).standard_normal((h.shape[1], width))
            h = torch.relu(h) @ torch.from_numpy(weights)
            if "with BN" in network:
                h = h - h.mean(0) * ("not reduced" not in network)
                h = h / h.square().mean(0).sqrt()
            expected.append(gap(h))
        np.testing.assert_allclose(found[k], expected, rtol=1e-3)  # epsilon of the normalization


def test_mean_reduction_sets_the_least_gap():
    n = 4
    found = lab.perceptron_gaps("with BN", NOISE, 200, 8, n, 3, 1, STREAM)
    assert (found[..., 1:] >= 1 / np.sqrt(n * (n - 1)) - 1e-6).all()
    assert found[..., -1].mean() < 1.2 / np.sqrt(n * (n - 1))


@pytest.mark.parametrize("padding", ["zeros", "reflect"])
@pytest.mark.parametrize("network", list(lab.CONVOLUTIONS))
def test_convolution_by_torch(network, padding):
    found = lab.convolution_gaps(network, NOISE, 7, 3, 4, 2, STREAM, padding=padding)[1]
    own = STREAM.child("convolution", padding, 1)
    h = lab.batches_of(NOISE, 4, 1, own.child("images"))[0]
    from signalprop.models import ConvStack

    drawn = ConvStack(3, 7, 2, stream=own.child("weights")).convolutions
    for layer, weights in enumerate([None, *drawn]):
        if weights is not None:
            conv = nn.Conv2d(h.shape[1], 7, 3, padding=1, padding_mode=padding, bias=False)
            conv.weight = weights.weight
            h = conv(torch.relu(h)).detach()
            h = nn.BatchNorm2d(7)(h).detach() if "with BN" in network else h
            h = nn.functional.normalize(h.flatten(1)).reshape(h.shape) if "one" in network else h
        unit = nn.functional.normalize(h.flatten(1))
        np.testing.assert_allclose(found[layer], [gap(h), gap(unit)], rtol=1e-3)


def test_images_of_one_norm_keep_their_directions():
    x = NOISE * torch.arange(1.0, 41)[:, None, None, None]
    y = lab.images_of_one_norm(x)
    torch.testing.assert_close(y.square().mean((1, 2, 3)), torch.ones(40))
    cosine = nn.functional.cosine_similarity(x.flatten(1), y.flatten(1))
    torch.testing.assert_close(cosine, torch.ones(40))


def test_unknown_networks_are_refused():
    with pytest.raises(ValueError, match="network must be one of"):
        lab.perceptron_gaps("with LN", NOISE, 4, 2, 2, 1, 1, STREAM)
    with pytest.raises(ValueError, match="network must be one of"):
        lab.convolution_gaps("with LN", NOISE, 4, 2, 2, 1, STREAM)
