"""From an executed notebook to the page: what moves, and what folds are called."""

import re
from types import SimpleNamespace

import pytest

from signalbook import cards, stage
from signalbook.errors import BookError
from signalbook.outputs import CLAIMS, FIGURE
from signalbook.project import Project
from signalbook.prose import table
from signalbook.settle import misprint


def markdown(text):
    return {"cell_type": "markdown", "id": "text", "metadata": {}, "source": text}


def code(source, *tags, figure=None):
    cell = {"cell_type": "code", "id": source[:4], "source": source, "outputs": []}
    cell["metadata"] = {"tags": list(tags), "mystnb": {}}
    if figure:
        cell["outputs"] = [{"data": {"image/svg+xml": "<svg/>", FIGURE: {"name": figure}}}]
        cell["metadata"]["mystnb"] = {"figure": {"name": f"fig-{figure}"}}
    return cell


def chapter(telling="", settles=("ORTH-T1",)):
    path = SimpleNamespace(name="gap.md")
    return SimpleNamespace(telling=telling, settles=dict.fromkeys(settles), path=path)


def page():
    figures = [
        cell
        for name in ("first", "second")
        for cell in (code(f"draw({name})", "hide-input", figure=name), markdown(f"links {name}"))
    ]
    return [markdown("# Title\nOpening."), *figures, markdown("End.")]


def shown(cells):
    """What a reader meets, in order: texts, the names of figures, and folded code."""
    return [
        cell["source"]
        if cell["cell_type"] == "markdown"
        else " ".join(o["data"][FIGURE]["name"] for o in cell["outputs"]) or f"[{cell['source']}]"
        for cell in cells
    ]


@pytest.mark.parametrize(("telling", "lifted"), [("", "first"), ("second", "second")])
def test_the_telling_figure_stands_under_the_box(telling, lifted):
    cells = stage._head(page(), chapter(telling), "BOX")
    title, figure, links, opening, *rest = shown(cells)
    assert title.startswith("# Title\n")
    assert "\nBOX\n" in title
    assert (figure, links, opening) == (lifted, f"links {lifted}", "Opening.")
    assert f"[draw({lifted})]" in rest, "its code stays where it was"
    assert rest.count(f"links {lifted}") == 0
    assert cells[1]["metadata"]["tags"] == ["remove-input"]


def test_the_lifted_cell_is_shown_at_all():
    """A code cell without source is left out of pages, with its figure."""
    assert stage._head(page(), chapter(), "BOX")[1]["source"].strip()


def test_a_telling_figure_that_is_not_there_is_named():
    with pytest.raises(BookError, match=r"third.*first, second"):
        stage._head(page(), chapter("third"), "BOX")


def test_a_page_of_our_own_keeps_its_order():
    cells = stage._head(page(), chapter(settles=()), "")
    assert shown(cells)[1:] == ["\nOpening.".strip(), *shown(page())[1:]]


def test_whoever_searches_for_an_id_finds_its_chapter():
    (title, *_) = stage._head(page(), chapter(settles=("ORTH-T1", "ORTH-F2a")), "BOX")
    assert "```{index} ! ORTH-T1, ! ORTH-F2a\n```" in title["source"]


def test_folds_say_what_they_hide_each_in_other_words():
    cells = [
        code("import a\nfrom b import (\n    c,\n)", "hide-input"),
        code("x = 1", "hide-input"),
        code("y = 2", "hide-cell"),
        code("draw()", "hide-input", figure="gap"),
        code("shown()"),
    ]
    stage._label_folds({"cells": cells})
    told = [cell["metadata"]["mystnb"].get("code_prompt_show") for cell in cells]
    assert told == [
        "Show the imports",
        "Show the code",
        "Show the code (2)",
        "Show the code of figure gap",
        None,
    ]


def test_the_fold_of_a_lifted_figure_keeps_its_name():
    cells = page()
    stage._label_folds({"cells": cells})
    (folded,) = [c for c in stage._head(cells, chapter(), "") if c["source"] == "draw(first)"]
    assert folded["metadata"]["mystnb"]["code_prompt_hide"] == "Hide the code of figure first"


def test_tables_of_the_same_columns_are_told_apart():
    made = [table({"gap": [1]}), table({"gap": [2]}), table({"gap": [2]}, name="gaps")]
    outputs = [{"data": one._repr_mimebundle_()} for one in made]
    stage._name_tables({"cells": [{"outputs": outputs}, markdown("Text.")]})
    told = [re.search('aria-label="([^"]*)"', o["data"]["text/html"])[1] for o in outputs]
    assert told == ["Table: gap", "Table: gap (2)", "Table gaps: gap"]


def test_cards_are_drawn_anew_from_their_data():
    claims = [
        misprint("ORTH-Tab2", where="a", printed="b", should=word, because="d").data
        for word in ("one", "two")
    ]
    outputs = [{"data": {CLAIMS: [claim], "text/html": "of yesterday"}} for claim in claims]
    stage._show_claims({"cells": [{"outputs": outputs}]}, "part/slug")
    anchored = cards.anchored(claims)
    assert [o["data"]["text/html"] for o in outputs] == [
        cards.card(claim, "../../") for claim in anchored
    ]


def test_figures_need_words_for_those_who_do_not_see_them():
    cell = code("draw()", figure="gap")
    with pytest.raises(BookError, match="without alt"):
        stage.check_figures({"cells": [cell]}, "part/slug")
    for left_empty in (None, {"image": None}, {"image": {"alt": None}}):
        cell["metadata"]["mystnb"] = left_empty
        with pytest.raises(BookError, match="without alt"):
            stage.check_figures({"cells": [cell]}, "part/slug")


def test_the_experiments_of_a_page_are_those_that_its_run_loaded(book):
    modules = ["signalprop.random", "signallab", "signallab.case", "signallab.orthogonality"]
    modules += ["signallab.orthogonality.gap_depth_width"]
    key = {"code": {"modules": dict.fromkeys(modules, "digest")}}
    found = stage._experiments(Project(book.root), {"metadata": {"made": {"key": key}}})
    assert [path.name for path in found] == ["gap_depth_width.py"]


@pytest.mark.parametrize(
    ("drawing", "ending", "content"),
    [("<?xml?><svg/>", "svg", b"<?xml?><svg/>"), ("iVBORw==", "png", b"\x89PNG")],
)
def test_the_drawing_for_phones_follows_its_figure(drawing, ending, content):
    cell = code("draw()", figure="gap")
    made = {**cell, "outputs": [{"data": {FIGURE: {"name": "gap", "csv": "x", "narrow": drawing}}}]}
    source = SimpleNamespace(notebook={"cells": [cell, markdown("End.")], "metadata": {}})
    notebook, files = stage._merge(source, {"cells": [made]}, "part/slug")
    assert files == {"slug.files/gap.csv": b"x", f"slug.files/gap-narrow.{ending}": content}
    _, links, end = notebook["cells"]
    assert f":::{{image}} slug.files/gap-narrow.{ending}\n:class: sb-narrow\n" in links["source"]
    assert end["source"] == "End."


def test_a_figure_that_phones_show_as_it_is_brings_no_other_drawing():
    cell = code("draw()", figure="gap")
    made = {**cell, "outputs": [{"data": {FIGURE: {"name": "gap", "csv": "x", "narrow": ""}}}]}
    source = SimpleNamespace(notebook={"cells": [cell], "metadata": {}})
    notebook, files = stage._merge(source, {"cells": [made]}, "part/slug")
    assert list(files) == ["slug.files/gap.csv"]
    assert "image" not in notebook["cells"][1]["source"]


def test_a_page_that_is_no_text_is_named():
    with pytest.raises(BookError, match=r"pages/a\.md is not text in UTF-8: .*; save it in that"):
        stage._illustrated({"pages/a.md": "Café".encode("latin-1")}, {})
