"""The recurring picture: what is drawn is what is handed out."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from signalbook import draw, figures

GAPS = pd.DataFrame(
    [
        (width, layer, run, 10.0 * width + layer + run)
        for width in (8, 16)
        for layer in (1, 2, 3)
        for run in range(4)
    ],
    columns=["width", "layer", "run", "gap"],
)


@pytest.fixture
def ax():
    figures.use_style()
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_curves_are_means_over_runs(ax):
    rows = draw.curves(ax, GAPS, "layer", "gap", "width")
    lines = [line for line in ax.lines if len(line.get_xdata()) == 3]
    for width, line in zip((8, 16), lines, strict=True):
        np.testing.assert_allclose(line.get_ydata(), 10 * width + np.arange(1, 4) + 1.5)
        part = rows[rows["width"] == width]
        np.testing.assert_allclose(part["mean gap"], line.get_ydata())
    # Four runs 0, 1, 2, 3: their standard deviation is sqrt(5 / 3).
    np.testing.assert_allclose(rows["standard error"], np.sqrt(5 / 3) / 2)
    assert set(rows["runs"]) == {4}


def test_bands_are_95_percent_intervals_of_the_mean(ax):
    draw.curves(ax, GAPS, "layer", "gap", "width")
    (band, *_) = ax.collections
    low, high = np.ptp(band.get_paths()[0].vertices[:, 1]), 2 + 2 * 1.96 * np.sqrt(5 / 3) / 2
    assert low == pytest.approx(high, rel=1e-6)


def test_axes_and_legend_are_named_in_words(ax):
    draw.curves(ax, GAPS, "layer", "gap", "width", label="neurons:")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("layer", "gap")
    assert [text.get_text() for text in ax.get_legend().texts] == ["neurons: 8", "neurons: 16"]


def test_published_points_are_crosses_in_the_colour_of_their_curve(ax):
    published = pd.DataFrame({"width": [16], "layer": [2], "gap": [163.0]})
    draw.curves(ax, GAPS, "layer", "gap", "width", published=published)
    (cross,) = [line for line in ax.lines if line.get_marker() == "x"]
    assert (cross.get_xdata()[0], cross.get_ydata()[0]) == (2, 163.0)
    curve = [line for line in ax.lines if len(line.get_xdata()) == 3][1]
    assert cross.get_color() == curve.get_color()


def test_labels_keep_ten_pixels_on_a_phone():
    """358 px is what a window of 390 leaves to a figure; a point is 4/3 px at its full size."""
    figures.use_style()
    full = plt.rcParams["figure.figsize"][0] * 96
    for name in ("xtick.labelsize", "ytick.labelsize", "axes.labelsize", "legend.fontsize"):
        assert plt.rcParams[name] * 4 / 3 * 358 / full >= 10, name
