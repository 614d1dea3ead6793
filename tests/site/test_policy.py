"""The content-security policy: each page has one, satisfies it, and is protected by it.

A browser reports what a policy forbids as an error on its console; that no page has one, in any
view, is tested with the rest in `test_pages`.
"""

from __future__ import annotations

import re

import pytest

EVIL = """\
<script>document.title = "ran: a script"</script>
<img src="no-such" alt="x" onerror="document.title = 'ran: a handler'">
<img src="https://example.org/x.png" alt="x">
"""


def test_every_page_has_a_policy_before_it_loads_anything(html, site):
    head = (site / html).read_text().split("</head>")[0]
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)"', head)
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in policy.split("script-src")[1].split(";")[0]
    first = re.search(r"<(?:script|link|style|img)\b", head)
    assert first is None or head.index(policy) < first.start()


@pytest.mark.parametrize("opened", ["desktop", "folder"])
def test_what_slips_into_a_text_does_nothing(opened, request, site):
    window = request.getfixturevalue(opened)
    text = (site / "pages" / "reading.html").read_text()
    text = re.sub(r"(<article\b[^>]*>)", lambda found: found[1] + EVIL, text, count=1)
    window.page.route(
        "**/pages/reading.html", lambda r: r.fulfill(body=text, content_type="text/html")
    )
    page = window.open("pages/reading.html")
    page.wait_for_load_state("networkidle")
    page.unroute("**/pages/reading.html")
    assert page.title().startswith("How to read")
    refused = [said for said in window.wrong if "Content Security Policy" in said]
    for what in ("inline script", "inline event handler", "https://example.org/x.png"):
        assert any(what in said for said in refused), (what, window.wrong)
    page.goto("about:blank")
