"""A wide figure for phones: one column, in reading order, and nothing is lost or small."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from signalbook import draw, figures, narrow

WIDTH = 4.8  # inches: the style's


@pytest.fixture(autouse=True)
def style():
    figures.use_style()
    yield
    plt.close("all")


def stacked(figure):
    narrow.stack(figure)
    figure.canvas.draw()
    return figure


def boxes(figure):
    return [ax.get_position() for ax in figure.axes]


def assert_in_one_column(axes):
    """Each below the one before, all labels included, and at the same left edge."""
    outer = [ax.get_tightbbox() for ax in axes]
    for above, below in pairwise(outer):
        assert above.y0 >= below.y1
    lefts = [ax.get_position().x0 for ax in axes]
    assert max(lefts) - min(lefts) < 1e-6


def test_what_is_wide():
    assert not narrow.is_wide(plt.figure())
    assert not narrow.is_wide(plt.figure(figsize=(WIDTH, 9)))
    assert narrow.is_wide(plt.figure(figsize=(WIDTH + 0.1, 3)))


@pytest.mark.parametrize("tight", [False, True])
def test_panels_stand_in_one_column_in_reading_order(tight):
    figure, axes = plt.subplots(2, 3, figsize=(8.4, 4.6))
    if tight:
        with pytest.warns(UserWarning, match="layout has changed"):
            figure.tight_layout()
    stacked(figure)
    assert_in_one_column(list(axes.flat))
    assert figure.get_size_inches().tolist() == pytest.approx([WIDTH, 3 * 4.6])


def test_panels_keep_their_height():
    figure, axes = plt.subplot_mosaic("AB;AC", figsize=(6.4, 6.0))
    figure.canvas.draw()
    stacked(figure)
    assert_in_one_column([axes["A"], axes["B"], axes["C"]])
    assert figure.get_figheight() == pytest.approx(6.0 + 3.0 + 3.0)
    heights = {name: ax.get_position().height for name, ax in axes.items()}
    assert heights["A"] > 1.8 * heights["B"]
    assert heights["B"] == pytest.approx(heights["C"], rel=0.1)


def test_each_panel_says_what_small_multiples_say_once():
    figure, axes = plt.subplots(2, 2, figsize=(6.4, 5), sharex="col", sharey="row")
    for column, ax in enumerate(axes[0]):
        ax.set_title(f"title {column}")
    for column, ax in enumerate(axes[1]):
        ax.set_xlabel(f"x {column}")
    for row, ax in enumerate(axes[:, 0]):
        ax.set_ylabel(f"y {row}")
    axes[1, 1].set_title("its own")
    stacked(figure)
    said = [(ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) for ax in axes.flat]
    assert said == [
        ("title 0", "x 0", "y 0"),
        ("title 1", "x 1", "y 0"),
        ("title 0", "x 0", "y 1"),
        ("its own", "x 1", "y 1"),
    ]
    for ax in axes.flat:
        labels = [*ax.get_xticklabels(), *ax.get_yticklabels()]
        assert all(label.get_visible() for label in labels)
        assert {label.get_text() for label in labels} != {""}


def test_no_text_is_smaller_than_the_ticks():
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3))
    axes[0].set_title("small", fontsize=6)
    axes[1].set_title("large", fontsize=14)
    axes[1].tick_params(labelsize=5)
    stacked(figure)
    assert axes[0].title.get_fontsize() == plt.rcParams["xtick.labelsize"] == 10
    assert axes[1].title.get_fontsize() == 14
    assert {label.get_fontsize() for label in axes[1].get_xticklabels()} == {10}


def test_a_colour_bar_stays_beside_all_panels():
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3))
    for ax in axes:
        areas = ax.imshow(np.eye(3))
    bar = figure.colorbar(areas, ax=axes)
    stacked(figure)
    assert_in_one_column(axes)
    place = bar.ax.get_position()
    assert place.x0 > max(ax.get_position().x1 for ax in axes)
    assert place.height > 1.5 * axes[0].get_position().height


def test_solids_and_axes_that_are_off_are_stacked_too():
    figure = plt.figure(figsize=(6.2, 3))
    axes = [figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")]
    for ax in axes:
        ax.set_axis_off()
    stacked(figure)
    first, second = boxes(figure)
    assert first.y0 > second.y1


def test_only_a_wide_figure_carries_a_second_drawing():
    wide, axes = plt.subplots(1, 2, figsize=(6.4, 3))
    data = pd.DataFrame({"layer": [1, 2, 1, 2], "gap": [1.0, 2, 3, 4], "width": [8, 8, 16, 16]})
    for ax in axes:
        draw.curves(ax, data, "layer", "gap", "width")
    shown = figures.show(wide, "gaps", data)
    assert 'width="460.8pt" height="216pt"' in shown.drawing
    assert 'width="345.6pt" height="432pt"' in shown.narrow
    assert figures.show(plt.figure(), "gaps", data).narrow == ""


def test_a_raster_figure_is_drawn_twice_as_well():
    figure, _ = plt.subplots(1, 2, figsize=(6.4, 3))
    shown = figures.show(figure, "points", {"x": [1]}, raster=True)
    bundle = shown._repr_mimebundle_()
    assert bundle["image/png"].startswith("iVBORw0KGgo")  # the signature of PNG in base 64
    assert shown.narrow.startswith("iVBORw0KGgo")
    assert shown.narrow != bundle["image/png"]
