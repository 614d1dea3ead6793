"""The steps of proofs order by order, beside numbers for many orders and random weights."""

from math import factorial

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import orders

ORDERS = np.arange(0, 31)
RHO = np.linspace(-0.999, 0.999, 201)[:, None]
WEIGHTS = np.random.default_rng(3).dirichlet(np.full(31, 0.3), 40)
PROOFS = [getattr(orders, name) for name in orders.__all__]


def h(rho):
    return (1 - rho**ORDERS) / (1 - rho)


@pytest.mark.parametrize("proof", PROOFS)
def test_every_step_is_an_identity(proof):
    assert proof()


def test_what_is_said_of_each_order():
    assert np.allclose(h(RHO)[:, 1:], 1 + RHO * h(RHO)[:, :-1])
    assert (np.abs(h(RHO)) <= ORDERS + 1e-12).all()
    above = RHO[:, 0] > 0
    assert (np.diff(h(RHO)[above][:, 2:], axis=0) > 0).all()
    below = RHO[RHO < 0][:, None]
    powers = below ** np.delete(ORDERS, 1)
    assert (powers > below).all()


def test_second_quotients_begin_at_one_and_grow():
    g = (ORDERS - h(RHO)) / (1 - RHO)
    assert g[:, 2] == pytest.approx(np.ones(len(RHO)))
    assert (g[:, 2:] >= 1 - 1e-9).all()
    right = RHO[:, 0] >= 0
    assert (g[right][:, 2:] >= ORDERS[2:] - 1 - 1e-9).all()


def test_the_sum_over_orders_is_the_room_of_the_odds():
    rho = RHO[RHO > 0][:, None]
    for a in np.array(WEIGHTS) * (ORDERS > 0):
        a = a / a.sum()
        g = (rho ** (ORDERS[1:] - 1)) @ a[1:]
        above = h(rho) @ a
        summed = (h(rho)[:, 1:-1] - g[:, None]) @ a[2:]
        assert summed == pytest.approx(above - (2 - a[1]) * g)
        assert (summed >= 0).all()


def test_ends_of_a_layer_below_zero():
    for a in WEIGHTS:
        r = -RHO[RHO < 0]
        value = (-r[:, None]) ** ORDERS @ a
        m = a[0]
        assert (value >= m - (1 - m) * r - 1e-12).all()
        assert (value <= m + (1 - m) * r + 1e-12).all()


def test_a_layer_divides_the_potential_of_the_mended_case_4():
    """Random maps with a mean, from both signs, and the quadratic, which attains the rate at 1."""
    trials = [*WEIGHTS, np.array([1 / 3, 0, 2 / 3])]
    seen = 0
    for weights in trials:
        k = sp.KernelMap.from_series(weights.tolist())
        if not k.derivative(1.0) > 1:
            continue
        seen += 1
        fixed = k.fixed_point().value
        assert fixed < 1
        rate = 1 / (2 - k.derivative(fixed))

        def potential(at, fixed=fixed):
            return np.abs(at - fixed) * np.maximum(1, (1 - fixed) / (1 - np.abs(at)))

        start = np.concatenate([RHO[:, 0], 1 - np.geomspace(1e-2, 1e-6, 9)])
        ratio = potential(np.asarray(k(start))) / potential(start)
        assert ratio.max() <= rate * (1 + 1e-9)
    assert seen > 20
    assert ratio.max() == pytest.approx(rate, rel=1e-4)


def test_the_recurrence_of_normalized_polynomials():
    x, basis = np.linspace(-3, 3, 13), np.polynomial.hermite_e.HermiteE.basis
    he = [basis(k)(x) / np.sqrt(factorial(k)) for k in range(14)]
    for k in range(1, 13):
        assert he[k + 1] == pytest.approx((x * he[k] - np.sqrt(k) * he[k - 1]) / np.sqrt(k + 1))


def test_the_map_of_the_cube():
    kappa = sp.KernelMap(sp.activations.cube.normalized())
    rho = np.linspace(-1, 1, 21)
    assert np.asarray(kappa(rho)) == pytest.approx((9 * rho + 6 * rho**3) / 15)
