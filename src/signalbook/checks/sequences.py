"""Terms of a sequence beside the limit that a statement claims for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from signalbook.checks.check import ROUNDING, Check, Witness, numbers_of, of_allowed
from signalbook.words import show

__all__ = ["approaches"]


def approaches(values: Sequence[float], limit: float, *, ratio: float) -> Check:
    """A sequence approaches ``limit`` geometrically: finite evidence for an asymptotic statement.

    From one term to the next the distance is divided by about ``ratio`` (2 to the power of the
    order, if sizes double). Removing that error from neighbouring terms gives two estimates of the
    limit; their difference is the tolerance, and the last one has to lie within it. A rival is
    another limit.

    >>> check = approaches([1 + 2.0**-k + 4.0**-k for k in range(8)], 1.0, ratio=2)
    >>> check.passed, check.rival(1.001).passed
    (True, False)
    """
    terms = numbers_of(values, "values").ravel()
    if terms.size < 3 or not ratio > 1:
        raise ValueError(
            f"needs three terms and ratio > 1, got {terms.size} terms, ratio {ratio!r}"
        )
    estimates = terms[1:] + np.diff(terms) / (ratio - 1)
    tolerance = abs(float(estimates[-1] - estimates[-2])) + ROUNDING * abs(limit)
    off = abs(float(estimates[-1] - limit))
    return Check(
        "limit",
        of_allowed(off, tolerance),
        f"the last of {terms.size} terms is {show(terms[-1])}, extrapolated "
        f"{show(estimates[-1], 6)}; claimed {show(limit)}, off by {show(off, 2)}, tolerance "
        f"{show(tolerance, 2)} = change of the extrapolation",
        lambda other: approaches(values, other, ratio=ratio),
        {"last": show(terms[-1]), "measured": show(estimates[-1], 4), "off": show(off, 2)},
        failing=(0,) if off > tolerance else (),
        witness=lambda _: Witness("extrapolated limit", float(estimates[-1]), float(limit)),
    )
