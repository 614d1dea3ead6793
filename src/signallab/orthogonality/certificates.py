"""Counterexamples to statements of ORTH in exact numbers or balls, one function a statement.

Each goes back to the statement as printed and shares no code with the evaluation in doubles. Layers
at infinite width are integrals (ORTH Eq. 15), enclosed by Arb.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import sympy
from flint import acb, arb, ctx, fmpq, fmpq_mat

from signalprop.certify import Counterexample, ball, differs, exceeds, reaches

__all__ = [
    "a_layer_that_only_stays",
    "a_slice_raises_the_gap",
    "corollary_3",
    "curve_of_the_map",
    "display_after_theorem_5",
    "drift_of_equal_samples",
    "exponent_of_the_chain",
    "factor_h_4",
    "flat_batch_keeps_its_gap",
    "gap_for_its_square",
    "geometric_sum",
    "no_mean_of_a_ratio",
    "norm_of_the_input",
    "printed_rate_of_odd_activations",
    "rate_of_the_last_display",
    "root_of_the_rest",
    "shares_by_layer",
    "slice_of_twins",
    "the_walk_moves_away",
    "theorem_1",
    "whitening_without_an_inverse",
]

HALF = Fraction(1, 2)
TWINS = [[1, 0], [1, 0], [0, 1]]  # three samples in the plane, two of them equal
FLAT = [[1, 0], [0, 1], [1, 0], [0, 1]]


def norm_of_the_input() -> Counterexample:
    """ORTH, after Eq. 1: all layers have unit norm, the input among them.

    >>> norm_of_the_input().left
    25
    """
    return differs(3**2 + 4**2, 1, at="layer 0, one sample (3, 4), its squared norm on the left")


def whitening_without_an_inverse(samples: int = 2, width: int = 64) -> Counterexample:
    """ORTH, the remark on whitening: ``M M^T``, of shape (d, d), has an inverse.

    >>> whitening_without_an_inverse().right
    2
    """
    m = fmpq_mat(width, samples, [(i + 1) ** k for i in range(width) for k in range(samples)])
    given = {r"$n \le d$": samples <= width, "the samples are independent": m.rank() == samples}
    at = rf"$n = {samples}$, $d = {width}$: the width, and the rank of $MM^\top$ on the right"
    return exceeds(width, (m * m.transpose()).rank(), at=at, given=given)


def curve_of_the_map(samples: int = 32) -> Counterexample:
    r"""ORTH, Figure 2.3: samples stay independent at the width ``(n - 28)^1.8``.

    More samples than units are dependent, in every layer of every network: on the curve there must
    be at least n units.

    >>> curve_of_the_map().left
    32
    """
    units = arb(samples - 28) ** (arb(9) / 5)
    at = (
        rf"$n = {samples}$ samples: the least width at which they can be independent, and the curve"
    )
    return exceeds(samples, units, at=at, given={"above 28 samples": samples > 28})


def shares_by_layer(samples: int, share: fmpq, weak: bool = False) -> Iterator[arb]:
    r"""Yield n times the smallest squared singular value at infinite width, layer after layer.

    The input, layer 0, comes first. Its other values are equal but for one, the largest, or with
    ``weak`` the smallest stands alone. With ``y = 2t / (n + 2t)`` ORTH Eq. 15 is
    ``s n/2 int_0^1 (1 - y)^(n/2 - 1) (1 + a y)^-1 prod_k (1 + a_k y)^(-1/2) dy``, ``a = n s - 1``.
    n must be even, so that no root is left but one of each kind.

    >>> next(islice(shares_by_layer(2, fmpq(1, 5)), 1, None)).overlaps(arb(1) / 2)  # 2 / (1 + 3)
    True
    """
    n, last = samples, arb(share)
    if n % 2:
        raise ValueError(f"samples must be even, got {n}")
    yield last
    while True:
        low = last - 1
        many, one = (-low / (n - 1), low) if weak else (low, -low * (n - 1))

        def integrand(
            y: acb, analytic: bool, low: arb = low, many: arb = many, one: arb = one
        ) -> acb:
            # n - 1 equal factors and one: an even power of the root, and a root of both
            pair = ((1 + many * y) * (1 + one * y)).sqrt(analytic=analytic)
            rest = (1 - y) ** (n // 2 - 1) / (1 + many * y) ** (n // 2 - 1)
            return rest / (pair * (1 + low * y))

        near = last.rad() + arb(2) ** -ctx.prec  # no nearer than the share itself is known
        last = (last * n / 2 * acb.integral(integrand, 0, 1, rel_tol=near, abs_tol=near)).real
        yield last


def theorem_1(
    samples: int = 50, share: Fraction = Fraction(9, 10), layers: int = 100
) -> Counterexample:
    r"""ORTH Theorem 1 at infinite width: ``V(H_(l+1)) <= 2 (1 - 2/3 alpha)^l``.

    >>> theorem_1().exact
    False
    """
    with ctx.workprec(400):
        gap, alpha, given = _gap_after(samples, share, layers)
        right = 2 * (1 - ball(Fraction(2, 3) * alpha)) ** layers
    return exceeds(gap, right, at=_place(samples, share, layers, alpha), given=given)


def corollary_3(
    samples: int = 100, share: Fraction = Fraction(9, 10), layers: int = 480
) -> Counterexample:
    r"""ORTH Corollary 3 at infinite width: a squared distance is at most ``4n (1 - 2/3 alpha)^l``.

    The distance is ``sum_i (s_i - 1/n)^2 / (sqrt s_i + 1/sqrt n)^2`` over squared singular values.
    """
    n = samples
    with ctx.workprec(900):
        shares = list(
            islice(shares_by_layer(n, fmpq(share.numerator, share.denominator)), layers + 1)
        )
        alpha, given = _assumed(n, shares[1:])
        small = shares[-1]
        squares = [n - (n - 1) * small, small]  # n times the squared singular values
        one, other = (((s - 1) / (s.sqrt() + 1)) ** 2 / n for s in squares)
        right = 4 * n * (1 - ball(Fraction(2, 3) * alpha)) ** layers
    left = one + (n - 1) * other
    return exceeds(left, right, at=_place(n, share, layers, alpha), given=given)


def display_after_theorem_5(samples: int = 4, square: Fraction = Fraction(1, 80)) -> Counterexample:
    """ORTH, Appendix B: ``Vhat(H_(l+1)) <= (1 - 2/3 alpha) Vhat(H_l)`` at infinite width.

    alpha is the smallest singular value of H_l, the others are equal; at infinite width no noise
    is left.

    >>> display_after_theorem_5().exact
    False
    """
    with ctx.workprec(200):
        share = square * samples
        before, after = islice(
            shares_by_layer(samples, fmpq(share.numerator, share.denominator), weak=True), 2
        )
        left, right = ((1 - u) / samples for u in (after, before))
        right *= 1 - 2 * ball(square).sqrt() / 3
    at = f"infinite width, {samples} samples, smallest squared singular value {square}"
    return exceeds(left, right, at=at, given={"α > 0": square > 0})


def geometric_sum(
    rate: Fraction = Fraction(1, 10),
    start: Fraction = Fraction(1, 5),
    noise: Fraction = Fraction(1, 64),
) -> Counterexample:
    """ORTH, Appendix B: one step of the induction, noise times ``sum_(k=1)^l (1 - rate)^k``.

    >>> geometric_sum().left, geometric_sum().right
    (Fraction(313, 1600), Fraction(621, 3200))
    """
    left = (1 - rate) * start + noise
    right = (1 - rate) * start + noise * (1 - rate)
    at = rf"$\ell = 1$, $\frac23\alpha = {rate}$, $\hat V(H_1) = {start}$, $1/\sqrt d = {noise}$"
    return differs(left, right, at=at)


def no_mean_of_a_ratio(cut: int = 100) -> Counterexample:
    """ORTH Lemma 9 for a fair sign over an exponential variable: its integral is 0.

    The mean of the ratio where ``X1 > 10^(-2 cut)`` for positive and ``X1 > 10^-cut`` for negative
    ones is ``(E_1(10^(-2 cut)) - E_1(10^-cut)) / 2``, which grows with the cut: there is no mean.

    >>> no_mean_of_a_ratio().left > 115
    True
    """
    with ctx.workprec(100):
        ends = [-(-(arb(10) ** -k)).ei() for k in (2 * cut, cut)]
        left = (ends[0] - ends[1]) / 2
    at = (
        "X1 exponential, X2 a fair sign, independent; the mean over "
        rf"$X_1 > 10^{{-{2 * cut}}}$ where the sign is 1 and $X_1 > 10^{{-{cut}}}$ where it is −1"
    )
    return differs(left, 0, at=at)


def factor_h_4(
    samples: int = 2, theta: Fraction = Fraction(1, 10), delta: Fraction = Fraction(1, 8)
) -> Counterexample:
    r"""ORTH, proof of Lemma 10: ``h_1' = theta h_3 h_4`` with the printed ``h_4``.

    ``h_k = low^(-3/2 - k') high^(-(n-1)/2 - k')`` with k' = 1 and 2, ``low = 1 + 2 theta (1/n -
    delta)``, ``high = 1 + 2 theta (1/n + delta/(n-1))``; so ``h_1' / (theta h_3)`` is
    ``5 high - (n+1)/(n-1) low``.

    >>> factor_h_4().left, factor_h_4().right
    (Fraction(12, 5), Fraction(73, 10))
    """
    n = samples
    low = 1 + 2 * theta * (Fraction(1, n) - delta)
    high = 1 + 2 * theta * (Fraction(1, n) + delta / (n - 1))
    left = 5 * high - Fraction(n + 1, n - 1) * low
    right = Fraction(4 * n - 2, n - 1) * (1 + 2 * theta)
    right += 2 * theta * delta * Fraction(n + 2, n - 1)
    return differs(left, right, at=rf"$n = {n}$, $\theta = {theta}$, $\delta = {delta}$")


def root_of_the_rest(ratio: Fraction = Fraction(1, 10**4)) -> Counterexample:
    r"""ORTH, thesis (A.16): ``(1 - p_1)^(1/l) <= ...``, squared: ``1 - p_1 <= n s_2 / s_1``.

    For two samples with singular values 1 and ``ratio``; ``1 - p_1 = ratio^2 / (1 + ratio^2)`` with
    the shares ``p_i = sigma_i^2 / sum``. The print has its root on the left.

    >>> root_of_the_rest().exact
    False
    """
    rest = ratio**2 / (1 + ratio**2)
    at = f"two samples with singular values 1 and {ratio}"
    return exceeds(ball(rest).sqrt(), 2 * ratio**2, at=at)


def rate_of_the_last_display(
    samples: int = 2, ratio: Fraction = Fraction(1, 10**10)
) -> Counterexample:
    r"""ORTH, thesis (A.18): its right side falls like ``sigma_2^2 / sigma_1^2``, at rate -delta.

    It is ``log(2 n p_2) / 4 + log(2 (1 - p_1)^2) / 4``, here for a ratio of the squared values and
    for a tenth of it: the exponent is nearly 3/4.

    >>> float(rate_of_the_last_display().left.mid()).__round__(6)
    0.75
    """

    def right(r: Fraction) -> arb:
        share = r / (1 + (samples - 1) * r)
        rest = (samples - 1) * share
        return (ball(2 * samples * share).log() + ball(2 * rest**2).log()) / 4

    left = (right(ratio) - right(ratio / 10)) / arb(10).log()
    at = f"{samples} samples, squared ratio {float(ratio):g} and a tenth of it; the exponent"
    return differs(left, 1, at=at)


def printed_rate_of_odd_activations(
    samples: int = 2, share: Fraction = Fraction(9, 10), layers: int = 50, constant: int = 1000
) -> Counterexample:
    """ORTH, Appendix F.2: the gap falls like ``(1 - alpha)^l``, for the odd activation F(x) = x.

    No constant can help, here a thousand; two samples at infinite width.

    >>> printed_rate_of_odd_activations().exact
    False
    """
    with ctx.workprec(400):
        gap, alpha, given = _gap_after(samples, share, layers)
        right = constant * (1 - ball(alpha)) ** layers
    place = _place(samples, share, layers, alpha)
    return exceeds(gap, right, at=f"{place}, right {constant} times the rate", given=given)


def the_walk_moves_away() -> Counterexample:
    """ORTH, thesis, on mixing: a mean is no farther from the stationary one than at the start.

    A walk on three states in a row, which stays with probability 1/2; a function that has its
    stationary mean at the first state.

    >>> the_walk_moves_away().right
    Fraction(0, 1)
    """
    none, quarter = Fraction(0), Fraction(1, 4)
    walk = [[HALF, HALF, none], [quarter, HALF, quarter], [none, HALF, HALF]]
    law, phi = [quarter, HALF, quarter], [0, 1, -2]
    mean, later = (
        sum((p * value for p, value in zip(weights, phi, strict=True)), none)
        for weights in (law, walk[0])
    )
    moved = [sum((law[i] * walk[i][j] for i in range(3)), none) for j in range(3)]
    return exceeds(
        abs(later - mean),
        abs(phi[0] - mean),
        at="the walk on three states from state 1, φ = (0, 1, −2), step 1",
        given={"the law is stationary": moved == law},
    )


def a_layer_that_only_stays(
    steps: int = 10_000, alpha: Fraction = Fraction(999, 1000)
) -> Counterexample:
    """ORTH, thesis, on mixing: a drift alone makes laws from two starts approach like ``alpha^l``.

    A chain of two states that never moves has the drift ``E L(next) <= 0 L + 1`` of L = (0, 1),
    and its laws stay apart.

    >>> a_layer_that_only_stays().left
    1
    """
    drift = [0, 1]
    given = {"a drift: E L(next) ≤ 0 L + 1": all(later <= 1 for later in drift)}
    with ctx.workprec(100):
        right = ball(alpha) ** steps
    at = f"a chain of two states that stays where it is, step {steps}, α = {alpha}"
    return exceeds(1, right, at=at, given=given)


def drift_of_equal_samples(
    samples: int = 2, width: int = 64, alpha: Fraction = HALF
) -> Counterexample:
    """ORTH, thesis (A.6) for equal samples: ``Vhat <= (1 - 2/3 alpha) Vhat + 1/sqrt d``.

    Equal samples stay equal, with ``Vhat = 1/n``.

    >>> drift_of_equal_samples().right
    Fraction(11, 24)
    """
    vhat, root = Fraction(1, samples), Fraction(1, math.isqrt(width))
    given = {
        "alpha is a possible smallest singular value": 0 < samples * alpha**2 <= 1,
        "the root of the width is whole": root**2 * width == 1,
    }
    at = f"{samples} equal samples, width {width}, α = {alpha}"
    return exceeds(vhat, (1 - Fraction(2, 3) * alpha) * vhat + root, at=at, given=given)


def slice_of_twins() -> Counterexample:
    """ORTH Eq. 6: d rows of V are orthonormal.

    The Gram matrix of rows of V is a block of the projection ``H (H^T H)^-1 H^T``.

    >>> slice_of_twins().left
    Fraction(1, 2)
    """
    h = fmpq_mat(3, 2, [x for sample in TWINS for x in sample])
    projection = h * (h.transpose() * h).inv() * h.transpose()
    return differs(_fraction(projection[0, 1]), 0, at=f"{_told(TWINS)}, product of the first rows")


def a_slice_raises_the_gap() -> Counterexample:
    """ORTH, Section 5.2: ``V(W H) < V(H)`` with d rows of V for V', here for squares of gaps.

    >>> a_slice_raises_the_gap().left, a_slice_raises_the_gap().right
    (Fraction(2, 3), Fraction(2, 9))
    """
    h = sympy.Matrix(TWINS)
    v, sigma = _decomposition(h)
    given = _decomposed(h, v, sigma)
    after = v * sigma.applyfunc(sympy.sqrt) * v[:2, :].T
    return reaches(_squared_gap(after), _squared_gap(h), at=f"{_told(TWINS)}, squares", given=given)


def flat_batch_keeps_its_gap() -> Counterexample:
    """ORTH, Section 5.2: ``V(W H) < V(H)`` for ``n >= d`` and an orthogonal V', here of squares.

    >>> flat_batch_keeps_its_gap().left
    Fraction(1, 4)
    """
    h = sympy.Matrix(FLAT)
    v, sigma = _decomposition(h)
    factor = v[:2, :] * sympy.sqrt(2)
    after = v * sigma.applyfunc(sympy.sqrt) * factor.T
    given = _decomposed(h, v, sigma) | {
        "V′ is orthogonal": factor * factor.T == sympy.eye(2),
        "V(H) > 0": _squared_gap(h) > 0,
    }
    return reaches(_squared_gap(after), _squared_gap(h), at=f"{_told(FLAT)}, squares", given=given)


def gap_for_its_square() -> Counterexample:
    """ORTH Eq. 18: ``V(H) = sum_i sigma_i^4 - 1/n``, for singular values 2 and 1 at unit norm.

    >>> gap_for_its_square().right
    Fraction(9, 50)
    """
    h = sympy.Matrix([[2, 0], [0, 1]])
    right = Fraction(2**4 + 1, (2**2 + 1) ** 2) - HALF
    return differs(ball(_squared_gap(h)).sqrt(), right, at="samples (2, 0) and (0, 1)")


def exponent_of_the_chain(samples: int = 2) -> Counterexample:
    """ORTH, Appendix E, last display: ``(sum s)^2 (sum s^3)^2 <= (sum s)^2 (sum s^4)^2``.

    For n equal singular values, whose squares are 1/n: ``(sum s^3)^2 = 1/n = sum s^4``. The common
    factor is left out.

    >>> exponent_of_the_chain().left, exponent_of_the_chain().right
    (Fraction(1, 2), Fraction(1, 4))
    """
    square = Fraction(1, samples)
    left, right = samples**2 * square**3, (samples * square**2) ** 2
    return exceeds(left, right, at=f"{samples} equal singular values, without the common factor")


def _gap_after(samples: int, share: Fraction, layers: int) -> tuple[arb, Fraction, dict[str, bool]]:
    """The gap at layer ``layers + 1``, infinite width, with an alpha and Assumption A1 for it."""
    start = fmpq(share.numerator, share.denominator)
    shares = list(islice(shares_by_layer(samples, start), layers + 2))
    gap = (1 - shares[-1]) * (arb(samples - 1) / samples).sqrt()
    return gap, *_assumed(samples, shares[1:-1])


def _assumed(samples: int, shares: list[arb]) -> tuple[Fraction, dict[str, bool]]:
    """A decimal alpha just below all singular values, and Assumption A1 for it."""
    digits = 10**6
    least = min(float((share / samples).sqrt().lower()) for share in shares)
    alpha = Fraction(int(least * digits), digits)
    below = all(bool(share > ball(samples * alpha**2)) for share in shares)
    return alpha, {r"$0 < \alpha \le \sigma_n(H_k)$ for $k = 1, \dots, \ell$": alpha > 0 and below}


def _place(samples: int, share: Fraction, layers: int, alpha: Fraction) -> str:
    return (
        f"infinite width, {samples} samples, one strong direction, the other squared singular "
        rf"values {share / samples} at the input, $\ell = {layers}$, $\alpha = {float(alpha):g}$"
    )


def _told(samples: list[list[int]]) -> str:
    return "samples " + ", ".join(f"({', '.join(map(str, sample))})" for sample in samples)


def _fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _decomposition(h: sympy.Matrix) -> tuple[sympy.Matrix, sympy.Matrix]:
    """V and Sigma of a batch with orthogonal features, for which U is the identity."""
    lengths = [sympy.sqrt((h.T * h)[k, k]) for k in range(h.cols)]
    sigma = sympy.diag(*lengths)
    return h * sigma.inv(), sigma


def _decomposed(h: sympy.Matrix, v: sympy.Matrix, sigma: sympy.Matrix) -> dict[str, bool]:
    return {"H = VΣ, V with orthonormal columns": v * sigma == h and v.T * v == sympy.eye(h.cols)}


def _squared_gap(h: sympy.Matrix) -> Fraction:
    """``||H H^T / ||H||^2 - I/n||^2`` of samples in rows, which must come out rational."""
    norm = (h.T * h).trace()
    off = h * h.T / norm - sympy.eye(h.rows) / h.rows
    squared = sympy.nsimplify(sympy.simplify((off * off.T).trace()))
    return Fraction(int(squared.p), int(squared.q))
