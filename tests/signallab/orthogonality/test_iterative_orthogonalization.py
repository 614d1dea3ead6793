"""The experiments of iterative-orthogonalization against formulas written out and torch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import signalprop as sp
from signallab.orthogonality import iterative_orthogonalization as lab
from signalprop.models import conv_net, orth_table_3
from signalprop.random import Stream

STREAM = Stream(31)
TWINS = torch.tensor([[1.0, 0], [1, 0], [0, 1]]).double()
FLAT = torch.eye(2).repeat(2, 1).double()


@pytest.mark.parametrize(("n", "d"), [(4, 4), (9, 4), (60, 6)])
def test_random_batches_are_never_nearly_flat(n, d):
    h = torch.stack([lab.random_batch(n, d, run, STREAM) for run in range(40)])
    s = torch.linalg.svdvals(h)
    assert h.shape == (40, n, d)
    assert (s[:, 0] / s[:, -1] > 1.02).all()
    points = lab.batches([n], d, 3, STREAM)
    assert all(torch.equal(point["h"], h[k]) for k, point in enumerate(points))


@pytest.mark.parametrize("n", [5, 12])
def test_factors(n):
    h = lab.random_batch(n, 4, 0, STREAM)
    v = np.linalg.svd(h.numpy(), full_matrices=False)[0][:4]
    u, _, w = np.linalg.svd(v)
    np.testing.assert_allclose(abs(lab.factor(h, "slice").numpy()), abs(v), atol=1e-12)
    polar = lab.factor(h, "polar").numpy()
    np.testing.assert_allclose(polar @ polar.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(abs(polar), abs(u @ w), atol=1e-12)
    # the nearest orthogonal matrix: the trace with the slice is the sum of its singular values
    rows = lab.factor(h, "slice").numpy()
    assert np.trace(polar @ rows.T) == pytest.approx(np.linalg.svd(rows)[1].sum())
    scaled = lab.factor(h, "scaled").numpy()
    np.testing.assert_allclose(scaled, np.sqrt(n / 4) * rows)
    case = lab.factor_is_orthogonal("slice")(h, "x")
    np.testing.assert_allclose(case.left, rows @ rows.T)
    assert np.abs(case.left - case.right).max() > 0.01


def test_twins_and_flat_batches_in_closed_form():
    twins = lab.gap_falls("slice")(TWINS, "twins")
    # squared singular values (2/3, 1/3, 0) before; parallel samples after
    assert twins.right == pytest.approx(np.sqrt(4 / 9 + 1 / 9 - 1 / 3), rel=1e-5)
    assert twins.left > twins.right
    flat = lab.gap_falls("polar", unequal=True)(FLAT, "flat")
    assert flat.left == pytest.approx(0.5)
    assert flat.right < flat.left == pytest.approx(lab.smallest_gap(4, 2))
    assert not all(flat.hypotheses.values())
    assert all(lab.gap_falls("polar")(FLAT, "flat").hypotheses.values())


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_the_gap_falls_as_far_as_the_spectrum_says(power):
    h = lab.random_batch(9, 4, 1, STREAM)
    s = np.linalg.svd(h.numpy(), compute_uv=False) ** (2 - 2 * power)
    s = np.append(s / s.sum(), np.zeros(5))
    case = lab.gap_falls("polar", power)(h, "x")
    assert case.left == pytest.approx(sp.theory.gap_of_spectrum(s), rel=1e-9)
    assert case.right == pytest.approx(float(sp.orthogonality_gap(h)), rel=2e-6)


def test_roots_compare_with_the_power_given():
    h = lab.random_batch(7, 3, 2, STREAM)
    s = np.linalg.svd(h.numpy(), compute_uv=False) ** (1 / 3)
    case = lab.roots(1 / 3)(h, "x")
    np.testing.assert_allclose(case.right, s / np.linalg.norm(s))
    right = lab.roots(0.5)(h, "x")
    np.testing.assert_allclose(right.left, right.right)


def test_one_layer_counts_rises():
    rows = lab.one_layer([10, 20], 5, 30, STREAM).set_index(["samples / width", "V′"])
    slices = lab.batches([10], 5, 30, STREAM)
    rises = [
        case.left > case.right * (1 + 2e-6)
        for case in (lab.gap_falls("slice")(**point) for point in slices)
    ]
    assert rows.loc[(2.0, "slice"), "share of rises"] == pytest.approx(np.mean(rises))
    assert (rows.xs("polar", level="V′")["share of rises"] == 0).all()
    best = rows.xs("polar", level="V′")
    np.testing.assert_allclose(best["after, power −1"], best["smallest possible"], rtol=1e-6)
    assert rows.loc[(4.0, "polar"), "smallest possible"] == pytest.approx(np.sqrt(3 / 20))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda x: sum(x) > 1e-3))
def test_the_chain_of_the_thesis_holds_and_the_papers_is_for_rank_one(x):
    s = tuple(np.array(x) / sum(x))
    assert lab.proof_chain(1)(s).left <= 1 + 1e-9
    assert lab.proof_chain(2)(s).left >= 1 - 1e-9


def test_the_chain_at_flat_spectra():
    for n in (2, 5):
        flat = (1 / n,) * n
        assert lab.proof_chain(1)(flat).left == pytest.approx(1)
        assert lab.proof_chain(2)(flat).left == pytest.approx(n)
    half = (0.5, 0.5, 0.0, 0.0)
    assert lab.proof_chain(1)(half).left == pytest.approx(1)


def test_printed_gaps_are_squares():
    h = torch.diag(torch.tensor([2.0, 1.0]).double())  # squares 4/5 and 1/5, then 2/3 and 1/3
    case = lab.printed_gaps(2)(h, "x")
    np.testing.assert_allclose(case.right, [16 / 25 + 1 / 25 - 1 / 2, 5 / 9 - 1 / 2])
    np.testing.assert_allclose(case.left, case.right)
    np.testing.assert_allclose(lab.printed_gaps(1)(h, "x").left, np.sqrt(case.right))
    np.testing.assert_allclose(lab.printed_gaps(2, less=False)(h, "x").right, case.right + 0.5)


def test_through_a_network():
    rows = lab.gaps_through(16, 20, 6, 1, STREAM)
    last = rows[rows["hidden layer"] == 6].set_index("initialization")["orthogonality gap"]
    assert set(last.index) == set(lab.INITIALIZATIONS)
    assert last["Eq. 6, orthogonal"] < min(last["Xavier"], last["orthogonal weights"])
    assert len(rows) == 6 * 5
    assert len(set(last.round(9))) == 5  # five different networks


@pytest.mark.parametrize(("padding", "stride"), [(0, 1), (0, 2), (1, 1), (1, 2)])
def test_convolution_is_a_product_and_not_the_turned_one(padding, stride):
    case = lab.convolution()(padding, stride, STREAM)
    np.testing.assert_allclose(case.left, case.right, atol=1e-12)
    turned = lab.convolution(turned=True)(padding, stride, STREAM)
    np.testing.assert_array_equal(turned.left, case.left)
    assert np.abs(turned.right - case.right).max() > 0.1


def test_spectra_and_norms_of_convolutions():
    for outputs, power in [(18, 0.5), (18, 0.25), (2, 1.0)]:
        case = lab.convolution_spectrum()(outputs, power, STREAM)
        np.testing.assert_allclose(case.left, case.right, rtol=1e-9)
        assert np.linalg.norm(case.left) == pytest.approx(1)
        other = lab.convolution_spectrum(2)(outputs, power, STREAM)
        assert np.abs(other.left - other.right).max() > 1e-3
    norms = lab.convolution_norms([18, 3], STREAM).set_index("outputs")
    assert norms.loc[18, "norm, polar"] == pytest.approx(1)
    assert norms.loc[3, "norm, polar"] < 0.9
    assert (norms["norm, slice"] < norms["norm, polar"]).all()


@pytest.mark.parametrize("repeats", [16, 76])
@pytest.mark.parametrize("published", [True, False])
def test_the_list_of_table_3_is_what_torch_builds(repeats, published):
    strided = 0 if published else None
    listed = lab.printed_list(repeats, strided=strided, extra=published)
    with torch.device("meta"):
        net = orth_table_3(repeats + 4, published=published)
        x, shapes = torch.empty(1, 3, 32, 32), []
        for layer in net[: [isinstance(k, nn.Flatten) for k in net].index(True)]:
            x = layer(x)
            if not isinstance(layer, nn.ReLU):
                shapes.append(
                    ("pool" if isinstance(layer, nn.MaxPool2d) else "conv", *x.shape[1:3])
                )
    assert listed == shapes


def test_readings_of_table_3():
    """The printed list with a stride is built by torch as well: not the authors' modified one."""
    plan = [64, "pool", 192, "pool", *[256] * 18, "pool"]
    net = conv_net(plan, first_stride=2)
    found = next(layer.in_features for layer in net if isinstance(layer, nn.Linear))
    assert lab.table_3(strided=0)(16).left == found == 1024
    assert lab.table_3()(16).left == 4096
    assert lab.table_3(padding=0)(16).left == 0
    assert lab.table_3(poolings=2, strided=0)(16).left == 4096
    for place in (1, 2, 10, 19):
        assert lab.table_3(strided=place)(16).left == 1024
    assert lab.table_3_count()(16, 20).left == 20
    assert lab.table_3_count(extra=1)(76, 80).left == 81


def test_clipping_by_cases():
    point = {"weight": 1.0, "ratio": 0.1, "stream": STREAM}
    long, short = (lab.clipping()(size=size, **point) for size in (3.0, 0.5))
    assert np.linalg.norm(long.right) == pytest.approx(0.1)
    assert np.linalg.norm(short.right) == pytest.approx(0.05)
    for case in (long, short):
        np.testing.assert_allclose(case.left, case.right, rtol=1e-12)
    zero = lab.clipping()(size=2.0, weight=0.0, ratio=0.1, stream=STREAM)
    assert np.linalg.norm(zero.right) == pytest.approx(1e-3)
    for rival in ({"longer": 2}, {"by_rows": True}):
        other = lab.clipping(**rival)(size=3.0, **point)
        assert np.abs(other.right - long.right).max() > 1e-3


@pytest.mark.parametrize("inputs", [6, 10])
def test_the_baseline_has_equal_singular_values(inputs):
    case = lab.orthogonal_baseline()(inputs, 6, STREAM)
    np.testing.assert_allclose(case.left, case.right, rtol=1e-6, atol=1e-9)
    s = np.linalg.svd(case.right, compute_uv=False)
    np.testing.assert_allclose(s, s.mean(), rtol=1e-6)
    wrong = lab.orthogonal_baseline(moment=2)(inputs, 6, STREAM)
    assert np.abs(wrong.right - case.right).max() > 1e-3
