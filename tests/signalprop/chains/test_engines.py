import numpy as np
import pytest
import torch

import signalprop as sp
from signalprop.chains import engines
from signalprop.chains.engines import choose_engine, direct, draws, reduced


def first_product(engine, x, width, runs, law=None):
    start = torch.as_tensor(np.array(x)).expand(runs, -1, -1)
    generators = sp.Stream(0).runs(runs)
    return engine(law or sp.gaussian(), width, 1, generators, start)(start).numpy()


@pytest.mark.parametrize("engine", [direct, reduced])
@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(0).standard_normal((3, 8)),
        np.diag([1.0, 1e-3, 1e-6]) @ np.random.default_rng(1).standard_normal((3, 8)),
        np.outer([1.0, -2.0, 0.5], np.arange(8.0)),
        np.random.default_rng(2).standard_normal((5, 2)),
        np.zeros((2, 3)),
    ],
    ids=["generic", "ill conditioned", "rank one", "more samples than features", "zero"],
)
def test_a_product_has_the_covariance_of_its_samples(engine, x):
    law, width = sp.he(), 6
    z = first_product(engine, x, width, runs=20_000, law=law)
    u = np.linalg.svd(x)[0]  # in the singular basis every direction is seen at its own size
    samples = np.swapaxes(u.T @ z, 1, 2).reshape(-1, len(x))
    variance = law.variance(x.shape[1], width)
    sigma = np.zeros(len(x))
    sigma[: min(x.shape)] = np.linalg.svd(x, compute_uv=False)
    size = np.sqrt(variance) * np.maximum(sigma, 1e-9)
    covariance = (samples / size).T @ (samples / size) / len(samples)
    expected = np.diag((sigma > 1e-9).astype(float))
    assert np.abs(covariance - expected).max() < 6 * np.sqrt(2 / len(samples))


def test_explicit_weights_are_the_laws_own():
    x = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    product = direct(sp.uniform(), 5, 2, sp.Stream(0).runs(2), x)
    generators = sp.Stream(0).runs(2)
    first = sp.uniform().sample(5, 4, generators)
    second = sp.uniform().sample(5, 5, generators)
    h = product(x)
    torch.testing.assert_close(h, x @ first.mT)
    torch.testing.assert_close(product(h), h @ second.mT)


@pytest.mark.parametrize("law", [sp.gaussian(), sp.orthogonal(), sp.student_t(5)])
@pytest.mark.parametrize("depth", [0, 1, 2, 7, 8, 23])
def test_blocks_leave_no_trace_in_the_numbers(monkeypatch, law, depth):
    like = torch.empty(0, dtype=torch.float64)

    def all_draws(block):
        monkeypatch.setattr(engines, "BLOCK", block)
        layers = draws(law, sp.Stream(0).runs(3), (4, 2), (4, 4), depth, like)
        return [layer.clone() for layer in layers]

    many, single = all_draws(3 * 16 * 7), all_draws(1)
    assert len(many) == len(single) == depth
    for a, b in zip(many, single, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


def test_a_block_of_doubles_takes_8_mb():
    assert engines.BLOCK * np.dtype(float).itemsize == 8 * 1024**2


@pytest.mark.parametrize(("block", "together"), [(1, [1, 1, 1]), (2 * 16, [2, 1])])
def test_as_many_layers_are_drawn_together_as_fill_a_block(monkeypatch, block, together):
    shapes = []

    class Recorder:
        def fill(self, out, generator):
            shapes.append(out.shape)

    monkeypatch.setattr(engines, "BLOCK", block)
    like = torch.empty(0, dtype=torch.float64)
    for _ in draws(Recorder(), sp.Stream(0).runs(1), (4, 2), (4, 4), 4, like):
        pass
    assert shapes == [(4, 2), *((layers, 4, 4) for layers in together)]


def test_draws_stop_early_without_waiting():
    layers = draws(
        sp.gaussian(), sp.Stream(0).runs(2), (2, 2), (2, 2), 10**9, torch.empty(0).double()
    )
    next(layers), next(layers)
    layers.close()
    with pytest.raises(StopIteration):
        next(layers)


@pytest.mark.parametrize(
    ("law", "width", "n", "engine"),
    [
        (sp.gaussian(), 100, 50, "reduced"),
        (sp.gaussian(), 100, 51, "direct"),
        (sp.gaussian(), 1, 1, "direct"),
        (sp.orthogonal(), 100, 10, "direct"),
    ],
)
def test_the_reduced_engine_is_taken_up_to_half_as_many_samples_as_neurons(law, width, n, engine):
    assert choose_engine("auto", law, width=width, n=n) == engine


@pytest.mark.parametrize("law", [sp.uniform(), sp.orthogonal(), sp.gaussian(mean=0.1)])
def test_only_the_reduced_engine_needs_gaussian_weights(law):
    assert choose_engine("direct", law, width=100, n=10) == "direct"
    with pytest.raises(ValueError, match=r"engine 'reduced' needs centered Gaussian"):
        choose_engine("reduced", law, width=100, n=10)


def test_an_engine_that_is_asked_for_is_taken_or_named():
    assert choose_engine("reduced", sp.gaussian(), width=10, n=10) == "reduced"
    with pytest.raises(ValueError, match="engine must be one of auto, direct, reduced"):
        choose_engine("fast", sp.gaussian(), width=10, n=10)


def test_one_block_is_drawn_ahead_and_no_more():
    """There are two buffers: a third block in hand would be written over the first."""
    taken = []

    def blocks():
        for number in range(4):
            taken.append(number)
            yield np.full(1, float(number))

    filled = engines._one_ahead(torch.from_numpy, blocks())
    seen = [(float(block), len(taken)) for block in filled]
    assert seen == [(0, 2), (1, 3), (2, 4), (3, 4)]


def test_the_root_of_a_gram_matrix():
    a = torch.tensor([[3.0, 4.0, 0.0], [0.0, 2.0, 1.0]], dtype=torch.float64)
    for rows in (a, a.mT):
        root = engines.root(rows, 0.25)
        assert root.shape == (2, len(rows))
        torch.testing.assert_close(root.mT @ root, 0.25 * rows @ rows.mT)
