"""Kernel maps of activations without closed form against mpmath, and what all maps obey."""

import math

import mpmath as mp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from signalprop import activations as A
from signalprop.limits.closed import Series
from signalprop.limits.expansions import hermite_coefficients
from signalprop.limits.interpolated import interpolate
from signalprop.limits.maps import KernelMap
from signalprop.limits.quadrature import bivariate_expectation
from signalprop.random import Stream

RHO = np.concatenate([[-1, -1 + 1e-9], np.linspace(-0.99, 0.99, 25), [1 - 1e-6, 1 - 1e-13, 1]])
DELTA = np.array([1e-14, 1e-9, 1e-5, 1e-2, 0.3, 0.5, 0.9, 1.4])
CLOSED = [
    *(A.identity, A.relu, A.leaky_relu(0.1), A.sin, A.erf, A.exp, A.step, A.sign, A.cube),
    *(A.hermite(3), A.norm_relu()),
]
SMOOTH = [A.tanh, A.gelu, A.gelu_tanh, A.silu, A.elu, A.selu, A.sigmoid, A.softplus]
named = {"ids": lambda phi: phi.name}


@pytest.mark.parametrize("phi", [*CLOSED, A.relu.gained(3.0), A.exp.gained(-2.0)], **named)
def test_interpolant_agrees_with_closed_forms(phi):
    """Two independent routes: the closed form, and quadrature with Chebyshev in the angle."""
    base = phi.base
    closed, numeric = base.kernel(base.gain), interpolate(base)
    rho, delta = torch.from_numpy(RHO), torch.from_numpy(DELTA)
    size = float(closed.complement(torch.ones(1, dtype=torch.float64)))
    np.testing.assert_allclose(
        numeric.centered(rho), closed.centered(rho), rtol=1e-12, atol=1e-13 * size
    )
    np.testing.assert_allclose(numeric.complement(delta), closed.complement(delta), rtol=2e-12)
    inside = rho[1:-1]
    slope = float(closed.derivative(torch.tensor(0.99)))
    np.testing.assert_allclose(
        numeric.derivative(inside), closed.derivative(inside), rtol=1e-11, atol=1e-13 * slope
    )


def smoothed(phi, m, s):
    """Return ``E phi(m + s Z)`` in closed form."""
    if phi is A.gelu:
        r = mp.sqrt(1 + s**2)
        return m * mp.ncdf(m / r) + s**2 / r * mp.npdf(m / r)
    # selu and elu: scale (x+ + alpha (e^x - 1) 1[x < 0])
    scale, alpha = SELU if phi is A.selu else (1, 1)
    positive = m * mp.ncdf(m / s) + s * mp.npdf(m / s)
    negative = mp.exp(m + s**2 / 2) * mp.ncdf(-(m + s**2) / s) - mp.ncdf(-m / s)
    return scale * (positive + alpha * negative)


SELU = (mp.mpf("1.0507009873554804934193349852946"), mp.mpf("1.6732632423543772848170429916717"))


def value(phi, x):
    if phi is A.gelu:
        return x * mp.ncdf(x)
    scale, alpha = SELU if phi is A.selu else (1, 1)
    return scale * (x if x > 0 else alpha * mp.expm1(x))


def reference(phi, rho):
    """``E phi(X) E[phi(Y) | X]``, with panels around the layer at the kink."""
    s = mp.sqrt((1 - rho) * (1 + rho))
    edges = sorted({-13, -4, 0, 4, 13, -6 * s, 6 * s, -2 * s, 2 * s})
    return mp.quad(lambda x: value(phi, x) * mp.npdf(x) * smoothed(phi, rho * x, s), edges)


@pytest.mark.parametrize("phi", [A.gelu, A.elu, A.selu], **named)
@pytest.mark.slow
def test_against_mpmath(phi):
    k = KernelMap(phi)
    with mp.workdps(34):
        top = mp.quad(lambda x: value(phi, x) ** 2 * mp.npdf(x), [-13, -4, 0, 4, 13])
        points = [mp.mpf(-0.95), mp.mpf(0.2), mp.mpf(0.8), 1 - mp.mpf(10) ** -7]
        exact = [reference(phi, r) for r in points]
        complement = float((top - exact[-1]) + (1 - top))
        drop = float(top - exact[-1])
        exact = [float(v) for v in exact]
    np.testing.assert_allclose(k([float(r) for r in points]), exact, rtol=1e-13)
    assert k.complement(1e-7) == pytest.approx(complement, rel=1e-13)
    normal = KernelMap(phi.normalized())
    assert normal.complement(1e-7) * phi.second_moment == pytest.approx(drop, rel=1e-12)


@pytest.mark.parametrize("phi", [A.tanh, A.sigmoid, A.softplus, A.silu, A.gelu_tanh], **named)
def test_against_the_trapezoidal_rule(phi):
    """Exact to rounding for analytic functions; for the complement the *difference* is summed."""
    h = 0.2 if phi is A.tanh else 0.25
    grid = np.arange(-12, 12.01, h)
    u, v = np.meshgrid(grid, grid)
    mass = norm.pdf(u) * norm.pdf(v) * h * h
    k = KernelMap(phi)
    for rho in (-0.97, -0.4, 0.3, 0.7, 0.99, 0.99999):
        plus, minus = math.sqrt((1 + rho) / 2), math.sqrt((1 - rho) / 2)
        x, y = phi(plus * u + minus * v), phi(plus * u - minus * v)
        assert k(rho) == pytest.approx((mass * x * y).sum(), rel=1e-12, abs=1e-14)
        drop = (mass * (x - y) ** 2).sum() / 2
        ours = k.complement(1 - rho) - (1 - k(1.0))
        assert ours == pytest.approx(drop, rel=1e-8, abs=2e-15)


@pytest.mark.parametrize("phi", SMOOTH, **named)
def test_derivative_is_the_kernel_of_the_derivative(phi):
    rho = np.array([-1.0, -0.7, 0.0, 0.4, 0.9, 1 - 1e-9, 1.0])
    expected = bivariate_expectation(rho, phi.derivative, kinks=phi.kinks)
    np.testing.assert_allclose(KernelMap(phi).derivative(rho), expected, rtol=1e-12)


@pytest.mark.slow
def test_user_defined_jumps():
    """Two jumps, of which the kernel is a sum of orthant probabilities."""
    phi = A.Activation("stairs", lambda x: (x > -0.5).to(x.dtype) + (x > 1).to(x.dtype), (-0.5, 1))
    k = KernelMap(phi)
    for rho in (-0.9, -0.3, 0.6, 0.95):
        law = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        pairs = [(s, t) for s in (-0.5, 1) for t in (-0.5, 1)]
        exact = sum(law.cdf([-s, -t]) for s, t in pairs)
        assert k(rho) == pytest.approx(exact, rel=1e-10)
        assert k.derivative(rho) == pytest.approx(sum(law.pdf(p) for p in pairs), rel=1e-10)
    assert k.derivative(1.0) == math.inf


@pytest.mark.slow
def test_jump_and_slope_together():
    """x 1[x > c] has a jump and a kink: slope against differences, value against quadrature."""
    phi = A.Activation("gate", lambda x: x * (x > 0.4), (0.4,))
    k, rho = KernelMap(phi), np.array([-0.8, -0.2, 0.55, 0.9, 0.999])
    direct = bivariate_expectation(rho, phi, kinks=phi.kinks)
    np.testing.assert_allclose(k(rho), direct, rtol=1e-12, atol=1e-15)
    h = 1e-5
    np.testing.assert_allclose(k.derivative(rho), (k(rho + h) - k(rho - h)) / (2 * h), rtol=1e-4)


@pytest.mark.parametrize("phi", [*CLOSED, *SMOOTH], **named)
def test_series_route(phi):
    """KER Corollary 5.7: ``kappa = sum c_k^2 rho^k``, inside and (with its tail) at 1."""
    k = KernelMap(phi)
    c = k.hermite_coefficients(400)
    rho = np.linspace(-0.9, 0.9, 7)
    np.testing.assert_allclose(
        k(rho), np.polynomial.polynomial.polyval(rho, c**2), rtol=1e-11, atol=1e-13
    )
    assert k(0.0) == pytest.approx(phi.mean**2, rel=1e-13, abs=1e-30)
    assert k(1.0) == pytest.approx(phi.second_moment, rel=1e-13)


@pytest.mark.parametrize("phi", [*CLOSED, *SMOOTH], **named)
def test_bounded_and_convex(phi):
    k = KernelMap(phi.normalized())
    rho = np.linspace(0, 1, 501)
    values = k(rho)
    assert (np.abs(k(-rho)) <= values + 1e-14).all()
    assert (np.diff(values) > -1e-14).all()
    assert (np.diff(values, 2) > -1e-13).all()


@given(st.sampled_from([*CLOSED, *SMOOTH]), st.floats(0.2, 3), st.floats(-1, 1))
@settings(max_examples=40, deadline=None)
def test_versions_of_an_activation(phi, factor, rho):
    k = KernelMap(phi)
    assert KernelMap(phi.scaled(-factor))(rho) == pytest.approx(factor**2 * k(rho), abs=1e-13)
    expected = k(rho) - phi.mean**2
    assert KernelMap(phi.centered())(rho) == pytest.approx(expected, abs=1e-13)
    assert KernelMap(phi.gained(-1.0))(rho) == pytest.approx(k(rho), abs=1e-13)


@pytest.mark.parametrize("phi", [A.relu, A.gelu, A.cube], **named)
def test_gain(phi):
    k = KernelMap(phi.gained(0.7))
    direct = bivariate_expectation([0.3, 0.95], phi.gained(0.7), kinks=phi.kinks)
    np.testing.assert_allclose(k([0.3, 0.95]), direct, rtol=1e-13)


def test_small_correlations_of_centred_activations_keep_their_digits():
    for phi in (A.gelu.standardized(), A.tanh.normalized(), A.relu.standardized()):
        k = KernelMap(phi)
        assert k(1e-20) == pytest.approx(1e-20 * k.derivative(0.0), rel=1e-11)


def test_kinds_types_and_gradients():
    k = KernelMap(A.gelu)
    rho = torch.tensor([[0.2, -0.7], [0.9, 0.0]], dtype=torch.float64, requires_grad=True)
    out = k(rho)
    assert out.shape == (2, 2)
    (slope,) = torch.autograd.grad(out.sum(), rho)
    torch.testing.assert_close(slope, k.derivative(rho.detach()), rtol=1e-10, atol=1e-12)
    assert isinstance(k(np.float32(0.5)), np.float64)
    assert k(torch.tensor(1.0 + 1e-7)).dtype == torch.float64  # rounding of float32 is forgiven
    assert k(0) == k(0.0)
    assert k(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("bad", [1.1, -1.0001, np.array([0.0, 2.0])])
def test_correlations_outside_are_refused(bad):
    for use in (KernelMap(A.relu), KernelMap(A.relu).derivative):
        with pytest.raises(ValueError, match=r"rho must lie in \[-1, 1\]"):
            use(bad)


def test_bad_input_is_refused():
    k = KernelMap(A.relu.normalized())
    with pytest.raises(ValueError, match="rho must be finite"):
        k(np.nan)
    with pytest.raises(ValueError, match=r"delta must lie in \[0, 2\]"):
        k.complement(-0.1)
    with pytest.raises(ValueError, match="depth must be at least 0"):
        k.iterate(0.5, -1)
    with pytest.raises(ValueError, match=r"relu must have kappa\(1\).*normalized"):
        KernelMap(A.relu).iterate(0.5, 3)
    with pytest.raises(ValueError, match="needs an Activation, got str"):
        KernelMap("relu")
    with pytest.raises(ValueError, match="must not be negative"):
        KernelMap.from_series([0.5, -0.1])
    for none in (1.0, []):
        with pytest.raises(ValueError, match="weights must have a last dimension"):
            KernelMap.from_series(none)
    with pytest.raises(ValueError, match="exp_square needs a finite second moment"):
        KernelMap(A.exp_square)


def test_iteration_in_both_variables():
    for phi in (A.gelu, A.exp, A.relu, A.tanh):
        k = KernelMap(phi.normalized())
        start = np.array([-0.9, 0.0, 0.3, 0.9])
        path = k.iterate(start, 20)
        assert path.shape == (4, 21)
        np.testing.assert_array_equal(path[:, 1], k(start))
        np.testing.assert_allclose(1 - k.iterate_complement(1 - start, 20), path, atol=1e-13)
    assert k.iterate(0.5, 0).tolist() == [0.5]


def test_batches_of_series():
    weights = Stream(3).numpy().dirichlet(np.ones(7), size=(5, 2))
    k = KernelMap.from_series(weights)
    rho = 0.3
    single = [[KernelMap.from_series(w)(rho) for w in row] for row in weights]
    np.testing.assert_allclose(k(rho), single, rtol=1e-15)
    assert k.iterate(rho, 4).shape == (5, 2, 5)
    assert k.iterate(rho, 0).shape == (5, 2, 1)
    assert k.hermite_coefficients(9).shape == (5, 2, 10)
    np.testing.assert_allclose(k.hermite_coefficients(9)[..., :7] ** 2, weights, rtol=1e-15)
    np.testing.assert_allclose(k.nonlinearity, weights[..., 2:].sum(-1), atol=1e-15)
    np.testing.assert_allclose(KernelMap.from_hermite(-np.sqrt(weights))(rho), k(rho), rtol=1e-14)
    assert isinstance(KernelMap(Series(torch.ones(2) / 2))(torch.tensor(0.5)), torch.Tensor)


def test_nonlinearity_of_activations():
    """COND App. C.4: mu of ReLU is (pi - 2)/(2 pi - 2), after standardizing."""
    relu = KernelMap(A.relu.standardized()).nonlinearity
    assert relu == pytest.approx((math.pi - 2) / (2 * math.pi - 2), rel=1e-13)
    assert KernelMap(A.norm_relu()).nonlinearity == pytest.approx(0.0156, abs=5e-5)
    assert KernelMap(A.identity).nonlinearity == 0


@pytest.mark.parametrize("gap", [0.0, 1e-14, 1e-9, 1e-4, 0.1, 0.9, 1.5, 2.0])
def test_relu_and_step_keep_their_digits_where_they_vanish(gap):
    """At ``rho = -1 + gap``, against the arc-cosine kernels of orders 1 and 0 in 50 digits."""
    with mp.workdps(50):
        rho = mp.mpf(float(-1 + gap))
        angle = mp.acos(rho)
        ramp = (mp.sin(angle) + (mp.pi - angle) * rho) / (2 * mp.pi)
        step = (mp.pi - angle) / (2 * mp.pi)
    for phi, exact in ((A.relu, ramp), (A.step, step), (A.relu.gained(-2.0), 4 * ramp)):
        assert KernelMap(phi)(float(-1 + gap)) == pytest.approx(float(exact), rel=1e-13, abs=1e-40)
    shifted = KernelMap(A.relu.centered())(float(-1 + gap))
    assert shifted == pytest.approx(float(ramp - 1 / (2 * mp.pi)), rel=1e-12)


def test_the_series_of_a_steep_activation():
    """gelu.gained(30) was 2e-10 off at 0.3, for panels that were not those that had been tested."""
    phi, rho = A.gelu.gained(30.0), np.array([-0.3, 0.3])
    series = KernelMap.from_hermite(hermite_coefficients(phi, 64))
    np.testing.assert_allclose(series(rho), bivariate_expectation(rho, phi), rtol=1e-13)


@pytest.mark.slow
def test_what_is_too_steep_for_the_interpolant_is_refused():
    with pytest.raises(ValueError, match="is not resolved"):
        KernelMap(A.tanh.gained(1e3))


def test_the_way_from_1_is_iterated_where_the_correlation_rounds():
    path = KernelMap.from_series([0.5, 0.5]).iterate_complement([0.0, 1e-30, 2.0], 3)
    np.testing.assert_allclose(path, np.array([0.0, 1e-30, 2.0])[:, None] / 2.0 ** np.arange(4))
    for outside in (-0.1, 2.1):
        with pytest.raises(ValueError, match=r"delta must lie in \[0, 2\]"):
            KernelMap.from_series([0.5, 0.5]).iterate_complement(outside, 3)


def test_201_coefficients_if_nothing_is_said():
    assert KernelMap.from_series([0.25, 0.75]).hermite_coefficients().shape == (201,)
    assert KernelMap(A.exp).hermite_coefficients().shape == (201,)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_eight_roundings_beyond_the_ends_are_forgiven(kind):
    k, eps = KernelMap.from_series([0.5, 0.5]), torch.finfo(kind).eps
    for use, low, high in ((k, -1.0, 1.0), (k.complement, 0.0, 2.0)):
        ends = torch.tensor([low, high], dtype=kind)
        beyond = torch.tensor([low - 6 * eps, high + 6 * eps], dtype=kind)
        assert use(beyond).tolist() == use(ends).tolist()
        for end in (low - 10 * eps, high + 10 * eps):
            with pytest.raises(ValueError, match="must lie in"):
                use(torch.tensor(end, dtype=kind))


def test_rounding_at_the_ends_does_not_grow():
    """Odd maps keep both ends, which repel: what is a rounding error beyond would run away."""
    weights = np.zeros((200, 8))
    weights[:, 1::2] = Stream(6).numpy().dirichlet(np.ones(4), 200)
    k = KernelMap.from_series(weights)
    assert k.iterate(1.0, 300).max() == 1
    assert k.iterate(-1.0, 300).min() == -1
    assert k.iterate_complement(2.0, 300).max() == 2


@pytest.mark.parametrize(
    ("weights", "stays"),
    [
        ([0, 1.5, 0, -0.5], True),
        ([0, 1.6, 0, -0.6], False),  # 1.006 at 0.94
        ([-1.0, 0, 2.0], True),
        ([-1.01, 0, 2.01], False),
    ],
)
def test_a_series_that_leaves_the_interval_by_little_is_refused(weights, stays):
    k = KernelMap(Series(torch.tensor(weights, dtype=torch.float64)))
    if stays:
        assert abs(k.iterate(0.3, 9)).max() <= 1
    else:
        with pytest.raises(ValueError, match=r"leaves \[-1, 1\]"):
            k.iterate(0.3, 9)


def test_layers_that_are_kept_increase_and_lie_within_the_depth():
    k = KernelMap.from_series([0.5, 0.5])
    for layers in ([], [-1, 2], [2, 1], [1, 1], [0, 3, 3], [3, 10]):
        with pytest.raises(ValueError, match=r"layers must be increasing and lie in 0\.\.9"):
            k.iterate(0.0, 9, layers=layers)
    assert k.iterate(0.0, 9, layers=[0, 4, 9]).tolist() == [0.0, 1 - 2**-4, 1 - 2**-9]
    constant = KernelMap.from_series([1.0, 0.0])  # not linear: it sends all to 1
    assert constant.fixed_point().value == 1
