"""Printed settings as they are tried: lists by hand, steps by hand, hours by hand."""

import numpy as np
import pandas as pd
import pytest
import torch

from signallab.conditioning import image_training as training
from signallab.conditioning import printed_settings as lab
from signallab.conditioning import training_fully_connected as full
from signalprop.random import Stream


def data(count=60):
    draw = Stream(0).torch()
    x, test_x = (torch.randn(n, 3, 2, 2, generator=draw) for n in (count, 24))
    labels, test_labels = ((p[:, 0, 0, 0] > 0).long() for p in (x, test_x))
    return training.Data(x, labels, test_x, test_labels)


def test_every_rate_is_there_once_and_the_one_of_the_text_with_them():
    found = lab.distinct("fully connected")
    assert len(set(found)) == len(found)
    expected = {0.0009, 0.001, 1e-5}
    assert {r for m, d, r in found if (m, d) == ("NormReLU", 32)} == expected
    assert ("Fixup", 110, 0.1) in lab.distinct("ResNet")


def test_tables_have_a_column_a_figure():
    table = lab.side_by_side("ResNet").set_index(["depth", "method"])
    row = table.loc[(32, "NormReLU")]
    assert row.to_dict() == {
        "Figure 1": 0.001,
        "Figure 4": 0.009,
        "Figure 5": None,
        "Figure 8": 0.01,
    } or (np.isnan(row["Figure 5"]) and row["Figure 8"] == 0.01 and row["Figure 4"] == 0.009)
    assert "Section 7" not in table


def test_several_rates_of_one_network_are_trained_each_on_its_own():
    setting = full.setting(data(), 8, Stream(1), batch=6, epochs=2, drop_after=1, runs=1, probe=24)
    plans = [("NormReLU", 32, 0.1), ("NormReLU", 32, 0.02), ("SELU", 32, 0.1)]
    found = lab.tried(setting, plans, {32: 2}, factor=0.5).set_index(["method", "rate"])
    assert len(found) == 3
    for method, _, rate in plans:
        alone = training.trained(setting, {(method, 2): 0.5 * rate})
        last = alone[alone["epoch"] == 2].iloc[0]
        for part in ("train accuracy", "test accuracy"):
            assert found.loc[(method, rate), part] == pytest.approx(last[part])


def test_first_steps_are_gradient_descent_on_all_images():
    images = data(10)
    found = lab.first_steps(images, [("NormReLU", 2, 0.1), ("SELU", 2, 1e9)], 8, 3, Stream(2))
    net = full.builder(images, 8, Stream(2))("NormReLU", 2, [0])
    losses = []
    for _ in range(4):
        loss = torch.nn.functional.cross_entropy(net(images.x)[0], images.labels)
        losses.append(float(loss.detach()))
        gradients = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(net.parameters(), gradients, strict=True):
                parameter -= 0.1 * gradient
    columns = [f"after {k}" for k in range(4)]
    np.testing.assert_allclose(found.loc[0, columns].astype(float), losses, rtol=1e-5)
    assert pd.isna(found.loc[1, "after 3"])


def test_hours_are_steps_times_seconds():
    measured = pd.DataFrame(
        {"network": ["fully connected"], "depth": [64], "seconds a step": [2.0]}
    )
    row = lab.costs(measured, epoch=390, epochs=300, runs=10).iloc[0]
    assert row["hours a run"] == pytest.approx(2 * 390 * 300 / 3600)
    assert row["settings"] == 5  # three in Figure 3, two in Figure 7
    assert row["in all"] == pytest.approx(row["hours a run"] * 50)
