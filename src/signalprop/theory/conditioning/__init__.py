"""Statements of COND: how depth conditions the kernel matrices of random networks."""
