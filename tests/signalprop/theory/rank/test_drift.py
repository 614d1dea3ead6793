"""The drift by explicit sums and by sampling, its exact expectation for two units by hand."""

import numpy as np
import pytest
from scipy import integrate

from signalprop import theory


def correlation(d, samples, seed):
    h = np.random.default_rng(seed).normal(size=(d, samples))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    return h @ h.T


def test_lemma_12_entry_by_entry():
    m = correlation(4, 3, 0)
    r = range(4)
    cube = sum(m[i, j] * m[j, k] * m[k, i] for i in r for j in r for k in r)
    rows = [sum(m[i, j] ** 2 for j in r) for i in r]
    expected = 2 * 16 - 2 * sum(rows) - 8 * cube + 8 * sum(row**2 for row in rows)
    assert theory.rank_lemma_12(m) == pytest.approx(expected, rel=1e-12)
    assert theory.rank_lemma_12(np.stack([m, m]))[1] == pytest.approx(expected)


def test_proposition_13_on_equal_rows():
    """Cosines of 1/2 among three units: eigenvalues 2, 1/2, 1/2."""
    m = 0.5 * np.eye(3) + 0.5
    assert theory.rank_proposition_13([2, 0.5, 0.5]) == pytest.approx(theory.rank_lemma_12(m))
    assert theory.rank_proposition_13([2, 0.5, 0.5]) == pytest.approx(18 - 9 - 66 + 54)


def test_two_units_by_direct_integration():
    """The mean over all four weights of the squared cosine, twice, plus the diagonal."""
    gamma, cosine = 0.25, 0.6
    m = np.array([[1, cosine], [cosine, 1]])

    def squared(a, b):
        return (a @ m @ b) ** 2 / ((a @ m @ a) * (b @ m @ b))

    points, weights = np.polynomial.legendre.leggauss(12)
    grid = np.sqrt(3) * points
    total = 0.0
    for p, wp in zip(grid, weights, strict=True):
        for q, wq in zip(grid, weights, strict=True):
            a = np.array([1 + gamma * p, gamma * q])
            for r, wr in zip(grid, weights, strict=True):
                for s, ws in zip(grid, weights, strict=True):
                    b = np.array([gamma * r, 1 + gamma * s])
                    total += wp * wq * wr * ws / 16 * squared(a, b)
    assert theory.expected_frobenius(m, gamma, nodes=12) == pytest.approx(2 + 2 * total, rel=1e-10)


def test_independent_units_by_an_integral_of_one_angle():
    """M = I, two units: the mean of cos^2 between (1 + g a, g b) and (g c, 1 + g d)."""
    gamma, root = 0.2, np.sqrt(3)

    def second_moments(k):
        def entry(b, a):
            x = np.array([1 + gamma * a, gamma * b])
            return x[k] * x[0] / (x @ x) / 12

        return integrate.dblquad(entry, -root, root, -root, root)[0]

    first, cross = second_moments(0), second_moments(1)
    p = np.array([[first, cross], [cross, 1 - first]])
    expected = 2 + 2 * np.trace(p @ p[::-1, ::-1])
    assert theory.expected_frobenius(np.eye(2), gamma, 14) == pytest.approx(expected, rel=1e-9)


def test_against_sampling():
    d, gamma, draws = 4, 0.1, 40_000
    m = correlation(d, 2, 1)
    w = np.random.default_rng(2).uniform(-np.sqrt(3), np.sqrt(3), size=(draws, d, d))
    moved = (np.eye(d) + gamma * w) @ m @ (np.eye(d) + gamma * w).swapaxes(1, 2)
    norms = np.sqrt(np.einsum("kii->ki", moved))
    values = ((moved / norms[:, None] / norms[..., None]) ** 2).sum(axis=(1, 2))
    error = values.std() / np.sqrt(draws)
    assert abs(theory.expected_frobenius(m, gamma) - values.mean()) < 5.5 * error


def test_example_14_is_the_limit():
    d, gamma = 5, 0.005
    m = gamma**2 * np.eye(d) + (1 - gamma**2)
    fall = theory.expected_frobenius(m, gamma, 4) - (m**2).sum()
    assert fall / gamma**4 == pytest.approx(theory.rank_example_14(d), rel=1e-3)
    values = np.array([d - gamma**2 * (d - 1), *[gamma**2] * (d - 1)])
    drift = theory.rank_proposition_13(values)
    assert drift / gamma**2 == pytest.approx(theory.rank_example_14(d), rel=1e-3)


def test_a_branch_too_strong_is_refused():
    with pytest.raises(ValueError, match=r"gamma must lie in \[0, 1/\(sqrt\(3\) d\) = 0.192\)"):
        theory.expected_frobenius(np.eye(3), 0.2)


def test_n_points_a_weight_are_exact_to_order_2_n_less_1():
    """What is left is of the order gamma^(2 n): halving gamma divides it by 4^n, about."""
    m = correlation(2, 2, 3)

    def left(gamma, *nodes):
        return theory.expected_frobenius(m, gamma, *nodes) - theory.expected_frobenius(m, gamma, 20)

    for nodes in (3, 4):
        assert np.log2(left(0.08, nodes) / left(0.04, nodes)) == pytest.approx(2 * nodes, abs=0.4)
    assert left(0.2) == left(0.2, 6)
