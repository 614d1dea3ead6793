"""Bounds, rates and closed forms of the documents, named after their statements.

They know nothing of the simulators: tests introduce the one to the other.
"""

from signalprop.theory.contraction import *  # noqa: F403
from signalprop.theory.decomposed import *  # noqa: F403
from signalprop.theory.gaussian_approximation import *  # noqa: F403
from signalprop.theory.hermite import *  # noqa: F403
from signalprop.theory.kernels import *  # noqa: F403
from signalprop.theory.meanfield import *  # noqa: F403
from signalprop.theory.mixing import *  # noqa: F403
from signalprop.theory.orthogonality import *  # noqa: F403
