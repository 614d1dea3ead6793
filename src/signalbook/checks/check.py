"""What a check is: its outcome, its chances of error, and how it is repeated on a rival."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

__all__ = ["LEVEL", "ROUNDING", "Check", "Kind", "Witness", "numbers_of", "of_allowed"]

Kind = Literal["identity", "bound", "rate", "level", "ordering", "limit", "existence", "law"]

#: The chance that a true statement fails one check. The book has 340 IDs with up to four checks
#: each; together they give a false alarm in less than one of a thousand builds.
LEVEL = 5e-7
ROUNDING = 1e-9  # relative, of both sides of an inequality in double precision


@dataclass(frozen=True)
class Witness:
    """A place where a statement fails, evaluated on its own: both sides and the hypotheses
    there, and ``code`` that does the same, where it can be written."""

    words: str
    left: float
    right: float
    hypotheses: tuple[str, ...] = ()
    p_value: float | None = None
    code: str = ""


@dataclass(frozen=True)
class Check:
    """A comparison that was made; ``worst`` is 1 or less where it passed, whatever the units.

    - ``measured`` tells the comparison in words, ``numbers`` are there to be quoted by name;
    - ``error`` is the chance that a true statement fails, ``escape`` the chance that a false one
      with these numbers
      passes on another draw. Both are 0 where nothing is random, and None where no
      sampling model is claimed;
    - ``rival`` repeats the check with another statement;
    - ``failing`` are the points where the statement fails, ``witness`` evaluates one of them again.
    """

    kind: Kind
    worst: float
    measured: str
    rival: Callable[[Any], Check] = field(repr=False)
    numbers: Mapping[str, str] = field(default_factory=dict)
    error: float | None = 0.0
    escape: float | None = 0.0
    failing: tuple[Any, ...] = field(default=(), repr=False)
    witness: Callable[[Any], Witness] | None = field(default=None, repr=False)

    @property
    def passed(self) -> bool:
        """Whether the statement stands."""
        return self.worst <= 1


def of_allowed(value: float, allowed: float) -> float:
    """How much of what is allowed a value takes; infinite where nothing is allowed."""
    if allowed > 0:
        return value / allowed
    return 0.0 if value <= 0 else np.inf


def numbers_of(value: Any, name: str) -> Any:
    """``value`` as a float array without NaN: a comparison with NaN would decide nothing."""
    numbers = np.asarray(value, dtype=float)
    if numbers.size == 0 or np.isnan(numbers).any():
        raise ValueError(f"{name} must hold numbers and no NaN, got {value!r}")
    return numbers
