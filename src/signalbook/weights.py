"""How much each page of a site loads at first, read from its files."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["heaviest", "weight"]

LOADED = re.compile(r"<(?:script|img|link)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"[^>]*>")
#: What the script of the formulas fetches on its own; fonts come as formulas need them.
MATHS = ("startup.js", "core.js", "input/tex.js", "output/chtml.js", "output/chtml/fonts/tex.js")


def weight(page: Path) -> int:
    """Bytes of a page with its style sheets, scripts and the pictures that do not wait.

    Pictures that wait until a reader comes near (``loading="lazy"``) are left out, as are the fonts
    of formulas.
    """
    text = page.read_text()
    files = {page}
    for found in LOADED.finditer(text):
        tag, address = found[0], urlsplit(found[1])
        waits = 'loading="lazy"' in tag
        leads = tag.startswith("<link") and not re.search(r'rel="(?:stylesheet|preload|icon)"', tag)
        if not (waits or leads or address.netloc or address.scheme):
            files.add((page.parent / unquote(address.path)).resolve())
    scripts = [file for file in files if file.name == "maths.js"]
    files |= {script.parent / "mathjax" / part for script in scripts for part in MATHS}
    return sum(file.stat().st_size for file in files if file.is_file())


def heaviest(site: Path, most: int = 5) -> list[tuple[int, str]]:
    """The pages that weigh most, with their bytes, the heaviest first."""
    pages = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    weights = [(weight(path), path.relative_to(site).as_posix()) for path in pages]
    return sorted(weights, key=lambda item: (-item[0], item[1]))[:most]
