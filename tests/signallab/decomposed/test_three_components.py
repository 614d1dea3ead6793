"""Layers by hand, exact means, and Gaussian sampling beside what the chapter runs."""

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.decomposed import three_components as lab
from signalprop.random import Stream

STREAM = Stream(11).child("three components")
BATCH = lab.batch_of(6, 9)


def degrees(x):
    u = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.degrees(np.arccos(np.clip(u @ u.T, -1, 1)))[np.triu_indices(len(x), 1)]


@pytest.mark.parametrize("part", lab.PARTS)
def test_by_layer_against_a_layer_by_hand(part):
    found = lab.by_layer(part, BATCH, 8, 2, runs=3, stream=STREAM)
    assert found[["run", "layer"]].to_numpy().tolist() == [[r, t] for r in range(3) for t in (1, 2)]
    path = sp.Chain(8, **lab.PARTS[part]).run(BATCH, 2, 3, STREAM)
    h = path.states([1, 2])[2, 1].numpy()
    row = found.iloc[5]
    angles, lengths = degrees(h), np.linalg.norm(h, axis=1)
    expected = [angles.min(), np.median(angles), angles.max(), lengths.max() / np.median(lengths)]
    names = ["least angle", "median angle", "largest angle", "norm ratio"]
    np.testing.assert_allclose(row[names].astype(float), expected, rtol=1e-6)
    assert row["rank"] == np.linalg.matrix_rank(h)


def test_the_parts_do_what_their_names_say():
    z = torch.randn(2, 7, 5, generator=STREAM.torch("z"), dtype=torch.float64) + 1
    done = {}
    for name, part in lab.PARTS.items():
        h = z
        for layer in part["layers"]:
            h = layer(h)
        done[name] = h
    one, two, three, four = done.values()
    centred = z - z.mean(1, keepdim=True)
    torch.testing.assert_close(one, z.clamp(min=0))
    torch.testing.assert_close(two, centred)
    torch.testing.assert_close(three, centred.clamp(min=0))
    torch.testing.assert_close(four, z / z.square().mean(1, keepdim=True).sqrt())


def test_points_have_the_mean_they_are_given():
    x = lab.batch_of(50, 40, mean=0.5)(7, 3, STREAM).numpy()
    assert x.shape == (3, 50, 40)
    assert abs(x.mean() - 0.5) < 6 / np.sqrt(x.size)
    assert abs(x.std() - 1) < 6 / np.sqrt(2 * x.size)


def test_the_literal_layer_entry_by_entry():
    x, w = np.array([[1.0, 3.0, 8.0]]), np.array([[2.0], [-1.0]])
    z = np.array([2.0, 6.0, 16.0])
    sigma = np.sqrt(((2 - 8) ** 2 + (6 - 8) ** 2 + (16 - 8) ** 2) / 3)
    found = lab.literal(x, [w])
    np.testing.assert_allclose(found[0], [0, 0, 8 / sigma])
    np.testing.assert_allclose(found[1], [6 / sigma, 2 / sigma, 0])
    np.testing.assert_allclose(lab.literal(x, [w], ddof=1), found * np.sqrt(2 / 3))
    np.testing.assert_allclose(lab.literal(x, [w], center=False)[0], z / sigma)


def test_torch_has_the_same_layer():
    case = lab.torch_layers(12, 10, 4, STREAM)
    np.testing.assert_allclose(case.left, case.right, atol=1e-9)
    assert case.right.shape == (12, 10)
    assert np.abs(lab.torch_layers(12, 10, 4, STREAM, ddof=1).left - case.right).max() > 1e-3


def test_moments_move_with_training_and_are_those_of_the_network():
    plain = sp.BatchNorm(center=False)
    before, after = (lab.moments(8, 5, 3, s, STREAM, norm=plain).left for s in (0, 20))
    assert before.shape == (2, 15)
    np.testing.assert_allclose(before[1], 1)
    assert np.abs(before[0] - after[0]).max() > 1e-4  # the weights did move
    net = sp.MLP(5, 5, 3, 2, [plain, torch.relu], bias="none", stream=STREAM, dtype=torch.float64)
    x = torch.from_numpy(STREAM.numpy("data").standard_normal((8, 5)))
    z = net.hidden[1][0](net.hidden[0](x)).detach().numpy()
    np.testing.assert_allclose(before[0, 5:10], 1 + (z / np.sqrt((z**2).mean(0))).mean(0))
    np.testing.assert_allclose(lab.moments(8, 5, 3, 20, STREAM).left, 1, atol=1e-10)


def test_another_point_moves_the_others_only_where_the_batch_is_seen():
    assert lab.moved_by_another(4, 6, 3, STREAM) > 0.01
    assert lab.moved_by_another(4, 6, 3, STREAM, normalized=False) == 0


@pytest.mark.parametrize("n", [3, 8])
def test_the_floor_against_gaussian_rows(n):
    """What one layer makes of a small covariance, and the variance that it adds, by sampling."""
    rng, c, rows = STREAM.numpy("rows", n), 0.05, 400_000
    root = np.linalg.cholesky((1 - c) * np.eye(n) + c)
    g = rng.standard_normal((rows, n)) @ root.T
    u = g / np.sqrt((g**2).mean(axis=1, keepdims=True))
    product = u[:, 0] * u[:, 1]
    error = 6 * product.std() / np.sqrt(rows)
    assert abs(product.mean() - c * n / (n + 2)) < error + c**2
    assert product.var() == pytest.approx(n / (n + 2), rel=0.05)
    kept = n / (n + 2)
    balance = lab.floor(50, n) ** 2
    assert balance == pytest.approx(kept**2 * balance + kept / 50)


def test_deviations_and_their_level_against_the_floor():
    found = lab.deviations(200, 4, 60, 30, STREAM)
    assert found.shape == (30, 61)
    level = found[:, 25:].mean()
    assert level == pytest.approx(np.sqrt(2 / np.pi) * lab.floor(200, 4), rel=0.1)
    ideal = lab.deviations(200, 4, 1, 500, STREAM, orthonormal=True)
    np.testing.assert_allclose(ideal[:, 0], 0, atol=1e-12)
    one_layer = np.sqrt(2 / np.pi * 4 / 6 / 200)  # the variance n/(n+2)/d that a layer adds
    assert ideal[:, 1].mean() == pytest.approx(one_layer, rel=0.1)
    h = torch.tensor([[[1.0, 2.0], [0.0, -3.0], [1.0, 0.0]]], dtype=torch.float64)
    assert float(lab._off_diagonal(h)[0]) == pytest.approx((6 + 1 + 0) / 2 / 3)


def test_cases_of_the_floor():
    deep = lab.orthonormal(60, 3, "correlated", 5, STREAM, depth=20)
    path = lab.deviations(60, 3, 20, 5, STREAM)
    np.testing.assert_allclose(deep.left, path[:, 11:].mean(axis=1))
    assert deep.right == lab.floor(60, 3)
    ideal = lab.orthonormal(60, 3, "orthonormal", 5, STREAM, bound=lambda width, n: width + n)
    expected = lab.deviations(60, 3, 1, 5, STREAM, orthonormal=True)[:, 1]
    np.testing.assert_allclose(ideal.left, expected)
    assert ideal.right == 63
    assert lab.slopes({2: np.array([3.0, 1.0]), 8: np.array([0.75, 1.0])}).round(9).tolist() == [
        -1.0,
        0.0,
    ]


def test_rounding_gives_a_deficient_batch_full_rank():
    layers = [1, 60, 200]
    single, double = (
        lab.rank_deficient(2, 4, 50, layers, STREAM, dtype)
        for dtype in (torch.float32, torch.float64)
    )
    assert single["rank"].tolist()[0] == double["rank"].tolist()[0] == 2
    assert single["rank"].tolist()[-1] == double["rank"].tolist()[-1] == 4
    assert single["least / largest"][0] > 1e3 * double["least / largest"][0]
    assert double["least / largest"][0] < 1e-14
    assert double["least / largest"][2] > 0.1


def test_recentring_once():
    sizes = {"n": 5, "features": 4, "width": 6, "depth": 7, "stream": STREAM}
    case = lab.once(**sizes)
    np.testing.assert_allclose(case.left, case.right, atol=1e-12)
    x, weights = lab._drawn(5, 4, 6, 7, STREAM)
    product = np.linalg.multi_dot([*weights[::-1], (x - x.mean(0)).T]).T
    np.testing.assert_allclose(case.right, product)
    assert np.abs(case.left - lab.once(**sizes, center=False).right).max() > 1e-3
    biased = lab.once(**sizes, bias=1.0)
    np.testing.assert_allclose(biased.left, case.left, atol=1e-12)
    np.testing.assert_array_equal(lab.once(**sizes, bias=1.0, kept=0.0).right, case.right)
    assert np.abs(lab.once(**sizes, bias=1.0, kept=1.0).right - case.right).max() > 1e-2
    assert lab.subtracted(**sizes).left < 1e-13 < 1e-3 < lab.subtracted(**sizes, first=True).left
    x, weights = lab._drawn(**sizes)
    taken = []
    for w in weights:
        z = x @ w.T
        taken.append(np.abs(z.mean(axis=0)).max() / np.abs(z).max())
        x = z - z.mean(axis=0)
    assert lab.subtracted(**sizes).left == max(taken[1:]) > min(taken[1:])


def test_panel_two():
    case = lab.panel_two(BATCH, 20, 10, 2, STREAM)
    np.testing.assert_allclose(case.left, case.right, atol=1e-9)
    off = lab.panel_two(BATCH, 20, 10, 2, STREAM, center=False)
    np.testing.assert_array_equal(off.left, case.left)
    assert np.abs(off.right - case.right).max() > 0.01
