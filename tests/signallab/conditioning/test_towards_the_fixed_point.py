"""Lemmas 31 to 36 and Theorem 11 of COND, beside numbers: random duals with a mean."""

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import towards_the_fixed_point as proofs

RNG = np.random.default_rng(5)
ORDERS = np.arange(16)
#: Weights from a mean of almost nothing to one that makes 1 the only fixed point.
WEIGHTS = np.vstack(
    [
        RNG.dirichlet(np.full(16, 0.3), 120),
        [[0.01, 0, *[0] * 8, 0.99, *[0] * 5], [1 / 3, 0, 2 / 3, *[0] * 13], [0, 0, 1, *[0] * 13]],
    ]
)


def dual(weights, r):
    return np.asarray(r)[..., None] ** ORDERS @ weights


def slope(weights, r):
    return np.asarray(r)[..., None] ** (ORDERS[1:] - 1) @ (ORDERS * weights)[1:]


def fixed_point(weights):
    return float(sp.KernelMap.from_series(weights).fixed_point().value)


BELOW_ONE = [(w, p) for w in WEIGHTS if (p := fixed_point(w)) < 0.97]


@pytest.mark.parametrize("name", proofs.__all__)
def test_all_are_identities(name):
    assert getattr(proofs, name)()


def test_there_are_enough_duals_that_converge_below_one():
    assert len(BELOW_ONE) > 60


def test_between_the_fixed_points_and_at_the_lower_one():
    for weights, p in BELOW_ONE:
        m, r = weights[2:].sum(), np.linspace(p, 1, 51)
        assert (r - dual(weights, r) >= m * (r - p) * (1 - r) - 1e-9).all()
        assert slope(weights, p) <= 1 - m * (1 - p) + 1e-9


def test_negative_correlations_shrink_their_distance_from_one():
    r = np.linspace(0, 1, 51)
    for weights in WEIGHTS:
        assert (1 - dual(weights, -r) <= (1 - weights[0]) * (1 + r) + 1e-12).all()


def test_both_sides_of_lemma_35():
    delta, layers = 1e-3, np.arange(200)
    for weights, p in BELOW_ONE:
        m, above, below = weights[2:].sum(), 1 - delta, delta - 1
        bound = (1 - p) * ((1 - p) / delta - 1) * (1 + m * (1 - p)) ** -layers.astype(float)
        for limit in bound:
            assert above - p <= limit + 1e-9
            assert below - p <= max(limit, 0) + 1e-9
            above, below = dual(weights, above), dual(weights, below)


def test_each_case_of_the_geometric_rate():
    for weights, p in BELOW_ONE:
        c = 1 / (2 - slope(weights, p))
        beyond, within = np.linspace(p, 1, 102)[1:-1], np.linspace(0, p, 21)
        above, below = dual(weights, beyond), dual(weights, -beyond)
        assert ((above - p) / (1 - above) <= c * (beyond - p) / (1 - beyond) + 1e-7).all()
        inverse = (1 - c) / (1 - p) + c / (1 - beyond)
        assert (1 - above >= 1 / inverse - 1e-9).all()
        left = 1 / (1 - beyond) - 1 / (1 + p)
        assert (p - below <= c * left + 1e-7).all()
        far = below < -p
        w = 1 / (1 - np.abs(below)) - 1 / (1 + p)
        assert (w[far] <= c * left[far] + 1e-7).all()
        inside = dual(weights, -within)
        assert (np.abs(inside - p) <= slope(weights, p) * (p + within) + 1e-7).all()


@pytest.mark.parametrize("delta", [1e-6, 1e-2, 0.3])
def test_the_geometric_rate(delta):
    for weights, p in BELOW_ONE:
        c = 1 / (2 - slope(weights, p))
        for start in (1 - delta, delta - 1, 0.5 * (1 - delta), -0.5 * (1 - delta)):
            r = start
            for layer in range(80):
                assert abs(r - p) <= c**layer / delta + 1e-7
                r = dual(weights, r)


def critical():
    for weights in RNG.dirichlet(np.full(16, 0.3), 40):
        scaled = weights / (weights @ ORDERS)
        scaled[0] = 1 - scaled[1:].sum()
        yield scaled


def test_critical_duals_need_no_logarithm():
    for weights in critical():
        a, mu = weights[0], 1 - weights[1]
        alpha = np.linspace(0, 1, 41)
        assert (1 - slope(weights, 1 - alpha) >= alpha * mu - 1e-9).all()
        assert mu >= 2 * weights[2:].sum() - 1e-12
        assert mu <= 2 * a + 1e-12
        for start in (-1.0, -0.7, 0.0, 0.9):
            r = start
            for layer in range(1, 200):
                r = dual(weights, r)
                assert 1 - r <= 1 / (a * layer) + 1e-12


def test_the_printed_depth_is_larger_than_what_is_enough():
    eps, mu = np.meshgrid(np.linspace(1e-4, 0.5, 101), np.linspace(1e-3, 1, 101))
    printed = np.log(2 / eps) / -np.log1p(-eps * mu / 2)
    assert (printed * eps * mu / 2 >= 1).all()


def test_the_factor_of_a_layer_is_near_the_slope():
    for weights, p in BELOW_ONE:
        r = np.linspace(0, 0.999, 60)
        r = r[abs(r - p) > 1e-4]
        f, factor = slope(weights, p), (dual(weights, r) - p) / (r - p)
        least, most = (f + (1 - f) * x * (r - p) / (1 - p) for x in (0, 1))
        assert (factor >= np.minimum(least, most) - 1e-8).all()
        assert (factor <= np.maximum(least, most) + 1e-8).all()


def test_the_factor_of_a_centred_layer_is_near_the_slope_for_all_signs():
    r = np.linspace(-0.999, 0.999, 60)
    for weights in WEIGHTS:
        centred = np.append(0, weights[1:]) / weights[1:].sum()
        factor = dual(centred, r) / r
        assert (abs(factor - centred[1]) <= (1 - centred[1]) * abs(r) + 1e-12).all()


def test_the_factor_at_one_is_near_the_slope():
    r = np.linspace(0, 0.99, 34)
    for weights in WEIGHTS:
        short = slope(weights, 1.0) - (1 - dual(weights, r)) / (1 - r)
        bend = ORDERS * (ORDERS - 1) @ weights / 2
        assert ((short >= -1e-9) & (short <= (1 - r) * bend + 1e-9)).all()
