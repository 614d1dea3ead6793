"""The settings of all training figures of COND, as Appendix I.3 and Section 7 print them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from signallab.case import Case
from signalprop._arrays import Floats

__all__ = ["CUT", "RATES", "conflicts", "late_share", "later", "printed", "rate_sums"]

BN, LN, NR, SELU, FIXUP = "batch norm", "layer norm", "NormReLU", "SELU", "Fixup"
FC, RESNET = "fully connected", "ResNet"

#: Figure, kind of network, depth, method and learning rate: Appendix I.3, in its order.
RATES: Sequence[tuple[str, str, int, str, float]] = (
    *(("1", FC, 32, method, rate) for method, rate in ((BN, 0.005), (LN, 0.003), (NR, 0.0009))),
    *(("1", RESNET, 32, method, rate) for method, rate in ((BN, 0.1), (LN, 0.05), (NR, 0.001))),
    *(("3", FC, 32, method, rate) for method, rate in ((BN, 0.01), (LN, 0.001), (NR, 0.0009))),
    *(("3", FC, 64, method, rate) for method, rate in ((BN, 0.007), (LN, 0.001), (NR, 0.0009))),
    *(("4", RESNET, 32, method, rate) for method, rate in ((BN, 0.1), (NR, 0.009))),
    *(("4", RESNET, 110, method, rate) for method, rate in ((BN, 0.05), (NR, 0.005))),
    *(("5", RESNET, 110, method, rate) for method, rate in ((FIXUP, 0.1), (NR, 0.005))),
    *(("7", FC, depth, m, r) for depth, r in ((32, 0.001), (64, 0.0005)) for m in (NR, SELU)),
    *(("8", RESNET, depth, m, r) for depth, r in ((32, 0.01), (110, 0.009)) for m in (NR, SELU)),
)
#: The rate is cut "after every 100 iterations", and training goes on for 300 epochs.
CUT = 100


def printed() -> pd.DataFrame:
    """Return :data:`RATES` as a frame: figure, network, depth, method, rate.

    >>> len(printed()), float(printed()["rate"].max())
    (26, 0.1)
    """
    return pd.DataFrame(RATES, columns=["figure", "network", "depth", "method", "rate"])


def conflicts() -> pd.DataFrame:
    """Return the networks that have several rates: network, depth, method, rates, figures, ratio.

    A network is the same if kind, depth and method are; Figure 5 trains with augmented images.

    >>> list(conflicts()["method"].unique())
    ['batch norm', 'layer norm', 'NormReLU']
    """
    rows = []
    for (network, depth, method), part in printed().groupby(
        ["network", "depth", "method"], sort=False
    ):
        if part["rate"].nunique() > 1:
            named = [
                f"{rate:g} (Figure {figure})" for figure, rate in part[["figure", "rate"]].values
            ]
            ratio = part["rate"].max() / part["rate"].min()
            rows.append((network, depth, method, ", ".join(named), ratio))
    return pd.DataFrame(rows, columns=["network", "depth", "method", "rates", "largest / smallest"])


def rate_sums(epochs: int, epoch: int, every: int, drop: float = 0.1) -> Floats:
    """Return the sum of the rates of each epoch ``(epochs,)``, the first rate being 1.

    There are ``epoch`` steps in an epoch, and the rate is multiplied by ``drop`` after ``every``
    steps. For small steps this is the time for which gradient flow runs.

    >>> rate_sums(epochs=2, epoch=3, every=2)
    array([2.1 , 0.12])
    """
    steps = np.arange(epochs * epoch)
    sums: Floats = (drop ** (steps // every).astype(float)).reshape(epochs, epoch).sum(1)
    return sums


def late_share(epochs: int, epoch: int, every: int) -> float:
    """Return the share of all the training that the epochs after the first one have.

    >>> round(late_share(epochs=2, epoch=3, every=2), 4)
    0.0541
    """
    sums = rate_sums(epochs, epoch, every)
    return float(sums[1:].sum() / sums.sum())


def later(epochs: int, epoch: int, every: int, least: float = 0.01) -> Case:
    """Whether the epochs after the first one have at least a ``least`` share of the training."""
    words = f"{epochs} epochs of {epoch} steps, cut after every {every} steps"
    return Case(least, late_share(epochs, epoch, every), words=words)
