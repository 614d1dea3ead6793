"""Signal propagation in random deep networks."""

from signalprop import activations, clusters, inputs, layers, meanfield, metrics, stats, theory, weights
from signalprop.activations import Activation
from signalprop.chains import Chain, Measurement, Path, TimeAverage
from signalprop.kernels.lengths import LengthMap
from signalprop.kernels.maps import KernelMap
from signalprop.kernels.tangent import nngp, ntk
from signalprop.layers import (
    BatchNorm,
    BatchNorm2d,
    FrobeniusNorm,
    LayerNorm,
    NormReLU,
    Recenter,
    Residual,
    RMSNorm,
)
from signalprop.metrics import (
    angles,
    condition_number,
    cosine_similarity,
    gram,
    isometry,
    isometry_gap,
    lyapunov_gap,
    mean_absolute_cosine,
    orthogonality_gap,
    rank,
    rank_ratio,
    soft_rank,
    spectrum,
)
from signalprop.random import Stream, as_stream
from signalprop.weights import (
    Law,
    gaussian,
    he,
    one_sided_uniform,
    orthogonal,
    pytorch_default,
    rademacher,
    sparse,
    student_t,
    uniform,
    xavier,
)

__version__ = "0.1.0"

__all__ = [
    "Activation",
    "BatchNorm",
    "BatchNorm2d",
    "Chain",
    "FrobeniusNorm",
    "KernelMap",
    "Law",
    "LayerNorm",
    "LengthMap",
    "Measurement",
    "NormReLU",
    "Path",
    "RMSNorm",
    "Recenter",
    "Residual",
    "Stream",
    "TimeAverage",
    "activations",
    "angles",
    "as_stream",
    "clusters",
    "condition_number",
    "cosine_similarity",
    "gaussian",
    "gram",
    "he",
    "inputs",
    "isometry",
    "isometry_gap",
    "layers",
    "lyapunov_gap",
    "mean_absolute_cosine",
    "meanfield",
    "metrics",
    "nngp",
    "ntk",
    "one_sided_uniform",
    "orthogonal",
    "orthogonality_gap",
    "pytorch_default",
    "rademacher",
    "rank",
    "rank_ratio",
    "soft_rank",
    "sparse",
    "spectrum",
    "stats",
    "student_t",
    "theory",
    "uniform",
    "weights",
    "xavier",
]
