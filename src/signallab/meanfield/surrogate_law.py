"""The Gaussian law with covariance G* and what a layer makes of it (MF Lemmas 3.3, B.3 to B.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import stats

import signalprop as sp
from signallab.case import Case
from signallab.meanfield import total_variation as tv
from signalprop import theory
from signalprop._arrays import Floats
from signalprop.activations import Activation
from signalprop.inputs import Input
from signalprop.random import Stream

__all__ = [
    "LIMIT",
    "along_depth",
    "best_interval",
    "bound_3_3",
    "bound_b_3",
    "distance",
    "excess",
    "finite_chain",
    "from_input",
    "from_single_states",
    "gaussian_rows",
    "invariant",
    "limiting_distance",
    "near_the_limit",
    "omitted_constant",
    "one_layer",
    "one_step",
    "two_groups",
]

SURROGATE = ([0.0], [1.0])  # two samples: mean sign 0, that is, covariance G*
LIMIT = tv.between_scales(2.0)  # of the distance for two samples, d to infinity
AT_ONCE = 200  # networks, to stay within a gigabyte
DIRECTIONS = ((1.0, 0.0), (1.0, -1.0), (1.0, 1.0))  # on the first two samples


@cache
def distance(width: int) -> float:
    """Total variation between the surrogate law and its image, for two samples.

    Exact for every activation with ``|phi(1)| != |phi(-1)|``. Rows of a normalized batch of two
    are (1, -1) or (-1, 1). So their images are two vectors, and up to a fixed linear map (which
    leaves total variation alone) the Gram matrix is [[1, m], [m, 1]], m a mean of d random signs.

    >>> round(distance(2), 6)
    0.5
    """
    return tv.between_mixtures(width, SURROGATE, tv.signs(width))


@cache
def from_input(width: int, agreeing: int) -> float:
    """Between the law of layer 1 and the invariant law, two samples.

    In ``agreeing`` of the d rows of the input the first sample has the larger entry. From layer 2
    on the law is the invariant one, whatever the input.

    >>> from_input(4, 0) == 1 - 2.0**-4
    True
    """
    return tv.between_mixtures(width, ([2 * agreeing / width - 1], [1.0]), tv.signs(width))


def bound_3_3(width: int) -> float:
    """Lemma 3.3 for ReLU and two samples: ``|G*^-1| = 2``.

    >>> round(bound_3_3(2000), 4)
    0.0276
    """
    return float(theory.mf_lemma_3_3(width, 2, 2.0))


def bound_b_3(width: int) -> float:
    """Lemma B.3 for ReLU and two samples: B = 1, ``|G*^-1| = 2``.

    >>> round(bound_b_3(1600), 4)
    0.023
    """
    return float(theory.mf_lemma_b_3(theory.mf_lemma_b_2(width, 2, 1.0, 2.0)))


Bound = Callable[[int], float]


def one_layer(width: int, constant: float = 1.0, bound: Bound = bound_3_3) -> Case:
    """``|T(muhat) - muhat|_tv <= constant bound(width)`` for ReLU and two samples.

    >>> case = one_layer(1024)
    >>> case.left > case.right
    True
    """
    gram = sp.limits.gram_fixed_point(sp.activations.relu, 2)
    hypotheses = {
        "ReLU: φ(x)² ≤ x²": True,
        "G* is not degenerate": gram.condition_number == 1,
        "the logarithm is at least 1/2": theory.mf_lemma_b_2(width, 2, 1.0, 2.0) < np.exp(-0.5),
    }
    words = f"ReLU, n = 2, d = {width}, constant {constant:g}"
    return Case(distance(width), constant * bound(width), hypotheses, words=words)


def near_the_limit(width: int, limit: float = LIMIT, **_: Any) -> Case:
    """``| |T(muhat) - muhat|_tv - limit | <= 1/width`` for two samples, whatever else is asked.

    >>> case = near_the_limit(64)
    >>> case.left < case.right
    True
    """
    words = f"n = 2, d = {width}"
    return Case(abs(distance(width) - limit), 1 / width, words=words)


def invariant(
    width: int,
    constant: float,
    alpha: float | None = 0.5,
    bound: Bound = bound_b_3,
    depth: int | None = None,
) -> Case:
    """MF Lemma B.4, or B.5 at ``depth``, for ReLU and two samples.

    The law ``mu_l`` is the invariant one from layer 2 on, and the image of the surrogate law is,
    too: a Gaussian row is ordered either way with even chances, whatever its covariance. So both
    are ``distance(width)`` away from the surrogate. Hypothesis is the inequality of Assumption 3.1
    for a balanced input, whose first layer has the surrogate law. ``alpha=None`` is the largest
    that serves every input, ``2^-width``: attained where the first sample has all larger entries.

    >>> case = invariant(1024, 1.0, depth=10)
    >>> case.left > case.right
    True
    """
    rate = 2.0**-width if alpha is None else alpha
    agreeing = 0 if alpha is None else width // 2
    hypotheses = {
        f"an input with {agreeing} of {width} rows of one order is within 1 - α of it after a "
        "layer": from_input(width, agreeing) <= 1 - rate,
    }
    decay = 0.0 if depth is None else (1 - rate) ** depth
    where = "" if depth is None else f", layer {depth}"
    return Case(
        distance(width),
        decay + constant * bound(width) / rate,
        hypotheses,
        words=f"ReLU, n = 2, d = {width}, α = {rate:.2g}, constant {constant:g}{where}",
    )


def omitted_constant(epsilon: float, constant: float, one: float = 0.0, power: float = 2.0) -> Case:
    """MF Eqs. B.45, B.46: ``3/2 eps^2 (1 + ln(2/(3 eps^2))) <= c eps^power (one + ln(1/eps^2))``.

    The left side is what B.44 gives for ``t^2 = ln(2/(3 eps^2))``. Printed are the power 2 and no
    ``one``.

    >>> case = omitted_constant(0.999, 10)
    >>> case.left > 20 * case.right
    True
    """
    left = 1.5 * epsilon**2 * (1 + np.log(2 / (3 * epsilon**2)))
    right = constant * epsilon**power * (one - 2 * np.log(epsilon))
    hypotheses = {"ε is below 1": epsilon < 1}
    return Case(float(left), float(right), hypotheses, words=f"ε = {epsilon:g}, c = {constant:g}")


def gaussian_rows(
    delta: float,
    rows: int,
    bound: Callable[[float, int], float] = lambda delta, rows: 1.5 * delta**2,
) -> Case:
    """MF Eq. B.43: ``tv(N(0, 1), N(0, 1 + delta)) <= 3/2 delta^2``, of ``rows`` rows each, n = 1.

    >>> case = gaussian_rows(0.01, 1)
    >>> round(case.left, 4), round(case.right, 6)
    (0.0024, 0.00015)
    """
    words = f"n = 1, {rows} rows, variances 1 and {1 + delta:g}"
    return Case(tv.between_scales(1 + delta, rows), bound(delta, rows), words=words)


def finite_chain(
    transition: Any, law: Any, words: str = "", which: str = "3.7", faster: float = 1.0
) -> Case:
    """MF Eqs. 3.7 and 3.8 for a finite chain: alpha is 1 less its contraction coefficient.

    "3.7" is ``|nu T - pi| <= (1 - faster alpha) |nu - pi|``, and "3.8" is
    ``faster alpha |nu - pi| <= |nu T - nu|``.

    >>> case = finite_chain([[0.5, 0.5], [0.25, 0.75]], [1.0, 0.0])
    >>> round(case.left, 4), round(case.right, 4)
    (0.1667, 0.1667)
    """
    p, nu = np.asarray(transition, float), np.asarray(law, float)
    pi = theory.stationary_law(p)
    alpha = faster * (1 - theory.dobrushin_coefficient(p))
    if which == "3.7":
        return Case(_apart(nu @ p, pi), (1 - alpha) * _apart(nu, pi), words=words)
    return Case(alpha * _apart(nu, pi), _apart(nu @ p, nu), words=words)


def from_single_states(transition: Any, law: Any, words: str = "", times: float = 1.0) -> Case:
    """MF Eq. 3.7 with a rate for single inputs: ``|nu T - pi| <= times (1 - alpha) |nu - pi|``.

    ``1 - alpha`` is the least that serves a start in any one state, which is how Assumption 3.1
    reads ("for all h_0"). For a law over states it need not serve, but twice of it does: the images
    of two states are within ``2 (1 - alpha)`` of each other.

    >>> case = from_single_states(two_groups(8, 0.5), [0.25] * 4 + [0.0] * 4)
    >>> round(case.left, 4), round(case.right, 4)
    (0.25, 0.1429)
    """
    p, nu = np.asarray(transition, float), np.asarray(law, float)
    pi = theory.stationary_law(p)
    rate = max(
        _apart(row, pi) / _apart(state, pi) for row, state in zip(p, np.eye(len(p)), strict=True)
    )
    hypotheses = {"the rate serves a start in any one state": rate < 1}
    return Case(_apart(nu @ p, pi), times * rate * _apart(nu, pi), hypotheses, words=words)


def two_groups(states: int, kept: float) -> Floats:
    """Transition matrix of a chain that forgets the state in a step, and its half with a rest.

    The next state is uniform over the half at hand with probability ``(1 + kept)/2``, else over the
    other half. The uniform law is invariant.

    >>> two_groups(4, 0.5)[0]
    array([0.375, 0.375, 0.125, 0.125])
    """
    half = np.repeat([1.0, -1.0], states // 2)
    return np.asarray((1 + kept * np.outer(half, half)) / states)


def _apart(a: Floats, b: Floats) -> float:
    """Total variation between two laws on finitely many states."""
    return float(np.abs(a - b).sum() / 2)


def one_step(phi: Activation, batch: int, width: int, runs: int, stream: Stream) -> Floats:
    """Return :func:`along_depth`'s ``excess`` of the image of the surrogate law, one a run.

    A row of law N(0, G*), normalized, is uniform on a sphere, as one of law N(0, I) is.

    >>> one_step(sp.activations.relu, 3, 50, 2, Stream(0)).shape
    (2,)
    """
    start = sp.inputs.gaussian_samples(batch)
    return np.asarray(_excess_of_runs(phi, batch, width, 0, runs, stream, start)[0][:, 0])


def along_depth(
    phi: Activation, batch: int, width: int, depth: int, runs: int, stream: Stream
) -> pd.DataFrame:
    """How far the law of each layer is from the surrogate law, at least: a row a run and layer.

    The statistic is ``v^T h^T h v / v^T G* v`` for the best of three v. Under the surrogate law it
    is chi-squared with d degrees of freedom, and in a network the same times a number R, which the
    layer before decides. ``excess`` is ``P(outside | R) - P(outside)`` for the interval that tells
    the two best in the limit; its mean over runs is a lower bound of the total variation. The
    samples of the input have pairwise cosine 0.9.

    >>> frame = along_depth(sp.activations.relu, 3, 20, 2, 3, Stream(0))
    >>> list(frame), len(frame)
    (['run', 'layer', 'excess', 'ratio'], 9)
    """
    start = sp.inputs.with_correlation(0.9, batch)
    found, ratio = _excess_of_runs(phi, batch, width, depth, runs, stream, start)
    runs_of, layers = np.indices(ratio.shape)
    return pd.DataFrame(
        {
            "run": runs_of.ravel(),
            "layer": layers.ravel() + 1,
            "excess": found.ravel(),
            "ratio": ratio.ravel(),
        }
    )


def excess(phi: Activation, batch: int, direction: Any) -> float:
    """Variance of ``(v x)^2`` over ``2 (E (v x)^2)^2``, x a row of the layer: 0 would be no noise.

    In the limit the statistic of :func:`along_depth` has variance 2 under the surrogate law and
    ``2 (1 + excess)`` under its image.

    >>> round(excess(sp.activations.relu, 2, (1.0, 0.0)), 12)
    0.5
    """
    first, second, weights = sp.limits.sphere.pair_rule(batch, phi.kinks)
    square = (direction[0] * phi(first) + direction[1] * phi(second)) ** 2
    mean = float((weights * square).sum())
    return float((weights * square**2).sum()) / mean**2 / 2 - 0.5


def best_interval(excess: float, width: int) -> tuple[float, float]:
    """Where N(d, 2 d) has the larger density than N(d, 2 d (1 + excess)).

    >>> [round(end, 2) for end in best_interval(1.0, 100)]
    [83.35, 116.65]
    """
    half = np.sqrt(2 * width * np.log1p(excess) * (1 + excess) / excess)
    return float(width - half), float(width + half)


def limiting_distance(
    phi: Activation, batch: int, samples: int, stream: Stream
) -> Mapping[str, float]:
    """Total variation between the surrogate law and its image as the width grows, any batch.

    ``sqrt(d) (h^T h/d - G*)`` is Gaussian in the limit: of covariance 2 on symmetric matrices
    (orthonormal coordinates, G* made the identity) under the surrogate law, and of 2 more the
    covariance of ``z z^T`` under its image, z a whitened row. Sampled, with a standard error.

    >>> found = limiting_distance(sp.activations.relu, 2, 20_000, Stream(0))
    >>> abs(found["distance"] - LIMIT) < 5 * found["standard error"]
    True
    """
    draw = stream.numpy("limit", phi.name, batch)
    unit = sp.layers.batch_norm(torch.from_numpy(draw.normal(size=(1, batch, samples))))[0]
    gram = sp.limits.gram_fixed_point(phi, batch).matrix()
    z = np.linalg.solve(np.linalg.cholesky(gram), phi(unit).numpy())
    rows, columns = np.triu_indices(batch)
    scale = np.where(rows == columns, 1.0, np.sqrt(2))[:, None]
    variances = np.linalg.eigvalsh(np.cov(scale * z[rows] * z[columns])) / 2
    variances = variances[variances > 1e-9]
    normals = draw.normal(size=(samples, len(variances)))
    log_ratio = (normals**2 * variances / (1 + variances) - np.log1p(variances)).sum(axis=1) / 2
    lost = np.maximum(1 - np.exp(log_ratio), 0)
    return {
        "distance": float(lost.mean()),
        "standard error": float(stats.sem(lost)),
        "largest": float(variances.max()),
    }


def _excess_of_runs(
    phi: Activation,
    batch: int,
    width: int,
    depth: int,
    runs: int,
    stream: Stream,
    start: Input,
) -> tuple[Floats, Floats]:
    """The excess probability and R = ``v^T G_l v / v^T G* v``, each ``(runs, depth + 1)``."""
    direction = max(DIRECTIONS, key=lambda v: excess(phi, batch, v))
    v = torch.tensor([*direction, *([0.0] * (batch - len(direction)))], dtype=torch.float64)
    size = float(v.numpy() @ sp.limits.gram_fixed_point(phi, batch).matrix() @ v.numpy())
    normalize = sp.BatchNorm()
    net = sp.Chain(width, before=[normalize, phi])
    named = stream.child(phi.name, batch, width)

    def quotient(h: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = (v @ phi(normalize(h))).square().mean(dim=-1) / size
        return found

    ratio = np.concatenate(
        [
            net.run(start, depth, min(AT_ONCE, runs - k), named.child(k)).measure(quotient).values
            for k in range(0, runs, AT_ONCE)
        ]
    )
    low, high = best_interval(excess(phi, batch, direction), width)
    outside = stats.chi2.cdf(low / ratio, width) + stats.chi2.sf(high / ratio, width)
    return outside - (stats.chi2.cdf(low, width) + stats.chi2.sf(high, width)), ratio
