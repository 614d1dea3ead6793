"""Products of many matrices in factors that neither overflow nor lose the small directions."""

from __future__ import annotations

from dataclasses import dataclass

import torch

__all__ = ["GradedProduct"]

SWEEPS = 30  # of Jacobi rotations; ten are usual
NOTHING = -torch.inf  # the logarithm of a size that is 0


@dataclass(frozen=True)
class GradedProduct:
    """The matrix ``frame diag(exp(logs)) mixing`` for each run, ``(runs, m, k)``.

    ``frame`` ``(runs, m, k)`` has orthonormal columns, ``logs`` ``(runs, k)`` hold the sizes, and
    ``mixing`` ``(runs, k, k)`` has entries of at most 1. A product of a thousand matrices has
    singular values that lie hundreds of orders of magnitude apart: as one matrix of floats it has
    rank one. Here the sizes are logarithms of their own.

    Why it is right: multiplied by J, the columns of ``J frame`` are sorted by their size and
    orthogonalized, ``J frame = Q R``; the rows of ``R diag(exp(logs))`` are divided by their
    largest entry, which goes into the logarithms. As R is upper triangular and the sizes decrease,
    no quotient exceeds 1 (Bai, Lee, Li and Xu 2011, the method that is called UDT).

    What one factor alone shrinks to its rounding (``k eps`` times its largest direction) counts
    as lost: its size is 0, the logarithm minus infinity.

    >>> start = GradedProduct.identity(torch.eye(2, dtype=torch.float64)[None])
    >>> shrink = torch.tensor([[[1.0, 1.0], [0.0, 1e-9]]], dtype=torch.float64)
    >>> product = start
    >>> for _ in range(100):
    ...     product = product.times(shrink @ product.frame)
    >>> [round(float(log), 3) for log in product.log_singular_values()[0]]
    [0.347, -2072.673]
    """

    frame: torch.Tensor
    logs: torch.Tensor
    mixing: torch.Tensor

    @classmethod
    def identity(cls, frame: torch.Tensor) -> GradedProduct:
        """Return ``frame`` ``(runs, m, k)``, of orthonormal columns, as a product."""
        runs, _, count = frame.shape
        mixing = torch.eye(count, dtype=frame.dtype, device=frame.device).repeat(runs, 1, 1)
        return cls(frame, frame.new_zeros(runs, count), mixing)

    def times(self, pushed: torch.Tensor) -> GradedProduct:
        """Return the product by one more matrix J from the left; ``pushed`` is ``J frame``."""
        sizes = self.logs + torch.linalg.vector_norm(pushed, dim=-2).log()
        order = sizes.argsort(dim=-1, descending=True)
        columns = pushed.take_along_dim(order[:, None], -1)
        logs = self.logs.take_along_dim(order, -1)
        frame, r = torch.linalg.qr(columns)
        lost = 4 * r.shape[-1] * torch.finfo(r.dtype).eps * r.abs().amax((-2, -1), keepdim=True)
        r = torch.where(r.abs().amax(-1, keepdim=True) > lost, r, 0)
        entries = r.abs().log() + logs[:, None]
        new = entries.amax(-1)
        quotients = r.sign() * (entries - new[..., None]).nan_to_num(nan=NOTHING).exp()
        mixing = quotients @ self.mixing.take_along_dim(order[..., None], -2)
        grown = mixing.abs().amax(-1)  # the rows of a product of mixings grow: logarithms take it
        scale = torch.where(grown > 0, grown, 1)
        return GradedProduct(frame, new + scale.log(), mixing / scale[..., None])

    def log_singular_values(self) -> torch.Tensor:
        """Return the logarithms of the k singular values ``(runs, k)``, largest first.

        They are those of ``mixing^T diag(exp(logs))``. Two QR steps make it nearly diagonal, and
        one-sided Jacobi rotations do the rest, with the sizes of the columns as logarithms: each
        singular value is found to the digits that the columns' directions have, however small it
        is (Demmel and Veselic 1992).
        """
        columns, logs = self.mixing.mT, self.logs
        for _ in range(2):
            columns, logs = _nearer_diagonal(*_sorted(columns, logs))
        return _by_rotations(*_sorted(columns, logs)).sort(dim=-1, descending=True).values


def _sorted(columns: torch.Tensor, logs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return columns of length one, the largest first, and the logarithms of their sizes."""
    norms = torch.linalg.vector_norm(columns, dim=-2)
    logs = torch.where(norms > 0, logs + norms.log(), NOTHING)
    columns = columns / torch.where(norms > 0, norms, 1)[:, None]
    order = logs.argsort(dim=-1, descending=True)
    return columns.take_along_dim(order[:, None], -1), logs.take_along_dim(order, -1)


def _nearer_diagonal(
    columns: torch.Tensor, logs: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return another pair with the same singular values: ``C D = Q R D``, then ``(R D)^T``."""
    lower = torch.linalg.qr(columns, mode="r").R.mT
    quotients = (logs[..., None] - logs[:, None]).nan_to_num(nan=NOTHING, posinf=0).exp()
    quotients.diagonal(dim1=-2, dim2=-1).fill_(1)
    return lower * quotients.tril(), logs


def _by_rotations(columns: torch.Tensor, logs: torch.Tensor) -> torch.Tensor:
    """Rotate pairs of columns until all are orthogonal; return the logarithms of their lengths."""
    columns, logs = columns.clone(), logs.clone()
    rounding = columns.shape[-2] * torch.finfo(columns.dtype).eps
    for _ in range(SWEEPS):
        worst = 0.0
        for pair in _tournament(columns.shape[-1]):
            worst = max(worst, _rotate(columns, logs, pair.to(columns.device), rounding))
        if worst <= rounding:
            break
    return logs


def _rotate(
    columns: torch.Tensor, logs: torch.Tensor, pair: torch.Tensor, rounding: float
) -> float:
    """Make the columns ``pair`` ``(2, pairs)`` orthogonal, in place; return the worst cosine."""
    sizes = logs[:, pair]
    swap = (sizes[:, 0] < sizes[:, 1])[:, None]
    sizes = torch.where(swap, sizes.flip(1), sizes)
    both = columns[..., pair]
    both = torch.where(swap[:, None], both.flip(2), both)
    long, short = both.unbind(2)
    cosine = (long * short).sum(-2)
    # With x = e^p u longer than y = e^q v and t the tangent of the angle, x + t y and y - t x are
    # orthogonal. All is said by the quotient e^(q-p) of the sizes, which may vanish.
    quotient = (sizes[:, 1] - sizes[:, 0]).nan_to_num(nan=0.0).exp()
    half = (1 - quotient.square()) / (2 * cosine.abs())
    tangent = cosine.sign() / (half + torch.hypot(quotient, half))  # t over the quotient
    tangent = torch.where(cosine.abs() > 0, tangent, 0)[:, None]
    q = quotient[:, None]
    rotated = torch.stack([long + q * q * tangent * short, short - tangent * long], dim=2)
    norms = torch.linalg.vector_norm(rotated, dim=1)
    there = norms > rounding
    unit = rotated / torch.where(there, norms, 1)[:, None] * there[:, None]
    shrunk = -0.5 * torch.log1p((q * tangent).square())  # the cosine of the angle
    lengths = torch.where(there, sizes + shrunk + norms.log(), NOTHING)
    # Back to their own places: else some pairs would never meet.
    columns[..., pair] = torch.where(swap[:, None], unit.flip(2), unit)
    logs[:, pair] = torch.where(swap, lengths.flip(1), lengths)
    return float(cosine.abs().max()) if cosine.numel() else 0.0


def _tournament(count: int) -> list[torch.Tensor]:
    """Return rounds ``(2, pairs)`` in which each of ``count`` meets every other once.

    >>> [pair.tolist() for pair in _tournament(3)]
    [[[1], [2]], [[0], [2]], [[0], [1]]]
    """
    players = list(range(count)) + [-1] * (count % 2)  # -1 sits out
    rounds = []
    for _ in range(len(players) - 1):
        half = len(players) // 2
        pairs = list(zip(players[:half], reversed(players[half:]), strict=True))
        met = [pair for pair in pairs if -1 not in pair]
        rounds.append(torch.tensor(met, dtype=torch.long).reshape(-1, 2).T)
        players = [players[0], players[-1], *players[1:-1]]
    return rounds
