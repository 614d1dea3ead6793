from .isolation import (
    isolable as isolable,
)
from .isolation import (
    one_neuron_per_point as one_neuron_per_point,
)
from .iterative import (
    iterative_orthogonalization_ as iterative_orthogonalization_,
)
from .iterative import (
    orthogonalizing_weight as orthogonalizing_weight,
)
from .laws import (
    gain_schedule as gain_schedule,
)
from .laws import (
    initialize_ as initialize_,
)
from .laws import (
    orthogonal_ as orthogonal_,
)
from .rank_pretraining import (
    rank_pretraining_ as rank_pretraining_,
)
