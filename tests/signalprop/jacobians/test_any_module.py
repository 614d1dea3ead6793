import numpy as np
import pytest
import torch
from torch import nn

import signalprop as sp
from signalprop.jacobians import PathJacobian, any_module


@pytest.fixture
def conv():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.GELU(), nn.Flatten(), nn.Linear(27, 4))
    return net.double()


X = torch.randn(3, 2, 5, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_each_sample_has_the_jacobian_that_it_has_alone(conv):
    j = sp.jacobian(conv, X)
    assert j.shape == (4, 50)
    for k, matrix in enumerate(j.matrix()):
        alone = torch.autograd.functional.jacobian(conv, X[k : k + 1]).reshape(4, 50)
        torch.testing.assert_close(matrix, alone)
    np.testing.assert_allclose(j.singular_values(), torch.linalg.svdvals(j.matrix()))
    assert all(parameter.grad is None for parameter in conv.parameters())


def test_products_are_those_with_the_matrix(conv):
    for coupled, parts in ((False, 3), (True, 1)):
        j = sp.jacobian(conv, X.numpy(), coupled=coupled)
        outputs, inputs = j.shape
        assert (outputs * parts, inputs * parts) == (12, 150)
        u = torch.randn(parts, 5, outputs, dtype=torch.float64)
        v = torch.randn(parts, 5, inputs, dtype=torch.float64)
        torch.testing.assert_close(j.times(v), v @ j.matrix().mT)
        torch.testing.assert_close(j.transposed(u), u @ j.matrix())


def test_the_largest_of_many_agree_with_all(conv, monkeypatch):
    j = sp.jacobian(conv, X)
    every = j.singular_values(2)
    monkeypatch.setattr(any_module, "EXACT", 3)
    monkeypatch.setattr(any_module, "EXTRA", 1)
    np.testing.assert_allclose(j.singular_values(2), every, rtol=1e-3)
    with pytest.raises(ValueError, match="count must say how many of the 4"):
        j.singular_values()
    monkeypatch.setattr(any_module, "ROUNDS", 1)
    with pytest.warns(UserWarning, match="have not settled"):
        j.singular_values(2)


def test_batch_normalization_couples_and_keeps_its_buffers():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).double()
    x = torch.randn(5, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="couples the samples"):
        sp.jacobian(net, x)
    j = sp.jacobian(net, x, coupled=True)
    assert j.shape == (20, 15)
    expected = torch.autograd.functional.jacobian(net, x).reshape(20, 15)
    torch.testing.assert_close(j.matrix()[0], expected)
    fresh = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    sp.jacobian(fresh, x, coupled=True).matrix()
    assert int(fresh[1].num_batches_tracked) == 0
    assert sp.jacobian(net.eval(), x).shape == (4, 3)


def test_sequences_functions_and_constants():
    encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    j = sp.jacobian(encoder, torch.randn(2, 4, 8))
    assert j.singular_values(3).shape == (2, 3)
    cube = sp.jacobian(lambda x: x**3, np.array([[1.0, 2.0]]))
    np.testing.assert_allclose(cube.matrix()[0], np.diag([3.0, 12.0]))
    still = sp.jacobian(lambda x: torch.ones(len(x), 2, dtype=x.dtype), np.ones((3, 2)))
    assert not still.matrix().any()
    assert not still.times(torch.ones(3, 1, 2, dtype=torch.float64)).any()


def test_a_path_gives_its_own():
    path = sp.Chain(3).run(np.ones((1, 3)), 2, engine="direct")
    assert isinstance(sp.jacobian(path), PathJacobian)


def test_bad_requests_are_named(conv):
    for x in (torch.tensor(1.0), torch.ones(3), torch.ones(0, 2)):
        with pytest.raises(ValueError, match=r"x must be \(n, \.\.\.\)"):
            sp.jacobian(conv, x)
    with pytest.raises(ValueError, match="model must be a module or a function"):
        sp.jacobian(conv)
    with pytest.raises(ValueError, match="as many outputs"):
        sp.jacobian(lambda x: x.sum(0), torch.ones(3, 2))
    with pytest.raises(ValueError, match=r"count must lie in 1..4"):
        sp.jacobian(conv, X).singular_values(5)


def test_networks_side_by_side_are_refused():
    with pytest.raises(ValueError, match="single network, got several side by side"):
        sp.jacobian(sp.MLP(3, 4, 1, 2, seeds=[0, 1]), torch.ones(2, 3))
