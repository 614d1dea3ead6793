import numpy as np
import pytest

import signalprop as sp
from signalprop import theory


def test_contribution_is_the_sum_over_all_sequences():
    n, size, layers = 7, 3, 6
    terms = [
        np.prod([size / n if bit == "1" else (n - size) / n for bit in f"{k:05b}"]) ** 2
        for k in range(2 ** (layers - 1))
    ]
    expected = ((n - size) / n) ** 2 * sum(terms)
    assert theory.dec_contribution(n, size, layers) == pytest.approx(expected)
    assert theory.dec_contribution(n, size, layers, height=3.0) == pytest.approx(9 * expected)


def test_growth_is_largest_for_the_most_unbalanced_splits():
    n = 9
    growth = theory.dec_growth(n, np.arange(1, n))
    assert sorted(np.argsort(growth)[-2:] + 1) == [1, n - 1]


def test_equation_62_is_its_sum_up_to_a_term_that_dies_out():
    """Eq. 61 from T = 2, a geometric sum: the bound times ``1 - (small / large)^(T - 1)``."""
    for n in (4, 5, 9, 39):
        large, small = ((n - 1) / n) ** 2, (4 + (n - 2) ** 2) / n**2
        for layers in (2, 5, 30, 100):
            s = np.arange(1, layers)
            total = ((n - 2) / n) ** 2 * (large**s * small ** (layers - 1 - s)).sum()
            bound = theory.dec_equation_62(n, layers)
            assert total == pytest.approx(bound * (1 - (small / large) ** (layers - 1)), rel=1e-11)
            assert theory.dec_equation_62(n, layers, height=3.0) == pytest.approx(9 * bound)


def tree_layer(n, upper, lower):
    """Features (n, 4) one layer after one neuron of each split, for weights 1 and -1."""
    first, last = np.eye(n)[0] * np.sqrt(upper), (1 - np.eye(n)[-1]) * np.sqrt(lower)
    centred = [sign * (column - column.mean()) for column in (first, last) for sign in (1, -1)]
    return np.maximum(np.stack(centred, axis=1), 0)


@pytest.mark.parametrize(("n", "upper", "lower"), [(3, 1.0, 1.0), (5, 2.0, 0.7), (9, 0.1, 3.0)])
def test_norms_and_angles_of_the_tree_are_those_of_its_features(n, upper, lower):
    x = tree_layer(n, upper, lower)
    squares = (x**2).sum(axis=1)
    np.testing.assert_allclose(theory.dec_tree_norms(n, upper, lower), squares[[0, 1, -1]])
    angles = sp.angles(x)[1, [0, -1]]
    np.testing.assert_allclose(theory.dec_tree_angles(n, upper, lower), angles, rtol=1e-12)


def test_theorem_11_constants():
    assert theory.dec_theorem_11_norms(np.array([3, 5])).tolist() == [3.0, 1.0]
    angle = theory.dec_theorem_11_angle(12)
    assert np.pi / 2 - angle == pytest.approx(np.sqrt(2 * np.pi) / 10)
    assert theory.dec_theorem_11_angle(12, constant=np.sqrt(2) * np.pi) < angle


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.dec_equation_62([4, 3], 5),
        lambda: theory.dec_theorem_11_norms(2),
        lambda: theory.dec_theorem_11_angle([3, 1]),
    ],
)
def test_small_batches_are_refused(call):
    with pytest.raises(ValueError, match="batch must"):
        call()
