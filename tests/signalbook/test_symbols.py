"""What symbols mean: each stands alone in a formula of its part, and its meaning can be typeset."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from signalbook.inventory import PARTS
from signalbook.pages import symbols

ROOT = Path(__file__).parents[2]
TABLE = tomllib.loads(files("signalbook").joinpath("symbols.toml").read_text("utf-8"))


@pytest.mark.parametrize("part", TABLE)
def test_symbols_stand_in_the_chapters_of_their_part(part):
    assert part in PARTS
    text = "".join(p.read_text() for p in sorted((ROOT / "chapters" / part).glob("*.md")))
    for tex, says in TABLE[part].items():
        assert f"${tex}$" in text, tex
        assert says.count("$") % 2 == 0, tex


def test_the_script_has_them_as_html():
    head, _, data = symbols().partition("window.signalbookSymbols = ")
    assert head == '"use strict";\n'
    found = json.loads(data.rstrip().rstrip(";"))
    assert set(found) == set(TABLE)
    assert 'class="math' in found["orthogonality"][r"\hat V"]
