"""Data for scripts: there once, compact, and nothing in them closes their own element."""

import json
import re

from signalbook.play import Embedded


def test_a_script_reads_back_what_was_embedded():
    data = {"κ": [0.5, None], "a": {"b": 1}}
    html = Embedded("its-name", data)._repr_html_()
    found = re.fullmatch(r'<script type="application/json" id="its-name">(.*)</script>', html)
    assert json.loads(found[1]) == data
    assert " " not in found[1]


def test_text_cannot_close_the_element():
    html = Embedded("x", {"</script><b>": 1})._repr_html_()
    assert html.count("</script>") == 1
    assert json.loads(re.search(r">(.*)</script>", html)[1]) == {"</script><b>": 1}
