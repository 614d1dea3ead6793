"""What is recorded of networks side by side, on labelled batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["METRICS", "Score", "accuracy", "cross_entropy", "measure"]

Score = Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]
"""From a model, inputs (models, n, ...) and labels (models, n) to values (models, ...)."""


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean ``(models,)`` of ``(models, n, classes)`` against labels ``(models, n)``.

    >>> cross_entropy(torch.zeros(1, 3, 4), torch.zeros(1, 3, dtype=torch.int64)).exp()
    tensor([4.])
    """
    try:
        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    except IndexError as error:
        classes = logits.shape[-1]
        raise ValueError(f"labels must be in 0..{classes - 1}, of {classes} classes") from error
    return losses.reshape(labels.shape).mean(-1)


def accuracy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the share ``(models,)`` of samples whose largest logit is their label's.

    >>> accuracy(torch.tensor([[[1.0, 0.0], [1.0, 0.0]]]), torch.tensor([[0, 1]]))
    tensor([0.5000])
    """
    return (logits.argmax(-1) == labels).float().mean(-1)


METRICS: Mapping[str, Score] = {
    "loss": lambda model, x, y: cross_entropy(model(x), y),
    "accuracy": lambda model, x, y: accuracy(model(x), y),
}


def require_samples(inputs: torch.Tensor, labels: torch.Tensor, name: str) -> None:
    """Raise unless the two are samples and a label for each."""
    if not inputs.ndim or labels.ndim != 1 or not len(inputs) == len(labels) > 0:
        shapes = f"{tuple(inputs.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"{name} must be (N, ...) and (N,) with N >= 1, got {shapes}")


def measure(
    model: nn.Module,
    inputs: torch.Tensor,
    labels: torch.Tensor,
    models: int,
    batch: int,
    metrics: Mapping[str, Score] = METRICS,
) -> dict[str, torch.Tensor]:
    """Return the mean of each metric over batches of ``inputs`` ``(N, ...)``, in its own type.

    The model is in evaluation mode. All networks see the same batches, which are as in training:
    without the samples left over. That matters where a norm looks at the batch.

    >>> values = measure(nn.Identity(), torch.eye(4), torch.arange(4), models=1, batch=2)
    >>> float(values["accuracy"])
    1.0
    """
    require_samples(inputs, labels, "inputs and labels")
    if models < 1 or batch < 1:
        raise ValueError(f"models and batch must be at least 1, got {models} and {batch}")
    training = model.training
    total = {name: torch.zeros((), dtype=torch.float64) for name in metrics}
    count = max(len(inputs) // batch, 1)
    try:
        model.eval()
        with torch.no_grad():
            for i in range(count):
                part = slice(i * batch, (i + 1) * batch)
                x = inputs[part].expand(models, *inputs[part].shape)
                y = labels[part].expand(models, -1)
                for name, metric in metrics.items():
                    total[name] = total[name] + metric(model, x, y).cpu() / count
    finally:
        model.train(training)
    return total
