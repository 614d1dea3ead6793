"""What a record decides, when, and how pages say so."""

import json
import shutil

import pytest

from signalbook import keys, pages, records, stage
from signalbook.errors import BookError
from signalbook.ledger import collect
from signalbook.project import Project
from signalbook.source import Source
from tests.signalbook.minibook import empty, once

A = "rank/a"

#: At 5 runs the statement fails, at 20 it holds; the mean of the figure depends on no run.
BODY = """\
```{code-cell} ipython3
---
mystnb:
  image:
    alt: A line.
  figure:
    name: fig-NAME
    caption: A line.
---
import numpy as np
import pandas as pd
from signalbook import draw
draws = pd.DataFrame(
    [("a", x, run, values[run] + x) for x in range(4) for run in range(runs)],
    columns=["by", "layer", "run", "gap"],
)
fig, ax = plt.subplots()
rows = draw.curves(ax, draws, "layer", "gap", "by")
figures.show(fig, "gaps", rows, regardless_of=["runs"])
```

```{code-cell} ipython3
share = lambda k, most=0.1: Case(1 / runs, most)
settle(
    "ID",
    at_most_one(share, over=[{"k": 1}]),
    about="the share",
    found="One of the runs has a share of 1 / {runs}.",
    rivals={"half": lambda k: share(k, 0.5 / runs)},
    numbers={"runs": runs},
)
```

```{code-cell} ipython3
settle(
    "ID",
    at_most_one(lambda k: Case(1.0, 2.0), over=[{"k": 1}]),
    about="what no size matters to",
    found="One is less than two, live with {runs} runs.",
    rivals={"half": lambda k: Case(1.0, 0.5)},
    numbers={"runs": runs},
    regardless_of=["runs"],
)
```
"""

LIVE = """\
  live:
    RANK-F5: disagrees at reduced scale
"""


def recorded(root):
    book = empty(root)
    path = book.chapter(A, "RANK-F5", body=BODY)
    path.write_text(path.read_text().replace("  time_limit", LIVE + "  time_limit"))
    profile = book.root / "profiles" / "fast" / f"{A}.yml"
    profile.parent.mkdir()
    profile.write_text("runs: 5  # a quarter\n")
    book.run("paper", A)
    keys.prepare(Project(book.root), "fast")
    book.run("execute", A)


@pytest.fixture
def made(tmp_path_factory):
    """A book whose one chapter is recorded, then executed at 5 of its 20 runs."""
    return once(tmp_path_factory, "recorded", recorded)


@pytest.fixture
def project(made, tmp_path):
    shutil.copytree(made, tmp_path / "book", symlinks=True)
    return Project(tmp_path / "book")


def edit(project, old, new):
    path = project.source(A)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def change(project, **values):
    """Write a record as its command would have."""
    record = json.loads(project.record(A).read_text()) | values
    record["seal"] = records.seal(record)
    project.record(A).write_text(json.dumps(record))
    accept(project)


def accept(project):
    """Let the executed notebook be of the record and the prose that are there now."""
    path = project.executed(A)
    notebook = json.loads(path.read_text())
    key = notebook["metadata"]["made"]["key"]
    keys.seal(notebook, key | keys.wanted(project, A, "fast"))
    path.write_text(json.dumps(notebook))


def make_stale(project):
    record = json.loads(project.record(A).read_text())
    modules = record["code"]["modules"] | {"signalbook.settle": "then"}
    change(project, code={**record["code"], "modules": modules})


@pytest.mark.slow
def test_a_fresh_record_decides_what_the_live_run_is_too_small_for(project):
    ledger = collect(project)
    assert ledger.problems == {}
    (entry,) = ledger.entries
    assert entry["verdict"] == "holds"
    share, other = entry["checks"]
    assert share["found"] == "One of the runs has a share of 1 / 20."
    date = records.read_record(project, A)["date"]
    assert share["recorded"] == f"at the document’s size, recorded {date}"
    assert share["anchor"] == "claim-rank-f5"
    assert other["found"].endswith("live with 5 runs."), "settled at full size with every build"
    assert "recorded" not in other
    assert [c["verdict"] for c in entry["replaced"]] == ["disagrees at reduced scale"]


def test_without_the_record_the_reduced_verdict_must_be_declared(project):
    project.record(A).unlink()
    accept(project)
    (problem,) = collect(project).problems[A]
    assert problem == "RANK-F5: expected 'holds', found 'disagrees at reduced scale'"


def test_the_live_run_may_differ_from_the_record_only_where_that_is_declared(project):
    """Reduced, holding becomes agreeing; that it disagrees here has to be said."""
    edit(project, LIVE, "")
    (problem,) = collect(project).problems[A]
    assert problem.startswith("RANK-F5: expected 'holds' or 'agrees at reduced scale'")
    assert problem.endswith("found 'disagrees at reduced scale'")


def test_a_record_with_another_verdict_than_declared_fails(project):
    edit(project, "RANK-F5: holds", "RANK-F5: not reproduced")
    assert collect(project).problems[A] == [
        "recorded, RANK-F5: expected 'not reproduced', found 'holds'"
    ]


def test_a_stale_record_does_not_decide_and_is_no_failure(project):
    make_stale(project)
    ledger = collect(project)
    assert ledger.problems == {}
    (entry,) = ledger.entries
    assert entry["verdict"] == "disagrees at reduced scale"
    assert entry["stale_record"] == records.read_record(project, A)["date"]
    assert entry["replaced"] == []
    assert ledger.agreements == {}
    found = pages.generated(project, ledger)["pages/ledger.md"]
    assert "is stale" in found
    assert "recorded 20" not in found


def test_other_code_makes_it_stale_and_comments_do_not(project):
    edit(project, "share = lambda", "# said\nshare = lambda")
    assert records.read_record(project, A).fresh
    edit(project, "0.5 / runs", "0.4 / runs")
    assert records.read_record(project, A).changes == ("cells",)


def test_a_record_that_was_touched_by_hand_is_refused(project):
    text = project.record(A).read_text()
    assert text.count('"verdict": "holds"') == 3, "two of its own, one of its twin"
    project.record(A).write_text(text.replace('"verdict": "holds"', '"verdict": "illustrated"', 1))
    with pytest.raises(BookError, match=r"records/rank/a.json is not as its run left it"):
        records.read_record(project, A)
    accept(project)
    assert "not as its run left it" in collect(project).problems[A][0]


def test_disagreement_with_the_live_run_fails_the_build(project):
    record = json.loads(project.record(A).read_text())
    rows = record["figures"]["gaps"]["csv"]
    header, first, *rest = rows.splitlines()
    by, layer, mean, error, runs = first.split(",")
    off = ",".join([by, layer, str(float(mean) + 1e4 * float(error)), error, runs])
    change(project, figures={"gaps": {"csv": "\n".join([header, off, *rest]), "reduced": []}})
    (problem,) = collect(project).problems[A]
    assert problem.startswith("figure gaps, at by = a, layer = 0, mean gap: live ")
    assert ", recorded " in problem


def test_agreement_counts_as_a_chance_of_false_alarm(project):
    ledger = collect(project)
    assert ledger.agreements[A].places == 4
    checks = [c for e in ledger.entries for c in (*e["checks"], *e["replaced"])]
    drawn = sum(c["error"] for c in checks if "recorded" not in c)
    assert ledger.false_alarm() == pytest.approx(drawn + ledger.agreements[A].error)
    (recorded,) = (c for c in checks if "recorded" in c)
    before, recorded["error"] = ledger.false_alarm(), 0.4
    assert ledger.false_alarm() == before, "a record is drawn once, and not with every build"


def test_pages_draw_tell_and_mark_the_record(project):
    ledger = collect(project)
    files = stage._chapter(project, A, ledger)
    page = json.loads(files["a.ipynb"])
    text = "\n".join(cell["source"] for cell in page["cells"] if cell["cell_type"] == "markdown")
    record = records.read_record(project, A)
    mark = f"at the document’s size, recorded {record['date']}"
    assert text.count(mark) == 2, "in the summary box and the closing table"
    assert f"made on {record['date']}" in text
    assert "cpu (" in text
    assert f"numpy {record['versions']['numpy']}" in text
    assert "in 4 places, the build found them to agree" in text
    assert "stale" not in text
    assert files["a.files/gaps-recorded.csv"].decode() == record["figures"]["gaps"]["csv"]
    assert json.loads(files["a.files/a-record.json"])["claims"] == record["claims"]
    shown = [o["data"] for cell in page["cells"] for o in cell.get("outputs", [])]
    cards = "".join(data.get("text/html", "") for data in shown)
    assert f"At the document’s size, recorded {record['date']}:" in cards
    assert cards.count("disagrees at reduced scale") >= 1, "the live outcome stays on its card"
    (caption,) = {
        cell["metadata"]["mystnb"]["figure"]["caption"]
        for cell in page["cells"]
        if "figure" in cell["metadata"].get("mystnb", {})
    }
    assert caption == "A line. Open marks: the recorded run at the document's size."
    assert mark in pages.generated(project, ledger)["pages/ledger.md"]


def test_a_stale_record_is_said_to_be_so(project):
    make_stale(project)
    box = stage._chapter(project, A, collect(project))["a.ipynb"].decode()
    assert "The record is stale:" in box
    assert "<code>signalbook.settle</code>" in box
    assert "It decides nothing until it is made again." in box


def test_a_record_that_is_larger_but_not_of_full_size_says_what_is_left(project):
    record = json.loads(project.record(A).read_text())
    claims = [c | {"verdict": SMALL} for c in record["claims"][:1]]
    change(project, parameters=record["parameters"] | {"runs": 10}, claims=claims)
    edit(project, "RANK-F5: holds", f"RANK-F5: {SMALL}")
    ledger = collect(project)
    assert ledger.problems == {}
    assert ledger.entries[0]["verdict"] == SMALL, "the larger run has the word"
    assert [c["verdict"] for c in ledger.entries[0]["replaced"]] == ["disagrees at reduced scale"]
    box = pages.box(
        A, Source(project.source(A)), {"profile": "fast", "parameters": {"runs": 5}}, {},
        ledger.entries, records.read_record(project, A),
    )  # fmt: skip
    assert "A larger run is recorded" in box
    assert "<code>runs</code> = 10 for 20" in box
    assert f"in a larger run, recorded {record['date']}" in box
    page = json.loads(stage._chapter(project, A, ledger)["a.ipynb"])
    shown = [o["data"] for cell in page["cells"] for o in cell.get("outputs", [])]
    assert "In a larger run, recorded" in "".join(data.get("text/html", "") for data in shown)


def claim(verdict, about="", id="RANK-F5"):
    return {"id": id, "about": about, "verdict": verdict, "anchor": f"live {about}"}


def fresh(*claims):
    return records.Record({"claims": claims, "date": "2026-01-01"})


SMALL = "agrees at reduced scale"


def test_claims_about_sizes_that_one_run_alone_has():
    """Those of the record decide with the rest; a reduced one without a counterpart does not."""
    live = [claim(SMALL, "width 8"), claim("holds", "all"), claim(SMALL, "width 32")]
    full = fresh(claim("holds", "width 32"), claim("holds", "all"), claim("holds", "width 64"))
    found, replaced = records.decisive(live, full)
    assert [(c["about"], "recorded" in c) for c in found] == [
        ("all", False),
        ("width 32", True),
        ("width 64", True),
    ]
    assert [c["about"] for c in replaced] == ["width 8", "width 32"]


def test_two_claims_about_the_same_thing_keep_their_order():
    live = [claim(SMALL), claim("disagrees at reduced scale")]
    found, _ = records.decisive(live, fresh(claim("holds"), claim("not reproduced")))
    assert [c["verdict"] for c in found] == ["holds", "not reproduced"]


def test_nothing_is_taken_from_another_id_or_from_a_stale_record():
    live = [claim(SMALL)]
    for record in (
        None,
        fresh(claim("holds", id="RANK-F2")),
        fresh(claim("not run at this scale")),
        records.Record({"claims": [claim("holds")], "date": ""}, changes=("cells",)),
    ):
        assert records.decisive(live, record) == (live, [])


def test_the_larger_run_has_the_word_where_it_is_large_enough():
    live = [claim(SMALL, "rate"), claim(SMALL, "level"), claim("not run at this scale", "order")]
    other = "disagrees at reduced scale"
    larger = fresh(
        claim(other, "rate"), claim("not run at this scale", "level"), claim(SMALL, "order")
    )
    found, replaced = records.decisive(live, larger)
    assert {c["about"]: (c["verdict"], c.get("recorded")) for c in found} == {
        "rate": (other, "in a larger run, recorded 2026-01-01"),
        "level": (SMALL, None),
        "order": (SMALL, "in a larger run, recorded 2026-01-01"),
    }
    assert [c["about"] for c in replaced] == ["rate", "order"]


def test_a_run_at_full_size_needs_no_record():
    live = [claim("holds")]
    assert records.decisive(live, fresh(claim("holds"), claim("holds", "more"))) == (live, [])
