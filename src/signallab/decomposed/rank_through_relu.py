"""Sign classes in the plane, and the neurons that ReLU features need for full rank (DEC Sec. I).

Points are rows ``(n, k)``, the columns of DEC's X. In the plane the waiting time y of Theorem 3 has
an exact law. The rank of generic rows ``ReLU(w X)`` depends only on how many of them lie in each
sign class, and a third row of one class adds nothing, as the class spans two dimensions. So counts
up to two are a finite Markov chain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import scipy

import signalprop as sp
from signallab.case import Case
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.random import Stream

__all__ = [
    "added_column",
    "bundle",
    "certified",
    "chernoff",
    "circle",
    "conditional_tail",
    "decay",
    "equally_spaced",
    "expected_rows",
    "failing",
    "flipped",
    "geometric_rate",
    "growth_of_certified",
    "impossible",
    "independence",
    "integer_instances",
    "joint_law",
    "lemma_2",
    "most_classes",
    "product_rank",
    "rank_modulo",
    "sharper_bound",
    "simulated_rows",
    "span_dimension",
    "success",
    "tail",
    "volumes",
    "waits",
    "weaker_tail",
]

PRIME = 2**31 - 1
Integers = np.ndarray[Any, np.dtype[np.int64]]


def circle(n: int) -> Floats:
    """Return the n equally spaced points of DEC's example, ``(n, 2)``.

    >>> circle(2).round(12) + 0.0
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    angles = 2 * np.pi * np.arange(1, n + 1) / n
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def bundle(gap: float) -> Floats:
    """Return three points in the plane whose directions are ``gap`` turns apart, ``(3, 2)``.

    >>> round(float(sp.metrics.gamma(bundle(0.01))), 12)
    0.01
    """
    angles = 2 * np.pi * gap * np.arange(-1, 2)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _gamma(x: Any) -> float:
    return float(sp.metrics.gamma(x))


def equally_spaced(n: int, lines: int = 2, volume: int = 2) -> Case:
    """The example of DEC Sec. I: number of classes and gamma beside ``lines n, 1 / (volume n)``.

    In exact fractions of a turn: point i lies at i/n, and its line is a cut modulo half a turn.

    >>> equally_spaced(3).left.tolist(), equally_spaced(3, lines=1, volume=1).right.tolist()
    ([6.0, 0.16666666666666666], [3.0, 0.3333333333333333])
    """
    half = Fraction(1, 2)
    cuts = sorted({Fraction(i, n) % half for i in range(n)})
    arcs = [after - cut for cut, after in zip(cuts, [*cuts[1:], cuts[0] + half], strict=True)]
    left = np.array([2 * len(arcs), float(min(arcs))])
    return Case(left, np.array([lines * n, 1 / (volume * n)]), {}, f"n = {n}")


def volumes(x: Integers, *, up_to_sign: bool = False) -> Case:
    """DEC Def. 1: the library's volumes beside those of the sign patterns that occur, ascending.

    For integer points ``(n, 2)``. Directions halfway between neighbouring cuts have exact signs;
    volumes are added over equal patterns. ``up_to_sign`` takes w and -w for one class.

    >>> volumes(np.array([[1, 0], [0, 2]])).right.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    found: dict[tuple[int, ...], float] = {}
    for arc, middle in _arcs(x):
        signs = tuple(np.sign(x @ middle).tolist())
        if up_to_sign:
            signs = max(signs, tuple(-s for s in signs))
        found[signs] = found.get(signs, 0.0) + arc
    right = np.zeros(2 * len(x))  # classes that do not occur have volume zero
    right[2 * len(x) - len(found) :] = sorted(found.values())
    points: Any = x.astype(float)
    library = sp.metrics.sign_class_volumes(points)
    left = np.concatenate([np.zeros(2 * len(x) - len(library)), library])
    return Case(left, right, words=f"{len(x)} points")


def _arcs(x: Any) -> list[tuple[float, Any]]:
    """The volume of each arc between cuts ``w x_i = 0``, and an integer direction within it."""
    normals = [np.array([-b, a]) * s for a, b in x for s in (1, -1) if a or b]
    ordered = sorted(normals, key=lambda v: float(np.arctan2(v[1], v[0])))
    arcs = []
    for one, other in zip(ordered, ordered[1:] + ordered[:1], strict=True):
        cross = one[0] * other[1] - one[1] * other[0]
        dot = one @ other
        if cross == 0 and dot > 0:
            continue  # two cuts are one line
        middle = one + other if cross else np.array([-one[1], one[0]])
        arcs.append((float(np.arctan2(float(cross), float(dot))) / (2 * np.pi), middle))
    return arcs


def added_column(x: Floats, *, reverse: bool = False) -> Case:
    """Gamma of all points, and of all but the last: a column more never makes it larger.

    >>> added_column(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])).left
    0.125
    """
    more, less = _gamma(x), _gamma(x[:-1])
    return Case(less, more) if reverse else Case(more, less)


def most_classes(n: int, k: int) -> int:
    """Return ``2 sum_{j<k} C(n-1, j)``, the classes of n points in general position in R^k.

    No set of n points has more, so gamma is at most one over it.

    >>> most_classes(3, 2), most_classes(2, 5)
    (6, 4)
    """
    return 2 * sum(comb(n - 1, j) for j in range(k))


def integer_instances(stream: Stream, count: int, t: int) -> list[dict[str, Any]]:
    """Return ``count`` points of DEC Lemma 2: ``x`` (t+1, 2), no two collinear, and ``w`` (t, 2).

    Both are integers, and the t rows ``ReLU(w x)`` have rank t on the first t points.

    >>> [item["w"].shape for item in integer_instances(Stream(0), 2, 3)]
    [(3, 2), (3, 2)]
    """
    rng = stream.numpy(f"instances {t}")
    found: list[dict[str, Any]] = []
    while len(found) < count:
        x, w = rng.integers(-9, 10, size=(t + 1, 2)), rng.integers(-9, 10, size=(t, 2))
        cross = x[:, :1] * x[:, 1] - x[:, 1:] * x[:, 0]
        apart = np.count_nonzero(cross) == t * (t + 1)
        if apart and int(rank_modulo(np.maximum(w @ x[:t].T, 0))) == t:
            found.append({"x": x, "w": w})
    return found


def success(x: Integers, w: Integers) -> float:
    """The probability of DEC Eq. 6 given ``w``, whose rows already have rank t on t points.

    Exact decisions: the coefficients a of Eq. 13 are fractions, and the next row w' fails only on
    the classes where the sum of ``a_j x_j`` over ``w' x_j > 0`` is the zero vector.

    >>> success(np.array([[1, 0], [0, 1]]), np.array([[1, -1]]))
    0.5
    """
    features = np.maximum(w @ x.T, 0)
    t = len(x) - 1
    a = [*_solve(features[:, :t], features[:, t]), Fraction(-1)]
    total = 0.0
    for arc, middle in _arcs(x):
        on = x @ middle > 0
        u = [sum(c * int(p[m]) for c, p, s in zip(a, x, on, strict=True) if s) for m in (0, 1)]
        total += arc if any(u) else 0.0
    return total


def _solve(matrix: Integers, right: Integers) -> list[Fraction]:
    """Solve a square integer system in fractions, by elimination."""
    rows = [[Fraction(int(v)) for v in (*row, b)] for row, b in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(k for k in range(i, len(rows)) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for k, row in enumerate(rows):
            if k != i and row[i]:
                rows[k] = [v - row[i] * p for v, p in zip(row, rows[i], strict=True)]
    return [row[-1] for row in rows]


def lemma_2(x: Integers, w: Integers, factor: float = 1.0) -> Case:
    """DEC Lemma 2 in the plane: ``factor`` gamma is at most the exact probability of success.

    >>> case = lemma_2(np.array([[1, 0], [0, 1]]), np.array([[1, -1]]))
    >>> case.left, case.right
    (0.25, 0.5)
    """
    gamma = min(arc for arc, _ in _arcs(x))
    return Case(factor * gamma, success(x, w), words=f"t = {len(w)}")


def failing(x: Floats, rows: int, rtol: float = 1e-9) -> Floats:
    """Return ``P(y > d)`` for d = 0..rows, exactly, for points ``(n, 2)`` in the plane.

    ``rtol`` decides the ranks of the generic rows that stand for each class (two a class).

    >>> failing(np.array([[1.0, 0.0]]), 3)
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    return _failing(np.ascontiguousarray(x, dtype=float).tobytes(), rows, rtol)


@cache
def _failing(points: bytes, rows: int, rtol: float) -> Floats:
    x = np.frombuffer(points).reshape(-1, 2)
    volume, features = _generic_rows(x)
    power = 3 ** np.arange(len(volume))
    known, level = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    while True:  # counts up to two a class, as long as the rank is below n
        grown = [level[level // p % 3 < 2] + p for p in power]
        level = np.setdiff1d(np.concatenate(grown), known)
        if not len(level):
            break
        used = level[:, None, None] // power[:, None] % 3 > np.arange(2)
        chosen = (used[..., None] * features).reshape(len(level), -1, len(x))
        level = level[np.linalg.matrix_rank(chosen, rtol=rtol) < len(x)]
        known = np.union1d(known, level)
    step = scipy.sparse.csr_array((len(known), len(known)))
    for p, v in zip(power, volume, strict=True):
        after = np.where(known // p % 3 < 2, known + p, known)
        place = np.minimum(np.searchsorted(known, after), len(known) - 1)
        stays = np.flatnonzero(known[place] == after)
        entries = (np.full(len(stays), v), (place[stays], stays))
        step = step + scipy.sparse.csr_array(entries, shape=step.shape)
    state = (known == 0).astype(float)
    result = [1.0]
    for _ in range(rows):
        state = step @ state
        result.append(float(state.sum()))
    return np.array(result)


def _generic_rows(x: Floats) -> tuple[Floats, Floats]:
    """The volumes of the classes, and two generic rows ``ReLU(w x)`` of each, ``(c, 2, n)``."""
    seen = x[np.linalg.norm(x, axis=1) > 1e-12]  # a zero point cuts nothing
    angles = np.sort(np.arctan2(seen[:, 1], seen[:, 0]) % np.pi)
    cuts = angles[np.diff(angles, prepend=angles[-1] - np.pi) > 1e-12] + np.pi / 2
    cuts = np.concatenate([cuts, cuts + np.pi])
    lengths = np.diff(cuts, append=cuts[0] + 2 * np.pi)
    within = Stream(0).child("generic rows").numpy("within").uniform(0.2, 0.8, (len(cuts), 2))
    at = cuts[:, None] + lengths[:, None] * within
    rows = np.maximum(np.stack([np.cos(at), np.sin(at)], axis=-1) @ x.T, 0)
    return lengths / (2 * np.pi), rows


def expected_rows(
    x: Floats,
    bound: Callable[[Any, Any], Any] = theory.dec_theorem_3,
    *,
    centred: bool = False,
    gamma_of_centred: bool = True,
    mended: bool = False,
    rows: int = 400,
    words: str = "",
) -> Case:
    """DEC Theorem 3.1 (``centred``: Corollary 4) in the plane: ``E min(y, rows)`` and the bound.

    The hypothesis is the printed one, on X itself; ``mended`` asks it of the batch centred.

    >>> case = expected_rows(np.array([[1.0, 0.0]]))
    >>> round(case.left, 12), case.right
    (2.0, 2.0)
    """
    z = x - x.mean(axis=0) if centred else x
    asked = z if mended else x
    gamma = _gamma(z if gamma_of_centred else x)
    left = float(failing(z, rows)[:rows].sum())
    return Case(left, float(bound(len(x), gamma)), _apart(asked), words)


def _apart(x: Floats) -> dict[str, bool]:
    """The hypothesis of Theorem 3 for points ``(n, 2)``; a zero point is collinear with any."""
    cross = x[:, :1] * x[:, 1] - x[:, 1:] * x[:, 0]
    pairs = len(x) * (len(x) - 1)
    return {"no two columns collinear": bool((np.abs(cross) > 1e-12).sum() == pairs)}


def sharper_bound(batch: float, gamma: float, first: float = 2.0, share: float = 0.5) -> float:
    """``2 + (n - 1) / (2 gamma)``: the first step has probability 1/2, each other one 2 gamma.

    >>> sharper_bound(1, 0.5), sharper_bound(3, 0.25)
    (2.0, 6.0)
    """
    return first + share * (batch - 1) / gamma


def waits(
    x: Floats,
    runs: int,
    stream: Stream,
    *,
    normalize: str = "",
    rtol: float = 1e-9,
    most: int = 2000,
) -> Integers:
    """Return y of DEC Theorem 3 for ``runs`` networks with points ``(n, k)``, shape ``(runs,)``.

    ``normalize`` is empty, "recentred" or "batch norm" (Corollary 4). Each new row is projected on
    what the earlier ones leave over; it counts if more than ``rtol`` of it remains. Runs that have
    no full rank after ``most`` rows get ``most``.

    >>> bool(waits(np.array([[1.0, 0.0]]), 5, Stream(0)).min() >= 1)
    True
    """
    n, k = x.shape
    rng = stream.numpy("rows")
    left = np.broadcast_to(np.eye(n), (runs, n, n)).copy()  # projector on what is missing
    rank, y = np.zeros(runs, dtype=np.int64), np.full(runs, most, dtype=np.int64)
    for d in range(1, most + 1):
        z = rng.normal(size=(runs, k)) @ x.T
        if normalize:
            z = z - z.mean(axis=1, keepdims=True)
        if normalize == "batch norm":
            z = z / z.std(axis=1, keepdims=True)
        row = np.maximum(z, 0)
        size = np.linalg.norm(row, axis=1)
        rest = np.einsum("rij,rj->ri", left, row)
        rest = np.einsum("rij,rj->ri", left, rest)  # twice, for the digits
        new = np.linalg.norm(rest, axis=1) > rtol * size
        unit = rest[new] / np.linalg.norm(rest[new], axis=1, keepdims=True)
        left[new] -= unit[:, :, None] * unit[:, None, :]
        rank += new
        y[(rank == n) & (y == most)] = d
        if rank.min() == n:
            break
    return y


def simulated_rows(
    x: Floats, classes: int, runs: int, stream: Stream, normalize: str = "", words: str = ""
) -> Case:
    """DEC Theorem 3.1 by simulation: y of each run, and ``n`` times the number of classes.

    Gamma is at most one over that number: what is asked here is more than the theorem says.

    >>> simulated_rows(np.array([[1.0, 0.0]]), 2, 4, Stream(0)).right
    2.0
    """
    y = waits(x, runs, stream, normalize=normalize)
    return Case(y.astype(float), float(theory.dec_theorem_3(len(x), 1 / classes)), {}, words)


def chernoff(alpha: float, gamma: float, sign: float = 1.0) -> Case:
    """DEC Eq. 28b minimized over s for one variable, beside the exponent of Eq. 7a.

    The logarithm is convex in s; its minimum is found by bracketing, not from the derivative.

    >>> case = chernoff(3.0, 0.25)
    >>> round(case.left, 9) == round(case.right, 9)
    True
    """
    top = -np.log1p(-gamma)

    def exponent(s: float) -> float:
        return float(np.log(gamma) + s - np.log(-np.expm1(s - top)) - s * alpha / gamma)

    found = scipy.optimize.minimize_scalar(
        exponent, bounds=(0, top), method="bounded", options={"xatol": 1e-12}
    )
    right = np.log1p(-theory.dec_equation_7a(alpha, 1, gamma))
    return Case(float(found.fun), float(sign * right), words=f"alpha {alpha:g}, gamma {gamma:g}")


def tail(x: Floats, alpha: float, power: float = 1.0) -> Case:
    """DEC Eq. 7a: ``P(y > d)`` in the plane for the whole part d of ``alpha n / gamma``.

    The bound of that probability is taken to the ``power`` 1, or another one for a rival.

    >>> case = tail(np.array([[1.0, 0.0]]), 3.0)
    >>> case.left, round(case.right, 4)
    (0.015625, 0.2333)
    """
    n, gamma = len(x), _gamma(x)
    d = int(alpha * n / gamma + 1e-9)
    bound = 1 - theory.dec_equation_7a(alpha, n, gamma)
    words = f"n = {n}, gamma = {gamma:.3g}, alpha = {alpha:g}"
    return Case(float(failing(x, d)[d]), float(bound**power), {"alpha > 1": alpha > 1}, words)


def weaker_tail(alpha: float, gamma: float, log_factor: float = 1.0) -> Case:
    """Eq. 7a beside Eq. 7b, exponents for one point: the second is free of gamma, and weaker.

    >>> case = weaker_tail(3.0, 0.25)
    >>> case.left < case.right
    True
    """
    exponent = -np.log1p(-theory.dec_equation_7a(alpha, 1, gamma))
    weaker = alpha - 1 - log_factor * np.log(alpha)
    return Case(float(weaker), float(exponent), words=f"alpha {alpha:g}, gamma {gamma:g}")


def geometric_rate(gamma: float, factor: float = 1.0) -> float:
    """Return ``-log(1 - factor gamma)``, by which the tail of a geometric waiting time falls.

    What ``factor`` makes of gamma is cut at 0.9.

    >>> round(geometric_rate(0.5), 6), round(geometric_rate(0.5, factor=5), 6)
    (0.693147, 2.302585)
    """
    return float(-np.log1p(-min(factor * gamma, 0.9)))


def decay(
    x: Floats, rows: int, rate: Callable[[float], float] = geometric_rate, *, apart: bool = False
) -> Case:
    """DEC Theorem 3, the reading: ``P(y > d)`` falls by ``rate(gamma)`` or more a neuron.

    Rate and the fall of ``-log P(y > d)`` over the second half of ``rows`` neurons. ``apart`` asks
    that no two columns be collinear, as the theorem does and its reading does not.

    >>> case = decay(np.array([[1.0, 0.0]]), 20)
    >>> bool(np.allclose(case.left, case.right))
    True
    """
    fall = -np.diff(np.log(failing(x, rows)[rows // 2 :]))
    gamma = _gamma(x)
    words = f"n = {len(x)}, gamma = {gamma:.3g}"
    return Case(np.full(len(fall), rate(gamma)), fall, _apart(x) if apart else {}, words)


def flipped(
    x: Floats, w: Floats, *, square: bool = False, relative: bool = False, signed: bool = True
) -> Case:
    """DEC Eq. 18-20: signs of the shifted row on the points, and the signs that are wanted.

    Point i of the smallest ``|w x_i|`` (over ``|x_i|`` if ``relative``) is to change its sign and
    no other; ``square`` divides by ``|x_i|^2``. As printed all signs before are positive; with
    ``signed=False`` signs are compared with those of ``w x``.

    >>> case = flipped(np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([0.1, 1.0]))
    >>> case.left.tolist(), case.right.tolist()
    ([-1.0, 1.0], [-1.0, 1.0])
    """
    norms = np.linalg.norm(x, axis=1)
    inner = x @ w
    i = int(np.argmin(np.abs(inner) / (norms if relative else 1)))
    shifted = w - (1 + 1e-9) * inner[i] / norms[i] ** (2 if square else 1) * x[i]
    wanted = np.where(np.arange(len(x)) == i, -1.0, 1.0)
    return Case(np.sign(x @ shifted), wanted if signed else wanted * np.sign(inner))


def joint_law(turn: float, first: int) -> dict[str, float]:
    """Exact law of (y_1, y_2) for two points in the plane at an angle of ``turn`` pi.

    Given ``y_1 = first``, ``y_2`` is 0 if an earlier row saw the second point alone; else it is
    geometric: with 1/2 if the row that saw the first missed the second, ``(1 + turn)/2`` if not.

    >>> joint_law(0.5, 1)
    {'first': 0.5, 'zero': 0.0, 'missed': 0.5, 'seen': 0.5}
    """
    unseen = (1 - turn) ** (first - 1)
    parts = {"zero": 1 - unseen, "missed": unseen * turn, "seen": unseen * (1 - turn)}
    return {"first": 0.5**first} | parts


def conditional_tail(turn: float, first: int, m: int, factor: float = 1.0) -> Case:
    """What Chernoff's bound needs: ``P(y_2 > m | y_1) <= (1 - gamma)^m`` whatever y_1 was.

    >>> case = conditional_tail(0.5, 1, 1)
    >>> case.left, case.right
    (0.375, 0.75)
    """
    law = joint_law(turn, first)
    left = law["missed"] * 0.5**m + law["seen"] * ((1 - turn) / 2) ** m
    gamma = min(turn, 1 - turn) / 2
    return Case(left, (1 - factor * gamma) ** m, words=f"angle {turn:g} pi, y_1 = {first}")


def independence(turn: float, first: int) -> Case:
    """``P(y_2 = 0)`` given ``y_1 = first`` beside the same without a condition.

    >>> independence(0.5, 1).left
    0.0
    """
    total = 1 - 1 / (1 + turn)  # the mean of 1 - (1 - turn)^(y_1 - 1), y_1 geometric with 1/2
    return Case(joint_law(turn, first)["zero"], total, words=f"y_1 = {first}")


def rank_modulo(matrices: Any) -> Integers:
    """Return the ranks of integer matrices ``(..., m, n)`` modulo a prime of 31 bits.

    It never exceeds the rank, and equals it if all minors are smaller than the prime.

    >>> rank_modulo([[[1, 2], [2, 4]], [[1, 2], [3, 4]]]).tolist()
    [1, 2]
    """
    a = np.asarray(matrices, dtype=np.int64) % PRIME
    shape, (m, n) = a.shape[:-2], a.shape[-2:]
    a = a.reshape(-1, m, n).copy()
    each, rank = np.arange(len(a)), np.zeros(len(a), dtype=np.int64)
    for column in range(n):
        free = (a[:, :, column] != 0) & (np.arange(m) >= rank[:, None])
        found = free.any(axis=1)
        r = each[found]
        top, pivot = rank[found], free.argmax(axis=1)[found]
        a[r, top], a[r, pivot] = a[r, pivot], a[r, top]
        lead = a[r, top] * np.array([pow(int(v), -1, PRIME) for v in a[r, top, column]])[:, None]
        lead %= PRIME
        factors = np.where(np.arange(m) > top[:, None], a[r][:, :, column], 0)
        a[r] = (a[r] - factors[:, :, None] * lead[:, None, :]) % PRIME
        rank[found] += 1
    result: Integers = rank.reshape(shape)
    return result


def product_rank(
    stream: Stream, count: int, of: Callable[[Any, Any], Any] = np.minimum, relu: bool = False
) -> Case:
    """DEC Sec. I: ranks of products AB of small integer matrices, and ``of`` the two ranks.

    Factors are products of thin ones, so that ranks from 0 to 4 occur. ``relu`` is applied to AB.

    >>> case = product_rank(Stream(0), 100)
    >>> bool((case.left <= case.right).all())
    True
    """
    rng = stream.numpy("products")
    a, b = (_thin(rng, count) for _ in range(2))
    product = a @ b
    left = rank_modulo(np.maximum(product, 0) if relu else product)
    return Case(left, of(rank_modulo(a), rank_modulo(b)))


def _thin(rng: np.random.Generator, count: int) -> Integers:
    outer, inner = rng.integers(-1, 2, size=(2, count, 4, 4))
    keep = np.arange(4) < rng.integers(0, 5, size=(count, 1, 1))
    result: Integers = (outer * keep) @ inner
    return result


def span_dimension(stream: Stream, d: int, claimed: float = 1.0) -> Case:
    """The dimension of the span of ``ReLU(W x)``, x in the plane, beside ``claimed * d``.

    W has d random integer rows, of which no two are collinear. Between its lines and beyond lie the
    points of the sample, 50 d of them, integers too; the rank modulo a prime is a lower bound.

    >>> span_dimension(Stream(0), 5).left
    5
    """
    rng = stream.numpy(f"span {d}")
    w = np.zeros((0, 2), dtype=np.int64)
    while len(w) < d:
        row = rng.integers(-10_000, 10_001, size=(1, 2))
        if np.all(w[:, 0] * row[0, 1] != w[:, 1] * row[0, 0]) and row.any():
            w = np.concatenate([w, row])
    normals = np.concatenate([w, -w])[:, ::-1] * [1, -1]
    order = np.argsort(np.arctan2(normals[:, 1], normals[:, 0]))
    between = normals[order] + np.roll(normals[order], -1, axis=0)
    x = np.concatenate([normals, between, rng.integers(-(10**6), 10**6, size=(46 * d, 2))])
    return Case(int(rank_modulo(np.maximum(w @ x.T, 0))), claimed * d, words=f"{d} rows")


def certified(d: float) -> int:
    """The most points of the plane for which DEC Theorem 3.1 promises ``E[y] <= d`` at all.

    n lines leave a class of volume 1/(2n) at most, so the bound is ``n / gamma >= 2 n^2``.

    >>> certified(50), certified(49)
    (5, 4)
    """
    n = 0
    while theory.dec_theorem_3(n + 1, 1 / most_classes(n + 1, 2)) <= d * (1 + 1e-12):
        n += 1
    return n


def growth_of_certified(d: float, exponent: float = 0.5) -> Case:
    """The exponent of :func:`certified` from d to 4 d, beside the ``exponent`` claimed.

    >>> growth_of_certified(50).left
    0.5
    """
    grown = np.log(certified(4 * d) / certified(d)) / np.log(4)
    return Case(float(grown), exponent, words=f"{d:g} rows")


def impossible(rows: int) -> pd.DataFrame:
    """Batches that never reach full rank, whatever the width, and one that does.

    The rank after ``rows`` generic neurons, exact law: ``P(y > rows)`` is 1 or not.

    >>> impossible(50)["full rank possible"].tolist()
    [False, False, False, True]
    """
    batches: Mapping[str, Sequence[tuple[float, float]]] = {
        "a column twice": [(1, 0), (0, 1), (0, 2)],
        "a zero column": [(1, 0), (0, 1), (0, 0)],
        "three antiparallel pairs": [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)],
        "one antiparallel pair": [(1, 0), (-1, 0), (0, 1)],
    }
    chance = {name: failing(np.array(x, dtype=float), rows)[-1] for name, x in batches.items()}
    return pd.DataFrame(
        {
            "batch": list(chance),
            "failure after all neurons": list(chance.values()),
            "full rank possible": [bool(value < 0.5) for value in chance.values()],
        }
    )
