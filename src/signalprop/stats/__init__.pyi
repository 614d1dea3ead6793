from .intervals import (
    Estimate as Estimate,
)
from .intervals import (
    batch_means as batch_means,
)
from .intervals import (
    mean_interval as mean_interval,
)
from .intervals import (
    per_test_error as per_test_error,
)
from .rates import (
    DecayRate as DecayRate,
)
from .rates import (
    exponential_rate as exponential_rate,
)
from .rates import (
    power_rate as power_rate,
)
from .sequential import (
    SequentialEstimate as SequentialEstimate,
)
from .sequential import (
    sequential_mean as sequential_mean,
)
from .slopes import (
    Slope as Slope,
)
from .slopes import (
    exponent as exponent,
)
from .slopes import (
    slope as slope,
)
