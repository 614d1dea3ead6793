"""Numbers with proven bounds: ball arithmetic for kernels, and inequalities on whole boxes.

A *ball* (``flint.arb``) is a midpoint and a radius that encloses a real number; every operation
keeps the enclosure, roundings included. What is trusted: Arb, the lines of this package, and the
growth of activations stated in :mod:`signalprop.certify.functions`. Needs ``python-flint``
(``pip install signalprop[certify]``).
"""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
