import numpy as np
import pytest
from scipy import optimize

from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_decomposed")


@pytest.mark.parametrize("alpha", [1.1, 2.5, 7.0])
@pytest.mark.parametrize("gamma", [0.05, 0.25, 0.5])
def test_equation_7a_is_chernoffs_bound_and_7b_is_weaker(alpha, gamma):
    # Per geometric variable: E exp(s y) exp(-s alpha/gamma), minimized over s.
    def exponent(s):
        return np.log(gamma * np.exp(s) / (1 - (1 - gamma) * np.exp(s))) - s * alpha / gamma

    best = optimize.minimize_scalar(
        exponent, bounds=(0, -np.log1p(-gamma) * (1 - 1e-12)), options={"xatol": 1e-12}
    )
    bound = theory.dec_equation_7a(alpha, 3, gamma)
    assert bound == pytest.approx(-np.expm1(3 * best.fun), rel=1e-9)
    assert bound >= theory.dec_equation_7b(alpha, 3)


def test_theorem_3_bounds_geometric_waiting_times():
    gamma, n = 0.3, 4
    waits = STREAM.numpy("waits").geometric(gamma, size=(200_000, n)).sum(axis=1)
    assert waits.mean() == pytest.approx(theory.dec_theorem_3(n, gamma), rel=0.01)
    for alpha in (1.5, 2.0, 3.0):
        assert (waits <= alpha * n / gamma).mean() >= theory.dec_equation_7a(alpha, n, gamma)


def test_contribution_is_the_sum_over_all_sequences():
    n, size, layers = 7, 3, 6
    terms = [
        np.prod([size / n if bit == "1" else (n - size) / n for bit in f"{k:05b}"]) ** 2
        for k in range(2 ** (layers - 1))
    ]
    expected = ((n - size) / n) ** 2 * sum(terms)
    assert theory.dec_contribution(n, size, layers) == pytest.approx(expected)


def test_growth_is_largest_for_the_most_unbalanced_splits():
    n = 9
    growth = theory.dec_growth(n, np.arange(1, n))
    assert sorted(np.argsort(growth)[-2:] + 1) == [1, n - 1]


def test_equation_62_bounds_its_sum():
    # Eq. 61 from T = 2; below, the sum is empty.
    for n in range(4, 40):
        for layers in (2, 5, 30, 100):
            s = np.arange(1, layers)
            two = (4 + (n - 2) ** 2) / n**2
            total = ((n - 2) / n) ** 2 * (((n - 1) / n) ** (2 * s) * two ** (layers - 1 - s)).sum()
            assert total <= theory.dec_equation_62(n, layers) * (1 + 1e-12)


def test_kernel_is_a_mean_over_gaussian_weights():
    rho = 0.3
    x, z = STREAM.numpy("kernel").normal(size=(2, 1_000_000))
    y = rho * x + np.sqrt(1 - rho**2) * z
    samples = 2 * np.maximum(x, 0) * np.maximum(y, 0)
    error = samples.std() / 1000
    assert abs(theory.dec_kernel(rho) - samples.mean()) < 6 * error


def test_infinite_width_map_is_the_limit_of_wide_layers():
    x = STREAM.numpy("inputs").normal(size=(6, 4))
    x[5] = x[:5].mean(axis=0)  # a point at the mean
    weights = STREAM.numpy("weights").normal(size=(4, 200_000))
    y = np.maximum((x - x.mean(axis=0)) @ weights, 0)
    gram = y @ y.T
    expected = theory.dec_infinite_width_map(x @ x.T)
    np.testing.assert_allclose(gram / gram.diagonal().max(), expected, atol=0.02)
    # A point at the mean is zero to the square root of rounding.
    np.testing.assert_allclose(theory.dec_infinite_width_map(7 * x @ x.T), expected, atol=1e-7)


def test_invariant_representation_keeps_its_squared_norms():
    # Theorem 13 for squares, in closed form: half of alpha times the centred squared norms.
    for n in range(2, 30):
        alpha, radius = theory.dec_theorem_13_alpha(n), theory.dec_invariant_radius(n)
        assert alpha * (radius * (n - 1) / n) ** 2 == pytest.approx(1)
        assert alpha * (radius / n) ** 2 == pytest.approx(1 / (n - 1) ** 2)
        assert theory.dec_theorem_14_alpha(n, radius) == pytest.approx(alpha)
        assert radius < n / (n - 1)  # what Theorem 14 asks to be exceeded


def test_theorem_11_constants():
    assert theory.dec_theorem_11_norms(np.array([3, 5])).tolist() == [3.0, 1.0]
    angle = theory.dec_theorem_11_angle(12)
    assert np.pi / 2 - angle == pytest.approx(np.sqrt(2 * np.pi) / 10)
    assert theory.dec_theorem_11_angle(12, constant=np.sqrt(2) * np.pi) < angle
    assert theory.dec_corollary_4(3, 0.5) == 6


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.dec_theorem_3(3, 0.0), "gamma"),
        (lambda: theory.dec_equation_7a(1.0, 3, 0.2), "alpha"),
        (lambda: theory.dec_equation_7b(0.5, 3), "alpha"),
        (lambda: theory.dec_equation_62(3, 5), "batch"),
        (lambda: theory.dec_theorem_11_norms(2), "batch"),
        (lambda: theory.dec_kernel(1.5), "rho"),
        (lambda: theory.dec_infinite_width_map(np.ones((3, 3))), "points that differ"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
