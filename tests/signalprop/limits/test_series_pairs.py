"""Hermite series of many lengths: against a quadrature for each pair, and length by length."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from signalprop import activations as A
from signalprop.limits import series_pairs
from signalprop.limits.expansions import hermite_coefficients
from signalprop.limits.pairs import DirectPairs
from signalprop.limits.series_pairs import SeriesPairs, coefficients
from signalprop.random import Stream

HARD_SWISH = A.Activation("hard swish", torch.nn.functional.hardswish, (-3.0, 3.0))


def batch():
    """Forty inputs: one of length 0, one pair nearly parallel."""
    stds = torch.tensor([0.0, 0.5, 1.0, *np.linspace(0.3, 6.0, 37)], dtype=torch.float64)
    x = torch.from_numpy(Stream(0).numpy().standard_normal((40, 4)))
    x = x / x.norm(dim=-1, keepdim=True)
    rho = (x @ x.mT).clamp(-1, 1)
    rho[1, 2] = rho[2, 1] = 0.97
    rho[0, 1:] = rho[1:, 0] = 0.0
    return stds, rho.fill_diagonal_(1.0)


@pytest.mark.parametrize("phi", [HARD_SWISH, A.relu, A.tanh], ids=lambda phi: phi.name)
def test_series_are_the_quadrature(phi):
    stds, rho = batch()
    few = [0, 1, 2, 17, 39]
    moments, slopes = SeriesPairs(phi, stds, True, "").block(0, 40, rho)
    direct = DirectPairs(phi, stds[few], True).block(0, 5, rho[few][:, few])
    for ours, theirs in zip((moments, slopes), direct, strict=True):
        assert torch.equal(ours, ours.mT)
        torch.testing.assert_close(ours[few][:, few], theirs, rtol=1e-11, atol=1e-11)
    upper = SeriesPairs(phi, stds, False, "").block(10, 20, rho[10:20, 10:])
    torch.testing.assert_close(upper[0], moments[10:20, 10:], rtol=1e-11, atol=1e-11)
    assert upper[1] is None


def test_coefficients_are_those_of_each_length():
    stds = torch.linspace(0.4, 1.5, 60, dtype=torch.float64)
    ours = coefficients(HARD_SWISH, HARD_SWISH, stds, 32)
    for at in (0, 31, 59):
        one = hermite_coefficients(HARD_SWISH.gained(float(stds[at])), 31)
        np.testing.assert_allclose(ours[at], one, atol=1e-12)


def test_long_inputs_see_both_kinks_close_together():
    stds = torch.tensor([1.0, 300.0], dtype=torch.float64)
    ours = coefficients(HARD_SWISH, HARD_SWISH, stds, 8)[1]
    one = hermite_coefficients(HARD_SWISH.gained(300.0), 7)
    np.testing.assert_allclose(ours, one, rtol=1e-11, atol=1e-11)
    slopes = SeriesPairs(HARD_SWISH, stds, True, "").diagonals[1]
    for std, slope in zip(stds.tolist(), slopes.tolist(), strict=True):
        law = stats.norm(scale=std)
        between = integrate.quad(lambda x, law=law: ((2 * x + 3) / 6) ** 2 * law.pdf(x), -3, 3)[0]
        assert slope == pytest.approx(law.sf(3) + between, rel=1e-12)


def test_nearly_parallel_pairs_are_counted_over_all_blocks(monkeypatch):
    monkeypatch.setattr(series_pairs, "AFFORDABLE", 1)
    stds = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    one = torch.eye(3, dtype=torch.float64)
    one[0, 2] = one[2, 0] = -0.96
    two = one.clone()
    two[0, 1] = two[1, 0] = 0.96
    layer = SeriesPairs(HARD_SWISH, stds, False, "is an example")
    layer.block(0, 3, one)
    for spent, rho in ((layer, one), (SeriesPairs(HARD_SWISH, stds, False, "is an example"), two)):
        with pytest.raises(ValueError, match="hard swish is an example: inputs of unequal lengths"):
            spent.block(0, 3, rho)
    moments, slopes = SeriesPairs(HARD_SWISH, stds, True, "").block(0, 3, one)  # one for each
    assert torch.equal(moments, moments.mT)
    assert torch.equal(slopes, slopes.mT)


def test_inputs_of_no_length_are_constants():
    layer = SeriesPairs(A.sigmoid, torch.zeros(2, dtype=torch.float64), True, "")
    moments, slopes = layer.block(0, 2, torch.eye(2, dtype=torch.float64))
    torch.testing.assert_close(moments, torch.full_like(moments, 1 / 4))
    torch.testing.assert_close(slopes, torch.full_like(slopes, 1 / 16))
