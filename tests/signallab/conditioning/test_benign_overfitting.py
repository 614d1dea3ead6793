"""Exact risks beside simulated ones, closed forms beside quadrature."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import eval_legendre

import signalprop as sp
from signallab.conditioning import benign_overfitting as lab
from signallab.conditioning.reference import directions


def test_separations_of_pairs_are_uniform_in_three_dimensions():
    found = lab.separations(2, 3, 4000, sp.Stream(0))
    for q in (0.2, 0.5, 0.8):
        assert abs(np.mean(found < q) - q) < 5.5 * math.sqrt(q * (1 - q) / 4000)
    assert lab.apart(2, 0.5, 4000, sp.Stream(1), factor=2).mean() == 0
    assert abs(lab.apart(2, 0.5, 4000, sp.Stream(1)).mean() - 0.5) < 5.5 / math.sqrt(16000)


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_covariance_norm_is_the_largest_eigenvalue(layers):
    values = [
        quad(lambda t, k=k: t ** (2**layers) * eval_legendre(k, t) / 2, -1, 1)[0] for k in range(9)
    ]
    assert lab.covariance_norm(layers) == pytest.approx(max(values))


def test_lemma_54():
    case = lab.lemma_54(10, 0.25)
    delta = 0.5 / 90
    layers = math.ceil(math.log2(10)) + math.ceil(math.log(1 / (2 * delta)) / math.log(1.5))
    assert case.left == pytest.approx(1 / (2**layers + 1))
    assert case.right == pytest.approx(0.8 * math.log(10))
    assert lab.lemma_54(10, 0.25, 3.5).right == pytest.approx(0.35)


def test_lemma_55():
    ratios = []
    for k in range(100):
        case = lab.lemma_55(8, 4, sp.Stream(k))
        assert 0 <= case.left <= case.right * (1 + 1e-9)
        half = lab.lemma_55(8, 4, sp.Stream(k), factor=1.0)
        assert half.right == pytest.approx(case.right / 2)
        ratios.append(case.left / half.right)
    assert min(ratios) < 1 < max(ratios)  # the mixed term has either sign


def test_residuals():
    case = lab.residuals(0.1)
    assert (case.left, case.right) == (pytest.approx(1.8**2), pytest.approx(1.64))
    assert lab.residuals(0.1, mended=True).right == pytest.approx(1.8**2)


def test_prescribed_depth():
    delta, layers = lab.prescribed(3, 200, sp.Stream(2))
    mu = (math.pi - 2) / (2 * math.pi - 2)
    start = max(math.ceil(math.log(1 / (2 * delta)) / math.log1p(mu / 2)), 0)
    assert layers == math.ceil(math.log(9) / -math.log1p(-mu / 2)) + start
    assert lab.prescribed(30, 20, sp.Stream(2)) == (0.0, -1)


def test_excess_risk_of_noise():
    """Near the identity a fit of n labels of size 1 costs n / SUPPORT."""
    made = lab.excess_risk(5, 40, 0.0, 3, sp.Stream(3))
    np.testing.assert_allclose(made["excess risk"], 5 / lab.SUPPORT, rtol=1e-2)
    assert (made["smallest eigenvalue"] > 0.9).all()
    made = lab.excess_risk(5, 40, 3.0, 3, sp.Stream(3))
    x = directions(lab.SUPPORT, lab.DIMENSION)
    square = (np.clip(3 * x[:, 0], -1, 1) ** 2).sum()
    np.testing.assert_allclose(made["norm of v*"] ** 2, square, rtol=1e-2)


def test_theorem_16():
    case = lab.theorem_16(4, 3.0, 3, sp.Stream(4), lambda n, norm, covariance: n * norm)
    printed = lab.theorem_16(4, 3.0, 3, sp.Stream(4))
    assert all(case.hypotheses.values())
    norm = case.right / 4
    assert printed.right == pytest.approx(1e6 * math.log(10) / 4 * norm**2)
    assert lab.theorem_16(4, 0.0, 3, sp.Stream(4)).right == 0
    trace = lab.theorem_16(4, 3.0, 3, sp.Stream(4), lambda n, norm, covariance: covariance)
    assert 1 / lab.SUPPORT <= trace.right < 2 / lab.SUPPORT  # SUPPORT features, nearly orthogonal


@pytest.mark.parametrize("labels", lab.LABELS)
@pytest.mark.parametrize("dimension", [3, 10])
def test_excess_risk_on_the_sphere_beside_fresh_points(labels, dimension, monkeypatch):
    """At three layers needles are wide, and fresh points see them."""
    monkeypatch.setattr(lab, "_depth_on_sphere", lambda n, d, stream: (0.1, 3))
    stream, n = sp.Stream(7).child(labels, dimension), 6
    made = lab.on_sphere(n, dimension, labels, 1, stream)
    (rng,) = stream.child("samples").runs(1)
    x = rng.standard_normal((n, dimension))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    fresh = np.random.default_rng(1).standard_normal((60_000, dimension))
    fresh /= np.linalg.norm(fresh, axis=1, keepdims=True)
    kernel = sp.KernelMap(lab.ACTIVATIONS["ReLU"])

    def k(a, b):
        return np.asarray(kernel.iterate(np.clip(a @ b.T, -1, 1), 3, [3]))[..., 0]

    pole = np.eye(dimension)[:1]
    means = {
        "nothing": lambda at: np.zeros(len(at)),
        "a coordinate": lambda at: at[:, 0],
        "one needle": lambda at: k(at, pole)[:, 0],
    }[labels]
    signs = np.where(rng.random(n) < (1 + means(x)) / 2, 1.0, -1.0)
    y = means(x) if labels == "one needle" else signs
    square = (k(fresh, x) @ np.linalg.solve(k(x, x), y) - means(fresh)) ** 2
    slack = 5 * square.std() / math.sqrt(len(fresh))
    assert made.excess * (1 - made.width) - slack <= square.mean() <= made.excess + slack
    assert made.width < 0.3
    if labels == "a coordinate":  # v* = sum of f at points: |v*|^2 = E f^2 / its eigenvalue
        eigenvalue = float(np.mean(k(fresh, pole)[:, 0] * fresh[:, 0]))
        assert made.norm == pytest.approx((dimension * eigenvalue) ** -0.5, rel=0.02)


def test_theorem_16_on_the_sphere():
    case = lab.theorem_16_on_sphere(4, 10, "one needle", 2, sp.Stream(5), lambda n, v, s: n * v)
    assert case.right == 4
    assert all(case.hypotheses.values())
    with pytest.raises(ValueError, match="one of nothing, a coordinate, one needle"):
        lab.on_sphere(4, 10, "something", 2, sp.Stream(5))


def test_lemma_55_of_a_sample_that_spans_all():
    """Then only the residuals are left, and the excess is their quadratic form."""
    case = lab.lemma_55(4, 4, sp.Stream(5), factor=1.0)
    assert case.left == pytest.approx(case.right, rel=1e-6)


def test_labels_follow_their_means():
    """Labels without noise: a fit near the identity is right where it has seen the label."""
    made = lab.excess_risk(100, 40, 1e6, 2, sp.Stream(6))
    np.testing.assert_allclose(made["excess risk"], 0.9, rtol=0.02)
