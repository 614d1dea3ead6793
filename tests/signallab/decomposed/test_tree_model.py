"""Projections, the limit of infinite width and the tree against formulas, sampling and loops."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats

import signalprop as sp
from signallab.decomposed import tree_model as lab
from signalprop.random import Stream

STREAM = Stream(5).child("tree model")


def sides(case):
    return case.left, case.right


def test_projections_against_points_and_weights():
    """The same draws, one projection at a time, from the definitions."""
    odd, centre, rest = lab.projected(STREAM, 6, 4.0, 3)
    rng = STREAM.numpy("projections 6 4.0")
    w, first = rng.normal(size=(2, 3, 10))
    cluster = rng.normal(size=(3, 5, 10))
    for i in range(3):
        x = np.concatenate([4.0 * first[i][None], cluster[i]])
        z = x @ w[i]
        np.testing.assert_allclose(odd[i], z[0] - z.mean())
        np.testing.assert_allclose(centre[i], x[1:].mean(axis=0) @ w[i] - z.mean(), atol=1e-12)
        np.testing.assert_allclose(rest[i], z[1:] - z.mean())


def test_sign_alternative_and_a_neighbour():
    np.testing.assert_allclose(*sides(lab.sign_alternative(STREAM, 7, 2.0, 50)))
    off = lab.sign_alternative(STREAM, 7, 2.0, 50, factor=7.0)
    np.testing.assert_allclose(off.right, off.left * 7 / 6)


@pytest.mark.parametrize(("n", "far"), [(3, 1.0), (10, 5.0), (50, 30.0)])
def test_share_zeroed_against_the_double_integral(n, far):
    """P(a < b / n | b > 0) for independent Gaussians a and b, integrated over b."""
    a, b = np.sqrt(1 - 1 / (n - 1)), np.sqrt(far**2 + 1 / (n - 1))
    value, _ = integrate.quad(
        lambda t: 2 * stats.norm.pdf(t) * stats.norm.cdf(t * b / (n * a)), 0, 12
    )
    assert lab.share_zeroed(n, far) == pytest.approx(value, rel=1e-8)
    many = lab.few_zeroed(STREAM, n, far, 6000, sign=-1.0).left
    few = lab.few_zeroed(STREAM, n, far, 6000).left
    assert abs(many.mean() - value) < 6 * many.std() / np.sqrt(len(many))
    assert abs(few.mean() - (1 - value)) < 6 * few.std() / np.sqrt(len(few))
    assert len(many) + len(few) == 6000


def test_effects_against_loops():
    frame = lab.effects(STREAM, 5, [3.0], 40)
    odd, centre, rest = lab.projected(STREAM, 5, 3.0, 40)
    for row, sign in zip(frame.to_dict("records"), (-1, 1), strict=True):
        picked = [i for i in range(40) if sign * centre[i] > 0]
        zeros = [np.mean(rest[i] < 0) for i in picked]
        before = sum(odd[i] ** 2 + sum(rest[i] ** 2) for i in picked)
        after = sum(max(odd[i], 0) ** 2 + sum(np.maximum(rest[i], 0) ** 2) for i in picked)
        spread = sum(np.maximum(rest[i], 0).std() for i in picked) / sum(
            rest[i].std() for i in picked
        )
        assert row["cluster sent to 0"] == pytest.approx(np.mean(zeros))
        assert row["squares lost"] == pytest.approx(1 - after / before)
        assert row["spread left"] == pytest.approx(spread)


def test_equation_8_by_sampling():
    case = lab.equation_8(STREAM, 4, 3)
    np.testing.assert_allclose(*sides(case), rtol=1e-9)
    x = STREAM.numpy("equation 8 4 3").normal(size=(4, 3)) + 0.5
    y = np.maximum((x - x.mean(axis=0)) @ STREAM.numpy("w").normal(size=(3, 200_000)), 0)
    products = y[:, None] * y[None]
    error = products.std(axis=-1) / np.sqrt(200_000)
    assert (np.abs(products.mean(axis=-1) - case.right) < 6 * error).all()
    assert not np.allclose(*sides(lab.equation_8(STREAM, 4, 3, recentred=False)), rtol=0.05)


def test_networks_approach_the_recursion_and_not_another():
    x = STREAM.numpy("x").normal(size=(6, 8))
    frame = lab.limit_errors(x, [100, 6400], [2], 20, STREAM)
    narrow, wide = frame.groupby("width")["largest difference"].mean()
    assert 4 < narrow / wide < 16  # eight, by the root of the width
    other = lab.limit_errors(x, [6400], [2], 20, STREAM, step=lab.without_recentring)
    assert other["largest difference"].mean() > 3 * wide


def test_kernel_and_limit_by_hand():
    assert lab.kappa(1.0) == 1
    assert lab.kappa(0.5) == pytest.approx((np.sqrt(0.75) + np.pi / 3) / np.pi)
    path = lab.limit_grams(np.diag([1.0, 4.0]), 1)
    np.testing.assert_allclose(path[1], np.eye(2), atol=1e-12)  # opposite once centred
    x = STREAM.numpy("scale").normal(size=(3, 4))
    scaled = lab.limit_grams(x @ x.T, 2)[2][np.triu_indices(3, 1)]
    plain = lab.gram_of_layer(x, 2)
    np.testing.assert_allclose(scaled / scaled.max(), plain / plain.max())


def test_one_narrow_layer_has_the_mean_of_equation_8():
    """One layer is linear in the next Gram matrix: there is no bias yet."""
    x = STREAM.numpy("narrow").normal(size=(3, 4))
    found = lab.sampled_grams(x, 6, 1, 20_000, STREAM)
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - lab.gram_of_layer(x, 1)) < 6 * error).all()


@pytest.mark.parametrize("d", [2, 3])
def test_sphere_against_normalized_gaussians(d):
    case = lab.on_the_sphere(STREAM, d)
    x, y = STREAM.numpy(f"sphere {d}").normal(size=(2, d))
    w = STREAM.numpy("sphere").normal(size=(200_000, d))
    products = np.maximum(w @ x, 0) * np.maximum(w @ y, 0)
    error = 6 * products.std() / np.sqrt(len(w))
    assert abs(products.mean() - case.right) < error
    unit = d * products / (w**2).sum(axis=1)
    assert abs(unit.mean() - case.left) < 6 * unit.std() / np.sqrt(len(w))
    assert lab.on_the_sphere(STREAM, d, factor=1.0).left == pytest.approx(case.left / d)


def test_printed_tree_against_the_library():
    values = np.array([0.0, 1.0, 3.0, 10.0])
    literal = sp.clusters.literal_tree(values[:, None], 4).T
    printed = lab.printed_tree([0, 1, 3, 10], 4)
    np.testing.assert_allclose(np.sort(printed, axis=0), np.sort(literal, axis=0), atol=1e-12)
    assert not np.allclose(*sides(lab.merged_tree([0, 1, 3, 10], 3, lag=1)))
    assert not np.allclose(*sides(lab.merged_tree([0, 1, 3, 10], 3, center=False)))


def test_odd_points_of_features_against_literal_trees():
    x = STREAM.numpy("features").integers(0, 1000, size=(6, 3))
    frame = lab.odd_points_of_features(x, 10)
    for feature, row in zip(x.T, frame.to_dict("records"), strict=True):
        norms = np.linalg.norm(sp.clusters.literal_tree(feature[:, None].astype(float), 10), axis=1)
        assert row["odd point"] == norms.argmax()
        assert (row["smallest entry"], row["largest entry"]) == (feature.argmin(), feature.argmax())
    only = lab.odd_among_extremes(np.array([[0, 9], [1, 0], [7, 1]]), 30, ends=("smallest entry",))
    assert only.left.tolist() == [0, 0]


def test_symmetric_batches_and_one_that_is_not():
    for shape in ("exchangeable", "polygon"):
        np.testing.assert_allclose(*sides(lab.exchangeable(7, 100, shape)), rtol=1e-12)
    assert lab.exchangeable(20, 300, farther=1.5).left.min() < 0.1
    np.testing.assert_allclose(*sides(lab.symmetric_angle(6, 30)))
    assert lab.symmetric_angle(6, 1, cosine=0.0).right == pytest.approx(np.arccos(1 / np.pi))


@pytest.mark.parametrize("n", [3, 6, 30])
def test_return_rate_against_a_difference_quotient(n):
    """The fixed diagonal mode, by one layer of the map on a matrix disturbed along it."""
    rate = lab.return_rate(n)
    a = np.zeros(n)
    a[0], a[1] = 1e-5, -1e-5
    path = lab.limit_grams(np.eye(n) + np.diag(a), 40)
    spread = np.diagonal(path, axis1=1, axis2=2)[:, 0] - np.diagonal(path, axis1=1, axis2=2)[:, 1]
    assert spread[5] / spread[4] == pytest.approx(rate, rel=1e-4)
    assert rate < 1
    assert lab.return_factor(n, STREAM).right == rate


def test_return_rate_for_many_points():
    slope = 1 - 0.5 / (1 - 1 / np.pi)
    assert 1e6 * (1 - lab.return_rate(10**6)) == pytest.approx(slope, rel=1e-3)


def test_networks_leave_the_symmetric_state():
    frame = lab.waits(20, 100, 300, 5, STREAM)
    assert (frame["layer"] < 300).all()
    assert (frame["layer"] > 3).all()
    chain = sp.Chain(100, layers=[sp.Recenter(), torch.relu, sp.FrobeniusNorm()])
    states = chain.run(np.eye(20), 300, 5, STREAM.child("20 100")).states(range(1, 301))
    for run, (layer, odd) in enumerate(zip(frame["layer"] - 1, frame["odd point"], strict=True)):
        norms = states[run].norm(dim=-1).numpy()  # layer 0 is left out
        far = norms.max(axis=1) > 10 * np.median(norms, axis=1)
        assert far[layer]
        assert not far[:layer].any()
        assert norms[layer].argmax() == odd


def test_who_escapes_follows_the_gram_matrix():
    x = torch.from_numpy(STREAM.numpy("cloud").normal(size=(8, 20, 3)))
    who, when = lab.escaping(x @ x.mT, 400)
    moved = x + torch.tensor([50.0, 0.0, 0.0])
    again, _ = lab.escaping(moved @ moved.mT, 400)
    assert who.tolist() == again.tolist()  # recentring does not see the shift
    for b in range(8):
        path = lab.limit_grams((x[b] @ x[b].T).numpy(), int(when[b]))
        norms = np.sqrt(np.diagonal(path, axis1=1, axis2=2))
        ratio = norms.max(axis=1) / np.sort(norms, axis=1)[:, 9]
        assert ratio[-1] > 10 >= ratio[1:-1].max()
        assert norms[-1].argmax() == who[b]
    frame = lab.who_escapes({"cloud": x}, 400)
    rules = lab.predictors(x)
    for rule, named in rules.items():
        assert frame[rule].tolist() == (named == who).tolist()
    assert lab.escaping(torch.eye(4, dtype=torch.float64)[None], 5)[0].tolist() == [-1]


def test_rules_of_prediction():
    x = torch.from_numpy(STREAM.numpy("rules").normal(size=(3, 7, 4)) + 2)
    rules = lab.predictors(x)
    for b in range(3):
        y = x[b].numpy()
        far = np.linalg.norm(y - y.mean(axis=0), axis=1)
        assert rules["largest norm"][b] == np.linalg.norm(y, axis=1).argmax()
        assert rules["farthest from the mean"][b] == far.argmax()
        unit = (y - y.mean(axis=0)) / far[:, None]
        assert rules["loneliest direction"][b] == (unit @ unit.sum(axis=0)).argmin()


def test_odd_points_of_networks():
    x = torch.zeros(2, 12, 3, dtype=torch.float64)
    x[:, 1:] = 0.01 * torch.from_numpy(STREAM.numpy("near").normal(size=(2, 11, 3)))
    x[0, 0, 0], x[1, 4, 1] = 1.0, 1.0
    assert lab.odd_points_of_networks(x, 200, 5, STREAM).tolist() == [0, 4]


def test_rules_in_networks():
    x = torch.from_numpy(STREAM.numpy("pixels").random(size=(3, 6, 5)))
    frame = lab.in_networks(x, [30, 60], 4, STREAM)
    odd = lab.odd_points_of_networks(x, 60, 4, STREAM.child("width 60"))
    wide = frame.query("width == 60")
    for rule, named in lab.predictors(x).items():
        assert wide[rule].tolist() == (odd == named.numpy()).tolist()
    darkest = (1 - x).norm(dim=2).argmax(dim=1).numpy()
    assert wide["largest norm of the negatives"].tolist() == (odd == darkest).tolist()


def test_common_extremes_and_theorem_11():
    x = lab.common_extremes(STREAM, 6, 4)
    assert (x[0] < x[1:]).all()
    assert (x[-1] > x[:-1]).all()
    assert all(len(set(feature)) == 6 for feature in x.T.tolist())
    case = lab.theorem_11_for_features(x, 8)
    literal = sp.clusters.literal_tree(x.astype(float), 8)
    norms = np.linalg.norm(literal, axis=1)
    cosines = literal @ literal.T / np.outer(norms, norms)
    inner = np.degrees(np.arccos(np.clip(cosines[1:-1, 1:-1], -1, 1)))
    away = np.arcsin(np.minimum(cosines[1:-1, 0], cosines[1:-1, -1]))
    ratio = norms[1:-1].max() / max(norms[0], norms[-1])
    np.testing.assert_allclose(case.left, [0, inner.max(), ratio, away.max()], atol=1e-6)
    np.testing.assert_allclose(case.right, [0, 0.1, 3 / 4, np.sqrt(2 * np.pi) / 4])
    flipped = lab.theorem_11_for_features(x, 8, flip=True)
    np.testing.assert_allclose(flipped.left, case.left)
    assert lab.theorem_11_for_features(x, 8, shift=1).left[0] > 0
    x[0] = x[1] + 1
    assert not all(lab.theorem_11_for_features(x, 3).hypotheses.values())


def test_rows_of_the_tree_by_hand():
    frame = lab.rows_of_tree([0, 1, 5], 2)
    second = frame.query("layer == 2").groupby("neuron")["value"].agg(list).tolist()
    np.testing.assert_allclose(second, [[0, 0, 2], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    assert frame.query("layer == 1")["clusters"].tolist() == [2] * 3 + [3] * 3
    assert not np.allclose(*sides(lab.figure_4([1, 4, 9, 16, 25], 2, signs=(-1, 1))))
