from .chain import (
    Chain as Chain,
)
from .drawn import (
    Dense as Dense,
)
from .measurement import (
    Measurement as Measurement,
)
from .measurement import (
    TimeAverage as TimeAverage,
)
from .path import (
    Path as Path,
)
from .volumes import (
    log_volumes as log_volumes,
)
