"""Training of many small networks side by side."""

from signalprop.training.history import Diverged, History
from signalprop.training.loop import print_progress, train
from signalprop.training.metrics import METRICS, accuracy, cross_entropy, measure
from signalprop.training.recipe import Group, Recipe, batches, grid
from signalprop.training.sgd import adaptive_clip, clipped_share, descending

__all__ = [
    "METRICS",
    "Diverged",
    "Group",
    "History",
    "Recipe",
    "accuracy",
    "adaptive_clip",
    "batches",
    "clipped_share",
    "cross_entropy",
    "descending",
    "grid",
    "measure",
    "print_progress",
    "train",
]
