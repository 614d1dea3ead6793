"""What is trained, and how: values that a run is made from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import torch
from torch import nn

from signalprop.models.stacked import Stacked
from signalprop.random import Stream

__all__ = ["Group", "Recipe", "batches", "grid"]


@dataclass(frozen=True)
class Recipe:
    """Stochastic gradient descent on the cross-entropy: ``steps`` steps, ``batch`` samples each.

    Rates are multiplied by ``drop`` after every ``drop_every`` steps (COND App. I: 0.1). ``clip``
    is the ratio of `adaptive_clip`. Metrics are recorded, and checkpoints written, before the
    first step, after every ``record_every`` steps and after the last.

    Each pass through the data takes it in a new order, without the up to ``batch - 1`` samples
    left over at its end. One epoch is so ``len(data) // batch`` steps.

    >>> recipe = Recipe(steps=100, batch=32, drop_every=40)
    >>> recipe.rate_factor(39), recipe.rate_factor(40)
    (1.0, 0.1)
    """

    steps: int
    batch: int
    record_every: int = 100
    drop_every: int | None = None
    drop: float = 0.1
    clip: float | None = None

    def __post_init__(self) -> None:
        for name in ("batch", "record_every", "drop_every"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if self.steps < 0:
            raise ValueError(f"steps must be at least 0, got {self.steps}")
        if not 0 < self.drop <= 1:
            raise ValueError(f"drop must be positive and at most 1, got {self.drop}")
        if self.clip is not None and not 0 < self.clip < math.inf:
            raise ValueError(f"clip must be positive and finite, got {self.clip}")

    def rate_factor(self, step: int) -> float:
        """Return what the rates are multiplied by at ``step``, counted from 0."""
        return 1.0 if self.drop_every is None else self.drop ** (step // self.drop_every)

    def records(self, step: int) -> bool:
        """Tell whether metrics are recorded once ``step`` steps are done."""
        return step % self.record_every == 0 or step == self.steps


@dataclass(frozen=True, init=False)
class Group:
    """Networks of one shape that are trained side by side.

    ``model`` is a list of modules of any kind, one network each and all of one structure (they are
    copied, see `models.Stacked`), or one module that maps ``(models, n, ...)`` to logits
    ``(models, n, classes)`` and has parameters ``(models, ...)``, as `MLP` with seeds has. Network
    k sees the batches of ``seeds[k]`` and learns at ``rates[k]``.

    >>> from signalprop.models import MLP
    >>> Group("toy", MLP(4, 8, 1, 2, seeds=[0, 1]), seeds=[0, 1], rates=[0.1, 0.1])
    Group(name='toy', seeds=[0, 1], rates=[0.1, 0.1])
    >>> nets = [nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)) for _ in "ab"]
    >>> Group("own", nets, seeds=[0, 1], rates=[0.1, 0.1]).model.models
    2
    """

    name: str
    model: nn.Module = field(repr=False)
    seeds: Sequence[int]
    rates: Sequence[float]

    def __init__(
        self,
        name: str,
        model: nn.Module | Sequence[nn.Module],
        seeds: Sequence[int],
        rates: Sequence[float],
    ) -> None:
        network = model if isinstance(model, nn.Module) else Stacked(model)
        values = {"name": name, "model": network, "seeds": seeds, "rates": rates}
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self._check()

    def _check(self) -> None:
        models = len(self.seeds)
        if not models or len(self.rates) != models:
            raise ValueError(
                f"{self.name}: seeds and rates must be as many as the networks, "
                f"got {models} and {len(self.rates)}"
            )
        if bad := [rate for rate in self.rates if not 0 < rate < math.inf]:
            raise ValueError(f"{self.name}: rates must be positive and finite, got {bad}")
        for name, parameter in self.model.named_parameters():
            if parameter.ndim == 0 or len(parameter) != models:
                raise ValueError(
                    f"{self.name}: parameters must be (models={models}, ...), "
                    f"got {name} of shape {tuple(parameter.shape)}"
                )


def grid(
    name: str,
    build: Callable[[list[int]], nn.Module | Sequence[nn.Module]],
    seeds: Sequence[int],
    rates: Sequence[float],
) -> Group:
    """Return a group with a network for every pair of seed and rate.

    ``build`` makes the model (or a list of modules) for a list of seeds, in which each seed comes
    up once for each rate.

    >>> from signalprop.models import MLP
    >>> group = grid("shallow", lambda seeds: MLP(4, 8, 1, 2, seeds=seeds), [0, 1], [0.1, 0.01])
    >>> group.seeds, group.rates
    ([0, 0, 1, 1], [0.1, 0.01, 0.1, 0.01])
    """
    pairs = list(product(seeds, rates))
    each_seed, each_rate = [s for s, _ in pairs], [r for _, r in pairs]
    return Group(name, build(each_seed), each_seed, each_rate)


def batches(
    stream: Stream, seeds: Sequence[int], size: int, batch: int, start: int = 0
) -> Iterator[torch.Tensor]:
    """Yield the samples ``(models, batch)`` of each step, from step ``start`` on, without end.

    Pass e of seed s through the ``size`` samples is in the order that ``stream.numpy("batches", s,
    e)`` draws: it depends on no other seed, and can be taken up at any step.

    >>> one = next(batches(Stream(0), [0, 1, 0], size=6, batch=3, start=5))
    >>> bool((one[0] == one[2]).all())
    True
    """
    if not 1 <= batch <= size:
        raise ValueError(f"batch must be in 1..{size}, the number of samples, got {batch}")
    if not seeds or start < 0:
        raise ValueError(
            f"seeds must not be empty and start must be at least 0, got {list(seeds)} and {start}"
        )
    per_pass = size // batch
    epoch, position = divmod(start, per_pass)
    while True:
        drawn = {
            s: stream.numpy("batches", s, epoch).permutation(size) for s in dict.fromkeys(seeds)
        }
        orders = torch.stack([torch.from_numpy(drawn[s]) for s in seeds])
        for i in range(position, per_pass):
            yield orders[:, i * batch : (i + 1) * batch]
        epoch, position = epoch + 1, 0
