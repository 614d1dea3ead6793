"""Links that open a chapter on a machine of others, all made from one address.

The address of the project's repository stands once, in ``_config.yml`` under ``html_context``.
While it is empty there are no links.
"""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import yaml

from signalbook.project import Project

__all__ = ["binder", "repository"]


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
