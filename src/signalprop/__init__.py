"""Signal propagation in random deep networks."""

__version__ = "0.1.0"
