"""Links that open a chapter elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from signalbook import pages
from signalbook.launch import colab, notebooks, repository
from signalbook.project import Project
from signalbook.source import Source

SEES = """from signalbook.scale import reductions
from signalbook.start import start
stream = start("one/gap", 0)
print(reductions())"""


@pytest.fixture
def project(book):
    book.chapter("one/gap", "ORTH-T1")
    return Project(book.root)


def lies_at(project, address):
    path = project.root / "_config.yml"
    config = yaml.safe_load(path.read_text())
    config["sphinx"]["config"]["html_context"]["repository"] = address
    path.write_text(yaml.safe_dump(config))


def test_the_address_stands_in_one_place(project):
    lies_at(project, "https://github.com/some/book/")
    assert repository(project) == "https://github.com/some/book"


def test_without_an_address_there_is_no_link(project):
    source = Source(project.source("one/gap"))
    alone = pages.run_it_yourself("one/gap", source)
    assert "mybinder" not in alone
    assert "colab" not in alone
    linked = pages.run_it_yourself("one/gap", source, repository="https://github.com/some/book")
    assert "[open in Binder](https://mybinder.org/v2/gh/some/book/HEAD?" in linked
    assert "[open in Colab](https://colab.research.google.com/github/some/book/blob/" in linked
    elsewhere = pages.run_it_yourself("one/gap", source, repository="https://git.example/book")
    assert "mybinder" in elsewhere
    assert "colab" not in elsewhere


@pytest.mark.slow
def test_the_notebook_for_colab_fetches_the_book_and_runs_as_the_chapter_does(project):
    """With the lines for the shell left out, as everything is here."""
    path = project.executed("one/gap")
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "Prose."},
        {"cell_type": "code", "metadata": {}, "source": "runs: int = 20", "outputs": ["kept"]},
        {"cell_type": "code", "metadata": {}, "source": "# Parameters\nruns = 3", "outputs": []},
        {"cell_type": "code", "metadata": {}, "source": SEES, "outputs": []},
    ]
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {}}))
    assert notebooks(project) == {}
    lies_at(project, "https://github.com/some/book")
    ((name, text),) = notebooks(project).items()
    assert colab("https://github.com/some/book", "one/gap").endswith(f"/gh-pages/{name}")
    code = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in code)
    fetch, *rest = (cell["source"] for cell in code)
    assert "git clone --quiet --depth 1 https://github.com/some/book book" in fetch
    here = "\n".join(line for line in fetch.splitlines() if line[0] not in "!%")
    script = f"""
from IPython.core.interactiveshell import InteractiveShell
for cell in {[here, *rest]!r}:
    InteractiveShell.instance().run_cell(cell, store_history=True).raise_error()
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout.strip() == "{'runs': (3, 20)}", run.stderr


@pytest.mark.slow
def test_binder_opens_chapters_as_notebooks(tmp_path):
    """What stands in ``postBuild`` is run there once the environment is made."""
    root = Project.find().root
    place = {"HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path)}
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([root / "postBuild"], check=True, env=os.environ | place | {"PATH": tools})
    (path,) = tmp_path.rglob("default_setting_overrides.json")
    (settings,) = json.loads(path.read_text()).values()
    assert settings["defaultViewers"] == dict.fromkeys(["markdown", "myst"], "Jupytext Notebook")
