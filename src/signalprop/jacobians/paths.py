"""The Jacobian of a random chain: singular values at any depth, and the Lyapunov spectrum."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import torch

from signalprop._arrays import Floats
from signalprop._threads import threads_for
from signalprop.chains.measurement import Measurement
from signalprop.chains.path import Path
from signalprop.jacobians.graded import GradedProduct
from signalprop.jacobians.replay import Replay

__all__ = ["PathJacobian"]

EXACT = 256  # columns up to which all singular values are found
EXTRA = 8  # columns beyond those that are asked for
ROUNDS = 30  # forth and back through the chain at most
SETTLED = 1e-4  # change of a logarithm that ends the rounds
ENTRIES_AT_ONCE = 2**22  # numbers in the tangents of the runs that go together, 32 MB


@dataclass(frozen=True)
class PathJacobian:
    """The derivative of a chain's last layer in its input, for each run; nothing is stored.

    The input of n samples and d features counts as one vector of ``n d`` entries and the last
    layer as one of ``n width``, since batch normalization couples the samples. For the Jacobian of
    one input give a batch of one sample.

    The Jacobian is the product of the layers' own (chain rule), and is kept as a `GradedProduct`,
    so neither overflow nor underflow bounds the depth. Weights are those of the path.

    >>> from signalprop import Chain, inputs
    >>> path = Chain(10, "orthogonal").run(inputs.gaussian_samples(1), depth=500, runs=2)
    >>> PathJacobian(path).singular_values().round(6)[0, [0, -1]]
    array([1., 1.])
    """

    path: Path

    def __post_init__(self) -> None:
        Replay(self.path)  # refuses a path that has no weights

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of outputs and inputs, ``(n width, n d)``."""
        n, d = self.path.start.shape[1:]
        depth = self.path.depth
        return n * (self.path.chain.width_at(depth) if depth else d), n * d

    def matrix(self) -> torch.Tensor:
        """Return the Jacobian itself, ``(runs, n width, n d)``: for chains that are not deep.

        Beyond some tens of layers its small singular values are lost to the rounding of the large
        ones; `log_singular_values` has them. An overflow is a ``ValueError``.
        """
        parts = []
        for group, product in self._forward(self._unit(self.shape[1])):
            sizes = product.logs.exp()[..., None]
            whole = product.frame @ (sizes * product.mixing)
            if not bool(torch.isfinite(whole).all()):
                raise ValueError(
                    f"the Jacobian of runs {group.start}... overflows: take log_singular_values()"
                )
            parts.append(whole)
        return torch.cat(parts)

    def log_singular_values(self, count: int | None = None) -> Floats:
        """Return the logarithms of the singular values, ``(runs, k)``, largest first.

        Up to 256 inputs or outputs all are found, to the rounding of the layers. Beyond, ``count``
        says how many of the largest are wanted: a random frame goes through the chain forth and
        back, orthogonalized at each layer, until no logarithm changes by more than 1e-4 (subspace
        iteration; Halko, Martinsson and Tropp 2011). What is exactly 0, such as the change of
        scale that a normalization takes away, is minus infinity.
        """
        most = min(self.shape)
        if count is not None and not 1 <= count <= most:
            raise ValueError(f"count must lie in 1..{most}, got {count}")
        if self.shape[1] <= EXACT:
            with self._threads(self.shape[1]):
                values = _padded(self._logs(self._unit(self.shape[1])), most)[:, :most]
        elif count is None:
            raise ValueError(
                f"count must say how many of the {most} singular values are wanted: only up to "
                f"{EXACT} inputs are all of them found"
            )
        else:
            values = self._largest(count)
        return np.asarray(values[:, :count].cpu().double().numpy())

    def singular_values(self, count: int | None = None) -> Floats:
        """Return the singular values, ``(runs, k)``, largest first; see `log_singular_values`.

        Those that a float cannot hold are a ``ValueError``.
        """
        logs = self.log_singular_values(count)
        if (logs > np.log(np.finfo(np.float64).max)).any():
            raise ValueError("singular values overflow: take log_singular_values()")
        return np.asarray(np.exp(logs))

    def growth(self, count: int | None = None) -> Measurement:
        """Return the logarithms of the growth in the ``count`` fastest directions, by layer.

        ``values`` is ``(runs, depth + 1, k)``: the sizes of a frame of k orthonormal directions
        that the layers carry along and that is orthogonalized after each of them. All directions
        are taken where none is said, as long as there are at most 256.
        """
        inputs = self.shape[1]
        if count is None and inputs > EXACT:
            raise ValueError(f"count must be given beyond {EXACT} inputs, got {inputs}")
        if count is not None and not 1 <= count <= min(self.shape):
            raise ValueError(f"count must lie in 1..{min(self.shape)}, got {count}")
        frame = self._random(count or min(self.shape))
        runs = []
        for group in self._groups(frame.shape[-1]):
            product = GradedProduct.identity(frame[group])
            logs = [product.logs]
            with self._threads(frame.shape[-1]):
                for step in Replay(self.path, group).forward():
                    product = product.times(_columns(step.push, product.frame, step.entering))
                    sorted_logs = product.logs.sort(dim=-1, descending=True).values
                    logs.append(_padded(sorted_logs, frame.shape[-1]))
            runs.append(torch.stack(logs, dim=1))
        values = torch.cat(runs).cpu().double().numpy()
        return Measurement(values, np.arange(self.path.depth + 1), "log growth")

    def lyapunov_spectrum(self, count: int | None = None, skip: int | None = None) -> Floats:
        """Return the growth a layer in the ``count`` fastest directions, ``(runs, k)``.

        The Lyapunov exponents are the limits of ``log(s_i) / depth`` for the singular values s_i
        (Oseledets). Here they are the slopes of `growth` after the first ``skip`` layers, a fifth
        of the depth if not said, which the frame takes to turn into the right directions (Benettin
        et al. 1980). For Gaussian weights of variance 1/d and no layers they are known:
        ``(log(2/d) + digamma((d - i + 1)/2)) / 2`` (Newman 1986).

        >>> from signalprop import Chain, inputs
        >>> path = Chain(2).run(inputs.gaussian_samples(1), depth=4000, runs=1, engine="direct")
        >>> PathJacobian(path).lyapunov_spectrum().round(2)      # -0.29 and -0.98 at any depth
        array([[-0.29, -0.99]])
        """
        depth = self.path.depth
        skip = depth // 5 if skip is None else skip
        if not 0 <= skip < depth:
            raise ValueError(f"skip must lie in 0..{depth - 1}, got {skip}")
        logs = self.growth(count).values
        with np.errstate(invalid="ignore"):
            slopes = (logs[:, -1] - logs[:, skip]) / (depth - skip)
        return np.asarray(np.where(np.isnan(slopes), -np.inf, slopes))

    def _logs(self, frame: torch.Tensor) -> torch.Tensor:
        return torch.cat([product.log_singular_values() for _, product in self._forward(frame)])

    def _largest(self, count: int) -> torch.Tensor:
        frame = self._random(min(count + EXTRA, *self.shape))
        before = frame.new_full((), torch.nan)
        for _ in range(ROUNDS):
            values, frames = [], []
            for _, product in self._forward(frame):
                values.append(product.log_singular_values())
                frames.append(product.frame)
            now = _padded(torch.cat(values), count)[:, :count]
            if bool((torch.isclose(now, before, rtol=0, atol=SETTLED)).all()):
                return now
            before = now
            frame = self._backward(torch.cat(frames))
        warnings.warn(
            f"the {count} largest singular values have not settled to {SETTLED:g} in {ROUNDS} "
            "rounds: they are too close to the next ones; ask for fewer or for more",
            stacklevel=4,
        )
        return before

    def _forward(self, frame: torch.Tensor) -> Iterator[tuple[slice, GradedProduct]]:
        for group in self._groups(frame.shape[-1]):
            product = GradedProduct.identity(frame[group])
            for step in Replay(self.path, group).forward():
                product = product.times(_columns(step.push, product.frame, step.entering))
            yield group, product

    def _backward(self, frame: torch.Tensor) -> torch.Tensor:
        """Return an orthonormal frame of the image under the transposed Jacobian."""
        frames = []
        for group in self._groups(frame.shape[-1]):
            product = GradedProduct.identity(frame[group])
            for step in Replay(self.path, group).backward():
                product = product.times(_columns(step.pull, product.frame, step.leaving()))
            frames.append(product.frame)
        return torch.cat(frames)

    def _threads(self, columns: int) -> AbstractContextManager[None]:
        """Take one thread where the products of a layer with so many columns are small."""
        return threads_for(self.shape[0] * self.shape[1] * columns)

    def _groups(self, columns: int) -> Iterator[slice]:
        size = max(1, ENTRIES_AT_ONCE // (columns * max(self.shape)))
        runs = self.path.runs
        return (slice(i, min(runs, i + size)) for i in range(0, runs, size))

    def _unit(self, size: int) -> torch.Tensor:
        start = self.path.start
        return torch.eye(size, dtype=start.dtype, device=start.device).expand(len(start), -1, -1)

    def _random(self, columns: int) -> torch.Tensor:
        generators = self.path.stream.child("frame").runs(self.path.runs)
        shape = (self.shape[1], columns)
        draws = torch.from_numpy(np.stack([g.standard_normal(shape) for g in generators]))
        frame: torch.Tensor = torch.linalg.qr(draws.to(self.path.start)).Q
        return frame


def _padded(logs: torch.Tensor, count: int) -> torch.Tensor:
    """Return at least ``count`` logarithms: what a narrow layer takes away has the size 0."""
    missing = max(0, count - logs.shape[-1])
    return torch.nn.functional.pad(logs, (0, missing), value=-torch.inf)


def _columns(
    apply: Callable[[torch.Tensor], torch.Tensor], frame: torch.Tensor, like: torch.Tensor
) -> torch.Tensor:
    """Apply a linear map of batches ``(runs, k, n, d)`` to the columns of ``(runs, n d, k)``."""
    return apply(frame.mT.reshape(*frame.mT.shape[:2], *like.shape[1:])).flatten(2).mT
