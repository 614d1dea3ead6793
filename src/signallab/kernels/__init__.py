"""Experiments of the chapters on kernel maps."""
