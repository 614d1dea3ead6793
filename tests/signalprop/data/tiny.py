"""A tiny data set, and sources that hand out given bytes."""

from dataclasses import dataclass

import numpy as np

from signalprop import data
from signalprop.data import decoding, sources

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


def leftovers(cache):
    return [p.name for p in cache.rglob("*")] if cache.exists() else []
