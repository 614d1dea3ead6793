"""A chapter's source: cells, front matter, title, and a digest that prose leaves alone."""

import pytest

from signalbook.errors import BookError
from signalbook.source import Source

A = "orthogonality/a"
KERNEL = "kernelspec:\n  display_name: Python 3\n  language: python\n  name: python3\n"


@pytest.fixture
def path(book):
    return book.chapter(A, "ORTH-X1")


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return Source(path)


def test_what_a_chapter_says_of_itself(path):
    source = Source(path)
    assert source.title == "Chapter a"
    assert source.settles == {"ORTH-X1": "holds"}
    assert (source.telling, source.data, source.reads) == ("", [], [])
    assert (source.seconds, source.time_limit) == (15.0, 300)
    assert list(source.parameters) == ["runs", "device", "seed"]
    source.check()


def test_prose_and_comments_leave_the_digest_alone_and_code_does_not(path):
    before = Source(path).code_digest
    assert edited(path, "Prose of", "New prose of").code_digest == before
    assert edited(path, "plt.subplots()", "plt.subplots()  # one").code_digest == before
    assert edited(path, "standard_normal(runs)", "standard_normal(2 * runs)").code_digest != before


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("  time_limit: 5.5", "'time_limit' must be a whole number, got 5.5"),
        ("  time_limit: true", "'time_limit' must be a whole number, got True"),
        ("  data: mnist", "'data' must be a list, got 'mnist'"),
        ("  telling: [a]", "'telling' must be a word"),
        ("  seconds: fast", "'seconds' must be a number, got 'fast'"),
        ("  timelimit: 5", "unknown front matter 'timelimit'; known: "),
    ],
)
def test_front_matter_of_another_shape_is_named(path, new, message):
    with pytest.raises(BookError) as caught:
        edited(path, "  time_limit: 300", new).check()
    assert message in str(caught.value)
    assert str(caught.value).startswith("a.md: ")


def test_a_heading_in_code_is_no_title(path):
    source = edited(path, "# Chapter a\n", "```python\n# not this\n```\n")
    assert source.title == "a"
    with pytest.raises(BookError, match=r"a\.md has no title"):
        source.check()


def test_cells_have_the_same_names_each_time(path):
    first, again = ([cell["id"] for cell in Source(path).notebook.cells] for _ in range(2))
    assert first == again == [f"cell-{k}" for k in range(len(first))]


def test_a_chapter_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BookError, match=r"there is no lost\.md"):
        _ = Source(tmp_path / "lost.md").notebook


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('start("orthogonality/a"', 'start("orthogonality/b"', "a.md starts as 'orthogonality/b'"),
        ("ORTH-X1: holds", "ORTH-X99: holds", "settles ORTH-X99, which is not in the inventory"),
        ("stream = start(", "stream = Stream(", "begin its code with `stream = start"),
        ("stream = start(", "# stream = start(", "does not check its parameters, nor name its"),
        ("  language: python\n", "", "a.md does not say .* that its code is Python"),
        (KERNEL, "", "copy the `kernelspec` of another chapter"),
        (KERNEL, "kernelspec: python3\n", "a.md is not a MyST notebook: 'python3' is not of type"),
        (KERNEL, "kernelspec: {}\n", "a.md is not a MyST notebook: 'name' is a required property"),
        ("jupytext:", "jupytext: 3\nother:", "a.md is not a MyST notebook"),
    ],
)
def test_what_stops_a_run_is_named(path, old, new, message):
    with pytest.raises(BookError, match=message):
        edited(path, old, new).check()


def test_a_chapter_that_is_no_text_is_named_and_has_a_title(path):
    path.write_bytes(path.read_text().replace("Prose", "\xe0 la").encode("latin-1"))
    with pytest.raises(BookError, match=r"a\.md is not text in UTF-8: .*; save it in that"):
        Source(path).check()
    assert Source(path).title == "Chapter a"
