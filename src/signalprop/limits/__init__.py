"""Networks at infinite width: what a layer does, and what comes of it with depth.

Of two inputs: ``maps`` the kernel map of their correlation, with its fixed points (``dynamics``)
and ``power_series`` maps made to order; ``lengths`` the length map, ``phases`` order and chaos. Of
a whole batch: ``networks`` the kernels of deep networks (NNGP, NTK), layer by layer in one of the
ways of ``pairs``; ``gram_maps`` layers that normalize over the batch, and ``exchangeable`` their
fixed point, by the rule of ``sphere``; ``spectrum_maps`` the linear chain with batch normalization.
What they are computed with: ``quadrature`` Gaussian expectations, ``expansions`` in Hermite
polynomials, ``closed`` closed forms of kernel maps and ``interpolated`` the form of every other
activation; ``unequal``, ``piecewise``, ``polar`` and ``series_pairs`` the same for inputs of any
lengths.
"""

from signalprop._lazy import reexports

__getattr__, __dir__, __all__ = reexports(__name__, __file__)
