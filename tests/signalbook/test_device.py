"""`device=auto` is a GPU where there is one, and what is said otherwise stays."""

import pytest

from signalbook import __main__ as cli
from signalbook import paper
from signalbook.device import resolved

A = "orthogonality/a"


@pytest.mark.parametrize(("there", "device"), [(True, "cuda"), (False, "cpu")])
def test_auto_is_what_the_machine_has(monkeypatch, there, device):
    monkeypatch.setattr("torch.cuda.is_available", lambda: there)
    assert resolved({"device": "auto", "runs": 5}) == {"device": device, "runs": 5}
    assert resolved({"device": "cuda:1"}) == {"device": "cuda:1"}
    assert resolved({"runs": 5}) == {"runs": 5}


@pytest.mark.parametrize(("said", "device"), [("", "cuda"), ("device=cpu runs=3", "cpu")])
def test_records_are_made_on_a_gpu_if_nothing_else_is_said(book, monkeypatch, said, device):
    book.chapter(A, "ORTH-X1")
    asked = []

    def record(project, name, chosen, **_):
        asked.append(chosen)

    monkeypatch.chdir(book.root)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr(
        paper, "make_record", lambda project, name, chosen, **_: asked.append(chosen)
    )
    monkeypatch.setattr("signalbook.lifeline.follow", lambda: None)
    assert cli.main(["paper", A, "--set", said]) == 0
    assert asked[0]["device"] == device
