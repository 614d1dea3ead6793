"""Data sets by any name, from a cache that anything may have happened to."""

import contextlib
import os
import tempfile
from pathlib import Path
from unittest import mock

import torch
from hypothesis import strategies as st

from signalprop import data
from signalprop.data import catalog
from tests.signalprop.data.tiny import IMAGES, LABELS, fake

from .budget import fuzz
from .test_options import attempt, sizes


@contextlib.contextmanager
def tiny():
    """A cache with a tiny data set, and the path of its training images."""
    content = catalog.split_digest((IMAGES, LABELS))
    counts, digests = {"train": 3, "test": 3}, {"train": content, "test": content}
    known = catalog.Dataset("tiny", (1, 2, 2), counts, (fake(),), digests)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, SIGNALPROP_DATA=folder),
        mock.patch.dict(catalog.DATASETS, tiny=known),
    ):
        yield data.folder() / "tiny-train.npz"


@fuzz(
    name=st.one_of(st.text(max_size=4), st.sampled_from(["mnist", "tiny", "../tiny", "MNIST"])),
    split=st.sampled_from(["train", "test", "valid", ""]),
    count=st.one_of(st.none(), sizes),
)
def test_names_of_data_sets(name, split, count):
    with tiny():
        if name == "mnist":
            return  # it would be fetched
        found = attempt(data.load, name, split, count)
        known = attempt(data.digest, name) is not None
        assert known == (name in data.names())
        assert found is None or data.verify(name)
        assert known or attempt(data.verify, name) is attempt(data.fetch, name) is None
    if found is not None:
        images, labels = found
        assert name == "tiny"
        assert torch.equal(images, torch.from_numpy(IMAGES[:count]) / 255)
        assert labels.tolist() == LABELS[:count].tolist()


@fuzz(
    damage=st.sampled_from(["flip", "cut", "append", "replace", "none"]),
    place=st.integers(0, 10**6),
    more=st.binary(min_size=1, max_size=40),
)
def test_a_cache_is_whole_or_refused(damage, place, more):
    with tiny() as path:
        data.fetch("tiny")
        content = bytearray(path.read_bytes())
        place %= len(content)
        if damage == "flip":
            content[place] ^= 1 + more[0] % 255
        damaged = {"cut": content[:place], "append": content + more, "replace": more}
        Path(path).write_bytes(damaged.get(damage, content))
        try:
            images, labels = data.load("tiny")
            assert data.verify("tiny")
        except data.DataError as refusal:
            assert "is damaged, run: python -m signalprop.data fetch tiny" in str(refusal)  # noqa: PT017
            assert damage != "none"
            return
    assert torch.equal(images, torch.from_numpy(IMAGES) / 255)
    assert labels.tolist() == LABELS.tolist()
