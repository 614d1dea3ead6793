"""The recorded run beside the live one: the right rows on the right curve, and named."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from signalbook import draw, figures
from signalbook.beside import beside

LABEL = "recorded"

LAYERS = np.arange(1, 5)


def runs(widths, count, shift=0.0, layers=LAYERS):
    return pd.DataFrame(
        [
            (width, layer, run, 10.0 * width + layer + run + shift)
            for width in widths
            for layer in layers
            for run in range(count)
        ],
        columns=["width", "layer", "run", "gap"],
    )


@pytest.fixture
def ax():
    figures.use_style()
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def marked(ax):
    return [line for line in ax.lines if line.get_marker() == "D"]


def rows_of(frame):
    figure, ax = plt.subplots()
    rows = draw.curves(ax, frame, "layer", "gap", "width")
    plt.close(figure)
    return rows


def test_each_recorded_curve_lies_on_its_own_in_its_colour(ax):
    live = draw.curves(ax, runs([8, 16], 3), "layer", "gap", "width")
    curves = [line for line in ax.lines if len(line.get_xdata()) == 4]
    recorded = rows_of(runs([16, 8], 20, shift=0.5))
    assert beside(ax.figure, live, recorded, LABEL) == 2
    for width, curve, line in zip((8, 16), curves, marked(ax), strict=True):
        there = recorded[recorded["width"] == width]
        np.testing.assert_allclose(line.get_ydata(), there["mean gap"])
        assert line.get_color() == curve.get_color()


def test_longer_recorded_curves_are_drawn_whole(ax):
    live = draw.curves(ax, runs([8], 3), "layer", "gap", "width")
    beside(ax.figure, live, rows_of(runs([8], 3, layers=np.arange(1, 31))), LABEL)
    assert ax.get_xlim()[1] > 30
    assert len(marked(ax)[0].get_xdata()) == 30


def test_a_value_that_only_the_record_has_is_grey(ax):
    live = draw.curves(ax, runs([8], 3), "layer", "gap", "width")
    assert beside(ax.figure, live, rows_of(runs([8, 64], 3)), LABEL) == 2
    assert [line.get_color() for line in marked(ax)][1] == "0.5"


def test_two_tables_are_not_mixed_into_a_grey_curve(ax):
    """A name that stands in two tables of the record is no curve that only the record has."""
    live = draw.curves(ax, runs([8], 3), "layer", "gap", "width")
    one, other = rows_of(runs([8, 64], 3)), rows_of(runs([64], 3)).assign(gap=7.0)
    assert beside(ax.figure, live, pd.concat([one, other]), LABEL) == 1
    assert [line.get_color() for line in marked(ax)] != ["0.5"]


def test_the_legend_names_the_record_and_keeps_the_rest(ax):
    live = draw.curves(ax, runs([8, 16], 3), "layer", "gap", "width")
    ax.legend(title="gaps", loc="lower left", ncols=2)
    beside(ax.figure, live, rows_of(runs([8, 16], 3)), LABEL)
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.texts] == ["width 8", "width 16", LABEL]
    assert (legend.get_title().get_text(), legend._loc, legend._ncols) == ("gaps", 3, 2)


def test_figures_that_hand_out_columns_or_raw_runs(ax):
    """Whoever drew it: a plain plot of columns, and the mean of raw runs."""
    live = pd.DataFrame({"depth": LAYERS, "rank": 2.0 * LAYERS, "r": LAYERS**0.5})
    ax.plot(LAYERS, 2.0 * LAYERS, color="C3", label="rank")
    recorded = pd.DataFrame({"depth": [1, 9], "rank": [7.0, 8.0], "r": [0.0, 0.0]})
    assert beside(ax.figure, live, recorded, LABEL) == 1
    assert marked(ax)[0].get_ydata().tolist() == [7.0, 8.0]
    ax.clear()
    raw = runs([8, 16], 3)
    draw.curves(ax, raw, "layer", "gap", "width")
    assert beside(ax.figure, raw, runs([8, 16], 5), LABEL) == 2
    np.testing.assert_allclose(marked(ax)[0].get_ydata(), 80 + LAYERS + 2)


def test_what_shows_no_column_is_left_alone(ax):
    live = pd.DataFrame({"depth": LAYERS, "rank": 2.0 * LAYERS})
    ax.plot(LAYERS, 2.0 * LAYERS + 1e-3)
    ax.axhline(1.0)
    ax.plot([1], [2.0], "x")
    assert beside(ax.figure, live, live, LABEL) == 0
    assert ax.get_legend() is None


def test_a_record_of_other_columns_draws_nothing(ax):
    live = draw.curves(ax, runs([8], 3), "layer", "gap", "width")
    assert beside(ax.figure, live, pd.DataFrame({"epoch": [1, 2], "loss": [0.1, 0.2]}), LABEL) == 0
    assert marked(ax) == []


def test_raw_runs_of_several_widths_are_never_mixed(ax):
    raw = runs([8], 3)
    draw.curves(ax, raw, "layer", "gap", "width")
    assert beside(ax.figure, raw, runs([8, 64], 3), LABEL) == 2
    assert [line.get_ydata()[0] for line in marked(ax)] == [82.0, 642.0]


def test_a_record_that_varies_what_the_live_run_holds_fixed_is_not_averaged(ax):
    live = pd.DataFrame({"depth": LAYERS, "rank": 2.0 * LAYERS})
    ax.plot(LAYERS, 2.0 * LAYERS)
    two = pd.concat([live.assign(law="a"), live.assign(law="b", rank=0.0)])
    assert beside(ax.figure, live, two, LABEL) == 0


def test_means_of_single_precision_are_known_again():
    _, ax = plt.subplots()
    live = pd.DataFrame({"depth": [1, 2, 3], "mean loss": [2.1, 1.7, 1.3]})
    ax.plot(live["depth"], live["mean loss"].astype(np.float32))
    recorded = pd.DataFrame({"depth": [1, 5], "mean loss": [2.0, 1.0]})
    assert beside(ax.figure, live, recorded, LABEL) == 1


def test_curves_that_are_one_in_the_live_run_stand_beside_their_own_records():
    _, ax = plt.subplots()
    live = pd.DataFrame(
        {"way": ["a", "a", "b", "b"], "depth": [1, 2, 1, 2], "loss": [3.0, 4, 3, 4]}
    )
    for _, rows in live.groupby("way"):
        ax.plot(rows["depth"], rows["loss"])
    recorded = live.assign(loss=[5.0, 6, 7, 8])
    assert beside(ax.figure, live, recorded, LABEL) == 2
    drawn = [line.get_ydata().tolist() for line in ax.lines[2:]]
    assert drawn == [[5, 6], [7, 8]]
    colors = [line.get_color() for line in ax.lines]
    assert colors[2:] == colors[:2]
