"""The statements against polynomials by hand, and against maps that violate a hypothesis."""

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import contraction_to_zero as lab
from signallab.kernels.families import Trial

A = sp.activations
SQUARE = sp.KernelMap.from_series([0, 0, 1.0])
LAYERS = np.array([0, 1, 4])


def test_three_ways_to_the_slope_agree():
    """Known: tanh has none in closed form, sign 2/pi, ReLU standardized 1/4 over 1/2 - 1/(2 pi)."""
    rows = lab.slopes_at_zero([A.sign, A.relu, A.step, A.tanh, A.exp]).set_index("activation")
    values = rows.to_numpy(dtype=float)
    np.testing.assert_allclose(values, values[:, :1] * np.ones(3), rtol=1e-8)
    exact = [2 / np.pi, 0.25 / (0.5 - 0.5 / np.pi), 2 / np.pi]
    np.testing.assert_allclose(values[:3, 0], exact, rtol=1e-9)
    assert values[4, 0] == pytest.approx(1 / (np.e - 1), rel=1e-9)


def test_only_zero_attracts_by_hand():
    cubic = sp.KernelMap.from_series([0, 0.6, 0, 0.4])
    left = lab.only_zero_attracts("", cubic).left
    np.testing.assert_allclose(left, [0.6 + 0.4 * 0.998**2, 1 / 1.8], rtol=1e-12)


def test_only_zero_attracts_sees_the_negative_half():
    """No kernel map: rho (3 - rho)/4 is nearer to 0 on the right, and keeps -1."""

    class Bent:
        nonlinearity = 1.0

        def __call__(self, rho):
            return np.asarray(rho) * (3 - np.asarray(rho)) / 4 * 1.0

        def derivative(self, rho):
            return (3 - 2 * rho) / 4

    case = lab.only_zero_attracts("", Bent())
    assert case.left[0] == pytest.approx((3 + 0.998) / 4)
    assert case.left[1] == 4
    assert not case.hypotheses["κ(1) = 1"]


def test_linear_and_mean_violate():
    line = sp.KernelMap(A.identity)
    assert not lab.only_zero_attracts("", line).hypotheses["not linear"]
    case = lab.only_zero_attracts("", line, nonlinear=False)
    assert all(case.hypotheses.values())
    assert np.all(case.left > case.right)
    assert not lab.only_zero_attracts("", sp.KernelMap(A.relu.normalized())).hypotheses["κ(0) = 0"]


def test_batches_are_judged_by_their_worst():
    batch = sp.KernelMap.from_series([[0, 0, 1.0], [0, 0.9, 0.1]])
    np.testing.assert_allclose(
        lab.only_zero_attracts("", batch).left, [0.9 + 0.1 * 0.998, 1 / 1.1], rtol=1e-12
    )


def test_factor_of_a_layer():
    """s rho + (1 - s) rho^2: the factor at rho is (s + (1-s) rho) / (1 + (1-s) rho)."""
    rows = lab.factor_of_a_layer({"m": sp.KernelMap.from_series([0, 0.3, 0.7])}, 7)
    rho = rows["correlation"]
    np.testing.assert_allclose(rows["factor"], (0.3 + 0.7 * rho) / (1 + 0.7 * rho), rtol=1e-9)
    np.testing.assert_allclose(rows["rate"], 1 / 1.7)


def test_bare():
    values = lab.bare(-0.5, LAYERS, sp.KernelMap.from_series([0, 0.6, 0, 0.4]))
    np.testing.assert_allclose(values, 0.5 / 1.4**LAYERS, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 4 / 2.0**LAYERS),
        ({"signed": True}, -4 / 2.0**LAYERS),
        ({"factor": 0.5}, 4 / 4.0**LAYERS),
        ({"power": 0.5}, 0.8 / 0.2**0.5 / 2.0**LAYERS),
    ],
)
def test_corollary(options, expected):
    np.testing.assert_allclose(lab.corollary(**options)(-0.8, LAYERS, SQUARE), expected, rtol=1e-12)


def test_corollary_at_the_counterexample():
    trial = Trial("", SQUARE, np.array([-0.5]), 1)
    case = trial.against(lab.corollary(signed=True))
    assert (case.left, case.right) == (0.25, -0.5)


def test_nonlinear_part_of_exp():
    """Squares of Hermite coefficients of exp, scaled: 1/(e k!)."""
    case = lab.nonlinear_part(A.exp)
    assert case.left == pytest.approx(1 - 2 / np.e, rel=1e-9)
    assert case.right == pytest.approx(1 - 1 / np.e, rel=1e-9)
    assert lab.nonlinear_part(A.exp, at_one=True).right == pytest.approx(0, abs=1e-9)
    assert lab.nonlinear_part(A.cube, factor=0.5).right == pytest.approx(0.2)
    assert lab.nonlinear_part(A.cube, at_one=True).right == pytest.approx(0.8)


def test_bounds_of_the_cases():
    """By the printed formulas at the rows of the figure, from -0.8 in layer 2."""
    start, layer = -0.8, np.array([2])
    potential = 4 / 1.5**2  # slope 1/2 at 0
    critical = 1 - 0.4 - 0.3
    root = (np.sqrt(3) - 1) / 2  # of (rho - 1)(2 rho^2 + 2 rho - 1)/4
    slope = 0.25 + 1.5 * root**2
    expected = {
        1: potential / (1 + potential),
        2: 1.8 * 0.7**2,
        3: 1.8 / (1 + 2 * critical * 1.8),
        4: (root + 0.8) * (1 - root) / 0.2 / (2 - slope) ** 2,
    }
    for case, value in expected.items():
        k = sp.KernelMap.from_series(lab.ROWS[case])
        found = lab.bound_of_case(case)(np.array(start), layer, k)
        assert float(found[0]) == pytest.approx(value, rel=1e-9), case


@pytest.mark.parametrize("case", lab.ROWS)
def test_rows_are_in_their_case(case):
    row = lab.row(case, -0.8, 1)
    assert all(row.hypotheses.values()), row.hypotheses
    polynomial = np.polynomial.Polynomial(lab.ROWS[case])
    star = [0, 1, 1, (np.sqrt(3) - 1) / 2][case - 1]
    assert row.left == pytest.approx(abs(polynomial(-0.8) - star), abs=1e-9)


def test_finite_width_follows_the_map_to_its_floor():
    rows = lab.finite_width(A.tanh, 0.9, [4000], 3, 20, sp.Stream(0))
    np.testing.assert_allclose(rows["width 4000"], rows["infinite width"], atol=0.03)
    by_hand = 0.9
    for _ in range(3):
        by_hand = float(sp.KernelMap(A.tanh.standardized())(by_hand))
    assert rows["infinite width"].iloc[-1] == pytest.approx(by_hand)
    potential = rows["Theorem 5.8"] / (1 - rows["Theorem 5.8"])
    slope = float(sp.KernelMap(A.tanh.standardized()).derivative(0.0))
    np.testing.assert_allclose(potential, 9 / (2 - slope) ** np.arange(4), rtol=1e-9)
