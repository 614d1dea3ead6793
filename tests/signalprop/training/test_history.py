"""What a run has recorded, and which rate was best."""

import pytest

from signalprop.training import (
    Recipe,
    grid,
    train,
)
from tests.signalprop.training.runs import X, Y, build


def test_learning_rate_search():
    group = grid("a", build, seeds=[0, 1, 2], rates=[1e-4, 0.3])
    history = train([group], X, Y, Recipe(steps=200, batch=16))["a"]
    assert history.best_rate("accuracy") == history.best_rate("loss", largest=False) == 0.3
    assert history.curves("loss", 0.3).shape == (3, 3)
    with pytest.raises(ValueError, match="rate must be one of"):
        history.curves("loss", 0.1)
    with pytest.raises(ValueError, match="metric must be one of loss, accuracy, got 'gap'"):
        history.final("gap")
