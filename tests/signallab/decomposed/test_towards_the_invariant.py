"""Both sides of Theorem 14 against drawn layers, hand-made batches and the library."""

import numpy as np
import pytest

from signallab.decomposed import towards_the_invariant as lab
from signallab.decomposed.near_invariant import from_mean, images, invariant, spread_out
from signalprop import theory
from signalprop.random import Stream

STREAM = Stream(7).child("towards the invariant")


def cluster(n=5, far=2.0, spread=0.01, k=3):
    return spread_out(n, spread, STREAM.numpy("cluster", n), k, far)


def drawn(x, width, runs, name):
    return images(from_mean(x), lab.gain(x), width, runs, STREAM.numpy(name))


def test_radius_and_gain_by_hand():
    x = np.array([[3.0, 4.0], [1.0, 0.0], [-1.0, 0.0]])
    assert lab.radius(x) == pytest.approx(5)
    assert lab.gain(x) == pytest.approx(9 / 4 / 25)


@pytest.mark.parametrize("n", [2, 3, 30])
def test_meets(n):
    printed = lab.meets(n)
    assert printed.left[0] == pytest.approx(n / (n - 1))
    assert printed.right[0] == pytest.approx(theory.dec_invariant_radius(n))
    assert printed.left[1] == pytest.approx(0)
    free = lab.meets(n, "nothing")
    assert (free.left < free.right).all()
    assert free.right[0] == pytest.approx(1.5 * n / (n - 1))
    kept = lab.meets(n, "items 1 to 3")
    assert kept.left[0] > kept.right[0]
    assert kept.left[1] == pytest.approx(0.5 / n**2 if n > 2 else 0)


@pytest.mark.parametrize("item", [1, 2])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_expected_size_against_drawn_layers(item, power):
    x, width, runs = cluster(), 3, 40_000
    y = drawn(x, width, runs, f"size {item}")[:, 0 if item == 1 else 5]
    sample = np.linalg.norm(y, axis=1) ** power
    case = lab.expected_size(x, width, item, power)
    assert abs(sample.mean() - case.left) < 6 * sample.std() / np.sqrt(runs)
    assert case.right == (1 if item == 1 else 0.25**power)
    assert case.hypotheses == {"R > n/(n-1)": True, "close": True}
    assert not lab.expected_size(cluster(far=1.2), width, item).hypotheses["R > n/(n-1)"]
    assert not lab.expected_size(cluster(spread=0.05), width, item).hypotheses["close"]


def test_products_of_integers():
    for item in lab.integer_batches(STREAM, 30):
        assert lab.orthogonal(**item).left == 0
    sizes = [max(abs(v) for v in item["w"].ravel()) for item in lab.integer_batches(STREAM, 30)]
    assert max(sizes) > 10**7
    x, w = np.array([[3], [0], [1], [5]], dtype=object), np.array([[1], [-1]], dtype=object)
    # The sum is 9, four times the points less the sum are 3, -9, -5, 11: ReLU with both signs.
    assert lab.orthogonal(x, w, "the mean of the images").left == 3 * 11
    assert lab.orthogonal(x, w, "no recentring").left == 4 * 3 * 4 * 6
    assert lab.largest_product(cluster(), 3, 500, STREAM) < 1e-12


def test_contraction_against_drawn_layers():
    x, width, runs = cluster(spread=0.03), 2, 40_000
    y = drawn(x, width, runs, "contraction")[:, 1:]
    i, j = np.triu_indices(5, k=1)
    sample = ((y[:, i] - y[:, j]) ** 2).sum(axis=2)
    case = lab.contraction(x)
    error = sample.std(axis=0) / np.sqrt(runs)
    assert (np.abs(sample.mean(axis=0) - case.left) < 6 * error).all()
    points = np.concatenate([x[1:], x[1:].mean(axis=0, keepdims=True)])
    np.testing.assert_allclose(case.right, ((points[i] - points[j]) ** 2).sum(axis=1))
    half = lab.contraction(x, power=1, factor=0.5)
    np.testing.assert_allclose(half.right, lab.gain(x) / 2 * case.right)
    assert "close" not in lab.contraction(x, close=False).hypotheses
    line = lab.contraction(cluster(k=1), power=1)
    np.testing.assert_allclose(line.left, line.right, rtol=1e-9)


def test_drawn_distances_have_the_expected_means():
    sample, expected = lab.drawn_distances(cluster(), 3, 40_000, STREAM)
    error = sample.std(axis=0) / 200
    assert (np.abs(sample.mean(axis=0) - expected) < 6 * error).all()
    case = lab.contraction(cluster())
    ratios = case.left / case.right
    assert expected[0] == pytest.approx(ratios[0])  # the points 2 and 3
    assert expected[1] == pytest.approx(ratios[3])  # the point 2 and the centre


def test_dropped_hypotheses():
    frame = lab.dropped(6, STREAM).set_index("batch")
    np.testing.assert_allclose(frame[["item 1", "item 2"]], 1)
    np.testing.assert_allclose(frame["item 3"], 0, atol=1e-12)
    below = frame["item 4"] < 1
    assert below.tolist() == [True] * 4 + [False]
    gains = [1 / 1.44] * 3 + [1, theory.dec_theorem_13_alpha(6)]
    assert (frame["item 4"] <= np.array(gains) * (1 + 1e-9)).all()
    assert frame["item 4"]["R = n/(n-1)"] > 0.95  # near its gain of one, as the cluster is narrow
    rng = STREAM.numpy("dropped")
    wide = [spread_out(6, s, rng, 3, 1.44) for s in (0.025, 0.025, 0.5)][-1]
    centred = from_mean(wide)
    u, length = centred[1:], np.linalg.norm(centred[1:], axis=1)
    cosines = np.clip(u @ u.T / np.outer(length, length), -1, 1)
    i, j = np.triu_indices(6, 1)
    after = (length[i] ** 2 + length[j] ** 2) / 1.44
    after -= 2 / 1.44 * length[i] * length[j] * theory.dec_kernel(cosines)[i, j]
    ratios = after / ((u[i] - u[j]) ** 2).sum(axis=1)
    assert frame["item 4"]["a wide cluster"] == pytest.approx(ratios.max())
    assert ratios.min() < 0.9 * ratios.max()


def test_next_radius_against_drawn_layers():
    x, runs = cluster(spread=0.2), 40_000
    y = drawn(x, 3, runs, "next")[:, :5]
    sample = ((y[:, 0] - y[:, 1:].mean(axis=1)) ** 2).sum(axis=1)
    case = lab.next_radius(x)
    assert abs(sample.mean() - case.left) < 6 * sample.std() / np.sqrt(runs)
    assert case.right == pytest.approx(25 / 16)
    assert lab.next_radius(invariant(5)).left == pytest.approx(1 + 1 / 16)


def test_closer_against_drawn_layers():
    """The ratio of mean squared distances, by one very wide layer."""
    x = cluster(n=8, far=None, spread=0.05)
    y = images(from_mean(x), 1.0, 200_000, 1, STREAM.numpy("closer"))[0, :8]

    def spread(points):
        centre = points[1:].mean(axis=0)
        square = ((points[1:] - centre) ** 2).sum(axis=1).mean()
        return square / ((points[0] - centre) ** 2).sum()

    case = lab.closer(x)
    assert case.right == pytest.approx(spread(x))
    assert case.left == pytest.approx(spread(y), rel=0.03)
    mended = lab.closer(x, mended=True)
    np.testing.assert_allclose(mended.left, [case.right, case.left])
    gain = theory.dec_theorem_13_alpha(8)
    np.testing.assert_allclose(mended.right, [case.left, gain * case.right])


def test_kernel_by_its_two_sides():
    case = lab.kernel([1.0, 2.0], [3.0, -1.0], 5, 0.7)
    assert case.left == pytest.approx(case.right)
    w = STREAM.numpy("kernel").normal(scale=0.7, size=(200_000, 2))
    sample = 5 * np.maximum(w @ [1.0, 2.0], 0) * np.maximum(w @ [3.0, -1.0], 0)
    assert abs(sample.mean() - case.right) < 6 * sample.std() / np.sqrt(200_000)
    assert lab.kernel([1.0], [2.0], 3, 1.0, of=lambda rho: 0.0).right == 0


def test_strictness_is_decided_exactly():
    def truth(x, y, **options):
        case = lab.strict_kernel(np.array(x), np.array(y), **options)
        return case.left, case.right

    assert truth([1, 2], [2, 1]) == truth([1, 2], [2, 1], mended=True) == (1, 1)
    assert truth([1, 2], [-1, -2], mended=True) == (1, 1)
    assert truth([1, 2], [2, 4]) == (0, 1)
    assert truth([1, 2], [2, 4], mended=True) == (0, 0)
    assert truth([1, 2], [0, 0], mended=True) == (0, 0)
    assert truth([1, 2], [1, 2]) == (0, 0)


def test_chain_and_its_strictness():
    x = np.array([[4, 0, 1], [1, 2, -3], [-2, 1, 1], [0, 0, 5]])
    case = lab.chain(x)
    np.testing.assert_allclose(case.left, case.right)
    assert case.left[0] == 9 + 1 + 16
    assert lab.chain(x, of=lambda rho: 1.0).right[2] < case.right[2]
    assert lab.strict_chain(x).left == lab.strict_chain(x, mended=True).right == 1
    ray = np.array([[-3, 0], [1, 0], [2, 0]])
    assert (lab.strict_chain(ray).left, lab.strict_chain(ray).right) == (0, 1)
    assert lab.strict_chain(ray, mended=True).right == 0
    opposite = np.array([[0, 0], [1, 0], [-1, 0]])
    assert lab.strict_chain(opposite, mended=True).right == lab.strict_chain(opposite).left == 1
