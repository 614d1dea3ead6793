"""A verdict follows from checks, and a check without power decides nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest

from signalbook import scale, settle
from signalbook.checks import approaches, at_most_one, near
from signalbook.outputs import CLAIMS
from signalbook.settle import NoPower, misprint, open_choice
from signalbook.verdicts import VERDICTS
from signallab.case import Case

POINTS = [{"n": n} for n in (1, 2, 3)]
RUNS = np.random.default_rng(0).normal(1.0, 0.1, 50)


def at_most(factor):
    return lambda n: Case(float(n), factor * n, words=f"n = {n}")


holds = at_most_one(at_most(1.5), over=POINTS)
fails = at_most_one(at_most(0.5), over=POINTS)
RIVALS = {"half": at_most(0.5)}
REPAIR = {"repaired": holds, "repair": "three halves", "severity": "constant"}


def claim(printed, **options):
    return settle.settle("ORTH-T1", printed, **{"found": "so", "rivals": RIVALS} | options)


@pytest.mark.parametrize(
    ("verdict", "made"),
    [
        ("holds", lambda: claim(holds)),
        (
            "holds with slack",
            lambda: claim(at_most_one(at_most(9.0), over=POINTS), sharper=holds, sharpened="1.5"),
        ),
        ("not reproduced", lambda: claim(fails)),
        ("fails as printed", lambda: claim(fails, **REPAIR)),
        (
            "illustrated",
            lambda: claim(approaches([2 + 0.5**k for k in range(9)], 2, ratio=2), rivals={"3": 3}),
        ),
        (
            "open choice",
            lambda: open_choice(
                "ORTH-T1", {"one": holds, "other": fails}, found="so", rivals=RIVALS
            ),
        ),
        (
            "misprint",
            lambda: misprint("ORTH-T1", where="a", printed="b", should="c", because="d"),
        ),
    ],
)
def test_verdicts(verdict, made):
    card = made()
    assert card["verdict"] == verdict
    assert verdict in VERDICTS
    bundle = card._repr_mimebundle_()
    assert json.loads(json.dumps(bundle[CLAIMS], allow_nan=False))[0]["id"] == "ORTH-T1"
    assert verdict in bundle["text/html"]


@pytest.mark.parametrize(
    ("printed", "options", "message"),
    [
        (holds, {"rivals": {}}, "rivals must name"),
        (holds, {"rivals": {"twice": at_most(3.0)}}, "passes for its rival 'twice'"),
        (near(RUNS, 1.0, reading=2.0), {"rivals": {"doubled": 2.0}}, "its rival 'doubled'"),
        (near(RUNS, 1.0, reading=0), {"rivals": {"a little more": 1.1}}, "only luck rejects"),
        (holds, {"holds_at": fails}, "does not hold where"),
        (holds, {"sharper": fails}, "sharper statement does not stand"),
        (fails, {"repaired": holds}, "say repair= and severity="),
        (
            fails,
            {**REPAIR, "seen_from": lambda n: np.inf},
            "cannot be seen at any size",
        ),
    ],
)
def test_a_claim_without_power_is_refused(printed, options, message):
    with pytest.raises(NoPower, match=message):
        claim(printed, **options)


def test_the_counterexample_is_the_point_seen_at_the_smallest_size():
    card = claim(fails, **REPAIR, seen_from=lambda n: {1: 7.0, 2: 3.0, 3: 5.0}[n])
    found = card["counterexample"]
    assert (found["words"], found["left"], found["right"]) == ("n = 2", 2.0, 1.0)
    assert card["seen_from"] == 3.0


def test_the_sentence_takes_its_numbers_from_the_evaluation():
    card = claim(
        fails,
        **REPAIR,
        found="From {seen_from}: {left} > {right}; $d^{-1/2}$, repaired {repaired_largest}, {x}.",
        seen_from=lambda n: float(n),
        numbers={"x": 0.25},
    )
    assert card["found"] == "From 1: 1 > 0.5; $d^{-1/2}$, repaired 0.667, 0.25."
    with pytest.raises(ValueError, match="which is not there; there are: room"):
        claim(holds, found="At {speed}.")


def test_a_smaller_run_does_not_settle_what_depends_on_its_size(monkeypatch):
    monkeypatch.setattr(settle, "reductions", lambda: {"width": (8, 64)})
    assert claim(holds)["verdict"] == "agrees at reduced scale"
    assert claim(fails, **REPAIR)["verdict"] == "disagrees at reduced scale"
    assert claim(holds, regardless_of=["width"])["verdict"] == "holds"


def test_a_smaller_run_that_cannot_tell_decides_nothing(monkeypatch):
    """It needs no power then, nor a repair; at the document's size it is judged like any other."""
    silent = {"needs": fails, "rivals": {"itself": at_most(1.5)}}
    with pytest.raises(NoPower):
        claim(holds, **silent)
    monkeypatch.setattr(settle, "reductions", lambda: {"steps": (8, 64)})
    for printed in (holds, fails):
        card = claim(printed, **silent)
        assert card["verdict"] == "not run at this scale"
        assert card["needs"] == fails.measured
        assert card["counterexample"] is None
    assert claim(holds, needs=holds)["verdict"] == "agrees at reduced scale"
    with pytest.raises(NoPower):
        claim(holds, needs=fails, regardless_of=["steps"], rivals=silent["rivals"])


def test_a_slip_beside_the_statement_names_its_place():
    slip = {"printed": "b", "should": "c", "because": "d"}
    assert misprint("ORTH-T1", where="Eq. (3)", **slip)["in_proof"] == ""
    assert misprint("ORTH-T1", where="Eq. (3)", in_proof=True, **slip)["in_proof"] == "Eq. (3)"


def test_the_scale_is_read_from_the_cells_that_ran(monkeypatch):
    cells = ["width: int = 64\nseed: int = 0", "# Parameters\nwidth = 8\nseed = 3\n", "x = 1"]
    monkeypatch.setattr(scale, "history", lambda: cells)
    assert scale.reductions() == {"width": (8, 64)}
    assert scale.document() == {"width": 64, "seed": 0}
    monkeypatch.setattr(scale, "history", lambda: [])
    assert scale.reductions() == {}
    assert scale.document() == {}


def test_unknown_ids_are_refused():
    with pytest.raises(ValueError, match="list of statements, got 'ORTH-T99'"):
        misprint("ORTH-T99", where="a", printed="b", should="c", because="d")


def test_errors_and_escapes_add_up():
    card = settle.settle(
        "ORTH-T1", near(RUNS, 1.0, reading=0.05), found="{measured}", rivals={"twice": 2.0}
    )
    assert 5e-7 <= card["error"] < 1e-6
    assert claim(holds)["error"] == 0


def test_text_is_escaped_in_cards():
    card = misprint(
        "ORTH-T1", where="<script>", printed="a < b", should="$x < y$", because="& so on"
    )
    html = card._repr_mimebundle_()["text/html"]
    assert "<script>" not in html
    assert "a &lt; b" in html
    assert r"\(x &lt; y\)" in html


def test_a_failure_that_chance_explains_is_none():
    """The interval of the mean reaches beyond the bound; the mean does not."""
    unsure = at_most_one(lambda: Case(RUNS, RUNS.mean() + 0.01), over=[{}])
    surely = at_most_one(lambda: Case(RUNS, RUNS.mean() - 0.2), over=[{}])
    mended = at_most_one(lambda: Case(RUNS, 2.0), over=[{}])
    options = {"repaired": mended, "repair": "two", "severity": "constant"}
    options |= {"rivals": {"half": lambda: Case(RUNS, 0.5)}}
    assert claim(surely, **options)["verdict"] == "fails as printed"
    with pytest.raises(NoPower, match="chance may explain the failure"):
        claim(unsure, **options)


def test_what_is_left_of_a_bound_is_that_of_the_statement_that_stands():
    loose = at_most_one(at_most(9.0), over=POINTS)
    assert claim(holds)["slack"] == pytest.approx(1.5)
    assert claim(loose, repaired=holds)["slack"] == pytest.approx(9)
    assert claim(loose, sharper=holds, sharpened="1.5")["slack"] == pytest.approx(1.5)
    assert claim(fails, **REPAIR)["slack"] == pytest.approx(1.5)
    for none in (fails, at_most_one(at_most(1.0), over=POINTS)):
        assert claim(none)["slack"] is None
    zero = at_most_one(lambda n: Case(0.0, 1.0), over=POINTS)
    assert claim(zero)["slack"] is None
    mean = near(RUNS, 1.0, reading=0.5)
    assert claim(mean, rivals={"9": 9.0})["slack"] is None, "of bounds alone"


def test_what_fails_without_a_repair_needs_no_rival_that_it_rejects():
    for options in ({}, {"repaired": fails}):
        card = claim(fails, rivals={"weak": at_most(3.0)}, **options)
        assert (card["verdict"], card["counterexample"]) == ("not reproduced", None)


@pytest.mark.parametrize("missing", ["severity", "repair"])
def test_a_repair_says_what_it_is_and_what_kind(missing):
    given = {name: value for name, value in REPAIR.items() if name != missing}
    with pytest.raises(NoPower, match="say repair= and severity="):
        claim(fails, **given)


def test_a_failure_is_shown_at_a_point():
    assert claim(fails, **REPAIR)["counterexample"]["words"] == "n = 1"
    assert claim(fails, **REPAIR)["seen_from"] is None
    for blind in (replace(fails, witness=None), replace(fails, failing=())):
        with pytest.raises(NoPower, match="needs a point at which it does"):
            claim(blind, **REPAIR)


def test_runs_without_a_model_have_no_chances():
    single = at_most_one(at_most(1.5), over=POINTS, modelled=False)
    card = claim(single)
    assert (card["modelled"], card["error"]) == (False, 0)
    assert claim(holds)["modelled"]
    failing = at_most_one(at_most(0.5), over=POINTS, modelled=False)
    assert claim(failing, **REPAIR)["verdict"] == "fails as printed"
    readings = {"one": single, "other": fails}
    both = open_choice("ORTH-T1", readings, found="{x}", rivals=RIVALS, numbers={"x": 1 / 3})
    assert (both["modelled"], both["error"], both["found"]) == (False, 0, "0.333")
    assert [told["passed"] for told in both["readings"].values()] == [True, False]
    neither = open_choice("ORTH-T1", {"one": fails, "other": fails}, found="so", rivals=RIVALS)
    assert neither["verdict"] == "not reproduced"
    with pytest.raises(ValueError, match="at least two ways to read, got 1"):
        open_choice("ORTH-T1", {"one": holds}, found="so", rivals=RIVALS)


def test_numbers_in_a_sentence_have_two_or_three_digits():
    found = claim(fails, **REPAIR, found="{seen_from}, {x}", numbers={"x": 1 / 3},
                  seen_from=lambda n: 1.2345 * n)["found"]  # fmt: skip
    assert found == "1.2, 0.333"
