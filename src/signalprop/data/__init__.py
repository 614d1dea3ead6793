"""Data sets: CIFAR-10, CIFAR-100, MNIST and Fashion-MNIST, the same tensors from any source."""

from signalprop.data.errors import DataError
from signalprop.data.loading import digest, fetch, folder, load, names, standardize, verify

__all__ = ["DataError", "digest", "fetch", "folder", "load", "names", "standardize", "verify"]
