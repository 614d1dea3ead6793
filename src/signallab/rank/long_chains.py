"""Averages over very many layers of one network: streamed, resumable, with honest errors.

Nothing is kept of a layer but a few sums. The layers are cut into 25 stretches; the first five are
thrown away, as the chain still remembers its input there, and each of the others gives one number
a quantity. Means over stretches much longer than the memory of the chain are nearly independent,
so that Student's interval over them is honest although neighbouring layers are not independent
(the method of batch means).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signalprop import weights
from signalprop.chains.engines import direct
from signalprop.random import Stream
from signalprop.training.checkpoint import read_checkpoint, run_identity, write_checkpoint

__all__ = ["QUANTITIES", "linear_chain", "moments", "regularity", "strength", "stretches"]

STRETCHES, BURN_IN = 25, 5
NO_SKIP = 1e9  # a chapter's parameter cannot be infinite; from here on the other branch is lost
AT_ONCE = 2**18  # entries of layers that are measured together

#: What is averaged, in the order of :func:`moments`.
QUANTITIES = ("r", "soft rank", "squared norm", "diagonal term", "cube")


def linear_chain(width: int, gamma: float) -> sp.Chain:
    """Return the chain of RANK Definition 2 with linear F; from 1e9 on it has no skip connection.

    >>> linear_chain(8, np.inf).residual is None
    True
    """
    branch = gamma if gamma < NO_SKIP else None
    return sp.Chain(width, weights.uniform(), [sp.BatchNorm(center=False)], residual=branch)


def strength(gamma: float) -> str:
    """Return the strength of the branch in words.

    >>> strength(0.1), strength(1e9)
    ('0.1', '∞')
    """
    return f"{gamma:g}" if gamma < NO_SKIP else "∞"


def moments(h: torch.Tensor) -> torch.Tensor:
    """Return r, the soft rank at 1/2, ``|M|^2``, ``tr diag(M^2)^2``, ``tr M^3``: ``(m, 5)``.

    For layers ``(m, n, d)`` whose features have norm ``sqrt n``, so that the trace of M is d. All
    five rest on the large eigenvalues of M, which rounding does not touch.

    >>> moments(2 * torch.eye(4, dtype=torch.float64)[None]).tolist()
    [[4.0, 4.0, 4.0, 4.0, 4.0]]
    """
    d = h.shape[-1]
    m = h.mT @ h / h.shape[-2]
    square = m @ m
    diagonal = square.diagonal(dim1=-2, dim2=-1)
    norm = diagonal.sum(-1)
    soft = (torch.linalg.eigvalsh(m) >= 0.5).sum(-1)
    cube = (square * m).sum((-2, -1))
    return torch.stack([d**2 / norm, soft, norm, diagonal.square().sum(-1), cube], -1)


def stretches(
    width: int,
    gamma: float,
    layers: int,
    runs: int,
    stream: Stream,
    *,
    samples: int | None = None,
    every: int = 10,
    folder: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> pd.DataFrame:
    """Return the averages of :func:`moments` over 20 stretches of ``layers`` layers of each run.

    One row a run and stretch. The input has ``samples`` (by default ``width``) Gaussian samples. As
    the chain of M is the same for all inputs of one M, k samples serve for every input of rank k,
    and rounding cannot raise the rank. One layer in ``every`` is measured. With ``folder`` the
    state is saved after each stretch, so that a run which was killed goes on where it was; its
    numbers are the same.

    >>> frame = stretches(4, np.inf, 500, 2, Stream(0))
    >>> len(frame), bool((frame["r"] > 1).all())
    (40, True)
    """
    length = layers // (STRETCHES * every) * every
    if length < 1:
        raise ValueError(
            f"layers must be at least {STRETCHES * every} = 25 stretches of every = {every}, "
            f"got {layers}"
        )
    chain = linear_chain(width, gamma)
    identity = run_identity(chain.width, gamma, length, every, runs, samples, stream)
    path = folder / f"{identity}.pt" if folder else None
    saved = read_checkpoint(path, identity) if path else None
    state = saved or {"done": 0, "h": _input(width, samples or width, runs, stream)}
    means: list[torch.Tensor] = state.get("means", [])
    for part in range(state["done"], STRETCHES):
        mean, state["h"] = _stretch(chain, state["h"], length, every, stream.child(part))
        means = [*means, mean]
        if path:
            write_checkpoint(path, state | {"done": part + 1, "means": means}, identity)
        if progress:
            progress(f"width {width}, gamma {gamma:g}", part + 1, STRETCHES)
    values = torch.stack(means[BURN_IN:], 1).flatten(0, 1).numpy()  # (runs * stretches, quantities)
    place = {"run": np.repeat(np.arange(runs), STRETCHES - BURN_IN)}
    place |= {"stretch": np.tile(np.arange(STRETCHES - BURN_IN), runs)}
    return pd.DataFrame({"width": width, "gamma": gamma, **place, **_named(values)})


def regularity(frame: pd.DataFrame) -> Any:
    """Return numbers, one a stretch, whose mean is the regularity constant of all stretches.

    The constant is a ratio of two means. Its error is, to first order, that of the mean of
    ``alpha + (diagonal term - alpha cube) / mean cube``: these are the numbers. Ratios of single
    stretches would have a bias.

    >>> regularity(pd.DataFrame({"diagonal term": [1.0, 2.0], "cube": [2.0, 2.0]}))
    array([0.5, 1. ])
    """
    diagonal, cube = frame["diagonal term"].to_numpy(), frame["cube"].to_numpy()
    alpha = diagonal.mean() / cube.mean()
    return alpha + (diagonal - alpha * cube) / cube.mean()


def _named(values: Any) -> dict[str, Any]:
    return dict(zip(QUANTITIES, values.T, strict=True))


def _input(width: int, samples: int, runs: int, stream: Stream) -> torch.Tensor:
    gaussian = sp.inputs.gaussian_samples(samples)(width, runs, stream.child("input"))
    result: torch.Tensor = sp.BatchNorm(center=False)(gaussian)
    return result


@torch.no_grad()
def _stretch(
    chain: sp.Chain, h: torch.Tensor, length: int, every: int, stream: Stream
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the means ``(runs, quantities)`` over a stretch of layers, and its last layer."""
    runs = len(h)
    product = direct(chain.law, chain.width, length, stream.runs(runs), h)
    layers = chain.steps(h, product)
    sums = torch.zeros(runs, len(QUANTITIES), dtype=h.dtype)
    waiting: list[torch.Tensor] = []
    for layer in range(1, length + 1):
        h = next(layers)
        if layer % every == 0:
            waiting.append(h)
        if waiting and (len(waiting) * h.numel() >= AT_ONCE or layer == length):
            sums += moments(torch.cat(waiting)).reshape(len(waiting), runs, -1).sum(0)
            waiting = []
    return sums / (length // every), h
