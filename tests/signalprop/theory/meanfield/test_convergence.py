import numpy as np
import pytest

from signalprop import theory


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


def test_displays_at_a_point():
    """Exact small cases, in which each factor of each display shows."""
    e = np.e
    # ln(d / n) = 4, n / sqrt d = 2 / sqrt(2 e^4)
    noise = 2 / np.sqrt(2 * e**4)
    found = theory.mf_theorem_3_2(2 * e**4, 2, depth=[2, 6], alpha=0.75, condition=3.0)
    np.testing.assert_allclose(found, 3 * (np.array([1 / 4, 1 / 64]) + noise * np.sqrt(4 / 0.75)))
    found = theory.mf_equation_3_9(400, 3, depth=[2, 6], alpha=0.75)
    np.testing.assert_allclose(found, [1 / 4 + 0.15, 1 / 64 + 0.15])
    found = theory.mf_lemma_3_3(3 * e**2, 3, inverse_norm=5.0)
    assert found == pytest.approx(5 * 9 * 2 / (3 * e**2))
    assert theory.mf_equation_3_8(0.3, 0.25) == pytest.approx(1.2)
    np.testing.assert_allclose(
        theory.mf_lemma_b_3([1 / e, 0.6, 1.0]), [e**-2, 0.1838972, np.inf], rtol=1e-6
    )
    assert theory.mf_lemma_b_4(1 / e, 0.25) == pytest.approx(4 / e**2)
    found = theory.mf_lemma_b_5(1 / e, 0.25, depth=[0, 2])
    np.testing.assert_allclose(found, [1 + 4 / e**2, 9 / 16 + 4 / e**2])
    found = theory.mf_theorem_b_6(2.0, [0, 2], 0.25, 1 / e, norm=3.0)
    np.testing.assert_allclose(found, [9 / 4 + 1 / e**2, 81 / 64 + 1 / e**2])
    assert theory.mf_lemma_b_7(np.array([50.0, 4.0]), 0.5).tolist() == [0.25, 0.02]


def test_equation_3_8_is_a_geometric_series_and_attained_by_two_states():
    """A chain that mixes at the rate alpha: the distance to stationarity is step / alpha."""
    p, q = 0.3, 0.1
    law, stationary = np.array([1.0, 0.0]), np.array([q, p]) / (p + q)
    step = np.abs(law @ np.array([[1 - p, p], [q, 1 - q]]) - law).sum() / 2
    distance = np.abs(law - stationary).sum() / 2
    assert theory.mf_equation_3_8(step, alpha=p + q) == pytest.approx(distance)


def test_alpha_may_be_1_and_width_may_be_batch():
    assert theory.mf_equation_3_9(100, 10, depth=1, alpha=1.0) == 1.0
    assert theory.mf_lemma_3_3(10, 10, 1.0) == 0.0


def test_arrays_broadcast():
    widths, depths = np.array([100, 400]), np.arange(5)[:, None]
    assert theory.mf_theorem_3_2(widths, 10, depths, 0.5, 1.0).shape == (5, 2)
    simple = theory.mf_equation_3_9(widths, 10, 10**6, 0.5)
    np.testing.assert_allclose(simple, [1.0, 0.5])
    np.testing.assert_array_equal(theory.mf_lemma_b_3(np.array([1.0, 3.0])), [np.inf, np.inf])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.mf_theorem_3_2(100, 10, 5, 0.0, 1.0), "alpha"),
        (lambda: theory.mf_equation_3_9(100, 10, 5, [0.5, -0.1]), "alpha"),
        (lambda: theory.mf_lemma_3_3(np.array([100, 9]), 10, 1.0), "width"),
        (lambda: theory.mf_lemma_b_3([0.5, -0.5]), "epsilon"),
        (lambda: theory.mf_theorem_3_2(10, 100, 5, 0.5, 1.0), "width"),
        (lambda: theory.mf_lemma_3_3(10, 100, 1.0), "width"),
        (lambda: theory.mf_lemma_b_3(0.0), "epsilon"),
        (lambda: theory.mf_equation_3_8(0.1, 2.0), "alpha"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
