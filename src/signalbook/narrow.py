"""A wide figure laid out once more, for phones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.text import Text

__all__ = ["is_wide", "stack"]


def is_wide(figure: Any) -> bool:
    """Whether a phone would show a figure with labels smaller than the style foresees."""
    return bool(figure.get_figwidth() > plt.rcParams["figure.figsize"][0])


def stack(figure: Any) -> None:
    """Put the panels of a figure below one another, as wide as the style's figures, in place.

    They are as high as they were, in reading order. What small multiples say once, each panel then
    says: the title of its column's head, the label below its foot, the label left of its row, and
    the numbers of axes that panels share. No text stays smaller than the style's tick labels.
    """
    panels = [ax for ax in figure.axes if ax.get_subplotspec() and not hasattr(ax, "_colorbar")]
    places = {ax: ax.get_subplotspec() for ax in panels}
    panels.sort(key=lambda ax: (places[ax].rowspan.start, places[ax].colspan.start))
    for ax in panels:
        _say_by_itself(ax, places)
    rows = max((places[ax].get_gridspec().nrows for ax in panels), default=1)
    heights = [len(places[ax].rowspan) for ax in panels] or [rows]
    width, height = plt.rcParams["figure.figsize"][0], figure.get_figheight() * sum(heights) / rows
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    for place, ax in zip(grid, panels, strict=False):
        ax.set_subplotspec(place)
    figure.set_size_inches(width, height)
    figure.set_layout_engine("constrained")
    least = plt.rcParams["xtick.labelsize"]
    for text in figure.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), least))


def _say_by_itself(ax: Any, places: Mapping[Any, Any]) -> None:
    """Give a panel the title and the labels that only others of its row and column have."""
    mine = places[ax]
    column = [a for a, place in places.items() if place.colspan == mine.colspan]
    row = [a for a, place in places.items() if place.rowspan == mine.rowspan]
    head = min(column, key=lambda a: places[a].rowspan.start)
    foot = max(column, key=lambda a: places[a].rowspan.stop)
    left = min(row, key=lambda a: places[a].colspan.start)
    if not ax.get_title():
        ax.set_title(head.get_title())
    if not ax.get_xlabel():
        ax.set_xlabel(foot.get_xlabel())
    if not ax.get_ylabel():
        ax.set_ylabel(left.get_ylabel())
    ax.tick_params(labelbottom=True, labelleft=True)
