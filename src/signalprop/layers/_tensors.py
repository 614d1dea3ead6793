"""The definitions of the normalization layers, on tensors; every other form calls these."""

from __future__ import annotations

import math
from numbers import Real

import torch

__all__ = [
    "batch_norm",
    "frobenius_normalize",
    "layer_norm",
    "recenter",
    "rescale",
    "rms_norm",
]

DIVIDE = ("rms", "std", "norm")
SCALES = ("1/sqrt n", "1/sqrt d")
LEAST = 1e-30  # of an eps: far below, it is 0 in float32
NUMBERS = (float, Real)  # float first: to ask whether it is Real takes as long as a small product

# What looks at numbers or shapes to refuse them is one node of a graph that torch.fx traces.
for _name in ("batch_norm", "frobenius_normalize", "layer_norm", "recenter", "rms_norm"):
    torch.fx.wrap(_name)


def recenter(x: torch.Tensor, dim: int = -2) -> torch.Tensor:
    """Return ``x`` minus its mean over ``dim``: over the batch by default (the RC of DEC).

    >>> recenter(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
    tensor([[-1.,  0.],
            [ 1.,  0.]])
    """
    _require_floating(x, "recenter")
    _require_shape(x, dim, "recenter")
    return x - x.mean(dim, keepdim=True)


def rescale(
    x: torch.Tensor, dim: int = -2, *, divide: str = "rms", eps: float = 0.0
) -> torch.Tensor:
    """Return ``x`` divided by its size over ``dim``: over the batch by default (the RS of DEC).

    ``divide`` says what size is: ``"rms"`` the root mean square, ``"norm"`` the Euclidean norm,
    ``"std"`` the (population) spread about the mean, which leaves the mean in the result. ``eps``
    is added to the square of the size.

    With ``eps = 0`` something of size 0 cannot be rescaled: ``ValueError``. Where a mean was taken
    off, zero means within 16 roundings of the mean. Sizes below 1e-154 (float64) count as zero,
    those above 1e154 as infinite, because they are squared.

    >>> rescale(torch.tensor([[3.0], [4.0]]), divide="norm")
    tensor([[0.6000],
            [0.8000]])
    """
    return _normalize(x, dim, False, divide, eps, "rescale")


def batch_norm(
    x: torch.Tensor,
    *,
    center: bool = True,
    divide: str = "rms",
    scale: float | str = 1.0,
    eps: float = 0.0,
) -> torch.Tensor:
    """Normalize each of the d features of ``x`` ``(..., n, d)`` over the n samples.

    First the mean is taken off if ``center``, then :func:`rescale` divides by the size of what is
    left, then everything is multiplied by ``scale``, a number or ``"1/sqrt n"`` or ``"1/sqrt d"``.
    There are no running averages: the batch at hand is the batch that counts. The documents' forms:

    - textbook, MF Eq. 3.1, DEC Eqs. 2-3: ``batch_norm(x)``, which is ``torch.nn.BatchNorm1d`` in
      training mode, not affine, for the same ``eps``
    - RANK Eq. 5: ``center=False``
    - ORTH Eq. 1: ``center=False, divide="norm", scale="1/sqrt d"``
    - GRAD Eq. 6.4: ``center=False, divide="norm"``
    - DEC without recentring: ``center=False``, reading (B), or with ``divide="std"``, reading (A)

    With ``eps = 0`` a feature that is zero (or constant, if ``center``) over the batch, as any is
    for ``n = 1`` with ``center``, raises a ``ValueError``.

    >>> batch_norm(torch.tensor([[1.0], [5.0]]))
    tensor([[-1.],
            [ 1.]])
    """
    x = _normalize(x, -2, center, divide, eps, "batch norm")
    factor = _factor(scale, *x.shape[-2:])
    return x if factor == 1 else x * factor


def layer_norm(x: torch.Tensor, *, eps: float = 0.0) -> torch.Tensor:
    """Normalize each sample of ``x`` ``(..., n, d)`` to mean 0 and variance 1 over its features.

    KER Eq. 5.13; equal to ``torch.nn.LayerNorm(d, eps, elementwise_affine=False)``. With ``eps =
    0`` a constant sample (any, for ``d = 1``) raises a ``ValueError``.

    It is torch's own operation, one pass through the memory where its parts would take five.

    >>> layer_norm(torch.tensor([[1.0, 5.0]]))
    tensor([[-1.,  1.]])
    """
    _require_floating(x, "layer norm")
    require_options(eps=eps)
    _require_shape(x, -1, "layer norm")
    values, mean, inverse = torch.native_layer_norm(x, x.shape[-1:], None, None, eps)
    if eps == 0:
        _require_size(inverse**-2, mean, "layer norm")
    return values


def rms_norm(x: torch.Tensor, *, eps: float = 0.0) -> torch.Tensor:
    """Scale each sample of ``x`` ``(..., n, d)`` to mean square 1, so to norm ``sqrt(d)``.

    KER Eq. 5.13; equal to ``torch.nn.RMSNorm(d, eps, elementwise_affine=False)``. With ``eps = 0``
    a zero sample raises a ``ValueError``.

    >>> rms_norm(torch.tensor([[1.0, 7.0]]))
    tensor([[0.2000, 1.4000]])
    """
    _require_floating(x, "RMS norm")
    _require_eps(eps)
    _require_shape(x, -1, "RMS norm")
    d = x.shape[-1]
    if eps == 0:  # a norm is one pass; where samples may be zero its second derivative is NaN
        norm: torch.Tensor = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        least = 1 / torch.finfo(norm.dtype).max  # of what is smaller the reciprocal is infinite
        _require_size(norm.where(norm > least, 0), None, "RMS norm")
        return x * (norm / math.sqrt(d)).reciprocal_()
    squares = (x * x).sum(-1, keepdim=True)
    return x * torch.add(x.new_full((), eps), squares, alpha=1 / d).rsqrt_()


def frobenius_normalize(x: torch.Tensor) -> torch.Tensor:
    """Scale each matrix of ``x`` ``(..., n, d)`` to Frobenius norm 1.

    As the layer of a chain it keeps a deep product of matrices from overflowing; whatever does
    not depend on the overall scale (gaps, ratios, angles) stays the same where all other layers
    are positively homogeneous. A zero matrix raises a ``ValueError``.

    >>> frobenius_normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    _require_floating(x, "Frobenius norm")
    _require_shape(x, -2, "Frobenius norm")
    return _normalize(x.flatten(-2), -1, False, "norm", 0.0, "Frobenius norm").reshape(x.shape)


def _normalize(
    x: torch.Tensor, dim: int, center: bool, divide: str, eps: float, name: str
) -> torch.Tensor:
    _require_floating(x, name)
    require_options(divide, eps=eps, center=center)
    _require_shape(x, dim, name)
    mean = x.mean(dim, keepdim=True) if center or divide == "std" else None
    centered = x if mean is None else x - mean
    squares = (centered * centered).mean(dim, keepdim=True)
    if eps == 0:
        _require_size(squares, mean, name)
    if divide == "norm":
        squares = squares * x.shape[dim]
    return (centered if center else x) * (squares + eps).rsqrt()


def require_options(
    divide: str = "rms", scale: float | str = 1.0, eps: float = 0.0, center: bool = True
) -> None:
    """Refuse what the layers cannot do, already when a module is made."""
    if not isinstance(center, bool):
        raise ValueError(f"center must be True or False, got {center!r}")
    _require_eps(eps)
    if divide not in DIVIDE:
        raise ValueError(f"divide must be one of {', '.join(DIVIDE)}, got {divide!r}")
    if not (isinstance(scale, Real) and math.isfinite(scale)) and scale not in SCALES:
        raise ValueError(f"scale must be a number or one of {', '.join(SCALES)}, got {scale!r}")


def _require_eps(eps: float) -> None:
    if isinstance(eps, bool) or not isinstance(eps, NUMBERS) or not 0 <= eps < math.inf:
        raise ValueError(f"eps must be a finite number, at least 0, got {eps!r}")
    if 0 < eps < LEAST:
        raise ValueError(f"eps must be 0, or at least {LEAST:g} to count in float32, got {eps!r}")


def _require_floating(x: object, name: str) -> None:
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        kind = x.dtype if isinstance(x, torch.Tensor) else type(x).__name__
        raise ValueError(
            f"{name} as a module takes a floating tensor, got {kind}: convert it first, or use the "
            "function in signalprop.layers, which does"
        )


def _require_shape(x: torch.Tensor, dim: int, name: str) -> None:
    if not -x.ndim <= dim < x.ndim or 0 in x.shape[dim - x.ndim if dim >= 0 else dim :]:
        raise ValueError(f"{name} needs (..., n, d) with n, d >= 1, got shape {tuple(x.shape)}")


def _require_size(squares: torch.Tensor, mean: torch.Tensor | None, name: str) -> None:
    """Raise unless all ``squares`` (or sizes) are finite and above the rounding of the mean."""
    if mean is not None:
        squares = squares - (16 * torch.finfo(squares.dtype).eps * mean) ** 2
    if squares.numel() == 0:
        return
    least, most = squares.detach().aminmax()  # NaN if there is one
    if torch.compiler.is_compiling():  # a graph takes no decision on numbers, but it has assertions
        fits = (least > 0) & (most < math.inf)
        torch._assert_async(fits, f"{name} with eps=0 cannot divide: a vector is zero or constant")
        return
    if not (least.item() > 0 and most.item() < math.inf):
        bad = int((~((squares > 0) & (squares < math.inf))).sum())
        what = "zero" if mean is None else "constant"
        raise ValueError(
            f"{name} with eps=0 cannot divide: {bad} of the {squares.numel()} vectors to be "
            f"normalized are {what} or not finite; with eps=1e-5, say, they become 0, as in torch"
        )


def _factor(scale: float | str, n: int, d: int) -> float:
    if not isinstance(scale, str):
        return scale
    require_options("rms", scale)
    return 1 / math.sqrt(n if scale == "1/sqrt n" else d)
