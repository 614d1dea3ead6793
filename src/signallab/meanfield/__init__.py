"""What the chapters of the part Mean field run (MF: chapter 3 and appendix B of the thesis)."""
