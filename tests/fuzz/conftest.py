"""What the examples come to, for the page on promises."""

from collections.abc import Iterator

import pytest

from tests.promises import note

from .budget import drawn


@pytest.fixture(scope="session", autouse=True)
def figures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Note the numbers of examples at the end, if all of them passed."""
    yield
    if not request.session.testsfailed:
        for test, examples in drawn.items():
            note(f"Examples for {test}", examples)
