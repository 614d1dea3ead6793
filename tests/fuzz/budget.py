"""How many examples a test of this folder draws.

Forty, and 10,000 with ``pytest --hypothesis-profile=scheduled tests/fuzz``, as ``make fuzz`` does.
"""

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings

FEW = 40
#: How many examples the test that runs has drawn and passed.
drawn: Counter[str] = Counter()
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def fuzz(**strategies: Any) -> Callable[[Any], Any]:
    """Draw the arguments of a test from ``strategies``."""
    scheduled = settings.get_current_profile_name() == "scheduled"
    examples = settings().max_examples if scheduled else FEW
    budget = settings(max_examples=examples, deadline=None, suppress_health_check=QUIET)

    def decorated(test: Callable[..., None]) -> Any:
        @functools.wraps(test)
        def counted(*arguments: Any, **named: Any) -> None:
            test(*arguments, **named)
            drawn[test.__name__.removeprefix("test_").replace("_", " ")] += 1

        return budget(given(**strategies)(counted))

    return decorated
