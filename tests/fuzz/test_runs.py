"""Products, sweeps and what is measured of chains: refused in words, or as it should be."""

import math

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

import signalprop as sp
from signalprop import jacobians, stats

from .budget import fuzz
from .test_options import attempt, numbers, sizes


@fuzz(
    width=sizes,
    depth=sizes,
    runs=sizes,
    law=st.sampled_from(["gaussian", "he", "orthogonal", "sparse", "none"]),
    variance=st.one_of(st.none(), numbers),
)
def test_volumes(width, depth, runs, law, variance):
    if variance is not None:
        law = attempt(sp.gaussian, variance)
    found = law and attempt(lambda: sp.log_volumes(width, depth, runs, weights=law))
    if found is not None:
        assert found.values.shape == (runs, depth + 1, 2)
        assert not np.isnan(found.values).any()
        lengths, areas = np.moveaxis(found.values, -1, 0)
        assert (areas <= 2 * lengths - math.log(2) + 1e-9).all()


LOSSES = {
    "squares": lambda h: h.square().sum((1, 2)),
    "fourth powers": lambda h: (h**4).sum((1, 2)),
    "roots": lambda h: h.sqrt().sum((1, 2)),
    "zero": lambda h: 0 * h.sum((1, 2)),
    "constant": lambda h: torch.ones(len(h)),
    "one number": lambda h: h.sum(),
}


@fuzz(
    width=st.integers(1, 4),
    depth=st.integers(0, 4),
    size=numbers,
    loss=st.sampled_from(sorted(LOSSES)),
)
def test_gradients_of_chains(width, depth, size, loss):
    path = attempt(lambda: sp.Chain(width).run(np.full((2, width), size), depth, runs=2))
    found = None if path is None else attempt(jacobians.log_gradient_norms, path, LOSSES[loss])
    if found is not None:
        assert found.values.shape == (2, depth)
        assert (found.values < math.inf).all()


@fuzz(
    at=st.lists(st.one_of(sizes, numbers), max_size=3),
    runs=sizes,
    shape=st.sampled_from(["rows", "wrong"]),
    scale=numbers,
)
def test_sweeps(at, runs, shape, scale):
    def make(value, runs, seed):
        return scale * torch.from_numpy(seed.numpy().random((runs, 2, 2)))

    def metric(h):
        return h.square().sum((1, 2)) if shape == "rows" else h

    swept = attempt(sp.sweep, make, at, metric, runs)
    if swept is not None:
        assert swept.values.shape == (runs, len(at))
        assert swept == sp.Sweep(swept.values, swept.at, "metric")
        alone = sp.sweep(make, at[:1], metric, runs)
        np.testing.assert_array_equal(alone.values[:, 0], swept.values[:, 0])
        slope = attempt(swept.slope)
        assert slope is None or slope.low <= slope.value <= slope.high


@fuzz(
    values=st.lists(numbers, min_size=1, max_size=9),
    half_width=numbers,
    budget=st.integers(-1, 300),
    level=st.one_of(st.floats(0.5, 0.99), numbers),
)
def test_means_until_they_are_known(values, half_width, budget, level):
    def draw(runs):
        return [values[run % len(values)] for run in runs]

    found = attempt(stats.sequential_mean, draw, half_width, budget, level)
    if found is not None:
        assert found.draws <= budget
        assert found.low <= found.value <= found.high
        assert found.reached == (found.half_width <= half_width) or found.draws < budget


@fuzz(
    shape=st.lists(st.integers(1, 4), min_size=2, max_size=3),
    scale=numbers,
    first=sizes,
    last=sizes,
    level=numbers,
)
def test_measurements(shape, scale, first, last, level):
    if not abs(scale) < 1e9:
        return  # the values are taken as they are
    values = scale * np.cos(np.arange(math.prod(shape)).reshape(shape))
    whole = sp.Measurement(values, np.arange(shape[1]), "cosine")
    assert whole.mean().shape == tuple(shape[1:])
    part = attempt(whole.between, first, last)
    if part is not None:
        assert (part == whole) == (first <= 0 and last >= shape[1] - 1)
        assert part.values.shape[1] == len(part.layers)
        logs = attempt(part.log)
        assert logs is None or not np.isnan(logs.values).any()
    interval = attempt(whole.mean_ci, level)
    assert interval is None or (interval.low <= interval.high).all()
    average = attempt(lambda: sp.TimeAverage(values, "cosine").interval())
    assert average is None or (average.low <= average.high).all()


@fuzz(
    width=st.one_of(st.none(), sizes),
    weights=st.sampled_from([None, "he", "orthogonal", "none"]),
    rows=st.booleans(),
    engine=st.sampled_from(["auto", "direct", "reduced"]),
)
def test_branches(width, weights, rows, engine):
    seen = []

    def branch(h, dense):
        assert isinstance(dense, sp.Dense)
        hidden = dense(h if rows else h.flatten(), width, weights)
        seen.append(hidden.shape)
        return dense(torch.tanh(hidden))

    chain = sp.Chain(3, branch=branch)
    path = attempt(lambda: chain.run(np.eye(2, 3), 2, runs=2, engine=engine))
    final = None if path is None else attempt(path.final)
    if final is not None:
        assert set(seen) == {(2, 2, width or 3)}
        assert final.shape == (2, 2, 3)
        assert bool(torch.isfinite(final).all())


@fuzz(
    seed=st.one_of(st.integers(), st.booleans(), numbers, st.text(max_size=2)),
    names=st.lists(st.one_of(st.integers(), st.text(max_size=2), numbers), max_size=3),
)
def test_streams(seed, names):
    stream = attempt(lambda: sp.as_stream(seed).child(*names))
    if stream is not None:
        assert sp.as_stream(stream) is stream
        assert stream.numpy().random() == sp.as_stream(seed).numpy(*names).random()
        assert stream == sp.Stream(seed, tuple(names))


@fuzz(runs=st.integers(1, 2), size=st.integers(1, 4), logs=st.lists(numbers, max_size=12))
def test_products_in_factors(runs, size, logs):
    product = jacobians.GradedProduct.identity(
        torch.eye(size, dtype=torch.float64).expand(runs, -1, -1)
    )
    kept = [abs(log) for log in logs if 0 < abs(log) < math.inf]
    for factor in kept:
        product = product.times(factor * product.frame)
    found = product.log_singular_values()
    assert found.shape == (runs, size)
    expected = sum(map(math.log, kept))
    assert found.numpy() == pytest.approx(np.full((runs, size), expected), rel=1e-12, abs=1e-9)
