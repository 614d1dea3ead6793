"""The prover proves what is true, refuses what is false by a hair, and says where it gave up."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from signalprop.certify import NotProved, Refuted, prove_digits, prove_positive, signs

TINY = arb("1e-12")


def test_true_inequalities_are_proved():
    proof = prove_positive(lambda x: x**4 - x + 1, [(-2, 2)])
    least = 1 - 3 * 4 ** (-4 / 3)  # at 4^(-1/3)
    assert 0 < proof.margin <= least
    assert proof.boxes > 1
    assert proof.seconds > 0


def test_three_dimensions():
    # arithmetic beyond geometric mean: equality is kept away by the summand
    f = lambda x, y, z: x**3 + y**3 + z**3 - 3 * x * y * z + arb("0.5")  # noqa: E731
    assert prove_positive(f, [(0, 1)] * 3).margin <= 0.5


@pytest.mark.parametrize("seed", range(100))
def test_no_inequality_that_fails_by_a_hair_is_proved(seed):
    """A square around a random point, less 1e-12: false there, and nowhere else to be seen."""
    rng = np.random.default_rng(seed)
    sides = 1 + seed % 2
    zero = [arb(float(x)) for x in rng.uniform(-1, 1, sides)]
    powers = rng.integers(1, 3, sides)

    def false(*x):
        gaps = [(a - b) ** (2 * int(p)) for a, b, p in zip(x, zero, powers, strict=True)]
        return sum(gaps, arb(0)) - TINY

    with pytest.raises((Refuted, NotProved)):
        prove_positive(false, [(-1, 1)] * sides, budget=3_000)


@pytest.mark.parametrize("seed", range(10))
def test_nor_one_of_three_variables_or_with_an_edge(seed):
    """Absolute values, products and roots, less 1e-12, and zeros in a corner of the box."""
    rng = np.random.default_rng(1000 + seed)
    a, b, c = (arb(float(x)) for x in rng.uniform(0.1, 0.9, 3))
    shapes = [
        lambda x, y, z: abs(x - a) + (y - b) ** 2 + abs(z - c) - TINY,
        lambda x, y, z: (x * y - a * b) ** 2 + (z - c) ** 2 - TINY,
        lambda x, y, z: x + y**2 + z - TINY,
        lambda x, y, z: (1 + x).sqrt() - 1 + y * z - TINY,
    ]
    with pytest.raises((Refuted, NotProved)):
        prove_positive(shapes[seed % 4], [(0, 1)] * 3, budget=1_000)


def test_a_refutation_names_an_exact_point():
    with pytest.raises(Refuted, match="not positive at") as failure:
        prove_positive(lambda x: x - arb("0.3"), [(0, 1)])
    (point,) = failure.value.point
    assert isinstance(point, Fraction)
    assert point < Fraction(3, 10)
    assert failure.value.value < 0


def test_a_zero_is_not_proved_positive_and_the_worst_box_is_named():
    with pytest.raises(NotProved, match="not proved with") as failure:
        prove_positive(lambda x: (x - arb(1) / 3) ** 2, [(0, 1)])
    ((a, b),) = failure.value.worst
    assert abs(float(a) - 1 / 3) < 1e-6
    assert abs(float(b) - 1 / 3) < 1e-6


def test_the_budget_is_kept():
    calls = []
    with pytest.raises(NotProved):
        prove_positive(lambda x: calls.append(0) or (x - arb(1) / 3) ** 2, [(0, 1)], budget=10)
    assert len(calls) < 40


def test_what_cannot_be_computed_is_not_proved():
    with pytest.raises(NotProved):
        prove_positive(lambda x: 1 / x**2, [(-1, 2)], budget=50)


def test_progress_is_told(capsys):
    prove_positive(lambda x: 2 + x, [(0, 1)], progress=True)
    assert capsys.readouterr().err == ""
    prove_positive(lambda x: x**2 - x + arb("0.2501"), [(0, 1)], progress=True)
    assert "boxes, least bound" in capsys.readouterr().err


def test_signs_cover_the_box_and_are_right():
    f = lambda x, y: x * x + y * y - 1  # noqa: E731
    parts = list(signs(f, [(0, 2), (0, 1)], 1 / 32))
    area = sum((b - a) * (d - c) for ((a, b), (c, d)), _ in parts)
    assert area == 2
    undecided = 0.0
    for ((a, b), (c, d)), sign in parts:
        corners = [float(x * x + y * y - 1) for x in (a, b) for y in (c, d)]
        assert sign != 1 or min(corners) > 0
        assert sign != -1 or max(corners) < 0
        undecided += float((b - a) * (d - c)) if sign == 0 else 0
    assert 0 < undecided < 0.2


@pytest.mark.parametrize("box", [[], [(1, 1)], [(0, 1), (2, 1)]])
def test_boxes_without_inside_are_refused(box):
    with pytest.raises(ValueError, match="box must be a sequence of intervals"):
        prove_positive(lambda *x: arb(1), box)


def test_two_variables_with_a_common_minimum_at_a_corner():
    # least at (1/2, 1/4), where the sides differ by a hundredth
    f = lambda x, y: (x - arb("0.5")) ** 2 + (y - arb("0.25")) ** 2 + arb("0.01")  # noqa: E731
    assert 0 < prove_positive(f, [(0, 1), (0, 2)]).margin <= 0.01
    with pytest.raises(NotProved, match="not proved with") as failure:
        prove_positive(lambda x, y: f(x, y) - arb("0.01"), [(0, 1), (0, 2)], budget=200)
    (a, b), (c, d) = failure.value.worst
    assert abs(float(a + b) / 2 - 0.5) < 0.01
    assert abs(float(c + d) / 2 - 0.25) < 0.01


@pytest.mark.parametrize("printed", ["3.1416", "3.14", "3"])
def test_digits_of_pi(printed):
    assert 0 < prove_digits(arb.pi(), printed).margin < 0.5


@pytest.mark.parametrize("printed", ["3.1415", "3.15", "4", "-3.14"])
def test_wrong_digits_are_not_proved(printed):
    with pytest.raises(ArithmeticError, match="not proved to round to"):
        prove_digits(arb.pi(), printed)


def test_digits_of_a_wide_ball_are_not_proved():
    with pytest.raises(ArithmeticError, match="not proved"):
        prove_digits(arb(0.5, 0.06), "0.5")


def test_values_beyond_the_largest_double_are_compared_too():
    proof = prove_positive(lambda x: x * x, [(1e299, 1e300)])
    assert proof.boxes < 10
    assert proof.margin > 1e308


@pytest.mark.parametrize("printed", ["1.5e-3", "1/3", "0/0", "", ".5", "pi"])
def test_what_is_no_decimal_has_no_digits_to_prove(printed):
    with pytest.raises(ValueError, match="printed must be a decimal such as"):
        prove_digits(arb(0.0015), printed)
