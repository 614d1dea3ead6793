"""Thresholds, branches and the theorem's two sides against other routes and hand calculations."""

import math

import numpy as np
import pandas as pd
import pytest

import signalprop as sp
from signallab.meanfield import stability_of_the_fixed_point as lab
from signalprop import activations, theory
from signalprop.limits import gram_fixed_point
from signalprop.random import Stream

STREAM = Stream(8)


def test_multipliers_of_the_linear_network():
    """(n - 1)/(n + 1), and a singular fixed point."""
    frame = lab.multipliers(["identity"], [3, 9])
    np.testing.assert_allclose(frame["eigenvalue"], [0.5, 0.8])
    assert frame["condition"].tolist() == [math.inf, math.inf]


def test_family_contains_linear_silu_and_relu():
    frame = lab.phase([1e-4, 1.0, 1e4], [10]).set_index("beta")["eigenvalue"]
    for beta, name in ((1e-4, "identity"), (1.0, "silu"), (1e4, "relu")):
        expected = gram_fixed_point(getattr(activations, name), 10).contraction
        assert frame[beta] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(("name", "batch"), [("gelu", 39), ("silu", 26), ("relu", None)])
def test_first_batch(name, batch):
    assert lab.first_batch(name, most=60) == batch
    if batch:  # by the slope of the map with one point apart
        before, after = (lab.slope_at_one(name, n).left for n in (batch - 1, batch))
        assert before < 1 < after


def test_slope_at_one_has_another_kind():
    case, other = (lab.slope_at_one("tanh", 12, kind) for kind in ("points", "pairs"))
    assert case.left == pytest.approx(case.right, abs=1e-5)
    assert other.left == case.left
    assert abs(other.left - other.right) > 0.1


def test_bifurcation_of_gelu():
    frame = lab.bifurcation("gelu", [20, 36, 50], 30.0)
    kinds = {
        n: list(zip(part["ratio"].round(1), part["attracts"], strict=True))
        for n, part in frame.groupby("samples")
    }
    assert kinds[20] == [(1.0, True)]
    assert kinds[36] == [(1.0, True), (1.1, False), (4.5, True)]
    assert kinds[50] == [(1.0, False), (0.8, True), (8.7, True)]


def test_paths_end_at_the_branch_of_their_side():
    near, far = (lab.apart_path("gelu", 36, ratio, 60) for ratio in (1.04, 3.0))
    assert (np.diff(near["error"]) < 0).all()
    assert far["ratio"].iloc[-1] == pytest.approx(4.535, abs=0.2)
    assert len(far) == 61


def test_one_long_sample_has_the_ratio():
    x = lab.one_long_sample(5, 7.0)(200_000, 1, STREAM)[0].numpy()
    m = np.eye(5) - 1 / 5
    values = np.linalg.eigvalsh(m @ (x @ x.T) @ m)[1:]
    assert values[-1] / values[:-1].mean() == pytest.approx(7, rel=0.03)
    plain = lab.one_long_sample(5, 1.0)(10, 1, STREAM)  # ratio 1: no sample is longer
    np.testing.assert_allclose(plain, sp.inputs.gaussian_samples(5)(10, 1, STREAM))


def test_printed_bound_by_hand():
    d, kappa, start = 10 * math.e**4, 3.0, 2.0
    first, noise = kappa * start / 8, kappa * 10 / math.sqrt(d) * math.sqrt(4 / 0.75)
    assert lab.printed_bound(d, 10, 3, 0.75, kappa, start) == pytest.approx(first + noise)
    assert lab.printed_bound(math.inf, 10, 3, 0.75, kappa, start) == pytest.approx(first)
    printed = theory.mf_theorem_3_2(d, 10, 3, 0.75, kappa)
    assert lab.printed_bound(d, 10, 3, 0.75, kappa, 1.0) == pytest.approx(printed)


def test_theorem_at_infinite_and_at_finite_width():
    seen = []
    statement = lab.theorem(lambda *sides: seen.append(sides) or 7.0)
    limit = statement("tanh", 6, 2)
    wide = statement("tanh", 6, 2, width=20_000, runs=6, stream=STREAM)
    assert wide.left.shape == (6,)
    assert wide.left.mean() == pytest.approx(limit.left, abs=0.05)
    point = gram_fixed_point(activations.tanh, 6)
    start = lab.apart_path("tanh", 6, 4.0, 2)["error"]
    assert limit.left == start[2]
    expected = (6, 2, 1 - point.contraction**2, point.condition_number, start[0])
    assert seen == [(math.inf, *expected), (20_000.0, *expected)]
    assert all(limit.hypotheses.values())


@pytest.mark.slow
def test_theorem_fails_only_where_the_fixed_point_repels():
    good, bad = lab.theorem()("silu", 20, 200), lab.theorem()("silu", 30, 200)
    assert good.left < good.right
    assert bad.left > 10 * bad.right
    assert all(bad.hypotheses.values())


def test_hypotheses_can_fail():
    assert not lab.theorem()("sigmoid", 5, 1).hypotheses["|phi(x)| <= |x|"]
    assert not lab.theorem()("identity", 5, 1).hypotheses["G* is not degenerate"]
    assert not lab.theorem()("silu", 30, 3).hypotheses["the start is forgotten"]


def test_width_to_see_is_where_both_sides_meet():
    width = lab.width_to_see("silu", 30, 200)
    case = lab.theorem()("silu", 30, 200)
    point = gram_fixed_point(activations.silu, 30)
    start = lab.apart_path("silu", 30, 4.0, 200)["error"][0]
    right = lab.printed_bound(width, 30, 200, 0.05, point.condition_number, start)
    assert right == pytest.approx(case.left, rel=1e-6)
    assert lab.width_to_see("tanh", 5, 10) == math.inf


def test_loud_and_quiet_is_sorted_and_measured_to_the_fixed_point():
    frames, errors = lab.loud_and_quiet("gelu", 6, 40, [0, 5], STREAM)
    diagonal = np.diagonal(frames[-1])
    assert (np.diff(diagonal) <= 0).all()
    goal = gram_fixed_point(activations.gelu, 6).matrix()
    assert errors[5] == pytest.approx(np.linalg.norm(frames[-1] - goal))
    assert len(errors) == 6


def test_the_start_is_forgotten_if_far_ratios_have_one_limit(monkeypatch):
    """A map that keeps every ratio but those near 4."""

    def ends(name, n, ratio, depth):
        return pd.DataFrame({"ratio": [1.0 if 3 < ratio < 5 else ratio]})

    monkeypatch.setattr(lab, "_apart", ends)
    assert not lab._forgets("none", 7, 1)
