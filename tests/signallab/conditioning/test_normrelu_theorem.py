"""The recursion against the library's quadrature, constants and sums against formulas by hand."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import normrelu_theorem as lab
from signalprop import theory
from signalprop.limits.expansions import hermite_coefficients

PHI = sp.activations.norm_relu()
LENGTHS = sp.LengthMap(PHI)


def bias(gamma):
    return float(LENGTHS.mean(gamma)) ** 2 / float(LENGTHS(gamma))


@pytest.mark.parametrize(("x", "y"), [(0.5, 2.0), (2.0, 2.0), (0.1, 10.0)])
def test_correlation(x, y):
    rho = np.array([-0.999, -0.4, 0.0, 0.3, 0.97])
    exact = LENGTHS.correlation(x, y, rho)
    np.testing.assert_allclose(lab.correlation(x, y, rho), exact, atol=1e-12)


def test_correlation_at_norm_one_is_the_kernel_map():
    rho = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(lab.correlation(1.0, 1.0, rho), sp.KernelMap(PHI)(rho), atol=1e-12)


def test_paths():
    path = lab.paths((0.3, -0.5), 2, ((0.5, 2.0), (1.0, 1.5)))
    assert path.shape == (3, 2, 2)
    x, y = float(LENGTHS(1.0)), float(LENGTHS(1.5))
    first = LENGTHS.correlation(1.0, 1.5, -0.5)
    assert path[1, 1, 1] == pytest.approx(float(first), abs=1e-12)
    assert path[2, 1, 1] == pytest.approx(float(LENGTHS.correlation(x, y, first)), abs=1e-12)


def test_waiting():
    assert lab.waiting(1e-5) == pytest.approx(2 / 0.0798 * math.log(3e5))
    mu = 1 - float(sp.KernelMap(PHI).hermite_coefficients(1)[1]) ** 2
    assert lab.waiting(1.0, alpha=0.1) == pytest.approx(20 * math.log(12 / mu))


def test_theorem_59():
    case = lab.theorem_59(0.6, 0.3, 170)
    path = lab.paths((0.6,), 170)
    first = math.ceil(lab.waiting(0.3))
    np.testing.assert_array_equal(case.left, path[first:, :, 0].T)
    mu = float(theory.cond_norm_relu_mu(-1.5975))
    steps = np.arange(first, 171) - lab.waiting(0.3)
    expected = theory.cond_b(steps, 0.4 - 0.0185, mu / 2) + 0.0185 * 0.3
    np.testing.assert_allclose(case.right[3], expected)
    assert not lab.theorem_59(0.99, 0.3, 5, sharper=1.1).hypotheses["δ > δ′"]


def test_theorem_59_sharper():
    case = lab.theorem_59(0.6, 0.3, 5, sharper=1.1, drift=0.1, rate=2.0)
    mu = float(theory.cond_norm_relu_mu(-1.5975))
    expected = 1.1 * (1.5 + 0.1) / (1 + 2 * mu) ** np.arange(6)
    np.testing.assert_allclose(case.right[0], expected)
    rho = lab.paths((0.6,), 5)[:, 0, 0]
    np.testing.assert_allclose(case.left[0], rho / (1 - rho))


def test_drift():
    rows = lab.drift([0.0, 0.2], 30)
    path = lab.paths((0.0, 0.2), 30)
    assert rows["rise"][0] == path[..., 0].max()
    assert rows["rise"][1] == pytest.approx(path[..., 1].max() - 0.2)


@pytest.mark.parametrize("gamma", [0.7, 1.7])
def test_chord(gamma):
    case = lab.chord(gamma)
    assert case.left == pytest.approx(bias(gamma), rel=1e-9)
    end = 0.5 if gamma < 1 else 2.0
    assert case.right == pytest.approx(bias(end) * (1 - gamma) / (1 - end), rel=1e-9)
    assert lab.chord(gamma, below=1.0, above=0.5).right == pytest.approx(case.right / 2)
    for outside in (0.4, 2.5):
        assert not lab.chord(outside).hypotheses["γ in [0.5, 2]"]


def test_constants():
    below = 2 * float(LENGTHS(0.5)) - 1
    above = 1 - float(LENGTHS.derivative(1.0))
    delta = max(bias(0.5) / below, bias(2.0) / above)
    np.testing.assert_allclose(list(lab.constants().values()), [below, above, delta], rtol=1e-9)
    assert lab.constant("δ′", {"δ′": "0.02"}).left == pytest.approx((0.02 - delta) * 100)


@pytest.mark.parametrize("side", ["below", "above"])
def test_sum_of_biases(side):
    start, rate = (0.5, "rate below 1") if side == "below" else (2.0, "rate above 1")
    alpha = lab.constants()[rate]
    terms = [bias(1 + (start - 1) * (1 - alpha) ** n) for n in range(300)]
    case = lab.sum_of_biases(side, 1.0)
    assert case.left == pytest.approx(sum(terms), rel=1e-7)
    assert case.right == pytest.approx(bias(start) / alpha, rel=1e-9)
    late = lab.sum_of_biases(side, 0.3, factor=2.0)
    first = next(n for n in range(300) if (1 - alpha) ** n <= 0.3)
    assert late.left == pytest.approx(sum(terms[first:]), rel=1e-7)
    assert late.right == pytest.approx(0.6 * bias(start) / alpha, rel=1e-9)


def test_sums():
    rows = lab.sums()
    for start, row in zip([0.5, 2.0], rows.to_numpy(), strict=True):
        norms = np.asarray(LENGTHS.iterate(start, 300))
        along = (np.asarray(LENGTHS.mean(norms)) ** 2 / np.asarray(LENGTHS(norms))).sum()
        assert row[3] == pytest.approx(along, rel=1e-9)
        case = lab.sum_of_biases("below" if start < 1 else "above", 1.0)
        assert list(row[:3]) == [start, case.right, case.left]


def test_one_input_by_hermite_coefficients():
    gamma, rho = 2.0, 0.5
    a = hermite_coefficients(PHI.gained(math.sqrt(gamma)), 60)
    series = (a[1:] ** 2 * rho ** np.arange(1, 61)).sum()
    length = float(LENGTHS(gamma))
    mu = 1 - a[1] ** 2 / length
    whole = lab.one_input(gamma, rho, whole=True)
    assert whole.left == pytest.approx(series / length, rel=1e-9)
    assert whole.right == pytest.approx(rho * (1 - mu * (1 - rho)), rel=1e-9)
    printed = lab.one_input(gamma, rho, whole=False)
    assert printed.left == pytest.approx(series / (length - a[0] ** 2), rel=1e-9)


def test_near_one():
    mu = float(theory.cond_norm_relu_mu(-1.5975))
    gamma = 1 - mu / 4
    a = hermite_coefficients(PHI.gained(math.sqrt(gamma)), 1)
    case = lab.near_one(-1.0, least=0.7)
    assert case.left == pytest.approx(0.7 * mu)
    assert case.right == pytest.approx(1 - a[1] ** 2 / float(LENGTHS(gamma)), rel=1e-9)
    assert not lab.near_one(1.1).hypotheses["within μ/4 of 1"]


def test_depths():
    row = lab.depths(0.9, [0.2]).iloc[0]
    path = lab.paths((0.9,), 1600, ((0.5, 2.0),))[:, 0, 0]
    layer = int(row["layers"])
    assert path[layer] >= 0.2 >= path[layer + 1]
    mu = float(theory.cond_norm_relu_mu(-1.5975))

    def bound(layers):
        return theory.cond_b(layers - lab.waiting(0.2), 0.1 - 0.0185, mu / 2) + 0.0185 * 0.2

    promised = row["layers promised"]
    assert bound(promised) <= 0.2 < bound(promised - 1)


def test_depth_per_fold():
    case = lab.depth_per_fold(0.3, (1.0, 1.0))
    k = sp.KernelMap(PHI)
    path = np.asarray(k.iterate(0.3, 1600))
    logs = np.log(path[[700, 800]])
    assert case.left == pytest.approx(100 / (logs[0] - logs[1]), rel=1e-3)
    assert case.right == pytest.approx(-1 / math.log(float(k.derivative(0.0))), rel=1e-9)
    assert lab.depth_per_fold(0.3, (1.0, 1.0), per=5.0).right == 5.0
