"""The path of random networks through their layers: computed when something is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from signalprop._arrays import Array, as_dtype, as_tensor
from signalprop.chains.drawn import Drawn
from signalprop.chains.engines import BLOCK, ENGINES, choose_engine
from signalprop.chains.measurement import Measurement, TimeAverage
from signalprop.inputs import Input
from signalprop.layers._checks import require_dtype
from signalprop.random import Stream, as_stream
from signalprop.weights import as_law

if TYPE_CHECKING:
    from signalprop.chains.chain import Chain

__all__ = ["Path"]

BatchMetric = Callable[[torch.Tensor], Any]

WEIGHTS_AT_ONCE = 2**22  # entries of weights in a layer, 32 MB: more runs than that take turns


@dataclass(frozen=True, repr=False, eq=False)
class Path:
    """A recipe for the representations ``h_0, ..., h_depth`` of independent runs; holds no layers.

    Made by `Chain.run`. Every question streams through the layers once, with the same numbers each
    time, in memory that does not grow with the depth. Layer 0 is the input.

    Why the numbers are the same each time: nothing is kept but the start and the random stream, and
    run r draws its weights from a child stream of its own, read in the order of the layers.

    >>> from signalprop.chains import Chain
    >>> from signalprop.layers import FrobeniusNorm
    >>> path = Chain(20, layers=[FrobeniusNorm()]).run(np.eye(5), depth=8, runs=3)
    >>> path.final().shape, path.measure(torch.linalg.matrix_rank).values.shape
    (torch.Size([3, 5, 20]), (3, 9))
    """

    chain: Chain
    start: torch.Tensor  # (runs, n, d)
    depth: int
    stream: Stream
    engine: str

    @classmethod
    def begin(
        cls,
        chain: Chain,
        x: Input | Array,
        depth: int,
        runs: int,
        seed: int | Stream,
        engine: str,
        device: torch.device | str,
        dtype: torch.dtype | str,
    ) -> Path:
        """Check the request and draw the inputs; the arguments are those of `Chain.run`."""
        if depth < 0 or runs < 1:
            raise ValueError(f"depth must be >= 0 and runs >= 1, got {depth} and {runs}")
        dtype, device = as_dtype(dtype), _device(device)
        for name in ("layers", "before"):
            require_dtype(getattr(chain, name), name, dtype)
        stream = as_stream(seed)
        width = chain.width_at(1)
        start = _start(x, width, runs, stream).to(device, dtype)
        n, d = start.shape[1:]
        if chain.residual is not None and d != width:
            raise ValueError(f"x must have the width {width} of a residual chain, got {d}")
        if engine == "auto" and chain.branch is not None:
            engine = "direct"
        narrowest = min(cls._widths(chain, depth), default=width)
        engine = choose_engine(engine, chain.law, narrowest, n)
        return cls(chain, start, depth, stream, engine)

    @staticmethod
    def _widths(chain: Chain, depth: int) -> list[int]:
        if chain.widths is None:
            return [chain.width]
        return [chain.width_at(layer) for layer in range(1, depth + 1)]

    @property
    def runs(self) -> int:
        """The number of independent runs."""
        return len(self.start)

    def __repr__(self) -> str:
        _, n, d = self.start.shape
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        return (
            f"Path({runs} of {self.depth} layers from ({n}, {d}), engine={self.engine!r}, "
            f"{self.stream}, {self.chain})"
        )

    def __eq__(self, other: object) -> bool:
        """Whether the other path gives the same numbers: the same recipe, start and stream."""
        if not isinstance(other, Path):
            return NotImplemented
        mine = (self.chain, self.depth, self.stream, self.engine)
        same = mine == (other.chain, other.depth, other.stream, other.engine)
        return same and torch.equal(self.start, other.start)

    __hash__ = None  # type: ignore[assignment]

    def measure(self, metric: BatchMetric, every: int = 1) -> Measurement:
        """Return ``metric`` of the layers 0, every, 2 every, ..., of all runs.

        ``metric`` maps a batch of representations ``(m, n, d)`` to ``(m, ...)``, one value (or
        array, or tuple) for each; it is called on many layers and runs at a time. Functions of
        `signalprop.metrics` are such.
        """
        (measurement,) = self.measure_many({_name(metric): metric}, every).values()
        return measurement

    def measure_many(
        self, metrics: Mapping[str, BatchMetric], every: int = 1
    ) -> dict[str, Measurement]:
        """Return several measurements, by name, from one pass through the layers."""
        recorded = self._recorded(0, every)
        runs: dict[str, list[Any]] = {name: [] for name in metrics}
        for group in self._groups():
            values: dict[str, list[Any]] = {name: [] for name in metrics}
            for states in self._states(group, recorded):
                for name, metric in metrics.items():
                    values[name].append(_evaluate(metric, states))
            for name in metrics:
                runs[name].append(np.concatenate(values[name]).swapaxes(0, 1))
        layers = np.asarray(recorded)
        return {name: Measurement(np.concatenate(runs[name]), layers, name) for name in metrics}

    def average(
        self, metric: BatchMetric, skip: int | None = None, every: int = 1, batches: int = 20
    ) -> TimeAverage:
        """Return the average of ``metric`` over the layers after ``skip`` (a fifth of the depth).

        Nothing but the sums of ``batches`` consecutive blocks is stored, so the depth may be in the
        millions. The layers are the multiples of ``every``; those that do not fill a block are left
        out at the start.
        """
        skip = self.depth // 5 if skip is None else skip
        recorded = self._recorded(skip + 1, every)
        size = len(recorded) // batches if batches >= 2 else 0
        if size == 0:
            raise ValueError(
                f"batches must be at least 2 and at most the {len(recorded)} layers, got {batches}"
            )
        recorded = recorded[len(recorded) - size * batches :]
        groups = [self._block_means(group, metric, recorded, size) for group in self._groups()]
        return TimeAverage(np.concatenate(groups), _name(metric))

    def states(self, layers: Sequence[int]) -> torch.Tensor:
        """Return the representations at ``layers`` (increasing), ``(runs, len(layers), n, width)``.

        They must have one width: layer 0 is only among them if the input has the chain's.
        """
        wanted = list(layers)
        if wanted != sorted(set(wanted)) or not wanted or wanted[0] < 0 or wanted[-1] > self.depth:
            raise ValueError(
                f"layers must be increasing and lie in 0..{self.depth}, got {list(layers)}"
            )
        parts = [_one_shape(list(self._states(group, wanted))) for group in self._groups()]
        return torch.cat(parts, dim=1).transpose(0, 1)

    def final(self) -> torch.Tensor:
        """Return the representations after the last layer, ``(runs, n, width)``."""
        return self.states([self.depth])[:, 0]

    def gradient_norms(self, loss: Callable[[torch.Tensor], torch.Tensor]) -> Measurement:
        """Return the logarithm of the gradient's norm by the weights of each layer.

        ``loss`` maps the last representations ``(m, n, width)`` to ``(m,)``. Needs a path with
        ``engine="direct"``. At any depth, see `jacobians.log_gradient_norms`.

        >>> from signalprop import Chain
        >>> path = Chain(4, "orthogonal").run(np.eye(1, 4), depth=1000, engine="direct")
        >>> norms = path.gradient_norms(lambda h: h.square().sum((1, 2)))
        >>> bool(np.allclose(norms.values, np.log(2)))
        True
        """
        from signalprop.jacobians import log_gradient_norms

        return log_gradient_norms(self, loss)

    def _recorded(self, first: int, every: int) -> range:
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}")
        return range(-(-first // every) * every, self.depth + 1, every)

    def _groups(self) -> Iterator[slice]:
        n, d = self.start.shape[1:]
        width = max(self._widths(self.chain, self.depth), default=d)
        matrix = width * (min(n, d) if self.engine == "reduced" else max(d, width))
        size = max(1, WEIGHTS_AT_ONCE // matrix)
        return (slice(i, i + size) for i in range(0, self.runs, size))

    @torch.no_grad()
    def _walk(self, group: slice) -> Iterator[tuple[int, torch.Tensor]]:
        h = self.start[group]
        yield 0, h
        steps = self.chain.steps(h, self._product(group))
        for layer in range(1, self.depth + 1):
            try:
                h = _first(steps) if layer == 1 else next(steps)
            except ValueError as error:
                error.add_note(f"in layer {layer} of the chain")
                raise
            yield layer, h

    def _product(self, group: slice) -> Callable[..., torch.Tensor]:
        chain, generators = self.chain, self.generators("weights", group)
        if not chain.is_plain:
            return self.drawn(group)
        engine = ENGINES[self.engine]
        return engine(chain.law, chain.width, self.depth, generators, self.start[group])

    def drawn(self, group: slice) -> Drawn:
        """Return the products of some runs, drawn when they are asked for."""
        bias = None if self.chain.bias is None else as_law(self.chain.bias, "bias")
        weights, biases = (self.generators(name, group) for name in ("weights", "biases"))
        return Drawn(self.chain.law, bias, weights, biases, self.engine)

    def generators(self, name: str, group: slice) -> list[np.random.Generator]:
        """Return the generators of some runs, each run's at the start of its stream."""
        stream = self.stream.child(name)
        return [stream.numpy(run) for run in range(self.runs)[group]]

    def _states(self, group: slice, recorded: Container[int]) -> Iterator[torch.Tensor]:
        """Yield the recorded layers ``(layers, runs, n, d)``, as many at a time as fit a block."""
        waiting: list[torch.Tensor] = []
        for layer, h in self._walk(group):
            if waiting and waiting[-1].shape != h.shape:  # the input, of another width
                yield _stack(waiting, layer)
                waiting = []
            if layer in recorded:
                waiting.append(h)
            if len(waiting) * h.numel() >= BLOCK:
                yield _stack(waiting, layer)
                waiting = []
        if waiting:
            yield _stack(waiting, self.depth)

    def _block_means(
        self, group: slice, metric: BatchMetric, recorded: range, size: int
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        sums: Any = 0.0
        done = 0
        for states in self._states(group, recorded):
            values = _evaluate(metric, states)
            if done == 0:
                sums = np.zeros((len(recorded) // size, *values.shape[1:]))
            np.add.at(sums, np.arange(done, done + len(values)) // size, values)
            done += len(values)
        return np.swapaxes(sums / size, 0, 1)


def _first(steps: Iterator[torch.Tensor]) -> torch.Tensor:
    """Return the first layer; refuse functions that draw random numbers, such as dropout."""
    before = torch.random.get_rng_state()
    h = next(steps)
    if not torch.equal(before, torch.random.get_rng_state()):
        raise ValueError(
            "layers, branches and laws must not be random, but one draws from torch's global "
            "generator: a path draws its layers again for each question"
        )
    return h


def _start(x: Input | Array, width: int, runs: int, stream: Stream) -> torch.Tensor:
    given = x(width, runs, stream.child("inputs")) if callable(x) else x
    if isinstance(given, torch.Tensor) and (
        given.requires_grad or torch._C._functorch.is_functorch_wrapped_tensor(given)
    ):
        raise ValueError(
            "x requires grad, or stands inside a transform of torch.func, but no gradients pass "
            "through a chain: give x.detach(), and take "
            "net.jacobian(...) or path.gradient_norms(loss) for its derivatives, or signalprop.MLP"
        )
    start = as_tensor(given, "x")
    if start.ndim == 2:
        start = start.repeat(runs, 1, 1)
    if start.ndim != 3 or len(start) != runs or 0 in start.shape:
        raise ValueError(
            f"x must be (n, d) or (runs, n, d) with runs = {runs}, got shape {tuple(start.shape)}"
        )
    return start


def _device(device: torch.device | str) -> torch.device:
    try:
        found = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device must be one that torch knows, got {device!r}") from error
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device must be there, got {device!r}, and torch sees no CUDA device")
    return found


def _name(metric: BatchMetric) -> str:
    return str(getattr(metric, "__name__", "metric"))


def _one_shape(parts: list[torch.Tensor]) -> torch.Tensor:
    widths = [part.shape[-1] for part in parts]
    if len(set(widths)) > 1:
        raise ValueError(f"layers must have one width to stand in one array, got {widths}")
    return torch.cat(parts)


def _stack(states: list[torch.Tensor], layer: int) -> torch.Tensor:
    stacked = torch.stack(states)
    if not bool(torch.isfinite(stacked.sum())):  # a tenth of the time of looking at each entry
        raise ValueError(
            f"the chain is no longer finite by layer {layer}: it overflows without normalization "
            "(put FrobeniusNorm() among its layers if the overall scale does not matter)"
        )
    return stacked


def _evaluate(metric: BatchMetric, states: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    layers, runs = states.shape[:2]
    values = metric(states.flatten(0, 1))
    if isinstance(values, tuple):
        values = torch.stack(values, dim=-1)
    values = torch.as_tensor(values)
    if values.ndim == 0 or len(values) != layers * runs:
        raise ValueError(
            f"metric must map (m, n, d) to (m, ...): for m = {layers * runs} it gave shape "
            f"{tuple(values.shape)}"
        )
    return values.reshape(layers, runs, *values.shape[1:]).double().cpu().numpy()
