"""What the chapters of the part Decomposed run (DEC)."""
