"""How far one batch normalization can stretch what flows back: GRAD Appendix C.3.

Inputs are ``(d, d)`` or stacks of them, rows are features; ``lambda_d`` is the smallest eigenvalue
of ``X X^T``. Jacobians by automatic differentiation are ``(d^2, d^2)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from scipy import special
from torch.autograd import functional

from signallab.case import Case
from signallab.gradients.expected_isometry import gap
from signallab.gradients.rotated_chain import gap_of, threshold
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "INEQUALITIES",
    "LOSSES",
    "cross_entropy_gradient",
    "implicit",
    "inequality",
    "jacobian",
    "layer",
    "least_eigenvalue",
    "lipschitz",
    "log_norm",
    "logits",
    "loss_gradient",
    "normalization",
    "operator_norm",
    "rows",
    "spectrum",
]


def _unit(x: torch.Tensor) -> torch.Tensor:
    unit: torch.Tensor = x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return unit


def jacobian(x: Any, w: Any = None) -> Floats:
    """Return the Jacobian of ``BN(W x)`` in x ``(..., d, n)`` by automatic differentiation.

    A vector counts as one row; without ``w`` there is no product.

    >>> jacobian([3.0, 4.0]).round(3).tolist()
    [[0.128, -0.096], [-0.096, 0.072]]
    """
    point = torch.from_numpy(np.asarray(x, dtype=float))
    weights = None if w is None else torch.from_numpy(np.asarray(w, dtype=float))
    # torch.func would load torch's compiler
    found = functional.jacobian(  # type: ignore[no-untyped-call]
        lambda m: _unit(m if weights is None else weights @ m), point
    )
    result: Floats = found.reshape(point.numel(), -1).numpy()
    return result


def normalization(x: Any, power: int = 3) -> Case:
    """GRAD Lemma C.18: the Jacobian of ``x / |x|`` is ``I / |x| - x x^T / |x|^power``.

    >>> case = normalization([3.0, 4.0])
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    x = np.asarray(x, dtype=float)
    length = np.linalg.norm(x)
    formula = np.eye(len(x)) / length - np.outer(x, x) / length**power
    return Case(jacobian(x), formula, words=f"d = {len(x)}")


def spectrum(x: Any, zeros: int = 1) -> Case:
    """GRAD Corollary C.19: ``1 / |x|`` with multiplicity ``d - zeros`` and 0 with ``zeros``.

    >>> case = spectrum([3.0, 4.0])
    >>> case.left.round(12).tolist(), case.right.tolist()
    ([0.0, 0.2], [0.0, 0.2])
    """
    x = np.asarray(x, dtype=float)
    expected = np.repeat([0.0, 1 / np.linalg.norm(x)], [zeros, len(x) - zeros])
    return Case(np.linalg.eigvalsh(jacobian(x)), expected, words=f"d = {len(x)}")


def rows(x: Floats, words: str = "", times: float = 1.0) -> Case:
    """GRAD Lemma C.20 for a stack: the least eigenvalue and the least squared length of a row.

    >>> case = rows(np.diag([1.0, 2.0])[None])
    >>> case.left.tolist(), case.right.tolist()
    ([[1.0]], [[1.0]])
    """
    least = np.linalg.svd(x, compute_uv=False)[..., -1:] ** 2
    shortest = np.sum(x**2, axis=-1).min(axis=-1, keepdims=True)
    return Case(times * least, shortest, words=words)


def operator_norm(x: Floats, words: str = "", lengths: bool = False, times: float = 1.0) -> Case:
    """GRAD Lemma C.16: ``|J_BN|^2 <= 1 / lambda_d``; with ``lengths``, 1 over the least row's.

    >>> case = operator_norm(np.diag([1.0, 2.0]))
    >>> bool(np.isclose(case.left, 1.0)), float(case.right)
    (True, 1.0)
    """
    norm = np.linalg.norm(jacobian(x), 2) ** 2
    least = np.linalg.svd(x, compute_uv=False)[-1] ** 2
    if lengths:
        least = np.sum(x**2, axis=-1).min()
    full = {"X is not degenerate": bool(least > 0)}
    return Case(float(norm), float(1 / (times * least)), full, words=words)


def least_eigenvalue(
    eigenvalues: Any, bound: Callable[[float], float], words: str = "", small: bool = False
) -> Case:
    """GRAD Lemma C.17: ``-log lambda_d`` and a ``bound(d psi)`` on it; ``small`` gaps, or all.

    >>> case = least_eigenvalue([1.5, 0.5], lambda a: a + 1)
    >>> round(float(case.left), 4), round(float(case.right), 4)
    (0.6931, 1.2877)
    """
    values = np.asarray(eigenvalues, dtype=float)
    d, psi = len(values), gap_of(values)
    known = {"the eigenvalues sum to d": bool(np.isclose(values.mean(), 1))}
    if small:
        known["the gap is at most 1 / (16 d)"] = psi <= threshold(d) * (1 + 1e-9)
    return Case(float(-np.log(values.min())), float(bound(d * psi)), known, words=words)


def implicit(a: Any) -> Any:
    """Return the u with ``e^-u - 1 + u = a``, u >= 0: what (C.126) says of ``-log lambda_d``.

    Why it is right: with ``v = -e^-u`` it is ``v e^v = -e^-(1 + a)``, Lambert's equation.

    >>> round(float(implicit(np.exp(-2.0) + 1)), 12)
    2.0
    """
    return 1 + a + np.real(special.lambertw(-np.exp(-1 - a)))


def log_norm(
    x: Floats,
    bound: Callable[[float], float],
    words: str = "",
    normalized: bool = False,
    small: bool = False,
) -> Case:
    """GRAD Lemma C.13: ``log |J_BN(X)|``, by Lemma C.16's proof, and a ``bound(d psi)`` on it.

    ``normalized`` scales X to ``tr X X^T = d`` first.

    >>> case = log_norm(np.eye(2) / 10, lambda a: a + 1)
    >>> bool(case.left > case.right)
    True
    """
    d = x.shape[-1]
    if normalized:
        x = x * np.sqrt(d / np.sum(x**2))
    psi = float(gap(x))
    known = {"the gap is at most 1 / (16 d)": psi <= threshold(d) * (1 + 1e-9)} if small else {}
    left = -np.log(np.linalg.norm(x, axis=-1).min())
    return Case(float(left), float(bound(d * psi)), known, words=words)


def layer(x: Floats, w: Floats, words: str = "", times: float = 1.0) -> Case:
    """GRAD Lemma C.21: the norms of ``dX_{l+1} / dX_l`` and, at ``H = W X``, of ``J_BN``.

    >>> case = layer(np.array([[3.0, 4.0], [0.0, 1.0]]), np.eye(2))
    >>> bool(np.isclose(case.left, case.right))
    True
    """
    norms = [np.linalg.norm(j, 2) for j in (jacobian(x, w), jacobian(w @ x))]
    return Case(float(norms[0]), float(norms[1] * times), words=words)


#: Numerical inequalities of the proof of Lemma C.17, as two sides of an array, on their intervals.
INEQUALITIES: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float, float]] = {
    "(C.127)": (lambda x: np.log(x) + 1 - x, lambda x: -((x - 1) ** 2) / 2, 1e-6, 1.0),
    "(C.130)": (lambda x: -np.log1p(-x), lambda x: np.sqrt(2) * x, 0.0, 0.5),
}


def inequality(display: str, right: Callable[[Any], Any] | None = None) -> Case:
    """Return both sides of one of :data:`INEQUALITIES` on a grid, lifted so that both are positive.

    >>> case = inequality("(C.130)")
    >>> bool((case.left <= case.right).all())
    True
    """
    left, printed, low, high = INEQUALITIES[display]
    x = np.linspace(low, high, 2001)
    return Case(left(x) + 20, (right or printed)(x) + 20, words=display)


#: Losses of logits ``(..., classes)`` and one-hot labels, by name.
LOSSES: Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "cross entropy": lambda z, y: -(y * torch.log_softmax(z, -1)).sum(-1),
    "squared error of probabilities": lambda z, y: (y - torch.softmax(z, -1)).square().mean(-1),
    "squared error of outputs": lambda z, y: (y - z).square().mean(-1),
}


def logits(count: int, classes: int, stream: Stream) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits ``(count, classes)`` of scales from 0.01 to 1000, and random one-hot labels.

    Half of them favour one wrong class by far but for the right one, where gradients are largest.

    >>> z, y = logits(6, 4, Stream(0))
    >>> z.shape, y.sum(-1).tolist()
    (torch.Size([6, 4]), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """
    draw = stream.numpy("logits")
    z = draw.normal(size=(count, classes)) * np.geomspace(0.01, 1000, count)[:, None]
    right = draw.integers(classes, size=count)
    half, wrong = np.arange(count // 2), (right + 1) % classes
    z[half] = -40.0
    z[half, right[half]] = 0.0
    z[half, wrong[half]] = np.linspace(-3, 40, len(half))
    return torch.from_numpy(z), torch.eye(classes, dtype=torch.float64)[right]


def _gradients(loss: str, z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    point = z.clone().requires_grad_()
    (found,) = torch.autograd.grad(LOSSES[loss](point, y).sum(), point)
    return found


def loss_gradient(
    loss: str, z: torch.Tensor, y: torch.Tensor, bound: Callable[[str, int], float]
) -> Case:
    """GRAD Lemma C.11: the largest norm of a gradient of one sample, and a ``bound`` on it.

    >>> z, y = logits(100, 3, Stream(0))
    >>> case = loss_gradient("cross entropy", z, y, lambda loss, classes: 2.0)
    >>> bool(1 < case.left < case.right)
    True
    """
    norms = _gradients(loss, z, y).norm(dim=-1)
    words = f"{loss}, {z.shape[-1]} classes"
    return Case(float(norms.max()), bound(loss, z.shape[-1]), words=words)


def lipschitz(loss: str, z: torch.Tensor, y: torch.Tensor, constant: float) -> Case:
    """GRAD Remark 6.7: the largest quotient ``|L(z) - L(z')| / |z - z'|``, and a ``constant``.

    Neighbouring rows of z are compared, as they are and moved close to one another.

    >>> z, y = logits(100, 3, Stream(0))
    >>> case = lipschitz("cross entropy", z, y, 2.0)
    >>> bool(0.5 < case.left < case.right)
    True
    """
    value = LOSSES[loss]
    others = [z.roll(1, 0), z + 0.01 * (z.roll(1, 0) - z) / (1 + z.abs().max(-1, True).values)]
    quotients = [
        (value(z, y) - value(other, y)).abs() / (z - other).norm(dim=-1) for other in others
    ]
    return Case(float(torch.stack(quotients).max()), constant, words=loss)


def cross_entropy_gradient(z: torch.Tensor, y: torch.Tensor, sign: int = -1) -> Case:
    """GRAD (C.146): automatic differentiation and ``p_k sum_{i != k} y_i - y_k (1 - p_k)``.

    ``sign`` is that of the second term.

    >>> case = cross_entropy_gradient(*logits(10, 3, Stream(0)))
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    p = torch.softmax(z, -1)
    formula = p * (y.sum(-1, keepdim=True) - y) + sign * y * (1 - p)
    return Case(_gradients("cross entropy", z, y).numpy(), formula.numpy())
