"""Run uv, with the configuration of pip, which uv does not read."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from environment import SetupError

__all__ = ["Uv", "cache", "explain", "full", "pip_settings", "uv_variables", "writable"]

#: A setting of pip: the variables of uv that it becomes, if none of the second ones is set.
VARIABLES = {
    "index-url": (["UV_DEFAULT_INDEX"], ["UV_DEFAULT_INDEX", "UV_INDEX_URL"]),
    "extra-index-url": (["UV_INDEX"], ["UV_INDEX", "UV_EXTRA_INDEX_URL"]),
    "find-links": (["UV_FIND_LINKS"], ["UV_FIND_LINKS"]),
    "no-index": (["UV_NO_INDEX"], ["UV_NO_INDEX"]),
    "trusted-host": (["UV_INSECURE_HOST"], ["UV_INSECURE_HOST"]),
    "cert": (["SSL_CERT_FILE"], ["SSL_CERT_FILE"]),
    "proxy": (["HTTP_PROXY", "HTTPS_PROXY"], ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]),
}


@dataclass(frozen=True)
class Uv:
    """The uv inside a virtual environment."""

    venv: Path
    variables: Mapping[str, str]
    lock: int  # the descriptor of the set-up's lock: uv holds it too, should the set-up be killed

    def check(self, *arguments: str, **variables: str | None) -> tuple[bool, str]:
        """Run quietly; return whether it went well, and what it said."""
        run = self._run(arguments, variables, subprocess.PIPE)
        return run.returncode == 0, run.stdout

    def show(self, *arguments: str, **variables: str | None) -> None:
        """Run with its progress on the screen."""
        if self._run(arguments, variables, None).returncode:
            why = full(2**31, self.venv, cache(self.variables))
            why = f"uv says why above ({why})" if why else "uv says why above"
            raise SetupError(f"{why}; `make setup` takes it up again")

    def _run(
        self, arguments: tuple[str, ...], variables: Mapping[str, str | None], stdout: int | None
    ) -> subprocess.CompletedProcess[str]:
        changed = {**self.variables, **variables}
        environ = {name: value for name, value in changed.items() if value is not None}
        if environ.pop("UV_NO_INDEX", "") and "--no-index" not in arguments:
            # uv knows the option, but no variable for it.
            arguments = (arguments[0], "--no-index", *arguments[1:])
        return subprocess.run(
            [self.venv / "bin" / "uv", "pip", *arguments],
            env=environ,
            cwd=self.venv.parent,
            pass_fds=[self.lock],
            text=True,
            stdout=stdout,
            stderr=None if stdout is None else subprocess.STDOUT,
        )


def pip_settings(listing: str) -> dict[str, str]:
    """Read what ``pip config list`` prints; the environment wins over ``[install]``, that over all.

    >>> pip_settings("global.index-url='a'\\n:env:.index-url='b'\\nglobal.no-index='true'")
    {'index-url': 'b', 'no-index': 'true'}
    """
    found: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        for name, value in re.findall(rf"^{section}\.([\w-]+)=(.*)$", listing, re.M):
            found[name] = str(ast.literal_eval(value))
    return found


def uv_variables(settings: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return uv's variables that say what pip's settings say, where the caller's say nothing.

    >>> uv_variables({"find-links": "/a ~/b", "no-index": "false"}, {"HOME": "/home/c"})
    {'UV_FIND_LINKS': '/a,/home/c/b'}
    """
    found = {}
    for name, (variables, own) in VARIABLES.items():
        words = settings.get(name, "").split()
        if not words or any(variable in environ for variable in own):
            continue
        if name == "no-index" and words[0].lower() in ("0", "false", "no", "off"):
            continue
        if name == "extra-index-url":
            # As pip does: the best version of all indexes, not the first index that has one.
            found["UV_INDEX_STRATEGY"] = environ.get("UV_INDEX_STRATEGY", "unsafe-best-match")
        if name == "find-links":
            words = [w.replace("~", environ["HOME"], 1) if w[0] == "~" else w for w in words]
        found.update(dict.fromkeys(variables, ("," if name == "find-links" else " ").join(words)))
    return found


def cache(environ: Mapping[str, str]) -> Path:
    """Return the folder where uv keeps what it has fetched."""
    caches = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME", "/"), ".cache")
    return Path(environ.get("UV_CACHE_DIR") or os.path.join(caches, "uv"))


def full(needed: int, *places: Path) -> str:
    """Say so if the disk of a place has less room than is needed, in bytes."""
    for place in filter(Path.exists, places):
        free = shutil.disk_usage(place).free
        if free < needed:
            return f"the disk is full or nearly so: {free >> 20} MB are left for {place}"
    return ""


def writable(folder: Path) -> bool:
    """Return whether the folder can be written, or made."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    return there.is_dir() and os.access(there, os.W_OK)


#: What the messages of pip and uv mean; the first that fits.
MEANINGS = [
    (r"No space left", "the disk is full"),
    (r"Permission denied|Read-only file system", "no permission to write"),
    (r"\b407\b|[Pp]roxy|tunnel", "the proxy does not let the set-up through ({proxy})"),
    (
        r"dns error|[Nn]ame or service|name resolution|nodename|[Cc]onnection (refused|reset)|"
        r"timed? ?out|unreachable|error sending request|\(Connect\)|NewConnectionError",
        "no network: the index of packages is out of reach (README, 'Without network')",
    ),
    (r"[Cc]ertificate|SSL", "the index's certificate is not trusted"),
    (r"[Ff]ailed to build|command '.*' failed", "a package does not build; is a C compiler there?"),
    (r"No solution found|No matching|no versions", "the pins cannot be had for {python}"),
]


def explain(said: str, python: str, environ: Mapping[str, str]) -> str:
    """Return in one line what stopped pip or uv, and below it what they said.

    >>> print(explain("error: No space left on device (os error 28)", "Python 3.11.2", {}))
    the disk is full
      error: No space left on device (os error 28)
    """
    said = said.strip()
    names = [n for n in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy") if environ.get(n)]
    proxy = f"{names[0]} is set" if names else "pip's setting `proxy`"
    fitting = (meaning for pattern, meaning in MEANINGS if re.search(pattern, said))
    line = next(fitting, "the installation failed").format(proxy=proxy, python=python)
    if names and line.startswith("no network"):
        line = f"neither the index of packages nor the proxy answers ({proxy})"
    # A password in an address stays out of logs.
    said = re.sub(r"(://)[^/@\s]+@", r"\1***@", said)
    return f"{line}\n" + textwrap.indent("\n".join(said.splitlines()[-12:]), "  ")
