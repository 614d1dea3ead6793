"""What the chapters of the part Orthogonality run (ORTH, and chapter 2 of the thesis)."""
