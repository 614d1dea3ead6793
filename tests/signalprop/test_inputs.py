import numpy as np
import pytest
import torch

import signalprop as sp
from signalprop import inputs

STREAM = sp.Stream(0)


def test_deterministic_inputs():
    assert inputs.diagonal([1, 1e-6])(3, 2, STREAM).tolist() == [[[1, 0, 0], [0, 1e-6, 0]]] * 2
    assert inputs.orthogonal_samples(2)(2, 1, STREAM)[0].tolist() == [[1, 0], [0, 1]]
    x = inputs.nearly_parallel(3, 0.25)(4, 1, STREAM)[0]
    assert x.tolist() == [[1, 0, 0, 0], [0.75, 0.25, 0, 0], [0.75, 0, 0.25, 0]]


@pytest.mark.parametrize("make", [inputs.gaussian_samples, inputs.collinear_features])
def test_runs_have_their_own_numbers(make):
    many, few = make(3)(5, 4, STREAM), make(3)(5, 2, STREAM)
    torch.testing.assert_close(many[:2], few, rtol=0, atol=0)
    assert not torch.equal(many[0], many[1])


def test_collinear_features_are_nearly_so():
    cosines = sp.cosine_similarity(inputs.collinear_features(20)(50, 1, STREAM)[0].mT)
    assert 1 - 1e-9 < float(cosines.min()) < 1


@pytest.mark.parametrize(("rho", "n"), [(-1, 2), (0, 2), (0.3, 2), (1, 2), (-0.25, 5), (0.9, 5)])
def test_correlation_is_exact_and_samples_have_mean_square_one(rho, n):
    x = inputs.with_correlation(rho, n)(7, 3, STREAM)
    expected = np.full((3, n, n), rho)
    expected[:, range(n), range(n)] = 1
    np.testing.assert_allclose(sp.gram(x) / 7, expected, atol=1e-12)
    assert inputs.with_correlation(0.5, 1)(7, 1, STREAM).shape == (1, 1, 7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: inputs.diagonal([]), "entries"),
        (lambda: inputs.diagonal([np.nan]), "entries"),
        (lambda: inputs.gaussian_samples(0), "n must be"),
        (lambda: inputs.nearly_parallel(2, np.inf), "eps"),
        (lambda: inputs.with_correlation(-0.6, 3), "rho must lie"),
        (lambda: inputs.with_correlation(np.nan), "rho must lie"),
        (lambda: inputs.orthogonal_samples(4)(3, 1, STREAM), "width must be at least 4"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
