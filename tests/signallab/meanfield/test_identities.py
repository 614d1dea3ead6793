"""Displays that are proved by algebra, beside numbers; and neighbours that algebra refuses."""

import numpy as np
import pytest
import sympy

import signalprop as sp
from signallab.meanfield import identities
from signallab.meanfield.gram_recursion import linear_fixed_point, three_points
from signalprop.certify import NoIdentity


@pytest.mark.parametrize("name", identities.__all__)
def test_all_are_identities(name):
    assert getattr(identities, name)()


@pytest.mark.parametrize("proof", ["symmetric_matrices", "fixed_point_of_linear_networks"])
def test_centring_needs_its_share(monkeypatch, proof):
    monkeypatch.setattr(identities, "CENTRING", (sympy.S.One, -1 / (identities.n + 1)))
    with pytest.raises(NoIdentity):
        getattr(identities, proof)()


def test_products_of_symmetric_matrices():
    n, ones = 4, np.ones((4, 4))
    left, right = 2 * np.eye(n) + 3 * ones, 5 * np.eye(n) - 7 * ones
    p, q = identities._times(*(tuple(map(sympy.Integer, pair)) for pair in ((2, 3), (5, -7))))
    found = float(p) * np.eye(n) + float(q.subs(identities.n, n)) * ones
    assert found == pytest.approx(left @ right)


def test_all_symmetric_matrices_go_to_one():
    goal = three_points(np.eye(3), sp.activations.tanh)
    assert three_points(2 * np.eye(3) + 0.5, sp.activations.tanh) == pytest.approx(goal)
    linear = linear_fixed_point(5, lambda n: n / (n - 1) * (np.eye(n) - 1 / n))
    assert linear.left == pytest.approx(linear.right)


def test_moments_of_a_layer_without_normalization():
    rng, width = np.random.default_rng(0), 3
    g = np.array([[1.0, 0.4], [0.4, 2.0]])
    s, t = np.trace(g @ g), np.trace(g) ** 2
    x = rng.multivariate_normal([0, 0], g, size=(200_000, width))
    after = np.einsum("kri,krj->kij", x, x) / width
    squares = (after**2).sum(axis=(1, 2))
    traces = np.trace(after, axis1=1, axis2=2) ** 2
    for values, exact in (
        (squares, (1 + 1 / width) * s + t / width),
        (traces, t + 2 * s / width),
    ):
        assert abs(values.mean() - exact) < 5 * values.std() / len(values) ** 0.5


@pytest.mark.parametrize(
    ("name", "bound"),
    [("relu", 1), ("tanh", 1), ("gelu", 1), ("silu", 1), ("elu", 1), ("selu", 1.7580994)],
)
def test_growth_conditions(name, bound):
    x = np.concatenate([-np.geomspace(1e-6, 1e3, 500), np.geomspace(1e-6, 1e3, 500)])
    values = np.abs(getattr(sp.activations, name)(x) / x)
    assert values.max() <= bound
    assert 1.6732632423543772848170429916717 * 1.0507009873554804934193349852946 < 1.7580994


def test_no_event_gains_more_than_the_distance():
    rng = np.random.default_rng(3)
    for _ in range(50):
        one, other = rng.dirichlet(np.full(5, 0.3), 2)
        plus, minus = np.clip(one - other, 0, None), np.clip(other - one, 0, None)
        distance = plus.sum()
        assert minus.sum() == pytest.approx(distance)
        f = rng.uniform(size=5)  # of an event, from each state
        gain = f @ (one - other)
        assert distance - gain == pytest.approx(((1 - f) * plus + f * minus).sum())
        assert distance + gain == pytest.approx((f * plus + (1 - f) * minus).sum())
        assert abs(gain) <= distance
        assert (plus > 0) @ (one - other) == pytest.approx(distance)
