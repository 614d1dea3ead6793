"""Jacobians: of random chains through any number of layers, and of any torch module."""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
