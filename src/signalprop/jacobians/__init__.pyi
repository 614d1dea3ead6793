from .backward import (
    gradient_norms as gradient_norms,
)
from .graded import (
    GradedProduct as GradedProduct,
)
from .modules import (
    ModuleJacobian as ModuleJacobian,
)
from .modules import (
    jacobian as jacobian,
)
from .paths import (
    PathJacobian as PathJacobian,
)
