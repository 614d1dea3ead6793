"""Iterative orthogonalization: the formula, its open choices, MLPs and convolutions."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from signalprop import Stream
from signalprop.initializers import iterative_orthogonalization_, orthogonalizing_weight
from signalprop.metrics import orthogonality_gap
from signalprop.models import MLP, conv_net, unfold_rows


def batch(n, d, seed=0, decay=0.5):
    """Return (n, d) with singular values falling like the d-th power of ``decay``."""
    rng = Stream(seed).numpy("batch")
    u, _ = np.linalg.qr(rng.standard_normal((n, d)))
    v, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return u * decay ** np.arange(d) @ v.T


def spectrum(x):
    return np.linalg.svd(x, compute_uv=False)


@pytest.mark.parametrize("power", [0.5, 1.0, 0.25])
def test_spectrum_is_the_power_of_the_old_one_with_unit_norm(power):
    h = batch(20, 5)
    product = h @ orthogonalizing_weight(h, power=power).T
    expected = spectrum(h) ** (1 - power)
    np.testing.assert_allclose(spectrum(product), expected / np.linalg.norm(expected), rtol=1e-10)


def test_printed_formula_literally():
    h = batch(12, 4)
    v, s, ut = np.linalg.svd(h, full_matrices=False)
    expected = v[:4] @ np.diag(s**-0.5) @ ut / np.sqrt(s.sum())
    np.testing.assert_allclose(orthogonalizing_weight(h, factor="slice"), expected, rtol=1e-12)


def test_slice_is_orthogonal_only_without_slicing():
    def defect(n):
        weight = orthogonalizing_weight(batch(n, 6, decay=1.0), factor="slice") * np.sqrt(6)
        return np.abs(weight @ weight.T - np.eye(6)).max()

    assert defect(6) < 1e-12
    assert min(defect(9), defect(18), defect(180)) > 0.1


@given(
    seed=st.integers(0, 1000),
    n=st.integers(4, 30),
    decay=st.floats(0.05, 0.95),
    power=st.sampled_from([0.5, 1.0]),
)
@settings(max_examples=50, deadline=None)
def test_gap_falls_with_an_orthogonal_factor(seed, n, decay, power):
    h = batch(n, 4, seed, decay)
    product = h @ orthogonalizing_weight(h, power=power).T
    # ORTH Eq. 17, for the gap over the d directions: for n > d it is that of the transposes.
    assert orthogonality_gap(product.T) < orthogonality_gap(h.T)


def test_a_slice_may_raise_the_gap():
    rises = [
        orthogonality_gap((h @ orthogonalizing_weight(h, factor="slice").T).T)
        > orthogonality_gap(h.T)
        for h in (batch(40, 4, seed, decay=0.9) for seed in range(50))
    ]
    assert any(rises)


def test_measured_scale_has_unit_norm_for_either_factor():
    h = np.stack([batch(15, 4, seed) for seed in range(3)])
    for factor in ("slice", "polar"):
        w = orthogonalizing_weight(h, factor=factor, scale="measured")
        norms = np.linalg.norm(h @ w.swapaxes(-1, -2), axis=(-2, -1))
        np.testing.assert_allclose(norms, 1, rtol=1e-12)


def test_rank_deficient_directions_stay_zero():
    h = batch(10, 4)
    h[:, 3] = h[:, 2]
    product = h @ orthogonalizing_weight(h, power=1.0).T
    np.testing.assert_allclose(spectrum(product), [3**-0.5] * 3 + [0], atol=1e-12)


@pytest.mark.parametrize(
    ("h", "keywords", "message"),
    [
        (batch(9, 4)[:3], {}, "n >= d"),
        (batch(9, 4), {"outputs": 10}, "n >= outputs = 10"),
        (batch(9, 4), {"outputs": 0}, "outputs = 0"),
        (np.zeros((9, 4)), {}, "h must not be zero"),
        (np.ones(4), {}, "n >= d"),
        (batch(9, 4), {"factor": "cut"}, "factor must be one of slice, polar"),
        (batch(9, 4), {"scale": "unit"}, "scale one of printed, measured"),
    ],
)
def test_bad_input(h, keywords, message):
    with pytest.raises(ValueError, match=message):
        orthogonalizing_weight(h, **keywords)


def test_mlp_gets_the_weight_of_the_batch_that_reaches_each_layer():
    x = torch.randn(40, 7, generator=Stream(0).torch(), dtype=torch.float64)
    net = MLP(7, 8, 4, 3, seeds=[0, 1], bias="drawn", dtype=torch.float64)
    first, head = net.hidden[0][0].weight.clone(), net.head.weight.clone()
    iterative_orthogonalization_(net, x, power=1.0)
    torch.testing.assert_close(net.hidden[0][0].weight, first)
    torch.testing.assert_close(net.head.weight, head)
    h = net.hidden[0](x)
    for block in net.hidden[1:]:
        assert not block[0].bias.detach().any()
        gram = block[0](h).mT @ block[0](h)
        torch.testing.assert_close(gram, (torch.eye(8) / 8).expand(2, 8, 8).double())
        h = block(h)


def test_deep_relu_networks_keep_their_rank():
    x = torch.randn(90, 30, generator=Stream(0).torch())
    net = MLP(30, 30, 40, 10, bias="none", weights="he")
    plain = float(orthogonality_gap(net.hidden[-1][0](net.states(x)[-2]).mT.detach()))
    iterative_orthogonalization_(net, x)
    done = float(orthogonality_gap(net.hidden[-1][0](net.states(x)[-2]).mT.detach()))
    assert plain > 0.9
    assert done < 0.3


def test_convolutions_get_the_intended_spectrum():
    x = torch.randn(6, 3, 8, 8, generator=Stream(0).torch(), dtype=torch.float64)
    net = conv_net([4, "relu", 4, "relu"], size=8, hidden=[5], dropout=0.5).double()
    before = net[0].weight.clone()
    iterative_orthogonalization_(net, x, power=1.0)
    torch.testing.assert_close(net[0].weight, before)
    assert net.training
    assert not net[2]._forward_pre_hooks
    rows = net[2](net[1](net[0](x))).movedim(1, -1).flatten(0, 2)
    # Orthonormal rows V' of 36 columns, printed scale 1/sqrt 36: Gram matrix I/36.
    torch.testing.assert_close(rows.T @ rows, torch.eye(4, dtype=torch.float64) / 36)
    patches = unfold_rows(net[1](net[0](x)), 3, padding=1)
    torch.testing.assert_close(rows, patches @ net[2].weight.flatten(1).T)


def test_unsupported_kernels_are_refused_and_hooks_removed():
    net = nn.Sequential(nn.Conv2d(3, 3, 3, padding="same"))
    with pytest.raises(ValueError, match="numbers as padding"):
        iterative_orthogonalization_(net, torch.randn(4, 3, 5, 5))
    assert not net[0]._forward_pre_hooks
