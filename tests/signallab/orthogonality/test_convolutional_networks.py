"""Convolutional networks: the starts by hand, gradients, and what counts as an explosion."""

import numpy as np
import pytest
import torch
from torch import nn

import signalprop as sp
from signallab.orthogonality import convolutional_networks as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def setting():
    """Forty random images of eight pixels, two runs."""
    x = torch.rand(40, 3, 16, 16, generator=Stream(0).torch())
    labels = torch.arange(40) % 10
    return lab.Setting(
        x, labels, (4, 6, 6), (8,), Stream(1), batch=10, init_batch=30, rate=0.05, epochs=2,
        runs=2, probe=20, records=2,
    )  # fmt: skip


def convolutions(net):
    return [layer for layer in net if isinstance(layer, nn.Conv2d)]


def test_starts_change_the_square_convolutions_only(setting):
    plain = lab.network(setting, 7, "Xavier", run=1)
    for start in list(lab.STARTS)[1:]:
        other = lab.network(setting, 7, start, run=1)
        for a, b in zip(convolutions(plain), convolutions(other), strict=True):
            assert torch.equal(a.weight, b.weight) == (a.in_channels != a.out_channels)


def by_hand(rows, channels, start):
    """The weight as a matrix, from the eigenvectors of the patches' Gram matrix."""
    v, s, ut = np.linalg.svd(rows, full_matrices=False)
    kept = s > len(rows) * np.finfo(np.float32).eps * s[0]  # the others have no inverse
    left = v[:channels]
    if "polar" in start:
        values, vectors = np.linalg.eigh(left @ left.T)
        left = vectors @ np.diag(values**-0.5) @ vectors.T @ left
    power = 1.0 if "power" in start else 0.5
    weight = left @ np.diag(np.where(kept, s, np.inf) ** -power) @ ut
    measured = np.linalg.norm(rows @ weight.T)
    return weight / (
        measured if "measured" in start else np.sqrt((s[kept] ** (2 - 2 * power)).sum())
    )


@pytest.mark.parametrize("start", list(lab.STARTS)[1:])
def test_each_start_is_its_formula(setting, start):
    net = lab.network(setting, 6, start, run=0).eval()
    place, layer = next(
        (i, m) for i, m in enumerate(net) if isinstance(m, nn.Conv2d) and m.in_channels == 6
    )
    with torch.no_grad():
        h = net[:place](setting.images[:30])
    rows = sp.models.unfold_rows(h, 3, 1).double().numpy()
    expected = by_hand(rows, 6, start)
    found = layer.weight.detach().flatten(1).double().numpy()
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


def test_the_ratio_is_that_of_autograd(setting):
    found = lab.before_training(setting, [6], ["Xavier"])
    net = lab.network(setting, 6, "Xavier", run=1).eval()
    loss = nn.functional.cross_entropy(net(setting.images[-10:]), setting.labels[-10:])
    loss.backward()
    ratios = [float(p.grad.norm() / p.detach().norm()) for p in net.parameters() if p.ndim > 1]
    row = found[found["run"] == 1].iloc[0]
    assert row["largest gradient / weight"] == pytest.approx(max(ratios), rel=1e-4)
    features = net[:-1](setting.images[-10:])
    assert features.shape[0] == 10
    assert 0 < row["gap"] < 1


def test_norms_agree_with_the_spectrum_for_one_kind_and_shrink_for_the_other(setting):
    printed, measured = lab.norms(setting, "polar", channels=4)
    assert measured < printed
    same, slice_norm = lab.norms(setting, "slice", channels=4)
    assert same == pytest.approx(printed, rel=1e-6)
    assert slice_norm < measured


def test_training_records_as_often_as_asked_and_an_explosion_stays(setting):
    found = lab.trained(setting, [6], ["Xavier"])
    assert sorted(found["epoch"].unique()) == [0, 1, 2]
    assert np.isfinite(found["loss"]).all()
    wild = lab.Setting(**{**vars(setting), "rate": 1e3, "epochs": 3, "records": 3})
    gone = lab.trained(wild, [6], ["Xavier", "slice, measured norm"])
    ends = lab.at_the_end(gone)["loss"]
    assert len(ends) == 2 * 2  # also where a whole group stopped before the last epoch
    first = gone[gone["epoch"] == 0]["loss"]
    assert np.isfinite(first).all()
    assert np.isinf(ends).all()


def test_unknown_starts_are_named(setting):
    with pytest.raises(ValueError, match="start must be one of Xavier; slice"):
        lab.network(setting, 6, "Eq. 6", 0)
