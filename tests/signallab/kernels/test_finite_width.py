"""Networks against definitions written out, limits against sums over all cases."""

from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

import signalprop as sp
from signallab.kernels import finite_width as lab

A = sp.activations


def test_a_longer_input_by_hand():
    """(1 + x)/sqrt 2 from orthogonal inputs of mean square 16: 1/17, where the map has 1/2."""
    phi = A.Activation.from_hermite([0.5**0.5, 0.5**0.5])
    covariance = sp.nngp(16 * np.eye(2), phi, 1)
    assert covariance[0, 1] / covariance[0, 0] == pytest.approx(1 / 17)
    assert sp.KernelMap(phi)(0.0) == pytest.approx(0.5)


@pytest.mark.slow
def test_lengths_by_sampling():
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((2, 400_000))
    y = 0.6 * x + 0.8 * z
    found = lab.by_lengths([0.6], 1, 16.0)[:, 0, 1]
    for phi, value in zip(lab.ACTIVATIONS.values(), found, strict=True):
        a, b = np.asarray(phi(4 * x)), np.asarray(phi(4 * y))
        assert value == pytest.approx((a * b).mean() / (a * a).mean(), abs=0.03)


def test_lengths_are_carried_as_the_covariance_of_a_network_carries_them():
    gram = 16.0 * np.array([[1.0, -0.6], [-0.6, 1.0]])
    found = lab.by_lengths([-0.6], 2, 16.0)[:, 0, 2]
    for phi, cosine in zip(lab.ACTIVATIONS.values(), found, strict=True):
        covariance = sp.nngp(gram, phi, 2)
        assert cosine == pytest.approx(covariance[0, 1] / covariance[0, 0], rel=1e-12)


def test_map_of_relu():
    """Layer 2 of ReLU from a right angle: (sin t + (pi - t) cos t)/pi with cos t = 1/pi."""
    t = np.arccos(1 / np.pi)
    value = (np.sin(t) + (np.pi - t) * np.cos(t)) / np.pi
    assert lab.by_map([0.0], 2)[1, 0, 2] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("length", [1.0, 16.0])
@pytest.mark.slow
def test_gaussian_networks_follow_their_limit(length):
    correlations = [-0.6, 0.6]
    runs = lab.gaussian_cosines(1000, correlations, 3, 40, sp.Stream(1), length=length)
    off = runs - lab.by_lengths(correlations, 3, length)
    np.testing.assert_allclose(off[..., 0], 0, atol=1e-12)
    errors = off[..., 1:].mean(0) / off[..., 1:].std(0, ddof=1) * np.sqrt(40)
    assert np.abs(errors).max() < stats.t.isf(1e-6 / errors.size / 2, 39)


def test_definition_and_chain_have_one_law():
    ours = lab.by_definition(lab.ACTIVATIONS["tanh"], 0.6, 30, 3, 400, sp.Stream(2))
    chain = lab.gaussian_cosines(30, [0.6], 3, 400, sp.Stream(3))[:, 0, 0]
    for layer in (1, 3):
        assert stats.ks_2samp(ours[:, layer], chain[:, layer]).pvalue > 1e-7
    doubled = lab.by_definition(
        lab.ACTIVATIONS["tanh"], 0.6, 300, 3, 40, sp.Stream(2), variance=4.0
    )
    limit = lab.by_lengths([0.6], 1, 4.0)[0, 0, 1]
    assert abs(doubled[:, 1].mean() - limit) < 7 * doubled[:, 1].std() / np.sqrt(40)


def test_input_cosine():
    rho = np.array([-0.3, 0.0, 0.2])
    np.testing.assert_allclose(lab.input_cosine(40, rho, 9.0).left, rho, atol=1e-12)
    undivided = lab.input_cosine(40, rho, 9.0, divided=False).left
    np.testing.assert_allclose(undivided, 9 * rho, atol=1e-12)


def test_exponents_tell_activations_apart():
    """Three powers of the width, one an activation; a factor per layer does not matter."""
    powers = np.array([-0.5, -0.25, -1.0])[:, None, None]
    errors = {d: np.tile(d**powers, (6, 1, 2, 3)) * [1.0, 2.0, 5.0] for d in (50, 100, 400)}
    found = lab.exponents(errors, 3)
    np.testing.assert_allclose(found, np.tile([-0.5, -0.25, -1.0], (2, 1)), rtol=1e-12)


def test_groups_hold_their_own_runs():
    first = {d: np.full((2, 3, 1, 1), d**-0.5) for d in (10, 100)}
    second = {d: np.full((2, 3, 1, 1), 1.0) for d in (10, 100)}
    both = {d: np.concatenate([first[d], second[d]]) for d in first}
    np.testing.assert_allclose(lab.exponents(both, 2)[:, 0], [-0.5, 0], atol=1e-12)


@pytest.mark.parametrize("inputs", [lab.spread_out, lab.on_one_coordinate])
def test_inputs(inputs):
    correlations = [-0.6, 0.0, 0.6]
    pairs = inputs(20, correlations)
    np.testing.assert_allclose((pairs**2).mean(-1), 1, rtol=1e-12)
    np.testing.assert_allclose((pairs[:, 0] * pairs[:, 1]).mean(-1), correlations, atol=1e-12)


def test_signs_need_a_width_that_divides():
    with pytest.raises(ValueError, match=r"width must allow signs of correlation 0\.6, got 12"):
        lab.spread_out(12, [0.6])


def test_rademacher_limit_by_all_signs():
    for rho in (-0.6, 0.6):
        values = {phi: [] for phi in lab.ACTIVATIONS}
        for s, t in product((-1.0, 1.0), repeat=2):
            for name, phi in lab.ACTIVATIONS.items():
                values[name].append((float(phi(s)), float(phi(rho * s + 0.8 * t))))
        by_hand = [
            np.mean([a * b for a, b in v])
            / np.sqrt(np.mean([a * a for a, _ in v]) * np.mean([b * b for _, b in v]))
            for v in values.values()
        ]
        np.testing.assert_allclose(lab.rademacher_limit([rho])[:, 0], by_hand, rtol=1e-12)


@pytest.mark.parametrize(
    ("law", "inputs", "limit"),
    [
        (sp.sparse(), lab.spread_out, lab.sparse_limit),
        (sp.rademacher(), lab.on_one_coordinate, lab.rademacher_limit),
    ],
)
def test_limits_that_are_not_the_map(law, inputs, limit):
    """One layer of width 500 beside its limit; the error of the limit is of the order 1/d."""
    correlations = [-0.6, 0.0, 0.6]
    runs = lab.under_law(law, inputs(500, correlations), 1, 200, sp.Stream(4))[..., 1]
    standard = runs.std(0, ddof=1) / np.sqrt(200)
    off = np.abs(runs.mean(0) - limit(correlations))
    assert np.all(off < 6 * standard + 0.01)
    assert np.max(np.abs(limit(correlations) - lab.by_map(correlations, 1)[..., 1])) > 0.05


def test_each_activation_acts_on_its_own_inputs():
    """One layer with the same weights, the activations applied by hand."""
    pairs = lab.spread_out(20, [0.6, 0.0])
    found = lab.under_law(sp.uniform("1/d"), pairs, 1, 1, sp.Stream(5))[0, ..., 1]
    raw = sp.Chain(20, sp.uniform("1/d")).run(
        np.tile(pairs.reshape(-1, 20), (3, 1)), 1, 1, sp.Stream(5), engine="direct"
    )
    z = raw.measure(lambda h: h.flatten(-2)).values[0, 1].reshape(3, 2, 2, 20)
    for row, phi, pre in zip(found, lab.ACTIVATIONS.values(), z, strict=True):
        h = np.asarray(phi(pre))
        by_hand = (h[:, 0] * h[:, 1]).sum(-1) / np.linalg.norm(h, axis=-1).prod(-1)
        np.testing.assert_allclose(row, by_hand, rtol=1e-12)


def test_student_sums_leave_the_gaussian_like_the_root_of_the_width():
    """The characteristic function of one entry, (1 + |t|) exp(-|t|), beside samples."""
    sample = np.random.default_rng(0).standard_t(3, 200_000) / 3**0.5
    for t in (0.5, 1.0, 2.0):
        value = (1 + t) * np.exp(-t)
        assert np.cos(t * sample).mean() == pytest.approx(value, abs=6 / np.sqrt(2e5))


def test_student_cosine_of_single_entries():
    """Width 2: A is one entry over the root of 2, whose law scipy has."""

    def both(a):
        within = 1 - 2 * stats.t.sf(a * np.sqrt(6), 3)
        return within * (1 - within) * 2 * a

    value = integrate.quad(both, 0, 10)[0] + integrate.quad(both, 10, np.inf)[0]
    assert lab.student_cosine(2) == pytest.approx(value, abs=2e-4)


def test_student_cosine_by_convolution():
    """The law of A by convolution on a grid, and the sum over all pairs."""
    width = 100
    step = 0.004
    x = np.arange(-10_000, 10_001) * step
    upper = stats.t.cdf((x + step / 2) * np.sqrt(3 * width), 3)
    entry = upper - stats.t.cdf((x - step / 2) * np.sqrt(3 * width), 3)
    transform = np.fft.rfft(np.fft.ifftshift(entry), len(x))
    law = np.fft.fftshift(np.fft.irfft(transform ** (width // 2), len(x)))
    squares, order = np.unique(np.round(x**2, 9), return_inverse=True)
    below = np.cumsum(np.bincount(order, law))[:-1]
    by_sum = (below * (1 - below)) @ np.diff(squares)
    assert lab.student_cosine(width) == pytest.approx(by_sum, abs=2e-3)
    assert by_sum - 1 / np.pi > 0.015


def test_with_linear_changes_one_activation():
    limits = lab.by_map([0.5, -0.2], 3)
    changed = lab.with_linear(limits, "GELU")
    np.testing.assert_array_equal(changed[:2], limits[:2])
    np.testing.assert_array_equal(changed[2], np.tile([[0.5], [-0.2]], 4))


def test_exponential_one_layer_by_sampling():
    """From orthogonal inputs: E exp(x - 1)^2 = 1, and the cosine tends to 1/e."""
    rows = lab.exponential([4000], 1, 30, sp.Stream(6))
    layer = rows[rows["layer"] == 1]
    assert layer["second moment"].mean() == pytest.approx(1, abs=0.15)
    assert layer["cosine"].mean() == pytest.approx(np.exp(-1), abs=0.05)
    assert set(rows["run"]) == set(range(30))
