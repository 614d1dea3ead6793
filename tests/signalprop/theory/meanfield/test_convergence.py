import numpy as np
import pytest

from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_meanfield")


def test_linear_moments_are_those_of_wishart_products():
    width, n, depth, runs = 20, 3, 6, 20_000
    x = np.diag([1.0, 0.5, 2.0])
    grams = np.repeat((x.T @ x)[None], runs, axis=0)
    generator = STREAM.numpy("wishart")
    for _ in range(depth):
        h = generator.normal(size=(runs, width, n)) @ np.linalg.cholesky(grams).mT
        grams = h.mT @ h / width
    gram = x.T @ x
    moments = theory.mf_linear_moments((gram**2).sum(), np.trace(gram) ** 2, width, depth)
    squares = (grams**2).sum(axis=(1, 2))
    traces = np.trace(grams, axis1=1, axis2=2) ** 2
    for samples, expected in zip((squares, traces), moments[-1], strict=True):
        assert abs(samples.mean() - expected) < 6 * samples.std() / np.sqrt(runs)
    distance = ((grams - gram) ** 2).sum(axis=(1, 2))
    expected = moments[-1, 0] - moments[0, 0]
    assert abs(distance.mean() - expected) < 6 * distance.std() / np.sqrt(runs)


def test_bounds_are_composed_as_printed():
    eps, alpha = theory.mf_lemma_b_2(width=10**6, batch=5, growth=1.0, inverse_norm=2.0), 0.3
    assert eps == pytest.approx(0.01)
    surrogate = theory.mf_lemma_b_4(eps, alpha)
    assert surrogate == pytest.approx(1e-4 * np.log(100) / 0.3)
    assert theory.mf_lemma_b_5(eps, alpha, 7) == pytest.approx(surrogate + 0.7**7)
    tail = theory.mf_theorem_b_6(2.0, 7, alpha, eps, norm=3.0)
    assert tail == pytest.approx((9 * 0.7**7 + surrogate) / 4)
    # Theorem 3.2 is the square root of the tail's width, up to constants: same exponents.
    for depth in (0, 3):
        bound = theory.mf_theorem_3_2(10**6, 5, depth, alpha, condition=2.0)
        noise = 5 / 1000 * np.sqrt(np.log(2 * 10**5) / alpha)
        assert bound == pytest.approx(2 * (0.7 ** (depth / 2) + noise))
    assert theory.mf_lemma_3_3(100, 10, 2.0) == pytest.approx(2 * np.log(10))
    assert theory.mf_lemma_b_7(3.0, 0.5) == pytest.approx(0.015)


def test_arrays_broadcast():
    widths, depths = np.array([100, 400]), np.arange(5)[:, None]
    assert theory.mf_theorem_3_2(widths, 10, depths, 0.5, 1.0).shape == (5, 2)
    simple = theory.mf_equation_3_9(widths, 10, 10**6, 0.5)
    np.testing.assert_allclose(simple, [1.0, 0.5])
    np.testing.assert_array_equal(theory.mf_lemma_b_3(np.array([1.0, 3.0])), [np.inf, np.inf])


def test_the_printed_tail_is_stronger_than_the_one_derived():
    t, width = 5.0, 100
    derived = np.exp(-(t**2) / (1 + np.sqrt(2) * t / (3 * np.sqrt(width))))
    assert theory.mf_equation_b_14(t, width) < derived


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.mf_theorem_3_2(100, 10, 5, 0.0, 1.0), "alpha"),
        (lambda: theory.mf_theorem_3_2(10, 100, 5, 0.5, 1.0), "width"),
        (lambda: theory.mf_lemma_3_3(10, 100, 1.0), "width"),
        (lambda: theory.mf_lemma_b_3(0.0), "epsilon"),
        (lambda: theory.mf_equation_3_8(0.1, 2.0), "alpha"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
