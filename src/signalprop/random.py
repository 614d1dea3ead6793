"""Random streams: every draw is named by (seed, names..., run), never by what ran before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = ["Stream", "as_stream"]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


Name = str | int


@dataclass(frozen=True)
class Stream:
    """A named source of randomness.

    Two streams with the same seed and names give the same numbers; any difference in either gives
    independent ones. A run of an experiment draws from its own child, so that its numbers depend
    neither on how many runs are batched together nor on the order in which they are made.

    Why it is right: the names are hashed (BLAKE2b, 256 bits) into the entropy of numpy's
    ``SeedSequence``, whose purpose is to turn any distinct entropies into independent states.

    >>> stream = Stream(0).child("chapter", "weights")
    >>> float(stream.numpy(3).random()) == float(stream.child(3).numpy().random())
    True
    >>> float(stream.numpy(3).random()) == float(stream.numpy(4).random())
    False
    """

    seed: int
    names: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer):
            raise ValueError(f"seed must be an integer, got {self.seed!r}")
        for name in self.names:
            if not isinstance(name, str | int | np.integer):
                raise ValueError(f"names of a stream must be strings or integers, got {name!r}")

    def child(self, *names: Name) -> Stream:
        """Return the stream one or more names further down."""
        return Stream(self.seed, self.names + names)

    def runs(self, count: int) -> list[np.random.Generator]:
        """Return one numpy generator a run: ``[self.numpy(0), ..., self.numpy(count - 1)]``."""
        return [self.numpy(run) for run in range(count)]

    def numpy(self, *names: Name) -> np.random.Generator:
        """Return a new numpy generator for this stream (or for a child of it)."""
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(self._entropy(names))))

    def torch(self, *names: Name) -> torch.Generator:
        """Return a new CPU torch generator for this stream (or for a child of it).

        It lives on the CPU by design: draw there, then move, and every device sees one set of
        weights.
        """
        import torch  # it takes seconds to load, and many streams give numpy's generators alone

        return torch.Generator().manual_seed(self._entropy(names) % 2**63)

    def _entropy(self, names: tuple[Name, ...]) -> int:
        # str and int must differ: ("1",) and (1,) are two streams, on every platform's int types.
        parts = [n if isinstance(n, str) else int(n) for n in (int(self.seed), *self.names, *names)]
        return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=32).digest())


def as_stream(seed: int | Stream) -> Stream:
    """Return ``seed`` itself if it is a stream already, else the root stream of that integer.

    >>> as_stream(7)
    Stream(seed=7, names=())
    """
    return seed if isinstance(seed, Stream) else Stream(seed)
