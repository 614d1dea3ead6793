"""Condition numbers beside plain eigenvalues; bounds beside their formulas written out."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import condition_number as lab
from signallab.conditioning.reference import ACTIVATIONS, equicorrelated


def test_inputs_satisfy_their_assumptions():
    for gram in lab.INPUTS.values():
        assert 0 < sp.theory.cond_assumption_a(gram) < 1
    for gram in lab.WELL_POSED.values():
        assert 0 < sp.theory.cond_assumption_b(gram) < 1


def test_curves():
    rows = lab.curves("10 inputs of cosine 0.9", "ReLU", 30)
    gram = equicorrelated(10, 0.9)
    expected = float(sp.gram_condition_number(sp.nngp(gram, ACTIVATIONS["ReLU"], 6))) - 1
    assert rows["truth"][6] == pytest.approx(expected, rel=1e-9)
    mu = (math.pi - 2) / (2 * math.pi - 2)
    start = math.ceil(math.log(5) / math.log(1 + mu / 2))
    first = start + math.ceil(math.log(10) / -math.log(1 - mu / 2))
    assert np.isnan(rows["Corollary 4"][first - 1])
    assert rows["Corollary 4"][first] == pytest.approx(20)
    last = 18 * (1 - mu / 2) ** (first - start)
    assert rows["what its proof gives"][first] == pytest.approx(last)
    assert rows["Corollary 8"][2] == pytest.approx(100 / (1 + mu / 2) ** 2)
    assert rows["Corollary 8, sharper"][2] == pytest.approx(90 / (1 + mu) ** 2)
    assert "Corollary 8" not in lab.curves("a fan of 12", "ReLU", 3)


def test_reach_of_discs():
    """n = 10, mu = 1: log2(10) lies between 3 and 4."""
    assert lab.reach_of_discs(10, 0.5, 1.0).left == pytest.approx(9 / 32)
    assert lab.reach_of_discs(10, 0.5, 1.0, "down").left == pytest.approx(9 / 16)
    assert lab.reach_of_discs(2, 0.5, 1.0).hypotheses["n > 1"]


def test_corollary_4():
    case = lab.corollary_4("2 inputs of cosine 0.9", "second Hermite", 3, sharper=True)
    assert case.left == pytest.approx(case.right, rel=1e-9)
    q = 0.9**32  # after L_1 = 5 layers
    case = lab.corollary_4("2 inputs of cosine 0.9", "second Hermite", 0, sharper=True)
    assert case.right == pytest.approx(2 * q / (1 - q), rel=1e-9)
    case = lab.corollary_4("2 inputs of cosine 0.9", "second Hermite", 0)
    assert case.left == pytest.approx(2 * q / (1 - q), rel=1e-9)
    assert case.right == pytest.approx(4)
    case = lab.corollary_4("2 inputs of cosine 0.9", "second Hermite", 0, ahead=1)
    assert case.right == pytest.approx(2)
    case = lab.corollary_4("2 inputs of cosine 0.9", "second Hermite", 0, sharper=True, ahead=1)
    assert case.right == pytest.approx(2 * q**2 / (1 - q**2), rel=1e-9)
    case = lab.corollary_4("a fan of 12", "ReLU", 20, sharper=True)
    assert case.left < case.right


def test_first_words():
    rows = lab.first_words("10 inputs of cosine 0.9", 32).set_index("activation")
    curve = lab.curves("10 inputs of cosine 0.9", "ReLU", 40)
    first = rows.loc["ReLU", "L₁"]
    assert first == np.flatnonzero(np.isfinite(curve["Corollary 4"]))[0]
    assert rows.loc["ReLU", "κ − 1 after L₁"] == pytest.approx(curve["truth"][first], rel=1e-9)
    assert rows.loc["ReLU", "κ − 1 after 32"] == pytest.approx(curve["truth"][32], rel=1e-9)
    proof = curve["what its proof gives"][first]
    assert rows.loc["ReLU", "by the proof"] == pytest.approx(proof, rel=1e-9)
    assert rows.loc["ReLU", "as printed"] == pytest.approx(20)
    curve = lab.curves("10 inputs of cosine 0.9", "tanh", 120)
    first = rows.loc["tanh", "L₁"]
    assert rows.loc["tanh", "κ − 1 after L₁"] == pytest.approx(curve["truth"][first], rel=1e-9)
    assert rows.loc["tanh", "κ − 1 after 32"] == pytest.approx(curve["truth"][32], rel=1e-9)


def test_constants():
    case = lab.constants(10, 0.1, 1.0, factor=2)
    assert case.left == 20
    assert case.right == pytest.approx(10 / 9 * 16)


def test_corollary_8():
    for sharper in (False, True):
        case = lab.corollary_8("8 of the random directions", "tanh", 100, sharper=sharper)
        assert case.left < case.right
    case = lab.corollary_8("2 inputs of cosine 0.5", "second Hermite", 1, factor=0.5)
    assert case.left == pytest.approx(2 * 0.25 / 0.75)
    assert case.right == pytest.approx(0.5 * 4 / 1.5)
    case = lab.corollary_8("2 inputs of cosine 0.5", "second Hermite", 1, sharper=True)
    assert case.right == pytest.approx(1)


@pytest.mark.parametrize(("layers", "steps"), [(1, 2), (4, 2), (5, 4), (40, 4)])
def test_proof_of_corollary_8(layers, steps):
    """delta = 0.1, mu = 1: L_0 = 4."""
    case = lab.proof_of_corollary_8(6, 0.1, 1.0, layers)
    assert len(case.left) == steps
    assert np.all(case.left <= case.right * (1 + 1e-12))
    np.testing.assert_array_equal(case.left[1:], case.right[:-1])
    assert case.left[0] == pytest.approx(case.right[0], rel=1e-12)  # n b / (1 - b) twice
    assert case.right[-1] == pytest.approx(60 / 1.5**layers)
    last = lab.proof_of_corollary_8(6, 0.1, 1.0, layers, factor=0.5).right[-1]
    assert last == pytest.approx(30 / 1.5**layers)


def test_theorem_7():
    case = lab.theorem_7("2 inputs of cosine 0.5", "second Hermite", 6, "sharpest")
    assert case.left == pytest.approx(case.right)
    case = lab.theorem_7("10 inputs of cosine 0.9", "second Hermite", 1)
    assert (case.left, case.right) == (pytest.approx(0.81), pytest.approx(0.85))
    case = lab.theorem_7("10 inputs of cosine 0.9", "second Hermite", 2, missing=1)
    assert (case.left, case.right) == (pytest.approx(0.9), pytest.approx(0.85))
    case = lab.theorem_7("8 of the random directions", "tanh", 3)
    gram = lab.WELL_POSED["8 of the random directions"]
    layer = int(case.words[-1])
    lowest = np.linalg.eigvalsh(sp.nngp(gram, ACTIVATIONS["tanh"], layer))[0]
    assert case.left == pytest.approx(1 - lowest, abs=1e-10)
    delta = np.linalg.eigvalsh(gram)[0]
    mu = float(sp.KernelMap(ACTIVATIONS["tanh"]).nonlinearity)
    assert case.right == pytest.approx(1 - delta * (1 + mu / 2) ** layer, rel=1e-9)


def test_lemma_23():
    weights = lab.power_series(50, 8, sp.Stream(0))
    grams = lab.unit_grams(50, 4, 9, sp.Stream(1))
    np.testing.assert_allclose(grams, grams.swapaxes(1, 2))
    for row, gram in zip(weights, grams, strict=True):
        case = lab.lemma_23(row, gram)
        assert all(case.hypotheses.values())
        assert case.left <= case.right
    # e^K of two inputs of cosine 1/2, by its series
    series = np.array([1 / math.factorial(i) for i in range(25)])
    case = lab.lemma_23(series, equicorrelated(2, 0.5), factor=2)
    assert case.left == pytest.approx(2 * (math.e - math.exp(0.5)))
    assert case.right == pytest.approx(math.e - math.exp(0.5))
    case = lab.lemma_23(series, equicorrelated(2, 0.5), sign=-1)
    assert case.left == pytest.approx(math.e - math.exp(-0.5))


def test_implies():
    for gram in lab.unit_grams(30, 3, 4, sp.Stream(2)):
        assert lab.implies(gram).left <= lab.implies(gram).right
    case = lab.implies(equicorrelated(2, 0.5), factor=3)
    assert case.left == pytest.approx(1.5)
    assert 0.5 < case.right < 0.5 + 1e-9


def test_noise_helps_only_with_enough_dimensions():
    few = lab.rank_of_noise(10, 40, 0.1, sp.Stream(3))
    assert few.left == pytest.approx(1e-4)
    assert few.right > few.left
    assert lab.rank_of_noise(40, 10, 0.1, sp.Stream(3)).right < 1e-12
    assert lab.rank_of_noise(10, 40, 0.1, sp.Stream(3), share=0.0).right < 1e-12
    # Two inputs: 1 - cos is half their squared distance, which is 2 noise^2 in many dimensions.
    two = lab.rank_of_noise(2, 20000, 0.01, sp.Stream(4))
    assert two.right == pytest.approx(1e-4, rel=0.06)


@pytest.mark.slow
def test_rates():
    rows = lab.rates("10 inputs of cosine 0.9").set_index("activation")
    mu = 1 - 1 / math.sinh(1)
    assert rows.loc["sine", "1 − μ/2"] == pytest.approx(1 - mu / 2)
    assert rows.loc["sine", "1/(1 + μ)"] == pytest.approx(1 / (1 + mu))
    assert rows.loc["sine", "measured"] == pytest.approx(1 - mu, rel=1e-3)
    assert np.isnan(rows.loc["second Hermite", "measured"])
    slow = rows.loc[["SELU", "NormReLU"]]
    np.testing.assert_allclose(slow["measured"], slow["1 − μ"], rtol=1e-4)
