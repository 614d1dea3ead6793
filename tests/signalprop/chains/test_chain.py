"""The law and the numbers of a chain; what a path can be asked is in test_path."""

import math

import numpy as np
import pytest
import torch
from scipy.special import digamma

import signalprop as sp
from signalprop.stats import exponent

from ..two_sample import projected_ks_test

ORTH = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
RANK = sp.BatchNorm(center=False)

CHAINS = {
    "orth": (sp.Chain(8, layers=[ORTH]), 2),
    "square": (sp.Chain(8, layers=[ORTH]), 8),
    "more samples than features": (sp.Chain(6, layers=[sp.BatchNorm()]), 9),
    "residual": (sp.Chain(8, layers=[ORTH], residual=0.3), 3),
    "mean field": (sp.Chain(16, before=[sp.BatchNorm(), torch.tanh]), 4),
    "residual relu": (sp.Chain(16, layers=[sp.RMSNorm()], before=[torch.relu], residual=1.0), 3),
    "vanilla relu": (sp.Chain(12, sp.he(), layers=[torch.relu, sp.FrobeniusNorm()]), 3),
}


def final_entries(chain, n, engine, runs=600, depth=4):
    x = np.random.default_rng(0).standard_normal((n, chain.width))
    h = chain.run(x, depth, runs, seed=sp.Stream(0).child(engine), engine=engine).final()
    gram = sp.gram(h)[:, *torch.triu_indices(n, n)]
    return torch.cat([gram, h[:, :, :2].flatten(1)], dim=1).numpy()


@pytest.mark.parametrize(("chain", "n"), CHAINS.values(), ids=CHAINS)
def test_the_two_engines_have_one_law(chain, n):
    direct, reduced = (final_entries(chain, n, engine) for engine in ("direct", "reduced"))
    varies = direct.std(axis=0) > 1e-9  # some entries of a Gram matrix are fixed by normalization
    assert projected_ks_test(direct[:, varies], reduced[:, varies]).p_value > 1e-6


def test_that_comparison_sees_a_wrong_law():
    right = final_entries(sp.Chain(8, layers=[ORTH], residual=0.3), 3, "direct")
    wrong = final_entries(sp.Chain(8, layers=[ORTH], residual=0.45), 3, "reduced")
    assert projected_ks_test(right[:, 1:], wrong[:, 1:]).p_value < 1e-6


def test_one_layer_is_the_printed_formula():
    chain = sp.Chain(4, sp.uniform(), [ORTH], before=[torch.tanh], residual=0.7)
    x = np.random.default_rng(0).standard_normal((3, 4))
    generator = sp.Stream(5).child("weights").numpy(1)
    h = x.T  # the documents' d x n
    for _ in range(3):
        w = sp.uniform().sample(4, 4, [generator])[0].numpy()
        z = h + 0.7 * w @ np.tanh(h)
        h = np.diag(1 / np.linalg.norm(z, axis=1)) @ z / np.sqrt(4)
    path = chain.run(x, depth=3, runs=2, seed=5)
    np.testing.assert_allclose(path.final()[1], h.T, rtol=1e-12)


def test_gap_over_depth_is_that_of_orth_figure_2a():
    start = sp.inputs.diagonal([1.0, 1e-6, 1e-6, 1e-6])
    gap = sp.Chain(32, layers=[ORTH]).run(start, 50, runs=200).measure(sp.orthogonality_gap)
    log = gap.log().mean()
    assert log[1] == pytest.approx(-0.14, abs=0.05)
    assert log[26:].mean() == pytest.approx(-1.61, abs=0.08)


def test_stationary_gap_falls_as_the_root_of_the_width():
    widths = [32, 64, 128, 256]
    gaps = [
        sp.Chain(d, layers=[ORTH])
        .run(sp.inputs.orthogonal_samples(4), 100, runs=20)
        .average(sp.orthogonality_gap, skip=50)
        .value.mean()
        for d in widths
    ]
    assert exponent(widths, gaps).value == pytest.approx(-0.5, abs=0.05)


def test_soft_rank_is_that_of_rank_figure_2():
    path = sp.Chain(16, sp.uniform(), [RANK]).run(sp.inputs.gaussian_samples(16), 3000, runs=4)
    mean = path.average(sp.soft_rank, every=3).value.mean()
    assert math.log2(mean) == pytest.approx(2.20, abs=0.08)


@pytest.mark.parametrize("engine", ["direct", "reduced"])
def test_without_normalization_the_condition_number_grows_at_the_lyapunov_rate(engine):
    d, runs = 8, 400
    chain = sp.Chain(d, layers=[sp.FrobeniusNorm()])
    path = chain.run(sp.inputs.orthogonal_samples(2), 120, runs, engine=engine)
    growth = path.measure(sp.condition_number, every=5).between(30, 120).log()
    rate = growth.slope(level=1 - 1e-6)
    assert rate.contains(digamma(d / 2) - digamma((d - 1) / 2))
    assert rate.half_width < 0.2 * rate.value


def test_deep_chains_keep_a_small_singular_value():
    start = sp.inputs.diagonal([1.0, 1e-6])
    h = sp.Chain(64, layers=[sp.FrobeniusNorm()]).run(start, 1, runs=50).final()
    sigma = torch.linalg.svdvals(h)
    ratio = (sigma[:, 1] / sigma[:, 0]).log10()
    assert float((ratio + 6).abs().max()) < 0.5


@pytest.mark.parametrize("engine", ["direct", "reduced"])
def test_rank_one_is_absorbing_up_to_rounding(engine):
    x = np.outer([1.0, -0.7, 0.3], np.arange(1.0, 9.0))
    path = sp.Chain(8, layers=[ORTH]).run(x, 4, runs=5, engine=engine)
    # Rounding in the second direction grows with depth, by a heavy-tailed factor a layer.
    assert (path.measure(lambda h: sp.rank(h, rtol=1e-6)).values == 1).all()
    assert path.measure(sp.orthogonality_gap).values == pytest.approx(math.sqrt(2 / 3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width must be a positive integer"),
        ({"width": 2.0}, "width must be a positive integer"),
        ({"width": 2, "weights": "gauss"}, "weights must be a Law or one of"),
        ({"width": 2, "layers": ["relu"]}, "layers must hold functions"),
        ({"width": 2, "before": [None]}, "before must hold functions"),
        ({"width": 2, "residual": math.nan}, "residual must be None or a finite"),
    ],
)
def test_bad_recipes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        sp.Chain(**options)


@pytest.mark.parametrize(
    ("layers", "remedy"),
    [
        (sp.BatchNorm(), r"layers must be a list, got BatchNorm: write layers=\[\.\.\.\]"),
        (torch.relu, "layers must be a list"),
        ([sp.BatchNorm], r"got the class BatchNorm: make one of it, BatchNorm\(\)"),
        ([torch.nn.Dropout(0.1)], r"got Dropout: .* leave it out, or call \.eval\(\)"),
        ([torch.nn.Sequential(torch.nn.Dropout2d())], "got Dropout2d"),
        ([torch.nn.ReLU(inplace=True)], "got ReLU in place: make it with inplace=False"),
    ],
)
@pytest.mark.parametrize("where", ["layers", "before"])
def test_layers_that_a_chain_cannot_have_are_refused_with_the_remedy(layers, remedy, where):
    with pytest.raises(ValueError, match=remedy.replace("layers", where)):
        sp.Chain(4, **{where: layers})


def test_dropout_in_evaluation_is_no_dropout():
    sp.Chain(4, layers=[torch.nn.Dropout().eval()]).run(np.eye(4), 3).final()


@pytest.mark.parametrize("where", ["layers", "before"])
def test_functions_in_place_or_random_are_seen_when_they_run(where):
    x = np.ones((2, 4))
    with pytest.raises(ValueError, match="relu_ changes its input in place"):
        sp.Chain(4, **{where: [torch.relu_]}).run(x, 1).final()
    with pytest.raises(ValueError, match="must not be random"):
        sp.Chain(4, **{where: [torch.nn.functional.dropout]}).run(x, 1).final()


def test_modules_with_parameters_take_the_type_of_the_run():
    net = sp.Chain(4, layers=[torch.nn.LayerNorm(4)])
    with pytest.raises(ValueError, match=r"or run the chain with dtype=torch.float32"):
        net.run(np.eye(4), 2)
    assert net.run(np.eye(4), 2, dtype="float32").final().dtype == torch.float32


def test_gradients_are_refused_and_not_zero():
    chain, x = sp.Chain(4, layers=[torch.tanh]), torch.eye(4, dtype=torch.float64)

    def final(start):
        return chain.run(start, 2).final()

    for differentiate in (
        lambda: torch.autograd.functional.jacobian(final, x),
        lambda: torch.func.jacrev(final)(x),
        lambda: torch.func.jvp(final, (x,), (x,)),
    ):
        with pytest.raises(ValueError, match=r"x requires grad.*x\.detach\(\).*MLP"):
            differentiate()
    final(x.requires_grad_().detach())


def test_one_run_of_seed_zero_if_nothing_is_said():
    chain, start = sp.Chain(8, layers=[ORTH]), sp.inputs.gaussian_samples(3)
    said = chain.run(start, 2, runs=1, seed=0).final()
    torch.testing.assert_close(chain.run(start, 2).final(), said, rtol=0, atol=0)


def test_jacobian_is_that_of_the_run_with_weights():
    net = sp.Chain(5, layers=[torch.tanh])
    start = sp.inputs.gaussian_samples(2)
    found = net.jacobian(start, depth=3, runs=2, seed=4, dtype="float32")
    path = net.run(start, 3, 2, 4, engine="direct", dtype=torch.float32)
    assert found == sp.jacobian(path)
    assert found.shape == (10, 10)


def test_a_schedule_of_residual_strengths():
    start = sp.inputs.gaussian_samples(3)
    constant = sp.Chain(6, layers=[sp.RMSNorm()], residual=0.5).run(start, 4, engine="direct")
    function = sp.Chain(6, layers=[sp.RMSNorm()], residual=lambda layer: 0.5)
    torch.testing.assert_close(
        function.run(start, 4, engine="direct").final(), constant.final(), rtol=0, atol=0
    )
    falling = sp.Chain(6, residual=lambda layer: 1 / layer).run(start, 3, engine="direct")
    h = falling.start
    for step in sp.jacobians.replay.Replay(falling).forward():
        h = h + h @ step.weight.mT / step.number
    torch.testing.assert_close(falling.final(), h)
    for bad in (lambda layer: np.nan, lambda layer: None, lambda layer: "1"):
        with pytest.raises(ValueError, match="finite number at layer 1") as error:
            sp.Chain(6, residual=bad).run(start, 2).final()
        assert "in layer 1 of the chain" in error.value.__notes__


def test_a_law_of_ones_own():
    def signs(outputs, inputs, generator):
        return generator.choice([-1.0, 1.0], (outputs, inputs)) / np.sqrt(inputs)

    start = sp.inputs.gaussian_samples(3)
    path = sp.Chain(6, signs, [sp.RMSNorm()]).run(start, 4, runs=2)
    assert path.engine == "direct"
    (weight, *_) = (step.weight for step in sp.jacobians.replay.Replay(path).forward())
    np.testing.assert_allclose(weight.abs(), 6**-0.5)
    torch.testing.assert_close(path.final(), path.final(), rtol=0, atol=0)
    with pytest.raises(ValueError, match="needs centered Gaussian"):
        sp.Chain(6, signs).run(start, 1, engine="reduced")


def test_widths_biases_and_branches_are_no_plain_chain():
    assert sp.Chain(np.int64(4)).is_plain
    assert sp.Chain(1).run([[2.0]], 1).final().shape == (1, 1, 1)
    for options in ({"widths": [4, 2]}, {"width": 4, "bias": "gaussian"}):
        assert not sp.Chain(**options).is_plain
    assert not sp.Chain(4, branch=lambda h, dense: dense(h)).is_plain
    net = sp.Chain(widths=[4, 2, 3])
    assert [net.width_at(layer) for layer in (1, 2, 3)] == [4, 2, 3]
    assert sp.Chain(widths=lambda layer: 5 * layer).width_at(3) == 15
    assert (net.depth_of(None), net.depth_of(2), net.depth_of(3)) == (3, 2, 3)
    assert sp.Chain(4).depth_of(7) == 7
    for chain, depth, told in ((net, 4, "at most 3"), (sp.Chain(4), None, "must be given")):
        with pytest.raises(ValueError, match=told):
            chain.depth_of(depth)
    for options in ({"width": True}, {"widths": []}, {"widths": "34"}, {"widths": [3, 0]}):
        with pytest.raises(ValueError, match=r"widths? must be a"):
            sp.Chain(**options)
    with pytest.raises(ValueError, match="not both"):
        sp.Chain(4, widths=[4])


def test_branches_take_turns_from_the_first():
    def mark(number):
        return lambda h, dense: torch.full_like(dense(h), number)

    net = sp.Chain(2, branch=[mark(1.0), mark(2.0), mark(3.0)])
    values = net.run([[1.0, 1.0]], 5).states(range(1, 6))[0, :, 0, 0]
    assert values.tolist() == [1, 2, 3, 1, 2]


def test_a_residual_of_zero_leaves_the_input():
    for none in (0, 0.0, lambda layer: 0.0):
        path = sp.Chain(3, residual=none).run(np.eye(3), 2)
        np.testing.assert_array_equal(path.final()[0], np.eye(3))
    assert sp.Chain(3, residual=None).run(np.eye(3), 1).final().diagonal(dim1=1, dim2=2).max() != 1


def test_a_recipe_is_told_in_the_words_that_were_given():
    assert repr(sp.Chain(4)) == "Chain(width=4)"
    assert repr(sp.Chain(4, residual=0.5, before=[torch.tanh])) == (
        "Chain(width=4, before=[tanh], residual=0.5)"
    )
    assert repr(sp.Chain(widths=[4, 2], residual=1.0)) == "Chain(residual=1.0, widths=[4, 2])"
    assert repr(sp.Chain(4, sp.uniform())) == f"Chain(width=4, weights={sp.uniform()!r})"
    assert "layers=[relu, LayerNorm(" in repr(
        sp.Chain(4, layers=[sp.activations.relu, sp.LayerNorm()])
    )
