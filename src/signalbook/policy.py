"""The content-security policy of the pages: what a browser may load and run for them.

Everything comes from the site itself. Of the scripts that stand in a page, those of the theme's
frame are allowed, each by its digest; the text of a page has none. So markup that slipped from a
statement or an output into the text stays without effect.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from signalbook.errors import BookError

__all__ = ["guarded", "policy"]

SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
TEXT = re.compile(r"<article\b.*</article>", re.DOTALL)
#: Attributes of a script that the policy does not concern: a file, or data that nobody runs.
ELSEWHERE = re.compile(r"\ssrc=|\stype=\"application/json\"")
CHARSET = '<meta charset="utf-8" />'  # which has to come first


def guarded(files: Iterable[tuple[Path, bytes]]) -> Iterator[tuple[Path, bytes]]:
    """The files of a site, each page with its policy before all that it loads."""
    for name, content in files:
        if name.suffix != ".html":
            yield name, content
            continue
        text = content.decode()
        try:
            rules = policy(text)
        except BookError as error:
            raise BookError(f"{name}: {error}") from error
        tag = f'<meta http-equiv="Content-Security-Policy" content="{rules}" />'
        yield name, text.replace(CHARSET, f"{CHARSET}\n    {tag}", 1).encode()


def policy(page: str) -> str:
    """The policy of one page.

    Styles may stand in a page: formulas get theirs from a script, and a style runs nothing.

    >>> print(policy('<head><script>f()</script></head>').split("; ")[1])
    script-src 'self' 'sha256-GcEEE0IkDzIP5EQ6DXZaDPORqT5RTBELX8Fyzyg9yvo='
    """
    if any(_runs(text) for text in TEXT.findall(page)):
        raise BookError("there is a script in the text of the page: put it into assets/")
    sources = dict.fromkeys(_source(script) for script in _runs(page))
    return "; ".join(
        [
            "default-src 'none'",
            " ".join(["script-src 'self'", *sources]),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
        ]
    )


def _runs(page: str) -> list[str]:
    """The scripts that stand in a page and would run."""
    return [script for where, script in SCRIPT.findall(page) if not ELSEWHERE.search(where)]


def _source(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
