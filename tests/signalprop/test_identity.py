"""What digests of recipes tell apart, and what they find equal."""

import functools

import numpy as np
import pytest
import torch
from torch import nn

import signalprop as sp
from signalprop._identity import recipe_digest
from signalprop.training.checkpoint import read_checkpoint, run_identity, write_checkpoint


def power(exponent):
    return lambda x: x**exponent


def linear(seed):
    torch.manual_seed(seed)
    return nn.Linear(2, 2)


MADE = {
    "relu": lambda: torch.relu,
    "tanh": lambda: torch.tanh,
    "relu as a module": nn.ReLU,
    "square": lambda: power(2),
    "cube": lambda: power(3),
    "partial": lambda: functools.partial(torch.clamp, min=0.0),
    "other partial": lambda: functools.partial(torch.clamp, min=1.0),
    "batch norm": sp.BatchNorm,
    "uncentred": lambda: sp.BatchNorm(center=False),
    "weights": lambda: linear(0),
    "other weights": lambda: linear(1),
    "nested": lambda: nn.Sequential(linear(0), nn.ReLU()),
    "nested, other": lambda: nn.Sequential(linear(0), nn.Tanh()),
    "activation": lambda: sp.activations.relu,
    "gained": lambda: sp.activations.relu.gained(2.0),
    "array": lambda: np.arange(3.0),
    "single": lambda: torch.arange(3.0),
    "law": lambda: sp.gaussian(2.0),
    "method": lambda: sp.activations.tanh.derivative,
}


def test_what_is_made_alike_is_the_same_and_nothing_else():
    found = {name: recipe_digest(make()) for name, make in MADE.items()}
    assert found == {name: recipe_digest(make()) for name, make in MADE.items()}
    assert len(set(found.values())) == len(found)
    around: list = [1]
    around.append(around)
    assert recipe_digest(around) == recipe_digest(around)


@pytest.mark.parametrize("layer", [torch.tanh, nn.ReLU(), lambda x: torch.relu(x) + 0])
def test_chains_know_their_layers_and_so_do_their_paths_and_checkpoints(tmp_path, layer):
    chain, same, other = (
        sp.Chain(8, layers=[sp.BatchNorm(), phi]) for phi in (torch.relu, torch.relu, layer)
    )
    assert chain == same
    assert hash(chain) == hash(same)
    assert chain != other
    assert chain != "chain"
    x = np.eye(3, 8)
    assert chain.run(x, 4) == same.run(x, 4)
    assert chain.run(x, 4) != other.run(x, 4)
    write_checkpoint(tmp_path / "chain.pt", {"layer": 3}, run_identity(chain, "run"))
    assert read_checkpoint(tmp_path / "chain.pt", run_identity(same, "run")) == {"layer": 3}
    with pytest.raises(ValueError, match="is of another run"):
        read_checkpoint(tmp_path / "chain.pt", run_identity(other, "run"))
