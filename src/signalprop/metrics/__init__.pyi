from .alignment import (
    alignment_by_layer as alignment_by_layer,
)
from .alignment import (
    gradient_alignment as gradient_alignment,
)
from .alignment import (
    gradient_norms as gradient_norms,
)
from .alignment import (
    per_sample_gradients as per_sample_gradients,
)
from .condition import (
    condition_number as condition_number,
)
from .condition import (
    gram_condition_number as gram_condition_number,
)
from .condition import (
    gram_isometry_gap as gram_isometry_gap,
)
from .condition import (
    isometry as isometry,
)
from .condition import (
    isometry_gap as isometry_gap,
)
from .cosines import (
    angles as angles,
)
from .cosines import (
    cosine_similarity as cosine_similarity,
)
from .cosines import (
    mean_absolute_cosine as mean_absolute_cosine,
)
from .gap import (
    gram as gram,
)
from .gap import (
    lyapunov_gap as lyapunov_gap,
)
from .gap import (
    orthogonality_gap as orthogonality_gap,
)
from .ranks import (
    rank as rank,
)
from .ranks import (
    rank_ratio as rank_ratio,
)
from .ranks import (
    second_moment_eigenvalues as second_moment_eigenvalues,
)
from .ranks import (
    soft_rank as soft_rank,
)
from .regularity import (
    regularity_terms as regularity_terms,
)
from .regularity import (
    second_moment as second_moment,
)
from .sign_classes import (
    gamma as gamma,
)
from .sign_classes import (
    sign_class_volumes as sign_class_volumes,
)
