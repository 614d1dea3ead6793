"""Load a data set: from the cache, or else from the first source that has it."""

from __future__ import annotations

import errno
import hashlib
import math
import os
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from signalprop.data.catalog import DATASETS, Dataset
from signalprop.data.decoding import BYTES, Split, Splits
from signalprop.data.errors import DataError, extra
from signalprop.data.sources import Source

__all__ = ["cached_file", "digest", "fetch", "folder", "load", "names", "standardize", "verify"]


#: What zipfile and numpy raise for damaged files and other kinds; DataError is a RuntimeError.
UNREADABLE = (OSError, EOFError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)

#: Bytes that come before those of an array in its file, at most: this form counts them in two.
HEADER = 2**16 + 10


def names() -> tuple[str, ...]:
    """Return the names of the data sets there are.

    >>> names()
    ('cifar10', 'cifar100', 'mnist', 'fashion_mnist')
    """
    return tuple(DATASETS)


def folder() -> Path:
    """Return the cache folder: ``$SIGNALPROP_DATA``, or the platform's place for caches.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, SIGNALPROP_DATA="somewhere"):
    ...     print(folder())
    somewhere
    """
    if chosen := os.environ.get("SIGNALPROP_DATA"):
        return Path(chosen)
    with extra():
        import pooch
    return Path(pooch.os_cache("signalprop"))


def digest(name: str) -> str:
    """Return what identifies the content of a data set, without loading or fetching it.

    >>> digest("mnist") != digest("fashion_mnist")
    True
    """
    return _dataset(name).digest()


def load(
    name: str, split: str = "train", count: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the images and labels of a data set, fetched first if the cache has it not.

    Images are float32 of shape (N, C, H, W) in [0, 1], byte / 255; labels are int64 of shape
    (N,). ``count`` takes the first so many. The bytes are checked by SHA-256 each time, so every
    source gives the same tensors.

    >>> images, labels = load("mnist", "test", count=100)      # doctest: +SKIP
    >>> images.shape, labels[:3]                                # doctest: +SKIP
    (torch.Size([100, 1, 28, 28]), tensor([7, 2, 1]))
    """
    dataset = _dataset(name)
    if split not in dataset.counts:
        raise ValueError(f"split must be one of {', '.join(dataset.counts)}, got {split!r}")
    limit = dataset.counts[split]
    if count is not None and not 1 <= count <= limit:
        raise ValueError(f"count must be in 1..{limit} for {name} {split}, got {count!r}")
    if not cached_file(name, split).exists():
        fetch(name)
    images, labels = _read(dataset, split)
    return (
        torch.from_numpy(images[:count]).to(torch.float32).div_(255),
        torch.from_numpy(labels[:count]).to(torch.int64),
    )


def standardize(images: torch.Tensor, reference: torch.Tensor | None = None) -> torch.Tensor:
    """Return images, (N, C, H, W), with mean 0 and standard deviation 1 in every channel.

    The moments are those of ``reference`` (say, the training images), by default of ``images``.

    >>> x = standardize(torch.rand(5, 3, 4, 4))
    >>> torch.allclose(x.std((0, 2, 3), correction=0), torch.ones(3), atol=1e-5)
    True
    """
    reference = images if reference is None else reference
    for name, given in {"images": images, "reference": reference}.items():
        fits = given.ndim == 4 and given.numel() > 0
        # The two ends tell of NaN as well, and take no memory; isfinite takes twice the data's.
        if not fits or not all(end.isfinite() for end in torch.aminmax(given)):
            shape = tuple(given.shape)
            raise ValueError(f"{name} must be finite, of shape (N, C, H, W), got shape {shape}")
    mean = reference.mean((0, 2, 3), keepdim=True)
    deviation = reference.std((0, 2, 3), correction=0, keepdim=True)
    if bool((deviation == 0).any()):
        raise ValueError("reference must vary in every channel, got a constant channel")
    return (images - mean).div_(deviation)


def cached_file(name: str, split: str) -> Path:
    """Return where a split is cached, be it there or not.

    >>> cached_file("mnist", "test").name
    'mnist-test.npz'
    """
    return folder() / f"{name}-{split}.npz"


def verify(name: str) -> bool:
    """Raise :class:`DataError` unless both splits are cached and sound.

    Returns whether their content was compared with a known digest: of CIFAR-100 none is known,
    and sizes and checksums are all that can be looked at.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, SIGNALPROP_DATA="nowhere"):
    ...     verify("mnist")
    Traceback (most recent call last):
    signalprop.data.errors.DataError: nowhere/mnist-train.npz is missing: fetch mnist first
    """
    dataset = _dataset(name)
    for split in dataset.counts:
        if not cached_file(name, split).exists():
            raise DataError(f"{cached_file(name, split)} is missing: fetch {name} first")
        _read(dataset, split)
    return set(dataset.digests) == set(dataset.counts)


def fetch(name: str) -> None:
    """Put a data set into the cache: from files placed by hand, else from the first source.

    Files named in the error of a failed fetch can be put by hand into the folder that it names.
    A split appears in the cache whole and checked, or not at all, so any number of
    processes may fetch at once.

    >>> fetch("mnist")                             # downloads  # doctest: +SKIP
    >>> fetch("imagenet")
    Traceback (most recent call last):
    ValueError: name must be one of cifar10, cifar100, mnist, fashion_mnist, got 'imagenet'
    """
    dataset = _dataset(name)
    splits = _by_hand(dataset) or _from_sources(dataset)
    for split, arrays in splits.items():
        _write(cached_file(name, split), arrays)


def _dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise ValueError(f"name must be one of {', '.join(DATASETS)}, got {name!r}")
    return DATASETS[name]


def _by_hand(dataset: Dataset) -> Splits | None:
    place = folder() / "downloads" / dataset.name
    source = next((s for s in dataset.sources if s.find(place)), None)
    return _decoded(dataset, source, place) if source else None


def _from_sources(dataset: Dataset) -> Splits:
    problems = []
    for source in dataset.sources:
        _say(f"{dataset.name}: trying {source} ({source.megabytes} MB)")
        try:
            with _room(), tempfile.TemporaryDirectory(dir=_made(folder()), prefix=".") as temporary:
                source.fetch(Path(temporary))
                return _decoded(dataset, source, Path(temporary))
        except DataError as error:
            _say(f"{dataset.name}: {error}")
            problems.append(str(error))
    raise DataError("\n".join([f"{dataset.name} cannot be had:", *problems, _remedy(dataset)]))


def _remedy(dataset: Dataset) -> str:
    choices = "\n".join(f"  {' '.join(s.files)}   (from {s})" for s in dataset.sources)
    place = folder() / "downloads" / dataset.name
    return f"Put the files of one of these lines into {place} and try again:\n{choices}"


def _decoded(dataset: Dataset, source: Source, place: Path) -> Splits:
    files = ", ".join(f"{path} (SHA-256 {_file_digest(path)})" for path in source.find(place))
    try:
        splits = source.read(place)
    except (ValueError, OSError, EOFError, tarfile.TarError) as error:
        expected = " ".join(dataset.digests.values())
        text = f"{files}: wrong or truncated, {error}; expected arrays of SHA-256 {expected}"
        raise DataError(text) from error
    for split, arrays in splits.items():
        dataset.check(split, arrays, files)
    return splits


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(dataset: Dataset, split: str) -> Split:
    path = cached_file(dataset.name, split)
    try:
        with zipfile.ZipFile(path) as archive:  # np.load would also take files of other kinds
            shape = dataset.counts[split], *dataset.image
            arrays = _array(archive, "images", shape), _array(archive, "labels", shape[:1])
        dataset.check(split, arrays, str(path))
    except UNREADABLE as error:
        remedy = f"run: python -m signalprop.data fetch {dataset.name}"
        raise DataError(f"{path} is damaged, {remedy} ({error})") from error
    return arrays


def _array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Read an array of bytes, unless its headers tell of another: nothing else is given memory."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} are compressed")
    if member.file_size > math.prod(shape) + HEADER:
        raise ValueError(f"{name} of {member.file_size} bytes, expected {math.prod(shape)}")
    with archive.open(member) as file:
        np.lib.format.read_magic(file)
        found, _, kind = np.lib.format.read_array_header_1_0(file)
        if (found, kind) != (shape, BYTES):
            raise ValueError(f"{name} are {kind} of shape {found}, expected uint8 of {shape}")
        file.seek(0)
        array: np.ndarray[Any, Any] = np.lib.format.read_array(file)
    return array


def _write(path: Path, arrays: Split) -> None:
    """Write so that ``path`` is at any moment either absent, the old file, or the whole new one."""
    with _room(), tempfile.TemporaryDirectory(dir=_made(path.parent), prefix=".") as temporary:
        part = Path(temporary) / path.name
        with part.open("wb") as file:
            np.savez(file, images=arrays[0], labels=arrays[1])
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


def _made(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def _room() -> Iterator[None]:
    """Say where there was no room, or no right, to write."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        problem = "no space left in" if full else f"cannot write to ({error.strerror})"
        remedy = "make room or set SIGNALPROP_DATA to another folder"
        raise DataError(f"{problem} {folder()}: {remedy}") from error


def _say(text: str) -> None:
    print(f"signalprop.data: {text}", file=sys.stderr, flush=True)
