"""Statements of GRAD: orthogonal weights and batch normalization, isometry gained, gradients."""
