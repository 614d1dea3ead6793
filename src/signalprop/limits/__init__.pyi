from . import closed as closed
from . import dynamics as dynamics
from . import exchangeable as exchangeable
from . import expansions as expansions
from . import gram_maps as gram_maps
from . import interpolated as interpolated
from . import lengths as lengths
from . import maps as maps
from . import networks as networks
from . import pairs as pairs
from . import phases as phases
from . import piecewise as piecewise
from . import polar as polar
from . import power_series as power_series
from . import quadrature as quadrature
from . import series_pairs as series_pairs
from . import spectrum_maps as spectrum_maps
from . import sphere as sphere
from . import unequal as unequal
from .dynamics import (
    Basin as Basin,
)
from .dynamics import (
    ConvergenceRate as ConvergenceRate,
)
from .dynamics import (
    FixedPoint as FixedPoint,
)
from .exchangeable import (
    GramFixedPoint as GramFixedPoint,
)
from .exchangeable import (
    gram_fixed_point as gram_fixed_point,
)
from .expansions import (
    hermite_coefficients as hermite_coefficients,
)
from .expansions import (
    hermite_polynomials as hermite_polynomials,
)
from .expansions import (
    hermite_series as hermite_series,
)
from .gram_maps import (
    gram_map as gram_map,
)
from .gram_maps import (
    gram_path as gram_path,
)
from .gram_maps import (
    recentred_gram_map as recentred_gram_map,
)
from .lengths import (
    LengthMap as LengthMap,
)
from .maps import (
    KernelMap as KernelMap,
)
from .networks import (
    nngp as nngp,
)
from .networks import (
    ntk as ntk,
)
from .phases import (
    MeanField as MeanField,
)
from .power_series import (
    pair_series as pair_series,
)
from .power_series import (
    random_series as random_series,
)
from .power_series import (
    with_constant as with_constant,
)
from .quadrature import (
    bivariate_expectation as bivariate_expectation,
)
from .quadrature import (
    gaussian_expectation as gaussian_expectation,
)
from .spectrum_maps import (
    expected_spectrum as expected_spectrum,
)
from .spectrum_maps import (
    infinite_width_path as infinite_width_path,
)
from .sphere import (
    PairRule as PairRule,
)
from .sphere import (
    pair_rule as pair_rule,
)
