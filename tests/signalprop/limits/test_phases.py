"""Phase diagrams against the length map, covariances by quadrature and closed forms."""

import math

import numpy as np
import pytest
import torch

from signalprop import activations as A
from signalprop.limits.lengths import LengthMap
from signalprop.limits.phases import ANGLES, MeanField, _Octaves, _slopes_by_angle


@pytest.mark.parametrize("phi", [A.tanh, A.erf, A.selu], ids=lambda phi: phi.name)
def test_points_are_those_of_the_maps(phi):
    w, b = np.array([0.5, 1.1, 2.0]), np.array([[0.05], [0.4]])
    if phi is A.tanh:
        w[2] = 6.0
    if phi is A.selu:
        w = w / 2
    field = MeanField(phi, weight_variance=w, bias_variance=b)
    assert field.length.shape == field.depth_scale.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        layer = LengthMap(phi, float(w[j]), float(b[i, 0]))
        q, c = layer.fixed_point(), field.correlation[i, j]
        assert field.length[i, j] == pytest.approx(q, rel=1e-12)
        slope = math.exp(-1 / field.length_depth_scale[i, j])
        assert slope == pytest.approx(layer.derivative(q), rel=1e-9)
        assert layer.correlation(q, q, c) == pytest.approx(c, abs=1e-11)
        h = 1e-4
        if c < 1:
            ahead, back = (layer.correlation(q, q, c + s) for s in (h, -h))
            slope = (ahead - back) / (2 * h)
            assert math.exp(-1 / field.depth_scale[i, j]) == pytest.approx(slope, rel=1e-6)
        else:
            assert math.exp(-1 / field.depth_scale[i, j]) == pytest.approx(field.chi[i, j])
    assert (field.correlation < 1).any()


def test_erf_in_closed_form():
    """K' of erf at 1 and length q is 4 / (pi sqrt(1 + 4 q))."""
    field = MeanField(A.erf, np.linspace(0.3, 5, 20), 0.1)
    exact = np.linspace(0.3, 5, 20) * 4 / math.pi / np.sqrt(1 + 4 * field.length)
    np.testing.assert_allclose(field.chi, exact, rtol=1e-12)


def test_relu_is_critical_where_he_weights_are_and_endless_beyond():
    field = MeanField(A.relu, weight_variance=np.array([1.0, 2.0, 3.0]))
    assert field.length.tolist() == [0.0, 1.0, math.inf]
    np.testing.assert_allclose(field.chi, [0.5, 1.0, math.nan], rtol=1e-12)
    np.testing.assert_allclose(field.correlation, [1, 1, math.nan])
    np.testing.assert_allclose(field.depth_scale, [1 / math.log(2), math.inf, math.nan], rtol=1e-9)


def test_odd_activations_without_biases_come_to_orthogonal():
    field = MeanField(A.tanh, weight_variance=np.array([1.0, 1.0001, 1.5]))
    assert field.length[0] < 1e-11
    assert field.length[1] == pytest.approx(0.5e-4, rel=1e-3)
    np.testing.assert_allclose(field.correlation, [1, 0, 0], atol=1e-10)


def test_chaos_just_above_the_edge():
    """1 - c* is of the order of chi - 1 and keeps its digits."""
    w = np.array([1.75, 1.7501, 1.76])
    field = MeanField(A.tanh, w + 0.0, 0.05)
    for slope, c, weight, q in zip(field.chi, field.correlation, w, field.length, strict=True):
        if slope > 1:
            residual = LengthMap(A.tanh, weight, 0.05).covariance(q, q, c) / q - c
            assert abs(residual) < 1e-12


def test_kinks_elsewhere_than_at_zero():
    phi = A.norm_relu()
    field, layer = MeanField(phi, 1.05, 0.01), LengthMap(phi, 1.05, 0.01)
    q, c = layer.fixed_point(), float(field.correlation)
    assert float(field.length) == pytest.approx(q, rel=1e-12)
    assert layer.correlation(q, q, c) == pytest.approx(c, abs=1e-9)


def test_slopes_of_a_curved_function_whose_kink_is_elsewhere():
    """The slope of its square is a ramp, whose covariances have a closed form."""
    phi = A.Activation("late square", lambda x: torch.relu(x - 0.5) ** 2, (0.5,))
    ramp = LengthMap(A.Activation("late ramp", lambda x: 2 * torch.relu(x - 0.5), (0.5,)))
    series = _slopes_by_angle(phi, torch.tensor([2.0], dtype=torch.float64))[0, :ANGLES]
    for angle in (0.0, 0.3, 1.2):
        measured = np.polynomial.chebyshev.chebval(4 * angle / math.pi - 1, series.numpy())
        assert measured == pytest.approx(ramp.covariance(2.0, 2.0, math.cos(angle)), rel=1e-9)


def test_kinds_and_bad_input():
    assert isinstance(MeanField(A.tanh, torch.ones(2), 0.1).chi, torch.Tensor)
    assert MeanField(A.tanh, 1.0, 0.1).chi.shape == ()
    assert repr(MeanField(A.tanh, np.ones(3))) == "MeanField(tanh, (3,) points)"
    with pytest.raises(ValueError, match="bias_variance must not be negative"):
        MeanField(A.tanh, 1.0, -0.1)
    with pytest.raises(ValueError, match=r"weight_variance must hold a number .* got \(0,\)"):
        MeanField(A.tanh, [], 0.1)
    with pytest.raises(ValueError, match="sign has jumps"):
        MeanField(A.sign)


def test_lengths_are_found_within_forty_octaves():
    """Without weights the length is the variance of the biases."""
    biases = 2.0 ** np.array([-39.9, -40.1, 39.9, 40.1])
    found = MeanField(A.relu, 0.0, biases).length
    np.testing.assert_allclose(found, [biases[0], 0, biases[2], np.inf], rtol=1e-9)


def test_series_by_octaves_are_the_functions_and_their_slopes_or_are_refused():
    q = torch.tensor([0.3, 1.0, 1.9999, 2.0, 5.0], dtype=torch.float64)
    octaves = _Octaves(lambda v: 1e-6 * torch.stack([v**2, 1 / v], dim=-1))
    exact, slope = torch.stack([q**2, 1 / q], dim=-1), torch.stack([2 * q, -(q**-2)], dim=-1)
    torch.testing.assert_close(octaves(q), 1e-6 * exact, rtol=1e-12, atol=0)
    found = octaves(q, derivative=True)
    torch.testing.assert_close(found[[0, 4]], 1e-6 * slope[[0, 4]], rtol=1e-10, atol=0)
    torch.testing.assert_close(found, 1e-6 * slope, rtol=1e-6, atol=0)  # at the ends of octaves
    kinked = _Octaves(lambda v: 1e-6 * (v - 1.3).abs()[:, None])
    with pytest.raises(ValueError, match="20 lengths do not resolve it around 1"):
        kinked(q[1:2])
    one = torch.ones(1, dtype=torch.float64)
    with pytest.raises(ValueError, match="too steep: 64 angles do not resolve it"):
        _slopes_by_angle(A.erf.gained(300.0).scaled(1e-8), one)


def test_an_activation_that_is_as_good_as_a_step_is_refused_by_name():
    with pytest.raises(ValueError, match=r"tanh is too steep .*; weight_variance must be smaller"):
        _ = MeanField(A.tanh, [1e8]).correlation
