"""Directional gradient vanishing: gradients of single samples by hand, paths, random images."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import signalprop as sp
from signallab.rank import directional_gradient_vanishing as lab
from signalprop.random import Stream

MAKE = partial(sp.models.vgg, [4, 4], [1, 1], size=8, hidden=[6])


@pytest.fixture(scope="module")
def setting():
    """Thirty-two random images of eight pixels, ten classes."""
    x = torch.randn(32, 3, 8, 8, generator=Stream(0).torch())
    labels = torch.arange(32) % 10
    return lab.Setting(
        x, labels, Stream(1), batch=8, iterations=4, rate=0.01, runs=2, probe=16, records=2
    )


def test_alignment_of_the_head_by_hand(setting):
    found = lab.alignment(setting, MAKE, ["no normalization"], 6, runs=2)
    assert list(found.query("run == 0")["layer"]) == [1, 2, 3, 4]
    net = lab.network(setting, MAKE, "no normalization", 1)
    with torch.no_grad():
        h = net[:-1](setting.images[-6:]).double().numpy()
    # Every neuron of the head has gradients along the samples' features.
    unit = h / np.linalg.norm(h, axis=1, keepdims=True)
    expected = np.abs(unit @ unit.T)[np.triu_indices(6, 1)].mean()
    head = found.query("run == 1 and layer == 4").iloc[0]
    assert float(head["alignment"]) == pytest.approx(expected, rel=1e-4)
    net.zero_grad()
    nn.functional.cross_entropy(net(setting.images[-6:]), setting.labels[-6:]).backward()
    assert float(head["gradient"]) == pytest.approx(float(net[-1].weight.grad.norm()), rel=1e-4)


def test_networks_differ_in_what_their_names_say(setting):
    plain, normalized, he = (
        lab.network(setting, MAKE, n, 0) for n in ("no normalization", "batch norm", "He weights")
    )
    assert any(isinstance(part, nn.BatchNorm2d) for part in normalized)
    assert not any(isinstance(part, nn.BatchNorm2d) for part in [*plain, *he])
    largest = {net: float(net[0].weight.detach().abs().max()) for net in (plain, he)}
    assert largest[plain] <= 27**-0.5 < largest[he]
    with pytest.raises(ValueError, match="name must be one of batch norm, no normalization"):
        lab.network(setting, MAKE, "plain", 0)


def test_random_images_are_uniform_whole_numbers_with_the_same_labels(setting):
    found = lab.random_images(setting)
    assert found.images.shape == setting.images.shape
    assert found.images.dtype == setting.images.dtype
    torch.testing.assert_close(found.images, found.images.round())
    assert 0 <= float(found.images.min()) < 3
    assert 252 < float(found.images.max()) <= 255
    # 6144 draws of mean 127.5 and deviation 73.9: five standard errors.
    assert float(found.images.mean()) == pytest.approx(127.5, abs=5 * 73.9 / 6144**0.5)
    assert found.labels is setting.labels


def test_mixed_labels_are_the_same_ones_elsewhere_and_those_of_the_probe_stay(setting):
    found = lab.mixed_labels(setting)
    assert found.images is setting.images
    torch.testing.assert_close(found.labels[:16], setting.labels[:16])
    assert not torch.equal(found.labels[16:], setting.labels[16:])
    torch.testing.assert_close(found.labels.sort().values, setting.labels.sort().values)


def test_paths_share_weights_labels_and_order(setting):
    found = lab.paths(setting, MAKE, factor=100.0)
    last = found[found["iteration"] == 4].set_index(["network", "run"])["loss"]
    assert set(last.index.levels[0]) == {
        "batch norm", "SGD", "larger rate", "He weights", "random images", "mixed labels"
    }  # fmt: skip
    net = lab.network(setting, MAKE, "no normalization", 1)
    images = lab.random_images(setting).images
    order = sp.training.batches(setting.stream.child("training"), [1], 32, 8)
    for _, chosen in zip(range(4), order, strict=False):
        loss = nn.functional.cross_entropy(net(images[chosen[0]]), setting.labels[chosen[0]])
        gradients = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(net.parameters(), gradients, strict=True):
                parameter -= 0.01 * gradient
    with torch.no_grad():
        losses = [
            float(nn.functional.cross_entropy(net(x), y))
            for x, y in zip(images[:16].split(8), setting.labels[:16].split(8), strict=True)
        ]
    assert last["random images", 1] == pytest.approx(np.mean(losses), rel=1e-3)
    begin = found[found["iteration"] == 0].set_index(["network", "run"])["loss"]
    assert begin["mixed labels", 1] == begin["SGD", 1]
    assert last["mixed labels", 1] != last["SGD", 1]
    assert last["larger rate", 1] != pytest.approx(last["SGD", 1], rel=1e-6)


def test_the_larger_rate_is_the_rate_times_the_factor(setting, monkeypatch):
    seen = {}

    def record(of, plans):
        seen.update(
            {plan.name: (plan.rate or of.rate, bool(of.images.max() > 100)) for plan in plans}
        )
        return pd.DataFrame()

    monkeypatch.setattr(lab, "trained", record)
    lab.paths(setting, MAKE, factor=100.0)
    assert seen.pop("larger rate") == (pytest.approx(100 * setting.rate), False)
    assert seen.pop("random images") == (setting.rate, True)
    assert set(seen.values()) == {(setting.rate, False)}
