"""Every check passes for what is true and rejects what is not, by more than luck."""

import math

import numpy as np
import pytest
from scipy import stats

from signalbook import checks
from signallab.case import Case

POINTS = [{"n": n} for n in (1, 2, 5)]
RNG = np.random.default_rng(7)


def squares(n, power=2, factor=1.0):
    return Case(float(sum(2 * k + 1 for k in range(n))), factor * float(n) ** power)


@pytest.mark.parametrize(
    ("check", "rival"),
    [
        (
            checks.at_most_one(squares, over=POINTS),
            lambda n: squares(n, power=1.9),
        ),
        (
            checks.equal(squares, over=POINTS, tolerance=1e-12, because="exact"),
            lambda n: squares(n, factor=1.001),
        ),
        (checks.near(RNG.normal(2, 0.1, 50), 2.0, reading=0.01), 2.5),
        (checks.near(RNG.normal(2, 0.1, 50), 2.0, reading=0.01), RNG.normal(3, 0.1, 50)),
        (checks.near(RNG.normal(2, 0.1, 50), (1.5, 2.5), reading=0), (0.5, 1.5)),
        (
            checks.near(RNG.normal([1, 2], 0.1, (50, 2)), [1, 2], reading=0.01),
            [2, 1],
        ),
        (
            checks.ordered({"a": RNG.normal(0, 1, 50), "b": RNG.normal(5, 1, 60)}),
            ["b", "a"],
        ),
        (checks.share(RNG.random(1000) < 0.5, at_least=0.4, at_most=0.6), {"at_least": 0.9}),
        (checks.share(RNG.random(1000) < 0.5, at_most=0.6), {"at_most": 0.2}),
        (checks.same_law(RNG.random(500), RNG.random(500)), RNG.normal(size=500)),
        (checks.follows(RNG.random(500), stats.uniform.cdf), stats.norm.cdf),
        (checks.approaches([3 + 0.5**k + 0.25**k for k in range(9)], 3.0, ratio=2), 3.01),
        (
            checks.some_point(squares, over=POINTS),
            lambda n: squares(n, factor=0.5),
        ),
    ],
)
def test_the_true_statement_passes_and_its_rival_does_not(check, rival):
    assert check.passed, check.measured
    other = check.rival(rival)
    assert not other.passed, other.measured
    assert other.kind == check.kind
    assert other.escape is None or other.escape <= checks.LEVEL
    assert other.failing
    witness = other.witness(other.failing[0])
    assert math.isfinite(witness.left)
    assert math.isfinite(witness.right)


@pytest.mark.parametrize("bad", [math.nan, [1.0, math.nan], []])
def test_nan_decides_nothing(bad):
    with pytest.raises(ValueError, match="must hold numbers and no NaN"):
        checks.at_most_one(lambda: Case(bad, 1.0), over=[{}])


@pytest.mark.parametrize(
    ("value", "allowed", "share"),
    [(3.0, 2.0, 1.5), (-3.0, 2.0, -1.5), (0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (1.0, 0.0, math.inf)],
)
def test_a_share_of_what_is_allowed_where_nothing_is(value, allowed, share):
    assert checks.check.of_allowed(value, allowed) == share


def test_one_is_passed_and_more_is_not():
    for worst, passed in ((1.0, True), (math.nextafter(1, 2), False)):
        check = checks.Check("bound", worst, "", lambda other: None)
        assert check.passed == passed
        assert (check.error, check.escape, check.failing) == (0, 0, ())
