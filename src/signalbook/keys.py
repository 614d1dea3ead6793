"""What a chapter's numbers depend on, and whether an executed notebook still stands.

An executed notebook carries its key: parameters, code cells, the modules of the project that its
kernel loaded, the versions as installed, data sets, files, the record. All by content: no commit
and no place of a machine. A seal over the whole notebook shows what was changed by hand. The run
stands as long as the same key, taken from the disk, is the same.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import signalprop.data
from signalbook import fingerprint
from signalbook.errors import BookError
from signalbook.files import read_json, replace, write
from signalbook.fingerprint import text_digest
from signalbook.parameters import read_profile, resolve
from signalbook.project import Project
from signalbook.source import Source

__all__ = [
    "built",
    "code_changes",
    "file_changes",
    "order",
    "prepare",
    "seal",
    "stale",
    "values",
    "wanted",
]

MADE = "made"  # where the metadata of an executed notebook hold its key and seal

SITE_SOURCES = (
    "_*.yml",
    "*.md",
    "*.bib",
    "pages/**/*",
    "assets/**/*",
    "chapters/**/*.md",
    "profiles/**/*.yml",
    "records/**/*.json",
    "src/**/*.py",
    "src/**/*.toml",
    "src/**/*.j2",
)


def prepare(project: Project, profile: str) -> None:
    """Order a run of every chapter that is stale, and note for the pages what they are made from.

    An order is the file that the engine looks at: newer than the notebook, the chapter is run. It
    is new for every run that is wanted, since the engine passes over files of equal content. What
    belongs to chapters that are gone is removed, as are failures that cannot be read.
    """
    for folder in (project.key("x").parent, project.executed("x").parent, project.site):
        _none_of_the_future(folder)
    plan = [chapter for chapter in project.chapters if _ordered(project, chapter, profile)]
    write(project.build / "keys" / "site.txt", _site_digest(project))
    write(project.build / "plan.json", json.dumps(plan))
    for place in (project.key, project.executed, project.failure):
        folder = place("x").parent
        kept = {place(chapter) for chapter in project.chapters}
        for path in set(folder.rglob("*.*")) - kept - {folder / "site.txt"}:
            path.unlink()
    for chapter in project.chapters:
        if read_json(project.failure(chapter)) is None:
            project.failure(chapter).unlink(missing_ok=True)


def _none_of_the_future(folder: Path) -> None:
    """Date back what a clock that was wrong has made: nothing would ever be newer than that."""
    now = time.time()
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_mtime > now:
            os.utime(path)


def _ordered(project: Project, chapter: str, profile: str) -> bool:
    """Bring a chapter's order up to date; return whether a run is wanted."""
    path, executed = project.key(chapter), project.executed(chapter)
    why = stale(project, chapter, read_json(executed), profile)
    if why:
        text = {"profile": profile, "why": why, "issued": time.time_ns()}
        replace(path, json.dumps(text, indent=1).encode())
        return True
    if order(project, chapter) != profile:
        replace(path, json.dumps({"profile": profile}, indent=1).encode())
    if executed.stat().st_mtime_ns <= path.stat().st_mtime_ns:
        os.utime(executed)  # it was stale for a while, and what changed was put back
    return False


def order(project: Project, chapter: str) -> str:
    """Return the profile that the chapter was last ordered with; "" where nothing was ordered."""
    return str((read_json(project.key(chapter)) or {}).get("profile", ""))


def stale(
    project: Project,
    chapter: str,
    notebook: Mapping[str, Any] | None,
    profile: str | None = None,
    chosen: Mapping[str, Any] | None = None,
) -> str:
    """Return why an executed notebook may not be published, or "" if it may.

    It must be as its run left it, and the run must be the one that the sources, the ``profile``
    (default: the one ordered) and the values ``chosen`` before it lead to now.
    """
    if notebook is None:
        return "there is no run that can be read"
    made = notebook.get("metadata", {}).get(MADE)
    if made is None or made.get("seal") != _seal(notebook):
        return "its executed notebook was changed by hand"
    key = made["key"]
    try:
        profile = order(project, chapter) if profile is None else profile
        now = wanted(project, chapter, profile, chosen)
    except BookError as error:
        return str(error)
    changes = _differences({name: key[name] for name in now}, now)
    changes += code_changes(project, chapter, key["code"])
    changes += file_changes(key["files"], key["code"]["modules"])
    changes += _differences(key["versions"], fingerprint.versions(key["versions"]))
    return f"changed since its run: {', '.join(changes)}" if changes else ""


def built(project: Project, chapter: str, profile: str) -> Any | None:
    """Return the executed notebook of a chapter if the book has it from the code of today."""
    notebook = read_json(project.executed(chapter))
    return None if stale(project, chapter, notebook, profile) else notebook


def seal(notebook: dict[str, Any], key: Mapping[str, Any]) -> None:
    """Write the key into a notebook that was just executed, and close it."""
    notebook["metadata"][MADE] = {"key": key}
    notebook["metadata"][MADE]["seal"] = _seal(notebook)


def _seal(notebook: Mapping[str, Any]) -> str:
    made = {name: v for name, v in notebook["metadata"][MADE].items() if name != "seal"}
    closed = {**notebook, "metadata": {**notebook["metadata"], MADE: made}}
    return text_digest(json.dumps(closed, sort_keys=True))


def wanted(
    project: Project, chapter: str, profile: str, chosen: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the part of a chapter's key that is known before a run.

    A chapter that cannot be run as it stands raises the ``BookError`` that says why.
    """
    source = Source(project.source(chapter))
    source.check()
    record = project.record(chapter)
    return {
        "profile": profile,
        "parameters": values(project, source, chapter, profile, chosen),
        "data": {name: _data_digest(name) for name in source.data},
        "reads": {name: _read(project, chapter, name) for name in source.reads},
        "record": text_digest(record.read_bytes()) if record.is_file() else None,
    }


def values(
    project: Project,
    source: Source,
    chapter: str,
    profile: str,
    chosen: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the parameter values of a chapter under a profile, ``chosen`` ones before it."""
    path = project.profile(profile, chapter)
    changes = {name: change.value for name, change in read_profile(path).items()}
    found = resolve(source.parameters, changes, str(path.relative_to(project.root)))
    return resolve(source.parameters, {**found, **chosen}, chapter) if chosen else found


def code_changes(project: Project, chapter: str, code: Any) -> list[str]:
    """Name what differs between the code that ran (of a key, of a record) and that on the disk."""
    if not isinstance(code, dict) or set(code) != {"cells", "modules"}:
        return ["the form of its key"]
    now = {
        "cells": Source(project.source(chapter)).code_digest,
        "modules": {name: _module_now(name) for name in code["modules"]},
    }
    return _differences(code, now)


def file_changes(files: Mapping[str, str], loaded: Mapping[str, str]) -> list[str]:
    """Name the files of the packages that differ from those that were read in a run."""
    return _differences(files, {name: _file_now(name, loaded) for name in files})


def _module_now(name: str) -> str | None:
    path = fingerprint.module_file(name)
    try:
        return fingerprint.of_module(path.read_bytes()) if path.is_file() else None
    except SyntaxError:
        return None


def _file_now(name: str, loaded: Mapping[str, str]) -> str | None:
    path = fingerprint.SOURCES / name
    return fingerprint.of_file(name, path.read_bytes(), loaded) if path.is_file() else None


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The names under which the two hold different things; inside of what is named itself."""
    found = []
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            found += _differences(before, after)
        elif before != after:
            found.append(name)
    return found


def _data_digest(name: str) -> str:
    try:
        return signalprop.data.digest(name)
    except ValueError as error:
        raise BookError(str(error)) from error


def _read(project: Project, chapter: str, name: str) -> str:
    path = project.root / name
    if not path.is_file():
        raise BookError(f"{chapter} reads {name}, which is not there")
    return text_digest(path.read_bytes())


def _site_digest(project: Project) -> str:
    """Digest everything but the runs that the pages are made from."""
    paths = [path for name in SITE_SOURCES for path in project.root.glob(name) if path.is_file()]
    contents: list[bytes] = [
        f"{path.relative_to(project.root)}\0".encode() + Path(path).read_bytes() for path in paths
    ]
    return text_digest(b"\0".join(sorted(contents)))
