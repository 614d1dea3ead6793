import matplotlib
import numpy as np
import pytest
import torch

import signalprop as sp
from signalprop.stats import exponent, mean_interval, slope
from signalprop.sweeps import Sweep

matplotlib.use("agg")


def make(width, **run):
    return sp.Chain(width, layers=[sp.RMSNorm()]).run(sp.inputs.gaussian_samples(3), 4, **run)


def test_each_point_is_a_run_of_its_own_stream():
    swept = sp.sweep(make, [8, 16], sp.orthogonality_gap, runs=3, seed=7)
    assert swept.values.shape == (3, 2)
    assert swept.at.tolist() == [8, 16]
    alone = sp.sweep(make, [16], sp.orthogonality_gap, runs=2, seed=7)
    np.testing.assert_allclose(alone.values[:, 0], swept.values[:2, 1], rtol=1e-9)
    path = make(8, runs=3, seed=sp.Stream(7).child("sweep", "8"))
    np.testing.assert_array_equal(swept.values[:, 0], sp.orthogonality_gap(path.final()))


def test_representations_of_any_network():
    def own(width, runs, seed):
        draws = [generator.standard_normal((2, width)) for generator in seed.runs(runs)]
        return np.stack(draws)

    def length(h):
        return torch.as_tensor(h).square().sum((1, 2))

    swept = sp.sweep(own, [50, 100, 200, 400], length, runs=10)
    assert swept.slope(level=1 - 1e-6).contains(1.0)
    assert swept.slope().half_width < 0.1


def test_statistics_are_those_of_the_values():
    values = np.random.default_rng(0).random((5, 3)) + 1
    swept = Sweep(values, np.array([1.0, 2.0, 4.0]), "gap")
    assert repr(swept.slope()) == repr(exponent(swept.at, values))
    assert repr(swept.slope(log=False, level=0.9)) == repr(slope(swept.at, values, level=0.9))
    assert repr(swept.mean_ci()) == repr(mean_interval(values))
    np.testing.assert_array_equal(swept.mean(), values.mean(0))
    frame = swept.to_frame()
    assert list(frame.columns) == ["run", "at", "gap"]
    np.testing.assert_allclose(frame.groupby("at")["gap"].mean(), values.mean(0))
    assert swept == Sweep(values.copy(), swept.at, "gap")
    assert swept != Sweep(values, swept.at, "rank")
    assert swept != Sweep(values, 2 * swept.at, "gap")
    assert swept != Sweep(values + 1, swept.at, "gap")
    assert swept != 3


def test_the_plot_shows_the_means():
    import matplotlib.pyplot as plt

    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    ax = Sweep(values, np.array([8.0, 16.0]), "gap").plot(plt.figure().gca())
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [2.0, 3.0])
    assert (ax.get_xscale(), ax.get_ylabel(), len(ax.collections)) == ("log", "gap", 1)
    assert len(Sweep(values[:1], np.array([8.0, 16.0]), "gap").plot().collections) == 1
    plt.close("all")


def test_bad_requests_are_named():
    for at in ([], [8, 8], [[8]], [np.nan]):
        with pytest.raises(ValueError, match="at must be"):
            sp.sweep(make, at, sp.rank)
    with pytest.raises(ValueError, match="runs must be at least 1"):
        sp.sweep(make, [8], sp.rank, runs=0)
    with pytest.raises(ValueError, match=r"for runs = 2 at 8 it gave shape \(2, 3, 3\)"):
        sp.sweep(make, [8], sp.gram, runs=2)


@pytest.mark.parametrize(
    ("unfit", "why"),
    [
        (lambda width: None, "unexpected keyword argument 'runs'"),
        (lambda width, runs: None, "unexpected keyword argument 'seed'"),
        (lambda runs, seed: None, "multiple values for argument 'runs'"),
        (lambda width, depth, **run: None, "missing a required argument: 'depth'"),
        (3, "not a callable object"),
    ],
)
def test_what_make_must_take_is_said_before_it_is_called(unfit, why):
    with pytest.raises(ValueError, match=rf"make must be .* of runs and seed, such as .*{why}"):
        sp.sweep(unfit, [8], sp.rank)
