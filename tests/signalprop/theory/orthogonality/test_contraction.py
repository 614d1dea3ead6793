import mpmath
import numpy as np
import pytest
import torch
from scipy.special import exp1

import signalprop as sp
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_contraction")


def spectra(n, count, concentration=1.0):
    return STREAM.numpy("spectra", n).dirichlet(np.full(n, concentration), count)


def gaps(s):
    """Orthogonality gap and vhat of a batch with squared singular values s, from the metrics."""
    h = np.sqrt(s)[..., None] * np.eye(s.shape[-1], s.shape[-1] + 2)
    return sp.orthogonality_gap(h), sp.lyapunov_gap(h)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_lemma_4_is_attained_and_never_exceeded(n):
    gap, vhat = gaps(spectra(n, 2000, 0.3))
    assert np.all(gap <= theory.orth_lemma_4_sharp(vhat, n) + 1e-12)
    smallest = np.linspace(0, 1 / n, 5)[:-1]
    extremal = np.repeat(smallest[:, None], n, axis=1)
    extremal[:, 0] = 1 - (n - 1) * smallest
    gap, vhat = gaps(extremal)
    np.testing.assert_allclose(gap, theory.orth_lemma_4_sharp(vhat, n), rtol=1e-10)
    assert np.all(theory.orth_lemma_4_sharp(vhat, n) <= theory.orth_lemma_4(vhat, n))


@pytest.mark.parametrize(("n", "d"), [(2, 2), (3, 24), (5, 5)])
def test_one_step_variance_is_that_of_the_chain(n, d):
    s = spectra(n, 1)[0]
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    net = sp.Chain(d, layers=[normalize])
    h = net.run(np.diag(np.sqrt(s)), 1, 4000, STREAM.child("chain", n, d)).final()
    c = sp.gram(h).numpy()
    squares = ((c - np.diag(theory.expected_spectrum(s))) ** 2).sum((-2, -1))
    error = squares.std() / np.sqrt(len(squares))
    assert abs(squares.mean() - theory.one_step_variance(s, d)) < 6 * error


@pytest.mark.parametrize("s", [[0.5, 0.5], [0.9, 0.1], [0.4, 0.35, 0.25]])
@pytest.mark.parametrize("d", [3, 5])
def test_violation_of_a1_is_at_least_as_likely_as_said(s, d):
    alpha, runs = 0.4, 4000
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    x = np.diag(np.sqrt(s))
    h = sp.Chain(d, layers=[normalize]).run(x, 1, runs, STREAM.child("a1", len(s), d)).final()
    smallest = torch.linalg.svdvals(h)[:, -1].numpy()
    frequency, bound = (smallest <= alpha).mean(), theory.orth_a1_violation(alpha, d)
    assert frequency > bound - 6 * np.sqrt(bound / runs)
    assert frequency < 1


@pytest.mark.parametrize("n", [2, 3, 8, 50])
def test_constant_of_lemma_8_is_the_largest(n):
    s = spectra(n, 200)
    vhat, excess = 1 / n - s.min(-1), 1 / n - theory.expected_spectrum(s).min(-1)
    sharp = theory.constant_of_lemma_8(n)
    assert np.all(excess <= theory.orth_lemma_8(vhat, n, sharp) + 1e-12)
    near_flat = np.full(n, 1 / n + 1e-5 / (n - 1))
    near_flat[-1] = 1 / n - 1e-5
    excess = 1 / n - theory.expected_spectrum(near_flat)[-1]
    assert excess > theory.orth_lemma_8(1e-5, n, 1.01 * sharp)


def test_theorem_5_is_lemma_8_plus_noise_and_stability_its_sum():
    vhat, n, d = np.array([0.0, 0.1, 0.25]), 4, 100
    np.testing.assert_allclose(
        theory.orth_theorem_5(vhat, n, d), theory.orth_lemma_8(vhat, n) + 0.1
    )
    # sum over k of v_{k+1} - v_k <= -2/3 v_k (1/n - v_k) + 1/sqrt d, with v constant
    v, depth = 0.1, 7
    right = 1.5 * v / depth + 1.5 / np.sqrt(d)
    assert theory.orth_stability(v, depth, d) == pytest.approx(right)


def test_displays_at_a_point():
    vhat, depth, d = np.array([0.2, 0.05]), np.array([1, 4]), 25
    np.testing.assert_allclose(theory.orth_lemma_4(vhat, 3), [1.2, 0.3])
    np.testing.assert_allclose(theory.orth_lemma_8(vhat, 4), [0.2 * (29 / 30), 0.05 * (13 / 15)])
    np.testing.assert_allclose(theory.orth_lemma_8(vhat, 4, 2.0), [0.2 * 0.9, 0.05 * 0.6])
    noisy = theory.orth_theorem_5(vhat, 4, d, constant=2.0, noise=3.0)
    np.testing.assert_allclose(noisy, [0.18 + 0.6, 0.03 + 0.6])
    np.testing.assert_allclose(theory.orth_stability(vhat, depth, d), [0.6, 0.31875])
    # P(|w_n / w_1| <= tan(pi / 8)) = 1/4 for a Cauchy ratio
    assert theory.orth_a1_violation(np.tan(np.pi / 8), 3) == pytest.approx(1 / 64)


def test_the_bound_on_a_violation_is_the_chance_of_a_ratio_of_gaussians():
    w = STREAM.numpy("cauchy").standard_normal((400_000, 2))
    frequency = (np.abs(w[:, 1]) <= 0.4 * np.abs(w[:, 0])).mean()
    assert frequency == pytest.approx(theory.orth_a1_violation(0.4, 1), abs=6 * 0.5 / 632)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_lemma_10_is_the_product_of_one_factor_for_each_entry(n):
    delta, theta = 0.7 / n, 1.3
    s = np.full(n, 1 / n + delta / (n - 1))
    s[-1] = 1 / n - delta
    factors = 1 + 2 * theta * s
    expected = 1 / (factors[-1] * np.sqrt(factors.prod()))
    point = (torch.tensor(v, dtype=torch.float64) for v in (delta, theta))
    assert float(theory.orth_lemma_10(*point, n)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_constant_of_lemma_7_bounds_the_noise_of_orthogonal_samples(n):
    """Attained in the mean square by two samples, and not by a third for three and five."""
    rows = STREAM.numpy("lemma 7", n).standard_normal((4000, 30, n))
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    squares = 30 * (1 / n - np.linalg.eigvalsh(rows.mT @ rows / 30)[:, 0]) ** 2
    error, bound = 6 * squares.std() / np.sqrt(len(squares)), theory.constant_of_lemma_7(n) ** 2
    assert bound / 3 - error < squares.mean() < bound + error
    if n == 2:
        assert squares.mean() > bound - error


def test_repaired_stability_is_the_sum_of_theorem_5():
    """A path on which every layer is an equality of Thm. 5 with the constants of the lemmas."""
    n, d, depth, v0 = 3, 90_000, 40, 0.3
    contraction, noise = theory.constant_of_lemma_8(n), theory.constant_of_lemma_7(n)
    v = [v0]
    for _ in range(depth):
        v.append(theory.orth_theorem_5(v[-1], n, d, contraction, noise))
    path = np.array(v)
    summands = path * (1 / n - path)
    dropped = summands[0] + theory.orth_theorem_5(path[-1], n, d, contraction, noise) / contraction
    bound = theory.orth_stability_repaired(v0, depth, n, d)
    assert summands[1:].mean() == pytest.approx(bound - dropped / depth, rel=1e-12)
    for n in range(2, 30):
        repaired = theory.orth_stability_repaired([0.0, 1 / n], [[1], [50]], n, d)
        assert np.all(repaired < theory.orth_stability([0.0, 1 / n], [[1], [50]], d))


def test_lemma_9_against_closed_forms():
    mean = float(np.e * exp1(1.0))  # of 1 / (1 + E), E exponential

    def constant(t1, t2):
        return torch.exp(t1 + t2) / (1 - t1)

    def share(t1, t2):
        return torch.exp(t1) / (1 - t1 - t2)

    assert theory.orth_lemma_9(constant) == pytest.approx(mean, rel=1e-9)
    assert theory.orth_lemma_9(share) == pytest.approx(1 - mean, rel=1e-9)


def test_lemma_9_gives_the_expected_spectrum():
    s = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)

    def mgf(t1, t2):
        t = t1[:, None] * s + t2[:, None] * torch.tensor([0.0, 0.0, 0.1])
        return (1 - 2 * t).rsqrt().prod(-1)

    assert theory.orth_lemma_9(mgf) == pytest.approx(theory.expected_spectrum(s)[-1], rel=1e-6)


@pytest.mark.parametrize("n", [2, 5])
def test_lemma_10_integrates_to_the_share_of_the_smallest(n):
    delta = 0.3 / n
    s = np.full(n, 1 / n + delta / (n - 1))
    s[-1] = 1 / n - delta

    def g(theta):
        point = (torch.tensor(float(v), dtype=torch.float64) for v in (delta, theta))
        return float(theory.orth_lemma_10(*point, n))

    share = float(mpmath.quad(g, [0, 1, 10, 100, 1000, 10**5, mpmath.inf]))
    assert share * s[-1] == pytest.approx(theory.expected_spectrum(s)[-1], rel=1e-3)
    with pytest.raises(ValueError, match="n must be at least 2"):
        theory.orth_lemma_10(torch.tensor(0.0), torch.tensor(1.0), 1)
