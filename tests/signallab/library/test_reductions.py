"""Every row of the tables says what decides it, or why nothing can."""

import pytest

from signalbook.inventory import rows
from signallab.library import reductions
from signallab.library.reductions import Reduction, decided
from signalprop.certify import Proof

TABLES = (
    reductions.OF_ORTHOGONALITY,
    reductions.OF_CORRELATIONS,
    reductions.OF_KERNELS,
    reductions.OTHERS,
    reductions.OF_RANK,
    reductions.OF_MEANFIELD,
    reductions.OF_GRADIENTS,
)


@pytest.mark.parametrize("table", TABLES)
def test_rows_are_of_statements_and_fit_a_page(table):
    assert len(table) <= 10
    assert {row.id for row in table} <= set(rows())
    assert all(row.step for row in table)


def test_the_named_lemmas_have_a_row():
    named = {f"ORTH-{short}" for short in ("T1", "L6", "L7", "L8", "L9")}
    assert named <= {row.id for row in reductions.OF_ORTHOGONALITY}


def test_what_decides_is_counted():
    some = [Proof(3, 0.5, 1.5), Proof(4, 0.25, 0.0)]
    found = decided([Reduction("ORTH-L8", "a box", lambda: some), Reduction("ORTH-L9", "none")])
    assert found["decided by"].tolist() == ["7 boxes, less than 10 s", "neither"]
    assert found["least margin"].tolist() == ["0.25", ""]


def test_tables_of_algebra_have_no_margins():
    found = decided(reductions.OF_ORTHOGONALITY[1:2])
    assert list(found) == ["statement", "step", "decided by"]


def test_rows_without_a_proof_are_those_that_have_no_box():
    without = {row.id for table in TABLES for row in table if row.by is None}
    of_others = {"DEC-D1", "DEC-T13", "RANK-E17", "RANK-T3"}
    of_others |= {"MF-T3.2", "GRAD-TC.10"}
    assert without == {"ORTH-L9", "COND-T11"} | of_others
