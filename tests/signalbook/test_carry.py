"""Twins of runs with other seeds: when they are the same, and where they come from."""

import json

import pytest

from signalbook import carry, keys, seeds
from signalbook.execute import execute_for_site
from signalbook.outputs import CLAIMS
from signalbook.project import Project

A = "orthogonality/a"


def cells(*claims, words="", text=""):
    outputs = [{"output_type": "display_data", "data": {CLAIMS: list(claims)}}]
    outputs += [{"output_type": "stream", "text": text}] if text else []
    return [{"cell_type": "markdown", "source": words}, {"cell_type": "code", "outputs": outputs}]


def claim(**more):
    found = {"id": "ORTH-X1", "verdict": "holds", "measured": "0.5", "error": 1e-3, "slack": 1.5}
    return {**found, "rivals": {"twice": 2.0}, **more}


def same(old, new):
    return carry._same(carry._found(old), carry._found(new))


@pytest.mark.parametrize(
    "other",
    [
        claim(verdict="misprint"),
        claim(measured="0.6"),
        claim(error=1.001e-3),
        claim(slack=1.6),
        claim(rivals={"twice": 2.1}),
        claim(rivals={"thrice": 2.0}),
        claim(about="more"),
    ],
)
def test_any_number_tells_twins_apart(other):
    assert same(cells(claim()), cells(claim()))
    assert not same(cells(claim()), cells(other))
    assert not same(cells(claim()), cells(claim(), other | {"about": "another"}))
    assert not same(cells(claim(), other | {"about": "another"}), cells(claim()))


def test_rounding_and_words_do_not():
    assert same(cells(claim(), words="So."), cells(claim(error=1e-3 * (1 + 1e-9)), words="Thus."))


def test_a_recipe_must_show_the_very_same():
    assert same(cells(text="1.0"), cells(text="1.0", words="Words."))
    assert not same(cells(text="1.0"), cells(text="1.1"))


@pytest.mark.slow
def test_the_run_of_a_built_book_is_a_twin(book, monkeypatch):
    """With its key, so that a run with another seed has the same; and nothing is run for it."""
    book.chapter(A, "ORTH-X1")
    project = Project(book.root)
    keys.prepare(project, seeds.PROFILE)
    execute_for_site(project, A)
    monkeypatch.setattr(carry, "execute", None)
    assert keys.built(project, A, seeds.PROFILE)
    assert carry.carry_over(project, A) == 0
    book.run("seeds", "--count", "1")
    known = json.loads((book.root / seeds.FILE).read_text())[A]
    assert [row["key"] for row in known["rows"]] == [known["twin"]["key"]]
    assert known["twin"]["claims"]["ORTH-X1"]["verdict"] == "holds"
    book.chapter(A, "ORTH-X1", code="values = 1 * values")
    assert not keys.built(project, A, seeds.PROFILE)
