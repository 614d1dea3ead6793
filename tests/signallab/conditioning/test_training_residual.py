"""Residual networks of the figures: kernels, parameters, augmentation, features, first steps."""

import pytest
import torch
from torch import nn

import signalprop as sp
from signallab.conditioning import image_training as training
from signallab.conditioning import training_residual as lab
from signalprop.random import Stream

X = torch.randn(12, 3, 8, 8, generator=Stream(0).torch())
DATA = training.Data(X, torch.arange(12) % 10, X, torch.arange(12) % 10)


def kernels(net):
    return [part.weight.detach() for part in net.modules() if isinstance(part, nn.Conv2d)]


@pytest.mark.parametrize(
    ("method", "factor", "fan"),
    [("NormReLU", 1, "out"), ("SELU", 1, "out"), ("batch norm", 2, "in"), ("layer norm", 2, "in")],
)
def test_kernels_have_the_variance_of_the_text(method, factor, fan):
    net = lab.network(method, 14, 16, Stream(1))
    for weight in kernels(net)[3:]:
        count = 9 * (weight.shape[0] if fan == "out" else weight.shape[1])
        assert float(weight.var()) == pytest.approx(factor / count, rel=0.15)
    assert float(net.head.weight.detach().var()) == pytest.approx(1 / 64, rel=0.15)


def test_activations_and_norms_are_those_of_the_methods():
    def kinds(method):
        return {type(part).__name__ for part in lab.network(method, 8, 4, Stream(1)).modules()}

    assert {"BatchNorm2d", "ReLU"} <= kinds("batch norm")
    assert {"GroupNorm", "ReLU"} <= kinds("layer norm")
    assert "NormReLU" in kinds("NormReLU")
    assert "ReLU" not in kinds("NormReLU")
    assert "SELU" in kinds("SELU")
    assert "ReLU" not in kinds("SELU")
    assert "ReLU" in kinds("Fixup")


def test_sizes_are_those_of_the_networks():
    found = lab.sizes([32]).set_index("method")["parameters"]
    net = lab.network("batch norm", 32, 16, Stream(0))
    assert found["batch norm"] == sum(p.numel() for p in net.parameters())
    assert found["batch norm"] == found["layer norm"]
    assert found["NormReLU"] == found["SELU"] == found["Fixup"] - 77


def test_at_its_head_is_what_each_network_sees_and_says():
    for method in ("NormReLU", "NormReLU, augmented"):
        model = lab.builder(4, Stream(2))(method, 8, [0, 3])
        x = X.expand(2, *X.shape)
        net = lab.network("NormReLU", 8, 4, Stream(2).child("weights", 3))
        seen, logits = lab.at_head(model.eval(), x)
        torch.testing.assert_close(seen[1], net.features(X))
        torch.testing.assert_close(logits, model(x))
        torch.testing.assert_close(model(x)[1], net(X))


def test_augmented_images_are_shifted_or_mirrored_and_only_in_training():
    torch.manual_seed(0)
    image = torch.arange(1.0, 17.0).reshape(1, 1, 4, 4)
    allowed = []
    for source in (image, image.flip(-1)):
        padded = torch.nn.functional.pad(source, (1, 1, 1, 1))
        allowed += [padded[..., i : i + 4, j : j + 4] for i in range(3) for j in range(3)]
    many = lab.augmented(image.expand(200, 1, 4, 4), 1)
    hits = [[torch.equal(part, one[0]) for one in allowed] for part in many]
    assert all(any(row) for row in hits)
    assert all(any(column) for column in zip(*hits, strict=True))
    model = lab.builder(4, Stream(2))("NormReLU, augmented", 8, [0])
    x = X[None]
    assert not torch.allclose(model.train()(x), model.eval()(x))


@torch.no_grad()
def test_lengths_are_those_after_each_block():
    found = lab.lengths(X, 8, 4, ["NormReLU"], Stream(3))
    net = lab.network("NormReLU", 8, 4, Stream(3))
    h = net.stem(X)
    for _, row in found.iterrows():
        if row["block"]:
            h = net.blocks[int(row["block"]) - 1](h)
        assert row["mean square"] == pytest.approx(float(h.square().mean()), rel=1e-5)
    assert found["block"].tolist() == [0, 1, 2, 3]
    expected = float(training.dots(h.flatten(1)))
    assert found["dot product"].iloc[-1] == pytest.approx(expected, abs=1e-5)


def test_first_steps_are_gradient_descent():
    found = lab.first_steps(DATA, "NormReLU", 8, 4, [0.02, 1e9], Stream(4))
    net = lab.network("NormReLU", 8, 4, Stream(4))
    descent = torch.optim.SGD(net.parameters(), lr=0.02)
    losses = []
    for _ in range(11):
        loss = nn.functional.cross_entropy(net(DATA.x), DATA.labels)
        losses.append(float(loss.detach()))
        descent.zero_grad()
        loss.backward()
        descent.step()
    assert found["before"][0] == pytest.approx(losses[0], rel=1e-5)
    assert found["after"][0] == pytest.approx(losses[10], rel=1e-3)
    assert found["after"].isna().tolist() == [False, True]


def test_methods_train_side_by_side():
    setting = lab.setting(
        DATA, 4, Stream(5), batch=6, epochs=2, drop_after=1, runs=2, validation=6, probe=12
    )
    plans = {(m, 8): 0.05 for m in (*lab.METHODS, "Fixup, augmented")}
    found = training.trained(setting, plans)
    assert len(found) == 6 * 2 * 3
    assert not found.isna().any().any()
    assert isinstance(setting.build("SELU", 8, [0]), sp.models.Stacked)
