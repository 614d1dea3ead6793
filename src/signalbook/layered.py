"""A graph drawn in columns: what is needed stands left of what needs it.

After Sugiyama, Tagawa and Toda (1981): columns by the longest path, an order within each column
that crosses few lines, heights near those of the neighbours. Lines that pass a column have a place
there too, so that they run between the nodes and not through them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

__all__ = ["Layout", "laid_out"]

Place = tuple[float, float]
#: A node, or the place where a line that begins at a node passes a column.
Stop = tuple[str, int]

SWEEPS = 12  # of ordering and of placing; more change nothing that can be seen


@dataclass(frozen=True)
class Layout:
    """Where the nodes stand (their centres), and through which places the lines run.

    ``routes`` has an entry for each pair of a need and its user; lengths are those that
    :func:`laid_out` was given. Heights begin at 0.
    """

    places: dict[str, Place]
    routes: dict[tuple[str, str], list[Place]]

    @property
    def size(self) -> Place:
        """The largest coordinates of any place."""
        every = [*self.places.values(), *(p for route in self.routes.values() for p in route)]
        return max((x for x, _ in every), default=0.0), max((y for _, y in every), default=0.0)


def laid_out(
    nodes: Sequence[str],
    needs: Mapping[str, Iterable[str]],
    *,
    column: float = 1.0,
    row: float = 1.0,
    line: float = 0.3,
) -> Layout:
    """Place the ``nodes``, each right of what it ``needs``; circles are cut where they close.

    ``column`` and ``row`` are the distances between nodes, ``line`` is the room of a line that
    passes a column. Needs that are not among the nodes are left out.

    >>> drawn = laid_out("abc", {"b": "a", "c": "ab"})
    >>> [round(drawn.places[name][0]) for name in "abc"], len(drawn.routes["a", "c"])
    ([0, 1, 2], 3)
    """
    pairs = [(need, user) for user in nodes for need in needs.get(user, ()) if need in set(nodes)]
    columns = _columns(nodes, pairs)
    routes = {pair: _route(pair, columns) for pair in pairs}
    order = _ordered(nodes, columns, routes)
    height = {
        stop: line if stop[1] != columns[stop[0]] else row for stops in order for stop in stops
    }
    heights = _heights(order, routes.values(), height)
    lowest = min(heights.values(), default=0.0)

    def place(stop: Stop) -> Place:
        return stop[1] * column, heights[stop] - lowest

    return Layout(
        {name: place((name, columns[name])) for name in nodes},
        {pair: [place(stop) for stop in route] for pair, route in routes.items()},
    )


def _columns(nodes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The column of each node: one more than that of the last thing it needs.

    What needs nothing stands right before the first that uses it.
    """
    needed: dict[str, list[str]] = {name: [] for name in nodes}
    used: dict[str, list[str]] = {name: [] for name in nodes}
    for need, user in pairs:
        needed[user].append(need)
        used[need].append(user)
    found: dict[str, int] = {}

    def depth(name: str, path: tuple[str, ...]) -> int:
        if name not in found:
            below = [n for n in needed[name] if n not in path]
            found[name] = max((depth(n, (*path, name)) + 1 for n in below), default=0)
        return found[name]

    for name in nodes:
        depth(name, (name,))
    for name in nodes:
        if not needed[name] and used[name]:
            found[name] = max(0, min(found[user] for user in used[name]) - 1)
    return found


def _route(pair: tuple[str, str], columns: Mapping[str, int]) -> list[Stop]:
    """The stops of a line; lines that begin at one node share their places in each column."""
    need, user = pair
    passed = range(columns[need] + 1, columns[user])
    return [(need, columns[need]), *((need, at) for at in passed), (user, columns[user])]


def _ordered(
    nodes: Sequence[str],
    columns: Mapping[str, int],
    routes: Mapping[tuple[str, str], Sequence[Stop]],
) -> list[list[Stop]]:
    """The stops of each column from top to bottom, by the mean place of their neighbours."""
    stops = dict.fromkeys(
        [(n, columns[n]) for n in nodes] + [s for r in routes.values() for s in r]
    )
    count = max((at for _, at in stops), default=-1) + 1
    order = [[stop for stop in stops if stop[1] == at] for at in range(count)]
    left, right = _neighbours(routes.values())
    for sweep in range(SWEEPS):
        sides, beside = (order, left) if sweep % 2 == 0 else (order[::-1], right)
        for before, here in pairwise(sides):
            wanted = _wanted(before, here, beside)
            here.sort(key=wanted.__getitem__)
    return order


def _wanted(
    before: Sequence[Stop], here: Sequence[Stop], beside: Mapping[Stop, set[Stop]]
) -> dict[Stop, float]:
    """Where each stop of a column would stand best: at the mean rank of those it is tied to."""
    rank = {stop: place for place, stop in enumerate(before)}
    scale = len(before) / max(1, len(here))
    found = {}
    for place, stop in enumerate(here):
        tied = [rank[other] for other in beside.get(stop, ()) if other in rank]
        found[stop] = float(np.mean(tied)) if tied else place * scale
    return found


def _neighbours(
    routes: Iterable[Sequence[Stop]],
) -> tuple[dict[Stop, set[Stop]], dict[Stop, set[Stop]]]:
    """The stops right before and right after each stop on the routes."""
    left: dict[Stop, set[Stop]] = {}
    right: dict[Stop, set[Stop]] = {}
    for route in routes:
        for a, b in pairwise(route):
            left.setdefault(b, set()).add(a)
            right.setdefault(a, set()).add(b)
    return left, right


def _heights(
    order: Sequence[Sequence[Stop]], routes: Iterable[Sequence[Stop]], room: Mapping[Stop, float]
) -> dict[Stop, float]:
    """Heights that keep the order and the room between stops, near those of the neighbours."""
    left, right = _neighbours(routes)
    offsets = [_offsets([room[stop] for stop in stops]) for stops in order]
    found = {
        stop: float(offset - offsets[at][-1] / 2)
        for at, stops in enumerate(order)
        for stop, offset in zip(stops, offsets[at], strict=True)
    }
    for sweep in range(SWEEPS):
        for at in range(len(order)) if sweep % 2 == 0 else reversed(range(len(order))):
            stops = order[at]
            near = [
                [found[other] for other in {*left.get(stop, ()), *right.get(stop, ())}]
                for stop in stops
            ]
            wanted = [
                np.mean(others) if others else found[stop]
                for stop, others in zip(stops, near, strict=True)
            ]
            # Least squares under "at least the room apart": an isotonic regression.
            from scipy.optimize import isotonic_regression  # the build starts without scipy

            free = isotonic_regression(np.array(wanted) - offsets[at]).x
            found |= zip(stops, map(float, free + offsets[at]), strict=True)
    return found


def _offsets(rooms: Sequence[float]) -> np.ndarray:
    """How far below the first each stop of a column must at least stand."""
    halves = np.array(rooms) / 2
    return np.concatenate([[0.0], np.cumsum(halves[:-1] + halves[1:])])
