"""From the files of a source to arrays: IDX, CIFAR's binary records, and PNG sheets."""

from __future__ import annotations

import gzip
import io
import json
import math
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np

__all__ = [
    "BYTES",
    "UNPACKED",
    "Decoder",
    "Split",
    "Splits",
    "cifar_records",
    "idx_files",
    "limited",
    "png_sheets",
    "unzipped",
]

Split = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
"""Images, uint8 of shape (N, C, H, W), and labels, uint8 of shape (N,)."""
Splits = dict[str, Split]
Decoder = Callable[[Mapping[str, bytes]], Splits]

BYTES = np.dtype(np.uint8)

#: What a file may unpack to, in bytes. The largest of the data sets has 184 million; a small file
#: that unpacks to more was made to fill the memory.
UNPACKED = 2**28


def idx_files() -> Decoder:
    """Decode the four files of MNIST and its relatives, gzipped or not.

    >>> raw = bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])       # a vector of the two bytes 7 and 9
    >>> _idx(raw)
    array([7, 9], dtype=uint8)
    """

    def read(files: Mapping[str, bytes], stem: str) -> np.ndarray[Any, Any]:
        name = next((n for n in (stem, stem + ".gz") if n in files), stem)
        return _idx(_member(files, name))

    def decode(files: Mapping[str, bytes]) -> Splits:
        return {
            split: (
                read(files, f"{prefix}-images-idx3-ubyte")[:, None],
                read(files, f"{prefix}-labels-idx1-ubyte"),
            )
            for split, prefix in {"train": "train", "test": "t10k"}.items()
        }

    return decode


def cifar_records(
    train: tuple[str, ...], test: tuple[str, ...], label_bytes: int, size: int = 32
) -> Decoder:
    """Decode CIFAR's binary version: records of labels (the last one counts) and 3 x 32 x 32 bytes.

    >>> record = bytes([5]) + bytes(range(3))
    >>> decode = cifar_records(("a",), ("b",), label_bytes=1, size=1)
    >>> splits = decode({"a": record, "b": 2 * record})
    >>> splits["test"][0].shape, splits["test"][1]
    ((2, 3, 1, 1), array([5, 5], dtype=uint8))
    """
    pixels = 3 * size * size

    def part(files: Mapping[str, bytes], names: tuple[str, ...]) -> Split:
        raw = b"".join(_member(files, name) for name in names)
        if len(raw) % (label_bytes + pixels):
            raise ValueError(f"{', '.join(names)}: {len(raw)} bytes are no whole number of records")
        records = np.frombuffer(raw, BYTES).reshape(-1, label_bytes + pixels)
        images = records[:, label_bytes:].reshape(-1, 3, size, size)
        return images.copy(), records[:, label_bytes - 1].copy()

    return lambda files: {"train": part(files, train), "test": part(files, test)}


def png_sheets(train: tuple[str, ...], test: tuple[str, ...], labels: Mapping[str, str]) -> Decoder:
    """Decode PNG sheets with one RGB image per row of pixels, and labels as JSON lists.

    >>> from PIL import Image
    >>> sheet = io.BytesIO()
    >>> Image.new("RGB", (4, 3)).save(sheet, "png")             # three images of 2 x 2 pixels
    >>> decode = png_sheets(("a.png",), ("a.png",), {"train": "a.json", "test": "a.json"})
    >>> images, labels = decode({"a.png": sheet.getvalue(), "a.json": b"[0, 1, 2]"})["train"]
    >>> images.shape, labels
    ((3, 3, 2, 2), array([0, 1, 2], dtype=uint8))
    """

    def decode(files: Mapping[str, bytes]) -> Splits:
        return {
            split: (
                np.concatenate([_sheet(_member(files, name)) for name in names]),
                _labels(_member(files, labels[split])),
            )
            for split, names in {"train": train, "test": test}.items()
        }

    return decode


def _member(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        raise ValueError(f"{name} is missing, found {', '.join(sorted(files)) or 'nothing'}")
    return files[name]


def _idx(raw: bytes) -> np.ndarray[Any, Any]:
    """Return the array of an IDX file of bytes: magic 0 0 8 ndim, big-endian sizes, data."""
    data = unzipped(io.BytesIO(raw)) if raw[:2] == b"\x1f\x8b" else raw
    if data[:3] != b"\0\0\x08" or len(data) < 4 or len(data) < 4 * (1 + data[3]):
        raise ValueError(f"not an IDX file of bytes, it begins with {data[:4].hex()}")
    shape = tuple(np.frombuffer(data, ">i4", count=data[3], offset=4).tolist())
    begin = 4 * (1 + len(shape))
    if len(data) - begin != math.prod(shape):
        raise ValueError(f"IDX data of shape {shape} cut to {len(data) - begin} bytes")
    return np.frombuffer(data, BYTES, offset=begin).reshape(shape).copy()


def unzipped(file: IO[bytes]) -> bytes:
    """Return the content of a gzipped file, unless it is more than :data:`UNPACKED`.

    >>> unzipped(io.BytesIO(gzip.compress(b"seven")))
    b'seven'
    """
    try:
        with gzip.open(file) as stream:
            return limited(stream.read)
    except zlib.error as error:  # the others are OSErrors and EOFErrors
        raise ValueError(f"damaged gzip data, {error}") from error


def limited(read: Callable[[int], bytes]) -> bytes:
    """Return all that there is to ``read``, unless it is more than :data:`UNPACKED`.

    >>> limited(io.BytesIO(b"seven").read)
    b'seven'
    """
    data = read(UNPACKED + 1)
    if len(data) > UNPACKED:
        raise ValueError(f"unpacks to more than {UNPACKED} bytes")
    return data


def _sheet(raw: bytes) -> np.ndarray[Any, Any]:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(raw)) as sheet:
            if 3 * sheet.width * sheet.height > UNPACKED:
                raise ValueError(f"unpacks to more than {UNPACKED} bytes")
            pixels = np.asarray(sheet.convert("RGB"))
    except (SyntaxError, Image.DecompressionBombError) as error:  # the others are OSErrors
        raise ValueError(f"damaged or outsized picture, {error}") from error
    size = math.isqrt(pixels.shape[1])
    return pixels.reshape(-1, size, size, 3).transpose(0, 3, 1, 2)


def _labels(raw: bytes) -> np.ndarray[Any, Any]:
    try:
        return np.array(json.loads(raw), BYTES)
    except (OverflowError, TypeError) as error:
        raise ValueError(f"labels that are no list of bytes, {error}") from error
