"""The linear and the affine layer, against torch's own."""

import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.layers import BatchNorm
from signalprop.models import Affine, Linear
from signalprop.weights import gaussian, pytorch_default

X = torch.randn(7, 6, generator=Stream(0).torch(), dtype=torch.float64)


def test_affine_matches_batch_norm_of_torch():
    affine, norm = Affine(6, dtype=torch.float64), BatchNorm(eps=1e-5)
    theirs = nn.BatchNorm1d(6, dtype=torch.float64)
    for one, other in ((affine.scale, theirs.weight), (affine.shift, theirs.bias)):
        values = torch.randn(6, dtype=torch.float64, generator=Stream(1).torch())
        one.data, other.data = values, values
    torch.testing.assert_close(affine(norm(X)), theirs(X))


def test_gradient_of_a_weight_lies_in_memory_as_the_weight_does():
    layer = Linear(6, 5, gaussian(), Stream(0).runs(3))
    layer(X.float()).sum().backward()
    assert layer.weight.grad.stride() == layer.weight.stride()


def test_inputs_of_another_type_are_refused_with_the_remedy():
    layer = Linear(6, 2, gaussian(), Stream(0).numpy())
    message = r"x must be torch.float32.* got torch.float64: write x.to\(torch.float32\), or make"
    with pytest.raises(ValueError, match=message):
        layer(X)
    with pytest.raises(ValueError, match=r"got torch.int64: write x.to\(torch.float32\)$"):
        layer(X.long())
    with pytest.raises(ValueError, match=r"got ndarray: write torch.as_tensor\(x, dtype=torch.fl"):
        layer(X.numpy())
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(X.float()).shape == (7, 2)


def test_bias_kinds():
    for bias, expected in (("none", None), ("zero", 0.0)):
        layer = Linear(6, 5, pytorch_default(), Stream(0).numpy(), bias)
        assert (layer.bias is None) if expected is None else not layer.bias.detach().any()
    with pytest.raises(ValueError, match="bias must be one of drawn, zero, none, got 'no'"):
        Linear(6, 5, gaussian(), Stream(0).numpy(), "no")


def test_an_affine_layer_does_not_broadcast():
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        Affine(0)
    for shape in ((4, 1), (3,)):
        with pytest.raises(ValueError, match=r"x must be \(..., n, 3\), got shape"):
            Affine(3)(torch.ones(shape))
