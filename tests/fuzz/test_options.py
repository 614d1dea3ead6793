"""Whatever sizes and options a recipe is given: refused in words, or it runs."""

import math

import numpy as np
import torch
from hypothesis import strategies as st

import signalprop as sp
from signalprop import inputs, stats, weights
from signalprop.spectra import varied

from .budget import fuzz

sizes = st.integers(-2, 6)
numbers = st.one_of(
    st.floats(-3, 3),
    st.sampled_from([0.0, 1e-300, 1e-8, 1e8, 1e300, math.nan, math.inf, -math.inf]),
)
LAWS = {
    "gaussian": lambda a, b: weights.gaussian(a, mean=b),
    "uniform": lambda a, b: weights.uniform(a, mean=b),
    "one-sided": lambda a, b: weights.one_sided_uniform(a),
    "rademacher": lambda a, b: weights.rademacher(a),
    "student": lambda a, b: weights.student_t(a, b),
    "sparse": lambda a, b: weights.sparse(a),
    "by name": lambda a, b: weights.as_law("he"),
    "orthogonal": lambda a, b: weights.orthogonal(),
    "unknown": lambda a, b: weights.as_law("none"),
}
INPUTS = {
    "diagonal": lambda n, a: inputs.diagonal([a] * max(n, 0)),
    "orthogonal": lambda n, a: inputs.orthogonal_samples(n),
    "parallel": inputs.nearly_parallel,
    "gaussian": lambda n, a: inputs.gaussian_samples(n),
    "collinear": inputs.collinear_features,
    "correlated": lambda n, a: inputs.with_correlation(a, n),
}


def attempt(function, *arguments):
    try:
        return function(*arguments)
    except ValueError as refusal:
        assert str(refusal) != ""  # noqa: PT017
        return None


@fuzz(name=st.sampled_from(sorted(LAWS)), a=numbers, b=numbers, rows=sizes, columns=sizes)
def test_laws(name, a, b, rows, columns):
    law = attempt(LAWS[name], a, b)
    if law is None:
        return
    drawn = attempt(law.sample, rows, columns, sp.Stream(0).runs(2))
    if drawn is not None:
        assert drawn.shape == (2, rows, columns)
        assert bool(torch.isfinite(drawn).all())


@fuzz(name=st.sampled_from(sorted(INPUTS)), n=sizes, a=numbers, width=sizes, runs=sizes)
def test_inputs_and_chains(name, n, a, width, runs):
    start = attempt(INPUTS[name], n, a)
    chain = attempt(lambda: sp.Chain(width, layers=[sp.RMSNorm(eps=1e-5)]))
    if start is None or chain is None:
        return
    path = attempt(chain.run, start, 2, runs)
    final = None if path is None else attempt(path.final)
    if final is not None:
        assert final.shape[0] == runs
        assert final.shape[2] == width
        assert bool(torch.isfinite(final).all())


@fuzz(
    shape=st.tuples(sizes, sizes, sizes, sizes),
    given=st.lists(st.integers(0, 5), max_size=4),
    seeds=st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=3)),
)
def test_perceptrons(shape, given, seeds):
    net = attempt(lambda: sp.MLP(*shape, seeds=seeds))
    if net is None:
        return
    outputs = attempt(net, torch.ones(given))
    if outputs is not None:
        assert outputs.shape[-1] == shape[3]
        assert bool(torch.isfinite(outputs).all())


@fuzz(residual=st.one_of(st.none(), numbers), scale=numbers, depth=sizes)
def test_jacobians_of_chains(residual, scale, depth):
    chain = attempt(lambda: sp.Chain(3, layers=[torch.tanh], residual=residual))
    if chain is None:
        return
    found = attempt(lambda: chain.jacobian(np.full((1, 3), scale), depth, runs=2))
    logs = None if found is None else attempt(found.log_singular_values)
    if logs is not None:
        assert logs.shape == (2, 3)
        assert not np.isnan(logs).any()
        assert (logs[:, :-1] >= logs[:, 1:]).all()


@fuzz(
    widths=st.lists(sizes, max_size=4),
    spread=numbers,
    residual=st.one_of(st.none(), numbers),
    depth=st.one_of(st.none(), sizes),
    engine=st.sampled_from(["auto", "direct", "reduced"]),
)
def test_chains_of_several_widths(widths, spread, residual, depth, engine):
    def make():
        return sp.Chain(
            widths=widths, bias=sp.gaussian(spread), layers=[torch.tanh], residual=residual
        )

    chain = attempt(make)
    if chain is None:
        return
    start = inputs.gaussian_samples(2)
    path = attempt(lambda: chain.run(start, depth, runs=2, engine=engine))
    final = None if path is None else attempt(path.final)
    if final is not None:
        layers = len(widths) if depth is None else depth
        assert final.shape == (2, 2, widths[max(layers, 1) - 1])
        assert bool(torch.isfinite(final).all())


@fuzz(n=sizes, count=sizes)
def test_spectra(n, count):
    spectra = attempt(varied, n, count)
    if spectra is not None:
        assert spectra.shape == (count, n)
        np.testing.assert_allclose(spectra.sum(axis=1), 1)


@fuzz(tests=st.integers(-2, 10**9), total=numbers)
def test_errors_of_many_tests(tests, total):
    each = attempt(stats.per_test_error, tests, total)
    assert each is None or 0 < each <= total
