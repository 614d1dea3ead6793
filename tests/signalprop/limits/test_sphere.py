import mpmath
import numpy as np
import pytest
import torch
from scipy import integrate, stats

from signalprop.limits import pair_rule

BATCHES = [2, 3, 4, 5, 6, 7, 30, 1000]


def expect(rule, f):
    return float((rule.weights * f(rule.first, rule.second)).sum())


@pytest.mark.parametrize("n", BATCHES)
def test_moments_are_those_of_the_sphere(n):
    rule = pair_rule(n)
    m, cosine = n - 1, -1 / (n - 1)
    quartic = 3 * m / (m + 2)
    assert expect(rule, lambda u, v: u**0) == pytest.approx(1, rel=1e-12)
    assert expect(rule, lambda u, v: u**2) == pytest.approx(1, rel=1e-11)
    assert expect(rule, lambda u, v: v**4) == pytest.approx(quartic, rel=1e-11)
    assert expect(rule, lambda u, v: u * v) == pytest.approx(cosine, rel=1e-11)
    # E (x.a)^2 (x.b)^2 = (1 + 2 cos^2) / (m (m + 2)) on the unit sphere of dimension m - 1.
    mixed = (1 + 2 * cosine**2) * m / (m + 2)
    assert expect(rule, lambda u, v: u**2 * v**2) == pytest.approx(mixed, rel=1e-11)


@pytest.mark.parametrize("n", BATCHES)
def test_orthants_and_kinks_at_zero_are_exact(n):
    rule = pair_rule(n)
    cosine = -1 / (n - 1)
    orthant = expect(rule, lambda u, v: ((u > 0) & (v > 0)).double())
    assert orthant == pytest.approx((np.pi - np.arccos(cosine)) / (2 * np.pi), abs=1e-12)
    kink = expect(rule, lambda u, v: torch.relu(u) * torch.relu(v))
    angle = np.arccos(cosine)
    arc_cosine = (np.sin(angle) + (np.pi - angle) * cosine) / (2 * np.pi)
    assert kink == pytest.approx(arc_cosine, abs=1e-12)


def above_both(n, b, c):
    """P(u_1 > b, u_2 > c) by conditioning on u_1: a line integral, another way to the value."""
    m, cosine = n - 1, -1 / (n - 1)
    first = stats.beta((m - 1) / 2, (m - 1) / 2, loc=-1, scale=2)
    rest = stats.beta((m - 2) / 2, (m - 2) / 2, loc=-1, scale=2)
    b, c = b / np.sqrt(m), c / np.sqrt(m)

    def density(angle):  # u_1 = sqrt(m) sin(angle)
        t, root = np.sin(angle), np.cos(angle)
        return first.pdf(t) * root * rest.sf((c - cosine * t) / (np.sqrt(1 - cosine**2) * root))

    shift = np.arcsin(cosine)
    candidates = [shift + np.arcsin(c), shift + np.pi - np.arcsin(c), np.arcsin(c) - shift]
    inside = [x for x in candidates if np.arcsin(b) < x < np.pi / 2]
    return integrate.quad(density, np.arcsin(b), np.pi / 2, points=inside, epsabs=1e-13, limit=500)[
        0
    ]


@pytest.mark.parametrize("n", [4, 5, 6, 9, 40])
@pytest.mark.parametrize(("b", "c"), [(0.4, 0.4), (-0.7, 0.3), (0.2, -1.1)])
def test_jumps_anywhere_are_exact(n, b, c):
    value = expect(pair_rule(n, (b, c)), lambda u, v: ((u > b) & (v > c)).double())
    assert value == pytest.approx(above_both(n, b, c), abs=2e-9)  # quad at its square roots
    single = expect(pair_rule(n, (b,)), lambda u, v: (u > b).double())
    m = n - 1
    law = stats.beta((m - 1) / 2, (m - 1) / 2, loc=-np.sqrt(m), scale=2 * np.sqrt(m))
    assert single == pytest.approx(law.sf(b), abs=1e-11)


def test_three_points_against_mpmath():
    def f(u):
        return mpmath.tanh(3 * u) + u**2

    def around(w):
        u, v = (mpmath.sqrt(2) * mpmath.cos(w - shift) for shift in (0, 2 * mpmath.pi / 3))
        return f(u) * f(v) / (2 * mpmath.pi)

    expected = mpmath.quad(around, mpmath.linspace(0, 2 * mpmath.pi, 13))
    value = expect(
        pair_rule(3), lambda u, v: (torch.tanh(3 * u) + u**2) * (torch.tanh(3 * v) + v**2)
    )
    assert value == pytest.approx(float(expected), rel=1e-12)


def test_many_points_are_gaussian():
    rule = pair_rule(10**6)
    assert expect(rule, lambda u, v: torch.exp(u)) == pytest.approx(np.exp(0.5), rel=1e-5)


@pytest.mark.parametrize("order", [24, 96])
def test_the_order_is_high_enough(order):
    def shifted(rule):
        return expect(rule, lambda u, v: torch.relu(u - 0.7) * torch.tanh(v))

    plain, other = pair_rule(8, (0.7,)), pair_rule(8, (0.7,), order)
    assert shifted(plain) == pytest.approx(shifted(other), rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1,), "batch must be at least 2"),
        ((3, (np.nan,)), "kinks must be finite"),
        ((2, 0.0), "kinks must be one row"),
        ((3, (), 0), "order must be at least 1, got 0"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        pair_rule(*arguments)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_kinks_that_no_circle_reaches_do_no_harm():
    near, far = (pair_rule(5, kinks) for kinks in ((), (1e300, 7.0, 3e-308)))
    for rule in (near, far):
        assert float((rule.weights * rule.first * rule.second).sum()) == pytest.approx(-0.25)


def test_arcs_have_48_nodes_if_nothing_is_said():
    for found, said in zip(pair_rule(5, (0.7,)), pair_rule(5, (0.7,), 48), strict=True):
        torch.testing.assert_close(found, said, rtol=0, atol=0)
    cuts = 4  # 0 of either entry, at two angles each
    assert len(pair_rule(3).first) == cuts * 48
