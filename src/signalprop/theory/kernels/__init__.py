"""Statements of KER: where correlations go with depth."""
