"""Condition numbers of tangent kernels, beside those of whole kernels and worked examples."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import tangent_condition_number as lab
from signallab.conditioning.condition_number import INPUTS
from signallab.conditioning.tangent_kernel import SMOOTH
from signalprop import theory

PAIR = "2 inputs of cosine 0.9"


def square(rho: float, depth: int) -> float:
    """The relative tangent kernel of rho^2, by the sum of its terms."""
    total = norm = 0.0
    for h in range(1, depth + 2):
        up = depth + 1 - h
        inner = [rho ** (2**j) for j in range(h - 1, depth)]
        total += rho ** (2 ** (h - 1)) * math.prod(2 * r for r in inner)
        norm += 2.0**up
    return total / norm


def test_truth_is_the_condition_number_of_the_whole_kernel():
    for inputs in ("20 random directions", "a fan of 12"):
        rows = lab.curves(inputs, "ReLU", 6)
        for depth in (3, 6):
            values = np.linalg.eigvalsh(np.asarray(sp.ntk(INPUTS[inputs], SMOOTH["ReLU"], depth)))
            assert rows["truth"][depth] == pytest.approx(values[-1] / values[0] - 1, rel=1e-8)


def test_curves_begin_where_the_corollaries_do():
    rows = lab.curves(PAIR, "second Hermite", 20)
    assert np.flatnonzero(rows["Corollary 6"].notna())[0] == 12
    assert np.flatnonzero(rows["Corollary 10"].notna())[0] == 16
    t = square(0.9, 4)
    assert rows["truth"][4] == pytest.approx(2 * t / (1 - t))
    assert rows["Corollary 10, sharpest"][4] == pytest.approx(2 * t / (1 - t))
    assert rows["Corollary 6"][14] == pytest.approx(8 * 2.0**5)
    assert rows["what its proof gives"][14] == pytest.approx(4 / 8)
    assert "Corollary 10" not in lab.curves("a fan of 12", "ReLU", 3)


def test_corollary_6_by_hand():
    """At the pair L_2 = 12, L_1 = 5; the square attains the sharpest bound."""
    t = square(0.9, 12)
    printed = lab.corollary_6(PAIR, "second Hermite", 0)
    assert printed.left == pytest.approx(2 * t / (1 - t), rel=1e-8)
    assert printed.right == pytest.approx(8 * 2.0**6)
    proven = lab.corollary_6(PAIR, "second Hermite", 0, "by the proof")
    assert proven.right == pytest.approx(4 / 4)
    top = lab.corollary_6(PAIR, "second Hermite", 0, "that of the top layer")
    assert (top.words[-8:], top.right) == ("5 layers", pytest.approx(2 / 2))
    sharpest = lab.corollary_6(PAIR, "second Hermite", 0, "sharpest")
    assert sharpest.left == pytest.approx(sharpest.right, rel=1e-9)
    ahead = lab.corollary_6(PAIR, "second Hermite", 0, "sharpest", ahead=1)
    assert ahead.left > 2 * ahead.right


def test_corollary_10_by_hand():
    name = "2 inputs of cosine 0.5"
    t = square(0.5, 1)
    assert t == pytest.approx(0.25)
    case = lab.corollary_10(name, "second Hermite", 1)
    assert case.left == pytest.approx(2 / 3)
    assert case.right == pytest.approx(8 / math.sqrt(1.5))
    top = lab.corollary_10(name, "second Hermite", 1, "that of the top layer")
    assert top.right == pytest.approx(2 * 1 / 2)
    sharpest = lab.corollary_10(name, "second Hermite", 1, "sharpest")
    assert sharpest.left == pytest.approx(sharpest.right, rel=1e-9)
    later = lab.corollary_10(name, "second Hermite", 1, "sharpest", ahead=1)
    t = square(0.5, 2)
    assert later.right == pytest.approx(2 * t / (1 - t))


def test_search_against_a_loop():
    k = sp.KernelMap.from_series([[0, 0, 1.0], [0, 0.4, 0.6]])
    one = sp.KernelMap.from_series([0, 0.4, 0.6])
    assert lab.search("", k, 9, "sharpest").left == pytest.approx(1, abs=1e-9)
    worst = 0.0
    for delta in lab.DELTAS:
        first = 4 * theory.cond_l_0(delta, 1.0)
        for depth in range(max(int(first), 1), 10):
            t = square(1 - delta, depth)
            worst = max(worst, t / (1 - t) * delta / 2 * 1.5 ** (depth / 2))
    found = lab.search("", sp.KernelMap.from_series([0, 0, 1.0]), 9)
    assert found.left == pytest.approx(worst, rel=1e-9)
    assert lab.search("", k, 9).left == pytest.approx(max(worst, lab.search("", one, 9).left))
    assert lab.search("", k, 9, factor=0.5).left == pytest.approx(2 * lab.search("", k, 9).left)
    top = lab.search("", k, 9, "that of the top layer")
    assert 0.9 < top.left <= 1
    assert lab.search("", k, 9, "sharpest", ahead=1).left > 1


def test_loss_and_discs_by_hand():
    """n = 9, mu = 1, delta = 0.5: L_0 = 0, L_2 = 9, B(4.5) = 2^-5.5."""
    case = lab.loss(9, 0.5, 1.0)
    assert (case.left, case.right) == (4 * 81, pytest.approx(9 / 8 * 2**9))
    assert lab.loss(9, 0.5, 1.0, factor=2).left == 8 * 81
    assert lab.discs(9, 0.5, 1.0).left == pytest.approx(16 * 2**-5.5)
    assert lab.discs(9, 0.5, 1.0, "down").left == pytest.approx(16 * 2**-5)
    assert lab.discs(10, 0.5, 1.0, "down").left > lab.discs(10, 0.5, 1.0).right


def test_the_half_and_the_chain():
    """delta = 0.3, mu = 0.1: L_0 = 11, since 1.05^11 > 5/3 > 1.05^10."""
    case = lab.half(0.3, 0.1)
    assert (case.left, case.right) == (pytest.approx(0.95**11), 0.5)
    links = lab.chain(0.3, 0.1, 2, n=3)  # L = 46
    y, last = 0.95**12, 20 * 1.05**-23
    middle = 6 * 1.05**-12
    np.testing.assert_allclose(links.left, [3 * y / (1 - y), 3 * y / (1 - y), 6 * y, middle])
    np.testing.assert_allclose(links.right, [3 * y / (1 - y), 6 * y, middle, last])
    assert lab.chain(0.3, 0.1, 2, n=3, factor=0.5).right[-1] == pytest.approx(last / 2)


@pytest.mark.slow
def test_first_words():
    rows = lab.first_words(PAIR).set_index("activation")
    hermite = rows.loc["second Hermite"]
    assert hermite["L₂"] == 12
    assert hermite["as printed"] == pytest.approx(8 * 2.0**6)
    assert hermite["by the proof"] == pytest.approx(1)
    assert hermite["κ ≤ 2 as printed"] == 30  # 8 * 2^-(L/2 - 12) <= 1
    assert hermite["κ ≤ 2 in truth"] == next(
        d for d in range(9) if 2 * square(0.9, d) <= 1 - square(0.9, d)
    )


def test_late_factor_of_the_exponential():
    """exp less its mean: s'(0)/s'(1) = 1/e, and s'(0) = 1/(e - 1)."""
    case = lab.late_factor("exponential")
    assert case.right == pytest.approx(1 / math.e)
    assert case.left == pytest.approx(1 / math.e, rel=5e-3)
    top = lab.late_factor("exponential", of_top_layer=True)
    assert top.right == pytest.approx(1 / (math.e - 1))
    assert "NormReLU" not in lab.SLOPED
