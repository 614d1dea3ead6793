"""Each certificate of a chapter is for an ID that the chapter settles, and there is one a part."""

import ast
from pathlib import Path

import pytest

from signalbook.project import Project
from signalbook.source import Source
from tests.chapters.cells import CELL

PROJECT = Project(Path(__file__).parents[2])
TEXTS = {chapter: PROJECT.source(chapter).read_text() for chapter in PROJECT.chapters}


def calls(text, function):
    """What calls of a function are about: the ID and the two texts that tell parts."""
    nodes = [node for cell in CELL.finditer(text) for node in ast.walk(ast.parse(cell["code"]))]
    found = [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == function]
    return [
        (
            ast.literal_eval(call.args[0]),
            *({k.arg: ast.unparse(k.value) for k in call.keywords}.get(name, "") for name in PARTS),
        )
        for call in found
    ]


PARTS = ("about", "in_proof")


@pytest.mark.parametrize("chapter", [c for c, text in TEXTS.items() if "certified(" in text])
def test_certificates_are_for_claims_of_the_chapter(chapter):
    certified = calls(TEXTS[chapter], "certified")
    assert {id for id, *_ in certified} <= set(Source(PROJECT.source(chapter)).settles)
    assert len(set(certified)) == len(certified)
