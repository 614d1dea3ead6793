"""Averages of long chains: moments by definition, the same numbers after a kill, their errors."""

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.rank import long_chains as lab
from signallab.rank.soft_rank import one_layer
from signalprop.random import Stream


def test_moments_against_the_library():
    h = sp.BatchNorm(center=False)(sp.inputs.gaussian_samples(7)(5, 6, Stream(0)))
    found = dict(zip(lab.QUANTITIES, lab.moments(h).T, strict=True))
    m = sp.metrics.second_moment(h)
    diagonal, cube = sp.metrics.regularity_terms(h)
    expected = [sp.rank_ratio(h), sp.soft_rank(h, 0.5), m.square().sum((1, 2)), diagonal, cube]
    for name, values in zip(lab.QUANTITIES, expected, strict=True):
        np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("gamma", [0.3, np.inf])
def test_a_layer_is_the_formula(gamma):
    h = sp.BatchNorm(center=False)(sp.inputs.gaussian_samples(6)(4, 1, Stream(1)))
    w = torch.randn(4, 4, dtype=h.dtype)
    mine = next(lab.linear_chain(4, gamma).steps(h, lambda a: a @ w.mT))[0].numpy().T
    z = w.numpy() @ h[0].numpy().T
    expected = one_layer(h[0].numpy().T, w.numpy(), gamma) if np.isfinite(gamma) else z
    expected = expected / np.linalg.norm(expected, axis=1, keepdims=True) * np.sqrt(6)
    np.testing.assert_allclose(mine, expected, rtol=1e-12)


def test_averages_are_those_of_the_layers():
    """Recomputed layer by layer: the stretches after the first five, every other layer."""
    stream = Stream(3)
    frame = lab.stretches(3, 0.5, 100, 1, stream, every=2)
    h = sp.BatchNorm(center=False)(sp.inputs.gaussian_samples(3)(3, 1, stream.child("input")))
    chain, means = lab.linear_chain(3, 0.5), []
    for part in range(25):
        path = []
        for w in chain.law.sample(12, 3, stream.child(part).runs(1)).reshape(4, 1, 3, 3):
            h = one_layer(h[0].numpy().T, w[0].numpy(), 0.5).T
            path.append(h := torch.from_numpy(h)[None])
        means.append(float(sp.rank_ratio(torch.cat(path[1::2])).mean()))
    np.testing.assert_allclose(frame["r"], means[5:], rtol=1e-10)


def test_a_killed_run_goes_on_with_the_same_numbers(tmp_path):
    class Killed(Exception):
        pass

    def kill(name, done, of):
        if done == 9:
            raise Killed

    size = {"width": 4, "gamma": 0.2, "layers": 250, "runs": 2, "stream": Stream(4)}
    whole = lab.stretches(**size)
    with pytest.raises(Killed):
        lab.stretches(**size, folder=tmp_path, progress=kill)
    told = []
    again = lab.stretches(**size, folder=tmp_path, progress=lambda *news: told.append(news))
    assert told[0] == ("width 4, gamma 0.2", 10, 25)
    assert whole.equals(again)
    other = lab.stretches(**{**size, "gamma": 0.3}, folder=tmp_path)
    assert not np.allclose(other["r"], whole["r"])


def test_one_sample_is_a_chain_of_rank_one():
    """M is the matrix of signs, whatever the weights."""
    frame = lab.stretches(5, 1.0, 2500, 2, Stream(5), samples=1)
    np.testing.assert_allclose(frame["r"], 1, rtol=1e-12)
    np.testing.assert_allclose(frame["squared norm"], 25, rtol=1e-12)


def test_stretches_are_nearly_independent():
    """Their spread explains that of the runs: the ratio of the two is F distributed."""
    frame = lab.stretches(6, np.inf, 5000, 40, Stream(6))
    table = frame.pivot(index="run", columns="stretch", values="r").to_numpy()
    between = 20 * table.mean(axis=1).var(ddof=1)
    within = table.var(axis=1, ddof=1).mean()
    # with 39 and 760 degrees of freedom the ratio leaves (0.3, 2.6) with a chance below 1e-6
    assert 0.3 < between / within < 2.6


def test_too_few_layers():
    with pytest.raises(ValueError, match="layers must be at least 250"):
        lab.stretches(4, 1.0, 200, 1, Stream(0))


def test_regularity_is_a_ratio_of_means():
    frame = lab.stretches(6, np.inf, 1000, 3, Stream(7))
    numbers = lab.regularity(frame)
    ratio = frame["diagonal term"].mean() / frame["cube"].mean()
    assert numbers.mean() == pytest.approx(ratio, rel=1e-12)
    # leaving one stretch out moves the ratio as it moves the mean of the numbers
    rest = frame.drop(index=4)
    moved = rest["diagonal term"].mean() / rest["cube"].mean() - ratio
    assert moved == pytest.approx(np.delete(numbers, 4).mean() - ratio, rel=0.1)
