"""Where an inequality of two variables holds, and where it fails: proved, box by box."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from flint import arb

from signalprop._arrays import Floats
from signalprop.certify import signs

__all__ = ["corners", "regions"]

WORDS = {1: "holds", 0: "undecided", -1: "fails"}


def regions(
    room: Callable[..., arb], sides: Mapping[str, tuple[float, float]], size: float
) -> pd.DataFrame:
    """Return boxes on which ``room > 0`` is proved, refuted, or undecided: one row a box.

    Columns are ``<side> from`` and ``<side> to`` for each of the ``sides``, and ``the bound``: it
    holds, fails or is undecided. Boxes of the last kind are at most ``size`` of the whole wide.

    >>> found = regions(lambda x, y: x - y, {"x": (0, 1), "y": (0, 1)}, 0.25)
    >>> sorted(set(found["the bound"])), len(found.columns)
    (['fails', 'holds', 'undecided'], 5)
    """
    rows = []
    for box, sign in signs(room, list(sides.values()), size):
        row: dict[str, float | str] = {}
        for name, (low, high) in zip(sides, box, strict=True):
            row |= {f"{name} from": float(low), f"{name} to": float(high)}
        rows.append(row | {"the bound": WORDS[sign]})
    return pd.DataFrame(rows)


def corners(found: pd.DataFrame, across: str, up: str) -> Floats:
    """Return the corners of boxes for drawing, ``(boxes, 4, 2)``.

    >>> frame = regions(lambda x, y: x + y + 1, {"x": (0, 1), "y": (0, 2)}, 1)
    >>> corners(frame, "x", "y")[0].tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]]
    """
    left, right = (found[f"{across} {end}"].to_numpy() for end in ("from", "to"))
    low, high = (found[f"{up} {end}"].to_numpy() for end in ("from", "to"))
    x, y = np.stack([left, right, right, left], 1), np.stack([low, low, high, high], 1)
    return np.stack([x, y], -1)
