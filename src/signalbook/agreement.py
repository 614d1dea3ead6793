"""A live run and a recorded one, held against each other where they are about the same thing.

Of figures these are rows with equal keys whose numbers are means with a standard error over runs,
where neither run was reduced in something that the figure depends on; of claims those that both
runs settled at the document's size. Rows that state no sampling error say nothing about chance and
are drawn side by side only; an error of zero says that there is none.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from signalbook.checks import LEVEL
from signalbook.outputs import claims_in, figures_in
from signalbook.records import REDUCED, Record, parts
from signalbook.words import show

__all__ = ["Agreement", "agreement"]

MEAN, ERROR, RUNS = "mean ", "standard error", "runs"
ROUNDING = 1e-5  # relative: a record keeps six digits


@dataclass(frozen=True)
class Agreement:
    """In how many places a live run was compared with its record, and where the two differ."""

    places: int = 0
    wrong: tuple[str, ...] = ()
    error: float = 0.0


@dataclass(frozen=True)
class _Mean:
    value: float
    error: float
    runs: float

    def __str__(self) -> str:
        return f"{show(self.value, 6)} ± {show(self.error, 2)} over {show(int(self.runs))} runs"


def agreement(notebook: Mapping[str, Any], record: Record) -> Agreement:
    """Compare an executed notebook with the fresh record of its chapter.

    The chance that two runs of one law differ somewhere is at most :data:`LEVEL` for each figure:
    it is split over the places, and a difference has to exceed Student's quantile (Welch) of the
    two standard errors, and rounding. Two runs of one seed share their first draws, and then differ
    by less.
    """
    places, wrong, compared = 0, [], 0
    for figure in figures_in(notebook["cells"]):
        recorded = record["figures"].get(figure["name"])
        if recorded is None or figure.get("reduced") or recorded["reduced"]:
            continue
        pairs = list(_pairs(_means(figure["csv"]), _means(recorded["csv"])))
        places += len(pairs)
        compared += bool(pairs)
        differing = [(at, a, b) for at, a, b in pairs if _differ(a, b, len(pairs))]
        wrong += [
            f"figure {figure['name']}, at {place}: live {live}, recorded {there}"
            for place, live, there in differing[:3]
        ]
        if len(differing) > 3:
            wrong.append(f"figure {figure['name']}: so do {len(differing) - 3} more places")
    return Agreement(places, (*wrong, *_claims(notebook, record)), compared * LEVEL)


def _claims(notebook: Mapping[str, Any], record: Record) -> Iterator[str]:
    """Claims that both runs settled at full size, each with another verdict."""
    recorded = parts(record["claims"])
    for part, claim in parts(claims_in(notebook["cells"])).items():
        there = recorded.get(part, claim)
        if claim["verdict"] != there["verdict"] and not {*_verdicts(claim, there)} & {*REDUCED}:
            about = f" ({claim['about']})" if claim.get("about") else ""
            yield (
                f"{claim['id']}{about}: the live run finds {claim['verdict']!r} "
                f"({claim['measured']}), the record {there['verdict']!r} ({there['measured']})"
            )


def _verdicts(*claims: Mapping[str, Any]) -> list[str]:
    return [claim["verdict"] for claim in claims]


def _means(csv: str) -> dict[str, _Mean]:
    """The means of a figure's rows by their place in words, without places named twice."""
    rows = pd.read_csv(io.StringIO(csv))
    if not {ERROR, RUNS} <= {*rows.columns}:
        return {}
    means = [name for name in rows.columns if name.startswith(MEAN)]
    keys = [name for name in rows.columns if name not in (*means, ERROR, RUNS)]
    found: dict[str, _Mean] = {}
    twice = set()
    for row in rows.to_dict("records"):
        (name, *others) = [name for name in means if pd.notna(row[name])] or [""]
        if not name or others or pd.isna(row[ERROR]):
            continue
        said = [f"{key} = {_key(row[key])}" for key in keys if pd.notna(row[key])]
        place = ", ".join([*said, name])
        twice |= {place} & {*found}
        found[place] = _Mean(row[name], row[ERROR], row[RUNS])
    return {place: mean for place, mean in found.items() if place not in twice}


def _key(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def _pairs(
    live: Mapping[str, _Mean], recorded: Mapping[str, _Mean]
) -> Iterator[tuple[str, _Mean, _Mean]]:
    for place, mean in live.items():
        if place in recorded:
            yield place, mean, recorded[place]


def _differ(live: _Mean, recorded: _Mean, places: int) -> bool:
    off = abs(live.value - recorded.value)
    allowed = ROUNDING * max(abs(live.value), abs(recorded.value))
    drawn = [mean for mean in (live, recorded) if mean.error > 0]
    if drawn:
        squares = np.array([mean.error**2 for mean in drawn])
        less_one = np.array([mean.runs - 1 for mean in drawn])
        freedom = squares.sum() ** 2 / (squares**2 / less_one).sum()
        allowed += stats.t.isf(LEVEL / places / 2, freedom) * np.sqrt(squares.sum())
    return bool(off > allowed)
