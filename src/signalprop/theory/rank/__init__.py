"""Statements of RANK: soft rank, the drift of the Frobenius norm, and the square-root theorem."""
