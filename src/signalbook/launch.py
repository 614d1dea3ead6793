"""Links that open a chapter on a machine of others, all made from one address.

The address of the project's repository stands once, in ``_config.yml`` under ``html_context``.
While it is empty there are no links.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlsplit

import yaml

from signalbook.project import Project

__all__ = ["binder", "colab", "notebooks", "repository"]

#: A chapter looks for its parameters in the first cell that ran, which is not to be this one.
FETCH = """\
# The book and what it needs; this takes some minutes.
!git clone --quiet --depth 1 {address} book
%cd -q book
%pip install --quiet ".[book]"
In[-1] = ""\
"""


def repository(project: Project) -> str:
    """The address of the repository, or ""."""
    config = yaml.safe_load((project.root / "_config.yml").read_text())
    context = config.get("sphinx", {}).get("config", {}).get("html_context", {})
    return str(context.get("repository", "")).rstrip("/")


def binder(address: str, chapter: str) -> str:
    """Where Binder opens the chapter: on GitHub by its own route, elsewhere by that for any git.

    >>> binder("https://github.com/some/book", "rank/soft-rank")
    'https://mybinder.org/v2/gh/some/book/HEAD?urlpath=lab/tree/chapters/rank/soft-rank.md'
    >>> binder("https://git.example/book", "a/b").split("?")[0]
    'https://mybinder.org/v2/git/https%3A%2F%2Fgit.example%2Fbook/HEAD'
    """
    place = urlsplit(address)
    on_github = place.netloc == "github.com"
    source = f"gh{place.path}" if on_github else f"git/{quote(address, safe='')}"
    return f"https://mybinder.org/v2/{source}/HEAD?urlpath=lab/tree/chapters/{chapter}.md"


def colab(address: str, chapter: str) -> str:
    """Where Colab opens the chapter, "" elsewhere than on GitHub.

    Colab knows no notebooks that are texts. It takes the site's, from the branch that GitHub's
    pages usually come from.

    >>> colab("https://github.com/some/book", "rank/soft-rank")
    'https://colab.research.google.com/github/some/book/blob/gh-pages/notebooks/rank/soft-rank.ipynb'
    >>> colab("https://git.example/book", "rank/soft-rank")
    ''
    """
    place = urlsplit(address)
    if place.netloc != "github.com":
        return ""
    there = f"{place.path}/blob/gh-pages/{_notebook(chapter)}"
    return f"https://colab.research.google.com/github{there}"


def notebooks(project: Project) -> dict[str, str]:
    """The notebooks that the links to Colab ask the site for, by their place in it."""
    address = repository(project)
    return {
        _notebook(chapter): _fetching(json.loads(project.executed(chapter).read_text()), address)
        for chapter in project.chapters
        if colab(address, chapter) and project.executed(chapter).is_file()
    }


def _notebook(chapter: str) -> str:
    return f"notebooks/{chapter}.ipynb"


def _fetching(notebook: dict[str, Any], address: str) -> str:
    """The notebook of a run, to be run where neither the book nor its packages are."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    cell = {"cell_type": "code", "id": "fetch", "metadata": {}, "outputs": []}
    source = FETCH.format(address=address)
    notebook["cells"].insert(0, cell | {"execution_count": None, "source": source})
    return json.dumps(notebook, indent=1, sort_keys=True)
