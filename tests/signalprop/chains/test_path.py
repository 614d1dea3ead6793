import numpy as np
import pytest
import torch

import signalprop as sp
from signalprop.chains import engines
from signalprop.chains import path as path_module

NET = sp.Chain(8, layers=[sp.BatchNorm(center=False)])
START = sp.inputs.gaussian_samples(3)


def test_asking_twice_gives_the_same_numbers():
    path = NET.run(START, 40, runs=3, seed=1)
    first = path.measure(sp.orthogonality_gap).values
    np.testing.assert_array_equal(path.measure(sp.orthogonality_gap).values, first)
    other = NET.run(START, 40, runs=3, seed=2).measure(sp.orthogonality_gap).values
    assert np.abs(other - first).min() > 0


@pytest.mark.parametrize("engine", ["direct", "reduced"])
def test_a_run_does_not_depend_on_its_company(monkeypatch, engine):
    def gaps(runs):
        path = NET.run(START, 20, runs, engine=engine)
        return path.measure(sp.orthogonality_gap).values

    five = gaps(5)
    np.testing.assert_allclose(gaps(2), five[:2], rtol=1e-9)
    together = NET.run(START, 20, 5, engine=engine).states([3, 20])
    monkeypatch.setattr(path_module, "WEIGHTS_AT_ONCE", 2 * 8 * 8)  # two runs at a time
    monkeypatch.setattr(path_module, "BLOCK", 1)
    monkeypatch.setattr(engines, "BLOCK", 200)
    np.testing.assert_allclose(gaps(5), five, rtol=1e-9)
    one_by_one = NET.run(START, 20, 5, engine=engine).states([3, 20])
    torch.testing.assert_close(one_by_one, together, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("engine", "at_once", "sizes"),
    [("direct", 2 * 8 * 20, [2, 2, 1]), ("reduced", 4 * 8 * 3, [4, 1]), ("direct", 1, 5 * [1])],
)
def test_as_many_runs_go_together_as_their_weights_fit(monkeypatch, engine, at_once, sizes):
    path = sp.Chain(8).run(np.ones((3, 20)), 2, runs=5, engine=engine)
    monkeypatch.setattr(path_module, "WEIGHTS_AT_ONCE", at_once)
    assert [len(range(5)[group]) for group in path._groups()] == sizes
    varying = sp.Chain(widths=[8, 2]).run(np.ones((3, 20)), runs=5, engine=engine)
    assert [len(range(5)[group]) for group in varying._groups()] == sizes, "by the widest"


def test_32_mb_of_weights_go_together():
    assert path_module.WEIGHTS_AT_ONCE * np.dtype(float).itemsize == 32 * 1024**2


def test_layers_wait_until_they_fill_a_block(monkeypatch):
    monkeypatch.setattr(path_module, "BLOCK", 3 * (2 * 3 * 8))
    blocks = NET.run(START, 10, runs=2)._states(slice(0, 2), range(11))
    assert [len(block) for block in blocks] == [3, 3, 3, 2]


def test_one_run_of_seed_zero_and_every_layer_if_nothing_is_said():
    path, said = NET.run(START, 40), NET.run(START, 40, runs=1, seed=0)
    torch.testing.assert_close(path.final(), said.final(), rtol=0, atol=0)
    blocks = path.average(sp.orthogonality_gap, batches=4).blocks
    every_layer = said.average(sp.orthogonality_gap, every=1, batches=4).blocks
    np.testing.assert_array_equal(blocks, every_layer)
    assert path.average(sp.orthogonality_gap).blocks.shape == (1, 20)
    assert path.average(sp.orthogonality_gap, batches=2).blocks.shape == (1, 2)
    with pytest.raises(ValueError, match="at most the 32 layers, got 33"):
        path.average(sp.orthogonality_gap, batches=33)  # those after a fifth of 40


def test_the_questions_agree_with_each_other():
    path = NET.run(START, 25, runs=3)
    every = path.measure(sp.orthogonality_gap)
    some = path.measure(sp.orthogonality_gap, every=4)
    assert every.layers.tolist() == list(range(26))
    assert some.layers.tolist() == [0, 4, 8, 12, 16, 20, 24]
    np.testing.assert_array_equal(some.values, every.values[:, ::4])
    states = path.states([0, 7, 25])
    gaps = sp.orthogonality_gap(states).numpy()
    np.testing.assert_allclose(gaps, every.values[:, [0, 7, 25]], rtol=1e-12)
    torch.testing.assert_close(path.final(), states[:, 2], rtol=0, atol=0)
    both = path.measure_many({"gap": sp.orthogonality_gap, "rank": sp.rank})
    np.testing.assert_array_equal(both["gap"].values, every.values)
    assert (both["rank"].values == 3).all()


@pytest.mark.parametrize(
    ("skip", "every", "batches"), [(0, 1, 5), (3, 1, 5), (4, 1, 5), (30, 3, 7), (None, 2, 10)]
)
def test_time_average_is_the_mean_of_the_blocks(monkeypatch, skip, every, batches):
    path = NET.run(START, 103, runs=3)
    layers = range(1 + (103 // 5 if skip is None else skip), 104)
    layers = [layer for layer in layers if layer % every == 0]
    size = len(layers) // batches
    values = path.measure(sp.orthogonality_gap).values[:, layers][:, -size * batches :]
    blocks = values.reshape(3, batches, size).mean(axis=2)
    monkeypatch.setattr(path_module, "BLOCK", 7 * 3 * 8)
    average = path.average(sp.orthogonality_gap, skip=skip, every=every, batches=batches)
    np.testing.assert_allclose(average.blocks, blocks, rtol=1e-12)


def test_time_average_of_a_tuple_of_terms():
    path = NET.run(START, 40, runs=2)
    terms = path.average(sp.metrics.regularity_terms, batches=4)
    assert terms.value.shape == (2, 2)
    assert (terms.value[:, 0] <= terms.value[:, 1]).all()  # alpha is at most 1


def test_the_input_may_have_another_width():
    x = np.random.default_rng(0).standard_normal((3, 20))
    path = sp.Chain(8, layers=[sp.RMSNorm()]).run(x, 4, runs=2)
    assert path.measure(sp.rank).values.tolist() == [[3] * 5] * 2
    assert path.final().shape == (2, 3, 8)
    w = sp.gaussian().sample(8, 20, [sp.Stream(0).child("weights").numpy(1)])[0]
    direct = sp.Chain(8).run(x, 1, runs=2, engine="direct").final()
    torch.testing.assert_close(direct[1], torch.from_numpy(x) @ w.T)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (1, 1)])
def test_small_shapes(shape):
    chain = sp.Chain(shape[1], layers=[sp.FrobeniusNorm()])
    for engine in ("direct", "reduced"):
        path = chain.run(np.ones(shape), 5, runs=2, engine=engine)
        np.testing.assert_allclose(path.final().square().sum((1, 2)), 1)


def test_depth_zero_is_the_input():
    x = np.random.default_rng(0).standard_normal((2, 3, 8))
    path = NET.run(x, 0, runs=2)
    np.testing.assert_array_equal(path.final(), x)
    assert path.measure(sp.rank).values.tolist() == [[3], [3]]


def test_kinds():
    path = NET.run(np.arange(16).reshape(2, 8), 3, dtype=torch.float32)
    assert path.final().dtype == torch.float32
    double = NET.run(np.arange(16).reshape(2, 8), 3).final()
    torch.testing.assert_close(path.final().double(), double, rtol=1e-3, atol=1e-4)
    assert path.engine == "reduced"
    assert sp.Chain(8, sp.uniform()).run(START, 1).engine == "direct"
    assert NET.run(sp.inputs.gaussian_samples(5), 1).engine == "direct"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_devices_see_the_same_weights():
    for engine in ("direct", "reduced"):
        cpu = NET.run(START, 5, runs=2, engine=engine).final()
        gpu = NET.run(START, 5, runs=2, engine=engine, device="cuda").final()
        torch.testing.assert_close(gpu.cpu(), cpu)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": -1}, "depth must be"),
        ({"runs": 0}, "runs >= 1"),
        ({"engine": "fast"}, "engine must be one of auto, direct, reduced"),
        ({"x": np.ones(8)}, r"x must be \(n, d\)"),
        ({"x": np.ones((3, 2, 8)), "runs": 2}, "runs = 2"),
        ({"x": np.full((2, 8), np.nan)}, "x must be finite"),
        ({"dtype": torch.int64}, "dtype must be a floating type"),
        ({"seed": 1.5}, "seed must be an integer"),
    ],
)
def test_bad_requests_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        NET.run(**({"x": START, "depth": 2} | options))


def test_requests_that_do_not_fit_the_recipe_are_refused():
    for law in (sp.uniform(), sp.orthogonal(), sp.gaussian(mean=0.1)):
        with pytest.raises(ValueError, match=r"reduced.*needs centered Gaussian"):
            sp.Chain(8, law).run(START, 1, engine="reduced")
    with pytest.raises(ValueError, match="width 8 of a residual chain"):
        sp.Chain(8, residual=1.0).run(np.ones((2, 5)), 1)


def test_bad_questions_are_named():
    path = NET.run(START, 10, runs=2)
    with pytest.raises(ValueError, match="every must be"):
        path.measure(sp.rank, every=0)
    for batches in (20, 1):
        with pytest.raises(ValueError, match="batches must be at least 2"):
            path.average(sp.rank, batches=batches)
    for layers in ([], [3, 2], [11], [-1], [1, 1]):
        with pytest.raises(ValueError, match="layers must be increasing"):
            path.states(layers)
    for metric in (lambda h: h.sum(), lambda h: h.sum((1, 2))[:-1]):
        with pytest.raises(ValueError, match=r"metric must map \(m, n, d\)"):
            path.measure(metric)
    other = sp.Chain(4).run(np.ones((3, 6)), 2)
    with pytest.raises(ValueError, match=r"one width to stand in one array, got \[6, 4\]"):
        other.states([0, 2])


def test_inputs_with_gradients_and_random_layers_are_refused():
    x = torch.eye(4, dtype=torch.float64)
    for refused in (
        lambda: sp.Chain(4).run(x.clone().requires_grad_(), 1),
        lambda: torch.func.jacrev(lambda start: sp.Chain(4).run(start, 1).final())(x),
    ):
        with pytest.raises(ValueError, match="x requires grad"):
            refused()
    for empty in ((0, 4), (3, 0), (1, 0, 4)):
        with pytest.raises(ValueError, match=r"x must be \(n, d\)"):
            sp.Chain(4).run(np.ones(empty), 1)
    with pytest.raises(ValueError, match="must not be random"):
        sp.Chain(4, layers=[torch.nn.functional.dropout]).run(x, 1).final()


def test_trouble_is_located():
    with pytest.raises(ValueError, match="no longer finite") as overflow:
        sp.Chain(4, sp.gaussian(1e6)).run(np.eye(2, 4), 1000).final()
    assert "FrobeniusNorm" in str(overflow.value)
    dead = sp.Chain(4, layers=[lambda h: h.clamp_max(0), sp.BatchNorm(center=False)])
    with pytest.raises(ValueError, match="batch norm with eps=0") as zero:
        dead.run(np.ones((1, 4)), 50).final()
    assert "of the chain" in zero.value.__notes__[0]


def test_gradient_norms_are_those_of_the_jacobians():
    path = sp.Chain(8, layers=[torch.tanh]).run(START, 3, runs=2, engine="direct")

    def loss(h):
        return h.square().sum((1, 2))

    assert path.gradient_norms(loss) == sp.jacobians.log_gradient_norms(path, loss)


def test_a_path_says_what_it_is_and_equals_its_like():
    path = NET.run(np.ones((2, 8)), 3, runs=2, seed=5)
    assert repr(path).startswith("Path(2 runs of 3 layers from (2, 8), engine='reduced'")
    assert path == NET.run(np.ones((2, 8)), 3, runs=2, seed=5)
    for other in ({"depth": 4}, {"seed": 6}, {"engine": "direct"}, {"x": np.eye(2, 8)}):
        given = {"x": np.ones((2, 8)), "depth": 3, "runs": 2, "seed": 5} | other
        assert path != NET.run(**given)
    assert path != 3


def test_types_and_devices_by_name():
    assert NET.run(START, 1, dtype="float32").final().dtype == torch.float32
    for dtype in ("int64", "real", torch.int32, None):
        with pytest.raises(ValueError, match=r"dtype must be a floating type such as torch"):
            NET.run(START, 1, dtype=dtype)
    with pytest.raises(ValueError, match="device must be one that torch knows"):
        NET.run(START, 1, device="abacus")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="torch sees no CUDA device"):
            NET.run(START, 1, device="cuda")


def test_the_engine_is_chosen_by_the_narrowest_layer():
    """The reduced one draws n^2 numbers a layer for n d of the direct one: not where d < 2n."""
    batch = np.ones((3, 40))
    assert sp.Chain(widths=[40, 40, 4]).run(batch, 3).engine == "direct"
    assert sp.Chain(widths=[40, 40, 8]).run(batch, 3).engine == "reduced"
    assert sp.Chain(widths=[4, 40, 40]).run(batch, 3).engine == "direct"
    branch = sp.Chain(40, branch=lambda h, dense: dense(h))
    assert branch.run(batch, 3).engine == "direct"
    assert branch.run(batch, 3, engine="reduced").engine == "reduced"
