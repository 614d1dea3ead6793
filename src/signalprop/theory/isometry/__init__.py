"""Statements of ISO: what normalizing the samples does to their isometry."""
