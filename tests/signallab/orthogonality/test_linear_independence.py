"""The smallest singular value against explicit products, plane geometry and chi laws."""

import numpy as np
import pytest
from scipy import stats

import signalprop as sp
from signallab.orthogonality import linear_independence as lab
from signalprop.random import Stream

STREAM = Stream(0).child("test_linear_independence")
SURVIVAL = {"depth": 40, "runs": 50, "stream": STREAM}


def layers_by_hand(x, depth, rng):
    """Singular values (n,) after each layer, with explicit weights; x is (width, n)."""
    found = []
    for _ in range(depth):
        x = rng.standard_normal((len(x), len(x))) @ x
        x /= np.sqrt(len(x)) * np.linalg.norm(x, axis=1, keepdims=True)
        found.append(np.linalg.svd(x, compute_uv=False))
    return np.array(found)


def test_smallest_along_has_the_law_of_explicit_products():
    rng = STREAM.numpy("by hand")
    ours = lab.smallest_along(3, 5, 2, 2000, STREAM)
    for layer in (1, 2):
        theirs = []
        for _ in range(1000):
            x = rng.standard_normal((5, 3))
            theirs.append(layers_by_hand(x / np.linalg.norm(x), layer, rng)[-1, -1])
        assert stats.ks_2samp(ours[:, layer], theirs).pvalue > 1e-7


def test_fewer_neurons_than_samples_leave_nothing():
    assert np.all(lab.smallest_along(5, 4, 2, 3, STREAM)[:, 1:] < 1e-7)


def test_no_smallest_value_exceeds_that_of_orthogonal_samples():
    values = lab.smallest_along(4, 4096, 5, 20, STREAM)
    assert 0.9 * 4**-0.5 < values[:, 1:].max() <= 4**-0.5 + 1e-12


def test_lowest_by_depth_looks_back_over_all_layers():
    frame = lab.lowest_by_depth([(2, 8)], [3, 30], 40, STREAM)
    values = lab.smallest_along(2, 8, 30, 40, STREAM.child("lowest"))
    for row, depth in zip(frame.to_dict("records"), (3, 30), strict=True):
        low = np.sort(values[:, 1 : depth + 1].min(axis=1))
        assert row["least"] == low[0]
        assert row["median"] == pytest.approx((low[19] + low[20]) / 2)
        assert low[1] <= row["5 %"] <= low[2]
    assert frame["1/sqrt n"].tolist() == pytest.approx([0.5**0.5] * 2)


def test_one_layer_of_width_two_follows_the_law_of_two_lines():
    """The angle between two uniform lines is uniform: sigma^2 = (1 - |cos|) / 2."""
    angles = STREAM.numpy("angles").uniform(0, np.pi, 4000)
    expected = np.sqrt((1 - np.abs(np.cos(angles))) / 2)
    assert stats.ks_2samp(lab.one_layer(2, 4000, STREAM), expected).pvalue > 1e-7


@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("strong", [0.5, 0.9, 0.999])
def test_chance_of_failure_is_a_lower_bound_whatever_comes_before(width, strong):
    w = STREAM.numpy("skewed", width, strong).standard_normal((20_000, width, 2))
    rows = w * np.sqrt([strong, 1 - strong])
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True) * np.sqrt(width)
    smallest = np.linalg.svd(rows, compute_uv=False)[..., -1]
    for alpha in (0.05, 0.2, 0.5):
        frequency = (smallest <= alpha).mean()
        assert frequency + 6 * 0.5 / np.sqrt(20_000) > lab.chance_of_failure(alpha, width)


def test_chance_of_failure_counts_rows_near_the_line_of_the_first():
    """Its last step by sampling: uniform rows, all within delta of the first."""
    alpha, width = 0.4, 3
    angles = STREAM.numpy("rows").uniform(0, np.pi, (100_000, width))
    near = np.abs(np.sin(angles[:, 1:] - angles[:, :1])) ** 2 <= alpha**2 * 3 / 2
    frequency = near.all(axis=1).mean()
    error = np.sqrt(frequency / 100_000)
    assert abs(frequency - lab.chance_of_failure(alpha, width)) < 6 * error
    root = np.sqrt(lab.chance_of_failure(alpha, width))
    assert lab.chance_of_failure(alpha, width, rows=2) == pytest.approx(root)
    assert lab.chance_of_failure(alpha, width, wider=1.5) == pytest.approx(2.25 * root**2)
    assert lab.chance_of_failure(0.99, 4) == 1


def test_survival_is_read_from_the_runs():
    values = lab.smallest_along(2, 5, 40, 50, STREAM.child("survival"), lab.ORTHOGONAL)
    frame = lab.still_above([5], alpha=0.2, **SURVIVAL)
    for layer, fraction in frame[["layer", "fraction of runs"]].itertuples(index=False):
        alive = np.all(values[:, 1 : int(layer) + 1] >= 0.2, axis=1)
        assert fraction == alive.mean()
        case = lab.failures(5, 0.2, int(layer), **SURVIVAL)
        assert np.array_equal(case.left, 1 - alive)
        held = lab.held_at_most(lambda alpha, d: alpha / d)(5, 0.2, int(layer), **SURVIVAL)
        assert np.array_equal(held.left, alive)
        assert held.right == pytest.approx((1 - 0.2 / 5) ** layer)
    assert frame["layer"].iloc[[0, -1]].tolist() == [1, 40]
    assert 0 < frame["fraction of runs"].iloc[-1] < 1


def test_hypotheses_of_the_assumption():
    def said(width, alpha):
        return list(lab.failures(width, alpha, 5, **SURVIVAL).hypotheses.values())

    assert said(4, 0.7) == [True, True]
    assert said(3, 0.2) == [False, True]
    assert said(4, 0.72) == [True, False]


def test_a_pixel_is_white_only_if_no_run_falls_below_its_own_input():
    values = lab.smallest_along(3, 12, 20, 5, STREAM)
    least = (values[:, 1:].min(axis=1) / values[:, 0]).min()
    size = {"depth": 20, "runs": 5, "stream": STREAM}
    assert lab.passes(3, 12, share=least * (1 - 1e-9), **size)
    assert not lab.passes(3, 12, share=least * (1 + 1e-9), **size)


@pytest.mark.parametrize("threshold", [9, 70, 333])
def test_bisection_finds_a_threshold_to_five_per_cent(monkeypatch, threshold):
    monkeypatch.setattr(lab, "passes", lambda n, width, **_: width >= threshold)
    found = lab.smallest_width(8)
    assert threshold <= found <= max(threshold, threshold / 0.95)


def test_bisection_is_exact_where_five_per_cent_are_less_than_a_neuron(monkeypatch):
    for threshold in range(9, 20):
        monkeypatch.setattr(lab, "passes", lambda n, width, t=threshold, **_: width >= t)
        assert lab.smallest_width(8) == threshold


def test_smallest_widths_are_independent_bisections():
    pixel = {"depth": 10, "runs": 2, "share": 0.3}
    frame = lab.smallest_widths([2, 6], 2, stream=STREAM, **pixel)
    assert frame[["samples", "repeat"]].to_numpy().tolist() == [[2, 0], [6, 0], [2, 1], [6, 1]]
    again = lab.smallest_width(6, stream=STREAM.child("bisection", 1), **pixel)
    assert frame["smallest width"].iloc[-1] == again


def test_a_pixel_on_a_curve_is_white_if_each_of_its_runs_is():
    """At the next width from the curve on; the same pixel as in the search."""
    size = {"depth": 20, "runs": 5, "stream": STREAM}
    values = lab.smallest_along(3, 13, 20, 5, STREAM.child("pixel"))
    least = values[:, 1:].min(axis=1) / values[:, 0]
    for run in range(5):
        case = lab.white(lambda n: 4 * n + 0.1)(3, run, share=0.2, **size)
        assert case.left / case.right == pytest.approx(0.2 / least[run])
        assert "width 13" in case.words


@pytest.mark.parametrize(("width", "independent"), [(5, True), (4, False)])
def test_a_pixel_needs_independent_inputs(width, independent):
    case = lab.white(lambda n: width)(5, 1, depth=3, runs=2, share=0.1, stream=STREAM)
    assert list(case.hypotheses.values()) == [independent]


def test_one_gaussian_column_has_a_chi_law():
    values = lab.gaussian_inputs(1, 4, 4000, STREAM)
    assert stats.kstest(values, stats.chi(4).cdf).pvalue > 1e-7
    below = lab.input_is_above(1, 4, runs=4000, stream=STREAM).left
    chance = stats.chi(4).cdf(1)
    assert abs(below.mean() - chance) < 6 * np.sqrt(chance / 4000)
    short = lab.input_is_above_in_the_mean(np.sqrt)(1, 4, runs=4000, stream=STREAM).left
    assert np.allclose(short, 1 - values)


def test_gaussian_inputs_are_smallest_singular_values():
    x = STREAM.numpy("inputs", 3, 7).standard_normal((5, 3, 7))
    expected = np.linalg.svd(x, compute_uv=False)[:, -1]
    assert np.allclose(lab.gaussian_inputs(3, 7, 5, STREAM), expected)


def test_median_along_reads_the_layers_asked():
    frame = lab.median_along([2, 3], 4, [0, 5], 7, STREAM)
    assert frame["width"].tolist() == [8, 12]
    values = lab.smallest_along(3, 12, 5, 7, STREAM.child("narrow"))
    assert frame["layer 5"].iloc[1] == np.sort(values[:, 5])[3]
    assert frame["layer 0"].iloc[1] == np.sort(values[:, 0])[3]


def test_the_input_of_figure_2_3_has_unit_norm():
    start = sp.inputs.gaussian_samples(4)(32, 3, STREAM)
    values = lab.smallest_along(4, 32, 0, 3, STREAM)
    assert values.shape == (3, 1)
    assert start.shape == (3, 4, 32)
    assert np.all(values < 0.5)
    assert np.all(values > 0.5 - 4 / np.sqrt(32) / 2)
