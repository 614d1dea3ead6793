"""Initializers that look at the data or at each other; plain laws are in `signalprop.weights`."""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
