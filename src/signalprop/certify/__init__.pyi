from .counterexamples import (
    Counterexample as Counterexample,
)
from .counterexamples import (
    Exact as Exact,
)
from .counterexamples import (
    differs as differs,
)
from .counterexamples import (
    exceeds as exceeds,
)
from .counterexamples import (
    reaches as reaches,
)
from .functions import (
    Function as Function,
)
from .functions import (
    Number as Number,
)
from .functions import (
    ball as ball,
)
from .functions import (
    derivative as derivative,
)
from .functions import (
    function as function,
)
from .functions import (
    hermite_coefficient as hermite_coefficient,
)
from .functions import (
    mean_square as mean_square,
)
from .identities import (
    Identity as Identity,
)
from .identities import (
    NoIdentity as NoIdentity,
)
from .identities import (
    prove_identity as prove_identity,
)
from .kernels import (
    PowerSeries as PowerSeries,
)
from .kernels import (
    iterates as iterates,
)
from .kernels import (
    kernel as kernel,
)
from .prover import (
    NotProved as NotProved,
)
from .prover import (
    Proof as Proof,
)
from .prover import (
    Refuted as Refuted,
)
from .prover import (
    prove_digits as prove_digits,
)
from .prover import (
    prove_positive as prove_positive,
)
from .prover import (
    signs as signs,
)
