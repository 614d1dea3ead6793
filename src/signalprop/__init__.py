"""Signal propagation in random deep networks."""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
__version__ = "0.1.0"
