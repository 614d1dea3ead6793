"""Verdicts come from numbers: each check both passes and fails, and no NaN slips through."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalbook import claims
from signalbook.outputs import CLAIMS

WHY = "for the test"
yes = claims.level(1.0, 1.0, tolerance=0.1, reason=WHY)
no = claims.level(2.0, 1.0, tolerance=0.1, reason=WHY)
near = claims.limit([1.0, 0.1], 0.0, tolerance=0.2, reason=WHY)


def claim(check, **options):
    return claims.Claim("ORTH-X1", "statement", check, **options)


@pytest.mark.parametrize(
    ("passing", "failing"),
    [
        (
            claims.identity([1, 2], [1, 2], tolerance=0, reason=WHY),
            claims.identity([1, 2], [1, 3], tolerance=0.5, reason=WHY),
        ),
        (claims.bound([1, 2], [1, 3], reason=WHY), claims.bound([1, 2], [1, 1.9], reason=WHY)),
        (yes, no),
        (
            claims.rate(-0.5, -0.48, tolerance=0.05, reason=WHY),
            claims.rate(-0.5, -0.4, tolerance=0.05, reason=WHY),
        ),
        (
            claims.ordering({"a": 1, "b": 2}, reason=WHY),
            claims.ordering({"a": 1, "b": 1}, reason=WHY),
        ),
        (near, claims.limit([0.1, 1.0], 0.0, tolerance=2.0, reason=WHY)),
        (claims.existence(3, True, reason=WHY), claims.existence(None, False, reason=WHY)),
    ],
)
def test_checks_pass_and_fail(passing, failing):
    assert passing.passed
    assert not failing.passed
    assert passing.kind == failing.kind


@pytest.mark.parametrize(
    ("verdict", "made"),
    [
        ("holds", claim(yes)),
        ("holds with slack", claim(yes, instead=claims.Instead("sharper", yes))),
        ("holds", claim(yes, instead=claims.Instead("too sharp", no))),
        ("illustrated", claim(near)),
        ("open choice", claim(yes, readings={"one": yes, "other": no})),
        ("not run at this scale", claim(yes, scale="a GPU", at_scale=False)),
        ("not reproduced", claim(no)),
        ("not reproduced", claim(no, instead=claims.Instead("repair", yes))),
        ("not reproduced", claim(no, instead=claims.Instead("repair", no), counterexample="x")),
        ("fails as printed", claim(no, instead=claims.Instead("repair", yes), counterexample="x")),
    ],
)
def test_verdicts(verdict, made):
    assert made.verdict == verdict
    assert made.verdict in claims.VERDICTS


@pytest.mark.parametrize("bad", [math.nan, [1.0, math.nan], []])
def test_nan_decides_nothing(bad):
    with pytest.raises(ValueError, match="must hold numbers and no NaN"):
        claims.bound(bad, 1.0, reason=WHY)


def test_reason_is_required():
    with pytest.raises(ValueError, match="reason must say why"):
        claims.level(1.0, 1.0, tolerance=0.1, reason=" ")


def test_report_is_table_and_strict_json():
    made = claims.report(
        claim(claims.bound([1.0], [np.inf], reason="a < b & c")),
        claim(no, instead=claims.Instead("repair", yes), counterexample="n = 2"),
    )
    bundle = made._repr_mimebundle_()
    data = json.loads(json.dumps(bundle[CLAIMS], allow_nan=False))
    assert [entry["verdict"] for entry in data] == ["holds", "fails as printed"]
    assert "a &lt; b &amp; c" in bundle["text/html"]
    assert "Repaired" in bundle["text/html"]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1),
    st.floats(-1e6, 1e6),
    st.floats(0, 10),
)
def test_bound_agrees_with_its_definition(left, right, tolerance):
    check = claims.bound(left, right, reason=WHY, tolerance=tolerance)
    assert check.passed == all(value <= right + tolerance for value in left)
