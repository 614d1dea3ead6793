"""Data sets come from the first source that has them, and only whole into the cache."""

import errno
import io
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from signalprop import data
from signalprop.data import catalog, loading
from tests.promises import note
from tests.signalprop.data.tiny import IMAGES, LABELS, NAMES, fake, idx, idx_contents, leftovers


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


@pytest.mark.parametrize("kind", ["empty", "array", "text", "object", "folder"])
def test_a_cache_file_of_another_kind_is_damaged(tiny, kind):
    cache = tiny(fake())
    data.fetch("tiny")
    path = cache / "tiny-train.npz"
    path.unlink()
    if kind == "array":
        with path.open("wb") as file:
            np.save(file, IMAGES)
    elif kind == "object":
        np.savez(path, images=np.array([None]), labels=LABELS)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("" if kind == "empty" else "not found")
    with pytest.raises(data.DataError, match=r"tiny-train\.npz is damaged"):
        data.load("tiny")


@pytest.mark.parametrize("kind", ["claims", "packed", "long"])
def test_a_cache_file_that_asks_for_much_memory_is_refused_from_its_headers(
    tiny, monkeypatch, kind
):
    cache = tiny(fake())
    data.fetch("tiny")
    header = io.BytesIO()
    shape = (10**13 if kind == "claims" else 3, 1, 2, 2)
    said = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, said)
    pixels = IMAGES.tobytes() + bytes(2**17 if kind == "long" else 0)
    how = zipfile.ZIP_DEFLATED if kind == "packed" else zipfile.ZIP_STORED
    with zipfile.ZipFile(cache / "tiny-train.npz", "w", how) as archive:
        archive.writestr("images.npy", header.getvalue() + pixels)
    monkeypatch.setattr(np.lib.format, "read_array", lambda file: pytest.fail("read"))
    with pytest.raises(data.DataError, match=r"tiny-train\.npz is damaged, run: .*\(images "):
        data.load("tiny")


def test_no_flipped_bit_of_the_cache_changes_the_data(tiny):
    """Every place in turn: refused, or, in names and dates that nobody reads, without effect."""
    cache = tiny(fake())
    images, labels = data.load("tiny")
    path = cache / "tiny-train.npz"
    whole = path.read_bytes()
    refused = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            found = data.load("tiny")
        except data.DataError:
            refused += 1
        else:
            assert torch.equal(found[0], images)
            assert torch.equal(found[1], labels)
    assert refused > len(whole) / 4
    note("Bytes of a cached file, changed in turn", len(whole))


def test_a_cache_that_nobody_may_write_to_can_be_read(tiny, monkeypatch):
    tiny(fake())
    data.fetch("tiny")

    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", forbidden)
    assert data.load("tiny")[0].shape == (3, 1, 2, 2)
    assert data.verify("tiny")
    with pytest.raises(
        data.DataError, match=r"cannot write to \(Permission denied\).*SIGNALPROP_DATA"
    ):
        data.fetch("tiny")


def test_without_a_digest_nothing_is_called_verified(tiny, monkeypatch):
    tiny(fake())
    data.fetch("tiny")
    assert data.verify("tiny")
    unknown = replace(catalog.DATASETS["tiny"], digests={})
    monkeypatch.setitem(catalog.DATASETS, "tiny", unknown)
    assert not data.verify("tiny")


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
        from tests.signalprop.data import tiny as t
        from signalprop import data
        from signalprop.data import catalog
        d = catalog.split_digest((t.IMAGES, t.LABELS))
        sizes, digests = {"train": 3, "test": 3}, {"train": d, "test": d}
        catalog.DATASETS["tiny"] = catalog.Dataset("tiny", (1, 2, 2), sizes, (t.fake(),), digests)
        for _ in range(100):
            data.fetch("tiny")
            data.verify("tiny")
    """)
    command = [sys.executable, "-c", script, str(Path(__file__).parents[3])]
    env = {"SIGNALPROP_DATA": str(tmp_path), "PATH": "", "OMP_NUM_THREADS": "1"}
    both = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE) for _ in range(2)]
    for process in both:
        errors = process.communicate()[1].decode()
        assert process.returncode == 0, errors
    assert sorted(leftovers(tmp_path)) == ["tiny-test.npz", "tiny-train.npz"]


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


@pytest.mark.parametrize("hole", [float("nan"), float("inf"), -float("inf")])
def test_standardize_takes_no_holes(hole):
    images = torch.rand(2, 1, 3, 3)
    images[1, 0, 2, 2] = hole
    for given in ((images,), (torch.rand(2, 1, 3, 3), images)):
        with pytest.raises(ValueError, match="must be finite"):
            data.standardize(*given)
