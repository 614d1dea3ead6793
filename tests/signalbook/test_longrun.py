"""Long runs: a chapter that was killed goes on from its checkpoint, and only from its own."""

import textwrap

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
