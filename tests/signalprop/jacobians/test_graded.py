import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from signalprop.jacobians import GradedProduct
from signalprop.jacobians.graded import _tournament


def product_of(matrices):
    product = GradedProduct.identity(torch.eye(matrices.shape[-1], dtype=torch.float64)[None])
    for matrix in matrices:
        product = product.times((matrix @ product.frame[0])[None])
    return product


def by_many_digits(matrices):
    with mpmath.workdps(400):
        whole = mpmath.eye(matrices.shape[-1])
        for matrix in matrices:
            whole = mpmath.matrix(matrix.tolist()) * whole
        values = mpmath.svd_r(whole, compute_uv=False)
        return np.array([float(mpmath.log(value)) for value in values])


@pytest.mark.parametrize(("size", "count", "factor"), [(5, 100, 0.4), (5, 3, 1.0), (3, 30, 1e20)])
def test_products_agree_with_four_hundred_digits(size, count, factor):
    draws = factor * np.random.default_rng(0).standard_normal((count, size, size))
    matrices = torch.from_numpy(draws)
    found = product_of(matrices).log_singular_values()[0]
    np.testing.assert_allclose(found, by_many_digits(matrices), rtol=1e-13, atol=1e-12)


def test_one_factor_shrinks_each_time_by_a_billion():
    draws = np.random.default_rng(1).standard_normal((20, 3, 3))
    matrices = torch.from_numpy(np.diag([1.0, 1e-4, 1e-9]) @ draws)
    found = product_of(matrices).log_singular_values()[0]
    np.testing.assert_allclose(found, by_many_digits(matrices), rtol=1e-10)


@settings(max_examples=30, deadline=None)
@given(
    runs=st.integers(1, 3),
    rows=st.integers(1, 6),
    columns=st.integers(1, 6),
    rank=st.integers(0, 6),
    seed=st.integers(0, 2**32 - 1),
)
def test_one_matrix_of_any_rank(runs, rows, columns, rank, seed):
    generator = np.random.default_rng(seed)
    left = generator.standard_normal((runs, rows, rank))
    matrix = torch.from_numpy(left @ generator.standard_normal((runs, rank, columns)))
    identity = torch.eye(columns, dtype=torch.float64).repeat(runs, 1, 1)
    product = GradedProduct.identity(identity).times(matrix)
    logs = product.log_singular_values()
    assert not torch.isnan(logs).any()
    expected = torch.linalg.svdvals(matrix)
    small = min(rows, columns)
    found = logs.exp()[:, :small]
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12 * float(expected.max() + 1))
    whole = product.frame @ (product.logs.exp()[..., None] * product.mixing)
    torch.testing.assert_close(whole, matrix, rtol=1e-9, atol=1e-12)


def test_what_is_lost_is_minus_infinity():
    flat = torch.ones(1, 3, 3, dtype=torch.float64)
    start = GradedProduct.identity(torch.eye(3, dtype=torch.float64)[None])
    once = start.times(flat)
    twice = once.times(flat @ once.frame)
    np.testing.assert_allclose(once.log_singular_values()[0], [np.log(3), -np.inf, -np.inf])
    np.testing.assert_allclose(twice.log_singular_values()[0], [np.log(9), -np.inf, -np.inf])
    nothing = once.times(torch.zeros_like(flat))
    assert (nothing.log_singular_values() == -torch.inf).all()


@pytest.mark.parametrize("count", range(1, 9))
def test_everybody_meets_everybody_once(count):
    met = [tuple(sorted(pair)) for game in _tournament(count) for pair in game.T.tolist()]
    assert sorted(met) == [(i, j) for i in range(count) for j in range(i + 1, count)]
    assert all(len(set(game.flatten().tolist())) == game.numel() for game in _tournament(count))
