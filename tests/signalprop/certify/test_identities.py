"""Identities of rational functions are decided; what is false is never proved."""

import pytest
import sympy

from signalprop.certify import NoIdentity, prove_identity

n, d, x = sympy.symbols("n d x", positive=True)


def test_sums_in_closed_form_hold_for_all_n():
    total = n * (n + 1) / 2  # the step from n to n + 1 is the proof by induction
    assert prove_identity(total.subs(n, n + 1) - total, n + 1).symbols == ("n",)


def test_powers_with_symbols_in_the_exponent():
    geometric = (1 - x ** (n + 1)) / (1 - x)
    assert prove_identity(geometric.subs(n, n + 1) - geometric, x ** (n + 1)).symbols == ("n", "x")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((n + d) ** 2, n**2 + d**2),
        (1 / (n - 1), 1 / n),
        (x ** (n + 1), x**n),
        (n + sympy.Rational(1, 10**30), n),
        (sympy.sqrt(2) * sympy.sqrt(3), sympy.sqrt(5)),
    ],
)
def test_no_false_identity_is_proved(left, right):
    with pytest.raises(NoIdentity, match="not an identity"):
        prove_identity(left, right)


@pytest.mark.parametrize(
    ("left", "right", "name"),
    [
        (n * (1 / 3), n / 3, "left"),  # differs by a rounding, which sums of floats would hide
        (n / 10, 0.1 * n, "right"),
        (n * (1 + 1e-17), n, "left"),
    ],
)
def test_floats_are_refused(left, right, name):
    with pytest.raises(ValueError, match=f"{name} must be exact, without floats"):
        prove_identity(left, right)


def test_nothing_is_proved_where_nothing_is_defined():
    with pytest.raises((ValueError, NoIdentity)):
        prove_identity(1 / (n - n), 0)
    with pytest.raises((ValueError, NoIdentity)):
        prove_identity(1 / ((n + 1) ** 2 - n**2 - 2 * n - 1), 0)
