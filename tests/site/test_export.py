"""The site to take away: a part as PDF."""

from __future__ import annotations

import re
import subprocess
import sys

from signalbook.export import parts
from signalbook.project import Project


def test_a_part_is_printed_with_an_outline_and_links_that_lead_somewhere(site, browser):
    project = Project.find()
    command = [sys.executable, "-m", "signalbook", "pdf", "--parts", "isometry"]
    subprocess.run(command, check=True, cwd=project.root)
    data = (project.build / "pdf" / "isometry.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert data.count(b"/Type /Page\n") > len(parts(project)["isometry"][1])
    assert b"/Outlines" in data
    assert b"book.invalid" not in data, "a link to a page that only the printer had"
    lead = set(re.findall(rb"/Dest /([\w-]+)", data))
    there = set(re.findall(rb"/([\w-]+) \[\d+ 0 R /XYZ", data))
    assert len(lead) > 10
    assert lead <= there
    assert b"/URI (https://arxiv.org/abs/" in data
