"""What is measured on a batch of representations ``(..., n, d)``: n samples as rows of d features.

Leading dimensions are batched: one call measures all runs and layers. Numpy in, numpy out.
"""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
