"""Statements of ORTH: how batch normalization orthogonalizes a random linear chain."""
