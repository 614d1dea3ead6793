"""Training of the experiments: images, dot products, a search and a run by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

import signalprop as sp
from signallab.conditioning import image_training as lab
from signallab.conditioning import training_fully_connected as full
from signalprop.random import Stream


@pytest.fixture(scope="module")
def setting():
    """Sixty random images of twelve numbers, three classes."""
    draw = Stream(0).torch()
    x, test_x = (torch.randn(n, 3, 2, 2, generator=draw) for n in (60, 24))
    labels, test_labels = ((p[:, 0, 0, 0] > 0).long() for p in (x, test_x))
    data = lab.Data(x, labels, test_x, test_labels)
    build = full.builder(data, 8, Stream(1))
    return lab.Setting(
        data, build, full.at_head, Stream(2), batch=6, epochs=3, drop_after=1, runs=2,
        validation=12, probe=24,
    )  # fmt: skip


def test_dot_products_are_means_over_pairs_of_different_samples():
    h = np.random.default_rng(0).normal(size=(2, 5, 7))
    pairs = [(i, j) for i in range(5) for j in range(i)]
    each = [
        [a[i] @ a[j] / np.linalg.norm(a[i]) / np.linalg.norm(a[j]) for i, j in pairs] for a in h
    ]
    np.testing.assert_allclose(lab.dots(torch.tensor(h)), np.mean(each, 1))
    np.testing.assert_allclose(lab.dots(torch.tensor(h), absolute=True), np.mean(np.abs(each), 1))


def test_images_are_standardized_or_of_one_length(monkeypatch):
    images = {s: torch.rand(40, 3, 8, 8, generator=Stream(4).torch(s)) for s in ("train", "test")}
    monkeypatch.setattr(
        sp.data, "load", lambda name, split, n: (images[split][:n], torch.arange(n) % 7)
    )
    small = {s: images[s].reshape(40, 3, 4, 2, 4, 2).mean((3, 5)) for s in images}
    data = lab.load(30, 10, 4, "standardized")
    mean = small["train"][:30].mean((0, 2, 3), keepdim=True)
    spread = small["train"][:30].std((0, 2, 3), correction=0, keepdim=True)
    torch.testing.assert_close(data.test_x, (small["test"][:10] - mean) / spread)
    data = lab.load(30, 10, 4, "unit length")
    torch.testing.assert_close(data.x.square().sum((1, 2, 3)), torch.full((30,), 48.0))
    torch.testing.assert_close(
        torch.nn.functional.normalize(data.x.flatten(1)),
        torch.nn.functional.normalize(small["train"][:30].flatten(1)),
    )
    with pytest.raises(ValueError, match="inputs must be one of standardized, unit length"):
        lab.load(30, 10, 4, "raw")


def by_hand(setting, seed, rate, images, epochs):
    """One NormReLU network of depth 2, after each epoch of gradient descent."""
    data = setting.data
    net = setting.build("NormReLU", 2, [seed])
    order = sp.training.batches(setting.stream.child("training"), [seed], images, 6)
    per_epoch = images // 6
    for step in range(epochs * per_epoch):
        chosen = next(order)[0]
        logits = net(data.x[chosen])[0]
        loss = torch.nn.functional.cross_entropy(logits, data.labels[chosen])
        now = rate * 0.1 ** (step // per_epoch)
        gradients = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(net.parameters(), gradients, strict=True):
                parameter -= now * gradient
    return net


def test_runs_are_gradient_descent_with_a_rate_that_is_cut(setting):
    found = lab.trained(setting, {("NormReLU", 2): 0.1})
    assert list(found["epoch"].unique()) == [0, 1, 2, 3]
    net = by_hand(setting, 1, 0.1, 60, 3)
    data = setting.data
    row = found.query("run == 1 and epoch == 3").iloc[0]
    with torch.no_grad():
        right = (net(data.test_x)[0].argmax(-1) == data.test_labels).float().mean()
        seen = (net(data.x[:24])[0].argmax(-1) == data.labels[:24]).float().mean()
        parts = [lab.dots(net.features(data.test_x[i : i + 6]))[0] for i in range(0, 24, 6)]
        sizes = [lab.dots(net.features(data.test_x[i : i + 6]), True)[0] for i in range(0, 24, 6)]
    assert row["test accuracy"] == pytest.approx(float(right))
    assert row["train accuracy"] == pytest.approx(float(seen))
    assert row["dot product"] == pytest.approx(float(torch.stack(parts).mean()), abs=1e-5)
    assert row["absolute dot product"] == pytest.approx(float(torch.stack(sizes).mean()), abs=1e-5)


def test_training_images_are_scored_at_the_end_alone_if_asked(setting):
    rates = {("NormReLU", 2): 0.1, ("SELU", 2): 1e4}
    each, end = (
        lab.trained(replace(setting, train_at_end=at_end), rates).set_index(
            ["method", "run", "epoch"]
        )
        for at_end in (False, True)
    )
    seen = end.pop("train accuracy")
    pd.testing.assert_frame_equal(each.drop(columns="train accuracy"), end)
    assert seen.drop(3, level="epoch").isna().all()
    pd.testing.assert_series_equal(
        seen.xs(3, level="epoch"),
        each["train accuracy"].xs(3, level="epoch"),
        check_dtype=False,
    )
    assert seen["SELU"].isna().all()


def test_a_search_keeps_images_back_and_uses_a_network_of_its_own(setting):
    found = lab.searched(setting, [("NormReLU", 2)], [0.1, 1e4])
    assert found["rate"].tolist() == [0.1, 1e4]
    net = by_hand(setting, 2, 0.1, 48, 3)
    data = setting.data
    with torch.no_grad():
        logits = net(data.x[48:])[0]
        right = (logits.argmax(-1) == data.labels[48:]).float().mean()
        loss = torch.nn.functional.cross_entropy(logits, data.labels[48:])
    assert found["accuracy"][0] == pytest.approx(float(right))
    assert found["loss"][0] == pytest.approx(float(loss), rel=1e-5)
    assert np.isnan(found["loss"][1])
    assert lab.best(found) == {("NormReLU", 2): 0.1}


def test_of_equal_accuracies_the_first_rate_is_taken():
    columns = {"method": "a", "depth": 2, "rate": [0.3, 0.2, 0.1], "accuracy": [0.1, 0.5, 0.5]}
    assert lab.best(pd.DataFrame(columns)) == {("a", 2): 0.2}
