"""The polar quadrature and its interpolant against closed forms and the quadrature by panels."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from signalprop import activations as A
from signalprop.limits.lengths import pair_moments
from signalprop.limits.polar import (
    Rule,
    _compare,
    _root_moments,
    chebyshev,
    clenshaw,
    interpolate_pairs,
    lagrange,
    points,
    rule_for,
    tail,
)
from signalprop.limits.unequal import closed_form

LENGTHS = torch.tensor([0.4, 1.0, 2.5], dtype=torch.float64)
ANGLES = (0.0, 1e-2, 0.3, math.pi / 2, 2.9, math.pi)


def sizes(form, lengths):
    own = form(lengths, lengths, torch.ones_like(lengths))
    return [torch.sqrt(part[:, None] * part) for part in own]


@pytest.mark.parametrize("phi", [A.relu, A.leaky_relu(-0.5), A.erf, A.gelu, A.sin])
@pytest.mark.parametrize("angle", ANGLES)
def test_quadrature_against_closed_forms(phi, angle):
    form = closed_form(phi)
    exact = form(
        LENGTHS[:, None], LENGTHS, torch.full((3, 3), math.cos(angle), dtype=torch.float64)
    )
    for f, value, size in zip((phi, phi.derivative), exact, sizes(form, LENGTHS), strict=True):
        ours = rule_for(f, LENGTHS, 9.5).products(f, LENGTHS, angle)
        assert ((ours - value).abs() <= 5e-12 * size).all()


def test_a_jump_at_zero_is_an_end_of_arcs():
    ours = Rule(radii=32, arc=16, reach=9.5).products(torch.sign, LENGTHS, 0.7)
    torch.testing.assert_close(
        ours, torch.full_like(ours, 1 - 2 * 0.7 / math.pi), rtol=1e-13, atol=0
    )


@pytest.mark.parametrize("phi", [A.relu, A.erf, A.gelu, A.exp.gained(0.3)], ids=lambda p: p.name)
def test_interpolant_against_closed_forms(phi):
    """At more lengths than polynomials, so that those in between count."""
    lengths = torch.linspace(0.2, 3.0, 60, dtype=torch.float64)
    angle = torch.linspace(0, math.pi, 3600, dtype=torch.float64).reshape(60, 60)
    form, everything = closed_form(phi), torch.arange(60)
    exact = form(lengths[:, None], lengths, torch.cos(angle))
    for f, value, size in zip((phi, phi.derivative), exact, sizes(form, lengths), strict=True):
        pairs = interpolate_pairs(f, lengths, 11.0)
        assert pairs.basis.shape[1] < 60
        assert ((pairs(everything, everything, angle) - value).abs() <= 3e-11 * size).all()


@pytest.mark.parametrize("phi", [A.tanh, A.selu, A.Activation("mish", F.mish)])
def test_interpolant_against_panels(phi):
    lengths = torch.tensor([0.3, 1.1, 2.0], dtype=torch.float64)
    rho = torch.tensor([[0.5, -0.9, 0.1], [0.999, 0.0, -0.3], [1.0, -1.0, 0.7]]).double()
    grid = torch.broadcast_tensors(lengths[:, None], lengths, rho)
    for f in (phi, phi.derivative):
        pairs = interpolate_pairs(f, lengths, 9.5)
        exact = pair_moments(phi, f, *grid)
        assert ((pairs(*2 * (torch.arange(3),), torch.acos(rho)) - exact).abs() <= 1e-11).all()


def test_what_is_not_resolved_is_refused():
    with pytest.raises(ValueError, match="nodes do not resolve it"):
        interpolate_pairs(lambda x: torch.tanh(1000 * x), LENGTHS, 9.5)
    with pytest.raises(ValueError, match="nodes do not resolve it"):
        interpolate_pairs(lambda x: torch.relu(x - 0.5), LENGTHS, 9.5)


def test_sizes_are_the_roots_of_the_second_moments():
    rule = Rule(radii=32, arc=16, reach=9.5)
    torch.testing.assert_close(
        _root_moments(torch.relu, rule, LENGTHS), LENGTHS / math.sqrt(2), rtol=1e-13, atol=0
    )


def test_series_points_and_polynomials_are_those_of_chebyshev():
    x = points(7)
    np.testing.assert_allclose(x, np.polynomial.chebyshev.chebpts1(7)[::-1], atol=1e-15)
    values = torch.exp(x)[:, None] * torch.tensor([1.0, -2.0], dtype=torch.float64)
    series = chebyshev(values)
    exact = np.polynomial.chebyshev.chebinterpolate(np.exp, 6)
    np.testing.assert_allclose(series[:, 0], exact, atol=1e-15)
    np.testing.assert_allclose(series[:, 1], -2 * exact, atol=1e-15)
    angle = torch.linspace(0, math.pi, 5, dtype=torch.float64)
    expected = np.polynomial.chebyshev.chebval(2 * angle.numpy() / math.pi - 1, exact)
    np.testing.assert_allclose(clenshaw(series[:, 0].flip(0), angle), expected, rtol=1e-14)
    at = torch.tensor([0.3, float(x[2]), -0.9], dtype=torch.float64)
    basis = lagrange(x, at)
    assert basis[1].tolist() == [0, 0, 1, 0, 0, 0, 0]
    for power in range(7):
        torch.testing.assert_close(basis @ x**power, at**power, rtol=1e-13, atol=1e-14)


def test_the_tail_is_the_last_eighth_or_two():
    falling = -(0.5 ** torch.arange(40.0))
    for count, last in ((3, 2), (16, 2), (24, 3), (40, 5)):
        assert tail(falling[:count]) == 0.5 ** (count - last)


def test_the_cheapest_rule_is_taken():
    one = torch.ones(1, dtype=torch.float64)
    assert rule_for(torch.relu, one, reach=9.5) == Rule(radii=24, arc=16, reach=9.5)


def test_an_interpolant_that_is_off_at_one_length_is_refused():
    def small(x):
        return 1e-5 * torch.relu(x)

    rule = rule_for(small, LENGTHS, 9.5)
    sizes = _root_moments(small, rule, LENGTHS)
    good = interpolate_pairs(small, LENGTHS, 9.5)
    for factor, fits in ((1 + 1e-11, True), (1 + 1e-9, False)):
        basis = good.basis.clone()
        basis[1] *= factor
        moved = replace(good, basis=basis)
        if fits:
            _compare(moved, small, rule, LENGTHS, sizes)
        else:
            with pytest.raises(ValueError, match=r"an error of 2\.0e-09 at an angle of"):
                _compare(moved, small, rule, LENGTHS, sizes)
