"""What differs from the document's values, read from the cells that ran."""

import pytest

from signalbook import scale

DECLARED = "width: int = 64\nrates: list[float] = [0.1, 0.01]\nseed: int = 0\ndevice: str = 'cpu'"


@pytest.fixture
def ran(monkeypatch):
    def install(*cells):
        monkeypatch.setattr(scale, "history", lambda: list(cells))

    return install


def test_only_what_differs_and_is_the_documents_is_a_reduction(ran):
    ran(
        DECLARED,
        "# Parameters\nwidth = 8\nrates = [0.1, 0.01]\nseed = 3\ndevice = 'meta'\n",
        "x = 1",
    )
    assert scale.reductions() == {"width": (8, 64)}
    ran(DECLARED, "# Parameters\nwidth = 64\n")
    assert scale.reductions() == {}


def test_cells_that_papermill_did_not_inject_reduce_nothing(ran):
    ran(DECLARED, "width = 8", "# Parameters\nother = 8\n")
    assert scale.reductions() == {}


def test_the_documents_values_stay_what_they_are(ran):
    ran(DECLARED, "# Parameters\nwidth = 8\n")
    assert scale.document() == {"width": 64, "rates": [0.1, 0.01], "seed": 0, "device": "cpu"}


def test_outside_a_notebook_there_is_nothing():
    assert scale.history() == []
    assert scale.document() == scale.reductions() == {}


def test_assignments_of_literals():
    cell = "# Parameters\na = 1\nb = [1, -2.5]\nc: int = 3\nprint(4)"
    assert scale.assignments(cell) == {"a": 1, "b": [1, -2.5]}
