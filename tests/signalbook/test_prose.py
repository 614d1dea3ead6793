"""Tables and numbers of the text."""

import re

import pandas as pd
import pytest

from signalbook.prose import ROWS, table, tell


def html(data, **options):
    return table(data, **options)._repr_mimebundle_()["text/html"]


def test_numbers_stand_right_and_words_left():
    text = html({"width": [8, 16], "verdict": ["holds", "fails"]})
    assert re.findall(r"<td[^>]*>", text)[:2] == ['<td class="sb-number">', "<td>"]
    assert '<th scope="col" class="sb-number">width</th>' in text


def test_minus_signs_are_true_and_powers_raised():
    assert "−2.5·10⁻⁷" in html({"slope": [-2.5e-7]})


def test_markup_in_cells_and_heads_is_text():
    text = html({"<b>": ["<script>alert(1)</script>"], "x": ["a & b"]})
    assert "<script>" not in text
    assert "<b>" not in text
    assert "a &amp; b" in text


def test_a_table_is_named_by_what_it_holds():
    text = html({"width $d$": [1], "gap": [2]})
    assert 'aria-label="Table: width d, gap"' in text
    assert 'aria-label="Table gaps: gap"' in html({"gap": [2]}, name="gaps")


def test_wide_tables_can_become_cards():
    heads = [f"column {number}" for number in range(6)]
    text = html({head: [1.0] for head in heads})
    assert 'class="sb-stack"' in text
    assert [head for head in heads if f'<span class="sb-head">{head}: </span>' in text] == heads
    assert "sb-stack" not in html({head: [1.0] for head in heads[:4]})


def test_long_tables_show_ten_rows_and_offer_all():
    data = pd.DataFrame({"layer": range(3 * ROWS)})
    with pytest.raises(ValueError, match="name must be given"):
        table(data)
    bundle = table(data, name="layers")._repr_mimebundle_()
    assert bundle["text/html"].count("<tr>") == ROWS + 1
    (csv,) = [part["csv"] for mime, part in bundle.items() if "figure" in mime]
    assert csv.splitlines() == ["layer", *map(str, range(3 * ROWS))]


@pytest.mark.parametrize(
    "value", [pd.Series([1.0]), {"a": 1}, None, float("nan"), object(), "", []]
)
def test_only_numbers_and_words_are_told(value):
    with pytest.raises(ValueError, match="value must be"):
        tell(value=value)
