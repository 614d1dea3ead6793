import numpy as np
import pytest
import torch
from torch import nn

from signalprop.metrics import (
    alignment_by_layer,
    gradient_alignment,
    gradient_norms,
    per_sample_gradients,
)
from signalprop.models import MLP, Stacked
from signalprop.training.scores import cross_entropy


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3)).double()


def test_norms_are_those_that_backward_leaves():
    model = network()
    x, labels = torch.randn(7, 5, dtype=torch.float64), torch.arange(7) % 3
    loss = nn.functional.cross_entropy(model(x), labels)
    norms = gradient_norms(model, loss)
    assert all(p.grad is None for p in model.parameters())
    loss.backward()
    assert list(norms) == ["0.weight", "2.weight"]
    assert norms["0.weight"] == pytest.approx(float(model[0].weight.grad.norm()))
    assert norms["2.weight"] == pytest.approx(float(model[2].weight.grad.norm()))


def test_unused_weights_have_gradient_zero():
    model = network()
    assert gradient_norms(model, model[0](torch.ones(1, 5).double()).sum())["2.weight"] == 0
    with pytest.raises(ValueError, match="scalar"):
        gradient_norms(model, model(torch.ones(1, 5).double()))


def test_per_sample_gradients_are_those_of_autograd():
    model = network()
    x, labels = torch.randn(4, 5, dtype=torch.float64), torch.tensor([0, 2, 1, 1])
    hidden = model[:2](x)
    outputs = model[2](hidden)
    (delta,) = torch.autograd.grad(
        nn.functional.cross_entropy(outputs, labels, reduction="sum"), outputs
    )
    gradients = per_sample_gradients(hidden.detach(), delta)
    for i in range(4):
        loss = nn.functional.cross_entropy(model(x[i : i + 1]), labels[i : i + 1])
        (expected,) = torch.autograd.grad(loss, model[2].weight)
        torch.testing.assert_close(gradients[:, i], expected)


def test_alignment_of_collinear_and_of_random_gradients():
    generator = np.random.default_rng(0)
    hidden = np.outer([1.0, 2.0, -3.0], generator.standard_normal(8))
    delta = generator.standard_normal((3, 2))
    np.testing.assert_allclose(gradient_alignment(per_sample_gradients(hidden, delta)), 1)
    random = generator.standard_normal((200, 1000))
    assert gradient_alignment(random) == pytest.approx(np.sqrt(2 / np.pi / 1000), rel=0.05)


def test_alignment_of_the_last_layer_is_that_of_its_neurons():
    model = network()
    x, labels = torch.randn(6, 5, dtype=torch.float64), torch.arange(6) % 3
    hidden = model[:2](x)
    outputs = model[2](hidden)
    losses = nn.functional.cross_entropy(outputs, labels, reduction="none")
    found = alignment_by_layer(model, losses)
    (delta,) = torch.autograd.grad(losses.sum(), outputs)
    expected = gradient_alignment(per_sample_gradients(hidden.detach(), delta))
    assert list(found) == ["0.weight", "2.weight"]
    assert found["2.weight"] == pytest.approx(float(expected.mean()), rel=1e-12)


def test_alignment_of_a_first_layer_is_that_of_its_inputs_where_a_unit_fires():
    """A neuron's gradient is its error times the input; a silent neuron has none."""
    model = network()
    x = torch.randn(6, 5, dtype=torch.float64)
    losses = model(x).square().sum(-1)
    unit = x / x.norm(dim=1, keepdim=True)
    cosines = (unit @ unit.T).abs()
    fires = (model[0](x) > 0).double().T
    pairs = (fires[:, :, None] * fires[:, None, :]).triu(diagonal=1)
    assert 0 < pairs.sum() < 6 * 15
    expected = float((pairs * cosines).sum() / pairs.sum())
    assert alignment_by_layer(model, losses)["0.weight"] == pytest.approx(expected, rel=1e-12)


def test_alignment_of_a_kernel_and_through_batch_norm():
    """A sample's loss depends on the whole batch, and so does its gradient."""
    torch.manual_seed(1)
    norm = nn.BatchNorm2d(4, track_running_stats=False)
    layers = nn.Conv2d(2, 4, 3), norm, nn.Tanh(), nn.Flatten(), nn.Linear(16, 3)
    model = nn.Sequential(*layers).double()
    x, labels = torch.randn(3, 2, 4, 4, dtype=torch.float64), torch.arange(3)
    losses = nn.functional.cross_entropy(model(x), labels, reduction="none")
    gradients = torch.func.jacrev(
        lambda kernel: nn.functional.cross_entropy(
            torch.func.functional_call(model, {"0.weight": kernel}, (x,)), labels, reduction="none"
        )
    )(model[0].weight.detach())
    expected = gradient_alignment(gradients.flatten(2).transpose(0, 1)).mean()
    found = alignment_by_layer(model, losses)
    assert list(found) == ["0.weight", "4.weight"]
    assert found["0.weight"] == pytest.approx(float(expected), rel=1e-9)


def test_alignment_is_nan_where_no_pair_has_gradients_and_needs_two_samples():
    layer = nn.Linear(2, 1, bias=False)
    losses = layer(torch.tensor([[1.0, 0.0], [0.0, 0.0]])).squeeze()
    assert np.isnan(alignment_by_layer(layer, losses)["weight"])
    with pytest.raises(ValueError, match=r"losses must be \(n,\) with n >= 2, got shape \(\)"):
        alignment_by_layer(layer, losses.sum())


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="must agree"):
        per_sample_gradients(np.ones((3, 2)), np.ones((4, 2)))


@pytest.mark.parametrize("bias", ["drawn", "none"])
def test_networks_side_by_side_have_a_norm_each_and_biases_none(bias):
    """Norms of one network do not depend on whether others stand beside it."""
    x, labels = torch.randn(7, 5), torch.arange(7) % 3
    together = MLP(5, 6, 2, 3, seeds=[3, 4], bias=bias)
    losses = cross_entropy(together(x), labels.expand(2, -1))
    norms, of_the_sum = (gradient_norms(together, loss) for loss in (losses, losses.sum()))
    assert list(norms) == ["hidden.0.0.weight", "hidden.1.0.weight", "head.weight"]
    for k, seed in enumerate([3, 4]):
        alone = MLP(5, 6, 2, 3, seeds=[seed], bias=bias)
        expected = gradient_norms(alone, cross_entropy(alone(x), labels[None]))
        for name, norm in norms.items():
            assert norm.shape == (2,)
            assert norm[k] == pytest.approx(float(expected[name][0]), rel=1e-5)
            assert of_the_sum[name][k] == norm[k]
    module = nn.Linear(5, 3)
    stacked = Stacked([module, module])
    norms = gradient_norms(stacked, stacked(x.expand(2, 7, 5)).square().sum((1, 2)))
    assert list(norms) == ["weight"]
    single = gradient_norms(module, module(x).square().sum())["weight"]
    assert norms["weight"] == pytest.approx([single, single])


def test_losses_without_weights():
    x, free = torch.ones(3, 2), torch.ones(3, requires_grad=True)
    assert gradient_norms(nn.ReLU(), free.sum()) == alignment_by_layer(nn.ReLU(), free) == {}
    for use in (
        lambda: gradient_norms(nn.Linear(2, 1), x.sum()),
        lambda: alignment_by_layer(nn.Linear(2, 1), x.sum(1)),
    ):
        with pytest.raises(ValueError, match="must be computed from the weights of module"):
            use()
