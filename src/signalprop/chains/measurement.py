"""What was measured along a path: values by run and layer, and averages over layers."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from signalprop import stats
from signalprop._arrays import Floats

__all__ = ["Measurement", "TimeAverage"]


@dataclass(frozen=True, repr=False, eq=False)
class Measurement:
    """A metric by run and layer: ``values`` ``(runs, layers, ...)``, at the given ``layers``.

    >>> m = Measurement(np.array([[4.0, 2.0, 1.0], [8.0, 4.0, 2.0]]), np.arange(3), "gap")
    >>> round(m.log().slope().value, 6)
    -0.693147
    >>> m.between(1, 2).values.shape
    (2, 2)
    """

    values: Floats
    layers: np.ndarray[Any, np.dtype[np.int64]]
    name: str

    def __repr__(self) -> str:
        runs, layers = self.values.shape[:2]
        of_runs = "1 run" if runs == 1 else f"{runs} runs"
        of_layers = "1 layer" if layers == 1 else f"{layers} layers"
        between = f", {self.layers[0]} to {self.layers[-1]}" if layers else ""
        each = f", each {self.values.shape[2:]}" if self.values.ndim > 2 else ""
        return f"Measurement({self.name}: {of_runs}, {of_layers}{between}{each})"

    def __eq__(self, other: object) -> bool:
        """Whether the other measurement has the same name, layers and values."""
        if not isinstance(other, Measurement):
            return NotImplemented
        same = np.array_equal(self.layers, other.layers) and self.name == other.name
        return same and np.array_equal(self.values, other.values, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def to_frame(self) -> Any:
        """Return a pandas data frame (needs pandas), a row for each run and layer.

        Columns are ``run``, ``layer``, one ``component`` for each further dimension of the values
        (numbered if there are several) and the value under the measurement's name. So seaborn and
        ``frame.to_csv`` take it.

        >>> Measurement(np.array([[4.0, 2.0]]), np.arange(2), "gap").to_frame().values.tolist()
        [[0.0, 0.0, 4.0], [0.0, 1.0, 2.0]]
        """
        import pandas as pd

        places = np.indices(self.values.shape).reshape(self.values.ndim, -1)
        columns = dict(zip(self._dimensions(), places, strict=True))
        columns["layer"] = self.layers[columns["layer"]]
        return pd.DataFrame(columns | {self.name: self.values.ravel()})

    def to_xarray(self) -> Any:
        """Return an ``xarray.DataArray`` (needs xarray), with the dimensions of `to_frame`."""
        xarray = importlib.import_module("xarray")
        coordinates = {"run": np.arange(len(self.values)), "layer": self.layers}
        return xarray.DataArray(self.values, coordinates, self._dimensions(), name=self.name)

    def _dimensions(self) -> list[str]:
        further = self.values.ndim - 2
        titles = [f"component {i + 1}" if further > 1 else "component" for i in range(further)]
        return ["run", "layer", *titles]

    def mean(self) -> Floats:
        """Return the mean over runs, ``(layers, ...)``."""
        return np.asarray(self.values.mean(axis=0))

    def mean_ci(
        self, level: float = 0.95, method: Literal["t", "bootstrap"] = "t"
    ) -> stats.Estimate:
        """Return the mean over runs with its interval at every layer, see `stats.mean_interval`."""
        return stats.mean_interval(self.values, axis=0, level=level, method=method)

    def slope(self, level: float = 0.95) -> stats.Slope:
        """Return the slope of the values against the layer, see `stats.slope`."""
        return stats.slope(self.layers, self.values, level=level)

    def between(self, first: int, last: int) -> Measurement:
        """Return the measurement restricted to the layers ``first..last``, both included."""
        kept = (first <= self.layers) & (self.layers <= last)
        if not kept.any():
            raise ValueError(f"no recorded layer lies between {first} and {last}")
        return replace(self, values=self.values[:, kept], layers=self.layers[kept])

    def log(self) -> Measurement:
        """Return the natural logarithm of the values, which must be positive."""
        if not (self.values > 0).all():
            raise ValueError(f"{self.name} must be positive for its logarithm")
        return replace(self, values=np.log(self.values), name=f"log {self.name}")

    def plot(self, ax: Any = None, level: float = 0.95, **line: Any) -> Any:
        """Draw the mean against the layer, with its interval if there are several runs.

        Needs matplotlib. Returns the axes: ``ax``, or the current ones.
        """
        import matplotlib.pyplot as plt

        ax = plt.gca() if ax is None else ax
        (curve,) = ax.plot(self.layers, self.mean(), **line)
        if len(self.values) > 1:
            ci = self.mean_ci(level)
            ax.fill_between(self.layers, ci.low, ci.high, color=curve.get_color(), alpha=0.2, lw=0)
        ax.set(xlabel="layer", ylabel=self.name)
        return ax


@dataclass(frozen=True)
class TimeAverage:
    """Averages over layers, run by run: ``blocks`` ``(runs, batches, ...)`` holds the batch means.

    >>> average = TimeAverage(np.array([[1.0, 2.0, 3.0]]), "rank")
    >>> average.value, average.standard_error.round(4)
    (array([2.]), array([0.5774]))
    """

    blocks: Floats
    name: str

    @property
    def value(self) -> Floats:
        """The average of each run, ``(runs, ...)``."""
        return np.asarray(self.blocks.mean(axis=1))

    @property
    def standard_error(self) -> Floats:
        """The standard error of each run's average, ``(runs, ...)``, by batch means.

        Right when a batch is much longer than the correlation time of the metric.
        """
        return np.asarray(self.blocks.std(axis=1, ddof=1) / np.sqrt(self.blocks.shape[1]))

    def interval(self, level: float = 0.95) -> stats.Estimate:
        """Return each run's average with Student's interval over its batch means."""
        return stats.mean_interval(self.blocks, axis=1, level=level)
