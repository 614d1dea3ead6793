from .any_module import (
    ModuleJacobian as ModuleJacobian,
)
from .any_module import (
    jacobian as jacobian,
)
from .backward import (
    log_gradient_norms as log_gradient_norms,
)
from .graded import (
    GradedProduct as GradedProduct,
)
from .paths import (
    PathJacobian as PathJacobian,
)
