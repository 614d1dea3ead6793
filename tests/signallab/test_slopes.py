"""A sign by a slope needs the value at one point as well."""

import pytest
import sympy

from signallab.slopes import from_zero
from signalprop.certify import NoIdentity

x = sympy.Symbol("x", positive=True)
LOG = x - 1 - sympy.log(x)


def test_both_are_proved():
    assert len(from_zero(LOG, x, (x - 1) / x, at=1)) == 2
    assert len(from_zero(x - sympy.tanh(x), x, sympy.tanh(x) ** 2)) == 2


@pytest.mark.parametrize(
    ("f", "slope", "at"),
    [
        (LOG + 1, (x - 1) / x, 1),  # of this slope, but lifted
        (LOG - sympy.Rational(1, 10**12), (x - 1) / x, 1),
        (LOG, (x - 1) / x, 2),
        (LOG, (x - 2) / x, 1),
    ],
)
def test_neighbours_are_refused(f, slope, at):
    with pytest.raises(NoIdentity):
        from_zero(f, x, slope, at)
