__version__: str

from . import activations as activations
from . import callables as callables
from . import certify as certify
from . import clusters as clusters
from . import data as data
from . import initializers as initializers
from . import inputs as inputs
from . import jacobians as jacobians
from . import layers as layers
from . import limits as limits
from . import metrics as metrics
from . import models as models
from . import probing as probing
from . import spectra as spectra
from . import stats as stats
from . import sweeps as sweeps
from . import tangent as tangent
from . import theory as theory
from . import training as training
from . import weights as weights
from .activations import (
    Activation as Activation,
)
from .callables import (
    as_activation as as_activation,
)
from .chains.chain import (
    Chain as Chain,
)
from .chains.drawn import (
    Dense as Dense,
)
from .chains.measurement import (
    Measurement as Measurement,
)
from .chains.measurement import (
    TimeAverage as TimeAverage,
)
from .chains.path import (
    Path as Path,
)
from .chains.volumes import (
    log_volumes as log_volumes,
)
from .jacobians.any_module import (
    jacobian as jacobian,
)
from .layers.modules import (
    BatchNorm as BatchNorm,
)
from .layers.modules import (
    BatchNorm2d as BatchNorm2d,
)
from .layers.modules import (
    FrobeniusNorm as FrobeniusNorm,
)
from .layers.modules import (
    LayerNorm as LayerNorm,
)
from .layers.modules import (
    NormReLU as NormReLU,
)
from .layers.modules import (
    Recenter as Recenter,
)
from .layers.modules import (
    Residual as Residual,
)
from .layers.modules import (
    RMSNorm as RMSNorm,
)
from .limits.lengths import (
    LengthMap as LengthMap,
)
from .limits.maps import (
    KernelMap as KernelMap,
)
from .limits.networks import (
    nngp as nngp,
)
from .limits.networks import (
    ntk as ntk,
)
from .limits.phases import (
    MeanField as MeanField,
)
from .metrics.condition import (
    condition_number as condition_number,
)
from .metrics.condition import (
    gram_condition_number as gram_condition_number,
)
from .metrics.condition import (
    isometry as isometry,
)
from .metrics.condition import (
    isometry_gap as isometry_gap,
)
from .metrics.cosines import (
    angles as angles,
)
from .metrics.cosines import (
    cosine_similarity as cosine_similarity,
)
from .metrics.cosines import (
    mean_absolute_cosine as mean_absolute_cosine,
)
from .metrics.gap import (
    gram as gram,
)
from .metrics.gap import (
    lyapunov_gap as lyapunov_gap,
)
from .metrics.gap import (
    orthogonality_gap as orthogonality_gap,
)
from .metrics.ranks import (
    rank as rank,
)
from .metrics.ranks import (
    rank_ratio as rank_ratio,
)
from .metrics.ranks import (
    second_moment_eigenvalues as second_moment_eigenvalues,
)
from .metrics.ranks import (
    soft_rank as soft_rank,
)
from .models.mlp import (
    MLP as MLP,
)
from .probing import (
    Probe as Probe,
)
from .probing import (
    probe as probe,
)
from .random import (
    Stream as Stream,
)
from .random import (
    as_stream as as_stream,
)
from .sweeps import (
    Sweep as Sweep,
)
from .sweeps import (
    sweep as sweep,
)
from .tangent import (
    empirical_ntk as empirical_ntk,
)
from .weights import (
    Law as Law,
)
from .weights import (
    gaussian as gaussian,
)
from .weights import (
    he as he,
)
from .weights import (
    one_sided_uniform as one_sided_uniform,
)
from .weights import (
    orthogonal as orthogonal,
)
from .weights import (
    pytorch_default as pytorch_default,
)
from .weights import (
    rademacher as rademacher,
)
from .weights import (
    sparse as sparse,
)
from .weights import (
    student_t as student_t,
)
from .weights import (
    uniform as uniform,
)
from .weights import (
    xavier as xavier,
)
