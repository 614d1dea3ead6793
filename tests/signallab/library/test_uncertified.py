"""The claims without a certificate are claims of the list, each for one reason."""

from signalbook.inventory import rows
from signallab.library.uncertified import UNCERTIFIED, reasons


def test_reasons():
    found = reasons()
    claims = [claim for group in UNCERTIFIED.values() for claim in group]
    assert found["claims"].sum() == len(set(claims)) == len(claims)
    assert {id for id, _, _ in claims} <= set(rows())
    assert len(found) <= 10
    assert found["statements"].str.contains("RANK-L15").sum() == 1
