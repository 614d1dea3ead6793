import mpmath
import numpy as np
import pytest

import signalprop as sp
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_orthogonality")
NORMALIZE = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")


@pytest.mark.parametrize(
    "s", [[0.5, 0.5], [0.97, 0.02, 0.01], [0.4, 0.3, 0.2, 0.1], [1 - 1e-9, 1e-9]]
)
def test_expected_spectrum_against_mpmath(s):
    def share(i):
        def integrand(t):
            product = mpmath.fprod(mpmath.sqrt(1 + 2 * t * mpmath.mpf(v)) for v in s)
            return s[i] / ((1 + 2 * t * mpmath.mpf(s[i])) * product)

        return mpmath.quad(integrand, [0, *(10**k for k in range(0, 22, 3)), mpmath.inf])

    expected = [float(share(i)) for i in range(len(s))]
    np.testing.assert_allclose(theory.expected_spectrum(s), expected, rtol=1e-6)


def test_expected_spectrum_against_sampling_and_its_symmetries():
    s = np.array([0.6, 0.25, 0.1, 0.05])
    w = STREAM.numpy("w").standard_normal((200_000, 4)) ** 2 * s
    samples = w / w.sum(axis=1, keepdims=True)
    error = samples.std(axis=0) / np.sqrt(len(samples))
    p = theory.expected_spectrum(s)
    assert np.all(np.abs(samples.mean(axis=0) - p) < 6 * error)
    np.testing.assert_allclose(theory.expected_spectrum(7 * s[::-1]), p[::-1], rtol=1e-13)
    np.testing.assert_allclose(theory.expected_spectrum(np.stack([s, s]))[1], p)


def test_expected_spectrum_at_the_ends():
    np.testing.assert_array_equal(theory.expected_spectrum([0.3]), [1.0])
    np.testing.assert_allclose(theory.expected_spectrum([1.0, 0.0, 0.0]), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(theory.expected_spectrum([1, 1, 0]), [0.5, 0.5, 0], rtol=1e-12)
    for bad in ([], [0.0, 0.0], [-0.1, 1.1], [np.nan, 1.0], 1.0):
        with pytest.raises(ValueError, match="spectrum must be non-negative"):
            theory.expected_spectrum(bad)


def test_infinite_width_path_is_the_limit_of_wide_chains():
    s, d = np.array([0.8, 0.15, 0.05]), 4000
    chain = sp.Chain(d, layers=[NORMALIZE])
    h = chain.run(np.diag(np.sqrt(s)), 3, 40, STREAM.child("wide")).states([1, 2, 3])
    path = theory.infinite_width_path(s, 3)
    np.testing.assert_allclose(path[0], s)
    squares = np.linalg.eigvalsh(sp.gram(h).mean(0).numpy())[:, ::-1]
    np.testing.assert_allclose(squares, path[1:], atol=5 / np.sqrt(40 * d))
    # deep in the chain the gap shrinks by n / (n + 2) a layer
    gap = theory.gap_of_spectrum(theory.infinite_width_path(s, 30))
    assert gap[-1] / gap[-2] == pytest.approx(theory.contraction_at_orthogonality(3), rel=1e-4)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_gap_of_spectrum_is_the_metric(n):
    s = sp.spectra.varied(n, 20, STREAM)
    h = np.sqrt(s)[..., None] * np.eye(n, n + 1)
    np.testing.assert_allclose(theory.gap_of_spectrum(s), sp.orthogonality_gap(h), atol=1e-14)
    rank_one = np.eye(1, n)
    assert theory.gap_of_spectrum(rank_one)[0] == pytest.approx(theory.largest_gap(n), abs=1e-14)


@pytest.mark.parametrize("n", [2, 4])
def test_stationary_gap_is_that_of_wide_chains(n):
    d, runs = 400, 3000
    chain = sp.Chain(d, layers=[NORMALIZE])
    h = chain.run(sp.inputs.orthogonal_samples(n), 15, runs, STREAM.child("stationary", n)).final()
    gap = sp.orthogonality_gap(h).numpy()
    moments = {"mean": gap, "mean square": gap**2, "mean log": np.log(gap)}
    for moment, values in moments.items():
        error = values.std() / np.sqrt(runs)
        expected = theory.stationary_gap(n, d, moment)
        # leading order: relative corrections of order n / d
        assert abs(values.mean() - expected) < 6 * error + 2 * n / d * abs(expected)
    with pytest.raises(ValueError, match="moment"):
        theory.stationary_gap(n, d, "median")


def test_theorem_1_and_its_repair_are_as_printed():
    alpha, depth, n, d = 0.3, 7, 4, 10**6
    printed = 2 * (1 - 0.2) ** 7 + 12 / (0.3 * 1000)
    assert theory.orth_theorem_1(alpha, depth, n, d) == pytest.approx(printed)
    repaired = 2 * (1 - 0.06) ** 7 + 12 / (0.09 * 1000)
    assert theory.orth_theorem_1_repaired(alpha, depth, n, d) == pytest.approx(repaired)
    for bad in (0.0, 0.6):
        with pytest.raises(ValueError, match="alpha must lie in"):
            theory.orth_theorem_1(bad, depth, n, d)
