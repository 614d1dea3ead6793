"""One measurement at many widths (or batch sizes, depths, ...), and the exponent between them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from signalprop import stats
from signalprop._arrays import Floats, as_tensor
from signalprop.chains.path import Path
from signalprop.random import Stream, as_stream

__all__ = ["Sweep", "sweep"]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


@dataclass(frozen=True, repr=False, eq=False)
class Sweep:
    """A metric by run and point: ``values`` ``(runs, points)`` ``at`` ``(points,)`` widths.

    Made by `sweep`.

    >>> values = np.array([[8.0, 4.0, 2.0], [8.0, 4.0, 2.0]])
    >>> swept = Sweep(values, at=np.array([1.0, 2.0, 4.0]), name="gap")
    >>> swept, round(swept.slope().value, 12)
    (Sweep(gap: 2 runs at 1, 2, 4), -1.0)
    """

    values: Floats
    at: Floats
    name: str

    def mean(self) -> Floats:
        """Return the mean over runs, ``(points,)``."""
        return np.asarray(self.values.mean(axis=0))

    def mean_ci(
        self, level: float = 0.95, method: Literal["t", "bootstrap"] = "t"
    ) -> stats.Estimate:
        """Return the mean over runs with its interval at every point, see `stats.mean_interval`."""
        return stats.mean_interval(self.values, axis=0, level=level, method=method)

    def slope(self, log: bool = True, level: float = 0.95) -> stats.Slope:
        """Return the exponent p of ``value ~ at^p`` with its interval, see `stats.exponent`.

        With ``log=False`` the slope of the values themselves. Runs at different points are
        independent, so run r at all points makes a curve, and the interval is Student's over them.
        """
        fit = stats.exponent if log else stats.slope
        return fit(self.at, self.values, level=level)

    def to_frame(self) -> Any:
        """Return a pandas data frame (needs pandas): columns ``run``, ``at`` and the metric's name.

        >>> Sweep(np.array([[3.0, 4.0]]), np.array([8.0, 16.0]), "gap").to_frame().shape
        (2, 3)
        """
        import pandas as pd

        runs, points = self.values.shape
        columns = {
            "run": np.repeat(np.arange(runs), points),
            "at": np.tile(self.at, runs),
            self.name: self.values.ravel(),
        }
        return pd.DataFrame(columns)

    def to_xarray(self) -> Any:
        """Return an ``xarray.DataArray`` (needs xarray) with the dimensions ``run`` and ``at``."""
        xarray = importlib.import_module("xarray")
        coordinates = {"run": np.arange(len(self.values)), "at": self.at}
        return xarray.DataArray(self.values, coordinates, ["run", "at"], name=self.name)

    def plot(self, ax: Any = None, level: float = 0.95, **line: Any) -> Any:
        """Draw the means with their intervals on logarithmic axes; return the axes."""
        import matplotlib.pyplot as plt

        ax = plt.gca() if ax is None else ax
        (curve,) = ax.plot(self.at, self.mean(), marker="o", **line)
        if len(self.values) > 1:
            ci = self.mean_ci(level)
            ax.fill_between(self.at, ci.low, ci.high, color=curve.get_color(), alpha=0.2, lw=0)
        ax.set(xscale="log", yscale="log", ylabel=self.name)
        return ax

    def __repr__(self) -> str:
        points = ", ".join(f"{point:g}" for point in self.at)
        return f"Sweep({self.name}: {len(self.values)} runs at {points})"

    def __eq__(self, other: object) -> bool:
        """Whether the other sweep has the same name, points and values."""
        if not isinstance(other, Sweep):
            return NotImplemented
        same = self.name == other.name and np.array_equal(self.at, other.at)
        return same and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]


def sweep(
    make: Callable[..., Path | torch.Tensor | np.ndarray[Any, Any]],
    at: Sequence[float],
    metric: Callable[[torch.Tensor], Any],
    runs: int = 20,
    seed: int | Stream = 0,
) -> Sweep:
    """Return ``metric`` of the networks that ``make`` gives for each of ``at``, say widths.

    ``make(value, runs=..., seed=...)`` returns a path, whose last layer is measured, or the
    representations ``(runs, n, d)`` of any networks. ``seed`` is a `Stream` named by the value, so
    a point gives the same numbers whatever other points there are. ``metric`` maps ``(runs, n, d)``
    to ``(runs,)``.

    >>> from signalprop import BatchNorm, Chain, inputs, orthogonality_gap
    >>> def make(width, **run):
    ...     net = Chain(width, layers=[BatchNorm(center=False)])
    ...     return net.run(inputs.nearly_parallel(n=4), depth=40, **run)
    >>> swept = sweep(make, [32, 64, 128], orthogonality_gap, runs=20)
    >>> bool(swept.slope().high < -0.3)                     # the floor is of order width^(-1/2)
    True
    """
    _require_maker(make)
    points = np.asarray(as_tensor(at, "at").double().cpu())
    if points.ndim != 1 or len(points) == 0 or len(np.unique(points)) < len(points):
        raise ValueError(f"at must be different numbers, at least one, got {list(at)}")
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    stream = as_stream(seed).child("sweep")
    columns = []
    for value in at:
        made = make(value, runs=runs, seed=stream.child(repr(value)))
        batch = made.final() if isinstance(made, Path) else as_tensor(made, "what make returns")
        measured = np.asarray(torch.as_tensor(metric(batch)).detach().double().cpu())
        if measured.shape != (runs,):
            raise ValueError(
                f"metric must map (runs, n, d) to (runs,): for runs = {runs} at {value} it gave "
                f"shape {measured.shape}"
            )
        columns.append(measured)
    return Sweep(np.stack(columns, axis=1), points, str(getattr(metric, "__name__", "metric")))


def _require_maker(make: object) -> None:
    """Refuse a function that does not take what `sweep` hands it, before the first network."""
    try:
        inspect.signature(make).bind(0, runs=1, seed=0)  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(
            "make must be a function of a value and, by name, of runs and seed, such as "
            f"make(width, runs, seed) or make(width, **run), got {make!r}: {error}"
        ) from None
    except ValueError:  # a function without a signature, as some that are written in C
        return
