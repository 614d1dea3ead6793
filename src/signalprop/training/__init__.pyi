from .history import (
    Diverged as Diverged,
)
from .history import (
    History as History,
)
from .loop import (
    print_progress as print_progress,
)
from .loop import (
    train as train,
)
from .recipe import (
    Group as Group,
)
from .recipe import (
    Recipe as Recipe,
)
from .recipe import (
    batches as batches,
)
from .recipe import (
    grid as grid,
)
from .scores import (
    METRICS as METRICS,
)
from .scores import (
    accuracy as accuracy,
)
from .scores import (
    cross_entropy as cross_entropy,
)
from .scores import (
    measure as measure,
)
from .sgd import (
    adaptive_clip as adaptive_clip,
)
from .sgd import (
    clipped_share as clipped_share,
)
from .sgd import (
    descending as descending,
)
