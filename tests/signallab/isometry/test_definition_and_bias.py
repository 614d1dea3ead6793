"""Isometry by hand and in many digits; families, search and drawing against what they promise."""

from fractions import Fraction

import numpy as np
import pytest
from sympy import Matrix

import signalprop as sp
from signallab.isometry import definition_and_bias as lab
from signalprop import theory
from signalprop.random import Stream


def test_definition_by_hand():
    """G = [[5, 4], [4, 5]]: det 9, trace 10, I = 3/5."""
    assert lab.by_definition(np.array([[1.0, 2.0], [2.0, 1.0]])) == pytest.approx(3 / 5)


def test_exact_power_by_hand():
    assert lab.power(Matrix([[2, 1], [1, 2]])) == Fraction(3, 4)
    assert lab.power(Matrix([[2, 1, 1], [1, 2, 1], [1, 1, 2]])) == Fraction(1, 2)
    with pytest.raises(ValueError, match="must not be zero"):
        lab.power(Matrix.zeros(2))


def test_exact_matrices_are_positive_and_of_both_kinds():
    matrices = lab.exact_matrices(Stream(1), 40)
    for m in matrices.values():
        values = np.linalg.eigvalsh(np.array(m.tolist(), dtype=float))
        assert values.min() > -1e-12
        assert (values.min() < 1e-9) == lab.degenerate(m)
        assert (np.ptp(values) < 1e-9) == lab.multiple_of_identity(m)
        product = 0 if lab.degenerate(m) else np.prod(values / values.mean())
        assert float(lab.power(m)) == pytest.approx(product, rel=1e-9)
    kinds = [lab.degenerate(m) for name, m in matrices.items() if name.startswith("random")]
    assert True in kinds
    assert False in kinds


def test_families_hold_what_their_names_say():
    families = lab.families(Stream(2), 3)
    np.testing.assert_allclose(np.linalg.norm(families["equal lengths"], axis=-1), 7)
    lengths = np.linalg.norm(families["one long among 100"], axis=-1)
    np.testing.assert_allclose(lengths[:, :3], [[10, 1, 1]] * 3)
    np.testing.assert_array_equal(families["a point twice"][:, 1], families["a point twice"][:, 0])
    for name in ("more samples than coordinates", "a point twice", "opposite points"):
        assert np.linalg.matrix_rank(families[name][0]) < families[name].shape[1]
    assert families["n = 5, d = 10, log-lengths of spread 2.0"].shape == (3, 5, 10)
    many = lab.families(Stream(2), 400)
    for spread in (0.1, 1.0, 2.0):  # 2400 logarithms: their spread is known to 2 %
        x = many[f"n = 6, d = 6, log-lengths of spread {spread}"]
        assert np.log(np.linalg.norm(x, axis=-1)).std() == pytest.approx(spread, rel=0.1)
    x = many["nearly parallel"]
    angles = np.linalg.norm(x[:, 1] - 3 * x[:, 0], axis=-1) / np.linalg.norm(x[:, 1], axis=-1)
    assert 0 < angles.max() < 5e-3
    assert sum("log-lengths" in name for name in families) == 42


def test_bias_by_hand():
    """Directions at 60 degrees, lengths 1 and 3: I(G) = 2 * 3 sin 60 / 10, I(G~) = sin 60."""
    x = lab.angles_and_lengths(np.array(3.0), np.pi / 3)[None]
    case = lab.bias(x)
    assert case.left == pytest.approx(0.6 * np.sqrt(3) / 2 * 1.25)
    assert case.right == pytest.approx(np.sqrt(3) / 2)


@pytest.mark.parametrize("radius", [None, 1.0])
def test_displays_by_hand(radius):
    """Lengths 1 and 3 in three dimensions, at a right angle."""
    lines = lab.displays(np.array([[[0.0, 1.0, 0.0], [3.0, 0.0, 0.0]]]), radius)
    expected = {"4.4": 5 / 3, "4.5": 5 / 3, "4.6": 10 / 9, "4.7": 1.25}
    for name, value in expected.items():
        assert lines[name] == pytest.approx(value)
    assert lines["log det G"] == pytest.approx(np.log(9))
    assert lines["log det D"] == pytest.approx(np.log(1.0))  # 1/sqrt 3 times 3/sqrt 3
    assert lines["log det G~"] == pytest.approx(np.log(9 if radius is None else 1))


def test_search_descends_to_equal_lengths():
    """The slack is 2 log(arithmetic / geometric mean): never negative, and 0 at equal lengths."""
    frame = lab.worst_case(3, 4, 400, 4, Stream(3))
    first, last = (frame[frame["step"] == step] for step in (0, 400))
    assert (frame["slack"] > -1e-9).all()
    assert last["slack"].min() < first["slack"].min() / 100
    assert last.loc[last["slack"].idxmin(), "spread"] < 0.05


def test_search_breaks_a_constant_that_is_too_large():
    double = lab.worst_case(10, 12, 300, 8, Stream(4), lambda a: 2 * theory.iso_theorem_4_3(a) - 1)
    assert double["slack"].min() < -1e-3


def test_largest_constant():
    """Three lengths t, 1, 1: the quotient by hand on a fine grid."""
    t = np.linspace(1.01, 50, 200000)
    gain = (t**2 + 2) / 3 / t ** (2 / 3)
    mean, square = (t + 2) / 3, (t**2 + 2) / 3
    by_hand = np.min((gain - 1) / (square / mean**2 - 1))
    assert lab.largest_constant(3) == pytest.approx(by_hand, rel=1e-6)
    constants = [lab.largest_constant(n) for n in (2, 10, 100, 10000)]
    assert constants == sorted(constants, reverse=True)
    assert 1 < constants[-1] < 1.05


def test_maximizer_and_examples():
    np.testing.assert_allclose(lab.maximizer((2.5, 0.4)), [1, np.pi / 2], atol=1e-5)
    for vectors in lab.drawn_examples().values():
        assert np.sum(vectors**2) == pytest.approx(len(vectors))
        n = len(vectors)
        volume = abs(np.linalg.det(vectors))
        assert sp.isometry(vectors) == pytest.approx(volume ** (2 / n))
        edges = np.array(lab.parallelepiped(vectors))
        assert len(edges) == n * 2 ** (n - 1)
        steps = edges[:, 1] - edges[:, 0]
        for v in vectors:
            assert np.isclose(steps, v).all(axis=1).sum() == 2 ** (n - 1)


def test_statements_of_the_lemma_by_hand():
    flat, scaled, uneven = Matrix([[1, 1], [1, 1]]), 2 * Matrix.eye(2), Matrix.diag(1, 2)
    assert [lab.is_zero(m, "").left for m in (flat, scaled, uneven)] == [True, False, False]
    assert [lab.is_zero(m, "").right for m in (flat, scaled, uneven)] == [True, False, False]
    assert [lab.is_one(m, "").left for m in (flat, scaled, uneven)] == [False, True, False]
    assert [lab.is_one(m, "").right for m in (flat, scaled, scaled / 2)] == [False, False, True]
    traces = lab.is_scale_free(uneven, "", lambda m: m.trace())
    assert (traces.left, traces.right) == ([9.0, 3 / 7], 3.0)
    ends = lab.in_range(uneven, "", 0.1, 0.9)
    np.testing.assert_allclose(ends.left, [0.1, 8 / 9])
    np.testing.assert_allclose(ends.right, [8 / 9, 0.9])


def test_statements_of_the_definition():
    whole, bare = (lab.both_ways(4, Stream(5), root=root) for root in (True, False))
    np.testing.assert_allclose(whole.left, whole.right, rtol=1e-12)
    np.testing.assert_allclose(bare.right, whole.right**4)
    assert len(whole.left) == 21
    assert [lab.rank(n, d, Stream(5)).left for n, d in [(2, 5), (5, 2), (1, 1)]] == [2, 2, 1]
    ratio = lab.twice_the_ratio(1.0, 1.0, turn=np.pi / 2)
    angles = np.linspace(0.1, 3.0, 30)
    np.testing.assert_allclose(ratio.left, np.sin(angles))
    np.testing.assert_allclose(ratio.right, np.cos(angles), atol=1e-12)


def test_hypothesis_of_the_theorem():
    assert lab.bias(np.eye(2)[None]).hypotheses == {"no sample is zero": True}


def test_statements_of_the_proof_by_hand():
    x = np.array([[[0.0, 1.0, 0.0], [3.0, 0.0, 0.0]]])
    step = lab.step(x, "", "4.6", "4.7", mend=lambda n, d: d / n)
    assert step.left == pytest.approx(10 / 9)
    assert step.right == pytest.approx(1.25 * 1.5)
    assert lab.determinants(2 * x, "").left == pytest.approx(1)
    assert lab.determinants(2 * x, "", times=1).left == pytest.approx(4)  # det D = 2 · 6 / 3
    assert lab.determinants(2 * x, "", radius=1.0).left == pytest.approx(9)
