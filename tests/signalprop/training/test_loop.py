"""Training of many networks at once: independence, resume, divergence, records, bad input."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.layers import BatchNorm
from signalprop.models import MLP, Stacked, conv_net
from signalprop.training import (
    Diverged,
    Group,
    Recipe,
    batches,
    checkpoint,
    cross_entropy,
    grid,
    print_progress,
    train,
)

X = torch.randn(60, 5, generator=Stream(0).torch("x"))
Y = (X[:, 0] * X[:, 1] > 0).long()
RECIPE = Recipe(steps=30, batch=16, record_every=10, drop_every=20)


def build(seeds, depth=2):
    return MLP(5, 8, depth, 2, [BatchNorm(eps=1e-5), torch.relu], seeds=seeds)


def same(one, other):
    assert set(one) == set(other)
    for name in one:
        np.testing.assert_array_equal(one[name].steps, other[name].steps)
        for metric in one[name].values:
            np.testing.assert_array_equal(one[name].values[metric], other[name].values[metric])


# --- batches --------------------------------------------------------------------------------------


def test_every_pass_takes_each_sample_once_in_a_new_order():
    steps = batches(Stream(0), [3], size=10, batch=5)
    first, second = (torch.cat([next(steps), next(steps)], 1)[0].tolist() for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second


def test_batches_leave_out_the_rest_and_start_anywhere():
    take = [next(b) for b in (batches(Stream(0), [0, 1], 11, 4, start=s) for s in range(7))]
    run = batches(Stream(0), [0, 1], 11, 4)
    for expected in take:
        torch.testing.assert_close(next(run), expected)
    assert len(set(torch.cat(take[:2], 1)[0].tolist())) == 8


def test_batches_depend_on_the_own_seed_only():
    pair, alone = next(batches(Stream(0), [5, 6], 50, 9)), next(batches(Stream(0), [6], 50, 9))
    torch.testing.assert_close(pair[1], alone[0])
    assert not torch.equal(pair[0], pair[1])
    with pytest.raises(ValueError, match=r"batch must be in 1..50"):
        next(batches(Stream(0), [5], 50, 51))


# --- training -------------------------------------------------------------------------------------


def test_side_by_side_is_as_alone():
    groups = [grid(f"depth {d}", lambda s, d=d: build(s, d), [0, 1], [0.2, 0.05]) for d in (1, 3)]
    together = train(groups, X, Y, RECIPE)
    for group, depth in zip(groups, (1, 3), strict=True):
        for k, (seed, rate) in enumerate(zip(group.seeds, group.rates, strict=True)):
            alone = Group(group.name, build([seed], depth), [seed], [rate])
            loss = train([alone], X, Y, RECIPE)[group.name].curves("loss")[:, 0]
            np.testing.assert_allclose(together[group.name].curves("loss")[:, k], loss, rtol=1e-3)


def test_training_is_plain_sgd_on_the_keyed_batches():
    history = train([Group("a", build([7]), [7], [0.2])], X, Y, RECIPE, seed=3)["a"]
    net = build([7])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    order = batches(Stream(3), [7], 60, 16)
    for step in range(30):
        rows = next(order)
        optimizer.param_groups[0]["lr"] = 0.2 if step < 20 else 0.02
        optimizer.zero_grad()
        cross_entropy(net(X[rows]), Y[rows]).sum().backward()
        optimizer.step()
    # Recorded over 60 // 16 = 3 batches of 16, the same for all networks.
    parts = [(X[None, i : i + 16], Y[None, i : i + 16]) for i in (0, 16, 32)]
    expected = np.mean([cross_entropy(net(x), y).item() for x, y in parts])
    assert history.final("loss")[0] == pytest.approx(expected, rel=1e-5)
    assert history.steps.tolist() == [0, 10, 20, 30]


def test_metrics_of_any_shape_on_a_probe():
    def norms(net, x, y):
        assert (x.shape, y.shape) == ((2, 4, 5), (2, 4))
        return torch.stack([block[0].weight.norm(dim=(1, 2)) for block in net.hidden], 1)

    group = Group("a", build([0, 1]), [0, 1], [0.1, 0.1])
    history = train([group], X, Y, RECIPE, probe=(X[:4], Y[:4]), metrics={"norms": norms})["a"]
    assert history.curves("norms").shape == (4, 2, 2)
    torch.testing.assert_close(
        torch.from_numpy(history.final("norms")[:, 1]).float(),
        group.model.hidden[1][0].weight.detach().norm(dim=(1, 2)),
    )


def test_learning_rate_search():
    group = grid("a", build, seeds=[0, 1, 2], rates=[1e-4, 0.3])
    history = train([group], X, Y, Recipe(steps=200, batch=16))["a"]
    assert history.best_rate("accuracy") == history.best_rate("loss", largest=False) == 0.3
    assert history.curves("loss", 0.3).shape == (3, 3)
    with pytest.raises(ValueError, match="rate must be one of"):
        history.curves("loss", 0.1)
    with pytest.raises(ValueError, match="metric must be one of loss, accuracy, got 'gap'"):
        history.final("gap")


def test_steps_zero_and_depth_zero():
    group = Group("a", MLP(5, 8, 0, 2, seeds=[0]), [0], [0.1])
    history = train([group], X, Y, Recipe(steps=0, batch=16))["a"]
    assert history.steps.tolist() == [0]


def test_convolutional_networks_with_dropout_repeat():
    images = X[:, :4].reshape(60, 1, 2, 2)

    def once():
        torch.manual_seed(0)
        nets = [conv_net([4, "relu"], channels=1, size=2, hidden=[8], dropout=0.5) for _ in "ab"]
        noise = torch.rand(1)  # what is drawn elsewhere must not matter
        group = Group("conv", Stacked(nets), [0, 1], [0.1, 0.1])
        return noise, train([group], images, Y, RECIPE)

    first = once()[1]
    torch.rand(7)
    same(first, once()[1])


def test_global_generator_is_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    train([Group("a", build([0]), [0], [0.1])], X, Y, RECIPE)
    torch.testing.assert_close(torch.rand(1), expected)


# --- divergence -----------------------------------------------------------------------------------


def vanilla(seeds):
    return MLP(5, 16, 3, 2, seeds=seeds, weights="he")


def test_a_diverging_network_leaves_the_others_alone():
    rates = [0.05, 1e12]
    history = train([grid("a", vanilla, [0], rates)], X, Y, RECIPE)["a"]
    alone = train([grid("a", vanilla, [0], [0.05])], X, Y, RECIPE)["a"]
    np.testing.assert_allclose(history.curves("loss")[:, 0], alone.curves("loss")[:, 0], rtol=1e-4)
    assert history.diverged_at[0] == -1
    assert 0 < history.diverged_at[1] < 10
    assert np.isfinite(history.curves("loss")[0, 1])
    assert np.isnan(history.curves("loss")[1:, 1]).all()
    assert history.best_rate("loss", largest=False) == 0.05


def test_all_diverged_is_an_early_error():
    seen = []
    with pytest.raises(Diverged, match=r"all networks diverged, at steps \{'a'.*smaller rates"):
        train(
            [grid("a", vanilla, [0, 1], [1e12])],
            X,
            Y,
            Recipe(steps=10**6, batch=16),
            progress=lambda name, done, steps: seen.append(done),
        )
    assert len(seen) < 20


def test_a_group_without_survivors_ends_in_nan_beside_a_good_one():
    groups = [grid("bad", vanilla, [0], [1e12]), grid("good", vanilla, [0], [0.05])]
    histories = train(groups, X, Y, RECIPE)
    assert np.isnan(histories["bad"].final("loss")).all()
    assert np.isfinite(histories["good"].final("loss")).all()
    with pytest.raises(Diverged, match="bad: networks diverged at every rate"):
        histories["bad"].best_rate()


# --- checkpoints ----------------------------------------------------------------------------------


class Killed(Exception):
    pass


def kill_after(steps):
    calls = []

    def progress(name, done, total):
        calls.append(name)
        if len(calls) == steps:
            raise Killed

    return progress


def groups():
    return [grid("one", build, [0, 1], [0.2, 0.1]), grid("two", vanilla, [0], [0.05, 1e12])]


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


def test_sigkill_leaves_a_whole_checkpoint(tmp_path):
    script = textwrap.dedent("""
        import os, signal, sys, torch
        sys.path.insert(0, sys.argv[1])
        import test_loop as t
        def stop(name, done, steps):
            if done == 17:
                os.kill(os.getpid(), signal.SIGKILL)
        t.train(t.groups(), t.X, t.Y, t.RECIPE, folder=sys.argv[2], progress=stop)
    """)
    command = [sys.executable, "-c", script, __file__.rsplit("/", 1)[0], str(tmp_path)]
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


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 0}, "batch must be at least 1, got 0"),
        ({"steps": -1}, "steps must be at least 0"),
        ({"record_every": 0}, "record_every must be"),
        ({"drop_every": 0}, "drop_every must be"),
        ({"clip": -1.0}, "clip must be positive"),
        ({"drop": float("nan")}, "drop must be positive"),
    ],
)
def test_bad_recipes(changes, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**({"steps": 1, "batch": 1} | changes))


@pytest.mark.parametrize(
    ("seeds", "rates", "message"),
    [
        ([0], [0.1, 0.1], "seeds and rates must be as many"),
        ([], [], "seeds and rates must be as many"),
        ([0, 1], [0.1, float("inf")], r"rates must be positive and finite, got \[inf\]"),
        ([0, 1, 2], [0.1] * 3, r"parameters must be \(models=3, ...\), got hidden"),
    ],
)
def test_bad_groups(seeds, rates, message):
    with pytest.raises(ValueError, match=message):
        Group("a", build([0, 1]), seeds, rates)
    with pytest.raises(ValueError, match=r"got 0.weight of shape"):
        Group("b", nn.Sequential(nn.Linear(1, 3)), [0, 1], [0.1, 0.1])


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X[:5], Y, "must be"),
        (X, Y.float(), "labels must be non-negative int64"),
        (X, Y - 1, "labels must be non-negative"),
        (X * torch.nan, Y, "inputs must be finite"),
        (X[:0], Y[:0], "N >= 1"),
        (X[:9], Y[:9], "batch must be in 1..9"),
    ],
)
def test_bad_data(x, y, message):
    with pytest.raises(ValueError, match=message):
        train([Group("a", build([0]), [0], [0.1])], x, y, RECIPE)


def test_devices_must_agree():
    group = Group("a", build([0]).to("meta"), [0], [0.1])
    with pytest.raises(ValueError, match="must be on one device"):
        train([group], X, Y, RECIPE)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_goes_the_way_of_the_cpu(tmp_path):
    x, y = X.cuda(), Y.cuda()
    one, other = grid("a", build, [0], [0.1]), grid("a", build, [0], [0.1])
    other.model.cuda()
    history = train([other], x, y, RECIPE, folder=tmp_path)["a"]
    expected = train([one], X, Y, RECIPE)["a"]
    np.testing.assert_allclose(history.final("loss"), expected.final("loss"), rtol=1e-3)


def test_groups_need_names_of_their_own():
    group = Group("a", build([0]), [0], [0.1])
    for given in ([], [group, group]):
        with pytest.raises(ValueError, match="groups must have names of their own"):
            train(given, X, Y, RECIPE)


def test_progress_line(capsys):
    for done in range(1, 301):
        print_progress("net", done, 300)
    lines = capsys.readouterr().err.split("\r")[1:]
    assert len(lines) == 100
    assert lines[-1] == "net: 300/300 steps\n"
