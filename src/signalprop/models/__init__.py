"""Networks to train: perceptrons, many side by side, and convolutional ones."""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
