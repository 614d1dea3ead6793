"""Dual activations with a mean, beside quadratic maps worked by hand and closed forms."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import uncentred_activations as lab

# (1 + 2 rho^2)/3: fixed points 1/2 and 1, coefficient 2/3, slope 2/3 at 1/2 and 4/3 at 1
QUADRATIC = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
CUBIC = sp.KernelMap.from_series([0.1, 0.2, 0, 0.7])
AT_ONE = sp.KernelMap.from_series([0.5, 0.25, 0.25])
BATCH = sp.KernelMap.from_series([[1 / 3, 0, 2 / 3, 0], [0.1, 0.2, 0, 0.7]])


def test_coefficients_in_closed_form():
    """exp: 1 - 2/e; step: 1 - 1/2 - 1/pi; ReLU: 1 - 1/pi - 1/2; |x|: 1 - 2/pi."""
    known = {
        "exponential": 1 - 2 / math.e,
        "step": 0.5 - 1 / math.pi,
        "ReLU": 0.5 - 1 / math.pi,
        "absolute value": 1 - 2 / math.pi,
    }
    for name, value in known.items():
        case = lab.coefficient(name)
        np.testing.assert_allclose(case.left, value, atol=1e-9)
        np.testing.assert_allclose(case.right, value, atol=1e-12)


def test_coefficient_rivals():
    assert lab.coefficient("ReLU", mean=False).left[0] == pytest.approx(0.5)
    assert lab.coefficient("ReLU", power=1).left[0] == pytest.approx(
        1 - math.sqrt(1 / math.pi) - math.sqrt(0.5)
    )
    centred = lab.coefficient("centred ReLU")
    np.testing.assert_allclose(centred.left, (math.pi - 2) / (2 * math.pi - 2), atol=1e-9)


def test_maps_are_kernel_maps_with_a_mean():
    for name, k in lab.maps(20, 8, sp.Stream(3)).items():
        np.testing.assert_allclose(k(1.0), 1, atol=1e-12)
        if name in ("random series", "pairs of orders"):
            assert np.asarray(k(0.0)).min() >= 0.01


def test_in_range_takes_the_extremes_of_a_batch():
    case = lab.in_range("", BATCH, above=0.1, most=0.5)
    np.testing.assert_allclose(case.left, [0.1, 0.7])
    np.testing.assert_allclose(case.right, [2 / 3, 0.5])


def test_shape():
    assert (lab.shape("", BATCH).left <= lab.shape("", BATCH).right).all()
    fall, bend = lab.shape("", QUADRATIC, low=-1.0).left
    assert fall == pytest.approx(2 / 3 * (1 - 0.995**2))
    assert bend < 0  # a parabola is convex everywhere, a cubic is not
    assert lab.shape("", CUBIC, low=-1.0).left[1] > 1e-6


def test_above_chord_by_hand():
    """The quadratic attains it: r - s(r) = 2/3 (r - 1/2)(1 - r)."""
    case = lab.above_chord("", QUADRATIC)
    share = np.linspace(0, 1, 101)
    values = 2 / 3 * share * (1 - share) / 4
    assert case.left / case.right == pytest.approx(1, abs=1e-9)
    assert np.isclose(values, case.left, atol=1e-12).any()
    assert lab.above_chord("", QUADRATIC, factor=1.5).left == pytest.approx(1.5 * case.left)
    linear = lab.above_chord("", QUADRATIC, power=1)
    assert linear.left / linear.right == pytest.approx(2, abs=1e-9)
    assert lab.above_chord("", AT_ONE).left == 0
    cubic = lab.above_chord("", CUBIC)
    assert cubic.left < 0.99 * cubic.right


@pytest.mark.parametrize("order", [1, 4])
def test_step_of_proof(order):
    case = lab.step_of_proof(order, 0.3, 0.2)
    assert case.left == pytest.approx(case.right, abs=1e-14)
    shifted = lab.step_of_proof(order, 0.3, 0.2, lag=1)
    assert shifted.right == pytest.approx(
        0.8 * 0.7 * (0.44 ** (order + 1) - 0.3 ** (order + 1)), abs=1e-14
    )


def test_numbers_of_fixed_points():
    found = {name: lab.number_of_fixed_points(name).left for name in ("ReLU", "GELU", "tanh")}
    assert found == {"ReLU": 0, "GELU": 1, "tanh": 1}
    assert lab.number_of_fixed_points("tanh", low=-1.0).left == 2


def test_slope_by_hand():
    plain = lab.slope("", QUADRATIC)
    assert (plain.left, plain.right) == (pytest.approx(2 / 3), pytest.approx(1 - 1e-9, abs=1e-12))
    sharper = lab.slope("", QUADRATIC, sharper=True)
    assert sharper.left / sharper.right == pytest.approx(1, abs=1e-8)
    assert lab.slope("", QUADRATIC, sharper=True, factor=1.5).right == pytest.approx(0.5)
    critical = sp.KernelMap.from_series([0.5, 0, 0.5])
    assert lab.slope("", critical).left < lab.slope("", critical).right
    strict = lab.slope("", critical, strict=True)
    assert strict.left > strict.right


def test_convergence_against_a_loop():
    """Of (1 + 2 rho^2)/3 with c = 3/4, from both ends and half of the upper."""
    worst = 0.0
    for delta in lab.SEPARATIONS:
        for start in (1 - delta, delta - 1, (1 - delta) / 2):
            rho = start
            for layer in range(61):
                bound = 0.75**layer / delta
                if bound <= 1:
                    worst = max(worst, abs(rho - 0.5) / bound)
                rho = (1 + 2 * rho**2) / 3
    assert lab.convergence("", QUADRATIC, 60).left == pytest.approx(worst, rel=1e-6)
    assert worst <= 1
    assert lab.convergence("", QUADRATIC, 60, power=0.5).left > 1
    assert lab.convergence("", QUADRATIC, 120, local=True).left > 1
    both = lab.convergence("", BATCH, 60).left
    assert both == pytest.approx(max(worst, lab.convergence("", CUBIC, 60).left), rel=1e-6)


def test_fitted_rate_of_softplus_and_step():
    """E phi'^2 over E phi^2 where the fixed point is 1; a fixed point of the arc sine else."""
    case = lab.fitted_rate("softplus")
    assert case.left == pytest.approx(0.31846, abs=1e-4)
    rho = 0.3
    for _ in range(200):
        rho = (math.pi - math.acos(rho)) / math.pi
    step = lab.fitted_rate("step")
    assert step.left == pytest.approx(1 / (math.pi * math.sqrt(1 - rho**2)), rel=1e-5)
    assert math.isinf(lab.fitted_rate("step", at=1.0).right)


@pytest.mark.parametrize("name", list(lab.CRITICAL))
def test_power_law_tends_to_its_constant(name):
    late, later = lab.power_law(name, 10**4), lab.power_law(name, 10**6)
    assert abs(later.left / later.right - 1) < abs(late.left / late.right - 1) < 0.02
    assert lab.power_law(name, 100, power=0).left < 0.1


def test_rate_of_proof():
    assert lab.rate_of_proof("softplus").left == 1
    assert lab.rate_of_proof("softplus", mended=True).left == pytest.approx(0.318459, abs=1e-5)
    gelu = lab.rate_of_proof("GELU", mended=True)
    first = lab.rate_of_proof("GELU", only_first=True).left
    assert first == pytest.approx(1 - 0.224927515 * (1 - 0.760401905) / 2, abs=1e-8)
    assert gelu.left == first
    assert lab.rate_of_proof("ELU").left == pytest.approx(0.987777, abs=1e-5)
    quick = lab.rate_of_proof("ELU", only_first=True).left
    assert quick == pytest.approx(1 - 0.0607447819 * (1 - 0.5975684467) / 2, abs=1e-8)
    assert not lab.rate_of_proof("ReLU").hypotheses["not critical"]
    assert not lab.rate_of_proof("tanh").hypotheses["a mean"]


def test_summary():
    rows = lab.summary().set_index("activation")
    assert list(rows.index) == list(lab.IN_USE)
    assert rows.loc["step", "fixed point"] == pytest.approx(
        (math.pi - math.acos(rows.loc["step", "fixed point"])) / math.pi
    )
    assert set(rows.loc[list(lab.CRITICAL), "convergence"]) == {"power"}
