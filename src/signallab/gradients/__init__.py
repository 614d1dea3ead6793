"""The experiments of the part on gradients, a module for each chapter."""
