"""Logarithms of volumes against the products themselves and against known growth rates."""

import numpy as np
import pytest

import signalprop as sp
from signalprop.theory import lyapunov_exponents


def product(width, depth, run, seed, law):
    """The product of the same weights, multiplied out."""
    generator = sp.Stream(seed).child("weights").numpy(run)
    weights = law.sample(width, width, [generator] * depth).numpy()
    return np.linalg.multi_dot([*weights[::-1], np.eye(width)])


@pytest.mark.parametrize("width", [2, 3, 6])
@pytest.mark.parametrize("law", [sp.gaussian(), sp.uniform()])
def test_volumes_are_those_of_the_product(width, law):
    volumes = sp.log_volumes(width, 5, runs=3, seed=4, weights=law).values
    for run in range(3):
        s = np.linalg.svd(product(width, 5, run, 4, law), compute_uv=False) ** 2
        e1, e2 = s.sum(), (s.sum() ** 2 - (s**2).sum()) / 2
        assert np.allclose(volumes[run, 5], np.log([e1, e2]), atol=1e-9)


def test_identity_before_the_first_layer():
    volumes = sp.log_volumes(4, 0).values
    assert volumes.shape == (1, 1, 2), "one run, if no number is given"
    assert np.allclose(volumes, np.log([4, 6]))
    assert np.array_equal(sp.log_volumes(3, 2).values, sp.log_volumes(3, 2, seed=0).values)


def test_orthogonal_weights_keep_all_volumes():
    volumes = sp.log_volumes(4, 50, runs=2, weights="orthogonal").values
    assert np.allclose(volumes, np.log([4, 6]), atol=1e-12)
    assert volumes.shape == (2, 51, 2)
    assert sp.log_volumes(4, 50).layers.tolist() == list(range(51))


def test_areas_of_two_dimensions_are_determinants():
    """For d = 2 the area is |det|, whose log is a sum of independent terms: exact at any depth."""
    law, depth = sp.gaussian(), 2000
    volumes = sp.log_volumes(2, depth, seed=7).values
    generator = sp.Stream(7).child("weights").numpy(0)
    weights = law.sample(2, 2, [generator] * depth).numpy()
    _, log_det = np.linalg.slogdet(weights)
    assert np.isclose(volumes[0, -1, 1], 2 * log_det.sum(), rtol=1e-10)


def test_growth_rates_are_the_lyapunov_exponents():
    depth, runs, width = 200, 300, 3
    values = sp.log_volumes(width, depth, runs, seed=1).values
    rates = (values[:, -1] - values[:, 50]) / (depth - 50)
    expected = 2 * np.cumsum(lyapunov_exponents(width))[:2]
    error = rates.std(axis=0, ddof=1) / np.sqrt(runs)
    assert np.all(np.abs(rates.mean(axis=0) - expected) < 5.5 * error)


def test_a_run_does_not_depend_on_the_others():
    assert np.array_equal(sp.log_volumes(3, 9, 1).values, sp.log_volumes(3, 9, 4).values[:1])


@pytest.mark.parametrize(
    "bad", [{"width": 1}, {"depth": -1}, {"runs": 0}, {"weights": "no such law"}]
)
def test_bad_arguments_are_named(bad):
    name = next(iter(bad))
    with pytest.raises(ValueError, match=name):
        sp.log_volumes(**{"width": 3, "depth": 2} | bad)


@pytest.mark.parametrize("variance", [1e-300, 1e300])
def test_weights_of_any_size_have_volumes(variance):
    plain, scaled = (
        sp.log_volumes(3, 6, 2, weights=sp.gaussian(v)).values for v in (1.0, variance)
    )
    layers = np.arange(7)[:, None] * np.log(variance) * np.array([1, 2])
    np.testing.assert_allclose(scaled, plain + layers, rtol=1e-12)


def test_singular_weights_have_no_area_from_then_on():
    law = sp.weights.own(lambda n, m, _: np.diag([1.0, 0.0]))
    values = sp.log_volumes(2, 3, weights=law).values[0]
    np.testing.assert_allclose(values[1:], [[0, -np.inf]] * 3, atol=1e-15)
    nothing = sp.weights.own(lambda n, m, _: np.zeros((n, m)))
    assert (sp.log_volumes(2, 3, weights=nothing).values[0, 1:] == -np.inf).all()
