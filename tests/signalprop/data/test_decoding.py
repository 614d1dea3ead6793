"""From the bytes of files to arrays."""

import gzip
import io
import json

import numpy as np
import pytest

from signalprop.data import decoding
from tests.signalprop.data.tiny import IMAGES, LABELS, NAMES, idx, idx_contents


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_idx_plain_and_gzipped(suffix):
    pack = gzip.compress if suffix else bytes
    files = {name + suffix: pack(raw) for name, raw in idx_contents().items()}
    images, labels = decoding.idx_files()(files)["test"]
    np.testing.assert_array_equal(images, IMAGES)
    np.testing.assert_array_equal(labels, LABELS)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not an IDX"),
        (b"\0\0\x08", "not an IDX"),
        (b"\x89PNG1234", "not an IDX"),
        (idx(IMAGES)[:-1], "cut to 11 bytes"),
        (gzip.compress(idx(IMAGES), mtime=0)[:10] + b"\xff" * 20, "damaged gzip data"),
    ],
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


def test_what_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(decoding, "UNPACKED", 2**20)
    bomb = gzip.compress(bytes(2**21))
    with pytest.raises(ValueError, match="more than 1048576 bytes"):
        decoding.idx_files()(idx_contents() | {NAMES[0]: bomb})


def test_a_picture_that_is_damaged_or_too_large_is_refused(monkeypatch):
    image = pytest.importorskip("PIL.Image")
    sheet = io.BytesIO()
    image.new("RGB", (16, 12)).save(sheet, "PNG")
    raw = sheet.getvalue()
    decode = decoding.png_sheets(("s",), ("s",), {"train": "l", "test": "l"})
    length = raw.index(b"IDAT") - 1
    with pytest.raises(ValueError, match="damaged or outsized"):
        decode({"s": raw[:length] + bytes([raw[length] ^ 8]) + raw[length + 1 :], "l": b"[]"})
    with monkeypatch.context() as limited:
        limited.setattr(decoding, "UNPACKED", 3 * 16 * 12 - 1)
        with pytest.raises(ValueError, match="more than 575 bytes"):
            decode({"s": raw, "l": b"[]"})
    monkeypatch.setattr(image, "MAX_IMAGE_PIXELS", 16)
    with pytest.raises(ValueError, match="exceeds limit"):
        decode({"s": raw, "l": b"[]"})


@pytest.mark.parametrize("labels", [b"[300]", b"[null]", b'{"a": 1}'])
def test_labels_that_are_no_bytes_are_refused(labels):
    image = pytest.importorskip("PIL.Image")
    sheet = io.BytesIO()
    image.new("RGB", (4, 1)).save(sheet, "PNG")
    decode = decoding.png_sheets(("s",), ("s",), {"train": "l", "test": "l"})
    with pytest.raises(ValueError, match="no list of bytes"):
        decode({"s": sheet.getvalue(), "l": labels})
