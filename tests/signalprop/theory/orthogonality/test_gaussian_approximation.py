import numpy as np
import pytest
from scipy.linalg import sqrtm

import signalprop as sp
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_gaussian_approximation")


@pytest.mark.parametrize("n", [1, 3, 6])
def test_gaussian_wasserstein_against_matrix_square_roots(n):
    a, b = (m @ m.T for m in STREAM.numpy("ab", n).standard_normal((2, n, n)))
    root = sqrtm(a)
    cross = np.trace(sqrtm(root @ b @ root)).real
    expected = np.trace(a) + np.trace(b) - 2 * cross
    assert theory.gaussian_wasserstein(a, b) == pytest.approx(expected, rel=1e-8)
    assert theory.gaussian_wasserstein(a, a) == pytest.approx(0, abs=1e-6 * np.trace(a))
    with pytest.raises(ValueError, match="positive semidefinite"):
        theory.gaussian_wasserstein(-np.eye(n), a)


@pytest.mark.parametrize(("n", "d"), [(2, 5), (4, 4), (5, 30)])
def test_distance_of_a_layer_is_that_of_its_rows(n, d):
    h = STREAM.numpy("h", n).standard_normal((n, d))
    h /= np.linalg.norm(h)
    squares = np.linalg.svd(h, compute_uv=False) ** 2
    rows = d * theory.gaussian_wasserstein(sp.gram(h) / d, np.eye(n) / (n * d))
    assert theory.wasserstein_to_gaussian(squares) == pytest.approx(rows, abs=1e-12)


def test_it_resolves_what_subtraction_of_roots_would_lose():
    s = np.array([0.5 + 1e-12, 0.5 - 1e-12])
    assert theory.wasserstein_to_gaussian(s) == pytest.approx(1e-24, rel=1e-3)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_lemma_2_and_its_sharper_forms(n):
    s = sp.spectra.varied(n, 2000, STREAM.child("lemma 2"))
    distance, gap = theory.wasserstein_to_gaussian(s), theory.gap_of_spectrum(s)
    for bound in (theory.orth_lemma_2(gap, n), n * gap**2, np.sqrt(n) * gap):
        assert np.all(distance <= bound + 1e-14)


def test_corollary_3_is_lemma_2_of_theorem_1():
    alpha, n, d = 0.3, 4, 10**6
    expected = 4 * n * (1 - 0.2) ** 5 + 6 * n**2 / (alpha * 1000)
    assert theory.orth_corollary_3(alpha, 5, n, d) == pytest.approx(expected)
    repaired = 4 * n * (1 - 0.06) ** 5 + 6 * n**2 / (alpha**2 * 1000)
    assert theory.orth_corollary_3_repaired(alpha, 5, n, d) == pytest.approx(repaired)


def test_displays_at_a_point():
    np.testing.assert_allclose(theory.orth_lemma_2([0.25, 0.1], 3), [1.5, 0.6])
    # n/4 times the mean square of the gap, (1 - 1/n) / d / (1 - (n / (n + 2))^2)
    assert theory.stationary_wasserstein(4, 10) == pytest.approx(0.075 / (1 - 4 / 9))
    assert theory.wasserstein_to_gaussian([0.64, 0.36]) == pytest.approx(2 - 2 * 1.4 / np.sqrt(2))


def test_rounding_below_zero_is_no_negative_eigenvalue():
    a = np.ones((3, 3))  # of rank one: two eigenvalues are 0 up to rounding
    assert theory.gaussian_wasserstein(a, 0 * a) == pytest.approx(3, rel=1e-12)
    assert theory.gaussian_wasserstein(a, a) >= 0
    with pytest.raises(ValueError, match="positive semidefinite"):
        theory.gaussian_wasserstein(np.diag([1.0, -1e-6]), np.eye(2))
    both = theory.gaussian_wasserstein(np.stack([np.eye(2), 4 * np.eye(2)]), np.eye(2))
    np.testing.assert_allclose(both, [0, 2], atol=1e-12)


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.slow
def test_stationary_wasserstein_is_that_of_wide_chains(n):
    d = 300
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    net = sp.Chain(d, layers=[normalize])
    h = net.run(sp.inputs.orthogonal_samples(n), 15, 3000, STREAM.child("chain", n)).final()
    values = theory.wasserstein_to_gaussian(n * sp.second_moment_eigenvalues(h).numpy())
    error = values.std() / np.sqrt(len(values))
    expected = theory.stationary_wasserstein(n, d)
    # leading order: relative corrections of order n / d
    assert abs(values.mean() - expected) < 6 * error + 3 * n / d * expected
