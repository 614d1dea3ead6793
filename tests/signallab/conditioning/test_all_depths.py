"""What is proved for all depths, beside numbers: random duals, matrices and many layers."""

import numpy as np
import pytest
from sympy import Rational, sympify

import signalprop as sp
from signallab.conditioning import all_depths
from signallab.conditioning.tangent_kernel import tangent
from signalprop import theory
from signalprop.certify import NoIdentity

RNG = np.random.default_rng(11)
ORDERS = np.arange(13)
WEIGHTS = np.hstack([np.zeros((60, 1)), RNG.dirichlet(np.full(12, 0.3), 60)])
SEPARATIONS = [1e-3, 0.03, 0.2, 0.45, 0.5, 0.7]


@pytest.mark.parametrize("name", all_depths.__all__)
def test_all_are_identities(name):
    assert getattr(all_depths, name)()


@pytest.mark.parametrize(("points", "entry"), [(1, 1), (2, Rational(1, 2)), (3, 1)])
def test_other_waits_and_other_entries_leave_other_discs(points, entry):
    with pytest.raises(NoIdentity):
        all_depths._reach(points * all_depths.n, sympify(entry))


@pytest.mark.parametrize("delta", SEPARATIONS)
def test_iterates_stay_below_the_parabola_and_that_below_b(delta):
    mu = 1 - WEIGHTS[:, 1]
    size = parabola = np.full(len(WEIGHTS), 1 - delta)
    bounds = np.array([theory.cond_b(np.arange(80.0), delta, float(x)) for x in mu])
    for layer in range(1, 80):
        size = (size[:, None] ** ORDERS * WEIGHTS).sum(1)
        parabola = parabola * (1 - mu * (1 - parabola))
        assert (size <= parabola + 1e-12).all()
        assert (parabola <= bounds[:, layer] + 1e-12).all()


@pytest.mark.parametrize("delta", SEPARATIONS)
@pytest.mark.parametrize("mu", [0.05, 0.4, 1.0])
def test_b_falls_and_its_first_branch_ends_above_the_second(delta, mu):
    start = int(theory.cond_l_0(delta, mu))
    bounds = np.array([float(theory.cond_b(float(k), delta, mu)) for k in range(1, start + 30)])
    assert (np.diff(bounds) <= 1e-15).all()
    if start:
        assert bounds[start - 1] > (1 - mu / 2) / 2
        assert delta * (1 + mu / 2) ** start < (1 + mu / 2) / 2
        assert 2 * bounds[start - 1] > 1 - mu / 2


def test_powers_of_a_matrix_with_a_floor():
    for _ in range(50):
        x = RNG.standard_normal((4, 7))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        gram = x @ x.T
        floor = np.linalg.eigvalsh(gram)[0]
        for order in (2, 3, 7):
            rest = gram**order - (gram - floor * np.eye(4)) ** order
            assert rest == pytest.approx((1 - (1 - floor) ** order) * np.eye(4), abs=1e-12)


@pytest.mark.parametrize("n", [2, 7, 100])
@pytest.mark.parametrize("mu", [0.05, 0.4, 1.0])
def test_discs_reach_a_half_and_the_index_costs_n(n, mu):
    delta = 0.1
    depth = float(theory.cond_l_1(n, delta, mu))
    assert (n - 1) * float(theory.cond_b(depth, delta, mu)) <= (n - 1) / (2 * n) + 1e-12
    printed = float(theory.cond_corollary_4(depth + 3, n, delta, mu))
    assert printed > n * float(theory.cond_corollary_4_sharper(depth + 3, n, delta, mu))
    half = float(theory.cond_l_2(n, delta, mu)) / 2
    assert 2 * (n - 1) * float(theory.cond_b(half, delta, mu)) <= (n - 1) / (2 * n) + 1e-12


def test_slopes_fall_with_the_correlation():
    r = np.linspace(-1, 1, 81)[:, None]
    for weights in WEIGHTS:
        mu = 1 - weights[1]
        terms = (weights * ORDERS)[1:]
        ratio = np.abs(r ** (ORDERS[1:] - 1) @ terms) / terms.sum()
        sharper = 1 - 2 * mu / (1 + mu) * (1 - np.abs(r[:, 0]))
        assert (ratio <= sharper + 1e-12).all()
        assert (sharper <= 1 - mu * (1 - np.abs(r[:, 0])) + 1e-12).all()


@pytest.mark.parametrize("delta", SEPARATIONS)
def test_tangent_kernels_are_below_the_parabola_and_twice_b_at_half_the_depth(delta):
    k = sp.KernelMap.from_series([0, 0.7, 0.2, 0.1])
    mu, parabola = 0.3, 1 - delta
    start = 2 * int(theory.cond_l_0(delta, mu))
    relative = tangent(k, np.array(1 - delta), 60)
    half_way = np.asarray(theory.cond_b(np.arange(61) / 2, delta, mu))
    for layer in range(1, 61):
        parabola = parabola * (1 - mu * (1 - parabola))
        assert relative[layer] <= parabola + 1e-12
        if layer >= start:
            assert parabola <= 2 * half_way[layer] + 1e-12


@pytest.mark.parametrize("delta", SEPARATIONS)
def test_no_relative_entry_exceeds_that_of_the_quadratic(delta):
    """Random duals beside the bound, the quadratic on it, and its terms in order."""
    for weights in WEIGHTS:
        mu = 1 - weights[1]
        bound = theory.cond_tangent_sharpest(np.array(delta), np.array(mu), 40)
        k = sp.KernelMap.from_series(weights.tolist())
        for sign in (1, -1):
            relative = np.abs(tangent(k, np.array(sign * (1 - delta)), 40))
            assert (relative <= bound + 1e-12).all()
    quadratic = sp.KernelMap.from_series([0, 1 - mu, mu])
    assert tangent(quadratic, np.array(1 - delta), 40) == pytest.approx(bound)
    sizes = [1 - delta]
    for _ in range(40):
        sizes.append(sizes[-1] * (1 - mu * (1 - sizes[-1])))
    factors = 1 - 2 * mu / (1 + mu) * (1 - np.array(sizes))
    terms = [sizes[h] * factors[h:40].prod() for h in range(41)]
    assert (np.diff(terms) >= -1e-15).all()
    weights = (1 + mu) ** np.arange(40.0, -1, -1)
    assert weights @ terms / weights.sum() == pytest.approx(float(bound[-1]))


def test_the_diagonal_is_a_geometric_sum():
    slope, depth = 1.3, 7
    k = sp.KernelMap.from_series([0, 0.7, 0.3])
    assert float(k.derivative(1.0)) == pytest.approx(slope)
    total = sum(slope ** (depth + 1 - h) for h in range(1, depth + 2))
    assert (slope ** (depth + 1) - 1) / (slope - 1) == pytest.approx(total)


@pytest.mark.parametrize("delta", SEPARATIONS)
def test_potentials_fall_and_the_chain_ends_above(delta):
    n = 5
    for weights in WEIGHTS[:20]:
        mu, size = 1 - weights[1], 1 - delta
        for layer in range(1, 40):
            size = float(size**ORDERS @ weights)
            excess = n * size / (1 - size)
            sharper = n * (1 / delta - 1) * (1 + mu) ** -layer
            assert excess <= sharper * (1 + 1e-9)
            assert sharper <= n / delta * (1 + mu / 2) ** -layer


@pytest.mark.parametrize("mu", [0.05, 0.4, 1.0])
def test_b_is_below_twice_its_value_at_half_the_depth_at_all_depths(mu):
    for delta in np.linspace(0.001, 0.999, 60):
        layers = np.arange(1.0, 2 * float(theory.cond_l_0(delta, mu)) + 9)
        whole = np.asarray(theory.cond_b(layers, delta, mu))
        assert (whole <= 2 * np.asarray(theory.cond_b(layers / 2, delta, mu)) + 1e-12).all()
