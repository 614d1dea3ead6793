import math

import numpy as np
import pytest
import torch
from torch import nn

import signalprop as sp
from signalprop import layers

X = torch.randn(2, 6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 1


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (sp.BatchNorm(), layers.batch_norm(X)),
        (
            sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d", eps=0.1),
            layers.batch_norm(X, center=False, divide="norm", scale="1/sqrt d", eps=0.1),
        ),
        (sp.LayerNorm(eps=0.1), layers.layer_norm(X, eps=0.1)),
        (sp.RMSNorm(eps=0.1), layers.rms_norm(X, eps=0.1)),
        (sp.Recenter(), X - X.mean(1, keepdim=True)),
        (sp.FrobeniusNorm(), layers.frobenius_normalize(X)),
        (sp.Residual(sp.RMSNorm(), gamma=0.5), X + 0.5 * layers.rms_norm(X)),
    ],
)
def test_modules_call_the_functions(module, expected):
    torch.testing.assert_close(module(X), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("eps", [1e-12, 1e-5])
def test_channels_of_images_are_normalized_as_torch_does(eps):
    images = torch.randn(4, 3, 5, 6, generator=torch.Generator().manual_seed(0)).double() * 3 + 2
    reference = nn.BatchNorm2d(3, eps=eps, affine=False, dtype=torch.float64)(images)
    torch.testing.assert_close(sp.BatchNorm2d(eps=eps)(images), reference)
    with pytest.raises(ValueError, match=r"\(N, C, H, W\)"):
        sp.BatchNorm2d()(X)


def test_norm_relu_is_standardized_for_gaussian_input():
    x = torch.randn(10**6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    y = sp.NormReLU()(x)
    assert abs(float(y.mean())) < 6e-3
    assert float(y.square().mean()) == pytest.approx(1, abs=1e-2)
    assert float(sp.NormReLU(threshold=0.5)(torch.tensor(0.4))) == pytest.approx(
        float(sp.NormReLU(threshold=0.5)(torch.tensor(-3.0)))
    )


def test_modules_train_inside_a_torch_model():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(5, 8), sp.BatchNorm(eps=1e-5), sp.NormReLU(), sp.RMSNorm(), nn.Linear(8, 1)
    ).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(50):
        loss = (model(X[0]) - X[0, :, :1]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.1 * losses[0]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: sp.LayerNorm(64), r"LayerNorm reads .* off its input.*write LayerNorm\(\)"),
        (lambda: sp.RMSNorm([8, 8]), r"got RMSNorm\(\[8, 8\]\): write RMSNorm\(\)"),
        (lambda: sp.BatchNorm(64), r"write BatchNorm\(\).*by name"),
        (lambda: sp.BatchNorm2d(64, 1e-5), r"got BatchNorm2d\(64, 1e-05\): write BatchNorm2d\(\)"),
        (lambda: sp.Recenter(64), r"write Recenter\(\)"),
        (lambda: sp.FrobeniusNorm(64), r"write FrobeniusNorm\(\)"),
        (lambda: sp.NormReLU(0.5), r"write NormReLU\(threshold=0.5\)"),
        (lambda: sp.Residual(nn.Identity(), 0.5), r"write Residual\(branch, gamma=0.5\)"),
    ],
)
def test_what_torch_calls_otherwise_is_told_in_words(made, message):
    with pytest.raises(TypeError, match=message):
        made()


def test_options_are_shown():
    assert "divide='norm'" in repr(sp.BatchNorm(divide="norm"))


@pytest.mark.parametrize("layer", [sp.BatchNorm(), sp.LayerNorm(), sp.RMSNorm(), sp.Recenter()])
@pytest.mark.parametrize("x", [torch.ones(3, 2, dtype=torch.int64), np.ones((3, 2)), [[1.0]]])
def test_modules_refuse_what_is_no_floating_tensor(layer, x):
    with pytest.raises(ValueError, match="takes a floating tensor, got"):
        layer(x)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"divide": "var"}, "divide must be one of"), ({"scale": "1/n"}, "scale must be a number or")],
)
def test_batch_norm_refuses_unknown_options_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        sp.BatchNorm(**options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sp.BatchNorm(center=64), "center must be True or False, got 64"),
        (lambda: sp.BatchNorm(scale=math.nan), "scale must be a number"),
        (lambda: sp.BatchNorm(eps=True), "eps must be a finite number"),
        (lambda: sp.LayerNorm(eps=-1e-5), "eps must be a finite number, at least 0"),
        (lambda: sp.RMSNorm(eps="1e-5"), "eps must be a finite number"),
        (lambda: sp.Residual(sp.RMSNorm), "branch must be a module"),
        (lambda: sp.Residual(sp.RMSNorm(), gamma="1"), "gamma must be a finite number"),
        (lambda: layers.batch_norm(X, eps=math.nan), "eps must be a finite number"),
    ],
)
def test_options_are_typed(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("layer", [sp.BatchNorm(eps=1e-5), sp.Recenter()])
def test_images_are_not_normalized_over_their_height(layer):
    with pytest.raises(ValueError, match=r"dimension -2 .* take BatchNorm2d"):
        layer(torch.rand(4, 3, 5, 6))


@pytest.mark.parametrize(
    ("layer", "torchs"),
    [
        (sp.BatchNorm, nn.BatchNorm1d(5, affine=False)),
        (sp.LayerNorm, nn.LayerNorm(5, elementwise_affine=False)),
    ],
)
def test_dead_features_and_samples_are_an_error_or_torchs_zero_as_one_chooses(layer, torchs):
    x = torch.zeros(6, 5)
    with pytest.raises(ValueError, match=r"with eps=1e-5, say, they become 0"):
        layer()(x)
    assert torch.equal(layer(eps=1e-5)(x), torchs(x))


IMAGES = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(0))
TRACED = {
    "batch": (sp.BatchNorm(center=False, eps=1e-5), IMAGES[0, 0]),
    "batch, eps = 0": (sp.BatchNorm(), IMAGES[0, 0]),
    "images": (sp.BatchNorm2d(eps=1e-5), IMAGES),
    "layer": (sp.LayerNorm(eps=1e-5), IMAGES),
    "root mean square": (sp.RMSNorm(eps=1e-5), IMAGES),
    "Frobenius": (sp.FrobeniusNorm(), IMAGES[0, 0]),
    "recentring": (sp.Recenter(), IMAGES[0, 0]),
    "NormReLU": (sp.NormReLU(), IMAGES),
    "residual": (sp.Residual(sp.RMSNorm(eps=1e-5), gamma=0.5), IMAGES),
}


@pytest.mark.parametrize("name", TRACED)
def test_networks_with_these_layers_are_traced(name):
    layer, x = TRACED[name]
    traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Tanh(), layer))
    torch.testing.assert_close(traced(x), layer(torch.tanh(x)), rtol=0, atol=0)


@pytest.mark.slow
def test_networks_with_these_layers_compile_as_one_graph():
    layers = [sp.BatchNorm(eps=1e-5), sp.RMSNorm(eps=1e-5), sp.Recenter(), sp.NormReLU()]
    exact = [sp.Recenter(), sp.RMSNorm(), sp.FrobeniusNorm(), sp.BatchNorm(), sp.LayerNorm()]
    net = torch.nn.Sequential(*layers, sp.Residual(sp.LayerNorm(eps=1e-5)), *exact)
    compiled = torch.compile(net, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(IMAGES[0, 0]), net(IMAGES[0, 0]))


@pytest.mark.slow
@pytest.mark.parametrize("layer", [sp.BatchNorm(), sp.RMSNorm(), sp.FrobeniusNorm()])
def test_a_zero_vector_is_an_error_in_a_graph_too(layer):
    compiled = torch.compile(layer, fullgraph=True, backend="eager")
    with pytest.raises(RuntimeError, match="with eps=0 cannot divide"):
        compiled(torch.zeros(3, 4))
