"""Descent on all layers beside autograd, closed forms for two inputs and the library's kernels."""

import math

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.conditioning import training_all_layers as lab
from signallab.conditioning.reference import ACTIVATIONS, equicorrelated


def test_kernels_by_the_recursion_of_two_inputs():
    top, tangent = lab.kernels(6, "sine", 2)
    x = np.random.default_rng(0).standard_normal((6, 20))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    rho, slope = x[0] @ x[1], 1.0
    kernel = sp.KernelMap(ACTIVATIONS["sine"])
    terms = []
    for _ in range(2):
        terms.append((float(rho), float(kernel.derivative(rho))))
        rho = float(kernel(rho))
    slope = terms[1][1]
    assert top[0, 1] == pytest.approx(rho)
    assert tangent[0, 1] == pytest.approx(
        rho + terms[1][0] * slope + terms[0][0] * terms[0][1] * slope
    )


def test_depth_of_corollary_6():
    mu = float(sp.KernelMap(ACTIVATIONS["erf"]).nonlinearity)
    x = np.random.default_rng(0).standard_normal((10, 20))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    delta = 1 - np.abs(x @ x.T - np.eye(10)).max()
    start = max(0, math.ceil(math.log(1 / (2 * delta)) / math.log(1 + mu / 2)))
    expected = math.ceil(2 * math.log(20) / -math.log(1 - mu / 2)) + 2 * start
    assert lab.depth_of_corollary_6(10, "erf") == expected


def test_steps_by_the_rate():
    """With the best step both ends shrink by (kappa - 1) / (kappa + 1) = 1/2."""
    tangent = np.diag([2.0, 3.0, 6.0])
    assert lab.steps(tangent, 3 / 8, 1e-3) == math.ceil(math.log(1000) / math.log(4))
    with pytest.raises(ValueError, match="step 1e-09"):
        lab.steps(tangent, 1e-9, 1e-3)
    with pytest.raises(ValueError, match="step 2"):
        lab.steps(tangent, 2.0, 1e-3)


def test_theorem_47():
    printed = lab.theorem_47(40, "erf", 3, 1e-3)
    mended = lab.theorem_47(40, "erf", 3, 1e-3, power=1.0)
    assert printed.left > printed.right
    assert mended.left < mended.right
    values = np.linalg.eigvalsh(lab.kernels(40, "erf", 3)[1])
    kappa = values[-1] / values[0]
    best = math.ceil(math.log(1000) / (2 * math.log((kappa + 1) / (kappa - 1))))
    assert mended.left == pytest.approx(best / kappa)
    slow = 1 - 4 / 40 / (1 + kappa)  # the step 2 / (sum of both), with the mean in the loss
    fast = 1 - 4 / 40 * kappa / (1 + kappa)
    t = np.arange(10_000)
    count = np.flatnonzero((slow ** (2 * t) + fast ** (2 * t)) / 2 <= 1e-3)[0]
    assert printed.left == pytest.approx(count / kappa)


def test_mended_47():
    case = lab.mended_47(30, "sine", 2, 12)
    values = np.linalg.eigvalsh(lab.kernels(30, "sine", 2)[1])
    kappa = values[-1] / values[0]
    t = int(case.words.split()[-1])
    assert case.left == pytest.approx(((kappa - 1) / (kappa + 1)) ** (2 * t), rel=1e-8)
    assert case.right == pytest.approx(math.exp(-4 * t / kappa), rel=1e-8)
    plain = lab.mended_47(30, "sine", 2, 12, plain=True)
    assert plain.left > 1
    late = lab.mended_47(30, "sine", 2, 12, exponent=5.0)
    assert late.left > late.right


def test_corollary_48():
    case = lab.corollary_48(20, "sine", 1e-4, part=0.1, power=1.0, share=0.5)
    depth = round(0.1 * lab.depth_of_corollary_6(20, "sine"))
    values, vectors = np.linalg.eigh(lab.kernels(20, "sine", depth)[1])
    factors = 1 - values[[0, -1]] / (values[0] + values[-1])
    t = np.arange(100)
    expected = np.flatnonzero((factors[0] ** (2 * t) + factors[1] ** (2 * t)) / 2 <= 1e-4)[0]
    assert case.left == expected
    unit = lab.corollary_48(10, "sine", 0.1, part=0.1, power=1.0, share=0.5).left
    assert case.right == 8 * unit
    root = lab.corollary_48(20, "sine", 1e-4, part=0.1, power=1.0, share=0.5, of_logarithm=0.5)
    assert root.right == 4 * unit
    printed = lab.corollary_48(80, "sine", 1e-4, part=0.1)
    assert printed.left > printed.right
    assert vectors.shape == (20, 20)


def test_rates_by_the_closed_form_of_two_eigenvectors():
    depth = round(0.1 * lab.depth_of_corollary_6(10, "sine"))
    x = np.random.default_rng(0).standard_normal((10, 20))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    low, *_, high = np.linalg.eigvalsh(sp.ntk(x @ x.T, ACTIVATIONS["sine"], depth))
    slow, fast = (1 - value / (low + high) for value in (low, high))
    expected = [-math.log((slow ** (2 * t) + fast ** (2 * t)) / 2) / t for t in (4, 8, 16)]
    np.testing.assert_allclose(lab.rates(10, "sine", 0.1, 3), expected, rtol=1e-9)
    limit = lab.rate_in_the_end(10, "sine", 0.1)
    assert limit == pytest.approx(-2 * math.log(slow))
    assert limit == pytest.approx(2 * math.log1p(low / high))
    assert lab.rate_in_the_end(10, "sine", 0.1, share=0.1) == pytest.approx(
        -2 * math.log(1 - 0.2 * low / (low + high))
    )


def test_tangent_condition_by_the_library():
    path = lab.tangent_condition(0.2, "erf", 3, n=4)
    assert path[0] == pytest.approx((1 + 3 * 0.8) / 0.2)
    for depth in (1, 3):
        values = np.linalg.eigvalsh(sp.ntk(equicorrelated(4, 0.8), ACTIVATIONS["erf"], depth))
        assert path[depth] == pytest.approx(values[-1] / values[0], rel=1e-9)


def test_remark_49():
    depth = lab.first_good_depth(1e-3, "sine")
    path = lab.tangent_condition(1e-3, "sine", depth)
    assert path[depth] <= 3 < path[depth - 1]
    case = lab.remark_49_depth(1e-5, "sine", first=1e-3)
    slope = 1 / math.tanh(1)  # E sin'^2 / E sin^2
    more = lab.first_good_depth(1e-5, "sine") - depth
    assert case.left == pytest.approx(abs(more - math.log(100) / math.log(slope)))
    assert case.left < case.right == 2
    assert lab.remark_49_depth(1e-8, "sine", power=0.5).left > 2
    case = lab.remark_49_shallow(1e-4, "erf", first=1e-3, power=2.0)
    grams = [sp.ntk(equicorrelated(10, 1 - delta), ACTIVATIONS["erf"], 1) for delta in (1e-3, 1e-4)]
    few, many = (np.linalg.cond(gram) for gram in grams)
    assert case.left == pytest.approx(many / few, rel=1e-6)
    assert case.right == pytest.approx(100)


def test_first_step_of_a_network_by_its_own_tangent_kernel():
    """A tiny step changes the loss by ``-eta |gradient|^2``; a wide network follows the limit."""
    losses, start = lab.trained(4, "erf", 2, 32, 3, sp.Stream(1), power=-12.0)
    assert losses[0] == pytest.approx(float(start @ start) / 4)
    fall = np.diff(losses)
    assert np.all(fall < 0)
    step = 2 * 2.0**-12 / np.linalg.eigvalsh(lab.kernels(4, "erf", 2)[1])[[0, -1]].sum()
    rng, x = sp.Stream(1).numpy(), np.random.default_rng(0).standard_normal((4, 20))
    x = torch.from_numpy(x / np.linalg.norm(x, axis=1, keepdims=True))
    w = [torch.from_numpy(rng.standard_normal(s)) for s in ((32, 20), (32, 32), (1, 32))]

    def loss(a, b, c):
        phi = ACTIVATIONS["erf"]
        out = phi(phi(x @ a.T) @ b.T / math.sqrt(32)) @ c.T / math.sqrt(32)
        return ((out[:, 0] - torch.tensor([1.0, -1.0, 1.0, -1.0])) ** 2).mean()

    gradient = torch.autograd.functional.jacobian(loss, tuple(w))
    square = sum(float((g**2).sum()) for g in gradient)
    assert fall[0] == pytest.approx(-step * square, rel=2e-2)


def test_wide_networks_are_near_the_limit():
    """Distances fall with the width; the kernel of the top layer alone stays far away."""
    off = {}
    for width in (16, 1024):
        streams = [sp.Stream(s) for s in range(3 if width > 100 else 20)]
        rows = lab.beside_limit(4, "erf", 1, width, 6, streams)
        off[width] = float(
            (rows["network"] - rows["limit"]).abs().groupby(rows["run"]).max().mean()
        )
        far = float((rows["network"] - rows["top layer alone"]).abs().max())
    assert off[1024] < off[16] / 2
    assert far > 3 * off[1024]
    first = rows[rows["step"] == 0]
    assert np.allclose(first[["network", "limit", "top layer alone"]], 1)


def test_network_47():
    case = lab.network_47(4, "erf", 1, 64, 5, sp.Stream(3))
    losses, _ = lab.trained(4, "erf", 1, 64, 5, sp.Stream(3))
    values = np.linalg.eigvalsh(lab.kernels(4, "erf", 1)[1])
    np.testing.assert_allclose(case.left, losses[1:] / losses[0])
    np.testing.assert_allclose(case.right, np.exp(-np.arange(1, 6) * values[0] / values[-1]))
    slow = lab.network_47(4, "erf", 1, 64, 5, sp.Stream(3), power=-2.0)
    assert slow.left[-1] > case.left[-1]


def test_spectra():
    row = lab.spectra([40], "sine", 4, 1e-3).iloc[0]
    values = np.linalg.eigvalsh(lab.kernels(40, "sine", 4)[1])
    assert row["κ"] == pytest.approx(values[-1] / values[0])
    assert row["λ max"] == pytest.approx(values[-1])
    assert row["steps, n/(λ + λ)"] < row["steps, 2/(λ + λ)"] / 5
