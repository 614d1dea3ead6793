"""Checks: a comparison of numbers that can be repeated on a rival, which it must reject.

Two things are fixed before anything is measured: the reading error of the print and :data:`LEVEL`,
the chance that a true statement fails a check by bad luck. Tolerances follow from them and from the
raw runs. Every check knows its statement as something that can be exchanged (a function of points,
a list of numbers), so that a rival goes through the very code that judged the statement.

:mod:`~signalbook.checks.points` compares two sides at points, :mod:`~signalbook.checks.samples`
what random runs gave, :mod:`~signalbook.checks.sequences` terms with their limit.
"""

from signalbook.checks.check import LEVEL, Check, Witness
from signalbook.checks.points import at_most_one, equal, some_point
from signalbook.checks.samples import follows, near, ordered, same_law, share
from signalbook.checks.sequences import approaches

__all__ = [
    "LEVEL",
    "Check",
    "Witness",
    "approaches",
    "at_most_one",
    "equal",
    "follows",
    "near",
    "ordered",
    "same_law",
    "share",
    "some_point",
]
