"""Statistics of random runs: intervals, slopes, rates, sequential means."""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
