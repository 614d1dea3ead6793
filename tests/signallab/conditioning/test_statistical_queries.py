"""The exact chain against enumeration, simulation and matrices; constants by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

import signalprop as sp
from signallab.conditioning import statistical_queries as lab
from signallab.conditioning.reference import ACTIVATIONS

# The chance of a false alarm below 1e-6: five standard errors, or six where several are compared.
SIGMAS = 6


def sign_of(name, x):
    if name == "lopsided sign":
        return np.where((lab.WINDOW[0] < x) & (x < lab.WINDOW[1]), 1.0, -1.0)
    return np.sign(x) if name == "sign" else np.where(np.abs(x) > lab.JUMP, 1.0, -1.0)


@pytest.mark.parametrize("name", ["sign", "even sign", "lopsided sign"])
@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.0, 0.6, 0.95])
def test_dual_is_the_integral(name, rho):
    edges = {"sign": [0.0], "even sign": [-lab.JUMP, lab.JUMP], "lopsided sign": lab.WINDOW}[name]
    scale = math.sqrt(1 - rho**2)

    def inner(x):
        cuts = stats.norm.cdf((np.array(edges) - rho * x) / scale)
        mean = 1 - 2 * cuts[0] if name == "sign" else 1 - 2 * (cuts[1] - cuts[0])
        mean *= -1 if name == "lopsided sign" else 1
        return float(sign_of(name, x)) * mean * stats.norm.pdf(x)

    value = integrate.quad(inner, -9, 9, points=edges, epsabs=1e-11, limit=200)[0]
    assert lab.dual(name, np.array([rho]))[0] == pytest.approx(value, abs=1e-9)


def test_second_coefficient_is_the_integral():
    a = integrate.quad(
        lambda x: float(sign_of("even", x)) * (x**2 - 1) / math.sqrt(2) * stats.norm.pdf(x),
        -12,
        12,
        points=[-lab.JUMP, lab.JUMP],
    )[0]
    assert pytest.approx(a**2, rel=1e-8) == lab.SECOND
    assert lab.dual("even sign", np.array([1e-3]))[0] == pytest.approx(lab.SECOND * 1e-6, rel=1e-4)


@pytest.mark.parametrize("name", ["sign", "even sign"])
def test_moments_by_enumeration(name):
    found = lab.moments(name, 3, 2, np.array([0.4]))

    def law(rho):
        p = (1 + lab.dual(name, np.array([rho]))[0]) / 2
        for signs in itertools.product([1, -1], repeat=3):
            ups = signs.count(1)
            yield sum(signs) / 3, p**ups * (1 - p) ** (3 - ups)

    for key, function in {
        "mean": lambda r: r,
        "size": abs,
        "signs": lambda r: 2 / math.pi * math.asin(r),
    }.items():
        one = sum(p * function(r) for r, p in law(0.4))
        two = sum(p * q * function(s) for r, p in law(0.4) for s, q in law(r))
        np.testing.assert_allclose(found[key][:, 0], [one, two], rtol=1e-10)


def test_lopsided_sign_has_mean_zero_and_neither_parity():
    low, high = lab.WINDOW
    assert stats.norm.cdf(high) - stats.norm.cdf(low) == pytest.approx(0.5, abs=1e-15)
    below = stats.norm.cdf(-low) - stats.norm.cdf(low)  # where x and -x are both inside
    np.testing.assert_allclose(
        lab.dual("lopsided sign", np.array([-1.0, 1.0])), [4 * below - 1, 1], atol=1e-9
    )


def test_bars():
    """Where the mean cosine vanishes the mean product of signs does not."""
    start = lab.balanced("lopsided sign", 17, 2, -0.6, -0.5)
    case = lab.bars("lopsided sign", 17, 2, start)
    found = lab.moments("lopsided sign", 17, 2, np.array([start]))
    assert abs(found["mean"][-1, 0]) < 1e-14
    assert case.left == pytest.approx(abs(found["signs"][-1, 0]))
    assert case.left > 1e-5 > 1e-13 > case.right
    wide = lab.bars("lopsided sign", 17, 2, start, inside=True, factor=0.5)
    assert wide.right == pytest.approx(found["size"][-1, 0] / 2)
    assert not lab.bars("sign", 17, 2, 1.0).hypotheses["not collinear"]


@pytest.mark.parametrize("start", [-0.7, 0.0, 0.5])
@pytest.mark.parametrize("width", [2, 15, 64])
def test_floor(width, start):
    mean = lab.moments("even sign", width, 12, np.array([start]))["mean"][1:]
    assert (mean >= lab.even_floor(width)).all()
    if start == 0.0 and width == 64:
        assert mean[0, 0] < 1.1 * lab.even_floor(width)  # attained up to higher orders


def test_chain_of_the_sign_loses_its_sign():
    found = lab.moments("sign", 21, 8, np.array([0.5, -0.5, 0.0]))
    np.testing.assert_allclose(found["mean"][:, 0], -found["mean"][:, 1], atol=1e-14)
    np.testing.assert_allclose(found["mean"][:, 2], 0, atol=1e-14)


def test_simulated_pairs_are_a_network():
    rng = np.random.default_rng()
    phi, width, runs = ACTIVATIONS["ReLU"], 12, 4000
    pairs = lab.simulated("ReLU", width, 2, runs, 0.5, sp.Stream(int(rng.integers(2**31))))[:, 1]
    x = np.array([[1.0, 0.0], [0.5, math.sqrt(0.75)]])
    h = np.broadcast_to(x, (runs, 2, 2))
    for _ in range(2):
        h = np.asarray(phi(h @ rng.standard_normal((runs, h.shape[2], width))))
        h = h / np.linalg.norm(h, axis=2, keepdims=True)
    direct = (h[:, 0] * h[:, 1]).sum(1)
    error = math.hypot(stats.sem(direct), stats.sem(pairs))
    assert abs(direct.mean() - pairs.mean()) < SIGMAS * error
    assert stats.ks_2samp(direct, pairs).pvalue > 1e-7


def test_second_moment_is_that_of_networks():
    rng = np.random.default_rng()
    d, width, depth, runs = 4, 9, 2, 20000
    inputs = np.array([[1, *rest] for rest in itertools.product([1, -1], repeat=d - 1)]) / 2
    h = np.broadcast_to(inputs, (runs, *inputs.shape))
    for _ in range(depth):
        h = sign_of("even", h @ rng.standard_normal((runs, h.shape[2], width)) * 1.0)
        h = h / math.sqrt(width)
    out = np.sign(np.einsum("rim,rm->ri", h, rng.standard_normal((runs, width))))
    squares = out.mean(1) ** 2
    exact = lab.second_moment("even sign", d, width, depth)
    assert abs(squares.mean() - exact) < SIGMAS * stats.sem(squares)


def test_bound_of_the_second_moment_lies_below_it():
    case = lab.small_second_moment(8, 1.0, 0.2, dimension=5)
    exact = lab.small_second_moment(8, 1.0, 0.2, dimension=5, exactly="even sign", width=51)
    assert case.words.endswith("width 51")
    assert case.left <= exact.left <= 4 * case.left
    assert case.right == exact.right == pytest.approx(8 * math.exp(-1.6))


def test_network_means():
    means = lab.network_means("tanh", 4, 16, 3, 3000, sp.Stream(5))
    assert set(np.round(means * 8) % 2) == {0.0}  # eight signs sum to an even number
    assert abs(means.mean()) < SIGMAS * stats.sem(means)
    # For an odd network the half cube does not matter: independent up to the cosines' signs.
    assert (means**2).mean() < 0.5


def test_growth_of_relu_by_hand():
    phi = ACTIVATIONS["ReLU"]
    low, slope = float(phi(-1.0)), float(phi(1.0) - phi(0.0))
    t = 1.5
    value = math.exp(t * low) * (0.5 + math.exp((t * slope) ** 2 / 2) * stats.norm.cdf(t * slope))
    assert lab.growth("ReLU", np.array([t]))[0] == pytest.approx(2 * math.log(value) / t**2, 1e-5)
    assert lab.LIPSCHITZ["ReLU"] == pytest.approx(slope, rel=1e-6)
    np.testing.assert_allclose(lab.subgaussian("ReLU", factor=0.5).right, slope**2 / 4, rtol=1e-6)


def test_definite_statements():
    point = {"depth": 30, "constant": 1.0, "rate": 0.3}
    case = lab.small_expectation(**point, signs="sign", moment="size")
    assert case.right == pytest.approx(31 * math.exp(-9))
    assert case.left == pytest.approx(math.sqrt(2 / math.pi / 121), rel=0.35)
    assert case.hypotheses["wide enough"]


def test_one_query():
    case = lab.one_query(10, 0.5, width=9)
    assert case.right == pytest.approx(math.exp(5))
    assert case.left == pytest.approx(2 * (2 * 3 * 4) ** 2)


def test_from_proof():
    case = lab.from_proof(6, 0.2, signs="even sign", dimension=3)
    assert case.right == pytest.approx(0.5 / lab.second_moment("even sign", 3, 301, 6))
    assert case.left == pytest.approx(math.exp(1.2))


def test_tables():
    rows = lab.floors([9], 4).set_index("activation")
    assert rows.loc["even sign", "mean"] >= lab.even_floor(9)
    assert abs(rows.loc["sign", "mean"]) < 1e-15 < rows.loc["sign", "mean size"]
    lines = lab.paths(9, 3, 5, 0.5, sp.Stream(0))
    assert len(lines) == 12
    assert lab.of_networks(["tanh"], 3, [4, 5], [1, 2], 3, sp.Stream(0)).shape == (2, 4)
