"""Ranks of random batches of real images: GRAD, Section C.4 and Table C.1.

Frames hold one row a batch, columns named in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import torch

import signalprop as sp
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = ["FORMATS", "batches", "cosines", "load", "mean_pixel", "ranks", "singular_values"]

#: Number formats, by name.
FORMATS: Mapping[str, torch.dtype] = {"single": torch.float32, "double": torch.float64}


def load(name: str) -> torch.Tensor:
    """Return the training images of a data set, ``(N, features)``, whole numbers from 0 to 255."""
    images, _ = sp.data.load(name)
    parts = torch.split(images, 5000)  # whole sets would be copied three times
    return torch.cat([(255 * part).round().to(torch.uint8) for part in parts]).flatten(1)


def mean_pixel(images: torch.Tensor) -> float:
    """Return the mean of all numbers of ``images``, between 0 and 1."""
    return float(images.numpy().mean()) / 255


def batches(
    images: torch.Tensor, size: int, count: int, stream: Stream, shift: float = 0.0
) -> Iterator[torch.Tensor]:
    """Return ``count`` random batches ``(size, features)`` one by one, without replacement in each.

    In double precision, with pixels in [0, 1] less ``shift``. Batch k depends on ``stream``,
    ``size`` and k only.
    """
    if not 1 <= size <= len(images):
        raise ValueError(f"size must be in 1..{len(images)}, got {size}")
    rows = [g.choice(len(images), size, replace=False) for g in stream.child(size).runs(count)]
    return (images[torch.from_numpy(chosen)].double() / 255 - shift for chosen in rows)


def ranks(
    images: torch.Tensor,
    sizes: Sequence[int],
    count: int,
    stream: Stream,
    *,
    gram: bool = True,
    precision: str = "single",
    shift: float = 0.0,
) -> pd.DataFrame:
    """Return size, batch and rank: of the Gram matrix ``X X^T`` or of the batch X itself.

    The rank counts the singular values above ``max(shape) eps`` times the largest, with eps the
    precision of the format, which is what ``torch.linalg.matrix_rank`` does by default. The matrix
    is written, and for the Gram matrix multiplied, in that format. ``shift`` as in `batches`.
    """
    if precision not in FORMATS:
        raise ValueError(f"precision must be one of {', '.join(FORMATS)}, got {precision!r}")
    rows = []
    for size in sizes:
        for k, x in enumerate(batches(images, size, count, stream, shift)):
            x = x.to(FORMATS[precision])
            rows.append((size, k, int(sp.rank(x @ x.mT if gram else x))))
    return pd.DataFrame(rows, columns=["size", "batch", "rank"])


def singular_values(images: torch.Tensor, size: int, stream: Stream) -> Floats:
    """Return the singular values of the first batch in double precision over the largest one."""
    (x,) = batches(images, size, 1, stream)
    values = torch.linalg.svdvals(x)
    result: Floats = (values / values[0]).numpy()
    return result


def cosines(images: torch.Tensor, size: int, count: int, stream: Stream) -> Floats:
    """Return the mean cosine between two images of a batch, batch by batch ``(count,)``."""
    found = []
    for x in batches(images, size, count, stream):
        between = sp.metrics.cosine_similarity(x)
        found.append(float((between.sum() - size) / (size * (size - 1))))
    return np.array(found)
