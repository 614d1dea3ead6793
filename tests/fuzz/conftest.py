"""What the examples come to, for the page on promises."""

from collections.abc import Iterator

import pytest

from tests.promises import note

from .budget import drawn


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Note how many examples a test has drawn once it has passed: a long run may be stopped."""
    drawn.clear()
    yield
    for test, examples in drawn.items():
        note(f"Examples for {test}", examples)
