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
        with pytest.raises(ValueError, match="spectrum must be"):
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


STREAM = Stream(0).child("test_contraction")


@pytest.mark.parametrize("n", [2, 16, 50, 200, 1000])
def test_expected_spectrum_is_exact_to_rounding_at_any_size(n):
    flat = np.full(n, 1 / n)
    np.testing.assert_allclose(theory.expected_spectrum(flat), flat, rtol=1e-13)
    s = STREAM.numpy("sum", n).dirichlet(np.full(n, 0.5))
    assert theory.expected_spectrum(s).sum() == pytest.approx(1, abs=1e-13)
