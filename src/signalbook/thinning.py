"""What a record keeps of the rows of a figure: enough to draw its curves again."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

__all__ = ["thinned"]

ROWS = 400  # of a figure: a curve on a page has fewer pixels than this
FEWEST = 20  # points that a curve keeps, however many there are


def thinned(csv: str) -> str:
    """What a drawn curve needs: six digits, and few enough places of the finest axis.

    Every curve keeps the same places, spread evenly on a linear and on a logarithmic axis.
    """
    data = pd.read_csv(io.StringIO(csv))
    if len(data) > ROWS:
        axis = _axis(data)
        places = np.sort(data[axis].dropna().unique())
        most = max(FEWEST, ROWS * len(places) // len(data))
        even = np.linspace(0, len(places) - 1, most - most // 2)
        geometric = np.geomspace(1, len(places), most // 2) - 1
        kept = places[np.unique(np.rint(np.concatenate([even, geometric])).astype(int))]
        data = data[data[axis].isin(kept)]
        data = data.iloc[:: -(-len(data) // (2 * ROWS))]
    return str(data.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def _axis(data: pd.DataFrame) -> str:
    """The column along which the rows run: of whole numbers rather than others, the finest."""

    def fitness(name: str) -> tuple[bool, bool, int]:
        measured = name.startswith("mean ") or name in ("run", "runs", "standard error")
        return not measured, data[name].dtype.kind in "iu", data[name].nunique()

    return str(max(data.columns, key=fitness))
