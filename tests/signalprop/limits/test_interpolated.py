"""The numerical form of a kernel beside closed forms, densities and orthants."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from signalprop import activations as A
from signalprop.limits.interpolated import WIDEST, Chebyshev, interpolate, jumps

RHO = torch.from_numpy(np.array([-1, -0.99, -0.5, -0.2, 0, 0.4, 0.5, 0.8, 1 - 1e-9, 1]))
DELTA = torch.from_numpy(np.array([0, 1e-14, 1e-6, 0.1, 0.5, 1, 1.7, 2]))
STEPS = {-0.5: 2.0, 0.6: -1.0}


def stairs(x):
    return sum(height * (x >= at).to(x.dtype) for at, height in STEPS.items())


@pytest.mark.parametrize("phi", [A.leaky_relu(-0.3), A.sign, A.erf, A.exp])
def test_it_is_the_closed_form_where_there_is_one(phi):
    closed, numeric = phi.kernel(1.0), interpolate(phi)
    for name, points in (("centered", RHO), ("complement", DELTA)):
        expected = getattr(closed, name)(points)
        found = getattr(numeric, name)(points)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13 * phi.second_moment)
    expected = closed.derivative(RHO[1:-1])
    torch.testing.assert_close(numeric.derivative(RHO[1:-1]), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("phi", [A.relu, A.sign, A.exp])
def test_the_way_from_1_keeps_its_digits(phi):
    small = torch.from_numpy(np.array([1e-30, 1e-16, 1e-8]))
    expected = phi.kernel(1.0).complement(small)
    torch.testing.assert_close(interpolate(phi).complement(small), expected, rtol=1e-11, atol=0)


@pytest.mark.slow
def test_the_slope_of_a_staircase_is_a_sum_of_densities_and_its_values_are_orthants():
    numeric = interpolate(A.Activation("stairs", stairs, tuple(STEPS)))
    density = stats.norm.pdf

    def slope(rho):
        root = math.sqrt(1 - rho**2)
        pairs = ((s, a, t, b) for s, a in STEPS.items() for t, b in STEPS.items())
        return sum(
            a * b * density(s) * density((t - rho * s) / root) / root for s, a, t, b in pairs
        )

    inside = np.array([-0.97, -0.7, -0.1, 0.3, 0.6, 0.999])
    found = numeric.derivative(torch.from_numpy(inside))
    np.testing.assert_allclose(found, [slope(rho) for rho in inside], rtol=1e-11)
    # from correlation 0 on, by Plackett's identity
    areas = [integrate.quad(slope, 0, rho, epsabs=1e-13)[0] for rho in inside]
    found = numeric.centered(torch.from_numpy(inside))
    np.testing.assert_allclose(found, areas, atol=1e-11)


@pytest.mark.slow
def test_a_jump_between_two_slopes():
    """Of ``x`` above 0.7 and 0 below; the inner mean, of a truncated Gaussian, in closed form."""
    numeric = interpolate(A.Activation("late", lambda x: x * (x > 0.7).to(x.dtype), (0.7,)))
    cdf, density = stats.norm.cdf, stats.norm.pdf

    def exact(rho):
        root = math.sqrt(1 - rho**2)

        def inner(x):
            edge = (rho * x - 0.7) / root
            return x * density(x) * (rho * x * cdf(edge) + root * density(edge))

        return integrate.quad(inner, 0.7, 12, epsabs=1e-14, points=(1.0, 2.0))[0]

    rho = np.array([-0.9, -0.5, 0.2, 0.6, 0.97])
    found = numeric.centered(torch.from_numpy(rho)).numpy()
    expected = np.array([exact(r) for r in rho]) - exact(0.0)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("gain", [1e-3, 1.0, -1e3])
@pytest.mark.parametrize("at", [0.0, 0.5, 5000.0])
def test_jumps_are_told_from_kinks_at_any_gain_and_place(gain, at):
    step = A.Activation("step", lambda x: torch.where(x > at, 2.0, -1.0).to(x.dtype), (at,))
    ramp = A.Activation("ramp", lambda x: torch.relu(x - at), (at,))
    sides = (-1.0, 2.0) if gain > 0 else (2.0, -1.0)
    ((place, found),) = jumps(step.gained(gain).scaled(3.0)).items()
    assert place == pytest.approx(at / gain, rel=1e-15)
    assert found == tuple(3 * side for side in sides)
    clipped = A.Activation("clipped", lambda x: x.clamp(at - 2, at + 2), (at - 2, at + 2))
    for phi in (ramp, clipped, ramp.scaled(1e6)):
        assert jumps(phi.gained(gain)) == {}


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_chebyshev_series_is_as_long_as_its_function_needs_whatever_its_size(size):
    angles = torch.linspace(0, WIDEST, 33, dtype=torch.float64)
    for waves, terms in ((1.0, 24), (15.0, 48), (40.0, 96), (100.0, 192)):
        series = Chebyshev.fit(lambda x, w=waves: size * torch.cos(w * x))
        assert len(series.coefficients) == terms
        exact = size * torch.cos(waves * angles)
        torch.testing.assert_close(series(angles), exact, rtol=0, atol=1e-13 * size)
        assert size <= series.size < 10 * size
    for rough, last in (((lambda x: (x - 0.3).abs()), 192), ((lambda x: torch.sign(x - 0.3)), 96)):
        tried = []
        with pytest.raises(ValueError, match="384 Chebyshev points do not reach"):
            Chebyshev.fit(lambda x, f=rough, tried=tried: tried.append(len(x)) or size * f(x))
        assert tried[-1] == last, "from which on no geometric rate would do"
