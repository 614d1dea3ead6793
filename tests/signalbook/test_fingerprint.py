"""Digests see what runs and nothing else: no comment, no docstring, no layout."""

import pytest

from signalbook.fingerprint import of_cell, of_file, of_module

BEFORE = '''"""A module."""
def f(x, scale=2.0):
    """Scale."""
    return [scale * x, f"{x:.2f}"]
'''


@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace("A module.", "Another text."),
        BEFORE.replace('    """Scale."""\n', ""),
        BEFORE.replace("return", "# a remark\n    return"),
        BEFORE.replace("[scale * x, ", "[\n        (scale * x),\n        "),
    ],
)
def test_what_does_not_run_does_not_count(after):
    assert after != BEFORE
    assert of_module(after.encode()) == of_module(BEFORE.encode())


@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace("2.0", "2"),
        BEFORE.replace(".2f", ".3f"),
        BEFORE.replace("scale * x", "x * scale"),
        BEFORE.replace("f(x", "g(x"),
        BEFORE + "None\n",
    ],
)
def test_what_runs_counts(after):
    assert of_module(after.encode()) != of_module(BEFORE.encode())


def test_cells():
    assert of_cell("x = 1  # one\n") == of_cell("x=1")
    assert of_cell("%timeit f()") != of_cell("%timeit g()")
    assert of_cell('"shown"') != of_cell('"other"')
    assert of_cell("f()  # a; b") == of_cell("f()")
    assert of_cell("") == of_cell("# nothing")


def test_stub_counts_where_it_leads_to_what_is_loaded():
    stub = b"from . import a as a\nfrom .b.c import f as f\n"
    name, loaded = "signalprop/__init__.pyi", {"signalprop.a", "signalprop.b.c"}

    def same(old, new):
        return of_file(name, old, loaded) == of_file(name, new, loaded)

    assert same(stub, stub + b"from . import d as d\nfrom .e import g as g\n")
    assert not same(stub, stub.replace(b".b.c", b".e"))
    assert not same(stub, stub.replace(b"from . import a as a\n", b""))
