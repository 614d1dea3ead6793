"""Random chains ``h -> layers(skip + gamma W before(h))``: recipe, run, measurement."""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
