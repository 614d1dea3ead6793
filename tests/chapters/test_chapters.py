"""What every chapter keeps to, checked without executing it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from matplotlib.colors import is_color_like

from signalbook.inventory import rows
from signalbook.keys import values
from signalbook.parameters import read_profile
from signalbook.project import Project
from signalbook.source import Source
from signalbook.verdicts import VERDICTS
from tests.chapters.cells import CELL, shape
from tests.chapters.format import formatted

PROJECT = Project(Path(__file__).parents[2])


@cache
def source(chapter: str) -> Source:
    """Read once, whatever is asked of it."""
    return Source(PROJECT.source(chapter))


every_chapter = pytest.mark.parametrize("chapter", PROJECT.chapters)


@every_chapter
def test_front_matter(chapter):
    page = source(chapter)
    assert set(page.settles) <= set(rows())
    assert set(page.settles.values()) <= set(VERDICTS)
    assert set(page.live) <= set(page.settles)
    assert set(page.live.values()) <= set(VERDICTS)
    assert "seed" in page.parameters
    assert page.title


@every_chapter
def test_starts_under_its_own_name(chapter):
    code = "\n".join(cell.source for cell in source(chapter).code)
    assert f'start("{chapter}", seed)' in code


@every_chapter
def test_profile_changes_only_what_there_is(chapter):
    page = source(chapter)
    chosen = values(PROJECT, page, chapter, "fast")
    for name in read_profile(PROJECT.profile("fast", chapter)):
        assert chosen[name] != page.parameters[name].default, "a change that changes nothing"


@every_chapter
def test_no_branch_on_the_profile(chapter):
    code = "\n".join(cell.source for cell in source(chapter).code)
    assert not re.search(r"\bif\s+(not\s+)?(fast|paper|profile|TEST)\b", code)


def test_every_profile_has_its_chapter():
    folder = PROJECT.root / "profiles" / "fast"
    named = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.yml")}
    assert named <= set(PROJECT.chapters)


@every_chapter
def test_code_is_formatted_to_the_width_of_a_page(chapter):
    codes = [match["code"].rstrip("\n") for match in CELL.finditer(text(chapter))]
    assert formatted(codes) == codes, f"run: python -m tests.chapters.format {chapter}"


def text(chapter):
    return PROJECT.source(chapter).read_text()


settling = pytest.mark.parametrize("chapter", [c for c in PROJECT.chapters if source(c).settles])


@settling
def test_a_page_can_be_read(chapter):
    """Contract 1: the experiment is a few visible calls, the prose says what they mean."""
    found = shape(text(chapter))
    assert found.statements <= 80
    assert found.largest <= 25
    kinds = {rows()[name].kind for name in source(chapter).settles}
    assert found.words >= (1200 if "theorem" in kinds else 800)


@pytest.mark.parametrize(
    "chapter",
    [c for c in PROJECT.chapters if source(c).title.startswith("Recipe:")],
)
def test_a_recipe_is_short_and_checks_itself(chapter):
    """What a user would copy: at most sixty lines of code, with a comparison that can fail."""
    folded = re.compile(r"remove-cell|hide-input|parameters")
    shown = [m["code"] for m in CELL.finditer(text(chapter)) if not folded.search(m["options"])]
    lines = [line for line in "\n".join(shown).splitlines() if line.strip()]
    assert len(lines) <= 60
    assert any(line.strip().startswith("assert") for line in lines) or "frame_equal(" in text(
        chapter
    )


@settling
def test_only_imports_numbers_for_the_text_and_figures_are_folded(chapter):
    for match in CELL.finditer(text(chapter)):
        code, options = match["code"], match["options"]
        if "remove-cell" in options:
            assert "tell(" in code, code
            assert "settle(" not in code, code
        elif "hide-input" in options:
            lines = [line for line in code.splitlines() if line.strip()]
            assert "figures.show(" in code or "import" in lines[0], code


@settling
def test_every_id_is_settled_by_a_call_and_its_numbers_are_computed(chapter):
    """A sentence of the summary box takes measured numbers from the evaluation."""
    code = "\n".join(match["code"] for match in CELL.finditer(text(chapter)))
    for name in source(chapter).settles:
        assert f'"{name}"' in code
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    for call in calls:
        for keyword in call.keywords:
            if keyword.arg == "found" and isinstance(keyword.value, ast.Constant):
                words = re.sub(r"\$[^$]*\$", "", keyword.value.value)
                assert not re.search(r"\d[.·]\d", words), words
            if keyword.arg == "numbers" and isinstance(keyword.value, ast.Dict):
                assert not any(isinstance(v, ast.Constant) for v in keyword.value.values)


#: What a sentence may type: places in a document, and the numbers from 0 to 2.
PLACES = re.compile(r"\b(Eq\.|Theorem|case|item|panel)\s*[\d.]+")
WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


def typed_sizes(call):
    """Numbers above 2 that ``found`` types, save those that a name in it repeats: {layer_10}."""
    (found,) = [k.value for k in call.keywords if k.arg == "found"]
    words = " ".join(
        c.value for c in ast.walk(found) if isinstance(c, ast.Constant) and isinstance(c.value, str)
    )
    named = {number for name in re.findall(r"\{(\w+)\}", words) for number in name.split("_")}
    plain = PLACES.sub("", re.sub(r"\$[^$]*\$|\{\w+\}", "", words))
    return [n for n in re.findall(r"\d+", plain) if int(n) > 2 and n not in named]


def spelled_sizes(call, sizes):
    (found,) = [k.value for k in call.keywords if k.arg == "found"]
    words = re.findall(r"[a-z]+", ast.unparse(found).lower())
    return [w for w in WORDS[3:] if w in words and WORDS.index(w) in sizes]


@settling
def test_a_sentence_types_no_size_of_the_run(chapter):
    """Another width or number of runs would make it false: sizes enter by name."""
    page = source(chapter)
    values = [p.default for p in page.parameters.values()]
    sizes = {v for value in values for v in (value if isinstance(value, list) else [value])}
    code = "\n".join(match["code"] for match in CELL.finditer(text(chapter)))
    for call in ast.walk(ast.parse(code)):
        if isinstance(call, ast.Call) and any(k.arg == "found" for k in call.keywords):
            assert not typed_sizes(call), ast.unparse(call.args[0])
            assert not spelled_sizes(call, sizes), ast.unparse(call.args[0])


@every_chapter
def test_a_figure_has_one_name(chapter):
    """The file of its data and the anchor of its caption are called alike."""
    for match in CELL.finditer(text(chapter)):
        label = re.search(r"^\s+name: fig-(\S+)$", match["options"], re.M)
        if "figures.show(" in match["code"] and label:
            (shown,) = re.findall(r"figures\.show\([^,]+,\s*\"([^\"]+)\"", match["code"])
            assert label[1] == shown


def test_figures_of_all_chapters_have_different_names():
    """A caption's anchor is known in the whole book."""
    labels = [
        label
        for chapter in PROJECT.chapters
        for label in re.findall(r"^\s+name: (fig-\S+)$", text(chapter), re.M)
    ]
    assert sorted(labels) == sorted(set(labels))


#: The colours of figures by what they mean; CONTRIBUTING.md says which is which.
GREYS = {"0.6", "0.85"}
COLOURS = {f"C{i}" for i in range(7)} | {"k", "none", "face", "white"} | GREYS
BROKEN = {":", "--", "-."}
FORMAT = re.compile(r"(?P<color>C\d|k)?(?P<marker>[.ox+*^vsDd])?(?P<ls>--|-\.|-|:)?")


@pytest.mark.parametrize("chapter", PROJECT.chapters)
def test_one_colour_for_one_thing(chapter):
    """Theory is black and broken, guides are grey and solid, the rest takes the palette."""
    for match in CELL.finditer(text(chapter)):
        if "figures.show(" in match["code"]:
            nodes = list(ast.walk(ast.parse(match["code"])))
            words = {node.value for node in nodes if is_word(node) and len(node.value) > 1}
            assert {word for word in words if is_color_like(word)} <= COLOURS
            for node in nodes:
                if isinstance(node, ast.Call):
                    check_stroke(node)


def is_word(node):
    """Whether it is a string that is no number, which as a colour is a grey."""
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and not re.fullmatch(r"[\d.]*", node.value)
    )


def check_stroke(call):
    """Hold colour and line of one call against each other, where they are typed."""
    said, computed = ast.unparse(call), object()
    style = {k.arg: getattr(k.value, "value", computed) for k in call.keywords}
    for word in (argument.value for argument in call.args if is_word(argument)):
        if found := FORMAT.fullmatch(word):
            style |= {name: value for name, value in found.groupdict().items() if value}
    colour, line = style.get("color"), style.get("ls")
    assert "linestyle" not in style, "ls for short: one name for one thing"
    assert colour in {None, computed} | COLOURS, said
    if colour == "k":
        assert line in {computed} | BROKEN or "marker" in style, said
    if colour in GREYS:  # a curve that says no line takes that of its turn
        assert line == ("-" if ".plot(" in said else None), said
    if line in BROKEN:
        assert colour or "hue" in style, said


@pytest.mark.parametrize(
    "call",
    [
        'ax.plot(x, y, "k-")',
        'ax.plot(x, y, color="k")',
        'ax.plot(x, y, "--")',
        'ax.plot(x, y, ":", color="0.6")',
        'ax.plot(x, y, color="0.6")',
        'ax.axhline(0, color="0.3")',
        'ax.axhline(0, color="0.6", ls=":")',
        'ax.axhline(1, color="k", linestyle=":")',
        'ax.plot(x, y, color="r")',
    ],
)
def test_another_colour_is_refused(call):
    with pytest.raises(AssertionError):
        check_stroke(ast.parse(call, mode="eval").body)


@every_chapter
def test_numbers_of_the_text_are_told(chapter):
    """Each name in the prose is one argument of ``tell``, unless a mapping is given to it."""
    code = ast.parse("\n".join(match["code"] for match in CELL.finditer(text(chapter))))
    calls = [c for c in ast.walk(code) if isinstance(c, ast.Call)]
    given = [
        k.arg for c in calls if ast.unparse(c.func) in ("tell", "prose.tell") for k in c.keywords
    ]
    named = set(re.findall(r"\{glue:text\}`(\w+)`", CELL.sub("", text(chapter))))
    assert named <= set(given) or None in given
    told = [name for name in given if name not in (None, "digits")]
    assert sorted(told) == sorted(set(told))  # the last would be shown everywhere


@every_chapter
def test_links_to_chapters_have_no_anchor_of_a_heading(chapter):
    """Headings have none; what has one is an ID's section or a labelled figure."""
    assert not re.findall(r"\]\([^)]*\.md#[^)]*\)", text(chapter))


@every_chapter
def test_links_have_words(chapter):
    """A formula alone is no name for those who hear the page; the build names an empty one."""
    prose = CELL.sub("", PROJECT.source(chapter).read_text())
    links = re.findall(r"\[([^\[\]]*)\]\([^()\s]+\)", prose)
    without_maths = {said: re.sub(r"\$[^$]*\$", "", said) for said in links if said}
    assert [said for said, words in without_maths.items() if not re.search(r"\w", words)] == []


@every_chapter
def test_prose_says_a_parameter_by_its_value(chapter):
    """Not "the width `width`"; names stand only where a sentence tells which values are ours."""
    prose = CELL.sub("", text(chapter).split("---\n", 2)[-1])
    for sentence in re.split(r"(?<=[.:])\s", prose):
        named = set(re.findall(r"(?<!text\})`(\w+)`", sentence))
        if not re.search(r"\bours\b", sentence):
            assert not named & set(source(chapter).parameters), sentence
