import numpy as np
import pytest
import torch

import signalprop as sp
from signalprop._threads import WORTH, threads_for


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_small_work_has_one_thread_and_gives_the_others_back(two_threads):
    with threads_for(WORTH):
        assert torch.get_num_threads() == 2
    threads = threads_for(10)(torch.get_num_threads)
    assert threads() == 1
    failing = threads_for(10)({}.popitem)
    with pytest.raises(KeyError):
        failing()
    assert torch.get_num_threads() == 2


def test_a_kernel_map_is_made_and_asked_on_one_thread(two_threads):
    seen = []

    def phi(x):
        seen.append(torch.get_num_threads())
        return torch.tanh(x) + torch.sin(x)

    kernel = sp.KernelMap(sp.as_activation(phi, kinks=()))
    kernel(0.5)
    assert seen[-1] == 1
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda phi: sp.ntk(np.diag([1.0, 2.0]), phi, depth=2),
        lambda phi: sp.MeanField(phi, weight_variance=[1.5, 3.0]).depth_scale,
        lambda phi: sp.LengthMap(phi).covariance(1.0, 2.0, 0.5),
        lambda phi: sp.limits.hermite_coefficients(phi, 8),
    ],
    ids=["network", "phase diagram", "covariance", "hermite"],
)
def test_limits_work_on_one_thread(two_threads, ask):
    seen = []

    def phi(x):
        seen.append(torch.get_num_threads())
        return torch.tanh(x)

    activation = sp.as_activation(phi, kinks=())
    seen.clear()
    ask(activation)
    assert set(seen) == {1}
    assert torch.get_num_threads() == 2
