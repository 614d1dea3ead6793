"""The list of statements: whole parts, known IDs, sound text, no statement resting on itself."""

import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from signalbook.inventory import KINDS, PARTS, rows

FOLDER = Path(__file__).parents[2] / "src" / "signalbook" / "statements"
FILES = sorted(FOLDER.glob("*.toml"))
KEYS = {"title", "kind", "where", "says", "statement_needs", "proof_needs"}
NEEDS = ("statement_needs", "proof_needs")

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def entries(path: Path) -> dict:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def braces_match(formula: str) -> bool:
    """Whether the braces that group (a backslash before one prints it) open and close in turn."""
    depth = 0
    for brace in re.findall(r"[{}]", re.sub(r"\\.", "", formula)):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def typesets(text: str) -> bool:
    """Whether dollars come in pairs, around something, and braces match within each formula."""
    plain_and_formulas = text.split("$")
    formulas = plain_and_formulas[1::2]
    return len(plain_and_formulas) % 2 == 1 and all(
        formula.strip() and braces_match(formula) for formula in formulas
    )


def test_every_document_is_covered():
    """As many as the documents number or name, counted by hand."""
    counted = {"rank": 43, "orthogonality": 39, "meanfield": 22, "isometry": 8, "kernels": 27}
    counted |= {"gradients": 52, "conditioning": 85, "decomposed": 64}
    assert {path.stem: len(entries(path)) for path in FILES} == counted
    assert [name for path in PARTS for name in entries(FOLDER / f"{path}.toml")] == list(rows())


@each_file
def test_entries_have_the_six_keys_and_a_known_kind(path):
    for name, entry in entries(path).items():
        assert set(entry) - {"corrected"} == KEYS, name
        assert entry["kind"] in KINDS, name
        assert all(entry[key].strip() for key in ("title", "where", "says")), name


@each_file
def test_texts_are_short_and_typeset(path):
    for name, entry in entries(path).items():
        assert len(entry["title"]) <= 60, name
        assert len(entry["says"]) <= 700, name
        assert all(typesets(entry[key]) for key in ("title", "where", "says")), name
        # a control character is an escape that a basic string has eaten, as \t in "\theta"
        assert all(entry[key].isprintable() for key in ("title", "where", "says")), name


@each_file
def test_needs_name_other_known_statements_once(path):
    for name, entry in entries(path).items():
        for key in NEEDS:
            assert len(set(entry[key])) == len(entry[key]), (name, key)
            assert set(entry[key]) <= set(rows()) - {name}, (name, key)


@each_file
def test_corrections_are_sound_and_by_known_later_statements(path):
    for name, entry in entries(path).items():
        for found in entry.get("corrected", ()):
            assert set(found) - {"by"} == {"where", "says"}, name
            assert found.get("by", "") in {"", *rows()} - {name}, name
            assert typesets(found["where"]), name
            assert typesets(found["says"]), name


def test_no_statement_rests_on_itself():
    graph = {
        name: entry["statement_needs"] for path in FILES for name, entry in entries(path).items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize(
    "text", ["$x", r"$\frac{1}{2$", "$}{$", "$$", "a $x$ and $", r"$\left\{x}$"]
)
def test_broken_text_is_noticed(text):
    assert not typesets(text)


@pytest.mark.parametrize(
    "text", ["plain", "$x$", r"$\{0\}$ and $\max\left\{1, \frac{a}{b}\right\}$"]
)
def test_sound_text_passes(text):
    assert typesets(text)
