"""Counterexamples to statements of RANK in exact numbers or balls, one function a statement.

Rows of a layer have norm ``sqrt N``, weights are uniform on ``[-sqrt 3, sqrt 3]``.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import sympy
from flint import arb, arb_mat, fmpq_mat

from signalprop.certify import (
    Counterexample,
    Identity,
    ball,
    differs,
    exceeds,
    prove_identity,
    reaches,
)

__all__ = [
    "a_dominant_eigenvalue",
    "a_zero_factor",
    "a_zero_input",
    "alignment_of_a_split",
    "features_of_two_sides",
    "first_order_of_the_norm",
    "moment_moves",
    "one_sample_has_constant_one",
    "pairs_of_eigenvalues",
    "rank_rises",
    "rows_symmetric_alone",
    "several_fixed_matrices",
    "soft_rank_reaches_rank",
]


def soft_rank_reaches_rank() -> Counterexample:
    """RANK, after the definition: the soft rank is less than the rank, for all matrices.

    >>> soft_rank_reaches_rank().left
    1
    """
    h, tau, samples = fmpq_mat(1, 1, [2]), 1, 1
    squares = [h[0, 0] ** 2]
    soft = sum(bool(square / samples >= tau) for square in squares)
    return reaches(soft, h.rank(), at="H = (2), N = 1, τ = 1, soft rank and rank")


def pairs_of_eigenvalues() -> Identity:
    """RANK Lemma 15 and Example 16, for all matrices: what one pair of eigenvalues contributes.

    With ``p_k`` the squares of the entries of one unit in the eigenvectors, ``(M^3)_ii M_ii -
    (M^2)_ii^2`` is a sum over pairs of eigenvalues; that of x and y, weighted with p and q, is
    ``p q x y (x - y)^2``, not negative and 0 only where x = y or one of them is 0.

    >>> pairs_of_eigenvalues().symbols
    ('p', 'q', 'x', 'y')
    """
    x, y, p, q = sympy.symbols("x y p q")
    cube_by_one = p * x**3 * q * y + q * y**3 * p * x
    return prove_identity(cube_by_one - 2 * p * x**2 * q * y**2, p * q * x * y * (x - y) ** 2)


def several_fixed_matrices(
    width: int = 3, samples: int = 2, gamma: Fraction = Fraction(1, 20)
) -> Counterexample:
    """RANK, wherever one invariant law is supposed: linear networks with a weak branch.

    From ``H = u v^T`` with signs u and v, row i of ``H + gamma W H`` is ``(u_i + gamma sum_j W_ij
    u_j) v``, and normalization keeps its sign if ``gamma d sqrt 3 < 1``: H stays for sure. So each
    of these ``2^d`` matrices carries an invariant law.

    >>> several_fixed_matrices(2, 1, Fraction(1, 16)).left
    4
    """
    matrices = {
        tuple(tuple(s for _ in range(samples)) for s in u) for u in product((-1, 1), repeat=width)
    }
    at = f"F = identity, d = {width}, N = {samples}, γ = {gamma}; laws on one matrix each"
    given = {"each matrix stays: γ d √3 < 1": bool(ball(gamma * width) * arb(3).sqrt() < 1)}
    return exceeds(len(matrices), 1, at=at, given=given)


def a_zero_input(width: int = 8, gamma: Fraction = Fraction(1, 2)) -> Counterexample:
    """RANK Lemma 4: from a bounded input the limit has rank one; from zero every layer is zero.

    >>> a_zero_input().left
    0
    """
    layer = fmpq_mat(width, width, [int(i == j) for i in range(width) for j in range(width)])
    x = fmpq_mat(width, width)
    given = {"0 < γ < 1": 0 < gamma < 1}
    return differs((layer * x).rank(), 1, at=f"the input zero, d = {width}", given=given)


def a_zero_factor(width: int = 4) -> Counterexample:
    """RANK Lemma 10: limit points have rank one; with a factor zero, almost surely met, rank 0.

    >>> a_zero_factor().left
    0
    """
    zero = fmpq_mat(width, width)
    one = fmpq_mat(width, width, [int(i == j) for i in range(width) for j in range(width)])
    at = f"factors Gaussian or zero, d = {width}, from the first zero on"
    return differs((one * zero * one).rank(), 1, at=at)


def moment_moves(gamma: Fraction = Fraction(1, 16)) -> Counterexample:
    """RANK Lemma 7: ``M(H_l)`` stays once the rank is one, here for tanh and one layer.

    Rows ``v = sqrt(2/5) (1, 2)``, twice; ``W`` has one entry of 1, and the moment is continuous in
    W: it moves for all weights near by.

    >>> moment_moves().right
    1
    """
    first, second = _one_layer(gamma)
    dot = first[0] * second[0] + first[1] * second[1]
    norms = [(row[0] ** 2 + row[1] ** 2).sqrt() for row in (first, second)]
    at = f"F = tanh, N = 2, two equal rows along (1, 2), γ = {gamma}, M₁₂ after a layer"
    given = {"γ ≤ 1/(8Bd)": gamma <= Fraction(1, 16)}
    return differs(dot / norms[0] / norms[1], 1, at=at, given=given)


def rank_rises(gamma: Fraction = Fraction(1, 16)) -> Counterexample:
    """RANK Lemma 21, footnote 12: a layer does not raise rank one; the one of `moment_moves` does.

    Its determinant is not 0.

    >>> rank_rises().right
    0
    """
    first, second = _one_layer(gamma)
    at = f"F = tanh, N = 2, two equal rows along (1, 2), γ = {gamma}, a determinant after a layer"
    return differs(first[0] * second[1] - first[1] * second[0], 0, at=at)


def features_of_two_sides() -> Counterexample:
    """RANK Proposition 8: features of rank-one pre-activations are collinear, for ReLU too.

    Samples on two sides: the determinant of their features is not 0.

    >>> features_of_two_sides().left
    1
    """
    (a, b), (c, d) = _features(1), _features(-1)
    return differs(a * d - b * c, 0, at="H = uvᵀ, u = v = (1, −1), F = ReLU, a determinant")


def alignment_of_a_split(samples: int = 32) -> Counterexample:
    """RANK Proposition 8: the mean ``|cos|`` between features of two samples is 1 at rank one.

    >>> alignment_of_a_split().left
    Fraction(15, 31)
    """
    features = [_features(1 if k % 2 else -1) for k in range(samples)]
    pairs = [(x, y) for i, x in enumerate(features) for j, y in enumerate(features) if i != j]
    mean = Fraction(sum(abs(x[0] * y[0] + x[1] * y[1]) for x, y in pairs), len(pairs))
    return differs(mean, 1, at=f"{samples // 2} of {samples} samples on one side, unit features")


def first_order_of_the_norm(d: int = 3) -> Counterexample:
    """RANK Eq. 83: ``||lambda||_2^2 = d^2 - 2 gamma^2 d + ...``, the coefficient of gamma^2.

    >>> first_order_of_the_norm().left, first_order_of_the_norm().right
    (-12, -6)
    """
    square = sympy.Symbol("x")  # gamma^2
    norm = (d - (d - 1) * square) ** 2 + (d - 1) * square**2
    coefficient = int(sympy.Poly(norm, square).coeff_monomial(square))
    return differs(coefficient, -2 * d, at=f"d = {d}, the coefficients of γ²")


def rows_symmetric_alone() -> Counterexample:
    """RANK Eq. 8 from rows that are symmetric one by one: ``1 + E M_12 = 1``.

    The law on ``(v, v)`` and its negative, each with chance 1/2, has ``M_12 = 1`` for sure.

    >>> rows_symmetric_alone().left
    Fraction(2, 1)
    """
    v = (1, 1)
    law = [[tuple(s * x for x in v)] * 2 for s in (1, -1)]
    rows = [{m[i] for m in law} for i in range(2)]
    given = {
        "each row as likely as its negative": all(
            {tuple(-x for x in row) for row in found} == found for found in rows
        )
    }
    products = [x * y for m in law for x, y in zip(*m, strict=True)]
    mean = Fraction(sum(products), len(products))
    return differs(1 + mean, 1, at="d = 2, N = 2, H = ±(v, v) with v = (1, 1)", given=given)


def one_sample_has_constant_one(d: int = 2, gamma: int = 2) -> Counterexample:
    """RANK Lemma 15 for one sample: ``E Tr(diag(M^2)^2) / E Tr(M^3)`` is below one.

    ``M = h h^T`` for a vector h of signs, whatever its law. Every sign can turn in a layer, so that
    all states are met and the law is the only one.

    >>> one_sample_has_constant_one().left
    Fraction(1, 1)
    """
    numerator = denominator = 0
    for h in product((1, -1), repeat=d):
        m = fmpq_mat(d, d, [a * b for a in h for b in h])
        square = m * m
        numerator += sum(int(square[i, i].p) ** 2 for i in range(d))
        denominator += sum(int((square * m)[i, i].p) for i in range(d))
    at = f"F = identity, d = {d}, N = 1, γ = {gamma}"
    given = {"any sign may turn: γ d √3 > 1": bool(gamma * d * arb(3).sqrt() > 1)}
    return reaches(Fraction(numerator, denominator), 1, at=at, given=given)


def a_dominant_eigenvalue(log2_width: int = 20) -> Counterexample:
    """RANK Example 17: a dominant eigenvalue ``d^(1/10)`` makes the constant less than 0.9.

    All others are equal. For equal rows of M the constant is ``(sum l^2)^2 / (d sum l^3)``.

    >>> float(a_dominant_eigenvalue().left).__round__(5)
    0.99997
    """
    d, top = 2**log2_width, Fraction(2 ** (log2_width // 10))
    rest = (d - top) / (d - 1)
    square, cube = (top**k + (d - 1) * rest**k for k in (2, 3))
    given = {
        "top = d^(1/10)": top**10 == d,
        "the eigenvalues sum to d": top + (d - 1) * rest == d,
        "the others are smaller": rest < top,
    }
    at = f"d = 2^{log2_width}, eigenvalues {top} and {d - 1} others alike"
    return exceeds(square**2 / (d * cube), Fraction(9, 10), at=at, given=given)


def _one_layer(gamma: Fraction) -> tuple[list[arb], list[arb]]:
    """Rows, but for their length, after a layer of tanh from two equal ones; W = e_1 e_1^T."""
    length = (arb(2) / 5).sqrt()
    row = [length, 2 * length]
    moved = [value + ball(gamma) * value.tanh() for value in row]
    h = arb_mat(2, 2, [*moved, *row])
    return [h[0, 0], h[0, 1]], [h[1, 0], h[1, 1]]


def _features(v: int) -> tuple[int, int]:
    """ReLU of the column ``v u`` with u = (1, -1)."""
    return max(v, 0), max(-v, 0)
