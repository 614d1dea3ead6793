"""An empty cache, and a tiny data set to fill it with."""

import pytest

from signalprop.data import catalog
from tests.signalprop.data.tiny import IMAGES, LABELS


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
