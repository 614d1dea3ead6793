"""Bounds, rates and closed forms of the documents, named after their statements.

One folder a document; what a document reduces to a recursion at infinite width calls
`signalprop.limits`. They know nothing of the simulators: tests introduce the one to the other.
"""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
