"""Growth rates against closed forms and against products in many digits; unions by hand."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest

import signalprop as sp
from signallab.rank import collapse_without_batch_norm as lab
from signalprop.random import Stream


@pytest.mark.parametrize("gamma", [0.5, None])
def test_growth_against_products_in_many_digits(gamma):
    """The ratio itself, in 80 digits, differs from the orthogonalized sum by a bounded amount."""
    d, depth = 3, 60
    path = lab.log_ratio_paths(d, gamma, depth, 1, Stream(0))[0]
    law = sp.uniform()
    generators = Stream(0).child("growth", d, str(gamma), str(law)).runs(1)
    with mpmath.workdps(80):
        b = mpmath.eye(d)
        for _ in range(depth):
            w = mpmath.matrix(law.sample(d, d, generators).numpy()[0].tolist())
            b = w * b if gamma is None else b + gamma * w * b
        values = mpmath.svd_r(b, compute_uv=False)
        ratio = float(mpmath.log(values[0] / values[1]))
    assert path[-1] == pytest.approx(ratio, abs=4)
    assert ratio > 8


@pytest.mark.parametrize("d", [2, 6])
def test_gaussian_gap(d):
    rates = lab.growth(d, None, 2000, 40, Stream(1), weights=sp.gaussian(variance=1.0))
    error = rates.std(ddof=1) / np.sqrt(40)
    assert abs(rates.mean() - lab.gaussian_gap(d)) < 7 * error
    assert error < 0.1 * lab.gaussian_gap(d)


def test_small_steps_grow_like_their_square():
    """The two exponents of I + gamma W differ by gamma^2 up to order gamma^4 d (Newman)."""
    gamma = 0.1
    rates = lab.growth(2, gamma, 20_000, 20, Stream(2), weights=sp.gaussian(variance=1.0))
    error = rates.std(ddof=1) / np.sqrt(20)
    assert abs(rates.mean() - gamma**2) < 7 * error + 5 * gamma**4


def test_orthogonal_weights_do_not_grow():
    assert abs(lab.growth(3, None, 100, 2, Stream(3), weights=sp.orthogonal())).max() < 1e-12
    case = lab.grows(3, 0.5, 400, 5, Stream(3), least=0.2)
    assert case.right == -0.2
    np.testing.assert_allclose(-case.left, lab.growth(3, 0.5, 400, 5, Stream(3)))


def test_limit_ranks():
    found = {name: lab.input_limit_rank(name, 3, 0.9, 600, Stream(4)).left for name in lab.INPUTS}
    assert found.pop("zero") == 0
    assert set(found.values()) == {1.0}
    assert lab.input_limit_rank("normal entries", 3, 0.9, 2, Stream(4)).left == 3
    ranks = [lab.product_limit_rank(law, 2, 600, Stream(4)).left for law in lab.LAWS]
    assert ranks == [1, 1, 0, 2, 2]


def test_what_settles_down():
    found = lab.steps(3, 0.8, 400, 2, Stream(5))
    for name, settles in (
        ("the matrix", False),
        ("its column space", False),
        ("its row space", True),
    ):
        case = lab.settles_down(found, name)
        assert (case.left.max() <= case.right) == settles


def test_steps_of_singular_vectors_by_hand():
    """Rotation of rank-one matrices by an angle: the column space turns by it, rows stay."""
    found = lab.steps(2, 0.3, 3, 1, Stream(6))
    draw = Stream(6).numpy("steps", 2, 0)
    x, b, u = draw.normal(size=(2, 2)), np.eye(2), []
    for _ in range(3):
        b = (np.eye(2) + 0.3 * draw.uniform(-np.sqrt(3), np.sqrt(3), (2, 2))) @ b
        u.append(np.linalg.svd(b @ x)[0][:, 0])
    sines = [abs(p[0] * q[1] - p[1] * q[0]) for p, q in pairwise(u)]
    column = found[found["object"] == "its column space"]["step"]
    np.testing.assert_allclose(column, sines, rtol=1e-9)


def test_ratio_by_depth():
    found = lab.ratio_by_depth(4, [200], 1.0, 3, Stream(7))
    assert found["ratio"].between(3, 4).all()
    assert lab.ratio_by_depth(4, [400], None, 2, Stream(7))["ratio"].max() < 1.01
    draw = Stream(7).numpy("ratio", 3, 4, 0)  # four layers: a step of one half
    b = np.eye(3)
    for _ in range(4):
        b = (np.eye(3) + 0.5 * draw.uniform(-np.sqrt(3), np.sqrt(3), (3, 3))) @ b
    values = np.linalg.svd(b, compute_uv=False) ** 2
    root = lab.ratio_by_depth(3, [4], 0.5, 1, Stream(7))
    assert root["ratio"][0] == pytest.approx(values.sum() ** 2 / (values**2).sum())
    assert root["step"][0] == "one over its root"
    case = lab.keeps_ratio(found, "one over the depth", 200, 2.0)
    np.testing.assert_allclose(-case.left, found["ratio"])


def test_contraction_by_hand():
    case = lab.contracts(1.0, 3)
    assert (case.left, case.right) == (pytest.approx(1 / 8), 1 / 8)


def test_unions_by_hand():
    turn = 2 * np.pi / 5
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    angles = turn * np.arange(5)
    five = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert lab.distance_from_union(rotation[None], five).left < 1e-12
    assert lab.distance_from_union(rotation[None], five, without=0).left > 0.1
    assert lab.distance_from_union(lab.SWAP[None], np.eye(2)).left == 0
    assert lab.distance_from_union(lab.SWAP[None], np.eye(2), without=0).left == 1


def test_general_position():
    assert lab.general_position(4, 0.3, 20, Stream(8)).left == 4
    assert lab.general_position(4, 0.3, 20, Stream(8), swaps=True).left < 3
