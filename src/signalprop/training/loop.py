"""The training of many small networks at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from signalprop.random import Stream, as_stream
from signalprop.training import checkpoint
from signalprop.training.history import Diverged, History, collect
from signalprop.training.recipe import Group, Recipe, batches
from signalprop.training.scores import METRICS, Score, cross_entropy, measure, require_samples
from signalprop.training.sgd import descending

__all__ = ["print_progress", "train"]

Progress = Callable[[str, int, int], None]
Data = tuple[torch.Tensor, torch.Tensor]


def train(
    groups: Sequence[Group],
    inputs: torch.Tensor,
    labels: torch.Tensor,
    recipe: Recipe,
    *,
    probe: Data | None = None,
    metrics: Mapping[str, Score] = METRICS,
    seed: Stream | int = 0,
    folder: Path | str | None = None,
    progress: Progress | None = None,
) -> dict[str, History]:
    """Train the networks of all groups, in place, and return what was recorded, by group name.

    ``inputs`` ``(N, ...)`` and integer ``labels`` ``(N,)`` lie on the models' device. ``metrics``
    are taken on ``probe`` (inputs and labels; by default the training data), in batches of the
    recipe's size. With a ``folder`` each group keeps a checkpoint there; a run that was stopped
    continues from it and ends with the very numbers it would have had, and one that had ended
    returns at once. ``progress`` is called with group name, steps done and steps in all.

    A network's batches depend on its seed and on ``seed`` only: trained alone or beside others it
    goes the same way, to rounding. (Dropout is the exception: its masks are drawn for all networks
    of a group together.) When a network's loss is no longer finite it is set to zero and stays
    there, the others go on, and its records are NaN; if none is left at all: `Diverged`.

    >>> from signalprop.models import MLP
    >>> x = torch.randn(64, 4, generator=Stream(0).torch())
    >>> group = Group("toy", MLP(4, 16, 1, 2, seeds=[0, 1]), seeds=[0, 1], rates=[0.5, 0.5])
    >>> history = train([group], x, (x[:, 0] > 0).long(), Recipe(steps=100, batch=16))["toy"]
    >>> bool((history.final("accuracy") > 0.9).all())
    True
    """
    names = [group.name for group in groups]
    if len(set(names)) < len(names) or not names:
        raise ValueError(f"groups must have names of their own, got {names}")
    data, stream = (inputs, labels), as_stream(seed)
    _check(data, "inputs and labels")
    probe = data if probe is None else probe
    _check(probe, "probe")
    devices = {t.device for t in (*data, *probe)} | {
        p.device for group in groups for p in group.model.parameters()
    }
    if len(devices) > 1:
        raise ValueError(f"groups, inputs, labels and probe must be on one device, got {devices}")
    parts = (*data, *probe, recipe, stream, sorted(metrics))
    identity = checkpoint.run_identity(*parts) if folder else ""
    histories = {}
    for group in groups:
        run = _Run(group, recipe, stream, metrics, probe)
        file = Path(folder) / f"{group.name}.pt" if folder else None
        histories[group.name] = run.complete(data, file, identity, progress)
    if all((history.diverged_at >= 0).all() for history in histories.values()):
        steps = {name: history.diverged_at.tolist() for name, history in histories.items()}
        raise Diverged(f"all networks diverged, at steps {steps}: try smaller rates")
    return histories


def print_progress(name: str, done: int, steps: int) -> None:
    """Show the progress of `train` on stderr: on one line of a terminal, a hundred times a group.

    Where stderr is a file or a pipe, ten times, each on a line of its own.

    >>> print_progress("toy", 5, 1000)     # between two hundredths: says nothing
    """
    terminal = sys.stderr.isatty()
    times = 100 if terminal else 10
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    if done * times // steps > (done - 1) * times // steps:
        start, end = ("\r", "") if terminal else ("", "\n")
        end = "\n" if done == steps else end
        print(f"{start}{name}: {done}/{steps} steps", end=end, file=sys.stderr, flush=True)


class _Run:
    """The training of one group: what changes while it lasts, and how."""

    def __init__(
        self,
        group: Group,
        recipe: Recipe,
        stream: Stream,
        metrics: Mapping[str, Score],
        probe: Data,
    ) -> None:
        self.group, self.recipe, self.stream = group, recipe, stream
        self.metrics, self.probe = metrics, probe
        self.step = 0
        self.records: list[tuple[int, dict[str, torch.Tensor]]] = []
        self.diverged_at = torch.full((len(group.seeds),), -1)
        self.first = torch.zeros(0)  # outputs before training, where there is a checkpoint
        one = next(group.model.parameters())
        self.base_rates = torch.tensor(group.rates, device=one.device, dtype=one.dtype)
        self.rates = self.base_rates.clone()

    def complete(
        self, data: Data, file: Path | None, identity: str, progress: Progress | None
    ) -> History:
        group, recipe = self.group, self.recipe
        if file is not None:
            shape = checkpoint.structure(group.model)
            parts = (identity, group.name, list(group.seeds), list(group.rates), shape)
            identity = checkpoint.run_identity(*parts, *group.model.state_dict().values())
            self.first = self.outputs()
            self.restore(checkpoint.read_checkpoint(file, identity), file)
        order = batches(self.stream, group.seeds, len(data[0]), recipe.batch, self.step)
        with descending(group.model, self.rates, recipe.clip):
            if not self.records:
                self.record()
            while self.step < recipe.steps and (self.diverged_at < 0).any():
                rows = next(order).to(data[0].device)
                self.advance(data[0][rows], data[1][rows])
                if self.step == recipe.steps:
                    self.look_once_more()
                if recipe.records(self.step) or not (self.diverged_at < 0).any():
                    self.record()
                    if file is not None:
                        checkpoint.write_checkpoint(file, self.state(), identity)
                if progress is not None:
                    progress(group.name, self.step, recipe.steps)
        return collect(group.name, group.seeds, group.rates, self.records, self.diverged_at)

    def advance(self, x: torch.Tensor, y: torch.Tensor) -> None:
        torch.mul(self.base_rates, self.recipe.rate_factor(self.step), out=self.rates)
        with _own_randomness(self.stream.child("noise"), self.step, x.device):
            losses = cross_entropy(self.group.model(x), y)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        self.step += 1
        finite = torch.isfinite(losses.detach())
        if not bool(finite.all()):
            self.freeze(~finite)

    def look_once_more(self) -> None:
        """Freeze what the last step has made diverge: no loss of a further step will tell."""
        (x, y), loss = self.probe, {"loss": METRICS["loss"]}
        models, batch = len(self.group.seeds), self.recipe.batch
        losses = measure(self.group.model, x, y, models, batch, loss)["loss"]
        self.freeze(~torch.isfinite(losses))

    @torch.no_grad()
    def freeze(self, diverged: torch.Tensor) -> None:
        for parameter in self.group.model.parameters():
            parameter[diverged] = 0
        self.base_rates[diverged] = 0
        self.diverged_at[diverged.cpu() & (self.diverged_at < 0)] = self.step

    def record(self) -> None:
        group, (x, y) = self.group, self.probe
        models, batch = len(group.seeds), self.recipe.batch
        values = measure(group.model, x, y, models, batch, self.metrics)
        for value in values.values():
            value[self.diverged_at >= 0] = torch.nan
        self.records.append((self.step, values))

    @torch.no_grad()
    def outputs(self) -> torch.Tensor:
        """Return what the models make of a few inputs: two functions may have one name."""
        x = self.probe[0][: self.recipe.batch]
        model = self.group.model
        training = model.training
        values: torch.Tensor = model.eval()(x.expand(len(self.group.seeds), *x.shape)).cpu()
        model.train(training)
        return values

    def state(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "step": self.step,
            "records": self.records,
            "diverged_at": self.diverged_at,
            "parameters": self.group.model.state_dict(),
        }

    def restore(self, state: dict[str, Any] | None, file: Path) -> None:
        if state is not None:
            # as on another device: not to the bit
            if not torch.allclose(state["first"], self.first, rtol=1e-2, atol=1e-4, equal_nan=True):
                raise ValueError(
                    f"checkpoint {file} is of another run, whose untrained networks have other "
                    "outputs: delete it or choose another folder"
                )
            self.step, self.records = state["step"], state["records"]
            self.diverged_at = state["diverged_at"]
            self.group.model.load_state_dict(state["parameters"])
            self.base_rates[(self.diverged_at >= 0).to(self.base_rates.device)] = 0


@contextmanager
def _own_randomness(stream: Stream, step: int, device: torch.device) -> Iterator[None]:
    """Give what draws from torch's global generator (dropout) its own numbers at each step."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        # torch.manual_seed notes where it is called from: up to a tenth of a small step
        seed = stream.torch(step).initial_seed()
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            torch.cuda.manual_seed(seed)
        yield


def _check(data: Data, name: str) -> None:
    inputs, labels = data
    require_samples(inputs, labels, name)
    if labels.dtype != torch.int64 or int(labels.min()) < 0:
        raise ValueError(f"{name}: labels must be non-negative int64, got {labels.dtype}")
    if not bool(torch.isfinite(inputs).all()):
        raise ValueError(f"{name}: inputs must be finite")
