"""Links that open a chapter elsewhere."""

from __future__ import annotations

import pytest
import yaml

from signalbook import pages
from signalbook.launch import repository
from signalbook.project import Project
from signalbook.source import Source


@pytest.fixture
def project(book):
    book.chapter("one/gap", "ORTH-T1")
    return Project(book.root)


def test_the_address_stands_in_one_place(project):
    path = project.root / "_config.yml"
    config = yaml.safe_load(path.read_text())
    config["sphinx"]["config"]["html_context"]["repository"] = "https://github.com/some/book/"
    path.write_text(yaml.safe_dump(config))
    assert repository(project) == "https://github.com/some/book"


def test_without_an_address_there_is_no_link(project):
    source = Source(project.source("one/gap"))
    assert "mybinder" not in pages.run_it_yourself("one/gap", source)
    linked = pages.run_it_yourself("one/gap", source, repository="https://github.com/some/book")
    assert "[open in Binder](https://mybinder.org/v2/gh/some/book/HEAD?" in linked
