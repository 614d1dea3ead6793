"""The experiments of gap-depth-width against the library, closed forms and long arithmetic."""

from functools import partial

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import signalprop as sp
from signallab.orthogonality import gap_depth_width as lab
from signalprop.random import Stream

STRONG, WEAK = "one strong direction", "one weak direction"
SHAPES = [(STRONG, 0.2), (STRONG, 0.9), (WEAK, 0.2), (WEAK, 0.9)]
STREAM = Stream(11)


def spectrum(n: int, shape: str, share: float) -> np.ndarray:
    """The squared singular values of the input, in the words of the module's docstring."""
    squares = np.full(n, share / n)
    if shape == WEAK:
        squares[1:] = (1 - share / n) / (n - 1)
    else:
        squares[0] += 1 - squares.sum()
    return squares


@pytest.mark.parametrize("n", [2, 3, 7, 50])
@pytest.mark.parametrize(("shape", "share"), SHAPES)
def test_infinite_width_is_the_path_of_full_spectra(n, shape, share):
    path = sp.theory.infinite_width_path(spectrum(n, shape, share), 40)
    found = lab.infinite_width(n, shape, share, 40)
    np.testing.assert_array_equal(found["layer"], np.arange(41))
    np.testing.assert_allclose(found["gap"], sp.theory.gap_of_spectrum(path), atol=1e-14)
    smallest = np.sqrt(path.min(axis=1))
    np.testing.assert_allclose(found["smallest singular value"], smallest, rtol=1e-12)


@pytest.mark.parametrize("shape", [STRONG, WEAK])
@pytest.mark.parametrize("share", [4e-12, 0.2, 1 - 1e-9])
def test_two_samples_have_a_closed_form(shape, share):
    """The log of the ratio of the two squares halves in each layer, down to the smallest gaps."""
    depth = 60
    ratio = mpmath.log((2 - mpmath.mpf(share)) / mpmath.mpf(share))
    exact = [float(mpmath.tanh(ratio / 2 ** (k + 1)) / mpmath.sqrt(2)) for k in range(depth + 1)]
    found = lab.infinite_width(2, shape, share, depth)["gap"]
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("shape", [STRONG, WEAK])
def test_small_deviations_keep_their_digits(shape):
    """One layer in 40 digits: the gap after it, relative to itself."""
    n, share = 5, 1 - 1e-4
    with mpmath.workdps(40):
        s = [mpmath.mpf(share) / n] * n
        if shape == STRONG:
            s[0] = 1 - sum(s[1:])
        else:
            s[1:] = [(1 - s[0]) / (n - 1)] * (n - 1)

        def mean(i: int) -> mpmath.mpf:
            def integrand(t):
                product = mpmath.fprod(1 / mpmath.sqrt(1 + 2 * t * x) for x in s)
                return s[i] / (1 + 2 * t * s[i]) * product

            return mpmath.quad(integrand, [0, 1, 10, 100, mpmath.inf])

        after = [mean(0), *[mean(1)] * (n - 1)]
        exact = float(mpmath.sqrt(sum((p - mpmath.mpf(1) / n) ** 2 for p in after)))
    found = lab.infinite_width(n, shape, share, 1)["gap"].iloc[1]
    assert found == pytest.approx(exact, rel=1e-10)


@given(
    n=st.integers(2, 300), root=st.floats(1e-3, 1), layers=st.integers(0, 500), d=st.floats(1, 1e9)
)
def test_bounds_are_those_of_the_library_and_the_sharp_one_is_sharper(n, root, layers, d):
    alpha = root / np.sqrt(n)
    printed = sp.theory.orth_theorem_1(alpha, layers, n, d)
    repaired = sp.theory.orth_theorem_1_repaired(alpha, layers, n, d)
    assert lab.bound(alpha, layers, n, d) == pytest.approx(printed)
    assert lab.bound(alpha, layers, n, d, power=2) == pytest.approx(repaired)
    assert lab.sharpened(alpha, layers, n, d) < repaired


def test_sharpened_bound_by_hand():
    """n = 3, alpha = 1/2: c = 6/5, sqrt(6) [(1/12) (7/10)^2 + 2 / (3 * 0.3 * 10)] at d = 100."""
    expected = 6**0.5 * (0.7**2 / 12 + 2 / 9)
    assert lab.sharpened(0.5, 2, 3, 100) == pytest.approx(expected)


@pytest.mark.parametrize("n", [2, 4, 9])
def test_noise_of_a_layer_is_what_the_sharpened_bound_takes(n):
    """From an orthogonal start the mean smallest square is at least 1/n - (n-1)/n / sqrt d."""
    width, runs = 64, 2000
    case = lab.theorem_1(lab.sharpened)(n, STRONG, 1.0, 1, width, depth=2, runs=runs, stream=STREAM)
    squares = lab._simulated(n, STRONG, 1.0, width, depth=2, runs=runs, stream=STREAM)[1][:, 1]
    lowered = (1 / n - squares.mean()) * np.sqrt(width)
    assert (n - 1) / n / (2 * n) < lowered < (n - 1) / n
    assert case.where["alpha"] == np.sqrt(squares.min())


@pytest.mark.parametrize(("shape", "share"), SHAPES)
def test_statement_at_infinite_width(shape, share):
    """Gap of layer l + 1 against a bound that knows l and the least singular value of 1..l."""
    seen = []
    case = lab.theorem_1(lambda *sides: seen.append(sides) or 7.0)(6, shape, share, 4)
    path = sp.theory.infinite_width_path(spectrum(6, shape, share), 5)
    assert case.left == pytest.approx(sp.theory.gap_of_spectrum(path[5]))
    assert case.right == 7.0
    assert seen == [(pytest.approx(np.sqrt(path[1].min())), 4, 6, np.inf)]
    assert all(case.hypotheses.values())


def test_statement_at_a_large_width_is_near_that_of_infinite_width():
    draw = {"depth": 3, "runs": 50, "stream": STREAM}
    statement = lab.theorem_1(sp.theory.orth_theorem_1)
    for layers in (1, 2):
        wide = statement(3, STRONG, 0.2, layers, width=4096, **draw)
        limit = statement(3, STRONG, 0.2, layers)
        assert wide.left.shape == (50,)
        assert wide.left.mean() == pytest.approx(limit.left, rel=0.05)  # a layer changes it by 0.4
        assert wide.where["alpha"] < limit.where["alpha"] < 1.2 * wide.where["alpha"]


def test_comparison_shows_both_sides():
    draw = {"runs": 4, "stream": STREAM}
    points = lab.at_widths([(2, 64), (3, 64)], [0.5, 1.0], 3, **draw)
    table = lab.compare(lab.bound, points)
    assert len(table) == len(points) == 12
    case = lab.theorem_1(lab.bound)(**points[7])
    assert table["mean gap"][7] == pytest.approx(case.left.mean())
    assert table["bound"][7] == pytest.approx(case.right)
    np.testing.assert_allclose(table["bound"] / table["mean gap"], table["bound / gap"])


@pytest.mark.parametrize(
    ("power", "samples"), [(1, 5), (1.25, 13), (1.5, 73), (1.75, 6545), (2, None)]
)
def test_outrun_from(power, samples):
    assert lab.outrun_from(power) == samples
    if samples:  # by the rates themselves, and not one batch sooner
        for n, faster in ((samples - 1, False), (samples, True)):
            alpha = mpmath.mpf(n) ** (-mpmath.mpf(power) / 2)
            assert (1 - alpha * 2 / 3 < mpmath.mpf(n) / (n + 2)) == faster


def test_width_to_see_is_where_both_sides_meet():
    point = {"samples": 50, "shape": STRONG, "share": 0.9, "layers": 100}
    width = lab.width_to_see(**point)
    assert 3e13 < width < 3.3e13
    case = lab.theorem_1(sp.theory.orth_theorem_1)(**point)
    right = sp.theory.orth_theorem_1(case.where["alpha"], 100, 50, width)
    assert right + 26 / np.sqrt(width) == pytest.approx(case.left)
    assert lab.width_to_see(4, STRONG, 0.9, 100) == np.inf


def test_no_width_near_the_counterexample_is_smaller():
    """The downhill steps end at the least width of all points around, tried one by one."""
    least = lab.least_width_nearby(50, STRONG, 0.9, 100)
    tried = [
        lab.width_to_see(samples, STRONG, share, layers)
        for samples in (51, 55, 59)
        for share in (0.88, 0.896, 0.91)
        for layers in (97, 101, 105, 109)
    ]
    assert least == pytest.approx(min(tried), rel=1e-4)


def test_allowance_for_noise_covers_the_worst_case_at_the_counterexample():
    """To first order, noise of norm 1 in every layer moves the Gram matrix by (n+2)/2 at most.

    A layer commutes with rotations. So its derivative at diag(s) keeps the diagonal apart from the
    entries beside it, which it multiplies by ``(p_i - p_j)/(s_i - s_j)``, and has two eigenvalues
    on diagonals without trace: on the lone entry against the rest, and on the rest.
    """
    n, layers, h = 50, 100, 1e-6
    among, against = np.zeros(n), np.full(n, -1 / (n - 1))
    among[1:3], against[0] = (1, -1), 1
    total = 1.0
    for s in sp.theory.infinite_width_path(spectrum(n, STRONG, 0.9), layers)[1:]:
        p = sp.theory.expected_spectrum(s)
        factors = [(p[0] - p[1]) / (s[0] - s[1])]
        for direction in (among, against):
            up, down = (sp.theory.expected_spectrum(s + k * h * direction) for k in (1, -1))
            factors.append((up - down)[1] / (2 * h * direction[1]))
            np.testing.assert_allclose(up - down, 2 * h * factors[-1] * direction, atol=1e-13)
        total = total * max(factors) + 1
    assert 0.95 * (n + 2) / 2 < total <= (n + 2) / 2


@pytest.mark.parametrize(("shape", "share"), SHAPES)
def test_one_step_is_a_layer_of_the_library(shape, share):
    before = spectrum(5, shape, share)
    after = sp.theory.infinite_width_path(before, 1)[1]
    case = lab.one_step(power=1)(5, shape, share)
    assert case.left == pytest.approx(1 / 5 - after.min())
    rate = 2 / 3 * np.sqrt(before.min())
    assert case.right == pytest.approx((1 - rate) * (1 / 5 - before.min()))


def test_induction_by_hand():
    point = {"rate": 0.5, "layers": 2, "start": 1.0, "noise": 8.0}
    assert lab.induction(first=0, last=-1)(**point).left == 0.25 + 4 + 8
    assert lab.induction(first=0, last=-1)(**point).right == 0.25 + 8 + 4
    assert lab.induction(first=1, last=0)(**point).right == 0.25 + 4 + 2


def test_authors_start_is_one_large_entry():
    gaps = lab.gap_by_layer([32, 64], depth=3, runs=2, stream=STREAM)
    assert list(gaps.columns) == ["width", "run", "layer", "gap"]
    assert sorted(set(gaps["layer"])) == [1, 2, 3]
    assert len(gaps) == 2 * 2 * 3
    assert gaps[gaps["layer"] == 1]["gap"].min() == pytest.approx(0.75**0.5, rel=1e-3)
    narrow = lab.gap_by_layer([32], depth=2, runs=1, stream=STREAM)["gap"]  # a part of the same
    assert narrow.tolist() == gaps.query("width == 32 and run == 0 and layer < 3")["gap"].tolist()


def test_smallest_squares_belong_to_the_same_runs():
    """Lemma 4 and its converse tie the gap of a run and layer to its smallest square."""
    shared = {"depth": 30, "runs": 5, "stream": STREAM, "samples": 3}
    gaps = lab.gap_by_layer([32], **shared)
    squares = lab.weakest_by_layer([32], **shared)
    lyapunov = 1 / 3 - squares["smallest square"]
    assert (gaps["gap"] <= np.sqrt(6) * lyapunov * (1 + 1e-9)).all()
    assert (gaps["gap"] >= np.sqrt(3 / 2) * lyapunov * (1 - 1e-9)).all()
    pd.testing.assert_frame_equal(gaps.drop(columns="gap"), squares.drop(columns="smallest square"))


def test_gap_from_spectrum_starts_at_the_spectrum():
    frame = lab.gap_from_spectrum(5, STRONG, 0.3, [4096], depth=2, runs=4, stream=STREAM)
    limit = lab.infinite_width(5, STRONG, 0.3, 2)["gap"]
    for layer in (1, 2):
        mean = frame[frame["layer"] == layer]["gap"].mean()
        assert mean == pytest.approx(limit[layer], rel=0.1)  # a layer changes it by 0.3 and more


def test_windows_and_layers_are_inclusive():
    gaps = pd.DataFrame({"width": 8, "run": 0, "layer": [1, 2, 3, 4], "gap": [1.0, 2.0, 4.0, 8.0]})
    assert lab.average_over_layers(gaps, {"w": (2, 3)})["gap"].tolist() == [3.0]
    where = pd.DataFrame({"width": [8, 8], "first": [1, 2], "last": [1, 3]})
    np.testing.assert_allclose(lab.log_gap_at(gaps, where), np.log(2) * np.array([[0, 1.5]]))
    later = lab.log_gap_at(gaps, where, later=1)
    np.testing.assert_allclose(later, np.log(2) * np.array([[1, 2.5]]))
    assert lab.loss_per_layer(gaps, 2, 4) == pytest.approx(-np.log(2))


def test_slopes_run_by_run():
    widths = np.array([16.0, 64.0, 512.0])
    frames = [
        pd.DataFrame({"width": widths, "run": run, "gap": widths**power, "window": window})
        for (run, window), power in {
            (0, "a"): -0.5,
            (1, "a"): -0.4,
            (0, "b"): 1,
            (1, "b"): 2,
        }.items()
    ]
    found = lab.slopes(pd.concat(frames))
    np.testing.assert_allclose(found[["a", "b"]], [[-0.5, 1], [-0.4, 2]], atol=1e-12)


@pytest.mark.parametrize("distinct", [1, 2, 3])
def test_repeated_samples_leave_a_gap(distinct):
    gaps = lab.distinct_samples(3, distinct, width=64, depth=30, runs=4, stream=STREAM)
    least = np.sqrt(1 / distinct - 1 / 3)
    assert (gaps >= least - 1e-12).all()
    assert gaps.mean() < least + 0.25  # the floor of the distinct ones, about 1/sqrt(64)


def test_a_rival_of_the_bound_is_a_rival_of_the_statement():
    point = {"samples": 200, "shape": STRONG, "share": 0.95, "layers": 10_000}
    for power, holds in ((1.5, False), (2, True)):
        case = lab.theorem_1(partial(lab.bound, power=power))(**point)
        assert (case.left <= case.right) == holds
