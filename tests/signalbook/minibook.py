"""A small book in a temporary folder, built by the real machinery."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from signalbook.inventory import PARTS

ROOT = Path(__file__).parents[2]

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
  settles:
    {id}: {expected}
  time_limit: {time_limit}
---
# {title}

Prose of {title}.

```{{code-cell}} ipython3
:tags: [parameters]
runs: int = 20
device: str = "cpu"
seed: int = 0
```

{first}```{{code-cell}} ipython3
import matplotlib.pyplot as plt

from signalbook import figures
from signalbook.checks import at_most_one
from signalbook.settle import settle
from signalbook.start import start
from signallab.case import Case

stream = start("{name}", seed)
values = stream.numpy("values").standard_normal(runs)
```

```{{code-cell}} ipython3
{code}
```
"""

FIGURE = """\
```{code-cell} ipython3
---
mystnb:
  image:
    alt: A random line.
  figure:
    name: fig-NAME
    caption: A random line.
---
fig, ax = plt.subplots()
ax.plot(values)
ax.set(xlabel="run", ylabel="value")
figures.show(fig, "line", {"value": values})
```

```{code-cell} ipython3
below = lambda run, most=9.0: Case(abs(values[run]), most)
settle(
    "ID",
    at_most_one(below, over=[{"run": run} for run in range(runs)], modelled=False),
    found="Standard Gaussian values are below nine: {largest} of it at most.",
    rivals={"a thousandth": lambda run: below(run, 0.009)},
    regardless_of=["runs"],
)
```
"""


class MiniBook:
    """A project of small chapters, each settling one ID."""

    python = sys.executable

    def __init__(self, root: Path, chapters: Sequence[str] = ()) -> None:
        self.root, self.chapters = root, list(chapters)

    def chapter(
        self,
        name: str,
        id: str,
        *,
        first: str = "",
        code: str = "",
        expected: str = "holds",
        body: str = FIGURE,
        time_limit: int = 300,
    ) -> Path:
        """Write a chapter: ``first`` runs before what takes seconds to import, ``code`` after."""
        path = self.root / "chapters" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        slug = name.split("/")[-1]
        head = HEAD.format(
            id=id, expected=expected, title=f"Chapter {slug}", name=name, code=code,
            time_limit=time_limit,
            first=f"```{{code-cell}} ipython3\n{first}\n```\n\n" if first else "",
        )  # fmt: skip
        path.write_text(head + "\n" + body.replace("NAME", slug).replace("ID", id))
        if name not in self.chapters:
            self.chapters.append(name)
        self.toc(self.chapters)
        return path

    def toc(self, chapters: list[str]) -> None:
        pages = ["pages/reading", "pages/map", "pages/ledger", "pages/errata"]
        pages += [f"pages/errata/{part}" for part in PARTS]
        lines = "".join(f"- file: {page}\n" for page in pages)
        lines += "".join(f"- file: chapters/{name}\n" for name in chapters)
        (self.root / "_toc.yml").write_text(f"format: jb-book\nroot: index\nchapters:\n{lines}")

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen:
        return subprocess.Popen(
            [self.python, "-m", "signalbook", *arguments],
            cwd=self.root,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Started in the background, a shell leaves the interrupt ignored to all its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *arguments: str, code: int = 0, **environment: str) -> str:
        process = self.start(*arguments, **environment)
        output = process.communicate(timeout=300)[0]
        assert process.returncode == code, output
        return output

    def executed(self, name: str) -> dict:
        return json.loads((self.root / "_build" / "executed" / f"{name}.ipynb").read_text())

    def page(self, name: str) -> str:
        return (self.root / "_build" / "site" / "chapters" / f"{name}.html").read_text()

    def ledger(self) -> list[dict]:
        return json.loads((self.root / "_build" / "ledger.json").read_text())

    def products(self) -> dict[str, bytes]:
        """The ledger and all figure data, byte for byte."""
        build = self.root / "_build"
        paths = [build / "ledger.json", *sorted((build / "stage").rglob("*.csv"))]
        return {path.relative_to(build).as_posix(): path.read_bytes() for path in paths}

    def site(self) -> dict[str, bytes]:
        """Every file of the site, byte for byte."""
        site = self.root / "_build" / "site"
        paths = [path for path in site.rglob("*") if path.is_file()]
        return {path.relative_to(site).as_posix(): path.read_bytes() for path in paths}


def empty(root: Path) -> MiniBook:
    """A book without chapters, that shares the project's sources."""
    root.mkdir(exist_ok=True)
    for name in ("_config.yml", "Snakefile", "constraints.txt", "references.bib"):
        shutil.copy(ROOT / name, root)
    (root / "src").symlink_to(ROOT / "src")
    (root / "assets").symlink_to(ROOT / "assets")
    (root / "pages").mkdir()
    (root / "profiles" / "fast").mkdir(parents=True)
    (root / "index.md").write_text("# A small book\n\n```{include} generated/summary.md\n```\n")
    (root / "pages" / "reading.md").write_text("# How to read\n\nText.\n")
    return MiniBook(root)


def wait_for(condition: Callable[[], object], seconds: float = 300) -> None:
    """Wait until a condition holds: a busy machine takes minutes to start a kernel."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert condition()


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that ``make`` fills once a session: for the worker that comes first, and for all."""
    shared = factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    folder, made = shared / name, shared / f"{name}.made"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            made.touch()
    return folder
