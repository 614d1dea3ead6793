"""Finite networks beside automatic differentiation; bounds beside kernels of the library."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

import signalprop as sp
from signallab.conditioning import tangent_kernel as lab
from signallab.conditioning.reference import equicorrelated
from signalprop import theory


def test_equation_7_in_both_readings():
    """sh = rho^2 after two layers: 0.25 * 0.25 + (0.25 + 0.5 * 1) * 0.5 by layers."""
    case = lab.equation_7("second Hermite", 0.5, 2)
    assert case.left == pytest.approx(0.0625 + 0.25 * 0.5 + 0.5 * 1.0 * 0.5)
    assert case.right == pytest.approx(case.left)
    printed = lab.equation_7("second Hermite", 0.5, 2, shift=0)
    assert printed.left == pytest.approx(0.0625 + 0.25 * 0.125 + 0.5 * 0.5 * 0.125)


def test_diagonal():
    case = lab.diagonal("tanh", 4)
    np.testing.assert_allclose(case.left, case.right, rtol=1e-10)
    assert lab.diagonal("second Hermite", 2, extra=1).right[0] == pytest.approx(15)


def test_networks_are_those_that_automatic_differentiation_sees():
    width, depth, rho = 5, 3, 0.4
    phi = lab.SMOOTH["tanh"]
    found = lab.networks(["tanh"], rho, [width], [depth], 2, sp.Stream(3))
    for run, rng in enumerate(sp.Stream(3).child("tanh", width, depth).runs(2)):
        shapes = [(width, 2), (width, width), (width, width), (width, 1)]
        weights = [torch.from_numpy(rng.standard_normal(s)).requires_grad_() for s in shapes]
        gradients = []
        for x in ([1.0, 0.0], [rho, math.sqrt(1 - rho**2)]):
            h = torch.tensor(x, dtype=torch.float64)
            for w in weights[:-1]:
                h = phi(w @ h) / math.sqrt(width)
            parts = torch.autograd.grad(weights[-1][:, 0] @ h, weights)
            gradients.append(torch.cat([g.flatten() for g in parts]))
        expected = float(gradients[0] @ gradients[1])
        assert found["kernel"][run] == pytest.approx(expected, rel=1e-9)


def test_errors():
    rows = pd.DataFrame({"activation": "second Hermite", "layer": [1, 1], "kernel": [1.0, 0.5]})
    np.testing.assert_allclose(lab.errors(rows, 0.5)["error"], [0.25, 0.25])
    np.testing.assert_allclose(lab.errors(rows, 0.5, shift=0)["error"], [0.5, 0.0], atol=1e-12)


def test_wide_enough():
    limit = float(lab.equation_7("tanh", 0.4, 2).left)
    kernels = [5 * limit, 1.1 * limit, 0.7 * limit]  # the first at a smaller width
    rows = pd.DataFrame({"activation": "tanh", "layer": 2, "width": [8, 64, 64], "kernel": kernels})
    (row,) = lab.wide_enough(rows, 0.4, 0.05).to_dict("records")
    assert row["width"] == 64
    assert row["mean error"] == pytest.approx(0.2)
    assert row["width for 5%"] == pytest.approx(64 * 16)


def test_random_maps():
    maps = lab.random_maps(4, 6, sp.Stream(0))
    assert maps["random series"](0.5).shape == (4,)
    np.testing.assert_allclose(maps["pairs of orders"](1.0), 1)


def test_lemma_26():
    k = sp.KernelMap.from_series([0, 0.5, 0, 0.5])  # slope 1/2 + 3/2 rho^2, at 1 it is 2, mu = 1/2
    # the fall is 3/4 (1 - rho^2), so the quotient is mu / (3/4 (1 + rho)), largest near 0
    assert lab.lemma_26("cubic", k).left == pytest.approx(2 / 3, rel=1e-9)
    assert lab.lemma_26("cubic", k, sharper=True).left == pytest.approx(8 / 9, rel=1e-9)
    assert lab.lemma_26("cubic", k, factor=2.0).left == pytest.approx(4 / 3, rel=1e-9)


def test_relative_kernels_are_those_of_the_library():
    gram = equicorrelated(10, 0.9)
    kernel = np.asarray(sp.ntk(gram, lab.SMOOTH["ReLU"], 4))
    expected = kernel / kernel[0, 0] - np.eye(10)
    found = lab.relative("10 inputs of cosine 0.9", "ReLU", 5)[4]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    k = lab.random_maps(3, 5, sp.Stream(1))["random series"]
    batch = lab.tangent(k, np.full((2, 1), 0.5), 3)
    assert batch.shape == (2, 3, 4)
    np.testing.assert_allclose(batch[0], batch[1])


def test_entries_and_eigenvalues_of_the_square():
    """sh = rho^2: every term of the kernel over its value at 1 is rho^(2^L)."""
    k = sp.KernelMap.from_series([0, 0, 1.0])
    assert lab.entries("square", k, 20).left < 1
    # (rho + rho^2)/2 from 0.6, where L_0 is 1: nearest at two layers, and nearer still before.
    half = lab.entries("half", sp.KernelMap.from_series([0, 0.5, 0.5]), 20)
    assert half.left == pytest.approx((0.3552 + 0.48 * 0.98 + 0.6 * 1.1 * 0.98) / 4.75)
    assert half.words == "half, δ = 0.4, 2 layers"
    assert lab.entries("square", k, 5, "sharpest").left == pytest.approx(1)
    assert lab.entries("square", k, 5, "sharpest", ahead=1).left > 1.01
    assert lab.entries("square", k, 20, "B").left <= 1
    case = lab.largest_entry("2 inputs of cosine 0.9", "second Hermite", 0)
    # L_0 = 4: from 8 layers on, where 0.9^256 stands beside 2 B(4) = 2 (1 - 0.1 * 1.5^4)
    assert case.left == pytest.approx(0.9**256, rel=1e-9)
    assert case.right == pytest.approx(2 * (1 - 0.1 * 1.5**4))
    case = lab.lowest("2 inputs of cosine 0.5", "second Hermite", 2, everywhere=True)
    assert case.left == pytest.approx(0.25)
    assert case.right == pytest.approx(2 * 0.5**0.5 / 2)
    case = lab.lowest("2 inputs of cosine 0.5", "second Hermite", 2, "sharpest", ahead=1)
    assert case.left / case.right > 1.01


def test_proof_of_theorem_27():
    case = lab.largest_term(0.4, 1.0, 2)  # B: 0.6, 0.4, 0.25
    assert case.left == pytest.approx(max(0.6 * 0.6 * 0.4, 0.4 * 0.4, 0.25))
    assert case.right == pytest.approx(0.8)
    case = lab.largest_term(0.4, 1.0, 2, shift=0)  # B(h') for B(h' - 1)
    assert case.left == pytest.approx(max(0.6 * 0.4 * 0.25, 0.4 * 0.25, 0.25))
    assert lab.largest_term(0.4, 1.0, 2, sharper=True).right == pytest.approx(0.25)
    assert lab.largest_term(0.4, 1.0, 2, sharper=True, ahead=1).right == pytest.approx(0.125)
    case = lab.end_of_case_two(0.4, 1.0, 3)
    assert case.left == pytest.approx(0.5**1.5)
    assert case.right == pytest.approx(0.5**1.5)
    assert lab.end_of_case_two(0.4, 1.0, 2, start=0.0).left == pytest.approx(0.25)


def test_along_depth():
    rows = lab.along_depth("10 inputs of cosine 0.9", "ReLU", 40)
    mu = float(sp.KernelMap(lab.SMOOTH["ReLU"]).nonlinearity)
    start = math.ceil(math.log(5) / math.log(1 + mu / 2))
    assert np.isnan(rows["Theorem 5"][2 * start - 1])
    assert rows["Theorem 5"][2 * start + 2] == pytest.approx(1 - mu / 2)
    assert rows["B at depth L"][start + 1] == pytest.approx((1 - mu / 2) / 2)
    assert (rows["tangent kernel"] <= rows["best bound"] * (1 + 1e-9)).all()
    assert rows["best bound"][1] == pytest.approx(
        float(theory.cond_tangent_sharpest(0.1, mu, 1)[1])
    )
