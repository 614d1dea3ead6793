"""What is written in a figure can be read, and what could be read stays where it was."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from signalbook import figures, legible, narrow

X = np.linspace(0, 1, 50)


@pytest.fixture(autouse=True)
def style():
    figures.use_style()
    yield
    plt.close("all")


def drawn(*curves, loc, panels=1, **legend):
    """A figure of panels with the same curves and a legend each."""
    figure, axes = plt.subplots(1, panels, figsize=(4.8 * panels, 3.3), squeeze=False)
    for ax in axes.flat:
        for number, y in enumerate(curves):
            ax.plot(X, y, label=f"curve {number}")
        ax.legend(loc=loc, **legend)
    return figure


def boxes(figure):
    figure.draw_without_rendering()
    return [(ax.get_legend().get_window_extent(), ax) for ax in figure.axes]


def test_a_legend_that_covers_nothing_stays():
    figure = drawn(X, loc="upper left")
    before = figure.axes[0].get_legend()
    legible.legible(figure)
    assert figure.axes[0].get_legend() is before
    assert before._loc == 2
    assert figure.get_figheight() == 3.3


def test_a_legend_on_a_curve_moves_to_a_free_corner():
    figure = drawn(X, loc="upper right")
    legible.legible(figure)
    ((box, ax),) = boxes(figure)
    assert not legible._covers(ax, box)
    assert ax.bbox.y0 < box.y0 < box.y1 < ax.bbox.y1
    assert figure.get_figheight() == 3.3


@pytest.mark.parametrize("mark", ["o", "-"])
def test_where_no_place_is_free_it_moves_above_and_the_panel_stays_as_high(mark):
    figure, ax = plt.subplots()
    for number in range(12):
        ax.plot(X, np.full(50, number), mark, label=f"curve {number}" if number < 5 else None)
    ax.legend(loc="center", fontsize=6)
    figure.draw_without_rendering()
    height = ax.bbox.height
    legible.legible(figure)
    ((box, ax),) = boxes(figure)
    assert box.y0 >= ax.bbox.y1
    assert box.y1 <= figure.bbox.y1 + 1
    assert box.x1 <= figure.bbox.x1 + 1
    assert ax.bbox.height == pytest.approx(height, rel=0.05)
    assert {text.get_fontsize() for text in ax.get_legend().get_texts()} == {10}


def test_bands_count_as_curves():
    figure, ax = plt.subplots()
    ax.plot(X, X * 0, label="mean")
    ax.fill_between(X, -1, X * 0 + 1)
    ax.legend(loc="center")
    legible.legible(figure)
    ((box, ax),) = boxes(figure)
    assert box.y0 >= ax.bbox.y1


def test_a_legend_beside_its_panel_moves_above_below_no_title():
    figure = drawn(X, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.axes[0].set_title("a title")
    legible.legible(figure)
    ((box, ax),) = boxes(figure)
    assert box.y0 >= ax.title.get_window_extent().y1


def test_panels_in_a_row_grow_once_and_stacked_ones_keep_their_legends_free():
    figure = drawn(*(X * 0 + n for n in range(9)), loc="center", panels=2)
    legible.legible(figure)
    grown = figure.get_figheight()
    assert 3.3 < grown < 5.5
    narrow.stack(figure)
    legible.legible(figure)
    for box, ax in boxes(figure):
        assert not legible._covers(ax, box)
        assert box.x1 <= figure.bbox.x1 + 1


def test_names_are_spelled_as_the_book_does():
    figure, ax = plt.subplots()
    for name in ("batch norm, relu", "gelu, one sample", "cifar10", "tanh", "$relu$", "prelu"):
        ax.plot(X, X, label=name)
    ax.set_title("selu")
    ax.legend()
    legible.legible(figure)
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    wanted = ["batch norm, ReLU", "GELU, one sample", "CIFAR-10", "tanh", "$relu$", "prelu"]
    assert said == wanted
    assert ax.get_title() == "SELU"


def test_a_label_longer_than_its_axis_is_broken_near_its_middle():
    figure, ax = plt.subplots()
    ax.set_ylabel("the constant C that one layer at least of them demands")
    ax.set_xlabel("layer of them")
    legible.legible(figure)
    assert ax.get_ylabel() == "the constant C that one layer\nat least of them demands"
    assert ax.get_xlabel() == "layer of them"
