import numpy as np
import pytest
import torch
from scipy.special import digamma

import signalprop as sp
from signalprop.jacobians import PathJacobian, paths
from signalprop.jacobians.replay import Replay

START = sp.inputs.gaussian_samples(2)
NET = sp.Chain(5, layers=[sp.BatchNorm(center=False), torch.tanh])


def by_autograd(path, run):
    steps = list(Replay(path, slice(run, run + 1)).forward())

    def network(x):
        h = x[None]
        for step in steps:
            h = next(path.chain.steps(h, lambda a, w=step.weight: a @ w.mT))
        return h.flatten()

    return torch.autograd.functional.jacobian(network, path.start[run]).flatten(1)


@pytest.mark.parametrize("at_once", [1, 2**22])
def test_the_matrix_is_that_of_reverse_mode(monkeypatch, at_once):
    monkeypatch.setattr(paths, "ENTRIES_AT_ONCE", at_once)
    path = NET.run(START, 4, runs=3, engine="direct")
    jacobian = PathJacobian(path)
    assert jacobian.shape == (10, 10)
    for run in range(3):
        torch.testing.assert_close(jacobian.matrix()[run], by_autograd(path, run))
    expected = torch.linalg.svdvals(jacobian.matrix())
    np.testing.assert_allclose(jacobian.singular_values(), expected, rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(jacobian.singular_values(3), expected[:, :3], rtol=1e-10)


@pytest.mark.parametrize(
    ("inputs", "threads"), [(5, 1), pytest.param(70, 2, marks=pytest.mark.slow)]
)
def test_small_layers_are_replayed_on_one_thread(inputs, threads):
    """Two threads that wait for each other at each layer take a hundredfold on a busy machine."""
    seen, before = set(), torch.get_num_threads()

    def noted(h):
        seen.add(torch.get_num_threads())
        return h

    jacobian = sp.Chain(inputs, layers=[noted]).jacobian(np.eye(1, inputs), 1)
    torch.set_num_threads(2)
    try:
        seen.clear()
        jacobian.singular_values()
        assert seen == {threads}
        seen.clear()
        jacobian.growth()
        assert seen == {threads}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_what_the_normalization_takes_away_is_zero():
    logs = PathJacobian(NET.run(START, 4, engine="direct")).log_singular_values()
    assert np.isneginf(logs).sum() == 5  # the scale of each feature, in the last layer


@pytest.mark.parametrize(("width", "inputs"), [(3, 7), (7, 3)])
def test_other_widths_of_the_input(width, inputs):
    x = np.random.default_rng(0).standard_normal((1, inputs))
    path = sp.Chain(width).run(x, 3, runs=2, engine="direct")
    jacobian = PathJacobian(path)
    assert jacobian.shape == (width, inputs)
    torch.testing.assert_close(jacobian.matrix()[1], by_autograd(path, 1))
    expected = torch.linalg.svdvals(jacobian.matrix())
    np.testing.assert_allclose(jacobian.singular_values(), expected, rtol=1e-10)


def test_depth_zero_is_the_identity():
    jacobian = PathJacobian(NET.run(START, 0, runs=2, engine="direct"))
    np.testing.assert_array_equal(jacobian.matrix(), np.broadcast_to(np.eye(10), (2, 10, 10)))


def test_the_largest_of_many_agree_with_all(monkeypatch):
    path = sp.Chain(30, layers=[torch.tanh]).run(START, 6, runs=2, engine="direct")
    every = PathJacobian(path).log_singular_values(4)
    monkeypatch.setattr(paths, "EXACT", 10)
    np.testing.assert_allclose(PathJacobian(path).log_singular_values(4), every, atol=3e-4)
    with pytest.raises(ValueError, match="count must say how many of the 60"):
        PathJacobian(path).log_singular_values()
    monkeypatch.setattr(paths, "ROUNDS", 1)
    with pytest.warns(UserWarning, match="have not settled"):
        PathJacobian(path).log_singular_values(4)


def test_lyapunov_exponents_of_gaussian_matrices_are_newmans():
    d, depth = 4, 600
    path = sp.Chain(d).run(sp.inputs.gaussian_samples(1), depth, runs=10, engine="direct")
    jacobian = PathJacobian(path)
    i = np.arange(1, d + 1)
    exact = (np.log(2 / d) + digamma((d - i + 1) / 2)) / 2
    exponents = jacobian.lyapunov_spectrum(skip=100)
    error = exponents.std(axis=0, ddof=1) / np.sqrt(10)
    assert exponents.shape == (10, d)
    assert (np.abs(exponents.mean(axis=0) - exact) < 5 * error + 2e-3).all()
    assert (error < 0.03).all()
    whole = jacobian.log_singular_values().mean(axis=0) / depth
    np.testing.assert_allclose(whole, exact, atol=0.05)
    np.testing.assert_allclose(jacobian.lyapunov_spectrum(2, skip=100), exponents[:, :2], atol=0.02)


def test_log_volumes_says_the_same_of_the_two_largest():
    stream = sp.Stream(3)
    path = sp.Chain(3).run(sp.inputs.gaussian_samples(1), 40, 2, stream, engine="direct")
    logs = PathJacobian(path).log_singular_values()
    volumes = sp.log_volumes(3, 40, 2, stream).values[:, -1]
    first = np.logaddexp.reduce(2 * logs, axis=1)
    pairs = [2 * (logs[:, i] + logs[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(volumes[:, 0], first)
    np.testing.assert_allclose(volumes[:, 1], np.logaddexp.reduce(pairs))


def test_no_depth_overflows():
    path = sp.Chain(4, sp.gaussian(100.0)).run(np.full((1, 4), 1e-150), 250, engine="direct")
    jacobian = PathJacobian(path)
    assert jacobian.log_singular_values().max() > np.log(1e300)
    with pytest.raises(ValueError, match="take log_singular_values"):
        jacobian.singular_values()
    with pytest.raises(ValueError, match="take log_singular_values"):
        jacobian.matrix()
    growth = jacobian.growth(2)
    assert growth.values.shape == (1, 251, 2)
    np.testing.assert_allclose(growth.values[0, 0], 0)


def test_bad_questions_are_named():
    with pytest.raises(ValueError, match="engine='direct'"):
        PathJacobian(sp.Chain(20).run(START, 2))
    jacobian = PathJacobian(NET.run(START, 3, engine="direct"))
    for count in (0, 11):
        for question in (jacobian.log_singular_values, jacobian.growth):
            with pytest.raises(ValueError, match=r"count must lie in 1..10"):
                question(count)
    with pytest.raises(ValueError, match=r"skip must lie in 0..2"):
        jacobian.lyapunov_spectrum(skip=3)
    large = PathJacobian(sp.Chain(200).run(START, 1, engine="direct"))
    with pytest.raises(ValueError, match="count must be given"):
        large.growth()
