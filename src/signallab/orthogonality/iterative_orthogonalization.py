"""Weights from the singular value decomposition of a batch: ORTH Eqs. 6, 21, Table 3, thesis A.21.

A batch is ``h`` of shape (n, d), samples as rows: the transpose of the paper's ``H``, so that
``W H`` is ``h @ W.T`` here. Its decomposition is ``h = V diag(sigma) U^T``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

import signalprop as sp
from signallab.case import Case
from signalprop.initializers import (
    initialize_,
    iterative_orthogonalization_,
    orthogonal_,
    orthogonalizing_weight,
)
from signalprop.models import unfold_rows
from signalprop.random import Stream

__all__ = [
    "after",
    "batches",
    "clipping",
    "convolution",
    "convolution_norms",
    "convolution_spectrum",
    "factor",
    "factor_is_orthogonal",
    "gap_falls",
    "gaps_through",
    "one_layer",
    "orthogonal_baseline",
    "printed_gaps",
    "printed_list",
    "proof_chain",
    "random_batch",
    "roots",
    "smallest_gap",
    "spectra",
    "table_3",
    "table_3_count",
]

Statement = Callable[..., Case]

STRICT = 1e-6  # "less than" is checked as "less by more than a millionth"
PRINTED_FEATURES = 1024  # of the first linear layer in Table 3


def random_batch(samples: int, width: int, run: int, stream: Stream) -> torch.Tensor:
    """Return a batch ``(samples, width)`` whose singular values spread over up to two decades.

    >>> random_batch(5, 3, 0, Stream(0)).shape
    torch.Size([5, 3])
    """
    g = stream.numpy("batch", samples, width, run)
    left = np.linalg.qr(g.standard_normal((samples, width))).Q
    right = np.linalg.qr(g.standard_normal((width, width))).Q
    spread = np.exp(g.uniform(0.15, 1.5) * g.standard_normal(width))
    return torch.from_numpy(left * spread @ right)


def batches(samples: Iterable[int], width: int, count: int, stream: Stream) -> list[dict[str, Any]]:
    """Return random batches as points ``h, words``, ``count`` for each number of samples."""
    return [
        {"h": random_batch(n, width, run, stream), "words": f"random batch {run}, n = {n}"}
        for n in samples
        for run in range(count)
    ]


def factor(h: torch.Tensor, how: str) -> torch.Tensor:
    """Return V' ``(d, d)`` for a batch: the first d rows of V ("slice") or what comes of them.

    "polar" is the orthogonal matrix next to the slice, "scaled" the slice times ``sqrt(n/d)``, so
    that its rows have norm 1 on average.

    >>> twins = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> rows = factor(twins, "slice")
    >>> bool(torch.allclose(rows[0], rows[1]))
    True
    """
    rows: torch.Tensor = torch.linalg.svd(h, full_matrices=False).U[: h.shape[1]]
    if how == "polar":
        u, _, vh = torch.linalg.svd(rows)
        rows = u @ vh
    elif how == "scaled":
        rows = rows * (h.shape[0] / h.shape[1]) ** 0.5
    return rows


def factor_is_orthogonal(how: str) -> Statement:
    """Return the statement "V' V'^T is the identity" of batches ``h, words``."""

    def statement(h: torch.Tensor, words: str) -> Case:
        rows = factor(h, how)
        return Case((rows @ rows.mT).numpy(), np.eye(len(rows)), _shape(h), words)

    return statement


def after(h: torch.Tensor, **choices: Any) -> torch.Tensor:
    """Return the batch ``(..., n, outputs)`` after one layer with the weights of ORTH Eq. 6.

    ``choices`` are those of :func:`signalprop.initializers.orthogonalizing_weight`.
    """
    weight: torch.Tensor = orthogonalizing_weight(h, **choices)
    return h @ weight.mT


def roots(power: float) -> Statement:
    """Return "``W H`` has the singular values ``sigma^power``, scaled to unit norm" of batches.

    The left side has the weights of Eq. 6 with an orthogonal V'; printed is ``power=1/2``.
    """

    def statement(h: torch.Tensor, words: str) -> Case:
        expected = torch.linalg.svdvals(h) ** power
        expected = expected / torch.linalg.vector_norm(expected)
        found = torch.linalg.svdvals(after(h))
        return Case(found.numpy(), expected.numpy(), _shape(h), words)

    return statement


def smallest_gap(samples: int, width: int) -> float:
    """Return ``sqrt(1/d - 1/n)``, the smallest gap of n >= d samples in d dimensions.

    >>> smallest_gap(4, 2)
    0.5
    """
    return float(np.sqrt(1 / width - 1 / samples))


def gap_falls(how: str, power: float = 0.5, *, unequal: bool = False) -> Statement:
    """Return ``V(W H) < V(H)`` of batches ``h, words``, for a choice of V' and of the power.

    ``W = V' Sigma^-power U^T`` up to scale; ``unequal`` adds a hypothesis: the d singular values of
    H are not all equal.
    """

    def statement(h: torch.Tensor, words: str) -> Case:
        before = float(sp.orthogonality_gap(h))
        sigma = torch.linalg.svdvals(h)
        hypotheses = _shape(h) | {r"$V(H) \ne 0$": before > 1e-9}
        if unequal:
            different = bool(sigma.max() > sigma.min() * (1 + 1e-6))
            hypotheses |= {"the d singular values are not all equal": different}
        behind = float(sp.orthogonality_gap(after(h, factor=how, power=power)))
        return Case(behind, before * (1 - STRICT), hypotheses, words)

    return statement


def one_layer(samples: Iterable[int], width: int, count: int, stream: Stream) -> pd.DataFrame:
    """Return what one layer does to the gap of random batches, a row for each n and V'."""
    rows = []
    for n in samples:
        h = torch.stack([random_batch(n, width, run, stream) for run in range(count)])
        before = sp.orthogonality_gap(h)
        for how in ("slice", "polar"):
            behind = {p: sp.orthogonality_gap(after(h, factor=how, power=p)) for p in (0.5, 1.0)}
            rows.append(
                {
                    "samples / width": n / width,
                    "V′": how,
                    "mean gap before": float(before.mean()),
                    "after, power −1/2": float(behind[0.5].mean()),
                    "share of rises": float((behind[0.5] > before).double().mean()),
                    "after, power −1": float(behind[1.0].mean()),
                    "smallest possible": smallest_gap(n, width),
                }
            )
    return pd.DataFrame(rows)


def spectra(samples: Iterable[int], count: int, stream: Stream) -> list[dict[str, Any]]:
    """Return points ``spectrum``: squared singular values of sum 1, from flat to rank one."""
    return [
        {"spectrum": tuple(map(float, s))}
        for n in samples
        for s in sp.spectra.varied(n, count, stream)
    ]


def proof_chain(power: float) -> Statement:
    """Return ``1 <= (sum s)^2 (sum s^3)^2 <= (sum s)^2 (sum s^4)^power`` of points ``spectrum``.

    Here s are the singular values. Left is the larger ratio of neighbours, right is 1. The paper
    ends with ``power=2``, the thesis with 1.
    """

    def statement(spectrum: Sequence[float]) -> Case:
        sigma = np.sqrt(spectrum)
        first = sigma.sum() ** 2
        middle, end = first * (sigma**3).sum() ** 2, first * (sigma**4).sum() ** power
        shown = ", ".join(f"{s:.3g}" for s in spectrum)
        total = {r"$\sum_i \sigma_i^2 = 1$": bool(np.isclose((sigma**2).sum(), 1))}
        return Case(float(max(1 / middle, middle / end)), 1.0, total, rf"$\sigma^2 = ({shown})$")

    return statement


def printed_gaps(power: float, less: bool = True) -> Statement:
    """Return ORTH Eq. 18 and the display after it of square batches ``h, words``.

    ``V(H)^power = sum sigma^4 - 1/n`` and ``V(W H)^power = (sum sigma)^-2 - 1/n``, both in one;
    printed is ``power=1``. ``less=False`` leaves out ``1/n``.
    """

    def statement(h: torch.Tensor, words: str) -> Case:
        sigma = torch.linalg.svdvals(h) / torch.linalg.matrix_norm(h)
        gaps = np.array([float(sp.orthogonality_gap(x)) for x in (h, after(h))])
        sums = np.array([float((sigma**4).sum()), float(sigma.sum()) ** -2])
        return Case(gaps**power, sums - less / len(h), _shape(h), words)

    return statement


def gaps_through(width: int, inputs: int, depth: int, runs: int, stream: Stream) -> pd.DataFrame:
    """Return ``initialization, run, hidden layer, orthogonality gap`` of ReLU networks.

    The batch has three times as many samples as the network has neurons a layer, and is the one
    that the weights are made from. First and last layer keep Xavier's weights.
    """
    frames = []
    for run in range(runs):
        draw = stream.child("network", width, run)
        x = torch.randn(3 * width, inputs, generator=draw.torch("x"), dtype=torch.float64)
        for name in INITIALIZATIONS:
            net = sp.MLP(
                *(inputs, width, depth, 10),
                weights="xavier",
                bias="none",
                stream=draw.child("weights"),
                dtype=torch.float64,
            )
            _initialize(net, x, name)
            with torch.no_grad():
                gaps = [float(sp.orthogonality_gap(h)) for h in net.states(x)]
            place = {"initialization": name, "run": run, "hidden layer": range(1, depth + 1)}
            frames.append(pd.DataFrame({**place, "orthogonality gap": gaps}))
    return pd.concat(frames, ignore_index=True)


INITIALIZATIONS: dict[str, dict[str, Any] | None] = {
    "Xavier": None,
    "orthogonal weights": None,
    "Eq. 6, slice": {"factor": "slice"},
    "Eq. 6, orthogonal": {},
    "Eq. 6, orthogonal, power −1": {"power": 1.0},
}


def _initialize(net: nn.Module, x: torch.Tensor, name: str) -> None:
    choices = INITIALIZATIONS[name]
    if choices is not None:
        iterative_orthogonalization_(net, x, **choices)
    elif name == "orthogonal weights":
        orthogonal_(net)


def convolution(turned: bool = False) -> Statement:
    """Return ``conv2d(W, H) = fold(W unfold(H))`` of points ``padding, stride, stream``.

    Left is torch's convolution of images with two channels, right the product. ``turned`` turns the
    kernel by 180 degrees: the convolution of mathematics, which no network library means.
    """

    def statement(padding: int, stride: int, stream: Stream) -> Case:
        images, kernel = _images(stream), _kernel(stream)
        expected = nn.functional.conv2d(images, kernel, None, stride, padding)
        used = kernel.flip(-1, -2) if turned else kernel
        rows = unfold_rows(images, kernel.shape[-1], padding, stride) @ used.flatten(1).mT
        count, _, *pixels = expected.shape
        folded = rows.reshape(count, *pixels, -1).movedim(-1, 1)
        return Case(expected.numpy(), folded.numpy(), words=f"padding {padding}, stride {stride}")

    return statement


def convolution_spectrum(wrong: float = 1) -> Statement:
    """Return "an initialized convolution has the spectrum ``sigma^(1-p)``, unit norm".

    Points are ``outputs, power, stream``; sigma are the singular values of the patches. Right has
    ``sigma^(wrong (1-p))`` or, for ``power=1``, ``wrong`` times the equal values. It is so for as
    many outputs as a patch has entries, and for power 1.
    """

    def statement(outputs: int, power: float, stream: Stream) -> Case:
        images = _images(stream)
        patches = unfold_rows(images, 3, 1)
        kernel = orthogonalizing_weight(patches, outputs, power=power, scale="measured")
        made = nn.functional.conv2d(images, kernel.reshape(outputs, 2, 3, 3), padding=1)
        found = torch.linalg.svdvals(made.movedim(1, -1).flatten(0, 2))
        expected = torch.linalg.svdvals(patches)[:outputs] ** (wrong * (1 - power))
        expected = expected / torch.linalg.vector_norm(expected)
        if power == 1:
            expected = wrong * expected
        return Case(found.numpy(), expected.numpy(), words=f"{outputs} outputs, power −{power:g}")

    return statement


def convolution_norms(outputs: Iterable[int], stream: Stream) -> pd.DataFrame:
    """Return the Frobenius norm of an initialized convolution's output, printed scale.

    It is 1 if V' is orthogonal and square, here for 18 outputs.
    """
    patches = unfold_rows(_images(stream), 3, 1)
    rows = []
    for count in outputs:
        norms = {
            f"norm, {how}": float(
                torch.linalg.matrix_norm(after(patches, outputs=count, factor=how))
            )
            for how in ("slice", "polar")
        }
        rows.append({"outputs": count, "entries of a patch": patches.shape[1]} | norms)
    return pd.DataFrame(rows)


def printed_list(
    repeats: int, *, padding: int = 1, strided: int | None = None, extra: bool = False
) -> list[tuple[str, int, int]]:
    """Return ORTH Table 3 up to its linear layers: ``(kind, channels, pixels)`` for 32 x 32 images.

    The convolution number ``strided`` (from 0) has stride 2. ``extra`` is the list of the authors'
    code: a second convolution with 192 channels, and one fewer with 256. Pixels that are used up
    stay 0.

    >>> printed_list(16, strided=0)[-1]
    ('pool', 256, 2)
    """
    channels = [64, 192] + [192] * extra + [256, 256] + [256] * (repeats - extra)
    layers, size = [], 32
    for index, count in enumerate(channels):
        stride = 2 if index == strided else 1
        size = max((size + 2 * padding - 3) // stride + 1, 0)
        layers.append(("conv", count, size))
        if index < 2 or index == len(channels) - 1:
            size //= 2
            layers.append(("pool", count, size))
    return layers


def table_3(poolings: int = 3, **reading: Any) -> Statement:
    """Return "the first linear layer has 1,024 inputs" of points ``repeats``, for a reading.

    ``reading`` goes to :func:`printed_list`; a rival has another number of poolings.
    """

    def statement(repeats: int) -> Case:
        _, channels, pixels = printed_list(repeats, **reading)[-1]
        pixels = pixels * 2 ** (3 - poolings)
        return Case(channels * pixels**2, PRINTED_FEATURES, words=f"{repeats} repetitions")

    return statement


def table_3_count(extra: int = 0) -> Statement:
    """Return "the list has so many convolutions" of points ``repeats, convolutions``.

    ``extra`` convolutions more are a rival.
    """

    def statement(repeats: int, convolutions: int) -> Case:
        kinds = [kind for kind, _, _ in printed_list(repeats)]
        return Case(kinds.count("conv") + extra, convolutions, words=f"{repeats} repetitions")

    return statement


def clipping(*, longer: float = 1, floor: float = 1e-2, by_rows: bool = False) -> Statement:
    """Return thesis Eq. A.21 of points ``size, weight, ratio, stream``, by cases as printed.

    Left is :func:`signalprop.training.adaptive_clip`. The gradient is ``size`` times as long as the
    threshold for weights of norm ``weight``. The options make rivals: a multiple of lambda, another
    floor, norms of rows as in the cited work.
    """

    def statement(size: float, weight: float, ratio: float, stream: Stream) -> Case:
        g = stream.numpy("clipping")
        w, gradient = g.standard_normal((2, 6, 8))
        w = weight * w / np.linalg.norm(w)
        gradient *= size * ratio * max(weight, 1e-2) / np.linalg.norm(gradient)
        blocks = range(len(w)) if by_rows else [slice(None)]
        expected = gradient.copy()
        for block in blocks:
            norm = max(float(np.linalg.norm(w[block])), floor)
            length = float(np.linalg.norm(gradient[block]))
            if length / norm >= longer * ratio:
                expected[block] = longer * ratio * norm / length * gradient[block]
        words = f"gradient {size:g} of the threshold, weights of norm {weight:g}, λ = {ratio:g}"
        return Case(sp.training.adaptive_clip(gradient, w, ratio), expected, words=words)

    return statement


def orthogonal_baseline(moment: float = 1) -> Statement:
    """Return "the baseline is ``mean(s) U V^T``" of points ``inputs, outputs, stream``.

    Left is :func:`signalprop.initializers.orthogonal_`, right has ``U V^T`` from the inverse root
    of ``W W^T``; the mean of another ``moment`` is a rival.
    """

    def statement(inputs: int, outputs: int, stream: Stream) -> Case:
        layer = nn.Linear(inputs, outputs, bias=False, dtype=torch.float64)
        initialize_(layer, "xavier", stream.child("baseline", inputs, outputs))
        w = layer.weight.detach().numpy().copy()
        squares, vectors = np.linalg.eigh(w @ w.T)
        expected = vectors / np.sqrt(squares) @ vectors.T @ w
        expected *= (squares ** (moment / 2)).mean() ** (1 / moment)
        orthogonal_(layer)
        words = f"{outputs} x {inputs}"
        hypotheses = {"full rank, no more outputs than inputs": outputs <= inputs}
        return Case(layer.weight.detach().numpy(), expected, hypotheses, words)

    return statement


def _shape(h: torch.Tensor) -> dict[str, bool]:
    sigma = torch.linalg.svdvals(h)
    return {
        r"$n \ge d$": h.shape[0] >= h.shape[1],
        "all d singular values are positive": bool(sigma.min() > 1e-9 * sigma.max()),
    }


def _images(stream: Stream) -> torch.Tensor:
    return torch.randn(6, 2, 8, 8, generator=stream.torch("images"), dtype=torch.float64)


def _kernel(stream: Stream) -> torch.Tensor:
    return torch.randn(5, 2, 3, 3, generator=stream.torch("kernel"), dtype=torch.float64)
