"""A counterexample exists only where numbers refute a comparison beyond all rounding."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

from signalprop.certify import Counterexample, differs, exceeds, reaches

PI = arb.pi()


@pytest.mark.parametrize(
    ("make", "left", "right"),
    [
        (exceeds, 1, 1),
        (exceeds, Fraction(1, 3), Fraction(1, 2)),
        (exceeds, PI, PI),
        (exceeds, arb(1, 1e-9), 1),
        (differs, fmpq(2, 4), Fraction(1, 2)),
        (differs, PI, PI),
        (differs, arb(1, 1e-30), 1),
        (reaches, 1, 2),
        (reaches, PI, PI),
        (exceeds, arb("nan"), 0),
        (differs, arb("nan"), 0),
        (differs, arb("inf") - arb("inf"), 0),
    ],
)
def test_what_refutes_nothing(make, left, right):
    with pytest.raises(ValueError, match="the sides must refute"):
        make(left, right, at="here")


@pytest.mark.parametrize(
    ("make", "left", "right", "exact"),
    [
        (exceeds, Fraction(1, 3), fmpq(1, 4), True),
        (exceeds, PI, 3, False),
        (exceeds, 10**40 + 1, 10**40, True),
        (differs, -PI, PI, False),
        (differs, 10**40 + 1, 10**40, True),
        (reaches, 2, 2, True),
        (reaches, PI, 2, False),
    ],
)
def test_what_refutes(make, left, right, exact):
    assert make(left, right, at="here").exact is exact


@pytest.mark.parametrize("side", [0.5, np.float64(2.0), True, "1", None])
def test_computed_floats_are_no_proof(side):
    with pytest.raises(ValueError, match="left must be an exact number or a ball"):
        exceeds(side, 0, at="here")


def test_hypotheses_hold_and_the_point_has_words():
    with pytest.raises(ValueError, match="'n is even', which does not"):
        exceeds(2, 1, at="here", given={"n > 0": True, "n is even": False})
    with pytest.raises(ValueError, match="at must say"):
        exceeds(2, 1, at=" ")
    with pytest.raises(ValueError, match="must refute that left is equal to right"):
        Counterexample(1, 1, "equal to", "here")
