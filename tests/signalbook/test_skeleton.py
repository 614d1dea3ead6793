"""The first files of a chapter: whole but for its claims, and refused where they cannot be."""

import pytest

from signalbook import __main__ as cli
from signalbook.errors import BookError
from signalbook.project import Project
from signalbook.skeleton import begin_chapter
from signalbook.source import Source
from tests.chapters import test_chapters as kept

NAME, ID = "orthogonality/new-page", "ORTH-T1"


@pytest.fixture
def here(book, monkeypatch):
    book.chapter("orthogonality/a", "ORTH-X1")
    (book.root / "src").unlink()  # not a link to the sources: a skeleton writes there
    monkeypatch.chdir(book.root)
    return book


@pytest.mark.parametrize("ids", [[], [ID]])
def test_a_skeleton_keeps_to_what_chapters_keep_to(here, ids, monkeypatch):
    begin_chapter(Project(here.root), NAME, ids)
    fresh = Project(here.root)
    assert fresh.chapters == ["orthogonality/a", NAME]
    Source(fresh.source(NAME)).check()
    monkeypatch.setattr(kept, "PROJECT", fresh)
    for check in (
        kept.test_front_matter,
        kept.test_starts_under_its_own_name,
        kept.test_code_is_formatted_to_the_width_of_a_page,
        kept.test_only_imports_numbers_for_the_text_and_figures_are_folded,
        kept.test_every_id_is_settled_by_a_call_and_its_numbers_are_computed,
        kept.test_a_sentence_types_no_size_of_the_run,
        kept.test_a_figure_has_one_name,
        kept.test_numbers_of_the_text_are_told,
        kept.test_prose_says_a_parameter_by_its_value,
    ):
        check(NAME)


def test_its_experiments_and_their_test_are_there(here):
    begin_chapter(Project(here.root), NAME, [ID])
    lab = (here.root / "src/signallab/orthogonality/new_page.py").read_text()
    compile(lab, "new_page.py", "exec")
    assert "def orth_t1(" in lab
    assert "raise NotImplementedError" in lab
    assert (here.root / "tests/signallab/orthogonality/test_new_page.py").is_file()


def test_a_new_part_begins_with_its_essay_alone(here):
    toc = here.root / "_toc.yml"
    essay = "- file: pages/parts/physics\n"
    toc.write_text(toc.read_text() + essay)
    begin_chapter(Project(here.root), "physics/first")
    begin_chapter(Project(here.root), "physics/second")
    lines = [f"- file: chapters/physics/{slug}\n" for slug in ("first", "second")]
    assert toc.read_text().endswith("".join([essay, *lines]))


@pytest.mark.parametrize(
    ("name", "ids", "message"),
    [
        ("orthogonality", [], "C must be <part>/<slug>"),
        ("orthogonality/New", [], "C must be <part>/<slug>"),
        ("physics/page", [], "there is no part 'physics'; the parts are: orthogonality"),
        (NAME, ["ORTH-T99"], "ORTH-T99 is not in the inventory"),
        ("orthogonality/a", [], "chapters/orthogonality/a.md is there already"),
    ],
)
def test_what_cannot_begin_is_said(here, name, ids, message):
    with pytest.raises(BookError, match=message):
        begin_chapter(Project(here.root), name, ids)


def test_an_id_that_another_chapter_settles_is_told(here, capsys):
    assert cli.main(["new", NAME, "--ids", "ORTH-X1"]) == 0
    assert "ORTH-X1 is settled in orthogonality/a" in capsys.readouterr().out
