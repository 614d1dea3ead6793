"""Statements of COND that are algebra, proved for all values of their symbols.

Each function returns the identities of one statement; its docstring says how the statement follows.
"""

from __future__ import annotations

import sympy

from signalprop.certify import Identity, prove_identity

__all__ = [
    "best_affine_function",
    "best_line",
    "coefficient_near_norm_one",
    "coefficient_of_norm_relu",
    "coefficients_of_the_table",
    "duals_of_the_table",
    "hermite_derivatives",
    "mirrored",
    "moments_of_hermite_polynomials",
    "moments_of_norm_relu",
    "norm_relu_is_normalized",
    "norm_transfer",
    "norms_come_to_one",
    "norms_under_a_shift",
    "odd_layer",
    "parabola",
    "two_lines",
]

j, k = sympy.symbols("j k", integer=True, positive=True)
r, mu, delta, gamma = sympy.symbols("r mu delta gamma", positive=True)
c, b = sympy.symbols("c b", real=True)


def mirrored() -> list[Identity]:
    """COND Lemma 21: ``|s(-r)| <= s(r)`` for r in [0, 1].

    ``s(r) + s(-r)`` and ``s(r) - s(-r)`` are sums over orders with weights that are not negative.
    Of an even order one is ``2 r^(2 j)`` and the other 0, of an odd order it is the other way.

    >>> len(mirrored())
    4
    """
    two = sympy.Integer(2)
    expected = {2 * j: (two * r ** (2 * j), 0), 2 * j + 1: (0, two * r ** (2 * j + 1))}
    return [
        prove_identity(r**order + sign * (-r) ** order, sympy.sympify(sums[(1 - sign) // 2]))
        for order, sums in expected.items()
        for sign in (1, -1)
    ]


def parabola() -> list[Identity]:
    """COND, proof of Lemma 21: ``s(1 - delta) <= (1 - delta)(1 - mu delta)``.

    The weights from order 2 on sum to mu, and ``r^2 - r^k = r^2 (1 - r^(k - 2))`` is not negative
    for ``k >= 2`` and r in [0, 1]. So ``s(r) <= (1 - mu) r + mu r^2``, with ``r = 1 - delta``.

    >>> len(parabola())
    2
    """
    right = (1 - delta) * (1 - mu * delta)
    return [
        prove_identity(r**2 - r**k, r**2 * (1 - r ** (k - 2))),
        prove_identity((1 - mu) * (1 - delta) + mu * (1 - delta) ** 2, right),
    ]


def two_lines() -> list[Identity]:
    """COND Lemma 21: both lines lie above the parabola, the first up to 1/2, the second beyond.

    They exceed it by ``mu delta (1/2 - delta)`` and by ``mu (1 - delta)(delta - 1/2)``.

    >>> len(two_lines())
    4
    """
    curve, half = (1 - delta) * (1 - mu * delta), sympy.Rational(1, 2)
    first, second = 1 - (1 + mu * half) * delta, (1 - mu * half) * (1 - delta)
    return [
        *parabola(),
        prove_identity(first - curve, mu * delta * (half - delta)),
        prove_identity(second - curve, mu * (1 - delta) * (delta - half)),
    ]


def odd_layer() -> list[Identity]:
    """COND Lemma 41, and with the cube of the correlation: one layer of an odd activation.

    With ``r = 1 - delta``, the size of the correlation, Cauchy and Schwarz bound the square of the
    ratio by the product of ``sum_j p_j r^j`` for x and y. The weights sum to 1 over odd orders,
    those from 3 on to mu, and ``r^3 - r^(2 j + 1) = r^3 (1 - r^(2 j - 2))`` is not negative. So
    each sum is at most ``r (1 - mu (1 - r^2))``. This is less by ``mu r^2 (1 - r)`` than ``r (1 -
    mu (1 - r))``, the parabola of Lemma 21, above which lie the two lines.

    >>> len(odd_layer())
    7
    """
    cubic = r * (1 - mu * (1 - r**2))
    return [
        prove_identity(r**3 - r ** (2 * j + 1), r**3 * (1 - r ** (2 * j - 2))),
        prove_identity((1 - mu) * r + mu * r**3, cubic),
        prove_identity(r * (1 - mu * (1 - r)) - cubic, mu * r**2 * (1 - r)),
        *two_lines(),
    ]


def best_line() -> list[Identity]:
    """COND Definition 2 and Lemma 19: ``mu = 1 - a_1^2`` is what the best line through 0 leaves.

    ``E (s(X) - b X)^2 = E s^2 - 2 b a_1 + b^2`` with ``E s^2 = 1``. So mu is a mean square, 0 only
    for a line; and a square is taken off 1.

    >>> len(best_line())
    1
    """
    a_1 = sympy.Symbol("a_1", real=True)
    return [prove_identity(1 - 2 * b * a_1 + b**2, (1 - a_1**2) + (b - a_1) ** 2)]


def best_affine_function() -> list[Identity]:
    """COND Definition 29 and Lemma 30: the same with an offset, ``E (s(X) - c - b X)^2``.

    >>> len(best_affine_function())
    1
    """
    a_0, a_1 = sympy.symbols("a_0 a_1", real=True)
    left = 1 - 2 * c * a_0 - 2 * b * a_1 + c**2 + b**2
    return [prove_identity(left, (1 - a_0**2 - a_1**2) + (c - a_0) ** 2 + (b - a_1) ** 2)]


def norm_transfer() -> list[Identity]:
    """COND Lemma 39: the norm transfer ``E s(sqrt(gamma) z)^2`` rises and is concave.

    Its derivatives are means of those of ``s(w)^2`` with ``w = sqrt(gamma) z``, the displays of the
    proof. The first is ``s(w) s'(w) w / gamma``, with ``s(w) w >= 0``. In the second one term has
    ``s s'' <= 0``; the others make ``w s'(w) (w s'(w) - s(w))`` over ``2 gamma^2``. A concave
    function that is 0 at 0 has ``w s'(w) <= s(w)`` for w > 0; for w < 0 all signs turn twice. So
    ``s(w)^2`` is concave in gamma for each z, hence its mean is, also where s has a kink at 0.

    >>> len(norm_transfer())
    3
    """
    z, value, slope, bend = sympy.symbols("z s s_1 s_2", real=True)  # s and its derivatives at w
    w = sympy.sqrt(gamma) * z

    def by_gamma(f: sympy.Expr) -> sympy.Expr:
        chain = slope * f.diff(value) + bend * f.diff(slope)
        return f.diff(gamma) + chain * w.diff(gamma)

    first = value * slope * z / sympy.sqrt(gamma)
    fractions = [
        slope**2 * z**2 / (2 * gamma),
        value * bend * z**2 / (2 * gamma),
        -value * slope * z / (2 * gamma * sympy.sqrt(gamma)),
    ]
    signed = w * slope * (w * slope - value) / (2 * gamma**2)
    return [
        prove_identity(by_gamma(value**2), first),
        prove_identity(by_gamma(first), sum(fractions)),
        prove_identity(fractions[0] + fractions[2], signed),
    ]


def coefficient_near_norm_one() -> list[Identity]:
    """COND Eq. 20 with three quarters: ``mu^(gamma) >= 3 mu / 4`` for ``|gamma - 1| <= mu / 4``.

    ``a_1 = E X s(sqrt(gamma) X)`` has the derivative ``E s'(w) X^2 / (2 sqrt(gamma))``, not
    negative as s rises; by Stein, which integrates the slope of ``s(w)`` times a density, ``a_1 /
    sqrt(gamma)`` is ``E s'(w)``, whose derivative is a mean of ``s''(w) X``, not positive as s is
    odd and concave on the right. At norm 1 the square of ``a_1`` is ``1 - mu``. By
    :func:`norm_transfer` the second moment is at least gamma below 1, and at least 1 above. *Below
    1* ``mu^(gamma) >= 1 - (1 - mu)/gamma``, which rises with gamma from ``(3 mu/4)/(1 - mu/4)``;
    *above 1* it is at least ``1 - gamma (1 - mu)``, which falls to ``3 mu/4 + mu^2/4``.

    >>> len(coefficient_near_norm_one())
    9
    """
    z, value, slope, bend = sympy.symbols("z s s_1 s_2", real=True)  # s and its derivatives at w
    w, edge = sympy.sqrt(gamma) * z, mu / 4
    density = sympy.exp(-(z**2) / 2)
    below, above = 1 - (1 - mu) / gamma, 1 - gamma * (1 - mu)
    by_parts = w.diff(z) * slope * density + value * density.diff(z)
    return [
        *norm_transfer(),
        prove_identity(z * slope * w.diff(gamma), slope * z**2 / (2 * sympy.sqrt(gamma))),
        prove_identity(by_parts, (sympy.sqrt(gamma) * slope - z * value) * density),
        prove_identity(bend * w.diff(gamma), bend * z / (2 * sympy.sqrt(gamma))),
        prove_identity(below.diff(gamma), (1 - mu) / gamma**2),
        prove_identity(below.subs(gamma, 1 - edge), 3 * edge / (1 - edge)),
        prove_identity(above.subs(gamma, 1 + edge), 3 * edge + mu**2 / 4),
    ]


def norms_come_to_one() -> list[Identity]:
    """COND Theorem 37 without its squares, and Remark 38, from any squared norm q on.

    By :func:`norm_transfer` the transfer T is concave and rises, from ``T(0) = 0`` to ``T(1) = 1``
    and beyond. *On [q, 1]* it lies above its chord, and ``1 - chord = (1 - alpha)(1 - gamma)`` with
    ``alpha = 1 - (1 - T(q))/(1 - q)``, which is ``2 T(1/2) - 1`` for ``q = 1/2``. *Above 1* it lies
    below its tangent at 1, whose slope is at most that of the chord. Norms stay on their side of 1,
    so that a layer more brings a factor more. T is at least the diagonal on [0, 1] and at most 1,
    so that alpha lies in [0, 1].

    >>> len(norms_come_to_one())
    6
    """
    q, there, alpha = sympy.symbols("q T alpha", positive=True)
    chord = ((1 - gamma) * there + (gamma - q)) / (1 - q)
    rate = 1 - (1 - there) / (1 - q)
    return [
        *norm_transfer(),
        prove_identity(1 - chord, (1 - rate) * (1 - gamma)),
        prove_identity(rate.subs(q, sympy.Rational(1, 2)), 2 * there - 1),
        prove_identity((1 - alpha) * (1 - alpha) ** k, (1 - alpha) ** (k + 1)),
    ]


def norms_under_a_shift() -> list[Identity]:
    """COND, Appendix D.4: what a layer of ``max(x, 0) - s`` makes of the distance from norm 1.

    Divided by its root mean square it has the norm transfer T, a square over its value at 1. With
    ``m = E max(X, 0)``, ``S = E (max(X, 0) - s)^2`` and the norm r, a layer multiplies ``r^2 - 1``
    by ``f = (1/2 - 2 m s/(r + 1))/S``. For ``s > 0`` that is at least ``f(0)`` and less than ``1/(2
    S)``, as what is between has one sign: the last two identities.

    >>> len(norms_under_a_shift())
    4
    """
    s, m, y = sympy.symbols("s m y", positive=True)
    half, mean = sympy.Rational(1, 2), 1 / sympy.sqrt(2 * sympy.pi)
    square = _mean((r * y - s) ** 2, y, half=True) + s**2 / 2  # X > 0, and the half where X < 0
    second = half - 2 * m * s + s**2
    factor = (half - 2 * m * s / (r + 1)) / second
    return [
        prove_identity(square, r**2 / 2 - 2 * mean * s * r + s**2),
        prove_identity(square / square.subs(r, 1) - 1, (r**2 - 1) * factor.subs(m, mean)),
        prove_identity(factor - factor.subs(r, 0), 2 * m * s * r / (r + 1) / second),
        prove_identity(half / second - factor, 2 * m * s / (r + 1) / second),
    ]


def moments_of_norm_relu() -> list[Identity]:
    """COND, Appendix I.1: mean, norm transfer and its slope for every kink and every variance.

    For z Gaussian of variance gamma, ``P(z > c)``, ``E (z - c)_+`` and ``E (z - c)_+^2`` are those
    of half a Gaussian at ``c = 0``. By c they have as slopes minus the density, ``-P(z > c)`` and
    ``-2 E (z - c)_+``. Both is true of :func:`_hinge`'s closed forms: the first six identities. The
    others put them into ``E g``, ``E g^2`` with ``g = (z - c)_+ + b``, and differentiate by gamma.

    >>> len(moments_of_norm_relu())
    9
    """
    mean, square, above, density = _hinge(gamma)
    root, y = sympy.sqrt(gamma), sympy.Symbol("y")
    at_zero = [_mean(y**i, y, half=True) * root**i for i in range(3)]
    length = (c**2 + gamma - 2 * c * b) * above + (2 * b - c) * root * density + b**2
    return [
        *[
            prove_identity(moment.subs(c, 0), known)
            for moment, known in zip((above, mean, square), at_zero, strict=True)
        ],
        prove_identity(above.diff(c), -density / root),
        prove_identity(mean.diff(c), -above),
        prove_identity(square.diff(c), -2 * mean),
        prove_identity(mean + b, root * density - above * c + b),
        prove_identity(square + 2 * b * mean + b**2, length),
        prove_identity(length.diff(gamma), above + b / root * density),
    ]


def norm_relu_is_normalized() -> list[Identity]:
    """COND Eq. 4: mean 0 and mean square 1 for every kink.

    At variance 1 the printed shift is ``-E (X - c)_+``, and the printed ``lambda^-2`` is the
    variance of ``(X - c)_+``. The moments are those of :func:`moments_of_norm_relu`.

    >>> len(norm_relu_is_normalized())
    8
    """
    mean, square, above, density = _hinge(sympy.Integer(1))
    below = 1 - above
    inverse = above * below * c**2 + (1 - 2 * below) * density * c + above - density**2
    return [
        *moments_of_norm_relu()[:6],
        prove_identity(above * c - density, -mean),
        prove_identity(inverse, square - mean**2),
    ]


def coefficient_of_norm_relu() -> list[Identity]:
    """COND, Appendix C.4: ``a_1 = lambda (1 - Phi(c))`` for every kink.

    ``E X (X - c)_+`` and ``1 - Phi(c)`` tend to 0 as c grows. By c the first has the slope
    ``-E X 1[X > c]``, which is ``-p(c)`` as both tend to 0 and have the slope ``c p(c)``; the
    second has the slope ``-p(c)`` too.

    >>> len(coefficient_of_norm_relu())
    2
    """
    _, _, above, density = _hinge(sympy.Integer(1))
    return [
        prove_identity(-density.diff(c), c * density),
        prove_identity(above.diff(c), -density),
    ]


def coefficients_of_the_table() -> list[Identity]:
    """COND, table of Appendix C.4: ``1 - (E X s(X))^2 / Var s(X)`` for its five activations.

    By the moments of a Gaussian, on the line or on the half of it where the activation is not 0. Of
    the exponential ``E f(X) e^(a X) = e^(a^2/2) E f(X + a)``.

    >>> len(coefficients_of_the_table())
    5
    """
    y, one, e = sympy.Symbol("y"), sympy.S.One, sympy.E
    root = sympy.sqrt(e)
    polynomials = [
        (y, False, sympy.S.Zero),
        ((y**2 - 1) / sympy.sqrt(2), False, one),
        (y, True, (sympy.pi - 2) / (2 * sympy.pi - 2)),
        (one, True, (sympy.pi - 2) / sympy.pi),
    ]
    rows = [
        ([_mean(f, y, half) for f in (y * s, s, s**2)], printed) for s, half, printed in polynomials
    ]
    rows.append(([root * _mean(y + 1, y), root, e**2], (e - 2) / (e - 1)))
    return [
        prove_identity(1 - first**2 / (square - mean**2), printed)
        for (first, mean, square), printed in rows
    ]


def duals_of_the_table() -> list[Identity]:
    """COND, table of Appendix C.4: duals, mended where they are wrong, from Hermite coefficients.

    With ``w_i = he_i(0)^2`` integrals by parts give ``a_k^2 = w_(k - 1) / (2 pi k)`` for the step
    and ``w_(k - 2) / (2 pi k (k - 1))`` for ReLU, from k = 1 and 2 on. By Mehler ``sum_i w_i r^i``
    is ``1/sqrt(1 - r^2)``: it has the recursion of ``w_i``, ``(i + 2) w_(i + 2) = (i + 1) w_i``, as
    it solves ``(1 - r^2) f' = r f``. So one and two derivatives of the closed forms are ``f / (2
    pi)``; and their values, and the slope, at 0 are those of orders 0 and 1. The printed
    coefficients follow from ``w_0, w_2, w_4 = 1, 1/2, 3/8``. And ``E e^X e^Y``, with ``X + Y`` of
    variance ``2 + 2 r``, is ``e e^r``.

    >>> len(duals_of_the_table())
    14
    """
    pi, at = sympy.pi, sympy.Symbol("rho", real=True)
    density = 1 / sympy.sqrt(1 - at**2)
    step = (pi - sympy.acos(at)) / (2 * pi)
    relu = (sympy.sqrt(1 - at**2) + (pi - sympy.acos(at)) * at) / (2 * pi)
    w = [sympy.Integer(1), sympy.Rational(1, 2), sympy.Rational(3, 8)]
    of_step = [1 / (2 * pi), 1 / (12 * pi), 3 / (80 * pi)]
    of_relu = [1 / (4 * pi), 1 / (48 * pi)]
    return [
        prove_identity((1 - at**2) * density.diff(at), at * density),
        *[prove_identity((2 * i + 2) * w[i + 1], (2 * i + 1) * w[i]) for i in range(2)],
        prove_identity(step.diff(at), density / (2 * pi)),
        prove_identity(relu.diff(at, 2), density / (2 * pi)),
        prove_identity(step.subs(at, 0), _mean(sympy.S.One, at, half=True) ** 2),
        prove_identity(relu.subs(at, 0), _mean(at, at, half=True) ** 2),
        prove_identity(relu.diff(at).subs(at, 0), _mean(at**2, at, half=True) ** 2),
        *[
            prove_identity(printed, w[i] / (2 * pi * (2 * i + 1)))
            for i, printed in enumerate(of_step)
        ],
        *[
            prove_identity(printed, w[i] / (2 * pi * (2 * i + 2) * (2 * i + 1)))
            for i, printed in enumerate(of_relu)
        ],
        prove_identity(sympy.exp((2 + 2 * at) / 2), sympy.E * sympy.exp(at)),
    ]


def hermite_derivatives() -> list[Identity]:
    """COND, fact 5: the dual of a derivative is the derivative of the dual, order by order.

    ``G = exp(t z - t^2/2)`` generates ``He_k(z) t^k / k!``. So ``dG/dz = t G`` and ``(z - d/dz) G =
    dG/dt`` say ``He_k' = k He_(k - 1)`` and ``z He_k - He_k' = He_(k + 1)``. If s is the integral
    of its derivative, and that has a second moment, by parts ``E s'(X) he_k(X) = E s(X) He_(k +
    1)(X) / sqrt(k!)``, which is ``sqrt(k + 1) a_(k + 1)``. Its square goes with ``r^k``.

    >>> len(hermite_derivatives())
    4
    """
    t, z, a, f = sympy.symbols("t z a f", positive=True)
    generating = sympy.exp(t * z - t**2 / 2)
    norm = sympy.sqrt((k + 1) * f) / sympy.sqrt(f)  # f = k!
    return [
        prove_identity(generating.diff(z), t * generating),
        prove_identity(z * generating - generating.diff(z), generating.diff(t)),
        prove_identity(norm**2, k + 1),
        prove_identity((a**2 * r ** (k + 1)).diff(r), (k + 1) * a**2 * r**k),
    ]


def moments_of_hermite_polynomials() -> list[Identity]:
    """COND Lemma 40, and KER Eq. 5.5 and Lemma 5.6, for all orders and all covariances.

    ``exp(s z_1 - gamma_1 s^2/2)`` and ``exp(t z_2 - gamma_2 t^2/2)`` generate ``H_i(z_1) s^i / i!``
    and ``H_j(z_2) t^j / j!``. The mean of ``exp(s z_1 + t z_2)`` has the logarithm ``(gamma_1 s^2 +
    2 gamma_3 s t + gamma_2 t^2)/2``. So the mean of the product is ``exp(gamma_3 s t)``, and ``E
    H_i H_j`` is ``gamma_3^j j!`` for ``i = j`` and else 0. The last identity divides by the norms.

    >>> len(moments_of_hermite_polynomials())
    2
    """
    s, t, g_1, g_2, g_3, factorial = sympy.symbols("s t gamma_1 gamma_2 gamma_3 f", positive=True)
    logarithm = (g_1 * s**2 + 2 * g_3 * s * t + g_2 * t**2) / 2
    norms = sympy.sqrt(g_1**k * factorial) * sympy.sqrt(g_2**k * factorial)
    return [
        prove_identity(logarithm - g_1 * s**2 / 2 - g_2 * t**2 / 2, g_3 * s * t),
        prove_identity(g_3**k * factorial / norms, (g_3 / sympy.sqrt(g_1 * g_2)) ** k),
    ]


def _mean(polynomial: sympy.Expr, y: sympy.Symbol, half: bool = False) -> sympy.Expr:
    """The mean of a polynomial of a standard Gaussian, of its positive values only if ``half``.

    ``E X^n 1[X > 0] = 2^(n/2 - 1) gamma((n + 1)/2) / sqrt(pi)``.
    """
    total = sympy.S.Zero
    for (n,), coefficient in sympy.Poly(polynomial, y).terms():
        part = sympy.sqrt(2) ** (n - 2) * sympy.gamma(sympy.Rational(n + 1, 2))
        sides = 1 if half else 1 + (-1) ** n
        total += coefficient * sides * part / sympy.sqrt(sympy.pi)
    return total


def _hinge(variance: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr, sympy.Expr]:
    """Mean and mean square of ``(z - c)_+``, ``P(z > c)``, and the density of z over its root."""
    root = sympy.sqrt(variance)
    u = c / root
    above = (1 - sympy.erf(u / sympy.sqrt(2))) / 2
    density = sympy.exp(-(u**2) / 2) / sympy.sqrt(2 * sympy.pi)
    mean = root * density - c * above
    square = (variance + c**2) * above - c * root * density
    return mean, square, above, density
