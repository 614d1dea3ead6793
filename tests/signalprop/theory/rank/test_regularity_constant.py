"""The regularity constant of spectra, from matrices and from exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard

import signalprop as sp
from signalprop import theory

spectra = st.lists(st.integers(0, 20), min_size=1, max_size=6).filter(any)


@given(spectra)
def test_deficit_and_constant_add_up_to_one(values):
    """In fractions: |l|_2^4 / (|l|_1 |l|_3^3)."""
    first, second, third = (sum(v**k for v in values) for k in (1, 2, 3))
    exact = Fraction(second**2, first * third)
    assert theory.rank_regularity(values) == pytest.approx(float(exact), rel=1e-12)
    assert theory.rank_regularity_deficit(values) == pytest.approx(1 - float(exact), abs=1e-12)


@given(spectra)
def test_bound_of_example_17(values):
    first, second, top = sum(values), sum(v**2 for v in values), max(values)
    exact = Fraction(second**2, top**3 * first)
    assert theory.rank_example_17(values) == pytest.approx(float(exact), rel=1e-12)
    assert theory.rank_regularity(values) <= theory.rank_example_17(values) * (1 + 1e-12)


def test_multiplicities():
    assert theory.rank_regularity([5, 1], [1, 3]) == theory.rank_regularity([5, 1, 1, 1])
    assert theory.rank_example_17([5, 1], [1, 3]) == theory.rank_example_17([5, 1, 1, 1])


def test_a_matrix_of_equal_rows_has_the_constant_of_its_spectrum():
    values = np.array([3, 2, 1.5, 1, 0.5, 0, 0, 0])
    h = hadamard(8) * np.sqrt(values)
    diagonal, cube = sp.metrics.regularity_terms(h.T)
    assert theory.rank_regularity(values) == pytest.approx(float(diagonal / cube))


def test_bad_spectra():
    with pytest.raises(ValueError, match="values must be non-negative eigenvalues"):
        theory.rank_regularity([1.0, -1.0])
    with pytest.raises(ValueError, match="not all zero"):
        theory.rank_example_17([0.0])
