"""The words for what became of a statement, and for how gravely one fails.

By themselves, since the build reads them without the libraries that checks compute with.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["SEVERITIES", "VERDICTS", "Severity"]

#: From the best to the worst: an ID with several claims gets the worst of their verdicts.
VERDICTS = (
    "holds",
    "holds with slack",
    "misprint",
    "illustrated",
    "agrees at reduced scale",
    "open choice",
    "not run at this scale",
    "disagrees at reduced scale",
    "not reproduced",
    "fails as printed",
)

Severity = Literal["hypothesis", "constant", "rate", "false"]
#: What a failing statement needs, from the least to the most: one more hypothesis, another
#: constant, another exponent, or to be given up.
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
