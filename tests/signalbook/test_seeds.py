"""Verdicts with other seeds: which chapters draw, and what the page says of the rows."""

import json

import pytest

from signalbook import seeds
from signalbook.project import Project
from signalbook.source import Source

HEAD = """\
---
kernelspec:
  display_name: Python 3
  name: python3
---
# X

```{code-cell} ipython3
"""


def source(folder, code):
    path = folder / "x.md"
    path.write_text(f"{HEAD}{code}\n```\n")
    return Source(path)


@pytest.mark.parametrize(
    ("code", "random"),
    [
        ('stream = start("x", seed)\nstream.numpy("a")', True),
        ('f(start("x", seed))', True),
        ('start("x", seed)\nf(seed)', True),
        ('stream = start("x", seed)\nother = stream', True),
        ('a, b = start("x", seed)', True),
        ("def (", True),
        ('stream = start("x", seed)', False),
        ('start("x", seed)\n\nstream = start("x", seed)', False),
    ],
)
def test_a_chapter_draws_if_its_seed_leads_anywhere(tmp_path, code, random):
    assert seeds.draws(source(tmp_path, code)) is random


def row(seed, threads=1, **more):
    kept = {"seed": seed, "threads": threads, "key": "k", "claims": 1, "unlike": {}}
    return {**kept, "outputs": "o", "chance": 2e-7, "cpu_seconds": 5.0, "differs": [], **more}


def test_the_page_counts_what_was_run(book):
    name = "orthogonality/a"
    book.chapter(name, "ORTH-X1")
    rows = [row(0), row(1), row(2, differs=["ORTH-X1: not reproduced."]), row(0, threads=2)]
    entry = {"modules": "signalbook.settle", "files": "", "rows": rows}
    path = book.root / seeds.FILE
    path.parent.mkdir()
    path.write_text(json.dumps({name: entry}))
    page = seeds.seeds_page(Project(book.root), {name: "Chapter a"})
    assert "Of 1 chapters 1 draw at random." in page
    assert "There are 2 runs of 1 chapters, with 2 claims together; a recipe" in page
    assert "at most 4·10⁻⁷ of them should differ by luck. In 1 of the runs something was" in page
    assert "not as declared. 2 of the runs had" in page
    link = "[Chapter a](../chapters/orthogonality/a)"
    assert f"- {link}, seed 2, with earlier code: ORTH-X1: not reproduced.\n" in page
    assert f"| {link} | 2 | the same | the same |" in page
    assert f"| {link} | 2 | 0 | 1 | 1 | 4·10⁻⁷ |" in page
