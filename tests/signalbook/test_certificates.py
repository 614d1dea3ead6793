"""A certificate is decided by what it holds, shown where its claim is, and refused elsewhere."""

from fractions import Fraction

import pytest
import sympy
from flint import arb
from IPython.core.interactiveshell import InteractiveShell

from signalbook import cards, certificates, ledger
from signalbook.certificates import Clock, certified, enclosure
from signalbook.outputs import CERTIFICATE, CLAIMS, claims_in
from signalprop.certify import Proof, differs, exceeds, prove_identity, prove_positive, reaches

THIRD = exceeds(Fraction(1, 3), Fraction(1, 4), at="n = 3", given={"n is odd": True})
PROOF = prove_positive(lambda x: 1 - x * (1 - x), [(0, 1)])
WHOLE = "every x from 0 to 1"
n = sympy.Symbol("n")


def claim(verdict="holds", **more):
    return {"id": "ORTH-T1", "about": "", "in_proof": "", "verdict": verdict, "found": "it"} | more


def executed(*shown):
    """A notebook of one cell that shows claims and certificates."""
    data = [{CERTIFICATE: one.data} if hasattr(one, "data") else {CLAIMS: [one]} for one in shown]
    key = {"profile": "fast", "parameters": {"seed": 0}}
    cells = [{"cell_type": "code", "outputs": [{"data": bundle} for bundle in data]}]
    return {"cells": cells, "metadata": {"made": {"key": key}}}


def entry(*shown):
    return ledger._entries(executed(*shown), None)["ORTH-T1"]


def test_exact_sides_are_written_in_full_and_balls_by_ends_rounded_outwards():
    assert certified("ORTH-T1", THIRD)["says"] == (
        "left exactly 1/3, right exactly 0.25, printed: left ≤ right, at n = 3, by exact numbers"
    )
    root = certified("ORTH-T1", differs(arb(2).sqrt(), Fraction(3, 2), at="2"))
    assert root["left"] == "in [1.414, 1.415]"
    assert root["by"] == "ball arithmetic"
    assert enclosure(-(arb(2).sqrt()), 4) == "in [−1.415, −1.414]"
    assert enclosure(Fraction(10**30 + 1, 3), 4) == "in [3.333·10²⁹, 3.334·10²⁹]"
    assert enclosure(Fraction(1, 10**9), 4) == "exactly 1·10⁻⁹"


@pytest.mark.parametrize("gap", [1e-3, 1e-9, 1e-14])
def test_two_sides_get_the_digits_that_tell_them_apart(gap):
    pi = arb.pi()
    found = certified("ORTH-T1", exceeds(pi + arb(gap), pi, at="a circle"))
    (_, low, _), (_, _, high) = (found[side].split() for side in ("left", "right"))
    assert float(low[1:-1]) > float(high[:-1])


def test_equal_sides_refute_a_strict_inequality():
    half = Fraction(1, 2)
    assert certified("ORTH-T1", reaches(half, half, at="a half"))["left"] == "exactly 0.5"


def test_proofs_count_together_and_say_where():
    found = certified("ORTH-T1", [PROOF, Proof(5, 0.25, 1.5)], on=WHOLE)
    assert (found["boxes"], found["margin"]) == (PROOF.boxes + 5, min(PROOF.margin, 0.25))
    assert "seconds" not in found.data, "measured in a kernel alone"
    assert found["says"].startswith(f"proved on {WHOLE}: {PROOF.boxes + 5} boxes, least margin")
    algebra = certified("ORTH-T1", prove_identity((n + 1) ** 2, n**2 + 2 * n + 1), on="all n")
    assert algebra["says"] == "proved for all n: one identity, computer algebra"


@pytest.mark.parametrize(
    ("seconds", "most"), [(0.0, 1), (0.9, 1), (1.1, 5), (5.1, 10), (10.0, 10), (10.1, None)]
)
@pytest.mark.parametrize("by", [THIRD, PROOF, prove_identity(n, n)])
def test_a_certificate_that_takes_too_long_is_refused(monkeypatch, seconds, most, by):
    monkeypatch.setattr(certificates, "clock", Clock(began=0.0))
    monkeypatch.setattr(certificates.time, "process_time", lambda: seconds)
    if most is None:
        with pytest.raises(ValueError, match=r"10 s of CPU time, got 10\.1 s"):
            certified("ORTH-T1", by, on=WHOLE)
    else:
        found = certified("ORTH-T1", by, on=WHOLE)
        assert found["seconds"] == most
        assert found["says"].endswith(f", at most {most} s of CPU time")
        assert certified("ORTH-T1", by, on=WHOLE)["seconds"] == 1, "the clock begins anew"


def test_the_clock_of_a_kernel_begins_with_each_cell(monkeypatch):
    shell = InteractiveShell.instance()
    monkeypatch.setattr(certificates.time, "process_time", iter([3.0, 7.0, 7.5, 8.0]).__next__)
    clock = certificates._of_the_kernel()
    try:
        shell.run_cell("1 + 1")
        assert clock.lap() == 0.5
        assert clock.began == 8.0
    finally:
        shell.events.unregister("pre_run_cell", clock.start)
        InteractiveShell.clear_instance()
    assert certificates._of_the_kernel().lap() is None


@pytest.mark.parametrize(
    ("by", "on", "said"),
    [
        ([], WHOLE, "at least one"),
        (PROOF, " ", "on must say"),
        ([PROOF, prove_identity(n, n)], WHOLE, "of one kind"),
    ],
)
def test_what_is_no_certificate(by, on, said):
    with pytest.raises(ValueError, match=said):
        certified("ORTH-T1", by, on=on)


def test_an_unknown_id_is_refused():
    with pytest.raises(ValueError, match="list of statements"):
        certified("ORTH-T99", THIRD)


def test_a_claim_carries_its_own_certificate():
    one, two = claim("fails as printed", about="one"), claim("fails as printed", about="two")
    cells = executed(one, two, certified("ORTH-T1", THIRD, about="two"))["cells"]
    first, second = claims_in(cells)
    assert "certificate" not in first
    assert second["certificate"]["left"] == "exactly 1/3"


def test_an_entry_is_proved_if_all_that_decides_is():
    proof = certified("ORTH-T1", PROOF, on=WHOLE)
    assert entry(claim(), proof)["proved"]
    assert entry(claim(), proof, claim("fails as printed", in_proof="Eq. (3)"))["proved"]
    assert not entry(claim())["proved"]
    assert not entry(claim(), claim(about="the other half"), proof)["proved"]


def test_a_record_keeps_the_certificate_of_the_build():
    live = claim("disagrees at reduced scale", certificate={"kind": "counterexample"})
    kept = ledger._certified([claim("fails as printed"), claim(about="more")], [live])
    assert [c.get("certificate", {}).get("kind") for c in kept] == ["counterexample", None]


@pytest.mark.parametrize(
    ("verdict", "by", "fits"),
    [
        ("holds", PROOF, True),
        ("holds with slack", PROOF, True),
        ("fails as printed", PROOF, False),
        ("fails as printed", THIRD, True),
        ("holds", THIRD, False),
        ("disagrees at reduced scale", THIRD, True),
    ],
)
def test_a_certificate_must_say_what_its_claim_says(verdict, by, fits):
    wrong = ledger._uncertified(executed(claim(verdict), certified("ORTH-T1", by, on=WHOLE)))
    assert wrong == [] if fits else f"found {verdict!r}, its certificate is a" in wrong[0]


@pytest.mark.parametrize(
    ("p_value", "more", "wrong"),
    [(1e-11, {}, 1), (1e-13, {}, 0), (None, {}, 0), (1e-11, {"certificate": {}}, 0)],
)
def test_a_failure_that_rests_on_runs_has_a_small_p_value_or_a_certificate(p_value, more, wrong):
    claims = [claim("fails as printed", counterexample={"p_value": p_value}, **more)]
    claims.append(claim("disagrees at reduced scale", counterexample={"p_value": 0.01}))
    found = ledger._left_to_chance([{"checks": claims}])
    assert len(found) == wrong
    assert all("ORTH-T1: it fails with p = " in text for text in found)


def test_a_certificate_belongs_to_one_claim():
    proof = certified("ORTH-T1", PROOF, on=WHOLE, about="a part")
    for found in ((), (claim(),), (claim(about="a part"),) * 2):
        assert "a certificate belongs to" in ledger._uncertified(executed(*found, proof))[0]


def test_cards_show_it_without_markup_of_its_own():
    evil = "<script>"
    at = exceeds(1, 0, at=evil, given={evil: True})
    said = certified("ORTH-T1", at, in_proof=evil, about=evil).data
    assert "<script>" not in cards.certificate(said)
    assert "<strong>certified</strong>" in cards.certificate(said)
    card = cards.card({**claim("fails as printed"), "certificate": said, "counterexample": {}})
    assert "<script>" not in card
    assert '<span class="sb-certified">certified</span>' in card
    proof = certified("ORTH-T1", PROOF, on=WHOLE).data
    card = cards.card({**claim(), "certificate": proof})
    assert "holds (proved)" in card
    assert f"proved on {WHOLE}" in card


BODY = """\
```{code-cell} ipython3
most = lambda n, least=0: Case(float(n), 2.0, words=f"n = {n}")
least = lambda n, least=0: Case(float(least), float(n), words=f"n = {n}")
settle(
    "ID",
    at_most_one(most, over=[{"n": 3}]),
    found="Three is more than two.",
    rivals={"four": lambda n: least(n, 4)},
    repaired=at_most_one(least, over=[{"n": 3}]),
    repair="nothing",
    severity="false",
)
```

```{code-cell} ipython3
from flint import arb

from signalbook.certificates import certified
from signalprop.certify import exceeds, prove_positive

certified("ID", exceeds(arb(9).sqrt(), 2, at="a root"))
```
"""


@pytest.mark.slow
def test_a_small_book_shows_certificates_everywhere(book):
    book.chapter("orthogonality/a", "ORTH-X1", body=BODY, expected="fails as printed")
    book.run("book")
    site = book.root / "_build" / "site"
    (found,) = book.ledger()
    assert found["certificate"]["at"] == "a root"
    page = book.page("orthogonality/a")
    assert page.count('class="sb-certified"') == 3, "the box, the card, the closing table"
    assert "left exactly 3, right exactly 2, printed: left ≤ right, at a root" in page
    assert "s of CPU time" in page
    for name in ("ledger", "errata", "errata/orthogonality"):
        assert 'class="sb-certified"' in (site / "pages" / f"{name}.html").read_text(), name
    front = (site / "index.html").read_text()
    assert "1 with an error, in the statement or in its proof, has a counterexample" in front

    path = book.root / "chapters" / "orthogonality" / "a.md"
    path.write_text(path.read_text().replace('"a root"))', '"a root"), about="lost")'))
    assert "a certificate belongs to 0 claims" in book.run("chapter", "orthogonality/a", code=1)
