"""Displays that are proved by algebra, beside numbers; and neighbours that algebra refuses."""

import itertools

import numpy as np
import pytest
import sympy

from signallab.rank import identities
from signalprop import theory
from signalprop.certify import NoIdentity


@pytest.fixture
def m():
    """A matrix of cosines, of full rank."""
    rows = np.random.default_rng(0).normal(size=(4, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


@pytest.mark.parametrize("name", identities.__all__)
def test_all_are_identities(name):
    assert getattr(identities, name)()


@pytest.mark.parametrize("entry", identities.CHANGE)
def test_the_second_order_needs_each_change(monkeypatch, entry):
    monkeypatch.setitem(identities.CHANGE, entry, 2 * identities.CHANGE[entry])
    with pytest.raises(NoIdentity):
        identities.second_order()


def test_the_change_of_one_index(m):
    w = np.random.default_rng(1).normal(size=m.shape)
    change = w @ m + m @ w.T
    for name, (i, j) in {"ii": (0, 0), "ij": (0, 1), "jj": (1, 1)}.items():
        values = [w[0], w[1], m[0], m[1]]
        parts = [
            identities.CHANGE[name].subs(
                dict(zip((identities.w, identities.v, identities.p, identities.q), at, strict=True))
            )
            for at in zip(*values, strict=True)
        ]
        assert float(sum(parts)) == pytest.approx(change[i, j])


def test_both_orders_sum_to_the_drift(m):
    square, total = m @ m, 0.0
    names = (identities.d, identities.x, identities.s_ii, identities.s_ij, identities.s_jj)
    terms = identities._linear_term() + identities._quadratic_term()
    expected = sympy.lambdify(names, terms)
    for i, j in itertools.permutations(range(len(m)), 2):
        total += expected(len(m), m[i, j], square[i, i], square[i, j], square[j, j])
    assert total == pytest.approx(float(theory.rank_lemma_12(m)))


def test_means_over_two_uniform_weights():
    w, v = identities.w, identities.v
    assert float(identities._mean(3 + w + 2 * w**2 + w * v + 5 * w**4)) == 3 + 2 + 5 * 9 / 5


def test_the_fall_near_rank_one():
    found = (theory.rank_example_14(d) for d in (2, 3, 7))
    assert [float(fall) for fall in found] == [-4 * d * (d - 1) * (2 * d - 1) for d in (2, 3, 7)]
    for e in range(6):
        d = 2 + e
        assert (2 + e) * (10 + 19 * e + 8 * e**2) == 4 * d * (d - 1) * (2 * d - 1) - d**2


def test_the_bound_at_the_largest_step():
    bound = float(theory.rank_lemma_20(5, float(theory.rank_theorem_5_step(5, 2.0)), 2.0))
    assert 0.5 - bound == pytest.approx(73 / (64 * (29 + 16 * 3**0.5)))


def test_an_order_of_units_needs_both_sides_of_the_weights():
    with pytest.raises(NoIdentity):
        identities.order_of_units(both_sides=False)


def test_a_layer_commutes_with_every_order():
    rng = np.random.default_rng(2)
    h, w = rng.normal(size=(3, 2)), rng.normal(size=(3, 3))
    for order in itertools.permutations(range(3)):
        swapped = h[list(order)] + 0.3 * w[np.ix_(order, order)] @ np.cos(h[list(order)])
        assert swapped == pytest.approx((h + 0.3 * w @ np.cos(h))[list(order)])
