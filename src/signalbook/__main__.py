"""The command line behind ``make``: ``python -m signalbook COMMAND``."""

from __future__ import annotations

import argparse
import errno
import functools
import http.server
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from signalbook.errors import BookError
from signalbook.files import clear, replace, unwritable
from signalbook.parameters import parse_assignments, resolve
from signalbook.project import Project

__all__ = ["main"]

#: What the system says where a file cannot be written: a full disk, a folder of somebody else.
UNWRITABLE = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    *(errno.EEXIST, errno.ENOTDIR),
}

#: Seeds of a chapter: more are a slip of the pen.
MOST_SEEDS = 1000


def main(arguments: list[str] | None = None) -> int:
    """Run one command; errors that a user can mend are printed without a traceback."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(Project.find(), options) or 0)
    except BookError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.filename is None or error.errno not in UNWRITABLE:
            raise
        print(f"error: {unwritable(error.filename, error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what is finished stays", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="signalbook", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Any, help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(run.__name__.strip("_"), help=help)
        added.set_defaults(run=run)
        return added

    book = command(_book, "execute what is stale and build the site")
    _add_place(book)
    chapter = command(_chapter, "execute one chapter, at the fast profile or with your own values")
    chapter.add_argument("name", help="<part>/<slug>")
    chapter.add_argument("--set", default="", metavar='"NAME=VALUE ..."', dest="assignments")
    chapter.add_argument("--out", default="", metavar="FOLDER", help="where to put what it found")
    new = command(_new, "write the first files of a new chapter")
    new.add_argument("name", help="<part>/<slug>")
    new.add_argument("--ids", default="", metavar='"ID ..."', help="the statements it settles")
    paper = command(_paper, "execute chapters at the document's sizes and record them")
    paper.add_argument("name", nargs="?", help="<part>/<slug>")
    paper.add_argument("--all", action="store_true", help="all whose record is missing or stale")
    paper.add_argument("--budget", default="", metavar="2h", help="when to stop, with --all")
    paper.add_argument("--set", default="", metavar='"device=cuda"', dest="assignments")
    _add_place(paper)
    vouch = command(_vouch, "carry records over to changed code that finds the same")
    vouch.add_argument("name", nargs="?", help="<part>/<slug>; without it, all records")
    sweep = command(_sweep, "execute one chapter over a grid of values, into one table")
    sweep.add_argument("name", help="<part>/<slug>")
    sweep.add_argument("--grid", default="", metavar='"NAME=VALUE,VALUE ..."')
    sweep.add_argument("--set", default="", metavar='"NAME=VALUE ..."', dest="assignments")
    _add_place(sweep)
    seeds = command(_seeds, "execute chapters with other seeds and compare their verdicts")
    seeds.add_argument("name", nargs="?", help="<part>/<slug>; without it, all that draw")
    seeds.add_argument("--count", type=int, default=20, help="how many; 0 for the book's own seed")
    seeds.add_argument("--budget", default="", metavar="2h", help="when to begin no more runs")
    _add_cores(seeds)
    serve = command(_serve, "serve the built site")
    serve.add_argument("--port", type=int, default=8000)
    pdf = command(_pdf, "print the built site: a PDF for each part")
    pdf.add_argument("--parts", default="", help="the parts to print; without it, all")
    command(_zip, "pack the built site, to be opened as files")
    execute = command(_execute, "execute one chapter for the site (the engine calls it)")
    execute.add_argument("name", help="<part>/<slug>")
    point = command(_point, "execute one point of a sweep (the engine calls it)")
    point.add_argument("name", help="<part>/<slug>")
    point.add_argument("digest", help="the folder of the point")
    record = command(_record, "record one chapter as it was ordered (the engine calls it)")
    record.add_argument("name", help="<part>/<slug>")
    command(_site, "build the site from the executed chapters (the engine calls it)")
    return parser


def _add_place(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--profile", default="fast", help="folders under profiles/: sizes, a place, or both"
    )
    _add_cores(command)


def _add_cores(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cores", type=int, default=os.cpu_count() or 1)


def _book(project: Project, options: argparse.Namespace) -> int:
    from signalbook.build import build
    from signalbook.engine import read_profiles

    cores = _cores(options)
    _make_ready(project)
    sizes, where = read_profiles(project, options.profile)
    return build(project, sizes, cores, where)


def _cores(options: argparse.Namespace) -> int:
    if options.cores < 1:
        raise BookError(f"CORES must be 1 or more, got {options.cores}")
    return int(options.cores)


def _chapter(project: Project, options: argparse.Namespace) -> int:
    from signalbook import costs
    from signalbook.execute import execute
    from signalbook.fingerprint import of_values
    from signalbook.keys import seal, wanted
    from signalbook.ledger import unexpected
    from signalbook.outputs import claims_in
    from signalbook.records import read_record
    from signalbook.results import hand_out, of_notebook
    from signalbook.source import Source
    from signalbook.stage import check_figures

    _make_ready(project)
    name = project.require(options.name)
    source = Source(project.source(name))
    key = wanted(project, name, "fast", _assignments(options))
    chosen = key["parameters"]
    _estimate(project, name, chosen)
    run = execute(project, name, chosen, on_cell=_tell)
    seal(run.notebook, key | run.ran)
    costs.keep(project, name, chosen, run)
    path = project.run(name, of_values(chosen))
    replace(path, json.dumps(run.notebook, indent=1).encode())
    for claim in claims_in(run.notebook.cells):
        print(f"{claim['id']:<14} {claim['verdict']:<26} {claim['found']}")
    print(f"{run.seconds} s, {run.memory_mb} MB; the executed notebook is {path}")
    if options.out:
        found = of_notebook(project, name, chosen, run.notebook)
        hand_out(Path(options.out), Path(name).name, run.notebook, found)
        print(f"notebook, tables and verdicts are in {options.out}")
    check_figures(run.notebook, name)
    wrong = unexpected(source, run.notebook, read_record(project, name))
    for text in wrong:
        print(f"{name}: {text}", file=sys.stderr)
    # Other values than the profile's may well give other verdicts than the declared ones.
    return int(bool(wrong) and not options.assignments)


def _new(project: Project, options: argparse.Namespace) -> int:
    from signalbook.skeleton import begin_chapter, settled_elsewhere

    ids = options.ids.replace(",", " ").split()
    for path in begin_chapter(project, options.name, ids):
        print(path.relative_to(project.root))
    for id, other in settled_elsewhere(project, options.name, ids).items():
        print(f"note: {id} is settled in {other}; the build takes one chapter for an ID")
    print(f"now write it, then: make chapter C={options.name}")
    return 0


def _paper(project: Project, options: argparse.Namespace) -> int:
    from signalbook import lifeline
    from signalbook.engine import read_profiles
    from signalbook.paper import budget, due, make_due, make_record
    from signalbook.source import Source
    from signalbook.submit import submit

    _make_ready(project)
    if not options.name and not options.all:
        raise BookError("say which chapter, C=<part>/<slug>, or all that are due, ALL=1")
    where = read_profiles(project, options.profile)[1]
    if options.all and where is None:
        return make_due(project, budget(options.budget))
    if options.budget:
        raise BookError("BUDGET is for ALL=1 on this machine; on a cluster its profile sets limits")
    if options.all:
        return submit(project, [name for _, name in due(project)], {}, _cores(options), where)
    name = project.require(options.name)
    parameters = Source(project.source(name)).parameters
    own = {"device": "auto"} if "device" in parameters else {}
    chosen = _assignments(options, own if where is None else {})
    values = resolve(parameters, chosen, name)
    if where is not None:
        return submit(project, [name], chosen, _cores(options), where)
    lifeline.follow()
    _estimate(project, name, values)
    path = make_record(project, name, chosen, on_cell=_tell)
    print(f"recorded in {path}")
    return 0


def _vouch(project: Project, options: argparse.Namespace) -> int:
    from signalbook import lifeline
    from signalbook.vouch import vouch, vouch_all

    _make_ready(project)
    lifeline.follow()
    if options.name is None:
        return vouch_all(project)
    name = project.require(options.name)
    done = vouch(project, name, on_cell=_tell)
    print(f"the record of {name} {'stands for this code too' if done else 'is fresh'}")
    return 0


def _seeds(project: Project, options: argparse.Namespace) -> int:
    from signalbook import lifeline
    from signalbook.engine import only_one
    from signalbook.paper import budget
    from signalbook.reseed import run_seeds

    _make_ready(project)
    lifeline.follow()
    if not 0 <= options.count <= MOST_SEEDS:
        raise BookError(f"SEEDS must be a number from 0 to {MOST_SEEDS}, got {options.count}")
    chapters = [project.require(options.name)] if options.name else project.chapters
    seconds, cores = budget(options.budget), _cores(options)
    with only_one(project.build / "seeds.lock", "run of `make seeds`"):
        return run_seeds(project, chapters, options.count, seconds, cores)


def _make_ready(project: Project) -> None:
    """Ask for what every run needs; remove what runs that were killed have left half written."""
    _check_home()
    for folder in (project.build, project.record("x").parent):
        clear(folder)


def _check_home() -> None:
    """Kernels and the engine keep caches in the home folder, and fail in words of their own."""
    home = Path.home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        there = os.access(home, os.W_OK)
    except OSError:
        there = False
    if not there:
        raise BookError(
            f"HOME is {home}, which cannot be written to: set HOME to a folder of yours"
        )


def _sweep(project: Project, options: argparse.Namespace) -> int:
    from signalbook.engine import read_profiles
    from signalbook.sweep import sweep

    name, fixed = project.require(options.name), _assignments(options)
    _make_ready(project)
    where = read_profiles(project, options.profile)[1]
    return sweep(project, name, options.grid, fixed, _cores(options), where)


def _assignments(options: argparse.Namespace, own: Mapping[str, Any] = {}) -> dict[str, Any]:
    """The values that the caller chose, before those of our ``own``."""
    from signalbook.device import resolved

    # a list may be written with spaces: the shell's words are told apart after that
    text = re.sub(r"=\[[^\]]*\]", lambda found: found[0].replace(" ", ""), options.assignments)
    return resolved({**own, **parse_assignments(text)})


def _estimate(project: Project, name: str, parameters: dict[str, Any]) -> None:
    """Say before a run how long it may take, so that nobody waits for hours unasked."""
    from signalbook.costs import estimate, roughly

    guess = estimate(project, name, parameters)
    print(f"{name}: {roughly(guess.seconds)}, {guess.because}", flush=True)


def _tell(cell: int, cells: int) -> None:
    """One line that changes; where it cannot change, as in a file, one line at the end."""
    if sys.stdout.isatty() or cell == cells:
        print(f"\rcell {cell} of {cells}", end="\n" if cell == cells else "", flush=True)


def _execute(project: Project, options: argparse.Namespace) -> int:
    from signalbook import lifeline
    from signalbook.execute import execute_for_site

    lifeline.follow()
    execute_for_site(project, project.require(options.name))
    return 0


def _point(project: Project, options: argparse.Namespace) -> int:
    from signalbook import lifeline
    from signalbook.sweep import execute_point

    lifeline.follow()
    execute_point(project, project.require(options.name), options.digest)
    return 0


def _record(project: Project, options: argparse.Namespace) -> int:
    from signalbook import lifeline
    from signalbook.submit import record_as_ordered

    lifeline.follow()
    record_as_ordered(project, project.require(options.name))
    return 0


def _site(project: Project, options: argparse.Namespace) -> int:
    from signalbook.site import build_site, problems

    return 1 if problems(project, build_site(project)) else 0


def _serve(project: Project, options: argparse.Namespace) -> int:
    if not (project.site / "index.html").is_file():
        raise BookError("there is no site yet: run `make book` first")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(project.site))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    except (OSError, OverflowError) as error:
        reason = "no port" if isinstance(error, OverflowError) else error.strerror
        raise BookError(
            f"cannot serve at port {options.port}: {reason}; `make serve PORT=0` takes a free one"
        ) from error
    with server:
        print(f"http://127.0.0.1:{server.server_port}/  (stop with Ctrl-C)", flush=True)
        server.serve_forever()
    return 0


def _pdf(project: Project, options: argparse.Namespace) -> None:
    from signalbook.export import printed

    for path in printed(project, options.parts):
        print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)", flush=True)


def _zip(project: Project, options: argparse.Namespace) -> None:
    from signalbook.export import zipped

    path = zipped(project)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    sys.exit(main())
