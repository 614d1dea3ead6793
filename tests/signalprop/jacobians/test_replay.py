import numpy as np
import pytest
import torch

import signalprop as sp
from signalprop.jacobians.replay import Replay

START = sp.inputs.gaussian_samples(3)
CHAINS = {
    "batch norm": sp.Chain(5, layers=[sp.BatchNorm(center=False), torch.tanh]),
    "before": sp.Chain(5, sp.uniform("1/d"), before=[sp.BatchNorm(), sp.activations.gelu]),
    "residual": sp.Chain(5, "orthogonal", [sp.RMSNorm()], before=[torch.relu], residual=0.7),
}


def run(name, depth=7, runs=3):
    return CHAINS[name].run(START, depth, runs, seed=2, engine="direct")


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("group", [slice(0, 3), slice(1, 2)])
def test_the_layers_are_those_of_the_path(name, group):
    path = run(name)
    states = path.states(range(8))[group]
    forward = list(Replay(path, group).forward())
    backward = list(Replay(path, group).backward())
    assert [step.number for step in backward] == [7, 6, 5, 4, 3, 2, 1]
    for step, again in zip(forward, reversed(backward), strict=True):
        torch.testing.assert_close(step.entering, states[:, step.number - 1])
        torch.testing.assert_close(step.leaving(), states[:, step.number])
        torch.testing.assert_close(again.weight, step.weight, rtol=0, atol=0)
        torch.testing.assert_close(again.entering, step.entering, rtol=0, atol=0)


@pytest.mark.parametrize("name", CHAINS)
def test_forward_and_backward_mode_are_the_jacobian_and_its_transpose(name):
    step = list(Replay(run(name)).forward())[3]
    generator = torch.Generator().manual_seed(0)
    v = torch.randn(3, 4, 3, 5, generator=generator, dtype=torch.float64)
    u = torch.randn(3, 2, 3, 5, generator=generator, dtype=torch.float64)
    pushed, pulled = step.push(v), step.pull(u)
    np.testing.assert_allclose(
        torch.einsum("rknd,rlnd->rkl", pushed, u), torch.einsum("rknd,rlnd->rkl", v, pulled)
    )
    eps = 1e-6
    for k in range(4):
        shifted = [
            type(step)(step.path, 4, step.entering + sign * eps * v[:, k], step.matrices).leaving()
            for sign in (1, -1)
        ]
        difference = (shifted[0] - shifted[1]) / (2 * eps)
        torch.testing.assert_close(pushed[:, k], difference, rtol=1e-5, atol=1e-7)


def test_another_width_of_the_input_and_of_the_layers():
    path = sp.Chain(4).run(np.ones((2, 7)), 3, runs=2, engine="direct")
    assert [tuple(s.weight.shape) for s in Replay(path).forward()] == [(2, 4, 7), *2 * [(2, 4, 4)]]
    torch.testing.assert_close(Replay(path).final(), path.final())


def test_a_layer_of_steps_has_a_jacobian_of_zero():
    path = sp.Chain(4, layers=[torch.sign]).run(START, 2, engine="direct")
    for step in Replay(path).forward():
        assert not step.push(torch.ones(1, 2, 3, 4, dtype=torch.float64)).any()
        assert not step.pull(torch.ones(1, 2, 3, 4, dtype=torch.float64)).any()


def test_paths_without_weights_and_chains_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"engine='direct'.*'reduced'"):
        Replay(sp.Chain(20).run(START, 2))
    loud = sp.Chain(4, sp.gaussian(1e60)).run(START, 50, engine="direct")
    with pytest.raises(ValueError, match=r"no longer finite by layer"):
        Replay(loud).final()
    dead = sp.Chain(4, layers=[lambda h: h * 0, sp.RMSNorm()]).run(START, 2, engine="direct")
    with pytest.raises(ValueError, match="RMS norm") as zero:
        Replay(dead).final()
    assert "in layer 1 of the chain" in zero.value.__notes__
