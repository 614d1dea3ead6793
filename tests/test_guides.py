"""What the guides show is understood by what they are about: pages, profiles, claims, commands."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from signalbook import draw, figures
from signalbook.checks import near
from signalbook.parameters import read_profile
from signalbook.settle import settle
from signalbook.source import Source

ROOT = Path(__file__).parents[1]
GUIDES = ("README.md", "CONTRIBUTING.md", "pages/executing.md", "pages/slurm.md")


def blocks(guide: str, kind: str) -> list[str]:
    """The code blocks of one kind, without the indent of the list that they stand in."""
    text = (ROOT / guide).read_text()
    found = re.findall(rf"^( *)(`{{3,}}){kind}\n(.*?)^\1\2$", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _, _, block in found]


def test_the_page_that_is_shown_is_a_chapter(tmp_path):
    matter, profile = blocks("CONTRIBUTING.md", "yaml")
    cells = blocks("CONTRIBUTING.md", r"\{code-cell\} ipython3")
    (first,) = re.findall(r"`(stream = start\(.*\))`", (ROOT / "CONTRIBUTING.md").read_text())
    cells.append(first.replace("<part>/<slug>", "orthogonality/page") + "\n")
    page = tmp_path / "chapters" / "orthogonality" / "page.md"
    page.parent.mkdir(parents=True)
    fenced = "".join(f"```{{code-cell}} ipython3\n{cell}```\n\n" for cell in cells)
    page.write_text(f"{matter}# Title\n\n{fenced}")
    source = Source(page)
    source.check()
    assert source.settles == {"ORTH-F2b": "holds"}
    assert list(source.parameters) == ["width", "runs", "device", "seed"]
    changes = tmp_path / "page.yml"
    changes.write_text(profile)
    assert read_profile(changes)["iterations"].value == 900


def test_the_figure_that_is_shown_is_drawn():
    code = blocks("CONTRIBUTING.md", r"\{code-cell\} ipython3")[1].split("---\n")[2]
    rows = [
        {"layer": layer, "gap": 1 / layer + run, "width": width}
        for layer in (1, 2)
        for width in (8, 16)
        for run in range(3)
    ]
    names = {"plt": plt, "draw": draw, "figures": figures, "gaps": pd.DataFrame(rows)}
    *lines, last = code.strip().splitlines()
    with plt.rc_context():
        figures.use_style()
        exec("\n".join(lines), names)
        assert len(eval(last, names).data) == 4


def test_the_claim_that_is_shown_settles():
    (claim,) = blocks("CONTRIBUTING.md", "python")
    slopes = np.random.default_rng(0).normal(-0.46, 0.002, 50)
    exec(claim, {"settle": settle, "near": near, "slopes": slopes})


@pytest.mark.parametrize("guide", GUIDES)
def test_commands_set_variables_that_make_knows(guide):
    makefile = (ROOT / "Makefile").read_text()
    known = set(re.findall(r"^(?:override )?([A-Z_]+) (?:\?|:)=", makefile, re.MULTILINE))
    lines = re.findall(
        r"(?:^|`)(?:\w+=\S+ )*make ([^`\n#]*)", (ROOT / guide).read_text(), re.MULTILINE
    )
    said = {name for line in lines for name in re.findall(r"\b([A-Z_]+)=", line.replace('"', ' "'))}
    assert said
    assert said <= known
