"""Statements of DEC: batch normalization decomposed."""
