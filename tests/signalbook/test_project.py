"""Where things lie, and what is said of what does not."""

import pytest

from signalbook.errors import BookError
from signalbook.project import Project

A, B = "orthogonality/a", "kernels/b"


@pytest.fixture
def project(book):
    book.chapter(A, "ORTH-X1")
    book.chapter(B, "KER-E5.1")
    return Project(book.root)


def test_a_book_is_found_from_any_folder_inside(project):
    inside = project.root / "chapters" / "kernels"
    assert Project.find(inside).root == project.root.resolve()
    (project.root / "_toc.yml").unlink()
    with pytest.raises(BookError, match=r"no book at .*: run this inside a clone"):
        Project.find(inside)


def test_chapters_come_in_the_order_of_the_table_of_contents(project, book):
    assert project.chapters == [A, B]
    assert project.pages[:2] == ["index", "pages/reading"]
    book.toc([B, A])
    assert Project(project.root).chapters == [B, A]


def test_parts_of_the_table_of_contents_keep_their_order(project):
    (project.root / "_toc.yml").write_text(
        "root: index\nparts:\n- caption: One\n  chapters:\n  - file: chapters/kernels/b\n"
        "    sections:\n    - file: chapters/orthogonality/a\n- chapters:\n"
        "  - file: pages/reading\n"
    )
    found = Project(project.root)
    assert found.pages == [
        "index",
        "chapters/kernels/b",
        "chapters/orthogonality/a",
        "pages/reading",
    ]
    assert found.chapters == [B, A]


@pytest.mark.parametrize("content", [b"root: [", "root: café".encode("latin-1")])
def test_a_torn_table_of_contents_is_named(project, content):
    (project.root / "_toc.yml").write_bytes(content)
    with pytest.raises(BookError, match=r"cannot read _toc\.yml"):
        _ = project.pages


@pytest.mark.parametrize("said", [A, f"chapters/{A}", f"chapters/{A}.md", f"{A}.md"])
def test_a_chapter_may_be_named_by_its_file(project, said):
    assert project.require(said) == A


@pytest.mark.parametrize("name", ["kernels/a b", "kernels/$(touch made)", "../a", "kernels/a;b"])
def test_names_of_chapters_are_plain(project, name):
    toc = project.root / "_toc.yml"
    toc.write_text(f"{toc.read_text()}- file: chapters/{name}\n")
    with pytest.raises(BookError, match="letters, digits and hyphens alone"):
        _ = Project(project.root).chapters


def test_places_of_two_chapters_differ():
    project = Project(Project.find().root)
    places = [project.source, project.record, project.key, project.executed, project.failure]
    places += [project.checkpoints, project.progress, lambda c: project.profile("fast", c)]
    found = {place(chapter) for place in places for chapter in (A, B)}
    assert len(found) == 2 * len(places)
    made = {place(A) for place in places[2:7]}
    assert all(project.build in path.parents for path in made), "what can be made again"
    assert project.build not in project.record(A).parents
