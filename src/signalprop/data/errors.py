"""What goes wrong with data, said so that a person knows what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["DataError", "extra"]


class DataError(RuntimeError):
    """A data set cannot be had, or is not what it should be.

    The message names the files, what was expected of them and what to do.

    >>> import numpy as np
    >>> from signalprop.data.catalog import DATASETS
    >>> try:
    ...     DATASETS["mnist"].check("test", (np.zeros((7, 1, 28, 28)), np.zeros(7)), "a.gz")
    ... except DataError as error:
    ...     print(error)
    a.gz: expected test images (10000, 1, 28, 28), found (7, 1, 28, 28)
    """


@contextmanager
def extra() -> Iterator[None]:
    """Turn a missing optional package into an error that names the remedy.

    >>> with extra():
    ...     import no_such_package
    Traceback (most recent call last):
    signalprop.data.errors.DataError: no_such_package is needed: install "signalprop[data]"
    """
    try:
        yield
    except ModuleNotFoundError as error:
        message = f'{error.name} is needed: install "signalprop[data]"'
        raise DataError(message) from error
