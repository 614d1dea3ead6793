"""What a run has recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from signalprop._arrays import Floats

__all__ = ["Diverged", "History"]


class Diverged(RuntimeError):
    """No network of a run has a finite loss any more.

    >>> nan = {"accuracy": np.array([[np.nan]])}
    >>> lost = History("toy", np.array([0]), np.array([9.0]), np.array([0]), nan, np.array([0]))
    >>> lost.best_rate()
    Traceback (most recent call last):
    signalprop.training.history.Diverged: toy: networks diverged at every rate: [9.]
    """


@dataclass(frozen=True)
class History:
    """The records of a group: ``values[metric]`` is ``(records, models, ...)``, by ``steps``.

    A network whose loss became infinite or NaN has NaN from then on; ``diverged_at`` tells the
    step, -1 for the others.

    >>> values = {"accuracy": np.array([[0.5, 0.5], [0.9, 0.6]])}
    >>> seeds, rates, steps = np.array([0, 0]), np.array([0.1, 0.01]), np.array([0, 100])
    >>> history = History("toy", seeds, rates, steps, values, diverged_at=np.array([-1, -1]))
    >>> history.final("accuracy"), history.best_rate()
    (array([0.9, 0.6]), 0.1)
    """

    name: str
    seeds: np.ndarray[Any, np.dtype[np.int64]]
    rates: Floats
    steps: np.ndarray[Any, np.dtype[np.int64]]
    values: Mapping[str, Floats]
    diverged_at: np.ndarray[Any, np.dtype[np.int64]]

    def final(self, metric: str) -> Floats:
        """Return the last record ``(models, ...)`` of ``metric``."""
        last: Floats = self.curves(metric)[-1]
        return last

    def curves(self, metric: str, rate: float | None = None) -> Floats:
        """Return ``(records, models, ...)`` of ``metric``, with ``rate`` of its networks only."""
        if metric not in self.values:
            raise ValueError(f"metric must be one of {', '.join(self.values)}, got {metric!r}")
        if rate is None:
            return self.values[metric]
        if rate not in self.rates:
            raise ValueError(f"rate must be one of {np.unique(self.rates)}, got {rate!r}")
        return self.values[metric][:, self.rates == rate]

    def best_rate(self, metric: str = "accuracy", largest: bool = True) -> float:
        """Return the rate whose networks have the best final mean of ``metric``.

        A rate at which any network diverged comes after all at which none did. `Diverged` if there
        is none of those. Ties go to the smaller rate.
        """
        rates = np.unique(self.rates)
        means = np.array([self.curves(metric, rate)[-1].mean() for rate in rates])
        if np.isnan(means).all():
            raise Diverged(f"{self.name}: networks diverged at every rate: {rates}")
        return float(rates[np.nanargmax(means if largest else -means)])


def collect(
    name: str,
    seeds: Sequence[int],
    rates: Sequence[float],
    records: Sequence[tuple[int, Mapping[str, torch.Tensor]]],
    diverged_at: torch.Tensor,
) -> History:
    """Return the history of a list of records ``(step, values)``."""
    values = {
        metric: torch.stack([record[metric] for _, record in records]).numpy()
        for metric in records[0][1]
    }
    steps = np.array([step for step, _ in records])
    return History(
        name, np.array(seeds), np.array(rates, float), steps, values, diverged_at.numpy()
    )
