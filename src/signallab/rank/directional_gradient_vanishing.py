"""Gradients of single samples, layer by layer, and training that ignores its images: RANK, Fig. 8.

Frames hold one row a measurement, columns named in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

import signalprop as sp
from signallab.rank.image_training import BATCH_NORM, Plan, Setting, drawn, images, trained

__all__ = [
    "BATCH_NORM",
    "NETWORKS",
    "Setting",
    "alignment",
    "images",
    "mixed_labels",
    "paths",
    "random_images",
]

Make = Callable[..., nn.Module]

#: What normalizes (the argument ``norm`` of a network), and the law of the weights, by name.
NETWORKS: Mapping[str, tuple[Callable[[int], nn.Module] | None, str]] = {
    "batch norm": (BATCH_NORM, "pytorch_default"),
    "no normalization": (None, "pytorch_default"),
    "He weights": (None, "he"),
}


def network(setting: Setting, make: Make, name: str, run: int) -> nn.Module:
    """Return ``make(norm=...)`` with the normalization and the weights of :data:`NETWORKS`."""
    if name not in NETWORKS:
        raise ValueError(f"name must be one of {', '.join(NETWORKS)}, got {name!r}")
    norm, law = NETWORKS[name]
    return drawn(setting, lambda: make(norm=norm), law, "network", run)


def random_images(setting: Setting) -> Setting:
    """Return the setting with images of independent whole numbers from 0 to 255, labels kept."""
    drawn_numbers = setting.stream.numpy("images").integers(0, 256, setting.images.shape)
    return replace(setting, images=torch.from_numpy(drawn_numbers).to(setting.images))


def mixed_labels(setting: Setting) -> Setting:
    """Return the setting with the labels in a random order, but for those of the probe."""
    own, others = setting.labels[: setting.probe], setting.labels[setting.probe :]
    order = torch.from_numpy(setting.stream.numpy("labels").permutation(len(others)))
    return replace(setting, labels=torch.cat([own, others[order.to(others.device)]]))


def alignment(
    setting: Setting, make: Make, names: Sequence[str], batch: int, runs: int
) -> pd.DataFrame:
    """Return network, run, layer, alignment, gradient and r, before training, for each weight.

    On the last ``batch`` images: the mean ``|cos|`` between the gradients of two samples for one
    neuron (:func:`signalprop.metrics.alignment_by_layer`), the Frobenius norm of the gradient of
    the mean loss. Layers are counted from 1; the last is the head.
    """
    x, y = setting.images[-batch:], setting.labels[-batch:]
    rows = []
    for name in names:
        for run in range(runs):
            net = network(setting, make, name, run)
            losses = F.cross_entropy(net(x), y, reduction="none")
            cosines = sp.metrics.alignment_by_layer(net, losses)
            lengths = sp.metrics.gradient_norms(net, losses.mean())
            for layer, key in enumerate(lengths, 1):
                rows.append((name, run, layer, cosines[key], lengths[key]))
    return pd.DataFrame(rows, columns=["network", "run", "layer", "alignment", "gradient"])


def paths(setting: Setting, make: Make, factor: float) -> pd.DataFrame:
    """Train as the figure does; return network, run, iteration, accuracy and loss.

    ``"SGD"`` is without normalization, ``"larger rate"`` at ``factor`` times the rate, ``"random
    images"`` on those of :func:`random_images`, ``"mixed labels"`` on photographs with those of
    :func:`mixed_labels`. Run k of all four has the same weights; but for the last it sees the same
    labels in the same order. A network that diverged has NaN from then on.
    """

    def build(name: str) -> Callable[[int], nn.Module]:
        return lambda run: network(setting, make, name, run)

    real = [
        Plan("batch norm", build("batch norm")),
        Plan("SGD", build("no normalization")),
        Plan("larger rate", build("no normalization"), factor * setting.rate),
        Plan("He weights", build("He weights")),
    ]
    changed = {"random images": random_images, "mixed labels": mixed_labels}
    frames = [trained(setting, real)]
    for name, change in changed.items():
        frames.append(trained(change(setting), [Plan(name, build("no normalization"))]))
    return pd.concat(frames, ignore_index=True)
