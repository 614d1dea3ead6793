"""Activations made to order, expectations over them, and series: refused in words, or right."""

import math

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from signalprop import activations, callables, limits

from .budget import fuzz
from .test_arrays import ACTIVATIONS
from .test_options import attempt, numbers, sizes

MADE = {
    "from Hermite": lambda a, n: activations.Activation.from_hermite([a] * n),
    "gained": lambda a, n: activations.softplus.gained(a),
    "hermite": lambda a, n: activations.hermite(n),
    "leaky_relu": lambda a, n: activations.leaky_relu(a),
    "norm_relu": lambda a, n: activations.norm_relu(a),
    "scaled": lambda a, n: activations.tanh.scaled(a),
    "with a kink": lambda a, n: activations.Activation("hinge", lambda x: (x - a).relu(), (a,)),
}
X = torch.linspace(-9, 9, 19, dtype=torch.float64)


@fuzz(name=st.sampled_from(sorted(MADE)), a=numbers, n=st.integers(-1, 20))
def test_activations_made_to_order(name, a, n):
    phi = attempt(MADE[name], a, n)
    if phi is None:
        return
    for function in (phi, phi.derivative):
        assert function(X).shape == X.shape
        assert bool(torch.isfinite(function(X)).all()) or abs(a) > 1e9
    normal = attempt(phi.normalized)
    moment = None if normal is None else attempt(getattr, normal, "second_moment")
    if moment is not None:
        assert moment == pytest.approx(1, rel=1e-6)
    if name == "norm_relu":
        assert phi.mean == pytest.approx(0, abs=1e-6)


FUNCTIONS = {
    "bent": lambda a: lambda x: (x - a).abs() + torch.tanh(x),
    "numpy": lambda a: lambda x: np.maximum(x, a),
    "smooth": lambda a: lambda x: torch.sin(a * x),
    "of another shape": lambda a: torch.sum,
    "an activation": lambda a: activations.norm_relu(),
    "a module": lambda a: torch.nn.Hardtanh(-1.0, 1.0),
    "a class": lambda a: torch.nn.ReLU,
    "a number": lambda a: a,
}


@fuzz(
    name=st.sampled_from(sorted(FUNCTIONS)),
    a=numbers,
    kinks=st.one_of(st.none(), st.lists(numbers, max_size=2)),
)
def test_any_function_as_an_activation(name, a, kinks):
    phi = attempt(callables.as_activation, FUNCTIONS[name](a), kinks)
    if phi is not None:
        assert phi(X).shape == X.shape
        if kinks is not None and name not in ("an activation", "a module"):
            assert phi.kinks == tuple(sorted(kinks))


@fuzz(at=st.floats(-31, 31), steep=st.floats(0.01, 100))
def test_kinks_are_found(at, steep):
    found = callables.find_kinks(lambda x: steep * (x - at).abs() + torch.tanh(x))
    np.testing.assert_allclose(found, [at], atol=1e-7)


def density(a):
    return math.exp(-(min(abs(a), 99) ** 2) / 2) / math.sqrt(2 * math.pi)


@fuzz(a=numbers, kinks=st.lists(numbers, max_size=3), power=st.integers(0, 4))
def test_expectations(a, kinks, power):
    """Of ``|X - a|``, and of a power of X: names of points at which nothing happens do no harm."""
    far = attempt(limits.gaussian_expectation, lambda x: (x - a).abs(), [a, *kinks])
    if far is not None:
        exact = 2 * density(a) + a * math.erf(a / math.sqrt(2))
        assert far == pytest.approx(exact, rel=1e-13)
    even = attempt(limits.gaussian_expectation, lambda x: x ** (2 * power), kinks)
    if even is not None:
        assert even == pytest.approx(math.prod(range(1, 2 * power, 2)), rel=1e-13)


@fuzz(a=numbers, rho=st.one_of(st.floats(-1, 1), numbers))
def test_expectations_of_pairs(a, rho):
    found = attempt(limits.bivariate_expectation, rho, lambda x: x, lambda y: (y > a).double(), [a])
    if found is not None:
        assert found == pytest.approx(rho * density(a), abs=1e-12)


@fuzz(
    batch=st.one_of(sizes, st.integers(2, 1000)),
    kinks=st.lists(numbers, max_size=2),
    order=st.one_of(sizes, st.just(48)),
)
def test_rules_for_pairs(batch, kinks, order):
    rule = attempt(limits.pair_rule, batch, kinks, order)
    if rule is not None:
        assert rule.first.shape == rule.second.shape == rule.weights.shape
        assert all(bool(torch.isfinite(part).all()) for part in rule)
    if rule is not None and order == 48:
        assert float(rule.weights.sum()) == pytest.approx(1, rel=1e-11)
        product = float((rule.weights * rule.first * rule.second).sum())
        assert product == pytest.approx(-1 / (batch - 1), abs=1e-11)


@fuzz(
    name=st.sampled_from(sorted(ACTIVATIONS)),
    scale=numbers,
    batch=sizes,
    kinks=st.one_of(st.none(), st.lists(numbers, max_size=1)),
)
def test_fixed_points_of_gram_matrices(name, scale, batch, kinks):
    phi = ACTIVATIONS[name]
    point = attempt(lambda: limits.gram_fixed_point(phi.scaled(scale), batch, kinks))
    if point is not None:
        assert point.matrix().shape == (batch, batch)
        assert np.isfinite(point.matrix()).all()
        assert math.isfinite(point.contraction)
        assert point.condition_number >= 1
        plain = limits.gram_fixed_point(phi, batch, kinks)
        assert point.contraction == pytest.approx(plain.contraction, rel=1e-9)


@fuzz(name=st.sampled_from(sorted(ACTIVATIONS)), order=st.integers(-1, 60))
def test_coefficients_of_hermite(name, order):
    phi = ACTIVATIONS[name]
    found = attempt(limits.hermite_coefficients, phi, order)
    if found is not None:
        assert found.shape == (order + 1,)
        assert (found**2).sum() <= phi.second_moment * (1 + 1e-12)
        assert found[0] == pytest.approx(phi.mean, abs=1e-12)


@pytest.mark.slow
@fuzz(
    name=st.sampled_from(["tanh", "relu", "step"]),
    weight=st.lists(st.one_of(numbers, st.floats(0, 4)), max_size=2),
    bias=numbers,
)
def test_mean_fields(name, weight, bias):
    field = attempt(limits.MeanField, ACTIVATIONS[name], weight, bias)
    if field is None or attempt(lambda: field.length) is None:
        return
    assert (field.length >= 0).all()
    for name in ("length", "chi", "correlation", "depth_scale"):
        values = attempt(getattr, field, name)
        if values is None:  # an activation that is as good as a step
            continue
        assert values.shape == (len(weight),)
        there = values[np.isfinite(field.length)]
        assert not np.isnan(there).any()
        assert name != "correlation" or (np.abs(there) <= 1).all()


@fuzz(count=sizes, largest=sizes, seed=st.integers(-9, 9))
def test_random_series(count, largest, seed):
    weights = attempt(limits.random_series, count, largest, seed)
    if weights is not None:
        assert weights.shape == (count, largest + 1)
        np.testing.assert_allclose(weights.sum(1), 1)
        assert (weights >= 0).all()


@fuzz(
    orders=st.lists(sizes, max_size=3),
    shares=st.lists(st.one_of(st.floats(0.1, 0.9), numbers), max_size=2),
    slope=numbers,
)
def test_series_of_two_orders(orders, shares, slope):
    weights = attempt(limits.pair_series, orders, shares)
    if weights is None:
        return
    assert weights.shape[1] == max(orders) + 1
    np.testing.assert_allclose(weights.sum(1), 1)
    mixed = attempt(limits.with_constant, weights, slope)
    if mixed is not None:
        assert mixed.shape == weights.shape
        np.testing.assert_allclose(mixed.sum(1), 1)
        np.testing.assert_allclose(mixed @ np.arange(weights.shape[1]), slope, atol=1e-12)
