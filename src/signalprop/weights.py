"""Laws of random weight matrices, as values: what a layer draws from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "Law",
    "as_law",
    "gaussian",
    "he",
    "one_sided_uniform",
    "orthogonal",
    "own",
    "pytorch_default",
    "rademacher",
    "sparse",
    "student_t",
    "uniform",
    "xavier",
]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


Variance = float | str
Draw = Callable[[int, int, np.random.Generator], Any]

# The variance of an entry as a function of the numbers of inputs and outputs.
VARIANCES: dict[str, Callable[[int, int], float]] = {
    "1/d": lambda inputs, outputs: 1 / inputs,
    "2/d": lambda inputs, outputs: 2 / inputs,
    "1/(3d)": lambda inputs, outputs: 1 / (3 * inputs),
    "2/(d+d')": lambda inputs, outputs: 2 / (inputs + outputs),
    "4/(d+d')": lambda inputs, outputs: 4 / (inputs + outputs),  # Xavier with the gain of ReLU
}


def _over_inputs(rule: str) -> float | None:
    """Return the number of a rule such as ``"1.7/d"``, None for another."""
    number, over, rest = rule.partition("/d")
    try:
        value = float(number) if over and not rest else math.nan
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


@dataclass(frozen=True)
class Law:
    """A law of weight matrices ``(out, in)``: the kind of the entries, and their variance.

    Make one with `gaussian`, `uniform`, `orthogonal` and so on. ``spread`` is the variance of an
    entry: a number, or a rule in the number d of inputs and d' of outputs (``"1/d"``, ``"2/d"``,
    ``"1/(3d)"``, ``"2/(d+d')"``, ``"4/(d+d')"``, or any number over d, as ``"1.7/d"``). ``mean``
    is the mean of an entry in units of its standard deviation. ``df`` is the number of degrees of
    freedom of Student's t.

    >>> gaussian().variance(4, 4)
    0.25
    >>> gaussian().sample(2, 3, Stream(0).runs(5)).shape
    torch.Size([5, 2, 3])
    """

    entries: str
    spread: Variance
    mean: float = 0.0
    df: float = math.inf

    def __post_init__(self) -> None:
        kinds = (*_DRAW, "orthogonal")
        if self.entries not in kinds:
            raise ValueError(f"entries must be one of {', '.join(kinds)}, got {self.entries!r}")
        if isinstance(self.spread, str):
            if self.spread not in VARIANCES and _over_inputs(self.spread) is None:
                raise ValueError(
                    f"variance must be a positive number, one over d such as '1.7/d', or one of "
                    f"{', '.join(VARIANCES)}, got {self.spread!r}"
                )
        elif not 0 < self.spread < math.inf:
            raise ValueError(f"variance must be positive and finite, got {self.spread!r}")
        if not math.isfinite(self.mean):
            raise ValueError(f"mean must be finite, got {self.mean!r}")
        if not isinstance(self.spread, str) and math.isinf(self.mean * math.sqrt(self.spread)):
            raise ValueError(
                "mean, in standard deviations, must give a finite mean, got "
                f"{self.mean!r} of {math.sqrt(self.spread):.3g}"
            )
        if not self.df > 2:
            raise ValueError(f"df must exceed 2 for the variance to exist, got {self.df!r}")
        if self.entries == "student_t" and math.isinf(self.df):
            raise ValueError("df must be finite, got inf: take gaussian()")

    @property
    def is_gaussian(self) -> bool:
        """Whether the entries are independent centered Gaussians."""
        return self.entries == "gaussian" and self.mean == 0

    def variance(self, inputs: int, outputs: int) -> float:
        """Return the variance of an entry of an ``(outputs, inputs)`` matrix."""
        if self.entries == "orthogonal":
            return 1 / max(inputs, outputs)
        if isinstance(self.spread, str):
            number = _over_inputs(self.spread)
            return VARIANCES[self.spread](inputs, outputs) if number is None else number / inputs
        return float(self.spread)

    def fill(self, out: Floats, generator: np.random.Generator) -> None:
        """Fill ``out`` ``(..., out, in)`` with independent matrices, in order, from one generator.

        Filling one array of k matrices or k arrays of one gives the same numbers.
        """
        outputs, inputs = out.shape[-2:]
        if self.entries == "orthogonal":
            _haar(out, generator)
            return
        deviation = math.sqrt(self.variance(inputs, outputs))
        out *= deviation / _DRAW[self.entries](out, generator, self.df)
        if self.mean:
            out += self.mean * deviation

    def sample(
        self,
        out_features: int,
        in_features: int,
        generators: Sequence[np.random.Generator],
        dtype: torch.dtype = torch.float64,
    ) -> torch.Tensor:
        """Return one matrix a generator, ``(runs, out, in)``, each drawn from its own."""
        if out_features < 1 or in_features < 1:
            raise ValueError(f"sizes must be at least 1, got ({out_features}, {in_features})")
        weights = np.empty((len(generators), out_features, in_features))
        for matrix, generator in zip(weights, generators, strict=True):
            self.fill(matrix, generator)
        return torch.from_numpy(weights).to(dtype)

    @torch.no_grad()
    def fill_(self, tensor: torch.Tensor, stream: Stream) -> torch.Tensor:
        """Fill a weight or a convolution kernel ``(out, in, ...)`` in place, and return it.

        A kernel counts as the matrix ``(out, in * pixels)``; where d' counts, the outputs are
        counted with its pixels as well, as torch does.

        >>> w = gaussian().fill_(torch.empty(8, 3, 5, 5), Stream(0).child("conv1"))
        """
        if tensor.ndim < 2 or 0 in tensor.shape:
            shape = tuple(tensor.shape)
            raise ValueError(f"tensor must be (out, in, ...), each at least 1, got shape {shape}")
        pixels = math.prod(tensor.shape[2:])
        law = self
        if isinstance(self.spread, str):
            variance = self.variance(tensor.shape[1] * pixels, tensor.shape[0] * pixels)
            law = Law(self.entries, variance, self.mean, self.df)
        matrix = law.sample(len(tensor), tensor[0].numel(), [stream.numpy()])
        return tensor.copy_(matrix.reshape(tensor.shape))


def gaussian(variance: Variance = "1/d", mean: float = 0.0) -> Law:
    """Return independent Gaussian entries (ORTH, MF, KER), centered by default.

    Given ``H`` the rows of ``W H`` are then independent ``N(0, variance * H^T H)``: all that the
    theory needs to know of the layers before.

    >>> gaussian("2/d").variance(inputs=8, outputs=4), gaussian("1.5/d").variance(2, 2)
    (0.25, 0.75)
    """
    return Law("gaussian", variance, mean)


def uniform(variance: Variance = 1.0, mean: float = 0.0) -> Law:
    """Return independent uniform entries; by default ``U[-sqrt 3, sqrt 3]``, RANK Def. 1.

    ``mean`` is counted in standard deviations (RANK Sec. 3.4 moves it away from 0).

    >>> bool(uniform().sample(3, 4, Stream(0).runs(5)).abs().max() <= math.sqrt(3))
    True
    """
    return Law("uniform", variance, mean)


def one_sided_uniform(variance: Variance = "1/(3d)") -> Law:
    """Return entries uniform on ``[0, 2 sqrt(3 variance)]``: ``U[0, 2/sqrt d]`` in RANK Fig. 6.

    The law of `uniform` with the same variance, moved to the positive side.

    >>> w = one_sided_uniform().sample(50, 4, Stream(0).runs(1))
    >>> bool(((w >= 0) & (w <= 2 / math.sqrt(4))).all())
    True
    """
    return Law("uniform", variance, math.sqrt(3))


def orthogonal() -> Law:
    """Return Haar orthogonal matrices (GRAD Eq. 6.3): orthonormal rows, or columns if fewer.

    Why it is right: the Q factor of a Gaussian matrix is Haar once R's diagonal is made positive
    (Mezzadri 2007). Without that step the law depends on the QR routine's signs.

    >>> w = orthogonal().sample(2, 5, Stream(0).runs(1))
    >>> torch.allclose(w @ w.mT, torch.eye(2, dtype=w.dtype))
    True
    """
    return Law("orthogonal", 1.0)


def rademacher(variance: Variance = "1/d") -> Law:
    """Return independent entries of one modulus and random sign (KER Prop. 5.2).

    The modulus is the standard deviation, ``1 / sqrt d`` by default.

    >>> rademacher().sample(3, 4, Stream(0).runs(5)).abs().unique()
    tensor([0.5000], dtype=torch.float64)
    """
    return Law("rademacher", variance)


def student_t(df: float, variance: Variance = "1/d") -> Law:
    """Return independent Student t entries with ``df > 2`` degrees of freedom (KER Prop. 5.2).

    Heavy tails: moments of the order ``df`` and above are infinite. Drawn entries are divided by
    ``sqrt(df / (df - 2))``, their standard deviation, so that the variance is the one asked for.

    >>> student_t(df=3).variance(inputs=4, outputs=4)
    0.25
    >>> student_t(df=2)
    Traceback (most recent call last):
    ValueError: df must exceed 2 for the variance to exist, got 2
    """
    return Law("student_t", variance, df=df)


def sparse(variance: Variance = "1/d") -> Law:
    """Return entries that are zero but for a fraction ``1/d`` of either sign (KER Prop. 5.2).

    With the variance 1/d: +1 and -1 with probability ``1/(2d)`` each, so about one a row.

    >>> sparse().sample(9, 9, Stream(0).runs(1)).abs().unique()
    tensor([0., 1.], dtype=torch.float64)
    """
    return Law("sparse", variance)


def xavier() -> Law:
    """Return Gaussian entries of variance ``2/(d + d')`` (Glorot and Bengio 2010).

    The harmonic mean of ``1/d``, which keeps the size of signals, and ``1/d'``, which keeps that of
    gradients.

    >>> xavier().variance(inputs=6, outputs=2)
    0.25
    """
    return Law("gaussian", "2/(d+d')")


def he() -> Law:
    """Return Gaussian entries of variance ``2/d`` (He et al. 2015).

    ReLU keeps half of the second moment of a symmetric law; the 2 makes up for it.

    >>> he().variance(inputs=8, outputs=4)
    0.25
    """
    return Law("gaussian", "2/d")


def pytorch_default() -> Law:
    """Return what ``torch.nn.Linear`` starts from: entries uniform on ``[-1/sqrt d, 1/sqrt d]``.

    The variance of ``U[-b, b]`` is ``b^2 / 3``, hence ``1/(3d)``.

    >>> bool(pytorch_default().sample(50, 4, Stream(0).runs(1)).abs().max() <= 1 / math.sqrt(4))
    True
    """
    return Law("uniform", "1/(3d)")


def _no_draw(outputs: int, inputs: int, generator: np.random.Generator) -> Any:
    raise ValueError("draw must be given")


@dataclass(frozen=True)
class OwnLaw(Law):
    """A law that a function draws; see `own`."""

    draw: Draw = _no_draw

    def __post_init__(self) -> None:
        if not callable(self.draw):
            raise ValueError(f"draw must be a function, got {self.draw!r}")

    def variance(self, inputs: int, outputs: int) -> float:
        """Refuse: nobody has said what the variance is."""
        raise ValueError("the variance of a law of your own is not known: take bias='zero'")

    def fill(self, out: Floats, generator: np.random.Generator) -> None:
        """Fill ``out`` ``(..., out, in)`` with one matrix after the other."""
        outputs, inputs = out.shape[-2:]
        for matrix in out.reshape(-1, outputs, inputs):
            drawn = np.asarray(self.draw(outputs, inputs, generator), dtype=np.float64)
            if drawn.shape != matrix.shape or not np.isfinite(drawn).all():
                raise ValueError(
                    f"weights must be finite, ({outputs}, {inputs}), got shape {drawn.shape}"
                )
            matrix[...] = drawn


def own(draw: Draw) -> Law:
    """Return the law that ``draw(out, in, generator)`` draws from, one matrix ``(out, in)`` a call.

    All randomness must come from ``generator`` (numpy's), so that the same names give the same
    numbers. Nothing is known of the law but its draws: chains take the direct engine. The columns
    of a matrix are the inputs of the layer.

    >>> band = own(lambda n, m, rng: np.tri(n, m, 1) * rng.standard_normal((n, m)))
    >>> band.sample(3, 3, Stream(0).runs(2))[0].count_nonzero(dim=1)
    tensor([2, 3, 3])
    """
    return OwnLaw("own", 1.0, draw=draw)


LAWS: dict[str, Callable[[], Law]] = {
    law.__name__: law
    for law in (
        gaussian,
        he,
        one_sided_uniform,
        orthogonal,
        pytorch_default,
        rademacher,
        sparse,
        uniform,
        xavier,
    )
}


def as_law(law: Law | str | Draw, name: str = "weights") -> Law:
    """Return ``law`` itself, the default law of that name, or that of a function (see `own`).

    >>> as_law("he").spread
    '2/d'
    """
    if isinstance(law, Law):
        return law
    if callable(law):
        return own(law)
    if law not in LAWS:
        raise ValueError(f"{name} must be a Law or one of {', '.join(LAWS)}, got {law!r}")
    return LAWS[law]()


# Each fills ``out`` with independent centered entries and returns their standard deviation.


def _draw_gaussian(out: Floats, generator: np.random.Generator, df: float) -> float:
    generator.standard_normal(out=out)
    return 1.0


def _draw_uniform(out: Floats, generator: np.random.Generator, df: float) -> float:
    generator.random(out=out)
    out -= 0.5
    return 1 / math.sqrt(12)


def _draw_rademacher(out: Floats, generator: np.random.Generator, df: float) -> float:
    _draw_uniform(out, generator, df)
    np.copysign(1.0, out, out=out)
    return 1.0


def _draw_student_t(out: Floats, generator: np.random.Generator, df: float) -> float:
    out[...] = generator.standard_t(df, out.shape)
    return math.sqrt(df / (df - 2))


def _draw_sparse(out: Floats, generator: np.random.Generator, df: float) -> float:
    inputs = out.shape[-1]
    _draw_uniform(out, generator, df)
    out[...] = np.sign(out) * (np.abs(out) >= 0.5 - 0.5 / inputs)
    return 1 / math.sqrt(inputs)


_DRAW = {
    "gaussian": _draw_gaussian,
    "uniform": _draw_uniform,
    "rademacher": _draw_rademacher,
    "student_t": _draw_student_t,
    "sparse": _draw_sparse,
}


def _haar(out: Floats, generator: np.random.Generator) -> None:
    generator.standard_normal(out=out)
    tall = torch.from_numpy(out if out.shape[-2] >= out.shape[-1] else out.swapaxes(-2, -1))
    q, r = torch.linalg.qr(tall)
    signs = torch.where(r.diagonal(dim1=-2, dim2=-1) < 0, -1.0, 1.0)
    tall.copy_(q * signs[..., None, :])
