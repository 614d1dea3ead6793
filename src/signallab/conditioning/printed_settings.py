"""The printed learning rates of COND, Appendix I.3, tried as they are printed, and their cost.

The list itself is in :mod:`signallab.conditioning.settings_of_experiments`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import torch
from torch import nn

import signalprop as sp
from signallab.conditioning import image_training as training
from signallab.conditioning import settings_of_experiments as settings
from signallab.conditioning.image_training import Data, Setting
from signallab.conditioning.training_fully_connected import builder
from signalprop.random import Stream

__all__ = ["Tried", "costs", "distinct", "first_steps", "side_by_side", "tried"]

Tried = tuple[str, int, float]
#: Section 7: "small learning rates, of the order of 1e-5".
IN_THE_TEXT = (("Section 7", settings.FC, 32, settings.NR, 1e-5),)


def _printed() -> pd.DataFrame:
    text = pd.DataFrame(IN_THE_TEXT, columns=["figure", "network", "depth", "method", "rate"])
    figures = settings.printed()
    return pd.concat([figures.assign(figure="Figure " + figures["figure"]), text])


def side_by_side(network: str) -> pd.DataFrame:
    """Return depth, method and a column with the rate of every figure that has such networks.

    >>> side_by_side("fully connected").query("depth == 64")["Figure 3"].dropna().tolist()
    [0.0009, 0.007, 0.001]
    """
    rows = _printed()
    rows = rows[rows["network"] == network]
    wide = rows.pivot(index=["depth", "method"], columns="figure", values="rate")
    return wide.rename_axis(columns=None).reset_index()


def distinct(network: str) -> list[Tried]:
    """Return every method, depth and rate that the document names for a kind of network, once.

    >>> len(distinct("fully connected")), len(distinct("ResNet"))
    (13, 11)
    """
    rows = _printed()
    rows = rows[rows["network"] == network][["method", "depth", "rate"]].drop_duplicates()
    return [(str(m), int(d), float(r)) for m, d, r in rows.itertuples(index=False)]


def tried(
    setting: Setting, plans: Sequence[Tried], depths: Mapping[int, int], factor: float = 1.0
) -> pd.DataFrame:
    """Train a network for each of ``plans``, at ``factor`` times its rate.

    ``depths`` are those that stand in for the printed ones. Returns method, printed depth and rate,
    and the accuracies at the end, NaN for a network that diverged.
    """
    left, frames = list(plans), []
    while left:
        # one rate of each method and depth at a time: networks of one name cannot be told apart
        now = {(method, depth): rate for method, depth, rate in reversed(left)}
        left = [plan for plan in left if now[plan[:2]] != plan[2]]
        rates = {(m, depths[d]): factor * rate for (m, d), rate in now.items()}
        part = replace(setting, name=f"{setting.name} {factor:g} {len(left)}")
        found = training.trained(part, rates).set_index(["method", "depth"])
        last = found[found["epoch"] == setting.epochs]
        for (method, depth), rate in now.items():
            of = last.loc[[(method, depths[depth])], ["train accuracy", "test accuracy"]].mean()
            frames.append({"method": method, "depth": depth, "rate": rate, **of})
    return pd.DataFrame(frames).sort_values(["depth", "method", "rate"], ignore_index=True)


def first_steps(
    data: Data, plans: Sequence[Tried], width: int, count: int, stream: Stream
) -> pd.DataFrame:
    """Take ``count`` steps on all images of ``data``, one fully connected network at a time.

    Returns method, depth, rate and the loss before each step and after the last; it is NaN from
    where it became infinite.
    """
    rows = []
    for plan in plans:
        losses = _losses(data, plan, width, count, stream)
        named = {f"after {k}": loss for k, loss in enumerate(losses)}
        rows.append({**dict(zip(("method", "depth", "rate"), plan, strict=True)), **named})
    found = pd.DataFrame(rows)
    return found.where(found != float("inf"))


def _losses(data: Data, plan: Tried, width: int, count: int, stream: Stream) -> list[float]:
    """The network lives in this call alone: two of full width would take twice the memory."""
    method, depth, rate = plan
    net = builder(data, width, stream)(method, depth, [0])
    with sp.training.descending(net, torch.tensor([rate])):
        losses = [_step(net, data) for _ in range(count)]
    with torch.no_grad():
        return [*losses, float(_loss(net, data))]


def _step(net: nn.Module, data: Data) -> float:
    loss = _loss(net, data)
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def _loss(net: nn.Module, data: Data) -> torch.Tensor:
    return nn.functional.cross_entropy(net(data.x)[0], data.labels)


def costs(measured: pd.DataFrame, epoch: int, epochs: int, runs: int) -> pd.DataFrame:
    """Return what the document's training takes: network, depth, settings, hours a run and in all.

    ``measured`` holds network, depth and "seconds a step", and ``epoch`` steps are an epoch. A
    setting is a method with a rate in a figure; each has ``runs`` runs.

    >>> table = pd.DataFrame({"network": ["ResNet"], "depth": [32], "seconds a step": [1.0]})
    >>> costs(table, epoch=6, epochs=300, runs=10).round(1).iloc[0, 2:].tolist()
    [1.0, 7.0, 0.5, 35.0]
    """
    rows = []
    for entry in measured.to_dict("records"):
        columns = settings.printed()
        same = (columns["network"] == entry["network"]) & (columns["depth"] == entry["depth"])
        count = int(same.sum())
        hours = entry["seconds a step"] * epoch * epochs / 3600
        rows.append(
            {**entry, "settings": count, "hours a run": hours, "in all": hours * runs * count}
        )
    return pd.DataFrame(rows)
