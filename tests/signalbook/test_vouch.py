"""A record is carried over to code that finds the same, and to no other."""

import json
import shutil

import pytest

from signalbook import keys, records, vouch
from signalbook.errors import BookError
from signalbook.execute import execute_for_site
from signalbook.ledger import collect
from signalbook.project import Project
from signalbook.stage import _chapter
from tests.signalbook.minibook import once
from tests.signalbook.test_records import A, accept, change, edit, make_stale, recorded


@pytest.fixture
def project(tmp_path_factory, tmp_path):
    """A book whose one chapter is recorded, then executed at 5 of its 20 runs."""
    made = once(tmp_path_factory, "recorded", recorded)
    shutil.copytree(made, tmp_path / "book", symlinks=True)
    return Project(tmp_path / "book")


@pytest.mark.slow
def test_a_record_stands_for_newer_code_that_finds_the_same(project, capsys):
    make_stale(project)
    edit(project, "share = lambda k, most=0.1:", "share = lambda k, most=1 / 10:")
    assert vouch.vouch(project, A)
    assert capsys.readouterr().out.startswith(f"{A}: about "), "the time it takes comes first"
    record = records.read_record(project, A)
    assert record.fresh
    assert set(record.since) == {"cells", "signalbook.settle"}
    assert not vouch.vouch(project, A), "nothing is left to do"
    accept(project)
    made = record.data
    assert made["code"]["modules"]["signalbook.settle"] == "then", "who made it stays written"
    assert made["seal"] == records.seal(made)

    edit(project, "most=1 / 10:", "most=2 / 20:")
    assert records.read_record(project, A).changes == ("cells",), "only for the code that ran"
    assert records.read_record(project, A).since == ()


@pytest.mark.slow
def test_a_book_that_is_built_has_the_run_that_is_compared(project, monkeypatch, capsys):
    make_stale(project)
    edit(project, "share = lambda k, most=0.1:", "share = lambda k, most=1 / 10:")
    keys.prepare(project, "fast")
    execute_for_site(project, A)
    monkeypatch.setattr(vouch, "execute", None)
    assert vouch.vouch(project, A)
    assert capsys.readouterr().out == "", "nothing takes time"
    assert records.read_record(project, A).fresh


def test_its_page_says_so(project):
    make_stale(project)
    record = json.loads(project.record(A).read_text())
    code = record["code"]
    now = code["modules"] | {"signalbook.settle": read_digest(project)}
    ran = {"code": {**code, "modules": now}, "files": record["files"], "date": "2026-01-02"}
    change(project, vouched=ran)
    ledger = collect(project)
    assert ledger.entries[0]["verdict"] == "holds", "it decides"
    box = _chapter(project, A, ledger)["a.ipynb"].decode()
    assert "Since then <code>signalbook.settle</code> changed." in box
    assert "(compared on 2026-01-02), so the record stands." in box
    assert "stale" not in box


def read_digest(project):
    """The digest of the module as it is now, from the executed notebook."""
    notebook = json.loads(project.executed(A).read_text())
    return notebook["metadata"]["made"]["key"]["code"]["modules"]["signalbook.settle"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Case(1 / runs, most)", "Case(1.01 / runs, most)", "claims, 0, "),
        ("values[run] + x)", "values[run] + 1.01 * x)", "figures, gaps, mean gap: "),
    ],
)
def test_code_that_finds_something_else_leaves_it_stale(project, capsys, old, new, said):
    edit(project, old, new)
    before = project.record(A).read_bytes()
    assert vouch.vouch_all(project) == 1
    output = capsys.readouterr().out
    assert f"{A}: stays stale: {A} does not find the same with the code of today: {said}" in output
    assert project.record(A).read_bytes() == before


def test_what_cannot_be_compared_says_what_to_do(project):
    record = json.loads(project.record(A).read_text())
    del record["twin"]
    project.record(A).write_text(json.dumps(record | {"seal": records.seal(record)}))
    assert not vouch.vouch(project, A), "a fresh one needs no twin"
    make_stale(project)
    with pytest.raises(BookError, match=f"the record of {A} has no twin: run `make paper C={A}`"):
        vouch.vouch(project, A)
    project.record(A).unlink()
    with pytest.raises(BookError, match=f"{A} has no record: run `make paper C={A}`"):
        vouch.vouch(project, A)
    assert vouch.vouch_all(project) == 0, "what has no record is not asked for"


def test_numbers_may_differ_by_rounding_alone():
    def differ(old, new):
        return len(list(vouch.differences({"x": old}, {"x": new}))) > 0

    assert not differ(1.0, 1.0 + 1e-6)
    assert differ(1.0, 1.0 + 1e-4)
    assert not differ(1e-17, 3e-16)
    assert differ(1e-9, 2e-9)
    assert not differ(float("nan"), float("nan"))
    assert differ(float("nan"), 1.0)
    assert differ(1, 2)
    assert differ(True, 1.0) is False
    assert differ("holds", "fails as printed")
    assert differ([1, 2], [1, 2, 3])
    assert differ(None, 1.0)
    assert list(vouch.differences({"x": 1}, {})) == ["x is gone"]
    assert list(vouch.differences({}, {"x": 1})) == []


def test_tables_are_compared_by_column():
    def differ(old, new):
        return list(vouch.differences({"figures": {"f": old}}, {"figures": {"f": new}}))

    assert differ("a,b\n1,x\n", "b,a,c\nx,1,7\n") == []
    assert differ("a,b\n1.5,x\n", "a,b\n1.6,x\n") == ["figures, f, a: 1.5, now 1.6"]
    assert differ("a,b\n1,x\n", "a,b\n1,y\n") == ["figures, f, b: 'x', now 'y'"]
    assert differ("a\n1\n", "a\n1\n2\n") == ["figures, f: other rows or columns"]
    assert differ("a\n1\n", "b\n1\n") == ["figures, f: other rows or columns"]
