"""What is proved of one layer, against fractions and the library's kernel maps."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import signalprop as sp
from signallab.library import certificates as lab
from signalprop import activations as A
from signalprop.certify import NotProved, PowerSeries, Refuted


def cubic(a):
    return PowerSeries((arb(0), 1 - arb(a), arb(0), arb(a)))


def theorem(kappa):
    return 2 - kappa.coefficients[1]


def odds(x):
    return x / (1 - x)


def test_the_room_is_that_of_the_odds():
    """``h - r g`` has the sign of ``odds(rho) - r odds(kappa)``, and its size by known factors."""
    a, rho, r = Fraction(1, 4), Fraction(2, 3), Fraction(6, 5)
    kappa = (1 - a) * rho + a * rho**3
    exact = (odds(rho) - r * odds(kappa)) * (1 - rho) * ((1 - kappa) / (1 - rho)) / rho
    found = lab.room(cubic(0.25), lambda _: arb(6) / 5)(arb(2) / 3)
    assert (found - arb(exact.numerator) / exact.denominator).contains(0)
    assert found.rad() < 1e-12


def test_the_theorem_is_proved_and_a_faster_rate_is_not():
    kernels = {str(a): cubic(a) for a in (0.25, 0.75)}
    rows = lab.proofs(kernels, theorem)
    assert rows["rate"].tolist() == pytest.approx([1 / 1.25, 1 / 1.75])
    assert (rows["least room"] > 0).all()
    with pytest.raises((Refuted, NotProved)):
        lab.proofs(kernels, lambda kappa: 1 / kappa.coefficients[1] + arb("1e-6"))


def test_centred_kernels_are_those_of_the_library():
    ours, theirs = lab.centred(A.relu, 12), sp.KernelMap(A.relu.standardized())
    assert float(ours(0.4)) == pytest.approx(float(theirs(0.4)), abs=1e-7)


def test_the_refutation_is_one():
    rho = lab.refutation(cubic(0.25), lambda kappa: kappa.slope(1))
    kappa = Fraction(3, 4) * rho + rho**3 / 4
    assert odds(kappa) > odds(rho) / Fraction(3, 2)
    with pytest.raises(ValueError, match="inverse must be a rate that fails"):
        lab.refutation(cubic(0.25), theorem)


def test_odds_after_layers_by_fractions():
    left, right = lab.odds_after(cubic(0.25), Fraction(1, 2), 3, arb(5) / 4)
    rho = Fraction(1, 2)
    for _ in range(3):
        rho = Fraction(3, 4) * rho + rho**3 / 4
    exact = odds(rho)
    assert left.overlaps(arb(exact.numerator) / exact.denominator)
    assert right.overlaps((arb(4) / 5) ** 3)
    assert left.rad() < 1e-12


def test_bands_contain_the_room():
    rows = lab.bands(cubic(0.25), theorem, 8)
    for row in rows.itertuples(index=False):
        for rho in np.linspace(max(row[0], 1e-9), min(row[1], 1 - 1e-9), 5):
            kappa = 0.75 * rho + 0.25 * rho**3
            exact = (1 - kappa) / (1 - rho) - 1.25 * kappa / rho
            assert row[2] - 1e-12 <= exact <= row[3] + 1e-12
    assert (rows["room at most"] - rows["room at least"]).max() < 0.3


def test_the_cubic_room_is_that_of_balls():
    found, factors = lab.cubic_room()
    for a, rho in [(Fraction(1, 4), Fraction(1, 3)), (Fraction(2, 3), Fraction(4, 5))]:
        exact = [e.subs({"a": a, "rho": rho}) for e in (found, factors)]
        kappa = PowerSeries((arb(0), 1 - lab.ball(a), arb(0), lab.ball(a)))
        ours = lab.room(kappa, lambda kappa: kappa.slope(1))(lab.ball(rho))
        assert exact[0] == exact[1]
        assert float(ours) == pytest.approx(float(exact[0]), abs=1e-13)
