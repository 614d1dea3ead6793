"""Statements on NormReLU against scipy's moments, finite differences and formulas by hand."""

import numpy as np
import pytest
from scipy.stats import norm

import signalprop as sp
from signallab.conditioning import normrelu as lab
from signalprop import theory

C = -1.5975


def by_hand(c=C):
    """Shift, scale, mean and mean square at variance g, slope of it: written out again."""
    b = norm.sf(c) * c - norm.pdf(c)
    second = (1 + c**2) * norm.sf(c) - c * norm.pdf(c)  # E max(X - c, 0)^2
    scale = (second - b**2) ** -0.5

    def mean(g):
        s = np.sqrt(g)
        return scale * (s * norm.pdf(c / s) - c * norm.sf(c / s) + b)

    def square(g):
        s = np.sqrt(g)
        hinge = s * norm.pdf(c / s) - c * norm.sf(c / s)
        hinge_squared = (g + c**2) * norm.sf(c / s) - c * s * norm.pdf(c / s)
        return scale**2 * (hinge_squared + 2 * b * hinge + b**2)

    return b, scale, mean, square


def test_numbers():
    b, scale, mean, square = by_hand()
    found = lab.numbers()
    slope = (square(1 + 1e-5) - square(1 - 1e-5)) / 2e-5
    expected = [scale, b, 1.0507009873554805, square(0.5), slope]
    expected += [mean(0.5) ** 2 / square(0.5), mean(2) ** 2 / square(2)]
    np.testing.assert_allclose(list(found.values()), expected, rtol=1e-9)
    assert set(found) == set(lab.CONSTANTS) | set(lab.FACT_1)


def test_selu_constants():
    x = np.array([-50.0, 2.0])
    np.testing.assert_allclose(
        sp.activations.selu(x), [-lab.SELU_SCALE * lab.SELU_ALPHA, 2 * lab.SELU_SCALE], rtol=1e-15
    )


def test_as_printed_counts_units_of_the_last_place():
    printed = {"a": "0.53", "b": "-1.2"}
    values = {"a": 0.537, "b": -1.24}
    assert lab.as_printed("a", printed, values=values).left == pytest.approx(0.7)
    case = lab.as_printed("b", printed, values=values, units=0.3)
    assert case.left == pytest.approx(0.4)
    assert case.right == 0.3


@pytest.mark.parametrize("c", [C, 0.5])
def test_normalized(c):
    np.testing.assert_allclose(lab.normalized(c).left, [0, 1], atol=1e-13)
    b, scale, _, _ = by_hand(c)
    doubled = lab.normalized(c, scale=lambda c: 2 * scale, shift=lambda c: b + 1)
    np.testing.assert_allclose(doubled.left, [2 * scale, 4 * (1 + scale**2)], rtol=1e-11)


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_closed_forms(gamma):
    case = lab.closed_forms(gamma, 0.3)
    _, _, mean, square = by_hand(0.3)
    slope = (square(gamma + 1e-5) - square(gamma - 1e-5)) / 2e-5
    np.testing.assert_allclose(case.right, [mean(gamma), square(gamma), slope], rtol=1e-8)
    np.testing.assert_allclose(case.left, case.right, rtol=1e-12)


def test_kinks():
    found = lab.kinks()
    assert found["printed"] == C
    assert by_hand(found["for the scale of SELU"])[1] == pytest.approx(lab.SELU_SCALE, rel=1e-12)


def test_beside_selu_and_its_features():
    rows = lab.beside_selu(11).set_index("x")
    b, scale, _, _ = by_hand()
    x = np.array(rows.index)
    np.testing.assert_allclose(rows["NormReLU"], scale * (np.maximum(x - C, 0) + b), rtol=1e-11)
    gap = rows["NormReLU − SELU"].abs()
    assert gap.idxmax() == C
    assert lab.features("largest gap").right == pytest.approx(gap.max(), rel=1e-9)
    for feature, value in {"floor": scale * b, "value at 0": scale * (b - C)}.items():
        case = lab.features(feature)
        np.testing.assert_allclose([case.left, case.right], value, rtol=1e-9)
    assert lab.features("slope").left == pytest.approx(scale)


def test_shapes():
    _, _, mean, square = by_hand()
    rows = lab.shapes(points=7)
    gamma = rows["squared norm γ"]
    np.testing.assert_allclose(rows["norm transfer"], square(gamma), rtol=1e-12)
    np.testing.assert_allclose(rows["bias"], mean(gamma) ** 2 / square(gamma), atol=1e-13)


def test_curvature_has_its_signs():
    square = lab.curvature("bias", form=lambda g: g**2)
    assert (square.left < 0).all()
    assert (lab.curvature("norm transfer", form=lambda g: g**2).left > 0).all()
    assert lab.curvature("norm transfer", 0.5, 200).left.max() > 0


def test_inflection():
    at = lab.inflection()
    slopes = theory.cond_norm_relu_length_slope(np.array([0.99 * at, at, 1.01 * at]))
    assert slopes[1] < min(slopes[0], slopes[2])


def test_ordered_has_its_signs():
    def away(g):
        return (g - 1) ** 2

    for part in ("bias below 1", "bias above 1"):
        assert (lab.ordered(part, form=away).left < 0).all()
        assert (lab.ordered(part, form=lambda g: -away(g)).left > 0).all()
    assert (lab.ordered("norm transfer").left < 0).all()


def test_slopes_by_kink():
    rows = lab.slopes_by_kink(-2, 0.5, 6)
    for c, slope in rows.to_numpy():
        square = by_hand(c)[3]
        assert slope == pytest.approx((square(1 + 1e-5) - square(1 - 1e-5)) / 2e-5, rel=1e-7)


def test_norms_by_kink():
    rows = lab.norms_by_kink([C, 0.0], [0.5, 2.0], [1, 2])
    square = by_hand(0.0)[3]
    last = rows.iloc[-1]
    np.testing.assert_allclose(
        [last["after 1"], last["after 2"]], [square(2.0), square(square(2.0))], rtol=1e-11
    )
    assert rows["squared norm"].tolist() == [0.5, 2.0, 0.5, 2.0]
