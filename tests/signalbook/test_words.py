"""Numbers, verdicts and formulas as pages show them."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalbook.words import badge, plain, show, slug, typeset

BACK = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def read(text):
    """A number as a reader reads it."""
    mantissa, _, power = text.partition("·10")
    return float(mantissa.translate(BACK)) * 10.0 ** int(power.translate(BACK) or 0)


@given(st.floats(-1e300, 1e300), st.integers(2, 9))
def test_a_number_is_read_as_it_is_to_its_digits(value, digits):
    text = show(value, digits)
    assert read(text) == pytest.approx(value, rel=0.5000001 * 10.0 ** (1 - digits), abs=1e-323)
    assert "e" not in text
    assert "-" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12345.0, "12345"),
        (999999.4, "999999"),
        (1234567.0, "1.235·10⁶"),
        (-3, "−3"),
        (True, "yes"),
        (np.float32(0.5), "0.5"),
        ({"a": 1.0, "b": (2, 3)}, "a: 1, b: 2, 3"),
        (math.inf, "infinite"),
        (-math.inf, "-infinite"),
        ("a-b", "a-b"),
    ],
)
def test_shown(value, text):
    assert show(value) == text


def test_plain_values_are_json():
    value = {"x": np.arange(2), 3: (np.float64(0.5), None, math.nan), "path": slug}
    text = json.dumps(plain(value), allow_nan=False)
    assert json.loads(text)["x"] == [0, 1]
    assert json.loads(text)["3"] == [0.5, None, "not a number"]


def test_text_is_escaped_also_inside_formulas():
    assert typeset("<b> costs $a<b$ & more") == (
        '&lt;b&gt; costs <span class="math notranslate nohighlight">\\(a&lt;b\\)</span> &amp; more'
    )
    assert typeset("one $ alone") == "one $ alone"


def test_a_badge_is_a_word_with_its_class():
    assert badge("fails as printed") == (
        '<span class="sb-badge sb-fails-as-printed">fails as printed</span>'
    )
    assert "<script" not in badge("<script>")


def test_a_slug_is_part_of_an_address():
    assert slug(" KER-T5.11.1 (a)!") == "ker-t5-11-1-a"
