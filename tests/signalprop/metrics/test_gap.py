import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from signalprop import lyapunov_gap, orthogonality_gap

shapes = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))


def batch(shape):
    n, d, seed = shape
    return np.random.default_rng(seed).standard_normal((n, d))


@given(shapes, st.floats(1e-6, 1e6))
def test_gap_is_the_printed_formula_in_its_range_and_scale_free(shape, scale):
    x = batch(shape)
    n = len(x)
    gap = orthogonality_gap(x)
    printed = np.linalg.norm(x @ x.T / np.linalg.norm(x) ** 2 - np.eye(n) / n)
    assert gap == pytest.approx(printed, abs=1e-12)
    assert -1e-12 <= gap <= np.sqrt((n - 1) / n) + 1e-12
    assert orthogonality_gap(scale * x) == pytest.approx(gap, abs=1e-12)


@given(shapes)
def test_squared_gap_is_the_fourth_moment_of_the_singular_values(shape):
    x = batch(shape)
    sigma = np.linalg.svd(x, compute_uv=False) / np.linalg.norm(x)
    assert orthogonality_gap(x) ** 2 == pytest.approx((sigma**4).sum() - 1 / len(x), abs=1e-12)


@given(shapes)
def test_lyapunov_gap_uses_the_nth_singular_value(shape):
    n, d, _ = shape
    x = batch(shape)
    smallest = np.linalg.eigvalsh(x @ x.T)[0] if d >= n else 0.0
    expected = 1 / n - smallest / np.linalg.norm(x) ** 2
    assert lyapunov_gap(x) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_extremes(n):
    orthogonal, rank_one = 3 * np.eye(n, 7), np.outer(np.arange(1, n + 1), np.ones(7))
    assert orthogonality_gap(orthogonal) == pytest.approx(0, abs=1e-15)
    assert lyapunov_gap(orthogonal) == pytest.approx(0, abs=1e-15)
    assert orthogonality_gap(rank_one) == pytest.approx(np.sqrt((n - 1) / n), abs=1e-12)
    assert lyapunov_gap(rank_one) == pytest.approx(1 / n if n > 1 else 0, abs=1e-12)


def test_leading_dimensions_are_a_batch():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    for metric in (orthogonality_gap, lyapunov_gap):
        np.testing.assert_allclose(metric(x)[1, 2], metric(x[1, 2]), rtol=1e-12)


@pytest.mark.parametrize("metric", [orthogonality_gap, lyapunov_gap])
@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((2, 3)), "must not be zero"),
        (np.ones(3), r"\(\.\.\., n, d\)"),
        (np.ones((0, 3)), r"\(\.\.\., n, d\)"),
        (np.array([[np.nan, 1.0]]), "finite"),
    ],
)
def test_bad_input_is_named(metric, x, message):
    with pytest.raises(ValueError, match=message):
        metric(x)


@pytest.mark.parametrize("metric", [orthogonality_gap, lyapunov_gap])
def test_kinds_and_gradients(metric):
    x = torch.randn(3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(metric, x.requires_grad_())
    assert metric(x.detach().float()).dtype == torch.float32
    assert isinstance(metric([[1, 2], [3, 4]]), np.float64)
