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
    for expected in (theory.dec_theorem_3(n, gamma), theory.dec_corollary_4(n, gamma)):
        assert waits.mean() == pytest.approx(expected, rel=0.01)
    for alpha in (1.5, 2.0, 3.0):
        assert (waits <= alpha * n / gamma).mean() >= theory.dec_equation_7a(alpha, n, gamma)


def test_equation_7b_is_equation_7a_for_rare_classes():
    """As gamma falls to 0, ``alpha / gamma`` geometric trials become a Poisson process."""
    for alpha, n in ((1.3, 2), (4.0, 1)):
        limit = theory.dec_equation_7a(alpha, n, 1e-7)
        assert theory.dec_equation_7b(alpha, n) == pytest.approx(limit, rel=1e-5)


def test_equation_7b_is_chernoffs_bound_for_exponential_waiting_times():
    # P(sum of n standard exponentials >= alpha n) <= (E exp(s x) exp(-s alpha))^n, s = 1 - 1/alpha
    alpha, n = 2.5, 4
    s = 1 - 1 / alpha
    bound = (np.exp(-s * alpha) / (1 - s)) ** n
    assert theory.dec_equation_7b(alpha, n) == pytest.approx(1 - bound, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.dec_theorem_3(3, 0.0), "gamma"),
        (lambda: theory.dec_corollary_4(3, 1.0), "gamma"),
        (lambda: theory.dec_equation_7a(2.0, 3, -0.1), "gamma"),
        (lambda: theory.dec_equation_7a(1.0, 3, 0.2), "alpha"),
        (lambda: theory.dec_equation_7b([2.0, 1.0], 3), "alpha"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
