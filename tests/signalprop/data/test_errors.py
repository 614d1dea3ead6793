"""What goes wrong with data is said with its remedy."""

import sys

import pytest

from signalprop import data
from signalprop.data import decoding, sources
from tests.signalprop.data.tiny import NAMES


def test_missing_extra_names_the_remedy(tiny, monkeypatch):
    tiny(sources.Web(decoding.idx_files(), tuple(NAMES), 1, addresses=("https://nowhere/",)))
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(data.DataError, match=r'pooch is needed: install "signalprop\[data\]"'):
        data.load("tiny")
