"""Networks of the figures by hand; where they start; the largest rate against real curvatures."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

import signalprop as sp
from signallab.conditioning import image_training as training
from signallab.conditioning import training_fully_connected as lab
from signalprop.limits import ntk
from signalprop.random import Stream

X = torch.randn(12, 3, 2, 2, generator=Stream(0).torch())
DATA = training.Data(X, torch.arange(12) % 10, X, torch.arange(12) % 10)


@pytest.mark.parametrize("method", list(lab.METHODS))
def test_networks_are_those_of_the_methods(method):
    net = lab.builder(DATA, 6, Stream(1))(method, 2, [0, 3])
    weights = [p.detach()[1].numpy() for n, p in net.named_parameters() if "weight" in n]
    assert [w.shape for w in weights] == [(6, 12), (6, 6), (10, 6)]
    h = X.flatten(1).numpy()
    for w in weights[:-1]:
        h = h @ w.T
        if method.endswith("norm"):
            axis = 0 if method == "batch norm" else 1
            spread = np.sqrt(h.var(axis, keepdims=True) + 1e-5)
            h = np.maximum((h - h.mean(axis, keepdims=True)) / spread, 0)
        elif method == "NormReLU":
            h = 1.05 * (np.maximum(h + 1.5975, 0) - 1.6209)
        else:
            h = torch.selu(torch.tensor(h)).numpy()
    np.testing.assert_allclose(net.features(X)[1].detach().numpy(), h, atol=2e-3)
    np.testing.assert_allclose(net(X)[1].detach().numpy(), h @ weights[-1].T, atol=5e-3)
    seen, logits = lab.at_head(net, X)
    assert torch.equal(seen, net.features(X))
    assert torch.equal(logits, net(X))


def test_methods_share_their_weights():
    one, other = (lab.builder(DATA, 6, Stream(1))(m, 2, [0]) for m in ("SELU", "layer norm"))
    assert torch.equal(one.head.weight, other.head.weight)


def test_networks_start_where_drawn_matrices_lead():
    found = lab.start(X, list(lab.METHODS), 400, [0, 3], Stream(2)).set_index(["method", "depth"])
    rng, h = np.random.default_rng(0), X.flatten(1).double().numpy()
    pairs = np.triu_indices(12, 1)

    def mean(h):
        u = h / np.linalg.norm(h, axis=1, keepdims=True)
        return (u @ u.T)[pairs].mean()

    for method in lab.METHODS:
        assert found.loc[(method, 0), "dot product"] == pytest.approx(mean(h))
    ends = []
    for _ in range(20):
        z = h
        for _ in range(3):
            z = z @ rng.normal(size=(400, z.shape[1])).T / np.sqrt(z.shape[1])
            z = np.maximum((z - z.mean(0)) / z.std(0), 0)
        ends.append(mean(z))
    measured = found.loc[("batch norm", 3), "dot product"]
    assert measured == pytest.approx(np.mean(ends), abs=6 * np.std(ends))
    assert np.isnan(found.loc[("batch norm", 3), "infinite width"])


def test_infinite_width_is_the_kernel_map_layer_by_layer():
    found = lab.start(X, ["NormReLU"], 50, [2], Stream(2)).set_index("method")
    pairs = np.triu_indices(12, 1)
    once = sp.KernelMap(sp.activations.norm_relu())
    expected = np.asarray(once(once(lab.gram(X)[pairs]))).mean()
    assert found.loc["NormReLU", "infinite width"] == pytest.approx(expected, abs=1e-9)


def test_largest_rate_is_two_over_the_curvature_of_a_wide_network():
    """With a head that starts at zero all classes are equally likely, and curvature is the
    kernel's."""
    width, depth, n = 256, 2, 6
    images = torch.randn(n, 3, 4, 4, generator=Stream(3).torch()).double()
    images *= (48 / images.square().sum((1, 2, 3), keepdim=True)).sqrt()
    gradients = []
    net = sp.MLP(48, width, depth, 1, [sp.activations.selu], weights=sp.gaussian(), bias="none",
                 dtype=torch.float64)  # fmt: skip
    parts = [p for name, p in net.named_parameters() if not name.startswith("hidden.0")]
    for x in images.flatten(1):
        each = torch.autograd.grad(net(x[None])[0, 0], parts)
        gradients.append(torch.cat([g.flatten() for g in each]))
    kernel = (torch.stack(gradients) @ torch.stack(gradients).T).numpy()
    top = np.linalg.eigvalsh(kernel)[-1] / n / 10
    # The first layer is one of three and is left out of the finite network.
    assert lab.largest_rate("SELU", depth, width, lab.gram(images)) == pytest.approx(
        2 / top, rel=0.6
    )
    assert lab.largest_rate("SELU", depth, width, lab.gram(images)) < 2 / top


def test_steps_descend_below_the_rate_and_not_far_above():
    found = lab.steps(DATA, "NormReLU", 8, [32], [0.25, 16.0], 10, Stream(4))
    below, above = found["after"]
    assert below < found["before"][0]
    assert not above < found["before"][1]
    assert found["rate"][1] == pytest.approx(64 * found["rate"][0])


def dots(first, last, accuracy=0.5):
    """Runs after epochs 1 and 6, in an order that is not theirs."""
    frames = [
        pd.DataFrame({"run": range(len(part)), "epoch": e, "dot product": part})
        for e, part in ((6, last), (1, first))
    ]
    path = pd.concat(frames).assign(inputs="raw", method="m")
    path["test accuracy"] = np.where(path["epoch"] == 1, 0.1, accuracy) + 0.01 * path["run"]
    return path.sample(frac=1, random_state=0)


def test_dots_fall_in_the_mean_of_pairs():
    """The interval of Student for differences 0.1, 0.2, 0.3 is 0.2 with 0.2484 to each side."""
    path = dots([0.5, 0.6, 0.9], [0.4, 0.4, 0.6])
    case = lab.dots_fall(path, "raw", "m", 1, 6)
    assert (case.left, case.right) == (0, pytest.approx(-0.0484, abs=1e-4))
    assert lab.decided(path, "raw", "m", 1, 6).left == pytest.approx(0.2484, abs=1e-4)
    assert lab.decided(path, "raw", "m", 1, 6).right == pytest.approx(0.2)

    surely = dots([0.5, 0.6, 0.9], [0.4, 0.49, 0.8])
    case = lab.dots_fall(surely, "raw", "m", 1, 6)
    assert case.left < case.right
    case = lab.dots_fall(surely, "raw", "m", 6, 1)
    assert case.left > case.right
    case = lab.dots_fall(surely, "raw", "m", 1, 6, mix=True)
    assert case.left > case.right


def test_moves_are_changes_with_their_intervals():
    path = dots([0.5, 0.6, 0.9], [0.4, 0.4, 0.6])
    rows = lab.moves(path, 1, 6)
    assert list(rows.columns) == ["inputs", "method", "change", "low", "high"]
    assert rows.iloc[0, :2].tolist() == ["raw", "m"]
    assert rows.iloc[0, 2:].tolist() == pytest.approx([-0.2, -0.4484, 0.0484], abs=1e-4)
    assert lab.moves(path, 6, 6).iloc[0, 2:].tolist() == [0, 0, 0]
    lost = lab.moves(dots([0.5, 0.6, 0.9], [0.4, 0.5, np.nan]), 1, 6)
    assert lost["change"].tolist() == pytest.approx([-0.1])
    assert lab.moves(dots([0.5, 0.6], [0.4, np.nan]), 1, 6).empty


def search(**accuracies):
    """Accuracies of methods by rate, on 900 images: five deviations of a guess are 0.05."""
    rows = [
        (name, 2, rate, x, np.nan if np.isnan(x) else 2.3)
        for name, of in accuracies.items()
        for rate, x in zip((3.0, 1.0, 0.3, 0.1), of, strict=True)
    ]
    columns = ["method", "depth", "rate", "accuracy", "loss"]
    return lab.Rates(pd.DataFrame(rows, columns=columns), 900)


def test_rates_that_a_method_stands_and_those_at_which_it_learns():
    rates = search(a=[np.nan, 0.149, 0.151, 0.4], b=[0.1, 0.14, 0.1, 0.149], NormReLU=[np.nan] * 4)
    assert (rates.stands["a", 2], rates.useful["a", 2]) == (1.0, 0.3)
    assert (rates.stands["b", 2], rates.useful["b", 2]) == (3.0, 0.0)
    assert (rates.stands["NormReLU", 2], rates.useful["NormReLU", 2]) == (0.0, 0.0)
    assert rates.words("a", rates.useful) == "up to 0.3 at depth 2"
    deeper = pd.concat([rates.useful, pd.Series({("a", 5): 0.0, ("a", 3): 1.0})])
    assert (
        rates.words("a", deeper) == "up to 0.3 at depth 2, at none at depth 5, up to 1 at depth 3"
    )
    for other, learns in (("a", True), ("b", False)):
        case = rates.learns(other, 2)
        assert (case.left <= case.right) == learns


def test_normalized_networks_stand_larger_rates_and_learn_at_them():
    normrelu = [np.nan, np.nan, np.nan, 0.4]
    rates = search(a=[0.1, 0.1, 0.3, 0.4], b=[0.1, 0.1, 0.1, 0.4], NormReLU=normrelu)
    for statement, other, sides in (
        (rates.smaller, "a", (0.4, 3.0)),
        (rates.larger, "a", (0.2, 0.3)),
        (rates.smaller, "b", (0.4, 3.0)),
        (rates.larger, "b", (0.2, 0.1)),
    ):
        case = statement(other, 2)
        assert (case.left, case.right) == pytest.approx(sides)


@pytest.mark.parametrize("depth", [1, 32, 64])
def test_the_spline_of_the_kernel_is_the_kernel(depth):
    cosines = lab.gram(X)
    exact = ntk(cosines, lab.ACTIVATIONS["NormReLU"], depth)
    rate = 20 / (50 * np.linalg.eigvalsh(exact)[-1] / len(exact))
    assert lab.largest_rate("NormReLU", depth, 50, cosines) == pytest.approx(rate, rel=3e-6)


def test_networks_that_have_not_learned_decide_nothing():
    case = lab.decided(dots([0.5, 0.6, 0.9], [0.4, 0.49, 0.8], 0.15), "raw", "m", 1, 6)
    assert (case.left, case.right) == (0.2, pytest.approx(0.16))
    path = dots([0.5, 0.6, 0.9], [0.4, 0.49, 0.8])
    path["test accuracy"] = 0.5 + np.where(path["epoch"] == 6, [0.1, 0, -0.1] * 2, 0)
    case = lab.decided(path, "raw", "m", 1, 6)
    assert case.left > case.right, "accuracy has to rise"


def test_the_level_is_that_of_the_dot_products():
    path = dots([0.5, 0.6, 0.9], [0.4, 0.49, 0.8])
    for level in (0.95, 0.99, 0.9999):
        case = lab.decided(path, "raw", "m", 1, 6, level=level)
        fall = stats.ttest_1samp([0.1, 0.11, 0.1], 0).confidence_interval(level)
        assert (case.left <= case.right) == (fall.low > 0)


def test_a_network_that_diverged_decides_nothing_and_does_not_fall():
    path = dots([0.5, 0.6, 0.9], [0.4, 0.49, np.nan])
    case = lab.decided(path, "raw", "m", 1, 6)
    assert case.left > case.right
    case = lab.dots_fall(path, "raw", "m", 1, 6)
    assert case.left > case.right


def test_means_of_both_kinds_of_images():
    path = pd.concat(
        [
            dots([0.5, 0.7], [0.4, 0.5]).assign(inputs="standardized"),
            dots([0.1, 0.3], [0.0, 0.2], accuracy=0.25).assign(inputs="unit length"),
        ]
    )
    assert lab.means(path, "m", 1, 6) == pytest.approx(
        {
            **{"one": 0.6, "end": 0.45, "right": 0.505},
            **{"one_unit": 0.2, "end_unit": 0.1, "right_unit": 0.255},
        }
    )
