"""Quadrature against closed forms that it does not use."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import owens_t
from scipy.stats import norm

from signalprop.activations import erf
from signalprop.limits.quadrature import (
    Grid,
    _closing_in,
    bivariate_expectation,
    gaussian_expectation,
    panel_rule,
    resolve,
)


@pytest.mark.parametrize("power", range(0, 21, 2))
def test_even_moments_are_double_factorials(power):
    exact = math.prod(range(1, power, 2))
    assert gaussian_expectation(lambda x: x**power) == pytest.approx(exact, rel=4e-15)


@given(st.floats(-6, 6))
@settings(max_examples=30, deadline=None)
def test_a_kink_anywhere(t):
    exact = t * (2 * norm.cdf(t) - 1) + 2 * norm.pdf(t)
    assert gaussian_expectation(lambda x: (x - t).abs(), [t]) == pytest.approx(exact, rel=1e-14)


@given(st.floats(-6, 6))
@settings(max_examples=30, deadline=None)
def test_a_jump_anywhere(t):
    value = gaussian_expectation(lambda x: (x > t).double(), [t])
    assert value == pytest.approx(norm.sf(t), rel=1e-14, abs=1e-17)


@pytest.mark.parametrize("rate", [-0.4, 0.1, 0.24])
def test_growth_just_below_the_gaussian(rate):
    exact = 1 / math.sqrt(1 - 2 * rate)
    value = gaussian_expectation(lambda x: torch.exp(rate * x**2))
    assert value == pytest.approx(exact, rel=1e-13)


def test_far_peaks_are_found():
    value = gaussian_expectation(lambda x: torch.exp(20 * x))
    assert value == pytest.approx(math.exp(200), rel=1e-12)


@pytest.mark.parametrize("rate", [0.5, 0.6, 2.0])
def test_divergent_expectations_are_refused(rate):
    with pytest.raises(ValueError, match="infinite, or beyond double precision"):
        gaussian_expectation(lambda x: torch.exp(rate * x**2))


def test_nan_is_refused():
    with pytest.raises(ValueError, match="Gaussian expectation"):
        gaussian_expectation(lambda x: x / (x - x))


KINKS = [
    ([math.nan], "kinks must be finite"),
    ([0.0, math.inf], "kinks must be finite"),
    (0.0, r"kinks must be one row of numbers, got shape \(\)"),
    ([[0.0]], r"kinks must be one row of numbers, got shape \(1, 1\)"),
    (None, "kinks must be a numeric array, got NoneType"),
]


@pytest.mark.parametrize(("kinks", "words"), KINKS)
def test_kinks_are_numbers(kinks, words):
    for use in (
        lambda: gaussian_expectation(torch.abs, kinks),
        lambda: bivariate_expectation(0.5, torch.abs, kinks=kinks),
    ):
        with pytest.raises(ValueError, match=words):
            use()


def test_an_undeclared_kink_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"not smooth near x = 0\.123.*kinks"):
        gaussian_expectation(lambda x: (x - 0.1234).abs())


def test_steep_functions_are_resolved():
    # E tanh(a x)^2 by the trapezoidal rule, which is exact for analytic functions of this decay
    x = np.arange(-12, 12, 1e-3)
    exact = (np.tanh(50 * x) ** 2 * norm.pdf(x)).sum() * 1e-3
    value = gaussian_expectation(lambda t: torch.tanh(50 * t) ** 2)
    assert value == pytest.approx(exact, rel=1e-13)


def test_rule_is_batched_over_splits():
    splits = torch.tensor([[0.3], [-1.7]], dtype=torch.float64)
    x, weights = panel_rule(splits, 10.0)
    assert x.shape == weights.shape
    above = (weights * (x > splits)).sum(-1)
    torch.testing.assert_close(above.numpy(), norm.sf(splits[:, 0].numpy()), rtol=1e-14, atol=0)


def orthant(h, rho):
    """P(X > h, Y > h) through Owen's T."""
    return norm.sf(h) - 2 * owens_t(h, np.sqrt((1 - rho) / (1 + rho)))


@pytest.mark.parametrize("h", [-1.5975, 0.0, 0.7])
def test_jumps_at_all_correlations(h):
    rho = np.array([-0.999, -0.5, 0.0, 0.5, 0.99, 1 - 1e-6, 1 - 1e-12])
    value = bivariate_expectation(rho, lambda x: (x > h).double(), kinks=[h])
    np.testing.assert_allclose(value, orthant(h, rho), rtol=0, atol=2e-15)


def test_ends_and_unequal_functions():
    value = bivariate_expectation([-1.0, 1.0], torch.abs, torch.sign, kinks=[0.0])
    np.testing.assert_allclose(value, 0, atol=1e-15)
    # E |X| (Y > 0) = E |X| / 2, and E X (Y > 0) = rho / sqrt(2 pi) by Stein's lemma
    rho = np.array([-1.0, -0.3, 0.8, 1.0])
    value = bivariate_expectation(rho, lambda x: x, lambda y: (y > 0).double(), kinks=[0.0])
    np.testing.assert_allclose(value, rho / math.sqrt(2 * math.pi), rtol=1e-13)


def test_bad_correlations_are_refused():
    with pytest.raises(ValueError, match=r"rho must lie in \[-1, 1\]"):
        bivariate_expectation(1.5, torch.tanh)
    with pytest.raises(ValueError, match="rho must be finite"):
        bivariate_expectation(np.nan, torch.tanh)


@pytest.mark.parametrize("gain", [3.0, 10.0, 30.0, 100.0, 1e4, 1e8])
@pytest.mark.parametrize("rho", [-0.95, 0.3, 1 - 1e-9])
def test_steep_functions_that_nobody_announced(gain, rho):
    exact, at_one = (
        erf.kernel(gain).centered(torch.tensor([rho, 1.0], dtype=torch.float64)).tolist()
    )
    ours = bivariate_expectation(rho, lambda x: torch.erf(gain * x))
    assert ours == pytest.approx(exact, abs=2e-14)
    value = gaussian_expectation(lambda x: torch.erf(gain * x) ** 2)
    assert value == pytest.approx(at_one, abs=1e-14)


@pytest.mark.parametrize("rho", [-0.95, 0.3, 0.999])
def test_a_kink_that_an_edge_of_the_panels_hides(rho):
    """Even without its name: panels elsewhere must not run across it."""
    angle = math.asin(rho)
    exact = 2 / math.pi * (math.sqrt(1 - rho**2) + rho * angle)
    assert bivariate_expectation(rho, torch.abs) == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize(("reach", "panels"), [(9.0, 9), (10.0, 10), (10.5, 11)])
def test_panels_of_width_2_with_20_nodes_each(reach, panels):
    nothing = torch.zeros(0, dtype=torch.float64)
    x, weights = panel_rule(nothing, reach)
    assert x.shape == weights.shape == (20 * panels,)
    assert len(panel_rule(nothing, reach, 0.5)[0]) == 20 * 4 * reach
    edges = np.linspace(-reach, reach, panels + 1)
    assert (np.histogram(x.numpy(), edges)[0] == 20).all()
    masses = weights.reshape(panels, 20).sum(-1)
    torch.testing.assert_close(masses.numpy(), np.diff(norm.cdf(edges)), rtol=1e-10, atol=1e-15)


def test_the_reach_is_where_the_rest_is_negligible():
    """Of exp(a x) times the density, a hump around a, what is below 1e-18 of it."""
    for rate, reach in ((0.0, 9.5), (8.0, 17.5), (20.0, 29.5)):
        assert resolve(lambda x, a=rate: torch.exp(a * x))[1].reach == reach
    assert resolve(lambda x: x**20)[1].reach == 12.0


def test_the_grid_of_a_steep_function_closes_in_on_its_kinks_by_halves():
    _, grid = resolve(lambda x: torch.tanh(100 * (x - 0.3)), [0.3], steepness=100.0)
    steps = 2.0 ** -np.arange(11.0)  # down to an eighth of 1/100, rounded to a power of 2
    around = np.concatenate([-steps, [0.0], steps])
    expected = np.unique(np.concatenate([around, 0.3 + around, [0.3]]))
    found = grid.knots.numpy()
    assert np.isin(expected.round(12), found.round(12)).all()
    assert grid.kinks.tolist() == [0.3]
    assert len(resolve(torch.tanh, steepness=16.0)[1].knots) == 0, "halving the panels does"


def test_grids_are_scaled_cut_and_joined():
    one = Grid(torch.tensor([1.0]), torch.tensor([1.0, 8.0]), 5.0)
    other = Grid(torch.tensor([2.0]), torch.tensor([1.0, 2.0]), 7.0)
    assert [list(p) for p in one.scaled(2.0)[:2]] == [[2.0], [2.0, 16.0]]
    assert one.scaled(2.0).reach == 5.0
    assert one.within(1.5).knots.tolist() == [1.0]
    assert one.within(1.6).knots.tolist() == [1.0, 8.0]
    both = one.joined(other)
    assert (both.kinks.tolist(), both.knots.tolist()) == ([1.0, 2.0], [1.0, 2.0, 8.0])
    assert both.reach == other.joined(one).reach == 7.0


def test_a_closing_grid_halves_its_distances_so_many_times():
    found = _closing_in(torch.tensor([5.0], dtype=torch.float64), 2)
    around = [-1, -0.5, -0.25, 0, 0.25, 0.5, 1]
    assert sorted(found.tolist()) == [*around, *(5 + step for step in around)]
