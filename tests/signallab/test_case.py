"""A case holds what a check needs, and takes no one's mapping for its own."""

from dataclasses import FrozenInstanceError

import pytest

from signallab.case import Case


def test_without_more_a_case_has_no_hypotheses_and_no_words():
    case = Case(1.0, 2.0)
    assert (dict(case.hypotheses), case.words, dict(case.where)) == ({}, "", {})
    assert Case(1.0, 2.0).hypotheses is not case.hypotheses


def test_a_case_stays_as_it_was_made():
    with pytest.raises(FrozenInstanceError):
        Case(1.0, 2.0).left = 3.0
