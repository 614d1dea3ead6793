"""What an ID's claims make together: the verdict, and the claim that speaks."""

import pytest

from signalbook import ledger
from signalbook.outputs import CLAIMS
from signalbook.settle import misprint

SLIP = {"where": "Eq. (3)", "printed": "a", "should": "b", "because": "c"}


def settled(verdict, found="computed", in_proof=""):
    return {
        "id": "ORTH-T1",
        "about": "",
        "verdict": verdict,
        "found": found,
        "in_proof": in_proof,
        "error": 0.0,
    }


def entry(*claims):
    outputs = [{"data": {CLAIMS: [getattr(claim, "data", claim)]}} for claim in claims]
    cells = [{"cell_type": "code", "outputs": outputs}]
    key = {"profile": "fast", "parameters": {"seed": 0}}
    made = {"cells": cells, "metadata": {"made": {"key": key}}}
    return ledger._entries(made, None)["ORTH-T1"]


@pytest.mark.parametrize(
    ("claims", "verdict"),
    [
        ([settled("holds"), settled("holds with slack")], "holds with slack"),
        ([settled("fails as printed"), settled("holds")], "fails as printed"),
        ([settled("holds"), settled("fails as printed", in_proof="last line")], "holds"),
        ([settled("fails as printed", in_proof="last line")], "fails as printed"),
        ([settled("holds"), misprint("ORTH-T1", **SLIP)], "misprint"),
        ([settled("holds"), misprint("ORTH-T1", in_proof=True, **SLIP)], "holds"),
        ([settled("fails as printed"), misprint("ORTH-T1", **SLIP)], "fails as printed"),
        (
            [settled("agrees at reduced scale"), misprint("ORTH-T1", **SLIP)],
            "agrees at reduced scale",
        ),
        ([misprint("ORTH-T1", **SLIP)], "misprint"),
    ],
)
def test_the_worst_verdict_of_the_statement_is_the_verdict(claims, verdict):
    assert entry(*claims)["verdict"] == verdict
    assert entry(*claims[::-1])["verdict"] == verdict
    assert len(entry(*claims)["checks"]) == len(claims)


def test_where_only_print_slipped_the_computed_claim_speaks():
    assert entry(misprint("ORTH-T1", **SLIP), settled("holds"))["found"] == "computed"
    assert "Eq. (3)" in entry(misprint("ORTH-T1", **SLIP))["found"]


def test_a_check_that_fails_without_a_counterexample_says_what_is_missing():
    found = {"ORTH-T1": entry(settled("not reproduced"))}
    (told,) = ledger._disagreements({"ORTH-T1": ["fails as printed"]}, found)
    assert "found 'not reproduced': if the statement is wrong, give it as a function" in told
    assert "repaired= " in told
