"""Bounds, rates and closed forms of the documents, named after their statements.

They know nothing of the simulators: tests introduce the one to the other.
"""

from .contraction import *  # noqa: F403
from .decomposed import *  # noqa: F403
from .gaussian_approximation import *  # noqa: F403
from .hermite import *  # noqa: F403
from .kernels import *  # noqa: F403
from .meanfield import *  # noqa: F403
from .mixing import *  # noqa: F403
from .orthogonality import *  # noqa: F403
