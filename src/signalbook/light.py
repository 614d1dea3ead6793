"""Make the site light: a page loads what it uses, and no more.

The theme draws a dozen icons with a script of 1.5 MB, brings the style sheet of a whole framework,
and loads the search index on every page. Here icons become inline drawings, rules for classes that
no page and no script knows are dropped, style sheets become one, scripts stay where they are
needed, and figures wait for the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path

from signalbook.errors import BookError
from signalbook.sheets import joined

__all__ = ["drawing", "lighter", "page", "pictures", "style"]

ICONS = Path("_static/scripts/fontawesome.js")
LEFT_OUT = re.compile(r"fontawesome|\.map$|webpack-macros")
ICON = re.compile(r'<(i|span) class="([^"]*\bfa-(?:solid|regular|brands)\b[^"]*)"([^>]*)>\s*</\1>')
STYLES = {"fa-solid", "fa-regular", "fa-brands", "fa-lg"}  # classes that name no icon
MATHS = re.compile(
    r"\s*<script[^>]*>window\.MathJax.*?</script>|\s*<script[^>]*/maths\.js[^>]*></script>"
)
SCRIPTS = re.compile(r"\s*<script[^>]*/fontawesome\.js[^>]*></script>")
#: Names, punctuation and spaces of code have the colour of all code: a third of a page's weight.
PLAIN = re.compile(r'<span class="[npw]">([^<]*)</span>')
#: Words for programs that would change a formula; it is drawn before any of them comes.
DRAWN = ' class="math notranslate nohighlight"'
FOLD = ' aria-label="Toggle hidden content"'  # the name of a fold is what it says
SIZE = re.compile(r'<svg[^>]* width="([\d.]+)pt" height="([\d.]+)pt"')
PATH = re.compile(r' d="[^"]*"')
LONG = re.compile(r"\d+\.\d{3,}")
INDENT = re.compile(r"\n +")
#: A figure, and further down its drawing for phones.
DRAWN_TWICE = re.compile(
    r'(<img [^>]*>)((?:(?!<img ).)*?)\s*<img [^>]*class="sb-narrow"[^>]*src="([^"]+)"[^>]*>', re.S
)
#: A statement goes by its document's number: the theme puts one of its own before that.
NUMBERED = re.compile(
    r'(<p class="admonition-title"[^>]*>)<span class="caption-number">[^<]*</span> \((.*)\)</p>'
)
SEARCH = re.compile(
    r'\s*<script[^>]*"[^"]*\b(?:searchtools|language_data|searchindex)\.js[^>]*></script>'
)


def lighter(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file of the site in ``folder`` by its path in there, made light."""
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    names = [name for name in names if not LEFT_OUT.search(name.as_posix())]
    icons = (folder / ICONS).read_text()
    pages = {
        name: pictures(
            page((folder / name).read_text(), "../" * (len(name.parts) - 1), icons),
            (folder / name).parent,
        )
        for name in names
        if name.suffix == ".html"
    }
    scripts = [(folder / name).read_text() for name in names if name.suffix == ".js"]
    scripts.append(files("signalbook").joinpath("print.js").read_text())  # which has its own class
    known = words([*pages.values(), *scripts])
    sheets = {
        name: style((folder / name).read_text(), known) for name in names if name.suffix == ".css"
    }
    for texts in joined(pages, sheets):
        yield from ((name, text.encode()) for name, text in texts.items())
    for name in names:
        if name in pages or name in sheets:
            continue
        if name.suffix == ".svg":
            yield name, drawing((folder / name).read_text()).encode()
        else:
            yield name, (folder / name).read_bytes()


def page(text: str, up: str, icons: str) -> str:
    """A page with its icons drawn in place, and with the scripts that it needs alone.

    ``up`` leads from the page to the root of the site, ``icons`` is the script of the icons.

    >>> page('<p class="math"></p><script src="x/maths.js"></script></head>', "../", "")
    '<p class="math"></p><script defer src="../_static/maths.js"></script>\\n</head>'
    >>> page('<pre><span class="n">x</span><span class="o">+</span></pre>', "", "")
    '<pre>x<span class="o">+</span></pre>'
    """
    text = ICON.sub(lambda found: _drawn(found[2].split(), found[3], icons), text)
    text = SCRIPTS.sub("", MATHS.sub("", text)).replace(FOLD, "")
    text = NUMBERED.sub(r"\1\2</p>", text)
    text = PLAIN.sub(r"\1", text).replace(DRAWN, ' class="math"')
    if 'id="search-results"' not in text:
        text = SEARCH.sub("", text)
    if re.search(r'class="math\b', text):
        tag = f'<script defer src="{up}_static/maths.js"></script>'
        text = text.replace("</head>", f"{tag}\n</head>", 1)
    return text


def drawing(svg: str) -> str:
    """A drawing without indents, its paths told to a hundredth of a point: finer than any screen.

    >>> drawing('<g>\\n  <path d="M 0.5 271.244687" transform="scale(0.015625)"/>')
    '<g>\\n<path d="M 0.5 271.24" transform="scale(0.015625)"/>'
    """
    shown = PATH.sub(lambda path: LONG.sub(lambda n: f"{float(n[0]):.2f}", path[0]), svg)
    return INDENT.sub("\n", shown)


def pictures(text: str, place: Path) -> str:
    """Figures after the first load when a reader comes near; on phones, their narrow drawings do.

    Their sizes are said, so that nothing moves when they arrive. ``place`` is the page's folder.
    """

    def both(found: re.Match[str]) -> str:
        wide, between, narrow = found.groups()
        attributes = f'media="(max-width: 600px)" {_size(place / narrow)}srcset="{narrow}"'
        return f"<picture><source {attributes} />{wide}</picture>{between}"

    def said(part: str, loading: str) -> str:
        (name,) = re.findall(r'src="([^"]+\.svg)"', part)[:1]
        size = _size(place / name)
        return part.replace("<img ", f"<img {loading}{size}", 1) if size else part

    first, *rest = re.split(r'(?=<img [^>]*src="[^"]+\.svg")', DRAWN_TWICE.sub(both, text))
    return first + "".join(
        said(part, 'loading="lazy" ' if number else "") for number, part in enumerate(rest)
    )


def _size(path: Path) -> str:
    """Width and height of a drawing, as attributes; nothing where it does not say them."""
    size = SIZE.search(path.read_text()[:1000]) if path.suffix == ".svg" else None
    if size is None:
        return ""
    width, height = (round(float(number) * 4 / 3) for number in size.groups())  # pt to px
    return f'width="{width}" height="{height}" '


def _drawn(classes: list[str], attributes: str, icons: str) -> str:
    """The icon that ``fa-<name>`` among the classes stands for."""
    (name,) = [c.removeprefix("fa-") for c in classes if c.startswith("fa-") and c not in STYLES]
    drawing = re.search(rf'[,{{]"?{name}"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"', icons)
    if drawing is None:
        raise BookError(f"the theme uses an icon that its script does not draw: {name}")
    width, height, path = drawing.groups()
    kept = " ".join(["sb-icon", *(c for c in classes if c == "fa-lg" or not c.startswith("fa-"))])
    return (
        f'<svg class="{kept}"{attributes} viewBox="0 0 {width} {height}" aria-hidden="true">'
        f'<path fill="currentColor" d="{path}"/></svg>'
    )


def words(texts: Iterable[str]) -> set[str]:
    """Everything in pages and scripts that may be the name of a class or of an element."""
    return {word for text in texts for word in re.findall(r"[\w-]+", text)}


def style(css: str, known: set[str]) -> str:
    """The rules whose classes and elements are among the ``known`` words.

    A word that ends with a hyphen stands for all that begin with it: scripts put names together.

    >>> style(".a,.b{x:1} @media (y){.b>.c{x:2}} .tip-up:not(.b){x:3}", {"a", "tip-"})
    '.a{x:1}.tip-up:not(.b){x:3}'
    """
    begun = tuple(word for word in known if word.endswith("-") and len(word) > 3)
    kept = []
    for head, body in _rules(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        if head.startswith(("@media", "@supports", "@container", "@layer")):
            inner = style(body, known)
            kept += [f"{head}{{{inner}}}"] if inner else []
        elif head.startswith("@"):
            kept += [] if "Font Awesome" in body else [f"{head}{{{body}}}" if body else f"{head};"]
        else:
            some = [s for s in _alternatives(head) if _may_match(s, known, begun)]
            kept += [f"{','.join(some)}{{{body}}}"] if some else []
    return "".join(kept)


def _may_match(selector: str, known: set[str], begun: tuple[str, ...]) -> bool:
    while (plain := re.sub(r"\([^()]*\)|\[[^\]]*\]", "", selector)) != selector:
        selector = plain  # what stands in brackets may match in many ways
    names = re.findall(r"[.#]((?:[\w-]|\\.)+)", selector)
    names = [name.replace("\\", "") for name in names]
    return all(name in known or name.startswith(begun) for name in names)


def _alternatives(selector: str) -> list[str]:
    """A list of selectors, taken apart at its outer commas."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", selector)]


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Heads and bodies of the outermost rules; a statement without a body has an empty one."""
    head, start, depth = 0, 0, 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[{};]', css):
        at, sign = token.start(), token[0]
        if sign == "{":
            depth += 1
            start = at if depth == 1 else start
        elif sign == "}":
            depth -= 1
            if depth == 0:
                yield css[head:start].strip(), css[start + 1 : at].strip()
                head = at + 1
        elif sign == ";" and depth == 0:
            yield css[head:at].strip(), ""
            head = at + 1
