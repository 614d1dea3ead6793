"""Long runs: a chapter that was killed goes on from its checkpoint, and only from its own."""

import textwrap

import pytest

from signalbook import longrun

pytestmark = pytest.mark.slow  # it starts interpreters, kernels, builds

A = "orthogonality/a"

KILLED_HALF_WAY = textwrap.dedent("""
    import os

    import torch

    import signalprop as sp
    from signalbook.longrun import long_run

    place = long_run("orthogonality/a")
    half_way = (place["folder"] / "net.pt").is_file()


    def progress(name, done, steps):
        place["progress"](name, done, steps)
        if not half_way and done == 60:
            os._exit(1)


    x = torch.randn(64, 4, generator=stream.torch("x"))
    group = sp.training.Group("net", sp.MLP(4, 8, 1, 2, seeds=[0]), [0], [0.1])
    recipe = sp.training.Recipe(steps=100, batch=16, record_every=50)
    sp.training.train(
        [group], x, (x[:, 0] > 0).long(), recipe, folder=place["folder"], progress=progress
    )
""")


def test_a_killed_run_goes_on_and_cleans_up(book):
    book.chapter(A, "ORTH-X1", code=KILLED_HALF_WAY)
    checkpoints = book.root / "_build" / "checkpoints" / A
    assert "exit code 1" in book.run("chapter", A, code=1)
    assert len(list(checkpoints.rglob("net.pt"))) == 1
    assert "exit code 1" in book.run("chapter", A, "--set", "runs=7", code=1)
    assert len(list(checkpoints.rglob("net.pt"))) == 2, "other values, another checkpoint"
    assert "holds" in book.run("chapter", A)
    assert len(list(checkpoints.rglob("net.pt"))) == 1
    assert "holds" in book.run("chapter", A, "--set", "runs=7"), "a run spares those of others"
    assert not checkpoints.exists()
    assert not list((book.root / "_build" / "status").rglob("*.txt"))


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A clone, and the modules that a kernel in it has loaded, with their digests."""
    (tmp_path / "_toc.yml").touch()
    (tmp_path / "chapters").mkdir()
    monkeypatch.chdir(tmp_path)
    loaded = {"signalprop.training": "a", "signallab.rank": "b"}
    sources = {**loaded, "signallab.kernels": "c"}
    monkeypatch.setattr(longrun, "history", lambda: ["runs = 5"])
    monkeypatch.setattr(longrun, "library", lambda: {name: sources[name] for name in loaded})
    monkeypatch.setattr(
        longrun, "library_now", lambda names: {n: sources[n] for n in names if n in sources}
    )
    return loaded, sources


def begin(group="net"):
    run = longrun.long_run(A)
    (run["folder"] / "net.pt").touch()
    run["progress"](group, 1, 15000)
    return run["folder"]


def taken_up():
    return (longrun.long_run(A)["folder"] / "net.pt").exists()


def test_code_that_was_not_loaded_may_change(kernel):
    begin()
    kernel[1]["signallab.kernels"] = "other"
    assert taken_up()


@pytest.mark.parametrize("change", ["other", None])
def test_code_that_made_a_checkpoint_may_not(kernel, change):
    begin()
    if change:
        kernel[1]["signalprop.training"] = change
    else:
        del kernel[1]["signalprop.training"]
    assert not taken_up()


def test_what_is_loaded_for_a_later_group_counts_from_its_first_step(kernel):
    loaded, sources = kernel
    run = longrun.long_run(A)
    run["progress"]("net", 1, 15000)
    (run["folder"] / "net.pt").touch()
    loaded["signallab.kernels"] = "c"
    run["progress"]("another", 2, 15000)
    sources["signallab.kernels"] = "other"
    assert not taken_up()


def test_a_checkpoint_without_its_code_is_not_taken_up(kernel):
    (begin() / longrun.CODE).unlink()
    assert not taken_up()


def test_other_cells_have_checkpoints_of_their_own(kernel, monkeypatch):
    folder = begin()
    monkeypatch.setattr(longrun, "history", lambda: ["runs = 7"])
    assert not taken_up()
    assert (folder / "net.pt").exists()
