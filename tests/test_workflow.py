"""What runs elsewhere: actions that cannot be moved, a runner that takes no strange code."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[1] / ".github" / "workflows"
JOBS = {
    f"{path.stem}-{name}": job
    for path in sorted(FOLDER.glob("*.yml"))
    for name, job in yaml.safe_load(path.read_text())["jobs"].items()
}
NASTY = "a b; touch made; $(touch made) `touch made` ' \" x"


@pytest.mark.parametrize("name", JOBS)
def test_actions_are_named_by_digest(name):
    used = [step["uses"] for step in JOBS[name]["steps"] if "uses" in step]
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


@pytest.mark.parametrize("name", JOBS)
def test_no_command_is_put_together_from_what_others_wrote(name):
    commands = [step["run"] for step in JOBS[name]["steps"] if "run" in step]
    assert [command for command in commands if "${{" in command] == []


def test_a_machine_of_ours_runs_what_its_owner_asks_for():
    own = {name: job for name, job in JOBS.items() if "self-hosted" in str(job["runs-on"])}
    assert own
    for job in own.values():
        asked, branch, *_ = job["if"].split(" && ")
        assert asked == "github.event_name == 'workflow_dispatch'"
        assert branch == "github.ref == 'refs/heads/main'"


def test_names_of_files_are_names(tmp_path):
    """The loop over the chapters, with a `make` that writes down what reaches it."""
    (script,) = [
        step["run"] for step in JOBS["book-gpu"]["steps"] if "chapters/" in step.get("run", "")
    ]
    (tmp_path / "chapters" / NASTY).mkdir(parents=True)
    (tmp_path / "chapters" / NASTY / f"{NASTY}.md").write_text('device: str = "cpu"\n')
    (tmp_path / "chapters" / NASTY / "x.md").touch()
    make = tmp_path / "bin" / "make"
    make.parent.mkdir()
    make.write_text('#!/bin/sh\nprintf "%s\\n" "$C|$P|$*" >> log\n')
    make.chmod(0o755)
    path = f"{make.parent}:{os.environ['PATH']}"
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env={"PATH": path}, check=True)
    assert (tmp_path / "log").read_text().splitlines() == [
        f"{NASTY}/{NASTY}|device=cuda|paper",
        f"{NASTY}/x||paper",
    ]
    assert not (tmp_path / "made").exists()
