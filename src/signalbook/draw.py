"""The recurring picture: measured curves with intervals, published points as crosses beside
them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import seaborn as sns  # type: ignore[import-untyped]

__all__ = ["curves"]


def curves(
    ax: Any,
    data: pd.DataFrame,
    x: str,
    y: str,
    by: str,
    *,
    published: pd.DataFrame | None = None,
    label: str | None = None,
    **line: Any,
) -> pd.DataFrame:
    """Draw the mean of ``y`` over runs against ``x``, a curve for each value of ``by``.

    Bands are 95 % intervals of the mean (1.96 standard errors). ``published`` holds the document's
    values in columns of the same names, drawn as crosses in the colour of their curve. Columns are
    named in words: they become the labels of the axes. In the legend ``label`` stands before each
    value, by default the name of the column. ``line`` goes to the curves (``marker="o"``, ...).
    Returns the rows that were drawn, as :func:`signalbook.figures.show` wants them.
    """
    label = by if label is None else label
    named = {value: f"{label} {value}".strip() for value in data[by].unique()}
    colors = dict(zip(named.values(), sns.color_palette(n_colors=len(named)), strict=True))
    sns.lineplot(
        data.assign(**{by: data[by].map(named)}),
        x=x,
        y=y,
        hue=by,
        style=by,
        palette=colors,
        errorbar=("se", 1.96),
        ax=ax,
        **line,
    )
    ax.legend(title="")
    if published is not None:
        for value, part in published.groupby(by):
            ax.plot(part[x], part[y], "x", color=colors[named[value]], ls="none")
    grouped = data.groupby([by, x], as_index=False)[y]
    rows = grouped.agg(["mean", "sem", "count"]).reset_index(drop=True)
    return rows.rename(columns={"mean": f"mean {y}", "sem": "standard error", "count": "runs"})
