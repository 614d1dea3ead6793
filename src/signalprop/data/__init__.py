"""Data sets: CIFAR-10, CIFAR-100, MNIST and Fashion-MNIST, the same tensors from any source."""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
