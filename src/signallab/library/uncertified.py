"""Failures that carry no certificate, and why: what a proof in balls would need, and has not."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

__all__ = ["UNCERTIFIED", "reasons"]

#: A claim by its ID, what it is about, and the display of a proof.
Claim = tuple[str, str, str]

LAWS = "the hypothesis of a unique invariant law"

#: Claims that fail as printed and are not certified, by the reason.
UNCERTIFIED: Mapping[str, tuple[Claim, ...]] = {
    "rests on sampled networks; its erratum has the p-value, at most 10⁻¹²": (
        ("RANK-T3", LAWS, ""),
        ("RANK-X6", "the input has full rank", ""),
        ("RANK-L4", "the full sequence", ""),
        ("RANK-L15", LAWS, ""),
        ("RANK-L18", LAWS, ""),
        ("RANK-Tab1", "no batch normalization, tanh", ""),
        ("ORTH-A1", "", ""),
        ("ORTH-C3", "the introduction: a radius inversely proportional to the width", ""),
        ("ORTH-T5", "", ""),
        ("ORTH-X3", "", ""),
        ("ORTH-LA8", "", "Eq. (A.13)"),
        ("ORTH-CJ", "the order in the width", ""),
        ("ORTH-CJ", "the supposition of a unique invariant law", ""),
        ("ORTH-FT23", "the input", ""),
        ("ORTH-F5b", "with batch normalization it stabilizes", ""),
        ("ORTH-F6", "the differences between activations", ""),
        ("KER-P5.1", "", ""),
        ("KER-P5.2", "", ""),
        ("GRAD-E6.2", "a constant of the width alone", ""),
        ("GRAD-FC.10", "gradients remain bounded", ""),
        ("DEC-N2", "", ""),
        ("DEC-R1", "the point of largest norm", ""),
        ("COND-T15", "", ""),
        ("COND-T53", "", ""),
    ),
    "rests on training": (("ISO-C4.4", "during training", ""),),
}


def reasons() -> pd.DataFrame:
    """Return the reasons with the statements that they keep from a certificate: a row a reason.

    >>> int(reasons()["claims"].sum()) == sum(map(len, UNCERTIFIED.values()))
    True
    """
    return pd.DataFrame(
        {
            "why there is no certificate": list(UNCERTIFIED),
            "claims": [len(claims) for claims in UNCERTIFIED.values()],
            "statements": [
                ", ".join(dict.fromkeys(id for id, _, _ in claims))
                for claims in UNCERTIFIED.values()
            ],
        }
    )
