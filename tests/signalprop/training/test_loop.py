"""Training of many networks at once: independence, resume, divergence, records, bad input."""

import numpy as np
import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.layers import LayerNorm
from signalprop.models import MLP, Stacked, conv_net
from signalprop.training import (
    Diverged,
    Group,
    Recipe,
    batches,
    cross_entropy,
    grid,
    print_progress,
    train,
)
from tests.signalprop.training.runs import (
    RECIPE,
    Killed,
    X,
    Y,
    build,
    kill_after,
    same,
    vanilla,
)


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


def test_progress_is_one_line_of_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for done in range(1, 301):
        print_progress("net", done, 300)
    lines = capsys.readouterr().err.split("\r")[1:]
    assert len(lines) == 100
    assert lines[-1] == "net: 300/300 steps\n"


def test_piped_progress_does_not_run_together(capsys):
    for name in ("one", "two"):
        for done in range(1, 301):
            print_progress(name, done, 300)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 20
    assert lines[9:11] == ["one: 300/300 steps", "two: 30/300 steps"]


class Attending(nn.Module):
    """A module as any user has it: images as sequences, attention, layer norm."""

    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Linear(1, 4), nn.LayerNorm(4)
        self.attention, self.head = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 2)

    def forward(self, x):
        h = self.norm(self.embed(x[..., None]))
        return self.head((h + self.attention(h, h, h, need_weights=False)[0]).mean(1))


class Deciding(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.head = nn.Linear(5, 4), LayerNorm(), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.norm(self.first(x)))  # eps = 0: looks at the lengths


ANY = {
    "batch norm": lambda: nn.Sequential(
        nn.Linear(5, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2)
    ),
    "convolution": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 5)), nn.Conv1d(1, 3, 2), nn.Tanh(), nn.Flatten(), nn.Linear(12, 2)
    ),
    "attention": Attending,
    "deciding": Deciding,
}


@pytest.mark.parametrize("name", ANY)
def test_any_module_learns_as_it_does_alone(name):
    x, rates, seeds = X.double(), [0.2, 0.1, 0.05], [3, 4, 3]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        nets = [ANY[name]().double() for _ in seeds]
    group = Group(name, nets, seeds, rates)
    history = train([group], x, Y, RECIPE, seed=Stream(1))[name]
    for k, net in enumerate(nets):
        optimizer = torch.optim.SGD(net.parameters(), rates[k])
        order = batches(Stream(1), [seeds[k]], len(x), RECIPE.batch)
        for step in range(RECIPE.steps):
            optimizer.param_groups[0]["lr"] = rates[k] * RECIPE.rate_factor(step)
            rows = next(order)[0]
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[rows]), Y[rows]).backward()
            optimizer.step()
        trained = group.model.each()[k].state_dict()
        for key, value in net.state_dict().items():
            torch.testing.assert_close(trained[key], value, rtol=1e-10, atol=1e-10)
        net.eval()
        losses = [
            float(nn.functional.cross_entropy(net(x[i : i + 16]), Y[i : i + 16]).detach())
            for i in (0, 16, 32)
        ]
        assert history.final("loss")[k] == pytest.approx(np.mean(losses), abs=1e-10)


def test_modules_with_running_averages_resume_with_the_same_numbers(tmp_path):
    def group():
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return Group("own", [ANY["batch norm"]() for _ in "ab"], [0, 1], [0.1, 0.1])

    whole = train([group()], X, Y, RECIPE)
    with pytest.raises(Killed):
        train([group()], X, Y, RECIPE, folder=tmp_path, progress=kill_after(15))
    same(whole, train([group()], X, Y, RECIPE, folder=tmp_path))


def test_what_is_frozen_stays():
    net = nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 2))
    net[0].requires_grad_(False)
    group = Group("frozen", [net], [0], [0.1])
    train([group], X, Y, RECIPE)
    torch.testing.assert_close(group.model.each()[0][0].weight, net[0].weight, rtol=0, atol=0)
    assert not torch.equal(group.model.each()[0][1].weight, net[1].weight)


def test_a_network_that_the_last_step_makes_diverge_has_diverged():
    x, y = torch.tensor([[0.2, 0.4, -1.2]]), torch.tensor([1])
    made = Group("a", MLP(3, 4, 1, 2, seeds=[0, 1]), seeds=[0, 1], rates=[1e30, 0.1])
    history = train([made], x, y, Recipe(1, 1, record_every=1))["a"]
    assert history.diverged_at.tolist() == [1, -1]
    assert np.isnan(history.values["accuracy"][1]).tolist() == [True, False]
    assert history.best_rate() == 0.1


@pytest.mark.parametrize("steps", [0, -1])
def test_progress_without_steps_is_refused(steps):
    with pytest.raises(ValueError, match=f"steps must be at least 1, got {steps}"):
        print_progress("a", 0, steps)
