import numpy as np
import pytest

from signalprop import activations as A
from signalprop import theory
from signalprop.limits.maps import KernelMap


def test_rate_of_5_15_is_that_of_the_centred_and_rescaled_map():
    """The layer ``(phi - E phi) / sd`` and the rate ``1 / kappa'(1)`` of its own map."""
    for phi in (A.relu, A.gelu, A.softplus.scaled(3.0)):
        k = KernelMap(phi)
        alpha = theory.ker_theorem_5_15_alpha(*(float(v) for v in (k(0.0), k(1.0))), 1.7)
        assert alpha == pytest.approx(phi.variance / 1.7, rel=1e-12)
        slope = float(k.derivative(1.0))
        alpha = theory.ker_theorem_5_15_alpha(float(k(0.0)), float(k(1.0)), slope)
        assert alpha == pytest.approx(1 / KernelMap(phi.standardized()).derivative(1.0), rel=1e-9)


def test_repaired_rate_of_5_15_is_that_of_5_8_for_the_standardized_map():
    for phi in (A.relu, A.gelu, A.softplus.scaled(3.0)):
        k = KernelMap(phi)
        numbers = (float(v) for v in (k(0.0), k(1.0), k.derivative(0.0)))
        slope = float(KernelMap(phi.standardized()).derivative(0.0))
        alpha = theory.ker_theorem_5_15_alpha_repaired(*numbers)
        assert alpha == pytest.approx(1 / (2 - slope), rel=1e-9)
    cube = theory.ker_theorem_5_15_alpha_repaired(0.0, 15.0, 9.0)
    assert cube == pytest.approx(5 / 7, rel=1e-15)


def test_bound_of_5_15_shrinks_the_potential_by_its_rate():
    bound = theory.ker_theorem_5_15([-0.75, 0.2], [0, 3], at_zero=0.5, at_one=2.0, slope_at_one=4.5)
    np.testing.assert_allclose(bound, [3.0, 0.25 / 27], rtol=1e-14)


def test_printed_rate_of_5_15_is_too_fast():
    """kappa = .99 r + .01 r^100 loses .01 a layer at 0, and the printed rate is 1 / 1.99."""
    k = KernelMap.from_series([0.0, 0.99, *[0.0] * 98, 0.01])
    rho = k.iterate(0.5, 10)[-1]
    slope = float(k.derivative(1.0))
    assert rho / (1 - rho) > 100 * theory.ker_theorem_5_15(0.5, 10, 0.0, 1.0, slope)
