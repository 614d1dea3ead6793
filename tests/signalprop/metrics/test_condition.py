import warnings

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from signalprop import condition_number, isometry, isometry_gap
from signalprop.metrics import gram_condition_number, gram_isometry_gap


@given(st.integers(1, 12), st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_gap_is_the_definition(n, extra, seed):
    x = np.random.default_rng(seed).standard_normal((n, n + extra))
    gram = x @ x.T
    condition = np.linalg.cond(x) ** 2
    definition = np.log(np.trace(gram) / n) - np.linalg.slogdet(gram)[1] / n
    tolerance = 1e-12 + 1e-15 * condition  # the definition through the Gram loses that much
    assert isometry_gap(x) == pytest.approx(definition, abs=tolerance)
    assert isometry(x) == pytest.approx(np.exp(-definition), abs=tolerance)
    assert condition_number(x) == pytest.approx(condition, rel=1e-9)


@pytest.mark.parametrize("eps", [1e-12, 1e-9, 1e-6, 1e-3])
def test_gap_near_isometry_keeps_its_digits(eps):
    with mpmath.workdps(60):
        big = mpmath.mpf(1 + eps) ** 2
        exact = float(mpmath.log((1 + big) / 2) - mpmath.log(big) / 2)
    # One rounding of a singular value moves the gap by eps * 1e-16.
    assert isometry_gap(np.diag([1.0, 1.0 + eps])) == pytest.approx(exact, abs=1e-15 * eps)


def test_gap_of_widely_spread_spectra():
    sigma = 10.0 ** -np.arange(0, 13, 2)
    exact = np.log((sigma**2).mean()) - 2 * np.log(sigma).mean()
    assert isometry_gap(np.diag(sigma)) == pytest.approx(exact, rel=1e-13)


def test_large_batches_do_not_overflow():
    x = 1e3 * np.random.default_rng(0).standard_normal((500, 800))
    assert 0 < isometry_gap(x) < 1


@pytest.mark.parametrize(
    "x", [np.ones((2, 2)), np.eye(3, 2), [[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]], np.eye(4)[:, :3]]
)
def test_dependent_samples_have_no_volume(x):
    assert isometry(x) == 0
    assert isometry_gap(x) == np.inf
    assert condition_number(x) == np.inf


def test_the_gram_forms_agree_with_the_sample_forms():
    x = np.random.default_rng(1).standard_normal((3, 4, 9))
    gram = x @ x.swapaxes(-2, -1)
    np.testing.assert_allclose(gram_isometry_gap(gram), isometry_gap(x), rtol=1e-10)
    np.testing.assert_allclose(gram_condition_number(gram), condition_number(x), rtol=1e-10)


@pytest.mark.parametrize(
    ("m", "message"),
    [
        (np.zeros((2, 2)), "zero"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (np.diag([1.0, -1.0]), "positive semi-definite"),
        (np.ones((2, 3)), r"\(\.\.\., n, n\)"),
    ],
)
def test_bad_gram_matrices(m, message):
    with pytest.raises(ValueError, match=message):
        gram_isometry_gap(m)


def test_a_zero_batch_has_no_isometry():
    with pytest.raises(ValueError, match="zero"):
        isometry_gap(np.zeros((2, 2)))


def test_gradient():
    x = torch.randn(2, 3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(isometry_gap, x.requires_grad_())


@pytest.mark.parametrize(("off", "good"), [(0.95, True), (1.05, False)])
def test_rounding_may_make_an_eigenvalue_slightly_negative(off, good):
    m = np.diag([1.0, -off * 1e3 * np.finfo(float).eps])
    if good:
        assert gram_condition_number(m) == np.inf
    else:
        with pytest.raises(ValueError, match="positive semi-definite"):
            gram_condition_number(m)


@pytest.mark.parametrize("shape", [(2, 90), (3, 3)])
@pytest.mark.parametrize(("share", "dependent"), [(0.9, True), (1.1, False)])
def test_the_larger_dimension_says_what_rounding_may_leave(shape, share, dependent):
    """Singular values below max(n, d) eps of the largest count as zero, those above do not."""
    x = 4 * np.eye(*shape)
    x[shape[0] - 1, shape[0] - 1] *= share * max(shape) * np.finfo(float).eps
    assert (isometry(x) == 0) == (isometry_gap(x) == np.inf) == dependent
    assert (condition_number(x) == np.inf) == dependent
    gram = np.diag([1.0, 0.5, share * 3 * np.finfo(float).eps])
    assert (gram_condition_number(gram) == np.inf) == dependent


def test_a_symmetric_batch_gives_a_warning():
    gram = np.array([[2.0, 1.0], [1.0, 3.0]])
    with pytest.warns(UserWarning, match="take gram_condition_number") as warned:
        squared = condition_number(gram)
    assert warned[0].filename == __file__
    np.testing.assert_allclose(squared, gram_condition_number(gram) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        condition_number(np.array([[2.0, 1.0], [1.5, 3.0]]))
        condition_number(np.ones((1, 1)))
