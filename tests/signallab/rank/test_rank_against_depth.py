"""Ranks in many digits and in doubles, and the two forms of the recursion against each other."""

import mpmath
import numpy as np
import pandas as pd
import pytest
import torch

import signalprop as sp
from signallab.rank import rank_against_depth as lab
from signalprop.random import Stream


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("gamma", [None, 0.5])
def test_no_rank_is_lost_exactly(normalized, gamma):
    case = lab.exact_rank(normalized, 4, gamma, 30, 120, Stream(0))
    assert (case.left, case.right) == (4, 4)


def test_too_few_digits_lose_rank():
    """The judge is only as good as its digits: with 16 of them ranks fall."""
    assert lab.exact_rank(False, 6, None, 80, 16, Stream(0)).left < 6


@pytest.mark.parametrize("normalized", [True, False])
def test_doubles_decide_at_the_threshold_but_not_below_their_rounding(normalized):
    args = (normalized, 5, None, 50, 80, Stream(1))
    case = lab.decided_alike(*args)
    np.testing.assert_array_equal(case.left, case.right)
    assert len(case.left) == 5
    below = lab.decided_alike(*args, threshold=1e-25)
    assert (below.left[1:] > below.right[1:]).any()


def test_second_value_by_hand():
    h = np.diag([2.0, 1e-20])
    with mpmath.workdps(30):
        exact = np.frompyfunc(mpmath.mpf, 1, 1)(h)
    assert lab._second_over_first(exact, 30) == pytest.approx(0.5e-20, rel=1e-9, abs=0)


def test_rounding_makes_rank_later_with_more_digits():
    found = lab.second_value_paths(5, 120, [16, 32], Stream(2))
    first = lab.layer_of_rank_two(found).set_index("digits")["first layer"]
    assert first[16] < first[32]
    start = found[found["layer"] == 1].set_index("digits")["second over first singular value"]
    assert 1e-20 < start[16] < 1e-14
    assert 1e-36 < start[32] < 1e-30


def test_layer_of_rank_one_by_hand():
    columns = {"gamma": ["a"] * 4 + ["b"] * 3, "run": [0, 0, 1, 1, 0, 0, 0]}
    normalization = ["none"] * 5 + ["batch norm", "none"]
    ranks = {"layer": [1, 2, 1, 2, 1, 1, 3], "rank": [2, 1, 1, 1, 2, 1, 1]}
    found = lab.layer_of_rank_one(
        pd.DataFrame({**columns, "normalization": normalization, **ranks})
    )
    assert found["gamma"].tolist() == ["a", "b"]
    assert found["first layer"].tolist() == [1.5, 3.0]


def test_the_level_is_that_of_late_layers_without_skip_connection():
    rows = [
        ("no skip connection", "batch norm", 0, 5, 30.0),
        ("no skip connection", "batch norm", 0, 10, 9.0),
        ("no skip connection", "batch norm", 0, 20, 11.0),
        ("no skip connection", "batch norm", 1, 10, 8.0),
        ("no skip connection", "none", 1, 10, 1.0),
        ("gamma 1", "batch norm", 1, 10, 20.0),
    ]
    found = pd.DataFrame(rows, columns=["gamma", "normalization", "run", "layer", "rank"])
    case = lab.at_level(found, 10, 0)
    assert (case.left, case.right) == (0.5, pytest.approx(0.5 + 0.3))
    assert lab.at_level(found, 10, 1).left == 1.5
    assert lab.at_level(found, 10, 1, normalization="none").left == 8.5


def test_first_layer_above():
    frame = pd.DataFrame(
        {
            "digits": [16] * 3 + [32] * 3,
            "layer": [1, 2, 3] * 2,
            "second over first singular value": [1e-9, 0.1, 0.5, 1e-9, 1e-5, 0.2],
        }
    )
    assert lab.layer_of_rank_two(frame)["first layer"].tolist() == [2, 3]


def test_numerical_ranks_and_their_cases():
    found = lab.numerical_ranks(8, [None, 1.0], 400, 50, 2, Stream(3))
    assert len(found) == 2 * 2 * 2 * 9
    assert (found.loc[found["layer"] == 0, "rank"] == 8).all()
    plain = lab.vanilla_rank(found, "no skip connection")
    normalized = lab.vanilla_rank(found, "no skip connection", normalization="batch norm")
    assert plain.left.mean() < normalized.left.mean()
    case = lab.above_vanilla(found, "gamma 1", 100, times=2.0)
    part = found[(found["gamma"] == "gamma 1") & (found["layer"] == 400) & (found["run"] == 1)]
    ranks = part.set_index("normalization")["rank"]
    assert case.left[-1] == ranks["none"] + 1
    assert case.right[-1] == 2 * ranks["batch norm"]
    assert case.left.shape == (2 * 7,)


@pytest.mark.parametrize("start", ["constant, noise 1e-3", "one random feature, noise 1e-5"])
def test_forms_agree_where_rounding_allows(start):
    args = (start, 6, 8, 2, Stream(4))
    by_h, by_m = lab.eigenvalue_paths(*args), lab.eigenvalue_paths(*args, form="M")
    assert by_h.shape == (2, 9, 6)
    np.testing.assert_allclose(by_h[..., :2], by_m[..., :2], rtol=1e-4)
    np.testing.assert_allclose(by_h.sum(axis=-1), 6)


def test_moments_break_down_from_a_start_too_close_to_rank_one():
    values = lab.eigenvalue_paths("constant, noise 1e-8", 50, 100, 2, Stream(5), form="M")
    assert np.isnan(values[:, -1]).all()
    assert np.isfinite(values[:, 0]).all()


def test_cases_of_the_eigenvalues():
    args = ("constant, noise 1e-3", 10, 30)
    gap = lab.gap_closes(*args, 20, 3, Stream(6))
    values = lab.eigenvalue_paths(*args, 3, Stream(6))
    np.testing.assert_allclose(np.exp(gap.left), values[:, 20, 0] / values[:, 20, 1])
    least = (values[:, 0, 0] / values[:, 0, 1]).min()
    assert np.exp(gap.right) == pytest.approx(least / 100)
    least = lab.smallest_eigenvalue(*args, 3, Stream(6))
    np.testing.assert_allclose(least.left, values[:, -1, -1])
    plain = lab.gap_closes(*args, 20, 3, Stream(6), normalization="none")
    assert plain.left.mean() > gap.left.mean()
    third = lab.gap_closes(*args, 20, 3, Stream(6), to=3)
    np.testing.assert_allclose(np.exp(third.left), values[:, 20, 0] / values[:, 20, 2])


def test_starts_are_nearly_of_rank_one():
    for make in lab.STARTS.values():
        x = make(7)(5, 2, Stream(7)).numpy()
        assert x.shape == (2, 7, 5)
        cosines = sp.metrics.cosine_similarity(x.swapaxes(-1, -2))
        assert cosines.min() > 0.999


def test_numerical_ranks_count_down_to_the_threshold_of_the_document():
    found = lab.numerical_ranks(4, [None], 80, 5, 1, Stream(9))
    net = sp.Chain(4, sp.uniform(), [sp.FrobeniusNorm()])
    path = net.run(sp.inputs.gaussian_samples(4), 80, 1, Stream(9).child("ranks"))
    values = path.measure(torch.linalg.svdvals, 5).values[0]
    counts, coarser = ((values > t * values[:, :1]).sum(axis=1) for t in (1e-9, 1e-6))
    plain = found.loc[found["normalization"] == "none", "rank"]
    np.testing.assert_array_equal(plain, counts)
    assert (counts != coarser).any()
