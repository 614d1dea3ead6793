"""The layers' definitions on tensors: against loops over numbers, and what they refuse."""

import math

import pytest
import torch

from signalprop import Stream
from signalprop.layers import _tensors as T

X = torch.randn(4, 3, generator=Stream(0).torch("layers"), dtype=torch.float64) + 1


def columns(x):
    return [x[:, j].tolist() for j in range(x.shape[1])]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("divide", ["rms", "std", "norm"])
@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_batch_norm_by_hand(center, divide, eps):
    result = T.batch_norm(X, center=center, divide=divide, eps=eps, scale=2.0)
    for old, new in zip(columns(X), columns(result), strict=True):
        mean = sum(old) / 4
        left = [v - mean for v in old] if center else old
        spread = [v - mean for v in old] if center or divide == "std" else old
        squares = sum(v * v for v in spread)
        size = math.sqrt((squares if divide == "norm" else squares / 4) + eps)
        assert new == pytest.approx([2 * v / size for v in left], rel=1e-12)


def test_layer_and_rms_norm_by_hand():
    for row, layer, rms in zip(X.tolist(), T.layer_norm(X), T.rms_norm(X), strict=True):
        mean = sum(row) / 3
        spread = math.sqrt(sum((v - mean) ** 2 for v in row) / 3)
        assert layer.tolist() == pytest.approx([(v - mean) / spread for v in row], rel=1e-12)
        size = math.sqrt(sum(v * v for v in row) / 3)
        assert rms.tolist() == pytest.approx([v / size for v in row], rel=1e-12)


@pytest.mark.parametrize(("scale", "factor"), [("1/sqrt n", 0.5), ("1/sqrt d", 3**-0.5)])
def test_scales_by_name(scale, factor):
    torch.testing.assert_close(T.batch_norm(X, scale=scale), factor * T.batch_norm(X))


def test_the_frobenius_norm_becomes_one():
    result = T.frobenius_normalize(torch.stack([X, 7 * X]))
    assert [sum(v * v for row in m for v in row) for m in result.tolist()] == pytest.approx([1, 1])
    torch.testing.assert_close(result[0], result[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"center": 1}, "center must be True or False, got 1"),
        ({"eps": -1e-9}, "eps must be a finite number, at least 0"),
        ({"eps": math.inf}, "eps must be a finite number"),
        ({"eps": 1e-300}, "eps must be 0, or at least 1e-30 to count in float32, got 1e-300"),
        ({"eps": True}, "eps must be a finite number"),
        ({"divide": "max"}, "divide must be one of rms, std, norm, got 'max'"),
        ({"scale": "n"}, "scale must be a number or one of 1/sqrt n, 1/sqrt d, got 'n'"),
        ({"scale": math.nan}, "scale must be a number"),
    ],
)
def test_options_that_do_not_exist_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        T.require_options(**options)


def test_what_has_no_size_is_counted():
    x = X.clone()
    x[:, 1] = 5.0
    with pytest.raises(ValueError, match="batch norm with eps=0 cannot divide: 1 of the 3 vectors"):
        T.batch_norm(x)
    assert T.batch_norm(x, eps=1e-5)[:, 1].tolist() == [0] * 4
    T.batch_norm(x, center=False)
    x[2] = 0.0
    with pytest.raises(ValueError, match="1 of the 4 vectors to be normalized are zero"):
        T.rms_norm(x)


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf, -math.inf, 1e-170, 1e170])
def test_a_sample_that_cannot_be_scaled_is_refused_wherever_it_stands(value):
    for row in range(4):
        x = X.clone()
        x[row] = value
        with pytest.raises(ValueError, match="1 of the 4 vectors to be normalized are zero or not"):
            T.rms_norm(x)
    assert T.rms_norm(X[:0]).shape == (0, 3)


@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_rms_norm_has_second_derivatives(eps):
    """Those of ``x / size`` written out; with ``eps > 0`` at a zero sample too."""
    x = X.clone()
    if eps:
        x[1] = 0.0

    def plain(x):
        return (x / (x.square().mean(-1, keepdim=True) + eps).sqrt()).pow(3).sum()

    hessian = torch.autograd.functional.hessian(lambda x: T.rms_norm(x, eps=eps).pow(3).sum(), x)
    torch.testing.assert_close(hessian, torch.autograd.functional.hessian(plain, x))


def test_rms_norm_is_batched_and_derived_by_torch_func():
    x = torch.stack([X, 2 - X])
    torch.testing.assert_close(
        torch.vmap(lambda x: T.rms_norm(x, eps=0.3))(x), T.rms_norm(x, eps=0.3)
    )
    forward = torch.func.jacfwd(lambda x: T.rms_norm(x, eps=0.3))(X)
    torch.testing.assert_close(forward, torch.func.jacrev(lambda x: T.rms_norm(x, eps=0.3))(X))


@pytest.mark.parametrize("bad", [torch.ones(2, 2, dtype=torch.int64), [[1.0]]])
def test_modules_take_floating_tensors(bad):
    with pytest.raises(ValueError, match="layer norm as a module takes a floating tensor, got"):
        T.layer_norm(bad)


@pytest.mark.parametrize("shape", [(3,), (0, 3), (2, 0)])
def test_shapes_are_those_of_batches(shape):
    with pytest.raises(ValueError, match=r"needs \(..., n, d\) with n, d >= 1"):
        T.batch_norm(torch.ones(shape))
