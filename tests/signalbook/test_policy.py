"""What the pages allow a browser to do."""

from pathlib import Path

import pytest

from signalbook.errors import BookError
from signalbook.policy import guarded, policy

THEME = "<script>theme()</script>"


def page(head="", article=""):
    head = f'<head>\n<meta charset="utf-8" />{head}</head>'
    return f"{head}<body><article>{article}</article></body>"


def scripts(text):
    (rule,) = [rule for rule in policy(text).split("; ") if rule.startswith("script-src ")]
    return rule.split()[1:]


def test_each_script_of_the_frame_is_named_once():
    assert scripts(page()) == ["'self'"]
    assert len(scripts(page(THEME + THEME))) == 2
    assert len(scripts(page(THEME + "<script data-x>other()</script>"))) == 3
    assert scripts(page('<script src="a.js"></script>')) == ["'self'"]


@pytest.mark.parametrize("script", [THEME, "<SCRIPT type='module'>\nx\n</SCRIPT>"])
def test_a_script_in_the_text_is_refused(script):
    with pytest.raises(BookError, match=r"a/b\.html: there is a script in the text"):
        list(guarded([(Path("a/b.html"), page("", script).encode())]))
    data = '<script type="application/json">{}</script><script defer src="../x.js"></script>'
    assert scripts(page("", data)) == ["'self'"]


def test_pages_get_their_policy_and_other_files_stay():
    files = {Path("a.html"): page(THEME).encode(), Path("a.js"): b"<head>"}
    found = dict(guarded(files.items()))
    assert found[Path("a.js")] == b"<head>"
    text = found[Path("a.html")].decode()
    assert policy(page(THEME)) in text
    assert text.index('charset="utf-8"') < text.index("Content-Security-Policy")
    assert text.index("Content-Security-Policy") < text.index("<script")


def test_nothing_from_elsewhere_and_nothing_from_words():
    rules = policy(page(THEME))
    assert rules.startswith("default-src 'none'; ")
    assert "unsafe" not in rules.replace("style-src 'self' 'unsafe-inline'", "")
    assert not {"*", "http:", "https:", "blob:"} & set(rules.split())
