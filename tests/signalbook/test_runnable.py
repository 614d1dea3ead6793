"""Counterexamples as code: what is written runs, and gives the sides of the check."""

import contextlib
import io
from functools import partial

import numpy as np
import pytest

from signalbook.checks import at_most_one, equal
from signalbook.runnable import at_point
from signallab.case import Case
from signallab.orthogonality import gap_depth_width
from signalprop import theory
from signalprop.random import Stream


def ran(code):
    """What the code prints, as numbers, run among no names of ours."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(code, {"__name__": "reader"})
    return [float(word) for word in shown.getvalue().split()]


def sides(case):
    return float(np.mean(case.left)), float(np.mean(case.right))


def written(statement, **point):
    return at_point(statement, point, sides(statement(**point)), sides)


STRONG = {"samples": 6, "shape": "one strong direction", "share": 0.05, "layers": 4}
LINE = {"rate": 0.1, "layers": 3, "start": 0.5, "noise": np.float64(0.01)}
PRINTED = gap_depth_width.theorem_1(theory.orth_theorem_1)


@pytest.mark.parametrize(
    ("statement", "point"),
    [
        (PRINTED, STRONG),
        (gap_depth_width.theorem_1(partial(gap_depth_width.bound, power=2)), STRONG),
        (gap_depth_width.induction(first=1, last=0), LINE),
    ],
    ids=["made by a function", "partial", "an identity"],
)
def test_code_gives_both_sides(statement, point):
    code = written(statement, **point)
    assert ran(code) == pytest.approx(sides(statement(**point)), rel=1e-12)
    assert len(code.splitlines()) <= 20


def test_of_runs_the_mean_over_the_same_draws_is_printed():
    net = {"width": 16, "runs": 3, "depth": 6, "device": "cpu", "stream": Stream(2, ("a", 3))}
    point = STRONG | net
    code = at_point(PRINTED, point, sides(PRINTED(**point)), sides, runs=True)
    assert ran(code) == pytest.approx(sides(PRINTED(**point)))


def test_what_cannot_be_written_or_is_not_the_same_has_no_code():
    assert written(lambda x: Case(1.0, 2.0), x=object()) == ""
    assert at_point(PRINTED, STRONG, (0.0, 0.0), sides) == ""


def test_a_check_that_fails_hands_out_its_code():
    statement = gap_depth_width.induction(first=1, last=0)
    check = equal(statement, over=[LINE], tolerance=1e-9, because="never mind")
    witness = check.witness(check.failing[0])
    assert ran(witness.code) == pytest.approx([witness.left, witness.right])
    check = at_most_one(statement, over=[LINE])
    assert ran(check.witness(check.failing[0]).code)[0] == pytest.approx(witness.left)


runs_of_the_maker = []


def a_maker_that_settles():
    """Makes a statement and settles it, as a test or a cell of a chapter does."""
    runs_of_the_maker.append(1)
    check = equal(lambda n: Case(n, n + 1.0), over=[{"n": 1}], tolerance=1e-3, because="digits")
    return check.witness({"n": 1})


def test_code_that_is_tried_has_none_written_in_turn():
    assert a_maker_that_settles().left == 1
    assert len(runs_of_the_maker) == 2, "once by us, once to try the code"
