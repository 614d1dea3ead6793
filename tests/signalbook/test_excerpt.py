"""The lines of a chapter that lead to a claim: no more than it takes, and they run."""

import ast
import contextlib
import io
import subprocess
import sys

import pytest

from signalbook.checks import at_most_one
from signalbook.excerpt import leading_to
from signalbook.project import Project
from signalbook.source import Source
from signallab.case import Case

CLAIM = {"id": "ORTH-T1", "about": "it", "in_proof": ""}
SIZES = {"runs": 3, "device": "cpu", "seed": 1}
FAILING = """\
```{code-cell} ipython3
import math, os

from signalbook import draw

factors, unused = {}, 2
circle = math.pi
factors["print"] = 0.5
points = [{"n": 0}]
points.append({"n": runs})
points += [{"n": 1}]
twice = 2


def printed(n):
    return Case(float(n), bound(n), words=f"n = {n}")


def bound(n):
    twice = factors["print"]
    return twice * n


for n in (7,):
    points = [*points, {"n": n}]
```

```{code-cell} ipython3
os.environ.setdefault("NEVER", "read")
card = settle(
    "ID",
    at_most_one(
        printed,
        over=points,
    ),
    about="it",
    found="{largest}",
    rivals={"none": lambda n: Case(1.0, 0.0)},
)
points = []
```
"""


@pytest.fixture
def lead(book):
    book.chapter("one/gap", "ORTH-T1", body=FAILING)
    source = Source(Project(book.root).source("one/gap"))

    return lambda **other: leading_to(source, CLAIM | other, SIZES)


def ran(code):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(code, {"__name__": "reader"})
    return shown.getvalue().split()


def test_the_lines_evaluate_the_counterexample_that_the_build_shows(lead):
    points = [{"n": n} for n in (0, 3, 1, 7)]
    check = at_most_one(lambda n: Case(float(n), 0.5 * n, words=f"n = {n}"), over=points)
    seen = check.witness(check.failing[0])
    assert ran(lead()) == [*seen.words.split(), str(seen.left), str(seen.right)]


def test_of_sizes_it_is_the_smallest_that_is_shown(book):
    body = FAILING.replace("twice = 2\n", "size = lambda n: n\n")
    body = body.replace('    about="it"', '    seen_from=size,\n    about="it"')
    book.chapter("one/gap", "ORTH-T1", body=body)
    code = leading_to(Source(Project(book.root).source("one/gap")), CLAIM, SIZES)
    assert ran(code)[:3] == ["n", "=", "1"]


def test_nothing_stands_there_that_the_claim_does_not_rest_on(lead):
    code = lead()
    assert "runs = 3" in code
    for absent in ("import math", "import os", "seed", "circle", "draw", "settle(", "points = []"):
        assert absent not in code, absent


@pytest.mark.parametrize("other", [{"id": "ORTH-L2"}, {"about": ""}, {"in_proof": "Eq. 3"}])
def test_what_is_settled_elsewhere_has_no_lines(lead, other):
    assert lead(**other) == ""


def failing_claims(source):
    """The claims of a chapter that have a repair."""
    for cell in source.code:
        for node in ast.parse(cell.source).body:
            call = getattr(node, "value", None)
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "settle":
                said = {option.arg: getattr(option.value, "value", "") for option in call.keywords}
                if "repaired" in said:
                    told = {name: said.get(name, "") for name in ("about", "in_proof")}
                    yield {"id": call.args[0].value, **told}


@pytest.mark.slow
def test_the_lines_of_every_chapter_name_nothing_that_is_not_there(tmp_path):
    project = Project.find()
    count = 0
    for chapter in project.chapters:
        source = Source(project.source(chapter))
        values = {name: parameter.default for name, parameter in source.parameters.items()}
        for claim in failing_claims(source):
            code = leading_to(source, claim, values)
            assert code, (chapter, claim)
            (tmp_path / f"{chapter.replace('/', '_')}_{count}.py").write_text(code)
            count += 1
    assert count > 100
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F401,F811,F821"]
    run = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
