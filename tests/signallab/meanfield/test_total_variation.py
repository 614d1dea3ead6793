"""Closed forms and quadratures against integration on a grid, samples, and each other."""

import numpy as np
import pytest
from scipy import stats

from signallab.meanfield import total_variation as tv


@pytest.mark.parametrize("ratio", [0.3, 0.99, 1.01, 4.0])
def test_one_row_against_a_grid(ratio):
    x = np.linspace(-40, 40, 400_001)
    difference = stats.norm.pdf(x) - stats.norm.pdf(x, scale=np.sqrt(ratio))
    assert tv.between_scales(ratio) == pytest.approx(np.abs(difference).sum() * 1e-4, rel=1e-6)


def test_many_rows_against_the_sum_of_squares_on_a_grid():
    x = np.linspace(1e-6, 200, 400_001)
    difference = stats.chi2.pdf(x, 30) - stats.chi2.pdf(x / 1.4, 30) / 1.4
    expected = np.abs(difference).sum() * (x[1] - x[0]) / 2
    assert tv.between_scales(1.4, 30) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("rows", [(1, 1), (3, 4), (25, 10)])
@pytest.mark.parametrize("ratio", [0.5, 3.0])
def test_two_equal_scales_are_one(rows, ratio):
    """With one row each the integrand has a kink with a pole behind it: four digits only."""
    both = tv.between_two_scales(ratio, ratio, rows)
    accuracy = 3e-4 if rows == (1, 1) else 2e-5
    assert both == pytest.approx(tv.between_scales(ratio, sum(rows)), abs=accuracy)


@pytest.mark.parametrize(("first", "second"), [(1.5, 0.6), (0.6, 1.5), (2.0, 1.3)])
def test_two_scales_against_samples(first, second):
    rows = (3, 5)
    variances = np.repeat([first, second], rows)
    x = np.random.default_rng(0).normal(size=(400_000, 8))
    log_ratio = (x**2 * (1 - 1 / variances) - np.log(variances)).sum(axis=1) / 2
    lost = np.maximum(1 - np.exp(log_ratio), 0)
    found = tv.between_two_scales(first, second, rows)
    assert abs(lost.mean() - found) < 6 * stats.sem(lost)


def test_signs():
    m, chances = tv.signs(3)
    np.testing.assert_allclose(m, [-1, -1 / 3, 1 / 3, 1])
    np.testing.assert_allclose(chances, [1 / 8, 3 / 8, 3 / 8, 1 / 8])
    assert tv.signs(1000)[1].sum() == pytest.approx(1)


def test_mixtures_against_samples():
    """The whole matrices, with their densities written out."""
    width, first, second = 5, ([0.2], [1.0]), ([-0.5, 0.6], [0.3, 0.7])
    draw = np.random.default_rng(1)
    root = np.linalg.cholesky([[1, 0.2], [0.2, 1]])
    h = draw.normal(size=(300_000, width, 2)) @ root.T

    def density(m):
        g = np.array([[1, m], [m, 1]])
        form = np.einsum("kri,ij,krj->k", h, np.linalg.inv(g), h)
        return np.exp(-form / 2) / np.linalg.det(g) ** (width / 2)

    ratio = sum(p * density(m) for m, p in zip(*second, strict=True)) / density(0.2)
    lost = np.maximum(1 - ratio, 0)
    found = tv.between_mixtures(width, first, second)
    assert abs(lost.mean() - found) < 6 * stats.sem(lost)
    assert tv.between_mixtures(width, second, first) == pytest.approx(found, abs=1e-5)


def test_ends_are_compared_by_themselves():
    ends = ([-1.0, 1.0], [0.25, 0.75])
    assert tv.between_mixtures(3, ends, ([0.0], [1.0])) == pytest.approx(1)
    assert tv.between_mixtures(3, ends, ([-1.0, 1.0], [0.5, 0.5])) == pytest.approx(0.25)


def test_bad_input():
    with pytest.raises(ValueError, match="ratio must be positive"):
        tv.between_scales(0.0)
    with pytest.raises(ValueError, match="must be positive and not 1"):
        tv.between_two_scales(1.0, 2.0, (1, 1))
    with pytest.raises(ValueError, match="rows must be at least 2"):
        tv.of_lengths(1.1, 0.9, 1)
