"""The steps of the contraction against computer algebra, mpmath, sampling and closed forms."""

import mpmath
import numpy as np
import pytest
import sympy
import torch
from scipy.stats import ks_2samp

import signalprop as sp
from signallab.orthogonality import contraction_of_the_spectrum as lab
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_contraction_of_the_spectrum")


def share_of_last(s):
    """p_n by mpmath, from ORTH Eq. 15."""
    s = [mpmath.mpf(float(x)) for x in s]

    def integrand(t):
        return s[-1] / (1 + 2 * t * s[-1]) / mpmath.sqrt(mpmath.fprod(1 + 2 * t * x for x in s))

    return float(mpmath.quad(integrand, [0, 1, 10, 100, 1000, 10**5, mpmath.inf]))


def test_lemma_8_by_mpmath():
    case = lab.lemma_8(3, count=4, stream=STREAM, rate=lambda s, n: n * s)
    geometric = 0.3 ** np.arange(3) / (0.3 ** np.arange(3)).sum()
    found = np.isclose(case.right, (1 - 3 * geometric[-1]) * (1 / 3 - geometric[-1]), rtol=1e-12)
    assert found.sum() == 1
    assert case.left[found][0] == pytest.approx(1 / 3 - share_of_last(geometric), abs=1e-9)


def test_lemma_8_as_printed():
    printed = lab.lemma_8(4, count=6, stream=STREAM)
    other = lab.lemma_8(4, count=6, stream=STREAM, rate=lambda s, n: 0 * s)
    vhat = other.right
    np.testing.assert_allclose(printed.right, (1 - 2 / 3 * (1 / 4 - vhat)) * vhat)
    assert vhat.min() == pytest.approx(1e-4 / 4, rel=1e-6)  # the nearest to the flat spectrum
    assert vhat.max() == pytest.approx(1 / 4)  # a missing direction
    assert printed.hypotheses == {"the entries sum to 1": True}


@pytest.mark.parametrize("n", [2, 5, 40])
def test_best_constant_ends_at_that_of_lemma_8(n):
    near = lab.best_constant([n], np.array([1 - 1e-5]))["constant"].item()
    assert near == pytest.approx(2 * n / (n + 2), rel=1e-4)


def test_best_constant_of_two_samples_in_closed_form():
    """p_2 = sqrt s_2 / (sqrt s_1 + sqrt s_2)."""
    frame = lab.best_constant([2], np.array([0.2, 0.8]))
    s = frame["share"] / 2
    p = np.sqrt(s) / (np.sqrt(s) + np.sqrt(1 - s))
    np.testing.assert_allclose(frame["constant"], (p / s - 1) / (1 / 2 - s), rtol=1e-12)


def test_growth_is_the_ratio_of_the_last_entries():
    s = np.array([0.5, 0.3, 0.2])
    assert lab.growth(s) == pytest.approx(share_of_last(s) / 0.2, rel=1e-8)


def test_worst_spectrum_compares_spectra_with_one_last_entry():
    def unchanged(last, n):
        s = sp.spectra.varied(n, 9, STREAM)
        s = s[s[:, -1] > 0]
        np.testing.assert_array_equal(s[:, -1], last)
        return s

    case = lab.worst_spectrum(4, count=9, stream=STREAM, others=unchanged)
    np.testing.assert_array_equal(case.left, case.right)
    equal = lab.worst_spectrum(4, count=9, stream=STREAM)
    last = sp.spectra.varied(4, 9, STREAM)[-1, -1]
    rest = (1 - last) / 3
    assert equal.left[-1] == pytest.approx(share_of_last([rest] * 3 + [last]) / last, rel=1e-7)


@pytest.mark.parametrize("n", [3, 5])
def test_the_minimizer_finds_equal_entries(n):
    found = lab.others_that_minimize(0.5 / n, n)
    assert found[-1] == 0.5 / n
    np.testing.assert_allclose(found[:-1], (1 - 0.5 / n) / (n - 1), rtol=1e-3)


def test_sampled_shares_have_the_mean_of_the_integral():
    spectra = [np.array([0.9, 0.1]), np.array([0.5, 0.3, 0.2])]
    shares = lab.sampled_shares(spectra, 40_000, STREAM)
    expected = [0.25, share_of_last(spectra[1])]
    errors = shares.std(axis=0) / np.sqrt(len(shares))
    assert np.all(np.abs(shares.mean(axis=0) - expected) < 6 * errors)


@pytest.mark.parametrize("n", [2, 9])
def test_tangent_by_mpmath(n):
    case = lab.tangent(n, slope=lambda n: 7.0)
    base = [0, 1, 10, 100, 1000, mpmath.inf]
    first = mpmath.quad(lambda t: 2 * t * (1 + 2 * t / n) ** (-mpmath.mpf(n) / 2 - 2), base)
    np.testing.assert_allclose(case.left, [1, float(first)], rtol=1e-6)
    assert case.right.tolist() == [1, 7]
    assert lab.tangent(n).right[1] == 2 * n / (n + 2)


def test_convexity_by_the_logarithm():
    """g''/g = (log g)'' + (log g)'^2, both by hand."""
    n, theta = 4, np.logspace(-3, 6, 37)[:, None]
    delta = np.linspace(0, 1, 11) / n
    low, high = 1 + 2 * theta * (1 / n - delta), 1 + 2 * theta * (1 / n + delta / (n - 1))
    slope = 3 * theta / low - theta / high
    second = 6 * theta**2 / low**2 + 2 * theta**2 / (n - 1) / high**2
    case = lab.convexity(n, factor=2.0)
    np.testing.assert_allclose(case.right, second + slope**2, rtol=1e-9)
    np.testing.assert_allclose(case.left, 2 * slope**2, rtol=1e-9)
    assert not lab.convexity(n).left.any()


def test_factors_as_symbols():
    """The identity for all n, theta and delta, which the page tests at points."""
    n, theta, delta = sympy.symbols("n theta delta", positive=True)
    low = 1 + 2 * theta * (1 / n - delta)
    high = 1 + 2 * theta * (1 / n + delta / (n - 1))

    def helper(k):
        return low ** (-sympy.Rational(3, 2) - k) * high ** (-(n - 1) / 2 - k)

    h_2 = 2 + 4 * theta / n + theta * delta * (2 * n + 4) / (n - 1)
    h_4 = (4 * n - 6) / (n - 1) * (1 + 2 * theta / n) + 2 * theta * delta * (n + 6) / (n - 1)
    for k, factor in ((0, h_2), (1, h_4)):
        quotient = sympy.diff(helper(k), delta) / (theta * helper(k + 1))
        assert sympy.simplify(quotient - factor) == 0


@pytest.mark.parametrize("point", [(3, 0.7, 0.2), (8, 5.0, 0.1)])
def test_factors_at_points(point):
    n, theta, delta = point
    h_2 = lab.factor_h_2(*point)
    assert h_2.left == pytest.approx(h_2.right, rel=1e-12)
    assert lab.factor_h_2(*point, slope=lambda n: 0).right == pytest.approx(2 + 4 * theta / n)
    right = (4 * n - 6) / (n - 1) * (1 + 2 * theta / n) + 2 * theta * delta * (n + 6) / (n - 1)
    options = {"outer": lambda n: 4 * n - 6, "middle": lambda n: n, "slope": lambda n: n + 6}
    case = lab.factor_h_4(*point, **options)
    assert case.right == pytest.approx(right)
    assert case.left == pytest.approx(right)
    paper = (4 * n - 2) / (n - 1) * (1 + 2 * theta) + 2 * theta * delta * (n + 2) / (n - 1)
    assert lab.factor_h_4(*point).right == pytest.approx(paper)


def draws_of(name, rng, count=200_000):
    """X1 and X2 by their description."""
    if name.startswith("share"):
        s = np.array([0.9, 0.1] if "two" in name else [0.6, 0.3, 0.1])
        squares = s * rng.standard_normal((count, len(s))) ** 2
        return squares.sum(axis=1), squares[:, -1]
    if "+ E" in name:
        e = rng.exponential(size=count)
        return 1 + e, (np.ones(count) if name.startswith("1") else e)
    shape = {"biased sign / Gamma(2)": 2, "biased sign / Gamma(1.5)": 1.5, "fair sign / E": 1}[name]
    up = 0.5 if name.startswith("fair") else 0.75
    return rng.standard_gamma(shape, count), np.where(rng.random(count) < up, 1.0, -1.0)


@pytest.mark.parametrize("name", list(lab.RATIOS))
def test_ratios_are_what_their_functions_say(name):
    """The generating function and both truncated means against samples."""
    pair, rng = lab.RATIOS[name], STREAM.numpy("ratio", name)
    x1, x2 = draws_of(name, rng)
    t1, t2 = -0.7, 0.05
    values = np.exp(t1 * x1 + t2 * x2)
    mgf = float(pair.mgf(torch.tensor([t1], dtype=torch.float64), torch.tensor([t2]).double())[0])
    assert abs(values.mean() - mgf) < 6 * values.std() / np.sqrt(len(values))
    cut = 0.3
    for part, sign in ((pair.positive, 1), (pair.negative, -1)):
        ratio = np.maximum(sign * x2 / x1, 0)
        # the shares are given without a cut, which does not matter where it is tiny
        kept = ratio if name.startswith("share") else ratio * (x1 > cut)
        assert abs(kept.mean() - part(cut)) <= 6 * kept.std() / np.sqrt(len(kept)) + 1e-15


def test_lemma_9_fails_only_without_a_mean():
    for name, pair in lab.RATIOS.items():
        case = lab.lemma_9(name, finite=True)
        assert case.hypotheses["|X2| / X1 has a finite mean"] is pair.finite
        assert (abs(case.left - case.right) < 1e-12) is pair.finite
        assert all(lab.lemma_9(name).hypotheses.values())
    heavy = lab.lemma_9("fair sign / E", cut=1e-50)
    assert heavy.left == pytest.approx(25 * np.log(10))  # (log cut^-2 - log cut^-1) / 2


def test_running_means_settle_only_with_a_mean():
    frame = lab.running_means([1.0, 3.0], 2000, 300, STREAM)
    last = frame[frame["terms"] == 2000].groupby("shape")["average"].std()
    assert last[3.0] == pytest.approx(np.sqrt(1 / 2 / 2000), rel=0.3)  # E[1/X1^2] = 1/2
    # Averages of as many terms as one likes have the law of one: stable with exponent 1.
    heavy = frame[frame["shape"] == 1.0]
    few, many = (heavy[heavy["terms"] == k]["average"] for k in (frame["terms"].unique()[60], 2000))
    assert np.subtract(*np.quantile(many, [0.75, 0.25])) > 0.5
    assert ks_2samp(few, many).pvalue > 1e-7


def test_gaussian_weights_give_the_integral_and_signs_change_nothing():
    s = np.array([0.6, 0.3, 0.1])
    laws = {"Gaussian": sp.weights.gaussian(), "signs": sp.weights.rademacher()}
    vhat = lab.vhat_by_law(s, laws, 512, 50, STREAM).set_index("weights")["vhat"]
    assert vhat["Gaussian"] == pytest.approx(1 / 3 - theory.expected_spectrum(s)[-1], abs=0.01)
    assert vhat["signs"] == pytest.approx(1 / 3 - 0.1, abs=1e-12)
