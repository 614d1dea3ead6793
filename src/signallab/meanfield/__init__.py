<<<<<<< HEAD
"""What the chapters of the part Mean field run (MF: chapter 3 and appendix B of the thesis)."""
=======
"""What the chapters of the part Mean field run."""
>>>>>>> b6ad11f (Concentration of the covariance: the lemma lacks a factor 2 that its proof lost, and the proof bounds averages of norms)
