"""The ways of a layer give the same numbers, and the last of them knows its limit."""

import numpy as np
import pytest
import torch

from signalprop import activations as A
from signalprop.limits.networks import nngp, ntk
from signalprop.limits.pairs import (
    ClosedPairs,
    DirectPairs,
    EqualPairs,
    InterpolatedPairs,
    pairs_of,
)
from signalprop.limits.series_pairs import SeriesPairs
from signalprop.limits.unequal import closed_form
from signalprop.random import Stream

HARD_TANH = A.Activation("hard tanh", torch.nn.functional.hardtanh, (-1.0, 1.0))
LATE = A.Activation("late", lambda x: torch.relu(x - 3), (3.0,))
HARD_SWISH = A.Activation("hard swish", torch.nn.functional.hardswish, (-3.0, 3.0))


def all_pairs(pairs, rho):
    """The whole batch, in blocks of two rows."""
    n = rho.shape[-1]
    moments, slopes = torch.zeros(2, *rho.shape, dtype=torch.float64)
    for start in range(0, n, 2):
        stop = min(start + 2, n)
        block = pairs.block(start, stop, rho[..., start:stop, start:])
        moments[..., start:stop, start:], slopes[..., start:stop, start:] = block
    return moments.triu(), slopes.triu()


def batch(stds, seed=0):
    x = torch.from_numpy(Stream(seed).numpy().standard_normal((len(stds), 4)))
    x = x / x.norm(dim=-1, keepdim=True)
    return torch.as_tensor(stds, dtype=torch.float64), (x @ x.mT).clamp(-1, 1)


@pytest.mark.parametrize(
    ("phi", "stds", "way"),
    [
        (A.gelu, [0.5, 1.0, 2.0, 0.7, 1.1], ClosedPairs),
        (A.tanh, [1.0] * 5, EqualPairs),
        (HARD_TANH, [1.7] * 5, EqualPairs),
        (HARD_TANH, [2.0] * 5, EqualPairs),
        (A.tanh, [1.7] * 5, InterpolatedPairs),
        (A.selu, [0.5, 1.0, 0.0, 0.7, 1.1], InterpolatedPairs),
        (A.sigmoid, [0.2, 6.0, 0.0], InterpolatedPairs),
        (A.sigmoid, [0.0, 0.0], InterpolatedPairs),
        (HARD_TANH, [0.5, 1.0, 0.0, 0.7, 1.1], ClosedPairs),
        (HARD_SWISH, [0.5, 1.0, 2.0], DirectPairs),
        (LATE, [0.2, 1.0, 2.0], DirectPairs),  # 15 deviations from its kink: nothing but rounding
    ],
)
def test_ways_agree_with_the_quadrature(phi, stds, way):
    stds, rho = batch(stds)
    rho = torch.where(_outer_or(stds == 0), torch.eye(len(stds), dtype=torch.float64), rho)
    ours, direct = pairs_of(phi, stds, True), DirectPairs(phi, stds, True)
    assert isinstance(ours, way)
    torch.testing.assert_close(ours.squares, direct.squares, rtol=1e-12, atol=1e-14)
    for a, b in zip(all_pairs(ours, rho), all_pairs(direct, rho), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-11)


def test_equal_unit_lengths_of_a_series_are_left_to_its_map():
    """The map of a series takes them, as it keeps what is far below 1; for other lengths a form."""
    stds = torch.ones(2, dtype=torch.float64)
    assert isinstance(pairs_of(A.cube, stds, True), EqualPairs)
    assert isinstance(pairs_of(A.cube, 2 * stds, True), ClosedPairs)


def _outer_or(zero):
    return zero[:, None] | zero


def test_interpolants_are_the_closed_forms_at_two_hundred_inputs():
    stds, rho = batch(np.linspace(0.3, 2.0, 200))
    for phi in (A.gelu, A.erf, A.relu):
        closed = ClosedPairs(closed_form(phi), stds, True)
        ours = InterpolatedPairs(phi, stds, True)
        for a, b in zip(all_pairs(ours, rho), all_pairs(closed, rho), strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def test_nearly_parallel_pairs_beyond_what_is_affordable_are_refused_with_the_reason():
    stds = torch.linspace(0.5, 2.0, 300, dtype=torch.float64)
    layer = pairs_of(HARD_SWISH, stds, False)
    assert isinstance(layer, SeriesPairs)
    with pytest.raises(ValueError, match="hard swish is curved, with kinks elsewhere than at 0"):
        layer.block(0, 300, torch.full((300, 300), 0.99, dtype=torch.float64))
    assert isinstance(pairs_of(HARD_TANH, stds, True), ClosedPairs)


@pytest.mark.slow
def test_many_depths_are_one_pass_and_blocks_leave_no_trace(monkeypatch):
    stds, rho = batch([0.5, 1.0, 2.0])
    gram = rho * stds[:, None] * stds
    for kernel in (nngp, ntk):
        several = kernel(gram, A.tanh, [2, 0, 1, 2], 1.3, 0.1)
        assert several.shape == (4, 3, 3)
        assert torch.equal(several, several.mT)
        for depth, one in zip((2, 0, 1, 2), several, strict=True):
            torch.testing.assert_close(
                kernel(gram, A.tanh, depth, 1.3, 0.1), one, rtol=1e-14, atol=0
            )
        with monkeypatch.context() as small:
            small.setattr("signalprop.limits.networks.BLOCK", 4)
            blocks = kernel(gram, A.tanh, [2, 0, 1, 2], 1.3, 0.1)
        torch.testing.assert_close(blocks, several, rtol=1e-14, atol=0)
        both = kernel(torch.stack([gram, 2 * gram]), A.gelu, [1, 2])
        torch.testing.assert_close(both[:, 1], kernel(2 * gram, A.gelu, [1, 2]), rtol=1e-13, atol=0)


def test_depths_and_sizes_that_are_none():
    with pytest.raises(ValueError, match="depth must be at least 0"):
        nngp(np.eye(2), A.relu, [])
    with pytest.raises(ValueError, match="depth must be at least 0"):
        nngp(np.eye(2), A.relu, [1, -1])
    with pytest.raises(ValueError, match="beyond double precision"):
        nngp(1e4 * np.eye(2), A.exp, 1)
    with pytest.raises(ValueError, match="step has jumps"):
        ntk(np.eye(2) + 1, A.step, [1, 2])
    assert ntk(np.eye(2), A.step, 0).tolist() == np.eye(2).tolist()


def test_a_quadrature_for_each_pair_takes_batches_one_by_one():
    stds, rho = zip(*(batch([0.5, 1.0, 2.0, 0.7], seed) for seed in range(3)), strict=True)
    grams = torch.stack([s[:, None] * r * s for s, r in zip(stds, rho, strict=True)])
    together = nngp(grams, HARD_SWISH, 1)
    assert together.shape == (3, 4, 4)
    for one, gram in zip(together, grams, strict=True):
        torch.testing.assert_close(one, nngp(gram, HARD_SWISH, 1), rtol=1e-13, atol=0)


@pytest.mark.parametrize(("inputs", "way"), [(13, DirectPairs), (14, SeriesPairs)])
def test_a_hundred_pairs_take_a_quadrature_each(inputs, way):
    stds = torch.linspace(0.5, 2.0, inputs, dtype=torch.float64)
    assert isinstance(pairs_of(HARD_SWISH, stds, False), way)
