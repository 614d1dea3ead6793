"""As many threads as a piece of work is worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["threads_for"]

WORTH = 2**18  # numbers in one operation from which a second thread gains more than it waits


@contextmanager
def threads_for(numbers: int) -> Iterator[None]:
    """Let torch work on one thread where its operations are on so few ``numbers``, a function too.

    Why: at the end of each operation its threads wait for each other. On a busy machine that is
    thousands of waits for a processor, in which a kernel map takes twelve times as long; on an idle
    one the second thread gains nothing with numbers that fit the cache.

    >>> with threads_for(1000):
    ...     torch.get_num_threads()
    1
    """
    threads = torch.get_num_threads()
    if numbers >= WORTH or threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
