"""What the chapters of the part Rank run (RANK)."""
