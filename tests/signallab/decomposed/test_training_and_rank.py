"""The three counts against the library's own, each with a decomposition of its own."""

import torch

import signalprop as sp
from signallab.decomposed.training_and_rank import COUNTS, ranks


def test_counts_are_those_of_the_library():
    generator = sp.Stream(0).torch()
    x = torch.randn(5, 40, 12, generator=generator)
    x[1] = x[1, :, :3] @ torch.randn(3, 12, generator=generator)
    x[2] *= 10.0 ** -torch.arange(12)
    x[3] *= 1e-15
    found = ranks(x, coarse=0.05)
    expected = [sp.rank(x).float(), sp.rank(x, rtol=0.05).float(), sp.rank_ratio(x)]
    torch.testing.assert_close(found, torch.stack(expected, dim=-1), rtol=1e-5, atol=0)
    assert found[1, 0] == 3
    assert len(COUNTS) == found.shape[-1]
