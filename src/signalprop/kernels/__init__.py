"""Kernel maps: what one random layer does to lengths and correlations, in the limit of width.

``quadrature`` Gaussian expectations; ``hermite`` expansions; ``closed`` closed forms and
``interpolated`` the form of every other activation; ``maps`` the kernel map with its fixed
points; ``spectra`` of maps made to order; ``lengths`` the length map; ``tangent`` the matrices of
whole networks.
"""
