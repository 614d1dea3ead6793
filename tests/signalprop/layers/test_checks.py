"""What is asked of a list of layers: each refusal names the layer and the remedy."""

import pytest
import torch
from torch import nn

from signalprop.layers._checks import apply_in_turn, require_dtype, require_layers, require_pure


@pytest.mark.parametrize(
    "layers", [[], [torch.relu], (torch.relu, nn.ReLU()), nn.Sequential(nn.ReLU()), nn.ModuleList()]
)
def test_lists_of_functions_are_taken(layers):
    require_layers(layers, "layers")


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (nn.ReLU(), r"after must be a list, got ReLU: write after=\[...\]"),
        ([nn.ReLU], r"after must hold layers, got the class ReLU: make one of it, ReLU\(\)"),
        ([torch.relu, 3], "after must hold functions of tensors only, got 3"),
        (["relu"], "functions of tensors only, got 'relu'"),
    ],
)
def test_what_is_no_list_of_layers_is_refused(layers, message):
    with pytest.raises(ValueError, match=message):
        require_layers(layers, "after")


def test_random_layers_are_refused_unless_they_draw_nothing():
    for quiet in (nn.Dropout(0.5).eval(), nn.Dropout(0.0), nn.ReLU()):
        require_pure([torch.relu, quiet], "layers")
    for random in (nn.Dropout(0.5), nn.Sequential(nn.Linear(2, 2), nn.Dropout2d(0.1))):
        with pytest.raises(ValueError, match=r"layers must not be random, got Dropout.*\.eval\(\)"):
            require_pure([torch.relu, random], "layers")


def test_layers_in_place_are_refused():
    with pytest.raises(ValueError, match=r"got ReLU in place: make it with inplace=False"):
        require_pure([nn.Sequential(nn.ReLU(inplace=True))], "layers")


def test_what_averages_over_the_runs_is_refused():
    for norm in (nn.BatchNorm1d(4), nn.Sequential(nn.InstanceNorm1d(4))):
        with pytest.raises(ValueError, match=r"each run of \(runs, n, d\) alone .*BatchNorm\(eps="):
            require_pure([norm], "layers")


def test_parameters_of_another_type_are_refused():
    require_dtype([torch.relu, nn.ReLU(), nn.LayerNorm(4).double()], "layers", torch.float64)
    message = r"before must have parameters of torch.float64, got Linear with torch.float32: write"
    with pytest.raises(ValueError, match=message):
        require_dtype([nn.Linear(4, 4)], "before", torch.float64)


def test_layers_are_applied_in_order():
    h = torch.tensor([-1.0, 2.0])
    assert apply_in_turn([torch.relu, lambda x: x + 1], h).tolist() == [1, 3]
    assert apply_in_turn([lambda x: x + 1, torch.relu], h).tolist() == [0, 3]
    assert apply_in_turn([], h) is h


def test_a_function_that_writes_into_its_argument_is_named():
    with pytest.raises(ValueError, match="relu_ changes its input in place"):
        apply_in_turn([torch.neg, torch.relu_], torch.ones(2))
