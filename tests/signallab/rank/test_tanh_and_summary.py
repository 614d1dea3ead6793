"""Exponents and ranks of the summary, by hand and against direct runs."""

import numpy as np
import pandas as pd
import pytest
import torch

import signalprop as sp
from signallab.rank import tanh_and_summary as lab
from signalprop.random import Stream


def test_depth_forgets_the_input():
    assert lab.depth_for(100, 0.1, 300) == 300
    assert lab.depth_for(8, 0.1, 300) == 3750
    assert lab.depth_for(8, None, 300) == 300


@pytest.fixture(scope="module")
def found():
    return lab.scaling(["linear", "tanh"], [0.5, None], [4, 8, 16], 80, 3, Stream(0))


def test_scaling(found):
    assert len(found) == 2 * 2 * 3 * 3
    assert (found["ratio"] >= 1).all()
    assert (found["ratio"] <= found["width"]).all()
    wide = found[(found["width"] == 16) & (found["gamma"] == "no skip connection")]
    means = wide.groupby("activation")["ratio"].mean()
    assert means["tanh"] > means["linear"] > 2


def test_exponents_by_hand():
    frame = pd.DataFrame(
        {
            "activation": "tanh",
            "gamma": "gamma 1",
            "run": [0, 0, 0, 1, 1, 1],
            "width": [2, 4, 8] * 2,
            "ratio": [1.0, 3.0, 9.0, 1.0, 2.0, 4.0],
        }
    )
    slopes = lab.exponents(frame, "ratio")["exponent"].to_numpy()
    np.testing.assert_allclose(slopes, [np.log2(3), 1])
    case = lab.growth(frame, "tanh", "gamma 1", measure="ratio", least=0.5)
    np.testing.assert_allclose(-case.left, slopes)
    assert case.right == -0.5
    frame["ratio"] = frame["ratio"].where(frame["width"] > 2, 100.0)
    np.testing.assert_allclose(lab.exponents(frame, "ratio", 4)["exponent"], slopes)


def test_running_means():
    frame = lab.running_means(6, [1.0], [1, 2, 30], 3, Stream(1))
    net = sp.Chain(6, sp.uniform(), [sp.BatchNorm(center=False)], lab.BEFORE["tanh"], residual=1.0)
    path = net.run(sp.inputs.gaussian_samples(6), 2, 3, Stream(1).child("running", "1.0"))
    values = path.measure(sp.rank_ratio).values[:, 1:]
    two = frame[frame["depth"] == 2]["mean ratio"]
    np.testing.assert_allclose(two, values.mean(axis=1))
    plain = lab.running_means(6, [None], [400], 2, Stream(1), normalized=False)
    assert plain["mean ratio"].max() < 1.5


def test_both_readings(found):
    by_depth = lab.running_means(8, [None], [100, 200], 3, Stream(2))
    wide = lab.figure_4("width", "no skip connection", found, by_depth)
    deep = lab.figure_4("depth", "no skip connection", found, by_depth)
    assert (wide.right, deep.right) == (-0.5, -2)
    part = found[(found["activation"] == "tanh") & (found["gamma"] == "no skip connection")]
    np.testing.assert_allclose(-wide.left, lab.exponents(part, "ratio")["exponent"])
    last = by_depth[by_depth["depth"] == 200]["mean ratio"]
    np.testing.assert_allclose(-deep.left, last)


def test_without_batch_norm():
    frame = lab.without_batch_norm(
        8, ["linear", "tanh"], [1.0, None], [1.0, "1/d"], 1500, 2, Stream(3)
    )
    assert len(frame) == 2 * 2 * 2 * 2
    linear = lab.collapsed(frame, "linear", "no skip connection", "1.0")
    assert (linear.left == 1).all()
    tanh = lab.collapsed(frame, "tanh", "no skip connection", "1.0", measure="ratio")
    assert tanh.left.mean() > 1.2
    assert (frame["soft rank"] <= frame["numerical rank"]).all()


def test_the_first_quarter_of_the_layers_is_left_out():
    found = lab.scaling(["tanh"], [None], [5], 40, 2, Stream(6))
    net = sp.Chain(5, sp.uniform(), [sp.BatchNorm(center=False)], [torch.tanh])
    path = net.run(sp.inputs.gaussian_samples(5), 40, 2, Stream(6).child("scaling", "tanh", 5))
    values = path.measure(sp.rank_ratio).values
    np.testing.assert_allclose(found["ratio"], values[:, 11:].mean(axis=1), rtol=1e-12)


def test_the_numerical_rank_counts_down_to_the_threshold_of_the_document():
    found = lab.without_batch_norm(4, ["linear"], [None], [1.0], 75, 3, Stream(7))
    net = sp.Chain(4, sp.uniform(1.0), [sp.FrobeniusNorm()])
    last = net.run(sp.inputs.gaussian_samples(4), 75, 3, Stream(7).child("plain", "1.0")).final()
    values = torch.linalg.svdvals(last).numpy()
    counts, coarser = ((values > t * values[:, :1]).sum(axis=1) for t in (1e-9, 1e-4))
    np.testing.assert_array_equal(found["numerical rank"], counts)
    assert (counts != coarser).any()
