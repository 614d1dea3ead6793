"""Experiments of the chapters on conditioning."""
