"""What is measured on a batch of representations ``(..., n, d)``: n samples as rows of d features.

Leading dimensions are batched: one call measures all runs and layers. Numpy in, numpy out.
"""

from signalprop.metrics.angles import angles, cosine_similarity, mean_absolute_cosine
from signalprop.metrics.gap import gram, lyapunov_gap, orthogonality_gap
from signalprop.metrics.gradients import gradient_alignment, gradient_norms, per_sample_gradients
from signalprop.metrics.isometry import (
    condition_number,
    condition_number_of_gram,
    isometry,
    isometry_gap,
    isometry_gap_of_gram,
)
from signalprop.metrics.rank import rank, rank_ratio, soft_rank, spectrum
from signalprop.metrics.regularity import regularity_terms, second_moment
from signalprop.metrics.sign_classes import gamma, sign_class_volumes

__all__ = [
    "angles",
    "condition_number",
    "condition_number_of_gram",
    "cosine_similarity",
    "gamma",
    "gradient_alignment",
    "gradient_norms",
    "gram",
    "isometry",
    "isometry_gap",
    "isometry_gap_of_gram",
    "lyapunov_gap",
    "mean_absolute_cosine",
    "orthogonality_gap",
    "per_sample_gradients",
    "rank",
    "rank_ratio",
    "regularity_terms",
    "second_moment",
    "sign_class_volumes",
    "soft_rank",
    "spectrum",
]
