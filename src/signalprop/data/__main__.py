"""``python -m signalprop.data [list | fetch NAME... | verify]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from signalprop import data
from signalprop.data.loading import cached_file


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return 0 if all went well, 1 if not, with the reason on stderr."""
    parser = argparse.ArgumentParser(prog="python -m signalprop.data", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="show the data sets and whether they are cached")
    fetch = commands.add_parser("fetch", help="put data sets into the cache")
    fetch.add_argument("names", nargs="+", metavar="NAME", choices=data.names())
    commands.add_parser("verify", help="check what is cached")
    options = parser.parse_args(arguments)
    if options.command in ("list", None):
        print(f"cache folder: {data.folder()}")
        for name in data.names():
            print(f"{name:14} {'cached' if _cached(name) else 'not cached'}")
        return 0
    if options.command == "fetch":
        return _each(options.names, _fetched)
    return _each([name for name in data.names() if _cached(name)], _verified)


def _cached(name: str) -> bool:
    return all(cached_file(name, split).exists() for split in ("train", "test"))


def _fetched(name: str) -> str:
    data.fetch(name)
    return "fetched"


def _verified(name: str) -> str:
    return "good" if data.verify(name) else "not verified (no digest of its arrays is known)"


def _each(names: list[str], action: Callable[[str], str]) -> int:
    failed = 0
    for name in names:
        try:
            print(f"{name}: {action(name)}")
        except data.DataError as error:
            print(error, file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
