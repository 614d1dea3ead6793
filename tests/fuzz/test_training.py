"""Training, its batches and its checkpoints: refused in words, or the numbers it should have."""

import contextlib
import io
import itertools
import math
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from signalprop import Stream
from signalprop.models import MLP
from signalprop.training import (
    Diverged,
    Group,
    History,
    Recipe,
    adaptive_clip,
    batches,
    checkpoint,
    clipped_share,
    descending,
    grid,
    measure,
    print_progress,
    train,
)

from .budget import fuzz
from .test_arrays import arrays
from .test_options import attempt, numbers, sizes

KINDS = [torch.float32, torch.float64, torch.float16, torch.int64, torch.bool]
VALUES = [0.0, 1.0, -3.0, 1e-30, 1e30, math.nan, math.inf]


class Stopped(Exception):
    """Stands for a kill."""


@fuzz(
    seeds=st.lists(st.integers(0, 2**40), max_size=3),
    size=sizes,
    batch=sizes,
    start=st.integers(-3, 20),
)
def test_batches(seeds, size, batch, start):
    try:
        found = list(itertools.islice(batches(Stream(0), seeds, size, batch, start), 9))
    except ValueError as refusal:
        assert "must" in str(refusal)  # noqa: PT017
        return
    per_pass = size // batch
    assert all(rows.shape == (len(seeds), batch) for rows in found)
    assert all(int(rows.min()) >= 0 and int(rows.max()) < size for rows in found)
    whole = list(itertools.islice(batches(Stream(0), seeds, size, batch), start + 9))
    assert all(torch.equal(a, b) for a, b in zip(found, whole[start:], strict=True))
    for k in range(len(seeds)):
        drawn = torch.cat([rows[k] for rows in whole[:per_pass]])
        assert len(set(drawn.tolist())) == per_pass * batch, "each sample once in a pass"


@st.composite
def data(draw):
    """Inputs ``(N, 3)`` and labels of two classes for the most part; else of any kind."""
    n, usual = draw(st.integers(0, 6)), draw(st.booleans())
    shape = (n, 3) if usual else tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    x = torch.randn(shape, generator=Stream(draw(st.integers(0, 99))).torch())
    x = x * draw(st.sampled_from([1.0, 1.0, 1e-30, 1e30]))
    if not usual and x.numel():
        x.view(-1)[0] = draw(st.sampled_from(VALUES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = x.to(torch.float32 if usual else draw(st.sampled_from(KINDS)))
    labels = st.integers(0, 1) if usual else st.integers(-1, 3)
    many = n if usual else draw(st.integers(0, 6))
    y = torch.tensor(draw(st.lists(labels, min_size=many, max_size=many)), dtype=torch.int64)
    return x, y if usual else y.to(draw(st.sampled_from([torch.int64, torch.float32])))


def group(rate):
    return Group("a", MLP(3, 4, 1, 2, seeds=[0, 1]), seeds=[0, 1], rates=[rate, 0.1])


def trained(samples, recipe, rate, **options):
    """The history and the networks; None where it was refused in words, or all diverged."""
    made = group(rate)
    try:
        history = train([made], *samples, recipe, **options)["a"]
    except ValueError as refusal:
        assert len(str(refusal)) > 10  # noqa: PT017
        return None
    except Diverged:
        return None
    return history, [p.detach().clone() for p in made.model.parameters()]


recipes = st.builds(
    Recipe,
    steps=st.integers(0, 6),
    batch=st.integers(1, 3),
    record_every=st.integers(1, 4),
    drop_every=st.one_of(st.none(), st.integers(1, 3)),
    clip=st.one_of(st.none(), st.sampled_from([1e-8, 0.1, 1e8])),
)


@fuzz(samples=data(), recipe=recipes, rate=st.sampled_from([1e-30, 0.1, 1.0, 1e30]))
def test_train(samples, recipe, rate):
    before = [part.clone() for part in samples]
    found = trained(samples, recipe, rate)
    for part, old in zip(samples, before, strict=True):
        assert torch.equal(part.nan_to_num(), old.nan_to_num()), "the argument was changed"
    if found is None:
        return
    history, parameters = found
    alive = torch.from_numpy(history.diverged_at < 0)
    for values in history.values.values():
        assert values.shape[:2] == (len(history.steps), 2)
        assert bool(torch.isfinite(torch.from_numpy(values)[:, alive]).all())
    assert all(bool(torch.isfinite(p[alive]).all()) for p in parameters)


@fuzz(samples=data(), recipe=recipes, kill=st.integers(1, 6), seed=st.integers(0, 9))
def test_a_stopped_run_ends_with_the_same_numbers(samples, recipe, kill, seed):
    def stop(_, done, __):
        if done == kill:
            raise Stopped

    whole = trained(samples, recipe, 0.1, seed=seed)
    if whole is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        if kill <= recipe.steps:
            with pytest.raises(Stopped):
                trained(samples, recipe, 0.1, seed=seed, folder=folder, progress=stop)
        again = trained(samples, recipe, 0.1, seed=seed, folder=folder)
    assert again is not None
    assert all(torch.equal(a, b) for a, b in zip(whole[1], again[1], strict=True))


@fuzz(
    damage=st.sampled_from(["flip", "cut", "append", "replace", "none"]),
    place=st.integers(0, 10**6),
    more=st.binary(min_size=1, max_size=40),
    identity=st.sampled_from(["this", "another"]),
)
def test_a_checkpoint_is_whole_or_refused(damage, place, more, identity):
    state = {"weights": torch.arange(5.0), "step": 3}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.pt"
        checkpoint.write_checkpoint(path, state, "this")
        content = bytearray(path.read_bytes())
        place %= len(content)
        if damage == "flip":
            content[place] ^= 1 + more[0] % 255
        path.write_bytes(
            {"cut": content[:place], "append": content + more, "replace": more}.get(damage, content)
        )
        try:
            found = checkpoint.read_checkpoint(path, identity)
        except ValueError as refusal:
            assert "delete it" in str(refusal)  # noqa: PT017
            assert (damage, identity) != ("none", "this")
            return
    assert (damage, identity) == ("none", "this")
    assert found["step"] == 3
    assert torch.equal(found["weights"], state["weights"])


@fuzz(
    gradient=arrays(),
    weight=st.one_of(st.none(), arrays(), st.sampled_from([0.0, 1e-200, 1e200])),
    ratio=numbers,
)
def test_clipping(gradient, weight, ratio):
    if weight is None or isinstance(weight, float):
        full = torch.full(gradient.shape, weight or 0.0, dtype=torch.float64)
        weight = gradient if weight is None else full
    clipped = attempt(adaptive_clip, gradient, weight, ratio)
    if clipped is not None:
        g, short = (torch.as_tensor(a).double() for a in (gradient, clipped))
        assert short.shape == g.shape
        assert bool(torch.isfinite(short).all())
        assert bool((short.abs() <= g.abs() * (1 + 1e-6)).all())
        assert bool((short * g.sign() >= 0).all())


@fuzz(
    n=st.integers(0, 4),
    models=st.integers(1, 3),
    scale=numbers,
    ratio=numbers,
    rate=st.floats(0, 1),
)
def test_descent_and_the_share_that_is_clipped(n, models, scale, ratio, rate):
    net = MLP(3, 4, 1, 2, seeds=range(models))
    x = scale * torch.ones(models, n, 3)
    y = torch.zeros(models, n, dtype=torch.int64)
    share = attempt(clipped_share, net, x, y, ratio)
    if share is not None:
        assert share.shape == (models,)
        assert bool(((share >= 0) & (share <= 1)).all())
    before = [p.detach().clone() for p in net.parameters()]
    with descending(net, torch.full((models,), rate)):
        (net(x).square() if n else net(x)).sum().backward()
    assert all(p.grad is None for p in net.parameters())
    if rate == 0 and abs(scale) < 1e9:
        assert all(torch.equal(p, q) for p, q in zip(net.parameters(), before, strict=True))


@fuzz(seeds=st.lists(sizes, max_size=3), rates=st.lists(numbers, max_size=3))
def test_grids(seeds, rates):
    made = attempt(grid, "a", lambda all_seeds: MLP(3, 4, 1, 2, seeds=all_seeds), seeds, rates)
    if made is not None:
        pairs = list(zip(made.seeds, made.rates, strict=True))
        assert pairs == list(itertools.product(seeds, rates))


@fuzz(samples=data(), models=sizes, batch=sizes)
def test_measures(samples, models, batch):
    x, y = samples
    model = MLP(3, 4, 1, 2, seeds=range(max(models, 1)))
    values = attempt(measure, model, x, y, models, batch)
    assert model.training
    if values is not None:
        assert set(values) == {"loss", "accuracy"}
        assert all(value.shape == (models,) for value in values.values())
        assert bool(((values["accuracy"] >= 0) & (values["accuracy"] <= 1)).all())


@fuzz(
    values=st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), min_size=2, max_size=2),
    metric=st.sampled_from(["accuracy", "loss", ""]),
    rate=st.sampled_from([None, 0.1, 1.0, math.nan]),
    largest=st.booleans(),
)
def test_histories(values, metric, rate, largest):
    seeds, rates = np.zeros(2, int), np.array([0.1, 1.0])
    records = {"accuracy": np.array([[0.0, 0.0], values])}
    history = History("a", seeds, rates, np.arange(2), records, np.array([-1, -1]))
    curves = attempt(history.curves, metric, rate)
    assert (curves is None) == (metric != "accuracy" or (rate is not None and rate != rate))
    if curves is not None:
        assert curves.shape == (2, 2 if rate is None else 1)
        np.testing.assert_array_equal(history.final(metric), values)
    if all(map(math.isnan, values)):
        with pytest.raises(Diverged):
            history.best_rate(largest=largest)
    else:
        best = np.nanargmax(values) if largest else np.nanargmin(values)
        assert history.best_rate(largest=largest) == rates[best]


@fuzz(done=st.integers(0, 50), steps=st.integers(-1, 50))
def test_progress(done, steps):
    with contextlib.redirect_stderr(io.StringIO()) as told:
        attempt(print_progress, "a", done, steps)
    assert told.getvalue() in ("", f"a: {done}/{steps} steps\n")
