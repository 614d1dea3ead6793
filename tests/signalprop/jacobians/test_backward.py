import numpy as np
import pytest
import torch

import signalprop as sp
from signalprop.chains import path as path_module
from signalprop.jacobians import log_gradient_norms
from signalprop.jacobians.replay import Replay

START = sp.inputs.gaussian_samples(3)
CHAINS = {
    "batch norm": sp.Chain(6, layers=[sp.BatchNorm(center=False), torch.tanh]),
    "residual": sp.Chain(6, "he", [sp.RMSNorm()], before=[torch.relu], residual=0.3),
}


def cubes(h):
    return h.pow(3).sum((1, 2))


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("at_once", [1, 2**22])
def test_norms_agree_with_reverse_mode_through_the_whole_network(monkeypatch, name, at_once):
    monkeypatch.setattr(path_module, "WEIGHTS_AT_ONCE", at_once)
    path = CHAINS[name].run(START, 5, runs=3, engine="direct")
    found = log_gradient_norms(path, cubes)
    assert found.layers.tolist() == [1, 2, 3, 4, 5]
    for run in range(3):
        steps = Replay(path, slice(run, run + 1)).forward()
        weights = [step.weight.clone().requires_grad_() for step in steps]
        h = path.start[run : run + 1]
        for weight in weights:
            h = next(path.chain.steps(h, lambda a, w=weight: a @ w.mT))
        gradients = torch.autograd.grad(cubes(h).sum(), weights)
        expected = [float(gradient.norm().log()) for gradient in gradients]
        np.testing.assert_allclose(found.values[run], expected, atol=1e-12)


def test_a_deep_linear_chain_grows_at_the_known_rate():
    """Of orthogonal weights times 3, back to back: the norm by W_l is 3^(depth - 1), any layer."""
    triple = sp.Chain(4, "orthogonal", layers=[lambda h: 3 * h])
    deep = triple.run(np.eye(1, 4), 600, engine="direct")
    values = log_gradient_norms(deep, lambda h: h[:, 0] @ torch.ones(4, dtype=h.dtype)).values[0]
    np.testing.assert_allclose(values, 600 * np.log(3) + np.log(2), rtol=1e-12)


@pytest.mark.slow
def test_gradients_of_a_chaotic_chain_leave_the_floats():
    net = sp.Chain(4, layers=[sp.RMSNorm(), lambda h: torch.sin(10 * h)])
    path = net.run(sp.inputs.gaussian_samples(1), 500, engine="direct")
    norms = log_gradient_norms(path, cubes)
    assert np.isfinite(norms.values).all()
    assert norms.values[0, 0] > np.log(np.finfo(float).max)
    exponent = sp.jacobian(path).lyapunov_spectrum(1)[0, 0]
    assert norms.slope().value == pytest.approx(-exponent, rel=0.05)  # the fastest direction's


def test_no_gradient_is_minus_infinity_and_bad_losses_are_named():
    steps = sp.Chain(4, layers=[torch.sign]).run(START, 3, engine="direct")
    assert np.isneginf(log_gradient_norms(steps, cubes).values).all()
    path = sp.Chain(4).run(START, 3, runs=2, engine="direct")
    assert log_gradient_norms(sp.Chain(4).run(START, 0, engine="direct"), cubes).values.shape == (
        1,
        0,
    )
    with pytest.raises(ValueError, match=r"loss must map .* for m = 2 it gave \(\)"):
        log_gradient_norms(path, lambda h: h.sum())
    with pytest.raises(ValueError, match="differentiable"):
        log_gradient_norms(path, lambda h: h.detach().sum((1, 2)))
    with pytest.raises(ValueError, match="finite gradient"):
        log_gradient_norms(path, lambda h: h.sum((1, 2)) * torch.inf)
    with pytest.raises(ValueError, match="engine='direct'"):
        log_gradient_norms(sp.Chain(40).run(START, 3), cubes)
