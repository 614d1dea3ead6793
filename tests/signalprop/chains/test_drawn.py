"""Biases, widths that vary and branches: their numbers, their law, and the limits of theory."""

import numpy as np
import pytest
import torch

import signalprop as sp
from signalprop.chains import path as path_module
from signalprop.chains.drawn import Drawn
from signalprop.jacobians.replay import Replay

from ..two_sample import projected_ks_test

START = sp.inputs.gaussian_samples(3)


def attention(h, dense):
    q, k, v = dense(h), dense(h), dense(h)
    return dense(torch.softmax(q @ k.mT / h.shape[-1] ** 0.5, dim=-1) @ v)


def mlp(h, dense):
    return dense(torch.tanh(dense(h, 2 * h.shape[-1])), weights="he")


def two_heads(h, dense):
    q, k, v = (dense(h).unflatten(-1, (2, -1)).transpose(-3, -2) for _ in range(3))
    seen = torch.softmax(q @ k.mT, dim=-1) @ v
    return dense(seen.transpose(-3, -2).flatten(-2))


BLOCKS = sp.Chain(
    6, before=[sp.LayerNorm()], branch=[attention, mlp], residual=0.7, bias=sp.gaussian(0.1)
)
GENERAL = {
    "widths": sp.Chain(widths=[5, 2, 7, 4], layers=[torch.tanh]),
    "bias": sp.Chain(6, layers=[torch.tanh], bias=sp.uniform(0.2)),
    "blocks": BLOCKS,
    "heads": sp.Chain(6, branch=two_heads, layers=[sp.RMSNorm()]),
}


@pytest.mark.parametrize("engine", ["direct", "reduced"])
def test_equal_widths_in_a_list_are_one_width(engine):
    plain = sp.Chain(6, "he", [torch.tanh])
    general = sp.Chain(widths=[6] * 5, weights="he", layers=[torch.tanh])
    expected = plain.run(START, 5, runs=2, engine=engine).final()
    torch.testing.assert_close(general.run(START, runs=2, engine=engine).final(), expected)
    function = sp.Chain(widths=lambda layer: 6, weights="he", layers=[torch.tanh])
    torch.testing.assert_close(function.run(START, 5, runs=2, engine=engine).final(), expected)


@pytest.mark.parametrize("name", GENERAL)
@pytest.mark.parametrize("at_once", [1, 2**22])
def test_a_run_does_not_depend_on_the_others(monkeypatch, name, at_once):
    monkeypatch.setattr(path_module, "WEIGHTS_AT_ONCE", at_once)
    start = np.random.default_rng(0).standard_normal((3, 6))
    many, few = (GENERAL[name].run(start, 4, runs, engine="direct") for runs in (4, 2))
    torch.testing.assert_close(many.final()[:2], few.final(), rtol=0, atol=0)
    torch.testing.assert_close(few.final(), few.final(), rtol=0, atol=0)
    torch.testing.assert_close(Replay(few).final(), few.final())
    assert many.measure(sp.gram).values.shape == (4, 5, 3, 3)


def test_a_layer_is_the_printed_formula():
    x = np.random.default_rng(0).standard_normal((3, 4))
    net = sp.Chain(widths=[4, 4], before=[torch.tanh], residual=0.5, bias=sp.gaussian("3/d"))
    path = net.run(x, runs=2, seed=7)
    weights, biases = (sp.Stream(7).child(name).numpy(1) for name in ("weights", "biases"))
    h = x
    for _ in range(2):
        w, b = weights.standard_normal((4, 4)) / 2, biases.standard_normal(4) * (3 / 4) ** 0.5
        h = h + 0.5 * (np.tanh(h) @ w.T + b)
    np.testing.assert_allclose(path.final()[1], h, rtol=1e-12)


def test_the_weights_are_the_same_with_a_bias():
    bare, biased = (
        sp.Chain(6, bias=bias).run(START, 3, engine="direct") for bias in (None, "gaussian")
    )
    for one, other in zip(Replay(bare).forward(), Replay(biased).forward(), strict=True):
        torch.testing.assert_close(one.weight, other.weight, rtol=0, atol=0)
        assert one.matrices[0].bias is None
        assert other.matrices[0].bias.shape == (1, 6)


@pytest.mark.parametrize("name", ["bias", "blocks", "heads"])
def test_the_two_engines_have_one_law(name):
    x = np.random.default_rng(0).standard_normal((2, 6))

    def entries(engine):
        path = GENERAL[name].run(x, 2, 600, seed=sp.Stream(0).child(engine), engine=engine)
        return path.final().flatten(1).numpy()

    assert projected_ks_test(entries("direct"), entries("reduced")).p_value > 1e-6


def test_a_branch_draws_its_own_law():
    def signs(h, dense):
        return dense(h, weights=sp.rademacher(1.0))

    path = sp.Chain(16, branch=signs).run(START, 2)
    assert path.engine == "direct"
    (matrix,) = next(iter(Replay(path).forward())).matrices
    assert set(matrix.weight.unique().tolist()) == {-1.0, 1.0}
    with pytest.raises(ValueError, match="needs centered Gaussian"):
        sp.Chain(16, branch=signs).run(START, 2, engine="reduced").final()


@pytest.mark.parametrize("name", GENERAL)
def test_jacobians_and_gradients_are_those_of_reverse_mode(name):
    x = np.random.default_rng(1).standard_normal((3, 6))
    path = GENERAL[name].run(x, 4, runs=2, engine="direct")
    jacobian = sp.jacobian(path)
    norms = path.gradient_norms(lambda h: h.pow(3).sum((1, 2)))
    for run in range(2):
        steps = list(Replay(path, slice(run, run + 1)).forward())
        weights = [[m.weight.requires_grad_() for m in step.matrices] for step in steps]

        def network(start, steps=steps):
            h = start[None]
            for step in steps:
                each = iter([matrix.times for matrix in step.matrices])
                h = next(path.chain.steps(h, lambda a, *_, e=each: next(e)(a), step.number))
            return h

        whole = torch.autograd.functional.jacobian(network, path.start[run])
        whole = whole.reshape(jacobian.shape)
        torch.testing.assert_close(jacobian.matrix()[run], whole)
        found = jacobian.singular_values()[run]
        np.testing.assert_allclose(found, torch.linalg.svdvals(whole).detach(), atol=1e-12)
        loss = network(path.start[run]).pow(3).sum()
        for layer, matrices in enumerate(weights):
            gradients = torch.autograd.grad(loss, matrices, retain_graph=True)
            square = sum(float(g.square().sum()) for g in gradients)
            assert norms.values[run, layer] == pytest.approx(np.log(square) / 2, abs=1e-10)


def test_a_narrow_layer_leaves_few_directions():
    jacobian = sp.Chain(widths=[8, 2, 8]).jacobian(sp.inputs.gaussian_samples(1), runs=3)
    logs = jacobian.log_singular_values()
    assert logs.shape == (3, 8)
    assert (np.isfinite(logs) == [True] * 2 + [False] * 6).all()
    assert jacobian.growth().values.shape == (3, 4, 8)


def lengths(path):
    """Return the mean square of an entry, ``(runs, layers)``."""
    return path.measure(lambda h: h.square().mean((1, 2))).values


def test_lengths_with_biases_follow_the_mean_field_recursion():
    width, runs = 500, 60
    net = sp.Chain(width, sp.gaussian("1.7/d"), before=[torch.tanh], bias=sp.gaussian(0.3))
    values = lengths(net.run(sp.inputs.gaussian_samples(1), 12, runs))
    expected = sp.LengthMap(torch.tanh, 1.7, 0.3).iterate(1.0, 12)
    error = 6 * values.std(0) / runs**0.5 + 10 / width
    assert (np.abs(values.mean(0) - expected) < error + 1e-12).all()
    limit = sp.MeanField(torch.tanh, weight_variance=1.7, bias_variance=0.3).length
    assert abs(values.mean(0)[-1] - limit) < error[-1]
    without = sp.LengthMap(torch.tanh, 1.7, 0.0).iterate(1.0, 12)
    assert abs(values.mean(0)[-1] - without[-1]) > 3 * error[-1]


def test_gradients_with_biases_grow_by_chi():
    """Far down the mean squared singular value of one layer is chi (Poole et al. 2016)."""
    field = sp.MeanField(torch.tanh, weight_variance=2.5, bias_variance=0.2)
    width, runs = 100, 40
    x = np.full((1, width), field.length**0.5) * np.random.default_rng(0).choice([-1, 1], width)
    net = sp.Chain(width, sp.gaussian("2.5/d"), before=[torch.tanh], bias=sp.gaussian(0.2))
    two, one = (net.run(x, depth, runs, engine="direct") for depth in (7, 6))
    squares = [sp.jacobian(p).matrix().square().sum((1, 2)).numpy() for p in (two, one)]
    growth = np.log(squares[0]) - np.log(squares[1])
    error = 6 * growth.std() / runs**0.5 + 3 / width
    assert abs(growth.mean() - np.log(field.chi)) < error
    no_bias = sp.MeanField(torch.tanh, weight_variance=2.5, bias_variance=0.0).chi
    assert abs(growth.mean() - np.log(no_bias)) > error


def test_correlations_through_widths_that_vary_follow_the_kernel_map():
    phi = sp.activations.gelu.normalized()
    widths = [6000, 2000, 4000, 3000]
    net = sp.Chain(widths=widths, layers=[phi])
    path = net.run(sp.inputs.with_correlation(0.2), runs=40)
    assert path.engine == "reduced"
    found = path.measure(lambda h: sp.gram(h)[:, 0, 1] / h.shape[-1]).values[:, 1:]
    expected = sp.KernelMap(phi).iterate(0.2, 4)[1:]
    error = 6 * found.std(0) / 40**0.5 + 10 / min(widths)
    assert (np.abs(found.mean(0) - expected) < error).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "width must be a positive integer"),
        ({"width": 3, "widths": [3]}, "give width or widths, not both"),
        ({"widths": [3, 0]}, "widths must be a positive integer"),
        ({"widths": []}, "widths must be a list or a function"),
        ({"width": 3, "bias": 0.1}, r"bias must be a law.*sp\.gaussian\(0\.1\)"),
        ({"width": 3, "bias": "ones"}, "bias must be a Law or one of"),
        ({"width": 3, "branch": [torch.nn.ReLU]}, "branch must hold layers, got the class ReLU"),
        ({"width": 3, "branch": []}, "branch must be a function or a list"),
    ],
)
def test_bad_recipes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        sp.Chain(**options)


@pytest.mark.parametrize(
    ("options", "depth", "message"),
    [
        ({"widths": [3, 4]}, 3, "depth must be at most 2, as many as widths, got 3"),
        ({"width": 4}, None, "depth must be given"),
        ({"widths": lambda layer: 2.5}, 2, "widths at layer 1 must be a positive integer, got 2.5"),
        ({"widths": [4, 3], "residual": 1.0}, 2, "a residual chain has one width"),
        ({"width": 4, "branch": lambda h, dense: dense(h[0])}, 2, "keep the 2 runs"),
        ({"width": 4, "branch": lambda h, dense: dense(h, 0)}, 2, "width must be at least 1"),
    ],
)
def test_bad_runs_are_named(options, depth, message):
    with pytest.raises(ValueError, match=message):
        sp.Chain(**options).run(np.ones((3, 4)), depth, runs=2).final()


def test_layers_of_several_widths_stand_in_no_array():
    path = sp.Chain(widths=[3, 4]).run(START)
    assert path.states([2]).shape == (1, 1, 3, 4)
    with pytest.raises(ValueError, match=r"one width to stand in one array, got \[3, 4\]"):
        path.states([1, 2])


def test_reprs_say_what_was_given():
    assert repr(sp.Chain(4)) == "Chain(width=4)"
    said = repr(BLOCKS)
    assert "branch=[attention, mlp]" in said
    assert "before=[LayerNorm(eps=0.0)]" in said
    assert "weights" not in said


def test_a_reduced_product_is_the_law_of_all_rows_together():
    """Rows of several heads share their matrix: equal rows give equal products."""
    a = torch.ones(1, 2, 3, 4, dtype=torch.float64)
    product = Drawn(sp.gaussian(), None, sp.Stream(0).runs(1), [], "reduced")
    z = product(a, 5)
    torch.testing.assert_close(z, z[:, :1, :1].expand_as(z))


def test_a_branch_may_be_one_feature_wide_but_must_keep_its_runs():
    net = sp.Chain(4, branch=lambda h, dense: dense(dense(h, 1)))
    final = net.run(START, 1, runs=2).final()
    assert final.shape == (2, 3, 4)
    assert (sp.rank(final) == 1).all()
    flat = sp.Chain(4, branch=lambda h, dense: dense(h.flatten(0, 1)))
    with pytest.raises(ValueError, match="keep the 2 runs"):
        flat.run(START, 1, runs=2).final()
