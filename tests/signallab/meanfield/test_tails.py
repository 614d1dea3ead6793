"""Deviations with their matrices formed; tails by enumeration; the theorem's sides by hand."""

import itertools

import numpy as np
import pytest
from scipy import stats

import signalprop as sp
from signallab.meanfield import tails as lab
from signallab.meanfield import total_variation as tv
from signalprop.random import Stream


def test_scalar():
    found = lab.scalar(3.0, width=4, chance=0.25)
    assert (found.plain, found.symmetric, found.batch, found.width) == (9, 9, 1, 4)
    x = np.linspace(1e-9, 200, 400_001)
    difference = stats.chi2.pdf(x, 4) - stats.chi2.pdf(x / 4, 4) / 4
    expected = np.abs(difference).sum() * (x[1] - x[0]) / 2
    assert found.given == found.marginal == pytest.approx(expected, rel=1e-5)


def test_skewed():
    """The plain norm is eta^2 (kappa + 1/kappa); the eigenvalues of the product are 1 +- eta."""
    found = lab.skewed(0.1, 50.0)
    assert found.plain == pytest.approx(0.01 * 50.02)
    assert found.symmetric == pytest.approx(0.02)
    x, y = np.meshgrid(*2 * [np.linspace(-9, 9, 1201)])
    g = np.linalg.inv([[1, 0.1], [0.1, 1]])
    form = g[0, 0] * x**2 + 2 * g[0, 1] * x * y + g[1, 1] * y**2
    difference = np.exp(-form / 2) / np.sqrt(0.99) - np.exp(-(x**2 + y**2) / 2)
    expected = np.abs(difference).sum() * 0.015**2 / 4 / np.pi
    assert found.given == pytest.approx(expected, rel=1e-3)


def test_turned_against_samples():
    delta, n = 0.6, 8
    found = lab.turned(delta, n)
    assert found.plain == found.symmetric == pytest.approx(n * delta**2)
    draw = np.random.default_rng(0)
    x = draw.normal(size=(400_000, n))
    variances = np.repeat([1 + delta, 1 - delta], n // 2)
    log_ratio = (x**2 * (1 - 1 / variances) - np.log(variances)).sum(axis=1) / 2
    lost = np.maximum(1 - np.exp(log_ratio), 0)
    assert abs(lost.mean() - found.given) < 6 * stats.sem(lost)
    # of the lengths: the event "inside an interval" is the best there is
    first, second = (x**2).sum(axis=1), (x**2 * variances).sum(axis=1)
    edges = np.quantile(first, np.linspace(0, 1, 41))
    binned = [np.histogram(s, edges)[0] / len(s) for s in (first, second)]
    inside = np.abs(binned[0] - binned[1]).sum() / 2
    outside = (1 - binned[1].sum()) / 2
    assert inside + outside == pytest.approx(found.marginal, abs=0.01)
    assert lab.convexity(lambda: found).left == found.marginal
    assert lab.convexity(lambda: found, reverse=True).left == found.given


def test_lengths_of_one_scale():
    assert tv.of_lengths(1.3, 1.3, 3) == pytest.approx(tv.between_scales(1.3, 6), abs=1e-4)


def test_lemma_b_7_by_hand():
    deviation = lab.Deviation("", 2, 3, 4.0, 9.0, 0.5, 0.3, 0.2)
    case = lab.lemma_b_7(lambda: deviation)
    assert (case.left, case.right) == (pytest.approx(0.008), pytest.approx(0.06))
    case = lab.lemma_b_7(
        lambda: deviation, part=lambda d: d.symmetric, constant=2.0, given=True, chance=False
    )
    assert (case.left, case.right) == (18, pytest.approx(0.1))


@pytest.mark.parametrize("t", [0.1, 0.35, 0.36, 0.7])
def test_exact_tail_by_enumeration(t):
    """All 2^6 layers of six neurons, their Gram matrices formed."""
    norms = []
    for which in itertools.product((0, 1), repeat=6):
        y = np.eye(2)[list(which)]
        norms.append(np.linalg.norm(y.T @ y / 6 - np.eye(2) / 2))
    assert lab.exact_tail(6, t) == pytest.approx(np.mean(np.array(norms) >= t - 1e-9))


def test_theorem_by_hand():
    """d = 16: eps = 2/4."""
    case = lab.theorem_b_6(16, 0.5, 3.0)
    assert case.right == pytest.approx(3 * 4 * np.log(2) / 4)
    assert case.left == lab.exact_tail(16, 0.5)
    case = lab.theorem_b_6(16, 0.5, logarithm=lambda eps: 1 / eps, power=1, order=3)
    assert case.right == pytest.approx(2 / 8 * 2)
    assert case.hypotheses == {"G* is not degenerate": True}
    deep = lab.theorem_b_6(5, 0.5, 3.0, depth=7)  # eps = 2/sqrt 5, alpha = 1/32, |G*| = 1/2
    inner = (31 / 32) ** 7 / 4 + 32 * 4 / 5 * np.log(5**0.5 / 2)
    assert deep.right == pytest.approx(3 * 4 * inner)
    assert list(deep.hypotheses.values()) == [True, True]
    case = lab.exponential(16, 0.5, factor=3, rate=0.5)
    assert case.right == pytest.approx(3 * np.exp(-2))


def test_moved_norm_by_hand():
    """ReLU, five samples: eigenvalues of G* by the library, the rest written out."""
    large, small = sp.limits.gram_fixed_point(sp.activations.relu, 5).eigenvalues
    eps, moved = 5 / small / 40, 5 * large / small / 40
    case = lab.moved_norm(5, 1600, 2.0)
    assert case.left == pytest.approx((5 * large / small / 40) ** 2 * np.log(1 / eps))
    assert case.right == pytest.approx(2 * moved**2 * np.log(1 / moved))
    kept = lab.moved_norm(5, 1600, kept=True, power=3)
    assert kept.right == pytest.approx(moved**3 * np.log(1 / eps))
    assert all(case.hypotheses.values())
    assert lab.epsilon(sp.activations.relu, 5, 1600) == pytest.approx(moved)


def test_gram_deviations_of_two_samples_have_the_exact_tail():
    found = lab.gram_deviations(sp.activations.relu, 2, 50, 4, 4000, Stream(0))
    for t in (0.05, 0.1, 0.15):
        expected = lab.exact_tail(50, t)
        error = np.sqrt(expected * (1 - expected) / 4000)
        assert abs(np.mean(found >= t * (1 - 1e-9)) - expected) < 6 * error


def test_some_layer():
    """Three layers of 64 neurons, by inclusion and exclusion."""
    narrow = lab.some_layer(64, 3)
    radius = 2 / 8 * np.sqrt(2 * np.log(32))
    once = 2 * stats.binom.sf(np.ceil((1 + np.sqrt(2) * radius) * 32) - 1, 64, 0.5)
    assert narrow.left == pytest.approx(3 * once - 3 * once**2 + once**3, rel=1e-6)
    assert narrow.right == 0.5
    seen = lab.some_layer(64, 3, bound=lambda width, layers, r: width + layers + r)
    assert seen.right == pytest.approx(67 + radius)
