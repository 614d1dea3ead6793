"""Parameters: declared with a type, reduced with a reason, refused by name."""

import pytest
import yaml

from signalbook.errors import BookError
from signalbook.parameters import Change, declared, parse_assignments, read_profile, resolve

CELL = """\
n: int = 4
rate: float = 1
law: str = "he"
widths: list[float] = [1, 2.5]
fast: bool = True
depths: list[int] = [2, 5]
shift: int = 0
seed: int = 3
"""
DEFAULTS = {"n": 4, "rate": 1.0, "law": "he", "widths": [1.0, 2.5], "fast": True}
DEFAULTS |= {"depths": [2, 5], "shift": 0, "seed": 3}


def test_defaults_have_their_type():
    found = {name: p.default for name, p in declared(CELL).items()}
    assert found == DEFAULTS
    assert isinstance(found["rate"], float)
    assert isinstance(found["widths"][0], float)


@pytest.mark.parametrize(
    "line",
    [
        *("n = 4", "n: int", "n: dict = {}", "n: int = f(4)", "n: int = 4.0", "n: int = True"),
        *("n: list[dict] = []", "n: list[int] = [1.5]", "a.n: int = 4", "print(4)"),
    ],
)
def test_other_lines_are_refused(line):
    with pytest.raises(BookError):
        declared(f"{CELL}\n{line}")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("m", 1, "here: unknown parameter 'm'; there are: n: int, rate: float, law: str, widths"),
        ("n", 4.0, r"here: parameter n must be int, got 4\.0"),
        ("n", True, "parameter n must be int, got True"),
        ("rate", True, "parameter rate must be float, got True"),
        ("widths", [1, "a"], r"parameter widths must be list\[float\], got \[1, 'a'\]"),
        ("widths", 3.0, r"parameter widths must be list\[float\], got 3\.0"),
        ("n", 0, "here: parameter n must be 1 or more, got 0"),
        ("n", -3, "here: parameter n must be 1 or more, got -3"),
        ("depths", [1, 0], r"here: parameter depths must be 1 or more, got \[1, 0\]"),
        ("rate", float("nan"), "here: parameter rate must be finite, got nan"),
        ("widths", [1.0, float("inf")], r"parameter widths must be finite, got \[1\.0, inf\]"),
    ],
)
def test_values_that_do_not_fit_are_named(name, value, message):
    with pytest.raises(BookError, match=message):
        resolve(declared(CELL), {name: value}, "here")


def test_values_take_the_place_of_defaults():
    values = resolve(declared(CELL), {"rate": 2, "widths": (3,)}, "here")
    assert values == DEFAULTS | {"rate": 2.0, "widths": [3.0]}


def test_what_is_no_size_may_be_zero_or_less():
    values = resolve(declared(CELL), {"shift": -3, "seed": 0, "rate": -1}, "here")
    assert values == DEFAULTS | {"shift": -3, "seed": 0, "rate": -1.0}


@pytest.mark.parametrize("text", ["law='two words", 'law="', "n=4\\"])
def test_words_that_do_not_end_are_named(text):
    with pytest.raises(BookError, match="parameters cannot be read, no "):
        parse_assignments(text)


def test_words_of_the_command_line():
    text = "n=5 law='two words' rate=-1e-3 widths='[1, 2]' fast=False other=half=way"
    assert parse_assignments(text) == {
        "n": 5,
        "law": "two words",
        "rate": -1e-3,
        "widths": [1, 2],
        "fast": False,
        "other": "half=way",
    }
    assert parse_assignments("") == {}
    for bad in ("n", "=5", "a-b=5"):
        with pytest.raises(BookError, match="name=value words, got"):
            parse_assignments(bad)
    with pytest.raises(BookError, match="n is given twice, as 5 and '6'"):
        parse_assignments("n=5 n=6")


def test_a_profile_has_a_reason_for_every_value(tmp_path):
    path = tmp_path / "a.yml"
    assert read_profile(path) == {}
    path.write_text("# sizes\n\nn: 2  # half # of it\nwidths: [1, 2]  # few\nlaw: he#2  # odd\n")
    found = read_profile(path)
    assert {name: change.value for name, change in found.items()} == {
        "n": 2,
        "widths": [1, 2],
        "law": "he#2",
    }
    assert found["n"].reason == "half # of it"


@pytest.mark.parametrize("law", ['"a # b"', "'a # b'", '"a  #"', '"a # \\" b"', "[a#b, '# c']"])
def test_a_mark_within_quotes_is_the_values(tmp_path, law):
    path = tmp_path / "a.yml"
    path.write_text(f"law: {law}  # why # not\n")
    assert read_profile(path) == {"law": Change(yaml.safe_load(law), "why # not")}


BAD = ["n: 2", "n: 2  #", "n 2  # why", "n:  # why", "n: [2  # why", 'n: "2 # why', "n: @ # why"]
BAD += ["n: 2020-13-01  # why", "n: 2 # f\xfcr jetzt", "n: 2 3: 4  # why", "- n: 2  # why"]


@pytest.mark.parametrize("bad", BAD)
def test_a_line_of_a_profile_that_cannot_be_read_is_named(tmp_path, bad):
    path = tmp_path / "a.yml"
    path.write_text(f"runs: 1  # one\n{bad}\n", "latin-1")
    with pytest.raises(BookError, match=r"a\.yml line 2: expected `name: value  # reason`"):
        read_profile(path)
