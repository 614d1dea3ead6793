"""The two ways to multiply by fresh random weights: draw them, or draw only the product."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch

from signalprop._arrays import Floats
from signalprop.weights import Law, gaussian

__all__ = ["ENGINES", "choose_engine", "direct", "draws", "reduced", "root"]

Product = Callable[[torch.Tensor], torch.Tensor]

# Entries drawn or kept at a time, 8 MB: large enough that two threads seldom wait for each other.
BLOCK = 2**20


def direct(
    law: Law, width: int, depth: int, generators: Sequence[np.random.Generator], start: torch.Tensor
) -> Product:
    """Return ``a -> a W^T`` with explicit fresh weights: any law.

    ``start`` and the first ``a`` are ``(runs, n, d)``, the products ``(runs, n, width)``; there are
    weights for ``depth`` of them.

    What bounds the speed: a matrix is drawn, used once and thrown away. With P, D and N the work
    of a product, of drawing its matrix and of the layers, no more than ``P / (P + D + N)`` of the
    speed of bare products is possible, on one core or two. At width 256 with 256 samples that was
    0.78 for uniform weights (0.67 reached) and 0.53 for Gaussian ones, whose numbers cost four
    times as much.

    >>> from signalprop.random import Stream
    >>> a = torch.ones(2, 3, 4)
    >>> direct(gaussian(), width=5, depth=1, generators=Stream(0).runs(2), start=a)(a).shape
    torch.Size([2, 3, 5])
    """
    weights = draws(law, generators, (width, start.shape[-1]), (width, width), depth, start)
    return lambda a: a @ next(weights).mT


def reduced(
    law: Law, width: int, depth: int, generators: Sequence[np.random.Generator], start: torch.Tensor
) -> Product:
    """Return a sample of ``a W^T`` given ``a`` without drawing W: centered Gaussian weights only.

    Why it is right: the rows of ``W a^T`` are independent ``N(0, variance * a a^T)``. With
    ``a^T = Q R`` the same is true of ``Z R``, Z having independent Gaussian entries. R comes from
    ``a`` by Householder reflections, not from ``a a^T`` by Cholesky, so that neither linear
    dependence nor a wide range of singular values costs accuracy.

    Shapes as for `direct`.

    >>> from signalprop.random import Stream
    >>> a = torch.tensor([[[1.0, 2.0], [2.0, 4.0]]])
    >>> z = reduced(gaussian(), width=5, depth=1, generators=Stream(0).runs(1), start=a)(a)
    >>> torch.allclose(2 * z[:, 0], z[:, 1])     # the product is linear in a
    True
    """
    n, d = start.shape[-2:]
    normal = draws(
        gaussian(variance=1.0), generators, (min(n, d), width), (min(n, width), width), depth, start
    )

    return lambda a: root(a, law.variance(a.shape[-1], width)).mT @ next(normal)


def root(a: torch.Tensor, variance: float) -> torch.Tensor:
    """Return R ``(..., min(n, d), n)`` with ``R^T R = variance a a^T`` for ``a`` ``(..., n, d)``.

    >>> root(torch.tensor([[3.0, 4.0]]), variance=0.25).abs()
    tensor([[2.5000]])
    """
    triangle: torch.Tensor = torch.linalg.qr(a.mT, mode="r").R
    return triangle * math.sqrt(variance)


ENGINES = {"direct": direct, "reduced": reduced}


def choose_engine(engine: str, law: Law, width: int, n: int) -> str:
    """Return the name of the engine to use; refuse one that does not fit, with the reason.

    ``"auto"`` takes the reduced one where it is right and draws fewer numbers.

    >>> choose_engine("auto", gaussian(), width=100, n=10)
    'reduced'
    >>> choose_engine("auto", gaussian(), width=100, n=80)
    'direct'
    """
    if engine == "auto":
        return "reduced" if law.is_gaussian and 2 * n <= width else "direct"
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of auto, {', '.join(ENGINES)}, got {engine!r}")
    if engine == "reduced" and not law.is_gaussian:
        raise ValueError(
            "engine 'reduced' needs centered Gaussian weights, whose products W H have independent "
            f"Gaussian rows given H; got {law!r}: use engine 'direct'"
        )
    return engine


def draws(
    law: Law,
    generators: Sequence[np.random.Generator],
    first: tuple[int, int],
    rest: tuple[int, int],
    depth: int,
    like: torch.Tensor,
) -> Iterator[torch.Tensor]:
    """Yield ``depth`` matrices for each run: one ``(runs, *first)``, the others ``(runs, *rest)``.

    A tensor is valid until the next one is asked for. Matrices are drawn many layers at a time
    into two buffers in turn. Every run reads its own generator in order, so that the size of a
    block leaves no trace in the numbers.

    >>> from signalprop.random import Stream
    >>> like = torch.zeros((), dtype=torch.float32)
    >>> [w.shape[1:] for w in draws(gaussian(), Stream(0).runs(2), (5, 3), (5, 5), 3, like)]
    [torch.Size([5, 3]), torch.Size([5, 5]), torch.Size([5, 5])]
    """

    def fill(block: Floats) -> torch.Tensor:
        for run, generator in zip(block, generators, strict=True):
            law.fill(run, generator)
        return torch.from_numpy(block)

    if depth == 0:
        return
    runs = len(generators)
    yield fill(np.empty((runs, *first))).to(like)
    layers = max(1, BLOCK // (runs * math.prod(rest)))
    buffers = np.empty((2, runs, min(layers, depth - 1), *rest))
    blocks = (buffers[i % 2, :, : depth - done] for i, done in enumerate(range(1, depth, layers)))
    for block in _one_ahead(fill, blocks):
        yield from block.to(like).unbind(1)


def _one_ahead(
    fill: Callable[[Floats], torch.Tensor], blocks: Iterable[Floats]
) -> Iterator[torch.Tensor]:
    """Yield the filled blocks; a second thread fills the next one while this one is in use."""
    pending: deque[Future[torch.Tensor]] = deque()
    with ThreadPoolExecutor(1) as thread:
        for block in blocks:
            pending.append(thread.submit(fill, block))
            if len(pending) == 2:
                yield pending.popleft().result()
        for last in pending:
            yield last.result()
