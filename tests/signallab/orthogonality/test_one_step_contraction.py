"""One layer against the chain itself, against geometry and against closed forms."""

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import ks_2samp

import signalprop as sp
from signallab.orthogonality import one_step_contraction as lab
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(0).child("test_one_step_contraction")
SKEWED = (0.6, 0.3, 0.1)


def test_a_layer_is_that_of_the_chain():
    """A batch with these singular values in another basis, with explicit weights."""
    rng = STREAM.numpy("basis")
    left, right = (np.linalg.qr(rng.standard_normal((k, k)))[0] for k in (6, 3))
    x = right @ np.diag(np.sqrt(SKEWED)) @ left[:3]
    normalize = sp.BatchNorm(center=False, divide="norm", scale="1/sqrt d")
    chain = sp.Chain(6, layers=[normalize])
    h = chain.run(x, 1, 2000, STREAM.child("chain"), engine="direct").final()
    chains = np.linalg.eigvalsh(sp.gram(h).numpy())
    ours = np.linalg.eigvalsh(lab.next_grams(SKEWED, 6, 2000, STREAM))
    for k in range(3):
        assert ks_2samp(chains[:, k], ours[:, k]).pvalue > 1e-7


@pytest.mark.parametrize("width", [2, 3])
def test_two_orthogonal_samples_by_plane_geometry(width):
    """Their rows are uniform on the circle: vhat is the length of the mean of e^(2i angle) / 2."""
    turns = STREAM.numpy("turns", width).uniform(0, 2 * np.pi, (4000, width))
    expected = np.abs(np.exp(1j * turns).mean(axis=1)) / 2
    flat = lab.theorem_5((0.5, 0.5), width, draws=4000, stream=STREAM).left
    assert ks_2samp(flat, expected).pvalue > 1e-7


def test_theorem_5_at_infinite_width_is_a_mean_over_the_sphere():
    """p_n by an integral over latitudes, the longitudes in closed form."""
    a, b, c = SKEWED

    def latitude(z):
        return c * z**2 / np.sqrt((a + (c - a) * z**2) * (b + (c - b) * z**2))

    p = integrate.quad(latitude, 0, 1, epsabs=1e-13)[0]
    case = lab.theorem_5(SKEWED, math.inf, draws=1, stream=STREAM)
    assert case.left == pytest.approx(1 / 3 - p, abs=1e-12)
    assert case.right == pytest.approx((1 - 2 / 3 * 0.1) * (1 / 3 - 0.1), abs=1e-15)


def test_theorem_5_in_numbers():
    case = lab.theorem_5(SKEWED, 25, 4, draws=10, stream=STREAM)
    vhat = 1 / 3 - 0.4
    assert case.right == pytest.approx((1 - 2 / 3 * 0.4) * vhat + 0.2)
    case = lab.theorem_5(
        SKEWED,
        25,
        4,
        draws=10,
        stream=STREAM,
        by_norm=True,
        constant=lambda n: n,
        noise=lambda n: 5,
    )
    assert case.right == pytest.approx((1 - 3 * 0.1) * (1 / 3 - 0.1) + 1)
    assert all(case.hypotheses.values())
    assert not all(lab.theorem_5(SKEWED, 2, draws=2, stream=STREAM).hypotheses.values())


def test_points_have_the_norms_and_widths_they_say():
    found = lab.points([2, 4], [1, 3], 50, 5, STREAM)
    for point in found:
        spectrum = np.array(point["spectrum"])
        assert spectrum.sum() == pytest.approx(1, abs=1e-12)
        assert np.all(np.diff(spectrum) <= 0)
    assert {p["width"] for p in found if len(p["spectrum"]) == 4} == {4, 12, 50, math.inf}
    assert {p["squared_norm"] for p in found if len(p["spectrum"]) == 4} == {1, 1.5, 4}
    assert not [p for p in found if p["width"] == math.inf and len(set(p["spectrum"])) == 1]


def test_lemma_7_is_an_equality_for_two_orthogonal_samples():
    """The mean square of the length above is 1 / (4 width) exactly."""
    for width in (2, 9):
        left = lab.lemma_7((0.5, 0.5), width, draws=20_000, stream=STREAM).left * width
        assert abs(left.mean() - 0.25) < 6 * left.std() / np.sqrt(len(left))


def test_lemma_7_in_numbers():
    def constant(n, spread):
        return n + spread

    case = lab.lemma_7(SKEWED, 10, draws=3, stream=STREAM, constant=constant)
    p = theory.expected_spectrum(SKEWED)
    assert case.right == pytest.approx((4 - (p**2).sum()) / 10)
    vhat = 1 / 3 - np.linalg.eigvalsh(lab.next_grams(SKEWED, 10, 3, STREAM))[:, 0]
    np.testing.assert_allclose(case.left, (vhat - 1 / 3 + p[-1]) ** 2)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_lemma_4_from_batches(n):
    """Both sides from representations with these singular values, by the metrics."""
    case = lab.lemma_4(n, count=6, stream=STREAM, constant=lambda n: 1.0)
    assert (case.left / case.right).max() == pytest.approx(np.sqrt(n * (n - 1)), rel=1e-9)
    s = sp.spectra.varied(n, 6, STREAM.child("lemma 4"))
    h = np.sqrt(s)[:, :, None] * np.eye(n)
    gap, vhat = sp.orthogonality_gap(h), sp.lyapunov_gap(h)
    resolved = vhat > 1e-6
    np.testing.assert_allclose(case.left[: resolved.sum()], gap[resolved], rtol=1e-9)
    np.testing.assert_allclose(case.right[: resolved.sum()], vhat[resolved], rtol=1e-6)
    printed = lab.lemma_4(n, count=6, stream=STREAM)
    np.testing.assert_allclose(printed.right, 2 * n * case.right)


@pytest.mark.parametrize("width", [3, 20])
def test_lemma_6_has_the_exact_mean(width):
    case = lab.lemma_6(SKEWED, width, draws=5000, stream=STREAM)
    exact = theory.one_step_variance(SKEWED, width)
    assert abs(case.left.mean() - exact) < 6 * case.left.std() / np.sqrt(5000)
    assert case.right == pytest.approx(1 / width)


def test_noise_by_batch_for_two_samples_at_a_large_width():
    """The length above is then a Rayleigh variable with mean square 1/4."""
    noise = lab.noise_by_batch([2, 3], 400, 4000, STREAM)
    two = noise[noise["samples"] == 2]["noise"]
    assert abs(two.mean() - np.sqrt(np.pi / 16)) < 6 * two.std() / np.sqrt(len(two)) + 1e-3
    assert noise.groupby("samples")["run"].max().tolist() == [3999, 3999]


def test_contraction_curve_holds_both_sides_of_theorem_5():
    curve = lab.contraction_curve(3, [9, math.inf], 4, 50, STREAM)
    assert curve["width"].tolist() == [9, math.inf] * 4
    row = curve.iloc[2]
    last = 1 / 3 - row["before"]
    spectrum = ((1 - last) / 2, (1 - last) / 2, last)
    case = lab.theorem_5(spectrum, 9, draws=50, stream=STREAM)
    assert row["after"] == pytest.approx(case.left.mean(), rel=0.3)
    assert row["bound"] == pytest.approx(case.right)
    assert row["standard error"] > 0
    assert curve[curve["width"] == math.inf]["standard error"].eq(0).all()


def test_stability_against_a_chain_by_hand():
    point = {"samples": 3, "width": 12, "layers": 2, "deepest": 4, "runs": 400, "stream": STREAM}
    case = lab.stability("first unit vectors", **point)
    rng, averages = np.random.default_rng(0), []
    for _ in range(400):
        h, total = np.eye(12, 3), 0.0
        for _ in range(2):
            h = rng.standard_normal((12, 12)) @ h
            h /= np.linalg.norm(h, axis=1, keepdims=True) * np.sqrt(12)
            smallest = np.linalg.svd(h, compute_uv=False)[-1] ** 2
            total += smallest * (1 / 3 - smallest) / 2
        averages.append(total)
    assert ks_2samp(case.left, averages).pvalue > 1e-7
    assert case.right == pytest.approx(1.5 * (1 / 3 - 1) / 2 + 1.5 / np.sqrt(12))
    by_norm = lab.stability("first unit vectors", **point, bound=lambda v, k, n, d: v + k + n + d)
    assert by_norm.right == pytest.approx(2 + 3 + 12)


def test_starts_have_the_norms_they_say():
    for name, norm in {"orthogonal of norm 1": 1.0, "nearly rank one of norm 1": 1.0}.items():
        x = lab.STARTS[name](4)(10, 1, STREAM)
        assert float(x.square().sum()) == pytest.approx(norm, abs=1e-10)
    x = lab.STARTS["independent N(0, 1) entries"](4)(100, 50, STREAM)
    assert float(x.square().mean()) == pytest.approx(1, abs=0.1)


def test_unknown_starts_are_refused():
    with pytest.raises(ValueError, match="start must be one of"):
        lab.stability("zero", 2, 4, 1, deepest=1, runs=1, stream=STREAM)


def test_stability_points_stay_above_the_deepest_layer():
    found = lab.stability_points([(2, 16, 5), (4, 8, 1)], [1, 5], 3)
    assert len(found) == 3 * len(lab.STARTS)
    assert all(p["layers"] <= p["deepest"] for p in found)
