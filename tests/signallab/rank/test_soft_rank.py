"""Exact ranks against numpy on well-separated spectra, formulas by hand, the chain's indices."""

from fractions import Fraction

import numpy as np
import pytest
from sympy import ImmutableMatrix as Matrix

import signalprop as sp
from signallab.rank import soft_rank as lab
from signalprop.random import Stream


def test_unit_rows_against_the_library():
    h = np.random.default_rng(0).normal(2.0, 3.0, size=(4, 9))
    np.testing.assert_allclose(lab.unit_rows(h), sp.layers.batch_norm(h.T).T, rtol=1e-12)
    ratio = h.var(axis=1) / (h**2).mean(axis=1)
    np.testing.assert_allclose(lab.unit_rows(h, mended=False).var(axis=1), ratio, rtol=1e-12)
    np.testing.assert_allclose(lab.unit_rows(h, freedom=1).var(axis=1), 8 / 9, rtol=1e-12)


def test_the_printed_variance_by_hand():
    """A row of deviation s and mean m has second moment s^2 + m^2."""
    case = lab.print_and_mend(10.0, Stream(0), mended=False)
    np.testing.assert_allclose(case.left, [0, 1 / 101], atol=1e-12)
    case = lab.print_and_mend(10.0, Stream(0))
    np.testing.assert_allclose(case.left, case.right, atol=1e-12)


def test_exact_ranks_against_numpy():
    for h in lab.integer_matrices(Stream(1), 40).values():
        numbers = np.array(h.tolist(), dtype=float)
        values = np.linalg.eigvalsh(numbers @ numbers.T / h.cols)
        assert lab.exact_rank(h) == np.linalg.matrix_rank(numbers) == (values > 1e-9).sum()
        assert float(lab.exact_ratio(h)) == pytest.approx(values.sum() ** 2 / (values**2).sum())
        for tau in (Fraction(0), Fraction(1, 3), Fraction(2)):
            # ties are decided by the exact count alone
            if np.abs(values - float(tau)).min() > 1e-9 or tau == 0:
                expected = (values >= float(tau) - 1e-12).sum()
                assert lab.exact_soft_rank(h, tau) == expected


def test_ties_count():
    assert lab.exact_soft_rank(Matrix([[1, 1], [1, -1]]), Fraction(1)) == 2
    assert lab.exact_soft_rank(Matrix([[1, 1], [1, -1]]), Fraction(10**9 + 1, 10**9)) == 0
    case = lab.soft_rank_agrees(Matrix([[1, 1], [1, -1]]), "", [Fraction(1)])
    assert case.left == case.right == 2
    case = lab.soft_rank_agrees(Matrix([[1, 1], [1, -1]]), "", [Fraction(1)], strict=True)
    assert (case.left, case.right) == (2, 0)


def test_with_nothing_to_pass_the_soft_rank_is_the_number_of_units():
    h = Matrix([[1, 0], [0, 1], [1, 1]])  # rank 2, three units
    case = lab.soft_rank_agrees(h, "", [Fraction(0)])
    assert case.left == case.right == 3
    assert lab.below_rank(h, "", [Fraction(0)]).right == 2


def test_lemma_1_is_an_equality_at_the_identity():
    case = lab.above_ratio(Matrix.eye(3), "")
    assert case.left == case.right == 3
    assert lab.above_ratio(Matrix([[3, 0], [0, 4]]), "", margin=0.5).right == 1.5
    assert lab.above_ratio(Matrix([[3, 0], [0, 4]]), "").left == pytest.approx(625 / 337)


def test_float_ranks():
    rows = lab.float_ranks([1, 9])
    a = np.array([[10.0, 11.0], [9.0, 10.0]])
    first, second = np.linalg.svd(a, compute_uv=False)
    assert rows["smallest over largest singular value"][0] == pytest.approx(second / first)
    assert rows["exact rank"].tolist() == [2, 2]
    assert rows["rank in float64"].tolist() == [2, 1]


@pytest.mark.parametrize("activation", ["linear", "tanh", "ReLU"])
def test_one_layer_row_by_row(activation):
    draw = np.random.default_rng(3)
    h, w = draw.normal(size=(4, 6)), draw.normal(size=(4, 4))
    f = {"linear": h, "tanh": np.tanh(h), "ReLU": h * (h > 0)}[activation]
    z = np.array([h[i] + 0.3 * sum(w[i, j] * f[j] for j in range(4)) for i in range(4)])
    expected = np.array([row * np.sqrt(6 / (row @ row)) for row in z])
    np.testing.assert_allclose(lab.one_layer(h, w, 0.3, activation), expected, rtol=1e-12)


def test_rows_of_norm():
    case = lab.rows_of_norm(4, 9, "ReLU", Stream(0))
    np.testing.assert_allclose(case.left, 3, rtol=1e-12)
    assert lab.rows_of_norm(4, 9, "tanh", Stream(0), "width").right.max() == 2


def test_entries_are_those_of_the_definition():
    values = lab.entries(Stream(5), 400)
    assert np.abs(values).max() <= np.sqrt(3)
    assert abs(values.mean()) < 6 / np.sqrt(len(values))
    # the variance of the square of a uniform entry is 9/5 - 1
    assert abs((values**2).mean() - 1) < 6 * np.sqrt(0.8 / len(values))


def test_second_layer_reuses_weights_only_when_told():
    """One run: the weights are the generator's first nine, and its next nine if fresh."""
    stream = Stream(2)
    draw = stream.child("formula").runs(1)[0]
    first, second = (draw.uniform(-np.sqrt(3), np.sqrt(3), size=(3, 3)) for _ in range(2))
    x = np.array([[1.0, 0.5, -1.0], [0.2, 1.0, 0.3], [0.0, -0.4, 1.0]])
    h = lab.one_layer(x, first, 1.0)
    for once, w in ((True, second), (False, first)):
        expected = sp.rank_ratio(lab.one_layer(h, w, 1.0).T)
        assert lab.second_layer(stream, 1, once=once)[0] == pytest.approx(float(expected))


def test_with_spectrum():
    values = np.array([5.0, 2.0, 0.5, 0.5, 0, 0, 0, 0])
    h = lab.with_spectrum(values)
    np.testing.assert_allclose(np.linalg.norm(h, axis=1), np.sqrt(8))
    np.testing.assert_allclose(np.linalg.svd(h, compute_uv=False) ** 2 / 8, values, atol=1e-12)
    with pytest.raises(ValueError, match="must sum to their number 4"):
        lab.with_spectrum(np.ones(4) * 2)


def test_lemma_2_by_hand():
    """Eigenvalues 5/2 and three times 1/2: r = 16/7, one counts at tau slightly above 1/2."""
    case = lab.above_soft_rank(lab.adversarial(4, 1, 0.5), 0.5)
    assert case.right == 1
    assert case.left == pytest.approx(16 / 7 / 4, rel=1e-5)
    assert lab.above_soft_rank(np.ones(4), 0.5, scale=0.5).right == 0


def test_adversarial_spectra_have_the_trace_of_their_size():
    for high in (1, 3):
        spectrum = lab.adversarial(8, high, 0.5)
        assert spectrum.sum() == pytest.approx(8)
        assert (spectrum > 0.5).sum() == high
        assert np.ptp(spectrum[:high]) == 0


def test_decaying_spectra():
    rows = lab.decaying_spectra(16, [2.0]).set_index("of")["value"]
    weights = np.exp(-np.arange(16) / 2)
    assert rows["r"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert rows["soft rank"] == (16 * weights / weights.sum() >= 0.5).sum()
    assert (rows["rank"], rows["r/4"]) == (16, rows["r"] / 4)


def test_a_linear_layer_forgets_the_scale_and_another_does_not():
    """By hand for one layer, whose weights do not depend on the input."""
    case = lab.scale_is_lost(7.0, Stream(3))
    np.testing.assert_allclose(case.left, case.right, rtol=0, atol=1e-13)
    x = Stream(3).numpy("scaled").normal(size=(6, 4))
    assert np.abs(case.right - x).max() > 0.1
    assert np.ptp(np.linalg.norm(case.left, axis=-2)) < 1e-12
    curved = lab.scale_is_lost(7.0, Stream(3), "tanh")
    assert np.abs(curved.left - curved.right).max() > 1e-3
