"""What the chapters of the part Isometry run."""
