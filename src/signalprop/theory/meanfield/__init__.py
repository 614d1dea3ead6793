"""Statements of MF: batch normalization in the mean-field limit."""
