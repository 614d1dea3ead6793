"""What metrics say of every layer of any torch module, forward and backward, while it runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import torch
from torch import nn

__all__ = ["Probe", "probe"]


def __dir__() -> list[str]:
    """Complete with the names that are meant to be used, not with what is imported here."""
    return __all__


Metric = Callable[[torch.Tensor], Any]
READINGS = ("positions", "inputs")

#: Modules whose second dimension holds the channels, even where there are only three.
CHANNELS_SECOND = (
    nn.modules.conv._ConvNd,
    nn.modules.batchnorm._BatchNorm,
    nn.modules.instancenorm._InstanceNorm,
    nn.GroupNorm,
)
WHOLE = (nn.MultiheadAttention, nn.RNNBase)  # their parts do not run by themselves


def probe(
    model: nn.Module,
    metrics: Sequence[Metric] | Mapping[str, Metric],
    *,
    gradients: bool = False,
    layers: Sequence[str | type[nn.Module]] | None = None,
    reading: str = "positions",
    channels: int | None = None,
    strict: bool = True,
) -> Probe:
    """Measure what leaves each layer of ``model`` while the ``with`` block runs it.

    ``metrics`` are functions of one batch ``(n, d)`` to a number, such as those of
    `signalprop.metrics`; a mapping gives them names. With ``gradients`` the gradients of whatever
    is differentiated, by what leaves the layers, are measured too. ``layers`` chooses by name (as
    in ``model.named_modules()``) or by class; all that have no parts are taken if it is not said.

    What counts as a sample is a choice, and stands in each row:

    - ``reading="positions"``: an image ``(N, C, H, W)`` is ``N H W`` samples of C features, a
      sequence ``(N, T, d)`` is ``N T`` samples of d features (after a convolution or batch norm
      ``(N, C, L)``: ``N L`` of C)
    - ``reading="inputs"``: each input is one sample of all its entries

    ``channels`` is the dimension of the features, if it is another than that.

    A metric that refuses a batch (a zero matrix has no gap) raises, with the layer's name in a
    note. ``strict=False`` puts NaN and the reason into the row instead.

    Networks side by side (`MLP` with seeds, `Stacked`) have a row each, with the ``network``.

    The model is not changed, and neither are its numbers: the hooks go when the block ends.

    >>> from signalprop import rank
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> with probe(model, [rank], gradients=True) as seen:
    ...     model(torch.randn(3, 4)).square().sum().backward()
    >>> [(row["layer"], row["signal"], row["rank"]) for row in seen.rows][:3]
    [('0', 'forward', 3.0), ('1', 'forward', 3.0), ('2', 'forward', 2.0)]
    """
    if not isinstance(model, nn.Module):
        raise ValueError(f"model must be an nn.Module, got {type(model).__name__}")
    if reading not in READINGS:
        raise ValueError(f"reading must be one of {', '.join(READINGS)}, got {reading!r}")
    return Probe(model, _named(metrics), gradients, layers, reading, channels, strict)


class Probe:
    """What was measured, a row for each layer and pass; made by `probe`.

    ``rows`` are dictionaries: the number of the model's ``pass``, the name and ``kind`` of the
    ``layer``, which ``call`` of it in this pass, the ``signal`` (forward or backward), how it was
    read (``samples``, ``features``, ``reading``), and the value of each metric. Backward rows come
    in the order of the backward pass.

    >>> from signalprop import soft_rank
    >>> with probe(nn.Linear(2, 3), {"soft": soft_rank}) as seen:
    ...     _ = seen.model(torch.eye(2))
    >>> seen
    Probe(Linear, 1 rows, metrics: soft)
    """

    def __init__(
        self,
        model: nn.Module,
        metrics: Mapping[str, Metric],
        gradients: bool,
        layers: Sequence[str | type[nn.Module]] | None,
        reading: str,
        channels: int | None,
        strict: bool,
    ) -> None:
        self.model, self.metrics, self.gradients = model, metrics, gradients
        self.reading, self.channels, self.strict = reading, channels, strict
        self.rows: list[dict[str, Any]] = []
        self._layers = _chosen(model, layers)
        self._hooks: list[Any] = []
        self._passes = 0
        self._models = getattr(model, "models", None)
        self._calls: dict[str, int] = {}

    def __enter__(self) -> Probe:
        if self._hooks:
            raise RuntimeError("this probe is running already")
        self._hooks = [self.model.register_forward_pre_hook(self._begin)]
        for name, module in self._layers.items():
            self._hooks.append(module.register_forward_hook(self._seen(name)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    @property
    def unseen(self) -> list[str]:
        """The layers that were to be measured and did not run, by name."""
        seen = {row["layer"] for row in self.rows}
        return [name for name in self._layers if name not in seen]

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame (needs pandas), one column for each key."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def __repr__(self) -> str:
        names = ", ".join(self.metrics)
        return f"Probe({type(self.model).__name__}, {len(self.rows)} rows, metrics: {names})"

    def _begin(self, module: nn.Module, arguments: Any) -> None:
        self._passes += 1
        self._calls = {}

    def _seen(self, name: str) -> Callable[[nn.Module, Any, Any], None]:
        def hook(module: nn.Module, arguments: Any, output: Any) -> None:
            leaving = output[0] if isinstance(output, tuple) else output
            if not isinstance(leaving, torch.Tensor) or not leaving.is_floating_point():
                return
            call = self._calls.get(name, 0) + 1
            self._calls[name] = call
            number = self._passes - 1
            self._record(name, module, leaving, "forward", number, call)
            if self.gradients and leaving.requires_grad:

                def backward(gradient: torch.Tensor) -> None:
                    self._record(name, module, gradient, "backward", number, call)

                leaving.register_hook(backward)  # type: ignore[no-untyped-call]

        return hook

    def _record(
        self,
        name: str,
        module: nn.Module,
        values: torch.Tensor,
        signal: str,
        number: int,
        call: int,
    ) -> None:
        values = values.detach()
        several = isinstance(self._models, int) and values.ndim > 2 and len(values) == self._models
        for network, each in enumerate(values if several else [values]):
            batch, read = self._batch(module, each)
            row: dict[str, Any] = {"network": network} if several else {}
            row |= {
                "pass": number,
                "layer": name,
                "kind": module._get_name(),  # type: ignore[no-untyped-call]
                "call": call,
                "signal": signal,
                "samples": batch.shape[0],
                "features": batch.shape[1],
                "reading": read,
            }
            for title, metric in self.metrics.items():
                row[title] = self._value(title, metric, batch, row)
            self.rows.append(row)

    def _value(self, title: str, metric: Metric, batch: torch.Tensor, row: dict[str, Any]) -> float:
        try:
            with torch.no_grad():
                return _number(metric(batch), title)
        except ValueError as error:
            if self.strict:
                error.add_note(f"{title}, {row['signal']}, at layer {row['layer']!r} of the model")
                raise
            row["remark"] = f"{title}: {error}"
            return math.nan

    def _batch(self, module: nn.Module, values: torch.Tensor) -> tuple[torch.Tensor, str]:
        """Return ``values`` as ``(n, d)``, and in words what the samples are."""
        if values.ndim < 2:
            return values.reshape(-1, 1), "inputs"
        if values.ndim == 2 and self.channels is None:
            return values, "inputs"
        if self.reading == "inputs":
            return values.flatten(1), "inputs"
        second = values.ndim > 3 or isinstance(module, CHANNELS_SECOND)
        features = self.channels if self.channels is not None else (1 if second else -1)
        last = values.movedim(features, -1)
        return last.flatten(0, -2), "positions"


def _named(metrics: Sequence[Metric] | Mapping[str, Metric]) -> Mapping[str, Metric]:
    if callable(metrics) or isinstance(metrics, str):
        raise ValueError(f"metrics must be a list, got {metrics!r}: write [...]")
    if isinstance(metrics, Mapping):
        named = dict(metrics)
    else:
        named = {str(getattr(metric, "__name__", "metric")): metric for metric in metrics}
        if len(named) < len(metrics):
            raise ValueError("metrics must have names of their own: give them as a mapping")
    if not named or not all(callable(metric) for metric in named.values()):
        raise ValueError(f"metrics must be functions of a batch, at least one, got {metrics!r}")
    return named


def _chosen(
    model: nn.Module, layers: Sequence[str | type[nn.Module]] | None
) -> dict[str, nn.Module]:
    """Return the modules to look at, by name; the model itself is called by its class."""
    named = {name or type(model).__name__: part for name, part in model.named_modules()}
    if layers is None:
        return {name: part for name, part in named.items() if _is_leaf(name, part, named)}
    if isinstance(layers, str):
        raise ValueError(f"layers must be a list of names or classes, got {layers!r}")
    found: dict[str, nn.Module] = {}
    for wanted in layers:
        if isinstance(wanted, str):
            fitting = {wanted: named[wanted]} if wanted in named else {}
        else:
            fitting = {name: part for name, part in named.items() if isinstance(part, wanted)}
        if not fitting:
            raise ValueError(f"layers must be among {', '.join(named)}, got {wanted!r}")
        found |= fitting
    return {name: part for name, part in named.items() if name in found}


def _is_leaf(name: str, part: nn.Module, named: Mapping[str, nn.Module]) -> bool:
    if any(isinstance(whole, WHOLE) and name.startswith(f"{of}.") for of, whole in named.items()):
        return False
    return isinstance(part, WHOLE) or not any(part.children())


def _number(value: Any, title: str) -> float:
    number = torch.as_tensor(value)
    if number.numel() != 1:
        raise ValueError(f"{title} must map (n, d) to a number, got shape {tuple(number.shape)}")
    return float(number)
