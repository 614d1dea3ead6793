"""The first files of a new chapter: ``make new C=<part>/<slug> ID=<id>``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from signalbook.errors import BookError
from signalbook.files import write
from signalbook.inventory import rows
from signalbook.project import PLAIN, Project
from signalbook.source import Source

__all__ = ["begin_chapter"]

HEAD = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
signalbook:
  settles: {settles}
  seconds: 20
---
# {title}

What is claimed, why it matters, and to whom.

```{{code-cell}} ipython3
:tags: [parameters]
runs: int = 20
seed: int = 0
```

```{{code-cell}} ipython3
:tags: [hide-input]
import matplotlib.pyplot as plt

from signalbook import figures{imports}
from signalbook.prose import tell
from signalbook.start import start
from signallab.{part} import {module} as lab

stream = start("{name}", seed)
```
"""

STATEMENT = """
## {id}: {title}

{says}

Why one would believe it: the idea of the proof in a few steps.
"""

EXPERIMENT = """
## The experiment

```{{code-cell}} ipython3
measured = lab.experiment(runs, stream)
```

```{{code-cell}} ipython3
---
tags: [hide-input]
mystnb:
  image:
    alt: What one sees, for those who do not see it.
  figure:
    name: fig-{slug}
    caption: What it shows, and what bands and marks mean.
---
fig, ax = plt.subplots()
ax.plot(measured["run"], measured["value"], "o")
ax.set(xlabel="run", ylabel="value")
figures.show(fig, "{slug}", measured)
```

```{{code-cell}} ipython3
:tags: [remove-cell]
tell(mean=float(measured["value"].mean()))
```

The mean is {{glue:text}}`mean`. What it means, and what it does not.

What happens when a hypothesis is dropped. What the document leaves unsaid.
"""

CLAIM = """
```{{code-cell}} ipython3
settle(
    "{id}",
    at_most_one(lab.{function}, over=[{{"run": run}} for run in range(runs)]),
    found="What was found, in a sentence: {{largest}} of the bound at most.",
    rivals={{"the constant halved": lambda run: lab.{function}(run, constant=0.5)}},
    regardless_of=["runs"],
)
```
"""

LAB = '''\
"""The experiments of the chapter {title}."""

from __future__ import annotations

import pandas as pd

from signalprop import Stream
{import_case}

def experiment(runs: int, stream: Stream) -> pd.DataFrame:
    """Return what is measured: a row for each run."""
    values = [stream.numpy("values", run).standard_normal() for run in range(runs)]
    return pd.DataFrame({{"run": range(runs), "value": values}})
'''

FUNCTION = '''

def {function}(run: int, constant: float = 1.0) -> Case:
    """Return both sides of {id} in one run."""
    raise NotImplementedError("both sides of {id} are still to be written")
'''

TEST = '''\
"""{title}: each function against a source of its own."""

from signallab.{part} import {module} as lab
from signalprop import Stream


def test_an_experiment_has_a_row_for_each_run():
    assert len(lab.experiment(3, Stream(0))) == 3
'''


def begin_chapter(project: Project, name: str, ids: Sequence[str] = ()) -> list[Path]:
    """Write page, experiments and test of a new chapter, list it in ``_toc.yml``; return the files.

    The page keeps to what every chapter keeps to, and runs up to its first claim, whose two sides
    are still to be written.
    """
    part, _, slug = name.partition("/")
    if not PLAIN.fullmatch(name) or "/" in slug or not slug:
        raise BookError(f"C must be <part>/<slug>, letters, digits and hyphens alone, got {name!r}")
    toc = project.root / "_toc.yml"
    of_part = re.findall(
        rf"^ *- file: (?:pages/parts/{part}|chapters/{part}/.*)\n", toc.read_text(), re.MULTILINE
    )
    if not of_part:
        parts = re.findall(r"- file: (?:pages/parts/|chapters/(?=.*/))([\w-]+)", toc.read_text())
        known = ", ".join(sorted(set(parts)))
        raise BookError(f"there is no part {part!r}; the parts are: {known}")
    if unknown := [id for id in ids if id not in rows()]:
        raise BookError(f"{unknown[0]} is not in the inventory (src/signalbook/statements)")
    module = slug.replace("-", "_")
    files = {
        project.source(name): _page(name, ids),
        project.root / "src" / "signallab" / part / f"{module}.py": _lab(slug, ids),
        project.root / "tests" / "signallab" / part / f"test_{module}.py": TEST.format(
            title=_title(slug), part=part, module=module
        ),
    }
    for path in files:
        if path.exists():
            raise BookError(f"{path.relative_to(project.root)} is there already")
    for path, text in files.items():
        write(path, text)
    indent = of_part[-1].partition("-")[0]
    line = f"{indent}- file: chapters/{name}\n"
    write(toc, toc.read_text().replace(of_part[-1], of_part[-1] + line))
    return [*files, toc]


def settled_elsewhere(project: Project, name: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the IDs that another chapter settles, each with that chapter."""
    others = (c for c in project.chapters if c != name)
    settled = {id: c for c in others for id in Source(project.source(c)).settles}
    return {id: settled[id] for id in ids if id in settled}


def _page(name: str, ids: Sequence[str]) -> str:
    part, slug = name.split("/")
    checks = "\nfrom signalbook.checks import at_most_one" if ids else ""
    head = HEAD.format(
        settles="".join(f"\n    {id}: holds" for id in ids) or "{}",
        title=_title(slug),
        part=part,
        module=slug.replace("-", "_"),
        name=name,
        imports=checks,
    )
    if ids:
        settle = "from signalbook.settle import settle\n"
        head = head.replace("from signalbook.start", settle + "from signalbook.start")
    stated = "".join(
        STATEMENT.format(id=i, title=rows()[i].title, says=rows()[i].says) for i in ids
    )
    claims = "".join(CLAIM.format(id=id, function=_function(id)) for id in ids)
    return head + stated + EXPERIMENT.format(slug=slug) + claims


def _lab(slug: str, ids: Sequence[str]) -> str:
    case = "from signallab.case import Case\n" if ids else ""
    text = LAB.format(title=_title(slug), import_case="")
    text = text.replace("import pandas as pd\n\n", f"import pandas as pd\n\n{case}")
    return text + "".join(FUNCTION.format(id=id, function=_function(id)) for id in ids)


def _title(slug: str) -> str:
    return slug.replace("-", " ").capitalize()


def _function(id: str) -> str:
    """A name for the function of a statement: of ``ORTH-F2b``, ``orth_f2b``."""
    return re.sub(r"\W", "_", id).lower()
