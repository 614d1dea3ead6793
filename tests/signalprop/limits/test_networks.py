"""Infinite-width kernels against finite networks, and against the formulas of COND."""

import itertools
import math

import numpy as np
import pytest
import torch

from signalprop import activations as A
from signalprop.limits.maps import KernelMap
from signalprop.limits.networks import nngp, ntk
from signalprop.random import Stream

X = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [-0.5, 0.1, 0.7]])
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


def empirical(x, phi, depth, width, weight_variance, bias_variance, seeds):
    """Return samples of output products and tangent kernels of finite networks."""
    x = torch.from_numpy(x)
    sw, sb = math.sqrt(weight_variance), math.sqrt(bias_variance)

    def forward(parameters, x):
        h = x
        for layer, (weight, bias) in enumerate(parameters):
            fan = h.shape[-1] if layer else 1
            h = sw / math.sqrt(fan) * h @ weight.T + sb * bias
            h = phi(h) if layer < depth else h
        return h[..., 0]

    tangents, outputs = [], []
    for rng in Stream(11).child("tangent", phi.name).runs(seeds):
        sizes = [x.shape[1], *[width] * depth, 1]
        parameters = [
            tuple(
                torch.from_numpy(rng.standard_normal(shape)).requires_grad_()
                for shape in ((m, k), (m,))
            )
            for k, m in itertools.pairwise(sizes)
        ]
        flat = [p for pair in parameters for p in pair]
        f = forward(parameters, x)
        rows = []
        for value in f:
            gradients = torch.autograd.grad(value, flat, retain_graph=True)
            rows.append(torch.cat([g.flatten() for g in gradients]))
        jacobian = torch.stack(rows)
        tangents.append((jacobian @ jacobian.T).numpy())
        f = f.detach().numpy()
        outputs.append(f[:, None] * f[None, :])
    return np.array(outputs), np.array(tangents)


@pytest.mark.parametrize(
    ("phi", "x", "weight_variance", "bias_variance"),
    [
        (A.relu.normalized(), UNIT, 1.0, 0.0),
        (A.erf, X, 1.5, 0.3),
        (A.gelu.standardized(), X, 1.0, 0.0),
    ],
    ids=["relu", "erf", "gelu"],
)
def test_finite_networks_agree(phi, x, weight_variance, bias_variance):
    variances = (weight_variance, bias_variance)
    outputs, tangents = empirical(x, phi, 2, 300, *variances, seeds=40)
    for sample, exact in (
        (outputs, nngp(x @ x.T, phi, 2, *variances)),
        (tangents, ntk(x @ x.T, phi, 2, *variances)),
    ):
        error = sample.std(axis=0) / math.sqrt(len(sample))
        # six standard errors, and the bias of order 1/width of a finite network
        assert (np.abs(sample.mean(axis=0) - exact) < 6 * error + 0.01 * np.abs(exact).max()).all()


def test_nngp_is_the_iterated_kernel_map():
    phi = A.gelu.normalized()
    gram = UNIT @ UNIT.T
    expected = KernelMap(phi).iterate(gram[0, 1], 7)[-1]
    result = nngp(gram, phi, 7)
    assert result[0, 1] == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(np.diag(result), 1, rtol=1e-13)


def test_ntk_diagonal_of_cond_theorem_5():
    phi, depth = A.tanh.normalized(), 6
    slope = KernelMap(phi).derivative(1.0)
    exact = (slope ** (depth + 1) - 1) / (slope - 1)
    np.testing.assert_allclose(np.diag(ntk(UNIT @ UNIT.T, phi, depth)), exact, rtol=1e-11)


def test_ntk_is_cond_equation_7_with_its_index_shifted():
    """As printed, with ``h'`` iterations inside the derivative, the formula is another number."""
    phi, depth, rho = A.gelu.standardized(), 3, 0.5
    k = KernelMap(phi)
    path = k.iterate(rho, depth + 1)

    def equation_7(shift):
        return sum(
            path[h - 1] * np.prod([k.derivative(path[i - shift]) for i in range(h, depth + 1)])
            for h in range(1, depth + 2)
        )

    value = ntk(np.array([[1.0, rho], [rho, 1.0]]), phi, depth)[0, 1]
    assert value == pytest.approx(equation_7(shift=1), rel=1e-12)
    assert abs(value / equation_7(shift=0) - 1) > 0.01


@pytest.mark.slow
def test_equal_and_unequal_lengths_agree():
    """A third input of another length sends all pairs through the other route."""
    gram = UNIT @ UNIT.T
    for phi in (A.gelu, A.relu, A.selu):
        equal = [f(gram[:2, :2], phi, 3, 1.3, 0.1) for f in (nngp, ntk)]
        scale = np.diag([1, 1, 2.0])
        mixed = [f(scale @ gram @ scale, phi, 3, 1.3, 0.1)[:2, :2] for f in (nngp, ntk)]
        np.testing.assert_allclose(mixed, equal, rtol=1e-10)


def test_linear_network():
    gram = X @ X.T
    np.testing.assert_allclose(nngp(gram, A.identity, 4, 1.0, 0.0), gram, atol=1e-13)
    np.testing.assert_allclose(ntk(gram, A.identity, 4, 1.0, 0.0), 5 * gram, atol=1e-12)
    np.testing.assert_allclose(ntk(gram, A.relu, 0, 2.0, 0.5), 2 * gram + 0.5)


@pytest.mark.parametrize("scale", [1e-10, 1e-2, 1e4])
def test_the_angle_of_relu_knows_no_scale(scale):
    gram = UNIT @ UNIT.T
    moved = nngp(scale * gram, A.relu, 3, 2.0, 0.0)
    np.testing.assert_allclose(moved / scale, nngp(gram, A.relu, 3, 2.0, 0.0), rtol=1e-9)


def test_batches_one_input_and_zero_inputs():
    gram = np.stack([UNIT @ UNIT.T, np.eye(3)])
    both = nngp(gram, A.relu.normalized(), 2)
    np.testing.assert_allclose(both[1], nngp(gram[1], A.relu.normalized(), 2), rtol=1e-14)
    assert ntk([[1.0]], A.tanh.normalized(), 2).shape == (1, 1)
    zero = nngp([[0.0, 0.0], [0.0, 1.0]], A.sigmoid, 1)
    assert zero[0, 0] == pytest.approx(0.25, rel=1e-12)
    assert zero[0, 1] == pytest.approx(0.25, rel=1e-12)
    assert isinstance(nngp(torch.eye(2), A.relu, 1), torch.Tensor)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="square matrices"):
        nngp(np.ones((2, 3)), A.relu, 1)
    with pytest.raises(ValueError, match="inner products"):
        nngp([[1.0, 2.0], [2.0, 1.0]], A.relu, 1)
    with pytest.raises(ValueError, match="inner products"):
        nngp([[1e-3, 2e-3], [2e-3, 1e-3]], A.relu, 1)
    with pytest.raises(ValueError, match="symmetric"):
        ntk([[1.0, 0.5], [0.1, 1.0]], A.relu, 1)
    for depth in (-1, [-1, 2], []):
        with pytest.raises(ValueError, match="depth must be at least 0"):
            ntk(np.eye(2), A.relu, depth)
    with pytest.raises(ValueError, match="sign has jumps"):
        ntk(np.eye(2), A.sign, 1)


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_parallel_inputs_of_relu_have_the_tangent_kernel_of_one(depth):
    """x and a x have a times the kernel of x with itself, to the digits that a product leaves."""
    x = Stream(3).child("parallel").numpy().standard_normal(5)
    for phi in (A.relu.normalized(), A.leaky_relu(0.2)):
        alone = ntk([[x @ x]], phi, depth)[0, 0]
        scales = np.array([1.0, 0.1, 3.0, 1 / 7])
        gram = np.outer(scales, scales) * (x @ x)
        np.testing.assert_allclose(
            ntk(gram, phi, depth), np.outer(scales, scales) * alone, rtol=1e-13
        )


def test_homogeneous_activations_are_those_of_the_quadrature():
    gram = np.array([[1.0, 0.3, -0.5], [0.3, 2.0, 0.9], [-0.5, 0.9, 0.7]])
    for phi in (A.relu, A.leaky_relu(0.2).scaled(1.3)):
        plain = A.Activation("plain", phi, (0.0,))  # without its closed form
        for kernel in (nngp, ntk):
            np.testing.assert_allclose(
                kernel(gram, phi, 3, 1.5, 0.2), kernel(gram, plain, 3, 1.5, 0.2), rtol=1e-9
            )
