"""The closed form of a layer and its rooms, beside the integrals and recursions in doubles."""

import numpy as np
import pytest
import sympy
from flint import arb

from signallab.orthogonality import exact_layer as exact
from signallab.orthogonality import gap_depth_width
from signalprop import theory

LAYERS = [(n, share) for n in (2, 3, 4, 7, 20) for share in (0.01, 0.3, 0.9)]


def worst(n, share):
    return np.append(np.full(n - 1, (1 - share / n) / (n - 1)), share / n)


def shrinks(n, share):
    """By how much the distance shrinks, from the integral for the mean."""
    after = 1 / n - theory.expected_spectrum(worst(n, share))[-1]
    return 1 - after / ((1 - share) / n)


@pytest.mark.parametrize(("n", "share"), LAYERS)
def test_the_rate_is_that_of_the_integral(n, share):
    found = exact.rate(n, arb(share))
    assert float(found.mid()) == pytest.approx(shrinks(n, share), rel=1e-9)
    assert exact.rate(n, arb(share).union(arb(1))).contains(found)


def test_the_rate_encloses_what_is_between():
    wide = exact.rate(6, arb(0.2).union(arb(0.6)))
    assert all(wide.contains(exact.rate(6, arb(u))) for u in np.linspace(0.2, 0.6, 9)[1:-1])


@pytest.mark.parametrize(("n", "share"), LAYERS)
def test_rooms_are_lower_bounds(n, share):
    per_share = shrinks(n, share) / (share / n)
    z = (1 - share) / (1 - share / n)
    at = arb(1) / n, arb(z)
    printed = float(exact.room_of_lemma_8(*at).mid())
    best = float(exact.room_of_the_best_constant(*at).mid())
    truth = per_share - 2 / 3, (per_share - theory.constant_of_lemma_8(n)) * n / z
    assert (np.array([printed, best]) <= np.add(truth, 1e-9)).all()
    if z < 0.5:  # the terms that are left out are small
        assert (printed, best) == pytest.approx(truth, rel=1e-2)


def test_lemma_8_is_proved_with_room_and_not_with_a_larger_constant():
    printed, best = exact.lemma_8()
    assert min(printed.boxes, best.boxes) > 10
    assert 0 < printed.margin <= 1 / 3
    assert best.margin > 0
    at_the_flat_one = exact.room_of_lemma_8(arb(0.5), arb(0))
    assert at_the_flat_one.contains(arb(1) / 3)


def test_two_samples_have_the_room_of_all():
    elementary = exact.theorem_1_for_two_samples()
    rooms = [float(exact.room_of_theorem_1(2)(arb(y)).mid()) for y in np.linspace(0.01, 0.99, 9)]
    assert 0 < elementary.margin <= min(rooms)
    assert min(rooms) == pytest.approx(0.5**0.5 - 2 / 3, abs=1e-2)


def gap_over_bound(n, share, layers, shape):
    path = gap_depth_width.infinite_width(n, shape, share, layers + 1)
    alpha = path["smallest singular value"].to_numpy()[0]
    gap = path["gap"].to_numpy()
    return max(gap[k] / theory.orth_theorem_1(alpha, k, n, np.inf) for k in range(layers))


@pytest.mark.parametrize("shape", ["one strong direction", "one weak direction"])
def test_the_map_agrees_with_paths_in_doubles(shape):
    found = exact.map_of_theorem_1([2, 5, 12], 1 / 8)
    for n, part in found.groupby("samples"):
        assert (part["share from"].iloc[0], part["share to"].iloc[-1]) == (0, 1)
        assert np.allclose(part["share from"].iloc[1:], part["share to"].iloc[:-1])
        assert (part["the theorem"].iloc[1:].to_numpy() != part["the theorem"].iloc[:-1]).all()
        for row in part.to_dict("records"):
            y = (row["share from"] + row["share to"]) / 2
            most = gap_over_bound(n, y**2, 20 * n, shape)
            if row["the theorem"].startswith("holds"):
                assert most <= 1
            if row["the theorem"] == "fails" and shape.startswith("one strong") and y < 0.95:
                assert most > 1


def test_what_is_not_proved_at_infinite_width_is_halved_to_the_end():
    found = exact.map_of_theorem_1([12], 1 / 64).set_index("the theorem")
    assert found.loc["open", "share to"].max() - 3 * 12**0.5 / 14 < 1 / 32
    assert (found.loc["open", "share to"] - found.loc["open", "share from"]).sum() <= 1 / 16


def test_theorem_1_fails_above_the_rate_near_orthogonality():
    found = exact.map_of_theorem_1([9], 1 / 64)
    fails = found[found["the theorem"] == "fails"]["share from"].min()
    assert fails == pytest.approx(3 * 9**0.5 / 11, abs=1 / 32)
    assert "fails" not in set(exact.map_of_theorem_1([4], 1 / 16)["the theorem"])


def test_identities_are_for_all_sizes():
    for identity in (exact.lemma_4(), exact.lemma_7(), exact.factor_h_2(), *exact.lemma_6()):
        assert {"n"} & set(identity.symbols) or {"d", "m"} == set(identity.symbols)
    assert all("n" in identity.symbols for identity in (*exact.tangent(), *exact.convexity()))


def test_the_antiderivatives_are_those_of_the_integrals():
    """The integral of ``g'(0)`` over all theta is ``2n / (n + 2)``, for a few n by sympy."""
    theta = sympy.Symbol("theta", positive=True)
    for n in (2, 3, 6):
        w = 1 + 2 * theta / n
        whole = sympy.integrate(2 * theta * w ** (-sympy.Rational(n, 2) - 2), (theta, 0, sympy.oo))
        assert sympy.simplify(whole - sympy.Rational(2 * n, n + 2)) == 0


def test_lemmas_4_and_7_at_random_numbers():
    rng = np.random.default_rng(0)
    for n in (2, 3, 8):
        s = np.sort(rng.dirichlet(np.ones(n)))[::-1]
        vhat, e = 1 / n - s[-1], s - s[-1]
        gap = ((s - 1 / n) ** 2).sum()
        assert n * (n - 1) * vhat**2 - gap == pytest.approx(e.sum() ** 2 - (e**2).sum())
        moved = rng.normal(size=n)
        moved -= moved.mean()
        assert moved[-1] ** 2 <= (1 - 1 / n) * (moved**2).sum() + 1e-12
