"""Kernel matrices beside wide layers; probabilities beside simulation and by hand."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

import signalprop as sp
from signallab.conditioning import one_relu_layer as lab


def test_inputs():
    for x in lab.INPUTS.values():
        np.testing.assert_allclose((x**2).sum(1), 1)
        assert 0 < lab.separation(x) < 1
    simplex = lab.INPUTS["10 of cosine 0.99"]
    np.testing.assert_allclose((simplex @ simplex.T)[np.triu_indices(10, 1)], 0.99)
    with pytest.raises(ValueError, match="spacing"):
        lab.arc(4, 1.0)


def test_separation_counts_opposite_inputs():
    x = lab.arc(3, math.pi / 3)
    assert lab.separation(x) == pytest.approx(0.5)
    assert lab.separation(lab.arc(2, 3 * math.pi / 7)) == pytest.approx(
        1 - math.cos(3 * math.pi / 7)
    )
    assert lab.separation(np.array([[1.0, 0], [-0.6, 0.8]])) == pytest.approx(0.4)


def test_smallest_of_two_and_of_a_fan():
    t = 0.7
    other = (math.sin(t) + (math.pi - t) * math.cos(t)) / (2 * math.pi)
    assert lab.smallest(lab.arc(2, t)) == pytest.approx(0.5 - other)
    limit = math.sqrt(2) / (12 * math.pi)
    rows = lab.per_spacing([128], [math.pi / 128])
    assert rows["over δ^(3/2)"][0] == pytest.approx(limit, rel=1e-3)


def test_per_spacing():
    rows = lab.per_spacing([3, 5], [0.2, 0.1])
    assert rows["inputs"].tolist() == [3, 3, 5, 5]
    np.testing.assert_allclose(rows["separation"], 1 - np.cos(rows["spacing"]))
    for low, high in [
        ("Theorem 56", "with logarithm"),
        ("with logarithm", "discs"),
        ("discs", "smallest eigenvalue"),
    ]:
        assert np.all(rows[low] < rows[high])


def test_fitted_exponents():
    np.testing.assert_allclose(lab.fitted_exponents(4, [0.02, 0.01]), 1.5, atol=0.01)
    np.testing.assert_allclose(lab.fitted_exponents(2, [0.002, 0.001]), 1, atol=0.01)


def test_floors():
    case = lab.floors("a fan of 4", "Theorem 56", factor=2)
    delta = 1 - math.sqrt(0.5)
    assert case.left == pytest.approx(2 * delta**1.5 / 4e6 / 64)
    assert case.right == pytest.approx(lab.smallest(lab.INPUTS["a fan of 4"]))
    case = lab.floors("a fan of 4", "Note", power=2 / 3)
    assert case.left == pytest.approx(delta / math.log(8) ** 1.5 / 250)
    case = lab.floors("a pair at angle 0.1", "floor")
    assert case.left == pytest.approx(case.right, rel=1e-4)


def test_wide_layers_approach_the_kernel():
    x = lab.arc(3, 1.0)
    values = lab.wide(x, 30_000, 8, sp.Stream(3))
    np.testing.assert_allclose(values, lab.smallest(x), rtol=0.15)
    assert len(np.unique(values)) == 8
    assert lab.wide_enough(x, 30_000, 4, sp.Stream(3)).all()
    assert not lab.wide_enough(x, 2, 4, sp.Stream(3)).any()


def _simulated(x, delta, theta, runs, seed):
    """How often the event of Lemma 57 happens, given that w . x_1 is small, and that chance."""
    n = len(x)
    rng = np.random.default_rng(seed)
    spread, small = math.sqrt(1 - theta**2), math.sqrt(delta) / (10 * n)
    chance = 2 * norm.cdf(small / spread) - 1
    a = spread * norm.ppf(0.5 + chance * (rng.random(runs) - 0.5))
    g = rng.standard_normal((runs, x.shape[1]))
    g -= np.outer(g @ x[0], x[0])
    others = (np.outer(a, x[0]) + g) @ x[1:].T
    return int((np.abs(others) > math.sqrt(delta) / (4 * n)).all(1).sum()), chance


@pytest.mark.parametrize(("n", "delta"), [(2, 0.9), (5, 0.1), (12, 0.5)])
def test_equicorrelated_event(n, delta):
    x = np.linalg.cholesky(delta * np.eye(n) + 1 - delta)
    for root, theta in ((2, delta**0.5 / (5 * n)), (4, delta**0.25 / (5 * n))):
        case = lab.equicorrelated_event(n, delta, root)
        assert case.left == pytest.approx(math.sqrt(delta) / (50 * n))
        hits, chance = _simulated(x, delta, theta, 40_000, n)
        exact = case.right / chance
        assert binom.ppf(1e-7, 40_000, exact) <= hits <= binom.isf(1e-7, 40_000, exact)
    assert lab.equicorrelated_event(n, delta, least=0.5).left == pytest.approx(
        math.sqrt(delta) / (2 * n)
    )


@pytest.mark.parametrize("n", [3, 6])
def test_event_of_a_fan(n):
    x = lab.arc(n, math.pi / n)
    delta = 1 - math.cos(math.pi / n)
    case = lab.event(n, 2)
    assert case.left == pytest.approx(math.sqrt(delta) / (50 * n))
    hits, chance = _simulated(x, delta, math.sqrt(delta) / (5 * n), 40_000, n)
    exact = case.right / chance
    assert binom.ppf(1e-7, 40_000, exact) <= hits <= binom.isf(1e-7, 40_000, exact)
    assert lab.event(n, 4).right > case.right  # a larger theta concentrates w . x_1


def test_misses_and_variance():
    case = lab.misses(3, 0.5)
    assert case.left == pytest.approx(2 * norm.cdf(math.sqrt(0.5 / 0.75) / 12) - 1)
    assert case.right == pytest.approx(1 / 24)
    assert lab.misses(3, 0.5, share=0.2).right == pytest.approx(0.2 / 3)
    case = lab.variance(0.4, power=1, over=0.5)
    assert (case.left, case.right) == (pytest.approx(0.8), pytest.approx(0.64))


@pytest.mark.parametrize("degrees", lab.ANGLES)
def test_kink(degrees):
    printed, mended = lab.kink(degrees), lab.kink(degrees, mended=True)
    assert all(printed.hypotheses.values())
    # all three values of |T| are alpha_1 c / 4, so the second difference is alpha_1 c
    assert printed.right == pytest.approx(mended.right, rel=1e-12)
    c = printed.left
    assert mended.left == pytest.approx(c / 4 / math.sqrt(3))
    assert 1 / math.sqrt(3) <= 4 * mended.right / c < 1
    assert lab.kink(degrees, factor=3).left == pytest.approx(3 * c)


def test_nonsingular():
    case = lab.nonsingular("a fan of 12", "fifth degree")
    assert case.left == pytest.approx(12 * 2e-12 * 6)
    assert case.right < case.left
    case = lab.nonsingular("a fan of 8", "ReLU")
    assert case.right == pytest.approx(lab.smallest(lab.INPUTS["a fan of 8"]))


def test_coefficient():
    assert lab.coefficient(2).right == pytest.approx(1 / (4 * math.pi))
    assert lab.coefficient(5).right < lab.coefficient(5).left == 1e-10
    assert lab.coefficient(4, "tanh").right < 1e-20
