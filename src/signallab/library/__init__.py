"""Experiments of the part The library."""
