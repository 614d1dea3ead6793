"""Displays of the proof at (1 + 2 rho^2)/3, where all can be written out by hand."""

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import families
from signallab.kernels import proof_of_the_cases as lab

A = sp.activations
QUADRATIC = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])  # rho* = 1/2, kappa'(rho*) = 2/3
CRITICAL = sp.KernelMap.from_series([0.5, 0, 0.5])


def test_factors_above_by_hand():
    """(kappa - 1/2)/(1 - kappa) over (rho - 1/2)/(1 - rho) is (2 rho + 1)/(2 (rho + 1))."""
    rows = lab.factors_above(QUADRATIC, 50)
    rho = rows["cosine"]
    np.testing.assert_allclose(
        rows["factor of a layer"], (2 * rho + 1) / (2 * (rho + 1)), rtol=1e-11
    )
    assert rho.between(0.5, 1).all()


@pytest.mark.parametrize(
    ("factor", "value"), [(lab.header, 2 / 3), (lab.conclusion, 3 / 8), (lab.mended, 3 / 4)]
)
def test_above_is_the_largest_factor(factor, value):
    """The factor of a layer rises to 3/4 at 1, where the grid ends 0.5e-4 before."""
    assert factor(QUADRATIC) == pytest.approx(value, abs=1e-12)
    case = lab.above("", QUADRATIC, factor)
    rho = 1 - 0.5e-4
    assert case.left / case.right == pytest.approx((2 * rho + 1) / (2 * (rho + 1)) / value)


def test_critical_step_by_hand():
    """(1 + rho^2)/2: 1 - x'/x = x/2, and alpha = 1/2."""
    case = lab.critical_step("", CRITICAL)
    assert case.left == pytest.approx(case.right, rel=1e-12)
    assert lab.critical_step("", CRITICAL, lambda k: 0.6).left > case.right
    assert not all(lab.critical_step("", QUADRATIC).hypotheses.values())


def test_between_by_hand():
    """|kappa - 1/2| = (2/3)(1/2 - rho)(1/2 + rho): the factor is largest next to 1/2."""
    case = lab.between("", QUADRATIC)
    rho = 0.5 * 0.99
    assert case.left / case.right == pytest.approx(0.5 + rho, rel=1e-9)


def test_below_zero_by_hand():
    """(2/3)|rho - 1/2||rho + 1/2| against (2/3)|rho - 1/2|: at most 1/2, at 0 and at -1."""
    case = lab.below_zero("", QUADRATIC)
    assert case.left / case.right == pytest.approx(0.5)
    third = lab.below_zero("", QUADRATIC, lambda k: 1 / 3)
    assert third.left / third.right == pytest.approx(1)


@pytest.mark.parametrize(("where", "passes"), [("everywhere", 0), ("used", 1)])
def test_not_larger(where, passes):
    for name, k in families.maps(4, 50, 12, seed=1).items():
        case = lab.not_larger(name, k, where)
        if "ρ³" not in name:  # odd but for a constant: nearly -r everywhere
            assert (case.left <= case.right * (1 + 1e-12)) == bool(passes), name


def test_no_longer_negative_is_not_enough():
    case = lab.not_larger("", QUADRATIC, "no longer negative", at=np.array([-0.1]))
    assert (case.left, case.right) == (pytest.approx(1.02 / 3), pytest.approx(0.1))


@pytest.mark.parametrize("phi", [A.exp, A.gelu, A.softplus], ids=lambda phi: phi.name)
def test_balance(phi):
    case = lab.balance(phi)
    assert case.left == pytest.approx(case.right, rel=1e-10)
    assert lab.balance(phi, mean=0).right > case.left + 0.1
    assert abs(lab.balance(phi, shift=0).right - case.left) > 0.02


def test_hypotheses_of_case_4():
    assert not all(lab.below_zero("", CRITICAL).hypotheses.values())
