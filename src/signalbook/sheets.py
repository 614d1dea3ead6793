"""One style sheet for all those that the head of a page asks for: a request in place of a dozen."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from signalbook.errors import BookError

__all__ = ["joined"]

RUN = re.compile(r'(?:<link\b[^>]*\brel="stylesheet"[^>]*>\s*)+')
ADDRESS = re.compile(r'\bhref="([^"?]+)')
IMPORT = re.compile(r'@import "([^"]+)"\s*;')
ENCODING = re.compile(r'@charset "[^"]*"\s*;')  # that of the page counts where none is said
WHERE = re.compile(r"url\(\s*(['\"]?)(?!data:|#|['\"])([^)'\"]+)\1\s*\)")
FOLDER = "_static"


def joined(
    pages: Mapping[Path, str], sheets: Mapping[Path, str]
) -> tuple[dict[Path, str], dict[Path, str]]:
    """Pages that ask for one sheet, and the sheets with those in place of what they were made of.

    The order of the rules stays. A sheet that stands in the text of a page stays what it is.

    >>> link = '<link href="a.css?v=1" rel="stylesheet"/>'
    >>> page = f"<head>{link}{link.replace('a.css', 'b.css')}</head>"
    >>> pages, sheets = joined({Path("x"): page}, {Path("a.css"): "p{x:1}", Path("b.css"): "b{}"})
    >>> pages[Path("x")]
    '<head><link rel="stylesheet" href="_static/styles-0e54dbee.css" /></head>'
    >>> list(sheets.values())
    ['p{x:1}b{}']
    """
    texts = {name.as_posix(): text for name, text in sheets.items()}
    made: dict[tuple[str, ...], str] = {}
    used: set[str] = set()
    shown = {}
    for page, text in pages.items():
        run = RUN.search(text, 0, max(text.find("</head>"), 0))
        shown[page] = text
        if run is None:
            continue
        names = tuple(_there(page.as_posix(), link) for link in ADDRESS.findall(run[0]))
        if names not in made:
            made[names] = "".join(_whole(name, texts, used) for name in names)
        up = "../" * (len(page.parts) - 1)
        link = f'<link rel="stylesheet" href="{up}{_name(made[names])}" />'
        gap = run[0][len(run[0].rstrip()) :]
        shown[page] = f"{text[: run.start()]}{link}{gap}{text[run.end() :]}"
    rest = {name: text for name, text in sheets.items() if name.as_posix() not in used}
    return shown, rest | {Path(_name(css)): css for css in made.values()}


def _name(css: str) -> str:
    """Where a joined sheet lies: another one has another name, so no browser shows an old one."""
    return f"{FOLDER}/styles-{hashlib.sha256(css.encode()).hexdigest()[:8]}.css"


def _whole(name: str, texts: Mapping[str, str], used: set[str]) -> str:
    """The rules of a sheet and of those that it imports, their addresses seen from the joined."""
    if name not in texts:
        raise BookError(f"a page or a style sheet asks for {name}, which the site does not have")
    used.add(name)

    def seen(found: re.Match[str]) -> str:
        return f'url("{posixpath.relpath(_there(name, found[2]), FOLDER)}")'

    css = WHERE.sub(seen, ENCODING.sub("", texts[name]))
    return IMPORT.sub(lambda found: _whole(_there(name, found[1]), texts, used), css)


def _there(file: str, address: str) -> str:
    """The place in the site that an address in one of its files leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), address))
