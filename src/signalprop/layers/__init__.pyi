from .functional import (
    batch_norm as batch_norm,
)
from .functional import (
    frobenius_normalize as frobenius_normalize,
)
from .functional import (
    layer_norm as layer_norm,
)
from .functional import (
    recenter as recenter,
)
from .functional import (
    rescale as rescale,
)
from .functional import (
    rms_norm as rms_norm,
)
from .modules import (
    BatchNorm as BatchNorm,
)
from .modules import (
    BatchNorm2d as BatchNorm2d,
)
from .modules import (
    FrobeniusNorm as FrobeniusNorm,
)
from .modules import (
    LayerNorm as LayerNorm,
)
from .modules import (
    NormReLU as NormReLU,
)
from .modules import (
    Recenter as Recenter,
)
from .modules import (
    Residual as Residual,
)
from .modules import (
    RMSNorm as RMSNorm,
)
