"""The printed formulas against the library, geometry in the plane and small matrices."""

import numpy as np
import pytest

import signalprop as sp
from signallab.orthogonality import definitions as lab
from signalprop.random import Stream

STREAM = Stream(0).child("test_definitions")
SKEWED = (0.6, 0.3, 0.1)
AT = {"spectrum": SKEWED, "width": 7, "stream": STREAM}
SQUARES = 0.46  # of the entries of SKEWED, summed


def test_layers_have_unit_norm_and_the_input_has_its_own():
    norms = lab.norm_along("the same, a million times as long", 16, 3, 2, STREAM)
    assert norms.shape == (2, 4)
    assert np.allclose(norms[:, 1:], 1, atol=1e-12)
    x = STREAM.numpy("input").standard_normal((16, 4))
    assert np.allclose(norms[:, 0], 1e6 * np.linalg.norm(x))


@pytest.mark.parametrize("start", lab.INPUTS)
def test_inputs_are_what_they_are_called(start):
    x = lab.INPUTS[start](6, STREAM.numpy("named"))
    samples = {"one sample": 1, "as many samples as features": 6, "more samples than features": 12}
    assert x.shape == (6, samples.get(start, 4))
    rank = {"one sample": 1, "four equal samples": 1, "one sample and three zeros": 1}
    assert np.linalg.matrix_rank(x) == rank.get(start, min(x.shape))
    columns = np.count_nonzero(np.linalg.norm(x, axis=0))
    assert columns == (1 if start.startswith("one sample") else x.shape[1])


def test_unit_norm_counts_layers_from_the_first_asked():
    size = {"start": "one sample", "width": 8, "depth": 3, "runs": 2, "stream": STREAM}
    case = lab.unit_norm(0)(**size)
    assert case.left.shape == case.right.shape == (2, 4)
    assert np.all(case.right == 1)
    rival = lab.unit_norm(2, np.sqrt)(**size)
    assert rival.left.shape == (2, 2)
    assert np.allclose(rival.right, np.sqrt(8))


def test_whitening_leaves_only_the_singular_vectors():
    m = STREAM.numpy("m").standard_normal((6, 3))
    u, s, vt = np.linalg.svd(m, full_matrices=False)
    assert np.allclose(lab.whitened(m), u @ vt, atol=1e-10)
    assert np.allclose(lab.whitened(m, power=-1), (u / s) @ vt, atol=1e-10)


def test_whitening_table():
    frame = lab.whitening([2, 5], 5, STREAM)
    assert frame["rank of M M^T"].tolist() == [2, 5]
    assert np.all(frame["gap after whitening"] < 1e-6)
    m = STREAM.numpy("gaussian", 2, 5).standard_normal((5, 2))
    assert frame["gap of M"].iloc[0] == pytest.approx(float(sp.orthogonality_gap(m.T)))
    bn = m / np.linalg.norm(m, axis=1, keepdims=True)
    assert frame["gap after BN"].iloc[0] == pytest.approx(float(sp.orthogonality_gap(bn.T)))


def test_inverse_needs_full_rank():
    case = lab.has_inverse(2, 5, STREAM)
    assert (case.left, case.right) == (5, 2)
    assert all(case.hypotheses.values())
    assert not all(lab.has_inverse(6, 5, STREAM).hypotheses.values())
    case = lab.has_inverse(5, 5, STREAM)
    assert case.left == case.right == 5


def test_whitens_compares_gram_matrices():
    double = lab.whitens(lambda m: 2 * m)(2, 5, STREAM)
    m = STREAM.numpy("gaussian", 2, 5).standard_normal((5, 2))
    assert np.allclose(double.left, m.T @ m / (m**2).sum())
    assert np.array_equal(double.right, np.eye(2) / 2)


def test_gap_is_that_of_the_library():
    for n, d in [(2, 2), (3, 7), (9, 4)]:
        h = STREAM.numpy("h", n, d).standard_normal((d, n))
        assert lab.gap(h) == pytest.approx(float(sp.orthogonality_gap(h.T)), rel=1e-12)
        unit = h / np.linalg.norm(h)
        assert lab.gap_not_normalized(unit) == pytest.approx(lab.gap(h))
        assert lab.gap_not_normalized(2 * unit) == pytest.approx(
            np.sqrt(16 * (lab.gap(h) ** 2 + 1 / n) - 8 / n + 1 / n)
        )


def test_matrices_have_their_spectrum_and_no_preferred_axes():
    h = lab.matrix(SKEWED, 7, STREAM)
    assert np.allclose(np.linalg.svd(h, compute_uv=False) ** 2, SKEWED)
    assert np.all(np.abs(h) > 1e-6)


def test_points_cover_sizes_and_draws():
    found = lab.points([(2, 4), (5, 5)], 12, STREAM)
    assert [len(p["spectrum"]) for p in found] == [2] * 12 + [5] * 12
    assert len({p["stream"] for p in found}) == 12
    assert all(sum(p["spectrum"]) == pytest.approx(1) for p in found)


def test_statements_in_numbers():
    """Shares 0.6, 0.3, 0.1: V^2 = 0.46 - 1/3, and Vhat = 1/3 - 0.1."""
    case = lab.squared_gap()(**AT)
    assert (case.left, case.right) == pytest.approx((SQUARES, SQUARES))
    case = lab.squared_gap(power=3, less=2)(**AT)
    assert (case.left, case.right) == pytest.approx((SQUARES + 1 / 3, 0.244))
    case = lab.far_from_parallel(3)(**AT)
    assert (case.left, case.right) == pytest.approx((SQUARES - 1 / 3 + 0.54, 2 / 3))
    case = lab.exceeds_lyapunov(lambda n: n)(**AT)
    assert (case.left, case.right) == pytest.approx((3 * (1 / 3 - 0.1), np.sqrt(SQUARES - 1 / 3)))
    assert all(case.hypotheses.values())


def test_invariance_moves_the_matrix():
    gap = np.sqrt(SQUARES - 1 / 3)
    case = lab.invariant()(**AT)
    assert (case.left, case.right) == pytest.approx((1 + gap, 1 + gap))
    norms = lab.invariant(lambda h: float(np.linalg.norm(h)))(**AT)
    assert (norms.left, norms.right) == pytest.approx((8, 2))
    assert lab.invariant(rotated=False)(**AT).left != pytest.approx(1 + gap, rel=1e-3)


def test_gap_of_two_by_trigonometry():
    """Norms 1 and r at angle t: V^2 = (1 + r^4 + 2 r^2 cos^2) / (1 + r^2)^2 - 1/2."""
    frame = lab.gap_of_two([1, 3], [0, 50, 90])
    assert frame["norms"].tolist() == ["1 and 1"] * 3 + ["1 and 3"] * 3
    for r, part in zip((1, 3), (frame[:3], frame[3:]), strict=True):
        c = np.cos(np.deg2rad(part["angle in degrees"]))
        square = (1 + r**4 + 2 * r**2 * c**2) / (1 + r**2) ** 2 - 0.5
        assert np.allclose(part["orthogonality gap"] ** 2, square, atol=1e-12)


def test_mean_correction_leaves_a_floor():
    frame = lab.gap_with_and_without_mean(4, 256, 20, 5, STREAM)
    last = frame.query("layer == 20").groupby("batch normalization")["orthogonality gap"]
    floor = 1 / np.sqrt(12)
    assert last.min()["mean taken off"] >= floor - 1e-12
    assert last.max()["mean left in"] < floor
    first = frame.query("layer == 0")["orthogonality gap"]
    assert np.allclose(first, np.sqrt(0.75), atol=1e-5)


def test_symbols_have_the_printed_types():
    frame = lab.shapes(4, 9, 3, STREAM)
    assert frame["type in print"].tolist() == frame["here"].tolist()
    assert len(frame) == 8
