"""The experiments of gaussian-approximation against closed forms, the library and quadrature."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import signalprop as sp
from signallab.orthogonality import gap_depth_width
from signallab.orthogonality import gaussian_approximation as lab
from signalprop import theory
from signalprop.random import Stream

STRONG, WEAK = "one strong direction", "one weak direction"
STREAM = Stream(23)


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 4), (5, 5), (4, 40)])
def test_both_computations_of_the_distance_given_h_agree(n, d):
    case = lab.exact(n, d, STREAM)
    assert case.left == pytest.approx(case.right, rel=1e-9)
    assert all(case.hypotheses.values())
    if n > 1:
        rival = lab.exact(n, d, STREAM, power=2)
        assert abs(rival.left - rival.right) > 1e-3 * rival.right


def test_the_coupling_joins_the_laws_and_costs_the_distance():
    n, d, runs = 3, 6, 20_000
    squares = lab.coupled(n, d, runs, STREAM)
    error = squares.std() / np.sqrt(runs)
    assert abs(squares.mean() - lab.exact(n, d, STREAM).right) < 6 * error


@given(n=st.integers(2, 30), kept=st.integers(1, 29))
def test_the_sharp_form_is_attained_where_directions_are_missing(n, kept):
    kept = min(kept, n - 1)
    s = np.where(np.arange(n) < kept, 1 / kept, 0.0)
    distance = theory.wasserstein_to_gaussian(s)
    sharp = lab.lemma_2_sharp(theory.gap_of_spectrum(s), n)
    assert sharp == pytest.approx(distance, rel=1e-9)
    assert sharp == pytest.approx(2 - 2 * np.sqrt(kept / n), rel=1e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12).filter(lambda x: sum(x) > 1e-3))
def test_the_sharp_form_is_a_bound_below_the_others(x):
    s = np.array(x) / sum(x)
    n, gap = len(s), theory.gap_of_spectrum(s)
    sharp = lab.lemma_2_sharp(gap, n)
    assert theory.wasserstein_to_gaussian(s) <= sharp * (1 + 1e-9) + 1e-14
    assert sharp <= n * gap**2 * (1 + 1e-12) <= 2 * n * gap * (1 + 1e-12) ** 2


def test_small_gaps_keep_their_digits():
    assert lab.lemma_2_sharp(1e-12, 4) == pytest.approx(4e-24, rel=1e-9, abs=0)


def test_spectra_of_the_lemma_reach_rank_one_and_skip_the_flat_one():
    case = lab.lemma_2(lab.lemma_2_sharp)(5, 50, STREAM)
    assert case.left.shape == case.right.shape == (50 - 1 + 4,)
    assert case.left.max() == pytest.approx(2 - 2 / np.sqrt(5), rel=1e-3)
    assert (case.right > 0).all()
    assert all(case.hypotheses.values())
    shares = lab.largest_shares([5], 50, STREAM).iloc[0]
    assert shares["of the sharp form"] == pytest.approx(1)
    # one missing direction: 2p / (1 + sqrt p) of nV^2 with p = 4/5
    assert shares["of nV²"] == pytest.approx(1.6 / (1 + np.sqrt(0.8)), rel=0.02)


@pytest.mark.parametrize("shape", [STRONG, WEAK])
@pytest.mark.parametrize("share", [0.05, 0.6, 0.99])
def test_infinite_width_is_the_path_of_full_spectra(shape, share):
    n = 5
    s = np.full(n, share / n)
    if shape == STRONG:
        s[0] = 1 - s[1:].sum()
    else:
        s[1:] = (1 - s[0]) / (n - 1)
    path = theory.infinite_width_path(s, 20)
    found = lab.infinite_width(n, shape, share, 20)
    # sqrt of squares near 1/n: the reference is good to 1e-15, its square to 1e-16
    np.testing.assert_allclose(
        found["distance"], theory.wasserstein_to_gaussian(path), rtol=1e-6, atol=1e-18
    )
    np.testing.assert_allclose(found["smallest singular value"], np.sqrt(path.min(axis=1)))


@given(
    n=st.integers(2, 300), root=st.floats(1e-2, 1), layers=st.integers(1, 500), d=st.floats(1, 1e9)
)
def test_the_repair_keeps_the_printed_exponent(n, root, layers, d):
    """What makes it right: the sharper form lies below it, at every layer from 1 on."""
    alpha = root / np.sqrt(n)
    without_noise = lab.sharpened(alpha, layers, n, np.inf)
    assert without_noise <= theory.orth_corollary_3_repaired(alpha, layers, n, np.inf) * (1 + 1e-9)
    assert lab.bound(alpha, layers, n, d) == pytest.approx(
        theory.orth_corollary_3(alpha, layers, n, d)
    )
    repaired = theory.orth_corollary_3_repaired(alpha, layers, n, d)
    assert lab.bound(alpha, layers, n, d, power=2) == pytest.approx(repaired)
    later = theory.orth_corollary_3(alpha, layers + 3, n, d)
    assert lab.bound(alpha, layers, n, d, later=3) == pytest.approx(later)


def test_the_sharper_corollary_is_the_recursion_of_root_mean_squares():
    """Iterate ``v -> (1 - c alpha^2) v + noise`` long enough: never above the closed form."""
    n, alpha, d = 4, 0.4, 900
    c = 2 * n / (n + 2)
    factor = np.sqrt(n * (n - 1)) / (alpha + 1 / np.sqrt(n))
    v = 1 / n - alpha**2
    noise = (1 - 1 / n) / np.sqrt(d)
    for layer in range(1, 400):
        closed = np.sqrt(lab.sharpened(alpha, layer, n, d)) / factor
        assert v <= closed
        if layer == 1:
            floor = noise / (c * alpha**2)
            assert closed == pytest.approx(v + floor)
        v = (1 - c * alpha**2) * v + noise
    assert closed == pytest.approx(v, rel=1e-9)
    without = lab.sharpened(alpha, 3, n, np.inf)
    assert lab.sharpened(alpha, 2, n, np.inf, later=1) == pytest.approx(without)
    assert lab.sharpened(alpha, 3, n, np.inf, front=0.5) == pytest.approx(without / 4)


def test_the_corollary_takes_layers_one_to_l():
    case = lab.corollary_3(theory.orth_corollary_3)(3, WEAK, 0.2, 4)
    path = lab.infinite_width(3, WEAK, 0.2, 4)
    assert case.left == path["distance"].iloc[4]
    assert case.where["alpha"] == path["smallest singular value"].iloc[1]  # not the input's
    assert case.right == theory.orth_corollary_3(case.where["alpha"], 4, 3, np.inf)


def test_finite_widths_come_near_infinite_width():
    point = {"samples": 2, "shape": STRONG, "share": 0.5, "layers": 2}
    drawn = lab.corollary_3(theory.orth_corollary_3)(
        **point, width=4096, depth=3, runs=20, stream=STREAM
    )
    exact = lab.corollary_3(theory.orth_corollary_3)(**point)
    assert np.mean(drawn.left) == pytest.approx(exact.left, abs=0.005)
    assert drawn.where["alpha"] <= exact.where["alpha"] + 0.02
    assert np.shape(drawn.left) == (20,)


def test_the_width_to_see_solves_its_equation():
    point = (200, STRONG, 0.99, 1200)
    width = lab.width_to_see(*point)
    case = lab.corollary_3(theory.orth_corollary_3)(*point)
    right = theory.orth_corollary_3(case.where["alpha"], 1200, 200, width)
    allowance = np.sqrt(200) * 202 / 4 / np.sqrt(width)
    assert (np.sqrt(case.left) - allowance) ** 2 == pytest.approx(right, rel=1e-9)
    assert lab.width_to_see(2, STRONG, 0.5, 3) == np.inf


def test_the_enclosure_holds_a_distance_that_is_known():
    """One sample: H is a unit vector, so there is no distance, from above or below."""
    found = lab.enclosure([2], [16], layers=3, runs=2000, groups=4, stream=STREAM)
    assert found.shape == (4, 5)
    assert (found["from below"] < found["from above"]).all()
    # optimal transport between 300 draws of the singular values of both laws: above the lower
    # bound, as a bound by means is the cheapest of all couplings
    h = gap_depth_width.chain(16).run(sp.inputs.orthogonal_samples(2), 3, 300, STREAM).final()
    sigma = np.linalg.svd(h.numpy(), compute_uv=False)
    g = STREAM.numpy("G").standard_normal((300, 16, 2)) / 4
    a = np.linalg.svd(g * sigma[:, None], compute_uv=False)
    b = np.linalg.svd(g / np.sqrt(2), compute_uv=False)
    costs = ((a[:, None] - b[None]) ** 2).sum(axis=-1)
    transport = costs[linear_sum_assignment(costs)].mean()
    assert found["from below"].mean() < transport < found["from above"].mean()


@pytest.mark.slow
def test_the_upper_value_is_its_closed_form_deep_in_a_wide_chain():
    found = lab.enclosure([3], [256, 512], layers=20, runs=4000, groups=20, stream=STREAM)
    constant = lab.scaled_constant(found)
    assert constant.shape == (20, 1)
    error = constant.std(ddof=1) / np.sqrt(20)
    assert abs(constant.mean() - theory.stationary_wasserstein(3, 1)) < 7 * error
    wrong = found.assign(width=found["width"].replace(512, 300))
    with pytest.raises(ValueError, match="twice"):
        lab.scaled_constant(wrong)


def test_the_constant_drops_the_next_order():
    rows = [
        {"samples": 2, "width": d, "group": g, "from above": 3 / d + 7 / d**2}
        for d in (8, 32, 64)
        for g in (0, 1)
    ]
    np.testing.assert_allclose(lab.scaled_constant(pd.DataFrame(rows)), 3)


def test_exponents_average_within_a_group():
    rows = [
        {"width": d, "group": g, "distance": (1 + sign / 2) * d ** (-1.0 - g)}
        for d in (2, 4, 8)
        for g in (0, 1)
        for sign in (-1, 1)
    ]
    np.testing.assert_allclose(lab.exponents(pd.DataFrame(rows), "distance"), [-1, -2])


def test_without_normalization_one_layer_is_a_gaussian_matrix():
    """E D after one layer of orthogonal samples: 2 - 2 E |g| with d Gaussians of variance 1/d."""
    found = lab.contrast([8], [1, 2], 20_000, STREAM, normalized=False, samples=1)
    first = found.loc[found["layer"] == 1, "distance"]
    mean_length = np.sqrt(2 / 8) * 11.631728396567448 / 6  # Gamma(9/2) / Gamma(4)
    assert abs(first.mean() - (2 - 2 * mean_length)) < 6 * first.sem()
    assert sorted(found["group"].unique()) == list(range(20))
    normed = lab.contrast([8], [1], 3, STREAM, normalized=True, samples=1)
    np.testing.assert_allclose(normed["distance"], 0, atol=1e-12)


def test_rivals_are_other_statements():
    point = (50, STRONG, 0.9, 3)
    found = {
        lab.corollary_3(partial(lab.sharpened, **change))(*point).right
        for change in ({}, {"later": 1}, {"power": 1.9}, {"factor": 1.05}, {"front": 0.97})
    }
    assert len(found) == 5
