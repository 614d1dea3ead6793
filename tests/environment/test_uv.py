"""What pip is told is passed on to uv, unless uv is told something itself."""

from __future__ import annotations

import pytest

from environment.uv import cache, explain, pip_settings, uv_variables, writable

LISTING = """
:env:.find-links='/wheels ~/more'
global.extra-index-url='\\nhttps://a.example/simple\\nhttps://b.example/simple'
global.index-url='https://c.example/simple'
global.proxy='http://proxy.example:3128'
install.find-links='/overruled'
install.trusted-host='a.example b.example'
"""


def test_every_setting_of_pip_reaches_uv():
    found = uv_variables(pip_settings(LISTING), {"HOME": "/home/me"})
    assert found == {
        "UV_DEFAULT_INDEX": "https://c.example/simple",
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/wheels,/home/me/more",
        "UV_INSECURE_HOST": "a.example b.example",
        "HTTP_PROXY": "http://proxy.example:3128",
        "HTTPS_PROXY": "http://proxy.example:3128",
    }


@pytest.mark.parametrize(
    ("own", "lost"),
    [
        ("UV_INDEX_URL", "UV_DEFAULT_INDEX"),
        ("UV_EXTRA_INDEX_URL", "UV_INDEX"),
        ("UV_FIND_LINKS", "UV_FIND_LINKS"),
        ("https_proxy", "HTTPS_PROXY"),
    ],
)
def test_what_uv_is_told_itself_wins(own, lost):
    every = uv_variables(pip_settings(LISTING), {"HOME": "/"})
    found = uv_variables(pip_settings(LISTING), {"HOME": "/", own: "mine"})
    assert lost in every
    assert lost not in found


@pytest.mark.parametrize(("value", "passed"), [("1", True), ("true", True), ("no", False)])
def test_no_index(value, passed):
    assert ("UV_NO_INDEX" in uv_variables({"no-index": value}, {})) is passed


def test_passwords_stay_out_of_messages():
    said = explain("error: https://me:secret@a.example/simple: 403", "Python 3.11.2", {})
    assert said == "the installation failed\n  error: https://***@a.example/simple: 403"


def test_a_home_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    assert writable(cache({"HOME": str(tmp_path)}))
    assert not writable(cache({"HOME": str(tmp_path / "file")}))
    assert cache({"HOME": "/h", "UV_CACHE_DIR": "/c"}).as_posix() == "/c"
