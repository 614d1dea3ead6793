"""Checkpoints: exact after a kill, of the own run only, no damage unseen."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.layers import BatchNorm
from signalprop.models import MLP, Stacked
from signalprop.training import (
    Group,
    Recipe,
    checkpoint,
    grid,
    train,
)
from tests.promises import note
from tests.signalprop.training.runs import RECIPE, Killed, X, Y, build, groups, kill_after, same


@pytest.mark.parametrize("steps", [3, 10, 25, 37, 59])
def test_resume_is_exact(tmp_path, steps):
    whole = groups()
    expected = train(whole, X, Y, RECIPE)
    with pytest.raises(Killed):
        train(groups(), X, Y, RECIPE, folder=tmp_path, progress=kill_after(steps))
    again = groups()
    same(expected, train(again, X, Y, RECIPE, folder=tmp_path))
    for one, other in zip(whole, again, strict=True):
        for p, q in zip(one.model.parameters(), other.model.parameters(), strict=True):
            assert torch.equal(p, q)
    done = train(groups(), X, Y, RECIPE, folder=tmp_path, progress=kill_after(1))
    same(expected, done)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.pt", "two.pt"]


@pytest.mark.slow
def test_sigkill_leaves_a_whole_checkpoint(tmp_path):
    script = textwrap.dedent("""
        import os, signal, sys, torch
        sys.path.insert(0, sys.argv[1])
        from tests.signalprop.training import runs as t
        from signalprop import training
        def stop(name, done, steps):
            if done == 17:
                os.kill(os.getpid(), signal.SIGKILL)
        training.train(t.groups(), t.X, t.Y, t.RECIPE, folder=sys.argv[2], progress=stop)
    """)
    command = [sys.executable, "-c", script, str(Path(__file__).parents[3]), str(tmp_path)]
    killed = subprocess.run(command, capture_output=True, check=False)
    assert killed.returncode == -9, killed.stderr
    same(train(groups(), X, Y, RECIPE), train(groups(), X, Y, RECIPE, folder=tmp_path))


def test_checkpoint_of_another_run_or_damaged(tmp_path):
    def once(recipe=RECIPE, x=X, rate=0.2):
        train([grid("a", build, [0], [rate])], x, Y, recipe, folder=tmp_path)

    once()
    others = ({"rate": 0.1}, {"x": X + 1}, {"recipe": Recipe(steps=31, batch=16)})
    for changes in others:
        with pytest.raises(ValueError, match=r"a.pt is of another run: delete it"):
            once(**changes)
    path = tmp_path / "a.pt"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"a.pt cannot be read"):
        once()


def test_a_checkpoint_knows_layers_and_activation(tmp_path):
    def once(layers):
        train(
            [Group("a", MLP(5, 8, 1, 2, layers, seeds=[0]), [0], [0.1])],
            X,
            Y,
            RECIPE,
            folder=tmp_path,
        )

    torch.manual_seed(0)
    once([torch.relu])
    once([torch.relu])
    for layers in (
        [torch.tanh],
        [BatchNorm(eps=1e-5), torch.relu],
        [torch.relu, nn.Dropout(0.1)],
        [],
    ):
        with pytest.raises(ValueError, match=r"a.pt is of another run"):
            once(layers)
    (tmp_path / "a.pt").unlink()
    once([lambda x: torch.relu(x)])
    once([lambda x: torch.relu(x)])  # another function of the same behaviour
    with pytest.raises(ValueError, match=r"a.pt is of another run, whose untrained networks"):
        once([lambda x: torch.tanh(x)])


def test_a_checkpoint_knows_the_layers_of_stacked_modules(tmp_path):
    def once(module):
        nets = [nn.Sequential(weights, module)]
        train([Group("a", Stacked(nets), [0], [0.1])], X, Y, RECIPE, folder=tmp_path)

    weights = nn.Linear(5, 2)
    once(nn.Dropout(0.5))
    for module in (nn.Dropout(0.4), nn.Tanh()):
        with pytest.raises(ValueError, match=r"a.pt is of another run"):
            once(module)


def test_no_flipped_bit_of_a_checkpoint_goes_unseen(tmp_path):
    path = tmp_path / "toy.pt"
    checkpoint.write_checkpoint(path, {"weights": torch.randn(50), "step": 3}, "toy")
    whole = path.read_bytes()
    generator = Stream(0).numpy("bits")
    for place in generator.integers(0, 8 * len(whole), 200):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"toy.pt cannot be read \(it is damaged\): delete it"):
            checkpoint.read_checkpoint(path, "toy")
    for length in (0, 10, checkpoint.DIGEST, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"toy.pt cannot be read"):
            checkpoint.read_checkpoint(path, "toy")
    path.write_bytes(whole)
    assert checkpoint.read_checkpoint(path, "toy")["step"] == 3
    note("Flipped bits of a checkpoint", 200)


@pytest.mark.slow
def test_a_kill_after_any_step(tmp_path):
    recipe = Recipe(steps=12, batch=16, record_every=5, drop_every=7)

    def run(**options):
        return train([grid("one", build, [0], [0.2])], X, Y, recipe, **options)

    expected = run()
    for step in range(1, recipe.steps):
        folder = tmp_path / str(step)
        with pytest.raises(Killed):
            run(folder=folder, progress=kill_after(step))
        same(expected, run(folder=folder))
    note("Steps of training after which it was killed", recipe.steps - 1)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_kill_in_the_middle_of_a_write(tmp_path, share):
    """The third state is on the disk in part, or as a whole that was not put in place yet."""
    script = textwrap.dedent("""
        import os, signal, sys
        sys.path.insert(0, sys.argv[1])
        from tests.signalprop.training import runs as t
        from signalprop import training
        writes = []
        def torn(number):
            writes.append(number)
            if len(writes) == 3:
                os.ftruncate(number, int(os.fstat(number).st_size * float(sys.argv[3])))
                os.kill(os.getpid(), signal.SIGKILL)
        os.fsync = torn
        training.train(t.groups(), t.X, t.Y, t.RECIPE, folder=sys.argv[2])
    """)
    arguments = [str(Path(__file__).parents[3]), str(tmp_path), str(share)]
    killed = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True)
    assert killed.returncode == -9, killed.stderr
    same(train(groups(), X, Y, RECIPE), train(groups(), X, Y, RECIPE, folder=tmp_path))
    note("Kills in the middle of writing a checkpoint")
