"""Functions of others as activations: their kinks, derivatives and kernels."""

import time

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import signalprop as sp
from signalprop import activations as A
from signalprop.callables import as_activation, find_kinks
from signalprop.limits.maps import KernelMap


@pytest.mark.parametrize(
    ("function", "kinks"),
    [
        (F.mish, ()),
        (F.hardswish, (-3.0, 3.0)),
        (F.relu6, (0.0, 6.0)),
        (nn.CELU(0.5), (0.0,)),
        (nn.PReLU(), (0.0,)),
        (lambda x: torch.tanh(30 * x), ()),
        (lambda x: (x > np.pi).double(), (np.pi,)),
        (lambda x: torch.relu(x - 1 / 3) ** 2, (1 / 3,)),
        (np.abs, (0.0,)),
        (np.arctan, ()),
    ],
)
def test_kinks_are_found(function, kinks):
    phi = as_activation(function)
    np.testing.assert_allclose(phi.kinks, kinks, atol=1e-4 if kinks == (1 / 3,) else 1e-9)


BETWEEN = np.linspace(-32.1234567, 32.2345678, 66)[40]  # two of the first panels


@pytest.mark.parametrize("kink", [26.974490274841628, 4.816649336107275, BETWEEN, BETWEEN + 1e-4])
def test_kinks_next_to_a_cut_are_found(kink):
    found = find_kinks(lambda x: 18 * (x - kink).abs() + torch.tanh(x))
    np.testing.assert_allclose(found, [kink], rtol=0, atol=1e-9)


def test_functions_of_the_library_are_known_by_their_values():
    known = {F.relu: A.relu, nn.Tanh(): A.tanh, np.exp: A.exp, F.gelu: A.gelu, torch.erf: A.erf}
    assert all(as_activation(f) is phi for f, phi in known.items())
    assert as_activation(A.tanh) is A.tanh


def test_derivatives_of_numpy_functions():
    phi = as_activation(lambda x: np.maximum(x, 0.1 * np.expm1(x)))
    x = torch.linspace(-3, 3, 101, dtype=torch.float64)
    exact = torch.where(x > 0, 1.0, 0.1 * torch.exp(x))
    away = x.abs() > 1e-12
    torch.testing.assert_close(phi.derivative(x)[away], exact[away], rtol=0, atol=1e-10)
    x.requires_grad_()
    phi(x).sum().backward()
    torch.testing.assert_close(x.grad[away], exact[away], rtol=0, atol=1e-10)


def test_kernels_take_functions():
    gram = np.array([[1.0, 0.3], [0.3, 1.6]])
    np.testing.assert_allclose(sp.ntk(gram, np.arctan, 2), sp.ntk(gram, torch.atan, 2), rtol=1e-9)
    assert sp.KernelMap(F.mish)(1.0) == pytest.approx(
        as_activation(F.mish).second_moment, rel=1e-12
    )
    assert sp.LengthMap(nn.Tanh())(1.0) == sp.LengthMap(A.tanh)(1.0)
    assert sp.MeanField(np.tanh, 2.0, 0.1).chi == sp.MeanField(A.tanh, 2.0, 0.1).chi


def test_what_is_no_activation_is_refused():
    with pytest.raises(ValueError, match="must be a function, got str"):
        as_activation("tanh")
    with pytest.raises(ValueError, match=r"got the class ReLU6: make one of it, ReLU6\(\)"):
        as_activation(torch.nn.ReLU6)
    with pytest.raises(ValueError, match="must keep the shape"):
        as_activation(lambda x: x.sum())
    with pytest.raises(ValueError, match="noise must be smooth between a few kinks"):
        find_kinks(lambda x: torch.sin(1e9 * x), "noise")


def test_the_kernel_of_a_numpy_function_with_kinks_is_that_of_torch_and_soon_there():
    began = time.process_time()
    ours = KernelMap(lambda x: x * np.clip(x + 3, 0, 6) / 6)
    assert time.process_time() - began < 5
    rho = np.array([-1.0, -0.9, 0.0, 0.6, 0.99, 1.0])
    torchs = KernelMap(F.hardswish)
    np.testing.assert_allclose(ours(rho), torchs(rho), atol=1e-12)
    np.testing.assert_allclose(ours.derivative(rho), torchs.derivative(rho), atol=1e-11)
