import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from signalprop.layers import (
    batch_norm,
    frobenius_normalize,
    layer_norm,
    recenter,
    rescale,
    rms_norm,
)

seeds = st.integers(0, 2**32 - 1)


def batch(n, d, seed, offset=1.0):
    return np.random.default_rng(seed).standard_normal((n, d)) + offset


@given(st.integers(2, 8), st.integers(1, 8), seeds, st.sampled_from([1e-9, 1e-5, 0.1]))
def test_textbook_batch_norm_is_torchs(n, d, seed, eps):
    x = torch.from_numpy(batch(n, d, seed))
    reference = nn.BatchNorm1d(d, eps=eps, affine=False, dtype=torch.float64)(x)
    torch.testing.assert_close(batch_norm(x, eps=eps), reference, rtol=1e-9, atol=1e-9)


@given(st.integers(1, 8), st.integers(2, 8), seeds, st.sampled_from([0.0, 1e-5, 0.1]))
def test_layer_and_rms_norm_are_torchs(n, d, seed, eps):
    x = torch.from_numpy(batch(n, d, seed))
    layer = nn.functional.layer_norm(x, [d], eps=eps)
    torch.testing.assert_close(layer_norm(x, eps=eps), layer, rtol=1e-9, atol=1e-9)
    rms = nn.functional.rms_norm(x, [d], eps=eps)
    torch.testing.assert_close(rms_norm(x, eps=eps), rms, rtol=1e-9, atol=1e-9)


@given(st.integers(1, 8), st.integers(1, 8), seeds)
def test_the_documents_forms(n, d, seed):
    x = batch(n, d, seed)
    h, w = x.T, np.diag(1 / np.linalg.norm(x, axis=0))  # the documents' d x n matrix
    orth = batch_norm(x, center=False, divide="norm", scale="1/sqrt d")
    np.testing.assert_allclose(orth.T, w @ h / np.sqrt(d), rtol=1e-12)  # ORTH Eq. 1
    assert np.linalg.norm(orth) == pytest.approx(1, abs=1e-12)
    m = h @ h.T / n
    rank = batch_norm(x, center=False)
    np.testing.assert_allclose(rank.T, np.diag(np.diag(m) ** -0.5) @ h, rtol=1e-12)  # RANK Eq. 5
    grad = batch_norm(x, center=False, divide="norm")
    np.testing.assert_allclose(grad.T, w @ h, rtol=1e-12)  # GRAD Eq. 6.4
    to_norm = batch_norm(x, center=False, scale="1/sqrt n")
    np.testing.assert_allclose(to_norm, grad, rtol=1e-12)


def test_spread_about_the_mean_keeps_the_mean():
    x = batch(50, 3, 0)
    np.testing.assert_allclose(batch_norm(x, center=False, divide="std"), x / x.std(axis=0))
    np.testing.assert_allclose(batch_norm(x, divide="std"), batch_norm(x))


@given(st.integers(2, 6), st.integers(2, 6), seeds, st.floats(1e-3, 1e3))
def test_invariances(n, d, seed, scale):
    x = batch(n, d, seed)
    np.testing.assert_allclose(batch_norm(scale * x), batch_norm(x), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(rms_norm(scale * x), rms_norm(x), rtol=1e-12)
    shifted = batch_norm(x + scale)
    np.testing.assert_allclose(shifted, batch_norm(x), rtol=1e-6, atol=1e-6)


def test_recentering_and_rescaling_make_batch_norm():
    x = batch(5, 4, 0)
    np.testing.assert_array_equal(rescale(recenter(x)), batch_norm(x))
    np.testing.assert_allclose(recenter(x).mean(axis=0), 0, atol=1e-15)


def test_leading_dimensions_are_separate_batches():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    for layer in (batch_norm, layer_norm, rms_norm, recenter, frobenius_normalize):
        np.testing.assert_allclose(layer(x)[1, 2], layer(x[1, 2]), rtol=1e-12)


def test_frobenius_norm():
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    np.testing.assert_allclose(np.linalg.norm(frobenius_normalize(x), axis=(1, 2)), 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: batch_norm([[0.1, 1.0], [0.1, 2.0]]), "batch norm.* 1 of the 2 .*constant"),
        (lambda: batch_norm(np.full((1000, 3), 0.1)), "3 of the 3 .*constant"),
        (lambda: batch_norm(1e9 + np.zeros((7, 2)), divide="norm"), "2 of the 2 .*constant"),
        (lambda: batch_norm([[1.0, 2.0]]), "2 of the 2 .*constant"),
        (lambda: batch_norm([[0.0, 1.0]], center=False), "1 of the 2 .*zero"),
        (lambda: batch_norm([[5.0], [5.0]], center=False, divide="std"), "constant"),
        (lambda: layer_norm([[3.0]]), "layer norm.*constant"),
        (lambda: rms_norm([[0.0, 0.0], [1.0, 0.0]]), "RMS norm.* 1 of the 2 .*zero"),
        (lambda: rms_norm([[5e-309], [1.0]]), "RMS norm.* 1 of the 2 .*zero"),
        (lambda: frobenius_normalize(np.zeros((2, 2))), "Frobenius norm.*zero"),
        (lambda: rms_norm([[1e200]]), "not finite"),
        (lambda: batch_norm(np.ones((0, 2))), "n, d >= 1"),
        (lambda: batch_norm(np.ones(3)), "n, d >= 1"),
        (lambda: batch_norm([[np.inf]]), "x must be finite"),
        (lambda: batch_norm(np.eye(2), divide="mean"), "divide must be one of rms, std, norm"),
        (lambda: batch_norm(np.eye(2), scale="1/d"), "scale must be a number or one of"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_eps_makes_degenerate_batches_harmless():
    assert batch_norm([[0.0], [0.0]], eps=1e-5).tolist() == [[0.0], [0.0]]
    assert np.isfinite(layer_norm([[3.0]], eps=1e-5)).all()


@pytest.mark.parametrize("layer", [batch_norm, layer_norm, rms_norm, frobenius_normalize])
def test_kinds_and_gradients(layer):
    x = torch.randn(2, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(layer, x.requires_grad_())
    assert layer(x.detach().float()).dtype == torch.float32
    assert layer([[1, 2], [3, 5]]).dtype == np.float64


@pytest.mark.parametrize("layer", [batch_norm, layer_norm, rms_norm, rescale, frobenius_normalize])
def test_what_overflows_when_squared_is_refused(layer):
    x = 1e200 * batch(3, 4, 0)
    options = {} if layer is frobenius_normalize else {"eps": 1e-5}
    with pytest.raises(ValueError, match=r"x must stay below .* its squares are not finite"):
        layer(x, **options)


@pytest.mark.parametrize("layer", [batch_norm, recenter, rescale, frobenius_normalize])
@pytest.mark.parametrize("x", [1.0, [1.0, 2.0], np.ones((0, 3))])
def test_what_is_no_batch_is_refused(layer, x):
    with pytest.raises(ValueError, match=r"needs \(\.\.\., n, d\)"):
        layer(x)


def test_masked_arrays_are_refused_and_half_precision_is_computed_in_single():
    with pytest.raises(ValueError, match="x must not be a masked array"):
        layer_norm(np.ma.masked_array(np.ones((2, 2)), mask=np.eye(2)))
    x = torch.tensor([[1.0, 3.0]], dtype=torch.bfloat16)
    assert layer_norm(x).dtype == torch.float32
