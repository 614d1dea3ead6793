"""Statements of RANK: the rank of the representations of random deep networks."""
