"""Initializers that look at the data or at each other; plain laws are in `signalprop.weights`."""

from signalprop.initializers.isolation import isolable, one_neuron_per_point
from signalprop.initializers.iterative import iterative_orthogonalization_, orthogonalizing_weight
from signalprop.initializers.laws import gain_schedule, initialize_, orthogonal_
from signalprop.initializers.rank_pretraining import rank_pretraining_

__all__ = [
    "gain_schedule",
    "initialize_",
    "isolable",
    "iterative_orthogonalization_",
    "one_neuron_per_point",
    "orthogonal_",
    "orthogonalizing_weight",
    "rank_pretraining_",
]
