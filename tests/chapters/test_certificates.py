"""Each certificate of a chapter is for an ID that the chapter settles, and there is one a part."""

import ast
import functools
from pathlib import Path

import pytest

from signalbook.project import Project
from signalbook.source import Source
from signallab.library.uncertified import UNCERTIFIED
from tests.chapters.cells import CELL

PROJECT = Project(Path(__file__).parents[2])
TEXTS = {chapter: PROJECT.source(chapter).read_text() for chapter in PROJECT.chapters}


@functools.cache
def calls_in(text):
    """All calls in the cells of a chapter, by the name of what is called."""
    found = {}
    for cell in CELL.finditer(text):
        for node in ast.walk(ast.parse(cell["code"])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found.setdefault(node.func.id, []).append(node)
    return found


def calls(text, function):
    """What calls of a function are about: the ID and the two texts that tell parts."""
    found = calls_in(text).get(function, [])
    return [
        (
            ast.literal_eval(call.args[0]),
            *({k.arg: ast.unparse(k.value) for k in call.keywords}.get(name, "") for name in PARTS),
        )
        for call in found
    ]


PARTS = ("about", "in_proof")


def failing(text):
    """The claims of a chapter that fail as printed, where they are written out."""
    for call in calls_in(text).get("settle", []):
        words = {k.arg: k.value for k in call.keywords}
        values = [call.args[0], *(words.get(name, ast.Constant("")) for name in PARTS)]
        if "severity" in words and all(isinstance(value, ast.Constant) for value in values):
            yield tuple(value.value for value in values)


def test_failures_without_a_certificate_are_listed_with_a_reason():
    listed = [claim for claims in UNCERTIFIED.values() for claim in claims]
    assert len(set(listed)) == len(listed)
    certified = {
        tuple(ast.literal_eval(text or "''") for text in (repr(id), about, proof))
        for text in TEXTS.values()
        for id, about, proof in calls(text, "certified")
    }
    found = {claim for text in TEXTS.values() for claim in failing(text)}
    assert found - certified == set(listed)


@pytest.mark.parametrize("chapter", [c for c, text in TEXTS.items() if "certified(" in text])
def test_certificates_are_for_claims_of_the_chapter(chapter):
    certified = calls(TEXTS[chapter], "certified")
    assert {id for id, *_ in certified} <= set(Source(PROJECT.source(chapter)).settles)
    assert len(set(certified)) == len(certified)
