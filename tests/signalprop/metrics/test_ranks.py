import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from signalprop import rank, rank_ratio, second_moment_eigenvalues, soft_rank
from signalprop.metrics import regularity_terms, second_moment

sizes = st.integers(1, 9)
seeds = st.integers(0, 2**32 - 1)


def spread(n, d, seed):
    """A matrix whose singular values spread over four decades."""
    generator = np.random.default_rng(seed)
    u, _, v = np.linalg.svd(generator.standard_normal((n, d)), full_matrices=False)
    return (u * 10 ** generator.uniform(-2, 2, len(v))) @ v


@given(sizes, sizes, seeds, st.floats(0.01, 3))
def test_soft_rank_counts_the_eigenvalues_of_m(n, d, seed, tau):
    x = spread(n, d, seed)
    eigenvalues = np.linalg.eigvalsh(x.T @ x / n)
    if np.abs(eigenvalues - tau).min() > 1e-9:
        assert soft_rank(x, tau) == (eigenvalues >= tau).sum()


@given(sizes, sizes, seeds)
def test_rank_ratio_is_a_participation_ratio_below_the_rank(n, d, seed):
    x = spread(n, d, seed)
    m = second_moment(x)
    ratio = rank_ratio(x)
    assert ratio == pytest.approx(np.trace(m) ** 2 / (m**2).sum(), rel=1e-10)
    assert 1 - 1e-12 <= ratio <= rank(x) + 1e-9


@given(sizes, sizes, seeds)
def test_spectrum_and_soft_rank_at_zero(n, d, seed):
    x = spread(n, d, seed)
    assert soft_rank(x, 0.0) == min(n, d)
    top = np.linalg.eigvalsh(x.T @ x / n)[::-1][: min(n, d)]
    np.testing.assert_allclose(second_moment_eigenvalues(x), top, rtol=1e-9, atol=1e-12 * top[0])


@pytest.mark.parametrize("seed", range(20))
def test_ties_count(seed):
    generator = np.random.default_rng(seed)
    q = np.linalg.qr(generator.standard_normal((8, 8)))[0]
    v = np.linalg.qr(generator.standard_normal((8, 8)))[0]
    values = np.array([0.5, 0.5, 0.5, 3, 40, 0.1, 0.01, 0])
    assert soft_rank(q @ np.diag(np.sqrt(8 * values)) @ v, 0.5) == 5


@pytest.mark.parametrize("n", [1, 60, 300])
def test_ties_count_in_large_batches(n):
    """All eigenvalues of M are 1 up to rounding, which grows with the size."""
    q = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))[0]
    assert soft_rank(np.sqrt(n) * q, 1.0) == n
    assert soft_rank(np.sqrt(n) * q, 1 + 1e-6) == 0


@pytest.mark.parametrize(("off", "counts"), [(0.95, True), (1.05, False)])
def test_a_tie_is_as_wide_as_the_rounding_of_the_largest_eigenvalue(off, counts):
    top, tau = 1e6, 0.5
    below = off * 8 * 5 * np.finfo(float).eps * top
    x = np.zeros((2, 5))
    x[0, 0], x[1, 1] = np.sqrt(2 * top), np.sqrt(2 * (tau - below))
    assert soft_rank(x, tau) == 1 + counts
    assert (soft_rank(np.stack(50 * [x]), tau) == 1 + counts).all(), "whatever the batch"


def test_the_threshold_is_a_half_if_none_is_given():
    assert soft_rank(np.diag(np.sqrt(2 * np.array([0.52, 0.48])))) == 1


def test_rank_of_constructed_matrices():
    generator = np.random.default_rng(0)
    for k in range(6):
        x = generator.standard_normal((9, k)) @ generator.standard_normal((k, 7))
        assert rank(x) == k
    assert rank(np.diag([1.0, 1e-8, 1e-10])) == 3
    assert rank(np.diag([1.0, 1e-8, 1e-10]), rtol=1e-9) == 2


@given(sizes, sizes, seeds)
def test_regularity_terms_are_the_printed_traces(n, d, seed):
    x = spread(n, d, seed)
    m = x.T @ x / n
    diagonal = np.diag(np.diag(m @ m))
    numerator, denominator = regularity_terms(x)
    assert numerator == pytest.approx(np.trace(diagonal @ diagonal), rel=1e-9)
    assert denominator == pytest.approx(np.trace(m @ m @ m), rel=1e-9)


def test_regularity_is_one_at_both_extremes():
    for x in (np.sqrt(5) * np.eye(5), np.ones((4, 5))):
        numerator, denominator = regularity_terms(x)
        assert numerator == pytest.approx(denominator)


def test_bad_input():
    with pytest.raises(ValueError, match="tau"):
        soft_rank(np.eye(2), -0.1)
    with pytest.raises(ValueError, match="tau"):
        soft_rank(np.eye(2), float("nan"))
    with pytest.raises(ValueError, match="zero"):
        rank_ratio(np.zeros((2, 2)))


@pytest.mark.parametrize("function", [rank_ratio, second_moment, second_moment_eigenvalues])
def test_gradients(function):
    x = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(function, x.requires_grad_())
