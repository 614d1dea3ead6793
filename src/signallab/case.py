"""One instance of a printed statement: the form in which experiments hand statements to checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """Both sides of a printed statement at one point, and what its hypotheses look like there.

    A function ``case(**point)`` is the statement: a check evaluates it over points, and a changed
    function is a rival. ``left`` and ``right`` are numbers or arrays of one shape. For an
    expectation, ``left`` holds one number a run, shape ``(runs,)``, and ``right`` is a number.
    ``hypotheses`` are sentences with their truth at the point; ``words`` say where the point is,
    and ``where`` holds what was computed on the way, for those who want it.

    >>> Case(0.5, 1.0, {"n > 1": True}, words="two samples").right
    1.0
    """

    left: Any
    right: Any
    hypotheses: Mapping[str, bool] = field(default_factory=dict)
    words: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)
