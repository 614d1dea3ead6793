from .errors import (
    DataError as DataError,
)
from .loading import (
    digest as digest,
)
from .loading import (
    fetch as fetch,
)
from .loading import (
    folder as folder,
)
from .loading import (
    load as load,
)
from .loading import (
    names as names,
)
from .loading import (
    standardize as standardize,
)
from .loading import (
    verify as verify,
)
