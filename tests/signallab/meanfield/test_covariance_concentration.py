"""Exact tails against samples and enumeration; the displays by hand; layers against moments."""

import itertools

import numpy as np
import pytest

import signalprop as sp
from signallab.meanfield import covariance_concentration as lab
from signalprop.random import Stream


@pytest.mark.parametrize("relative", [False, True])
def test_pairs_against_all_draws(relative):
    """Each of the 2^6 sets of six signs, its matrices formed."""
    law, width = lab.Pairs(9.0, 0.5), 6
    c = 0.25 * np.diag([9.0, 1.0])
    norms = []
    for signs in itertools.product((-1, 1), repeat=width):
        x = 0.5 * np.stack([np.full(width, 3.0), np.array(signs)], axis=1)
        assert np.max(np.sum(x**2, axis=1)) == pytest.approx(2 * law.growth)
        off = x.T @ x / width - c
        norms.append(np.linalg.norm(np.linalg.inv(c) @ off if relative else off))
    assert law.inverse_norm == pytest.approx(np.linalg.norm(np.linalg.inv(c), 2))
    for radius in (0.0, 0.3, 0.71, 1.0, 2.9):
        share = np.mean(np.array(norms) >= radius - 1e-9)
        assert law.probability(radius, width, relative) == pytest.approx(share)


def test_pairs_are_the_rows_of_every_layer_of_two_samples():
    """phi(+-(1, -1)), turned by 45 degrees, is (phi(1) + phi(-1), +-(phi(1) - phi(-1)))/sqrt 2."""
    a, b = 0.7, -0.2
    turn = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    first, second = turn @ [a, b], turn @ [b, a]
    np.testing.assert_allclose(first, [(a + b) / np.sqrt(2), (a - b) / np.sqrt(2)])
    np.testing.assert_allclose(second, first * [1, -1])


def test_one_sample():
    x = np.random.default_rng(0).normal(size=5)
    x *= np.sqrt(5) / np.linalg.norm(x)
    norm = np.linalg.norm(np.outer(x, x) - np.eye(5))
    law = lab.OneSample(5)
    assert law.probability(norm - 1e-9, 1, False) == 1
    assert law.probability(norm + 1e-9, 1, True) == 0
    with pytest.raises(ValueError, match="width must be 1"):
        law.probability(1.0, 2, False)


def test_tail_by_hand():
    """d = 4, |m| in {0, 1/2, 1} with 6, 8, 2 of 16; norm sqrt 2 |m|, eps = 1."""
    case = lab.tail(lab.Pairs(), 4, 0.35, 2.0)  # 0.7 <= sqrt(2)/2
    assert case.left == pytest.approx(10 / 16)
    assert case.right == pytest.approx(np.exp(-0.1225))
    assert lab.tail(lab.Pairs(), 4, 0.36, 2.0).left == pytest.approx(2 / 16)
    wide = lab.tail(lab.Pairs(4.0, 2.0), 4, 1.0, 0.1, relative=True)  # sqrt(4.25) |m| >= 0.1 * 2.5
    assert wide.left == pytest.approx(10 / 16)
    assert lab.tail(lab.Pairs(), 4, 0.7, times=lambda t, c: 1 + c * t).left == 0
    assert lab.tail(lab.Pairs(), 4, 1.0, bound=lambda t, d: t * d).right == 4
    assert lab.tail(lab.Pairs(), 4, 3.0).hypotheses == {"t is at most the square root of d": False}


def test_scales():
    law = lab.Pairs(3.0, 0.5)  # |x|^2 = 1 = n B, |C^-1| = 4
    assert lab.eps_1(law, 25) == pytest.approx(0.2)
    assert lab.eps_2(law, 25) == pytest.approx(0.8)
    kept = lab.points([law], [4], [1.0, 2.0, 2.1], constants=(2.0, 5.0))
    assert [(p["t"], p["constant"]) for p in kept] == [(1, 2), (2, 2), (1, 5), (2, 5)]


def test_bernstein_by_hand():
    """Four signs: the mean is at least 1/2 for 4 + 1 of 16."""
    case = lab.bernstein(0.0, 4, 0.5)
    assert case.left == pytest.approx(5 / 16)
    assert case.right == pytest.approx(2 * np.exp(-0.5 / (7 / 6)))
    assert lab.bernstein(0.0, 4, 0.5, sharp=3).right == pytest.approx(2 * np.exp(-1.5 / (7 / 6)))
    assert lab.bernstein(1.0, 4, 0.4, centred=0.5).left == 1
    assert lab.bernstein(1.0, 4, 0.6, centred=0.5).left == 0


def test_average_of_norms_by_hand():
    """n = 2: every norm is sqrt 2; (d t^2/2)/(16 + 4 t/3) at t = 1, d = 6 is 3/(52/3)."""
    case = lab.average_of_norms(2, 6, 0.5)
    assert (case.left, case.right) == (1, pytest.approx(np.exp(-9 / 52)))
    assert lab.average_of_norms(2, 6, 0.72).left == 0
    assert lab.average_of_norms(2, 6, 0.36, centred=0.5).left == 0
    assert lab.average_of_norms(2, 6, 0.35, centred=0.5).left == 1


def test_change_of_variable_by_hand():
    """t = 3, d = 2: the root in B.13 is 1 + sqrt 8 * 3/(6 sqrt 2) = 2."""
    case = lab.change_of_variable(2, 3.0, lambda t, d: t * d)
    assert case.left == pytest.approx(np.exp(-4.5))
    assert case.right == pytest.approx(np.exp(-9 / 7))


@pytest.mark.parametrize("condition", [1.0, 4.0, 1e4])
def test_relative_by_symmetric(condition):
    case = lab.relative_by_symmetric(condition, 0.3, power=0.25)
    assert case.left == pytest.approx(0.3 * np.sqrt(condition + 1 / condition))
    assert case.right == pytest.approx(0.3 * np.sqrt(2) * condition**0.25)


@pytest.mark.parametrize("name", ["sphere", "stretched", "relu"])
def test_layers_have_the_mean_square_of_their_fourth_moments(name):
    """E |C_d - C|_F^2 = (E |x|^4 - |C|_F^2)/d, with moments known or from other draws."""
    n, width, runs = 5, 40, 4000
    frame = lab.deviations(name, n, width, runs, Stream(1))
    eps = n / np.sqrt(width)
    g = np.random.default_rng(2).normal(size=(200_000, n))
    if name == "relu":
        c = sp.limits.gram_fixed_point(sp.activations.relu, n).matrix()
        g -= g.mean(axis=1, keepdims=True)
        x = np.maximum(g / g.std(axis=1, keepdims=True), 0)
    else:
        axes = np.geomspace(1, 1e-4 if name == "stretched" else 1, n)
        c = np.diag(axes)
        x = g * np.sqrt(n * axes) / np.linalg.norm(g, axis=1, keepdims=True)
    expected = (np.mean(np.sum(x**2, axis=1) ** 2) - np.sum(c**2)) / width / eps**2
    squares = frame["absolute"] ** 2
    assert abs(squares.mean() - expected) < 6 * squares.std() / np.sqrt(runs) + 0.01 * expected
    values = np.linalg.eigvalsh(c)
    assert frame["condition"].iloc[0] == pytest.approx(values[-1] / values[0])
    z = x @ np.linalg.inv(np.linalg.cholesky(c)).T
    fourth = (np.mean(np.sum(z**2, axis=1) ** 2) - n) / width * (values[0] / eps) ** 2
    squares = frame["symmetric"] ** 2
    assert abs(squares.mean() - fourth) < 6 * squares.std() / np.sqrt(runs) + 0.01 * fourth
    assert (frame["symmetric"] <= frame["relative"] * (1 + 1e-9)).all()
    inverse = np.sum((x @ np.linalg.inv(c)) ** 2, axis=1) * np.sum(x**2, axis=1)
    mean_square = (np.mean(inverse) - n) / width * (values[0] / eps) ** 2
    squares = frame["relative"] ** 2
    assert abs(squares.mean() - mean_square) < 6 * squares.std() / runs**0.5 + 0.01 * mean_square


def test_runs_do_not_depend_on_how_many_there_are():
    few, more = (lab.deviations("tanh", 3, 10, runs, Stream(3)) for runs in (2, 4))
    np.testing.assert_array_equal(few, more.iloc[:2])
