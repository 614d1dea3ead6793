"""What is written in a figure can be read: legends cover nothing, labels fit, names are spelled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

__all__ = ["SPELLED", "legible"]

#: Names as code has them, and as the book writes them.
SPELLED = {
    "relu": "ReLU",
    "gelu": "GELU",
    "selu": "SELU",
    "elu": "ELU",
    "silu": "SiLU",
    "cifar10": "CIFAR-10",
    "mnist": "MNIST",
    "fashion_mnist": "Fashion-MNIST",
}
_NAME = re.compile(rf"(?<![\w$\\])(?:{'|'.join(SPELLED)})(?![\w$])")
#: Places inside a panel, in the order in which they are tried.
_PLACES = [f"{y} {x}" for y, x in product(("upper", "lower"), ("right", "left"))]
_PLACES += ["center right", "center left", "upper center", "lower center", "center"]


def legible(figure: Any) -> None:
    """Mend what hides something or cannot be read, in place; the rest stays as it was drawn.

    A legend that lies on a curve moves to a free place of its panel. If there is none, or if it
    stands beside a panel, which takes half of a phone's width, it moves above the panel, and the
    figure grows by its height. Legends are as large as the labels of ticks. A label longer than
    its axis is broken in two lines.
    """
    for text in figure.findobj(Text):
        text.set_text(_NAME.sub(lambda name: SPELLED[name[0]], text.get_text()))
    legends = {ax: ax.get_legend() for ax in figure.axes if ax.get_legend()}
    for legend in legends.values():
        _enlarge(legend)
    figure.draw_without_rendering()
    for ax in figure.axes:
        _break(ax.yaxis.label, ax.bbox.height)
        _break(ax.xaxis.label, ax.bbox.width)
    high: dict[int, float] = {}
    for ax, legend in legends.items():
        if inches := _place(ax, legend):
            spec = ax.get_subplotspec()
            row = spec.rowspan.start if spec else 0
            high[row] = max(high.get(row, 0), inches)
    if high:
        figure.set_layout_engine("constrained")  # a layout made by hand has no room for legends
        figure.set_figheight(figure.get_figheight() + sum(high.values()))


def _enlarge(legend: Legend) -> None:
    least = plt.rcParams["xtick.labelsize"]
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_fontsize(max(text.get_fontsize(), least))


def _break(label: Text, room: float) -> None:
    """Break a label that is longer than ``room`` pixels at the blank next to its middle."""
    box, text = label.get_window_extent(), label.get_text()
    blanks = [found.start() for found in re.finditer(" ", text)]
    if max(box.width, box.height) > room and blanks and not {"\n", "$"} & set(text):
        middle = min(blanks, key=lambda at: abs(at - len(text) / 2))
        label.set_text(f"{text[:middle]}\n{text[middle + 1 :]}")


def _place(ax: Any, legend: Legend) -> float:
    """Move the legend if it has to; return the height in inches that it needs above the panel."""
    box, panel = legend.get_window_extent(), ax.bbox
    inside = box.y1 <= panel.y1 + 2 and box.y0 >= panel.y0 - 2 and box.x1 <= panel.x1 + 2
    beside = box.x0 >= panel.x1
    if inside and not _covers(ax, box):
        return 0.0
    if not inside and not beside:
        return 0.0  # above or below, by its author's hand, or larger than the panel
    if inside:
        before = legend._loc  # type: ignore[attr-defined]
        for place in _PLACES:
            legend.set_loc(place)  # type: ignore[arg-type]
            if not _covers(ax, legend.get_window_extent()):
                return 0.0
        legend.set_loc(before)
    return _above(ax, legend)


def _above(ax: Any, legend: Legend) -> float:
    """Put the legend above the panel and its title, in as many columns as fit."""
    handles, names = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
    figure, title = ax.figure, legend.get_title().get_text()
    head = ax.title.get_window_extent() if ax.get_title() else None
    foot = 1 + (head.height + 10) / ax.bbox.height if head else 1.0
    size = plt.rcParams["xtick.labelsize"]
    spec = ax.get_subplotspec()
    alone = spec is None or spec.get_gridspec().ncols == len(spec.colspan)
    room = (figure.bbox.width - ax.bbox.x0) if alone else ax.get_tightbbox().width
    for columns in range(min(4, len(names)), 0, -1):
        moved = ax.legend(
            handles, names, title=title, fontsize=size, title_fontsize=size, ncols=columns,
            loc="lower left", bbox_to_anchor=(0, foot), borderaxespad=0.2, columnspacing=1.2,
        )  # fmt: skip
        box = moved.get_window_extent()
        if box.width <= room:
            break
    return float(box.height / figure.dpi)


def _covers(ax: Any, box: Bbox) -> bool:
    """Whether something that is drawn in the panel lies below ``box``."""
    inner = box.padded(-2)
    return any(path.intersects_bbox(inner, filled) for path, filled in _drawn(ax)) or any(
        inner.count_contains(points) for points in _marks(ax)
    )


def _drawn(ax: Any) -> Iterable[tuple[Any, bool]]:
    """The lines and the filled regions of a panel, in pixels."""
    for line in ax.lines:
        if line.get_visible() and line.get_linestyle().lower() not in ("none", "", " "):
            yield line.get_transform().transform_path(line.get_path()), False
    for region in ax.collections:
        if isinstance(region, (PolyCollection, LineCollection)):
            filled = isinstance(region, PolyCollection)
            for path in region.get_paths():
                yield region.get_transform().transform_path(path), filled


def _marks(ax: Any) -> Iterable[Any]:
    """The places of the marks of a panel, in pixels."""
    for line in ax.lines:
        yield line.get_transform().transform(line.get_xydata())
    for cloud in (c for c in ax.collections if isinstance(c, PathCollection)):
        yield cloud.get_offset_transform().transform(cloud.get_offsets())
