"""Norms and gradients by hand, by finite differences, and between independent computations."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from signallab.gradients import jacobian_of_batch_norm as lab
from signallab.gradients.expected_isometry import haar, unit_rows
from signallab.gradients.rotated_chain import extreme, gap_of
from signalprop.random import Stream


def test_jacobian_by_finite_differences():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    found = lab.jacobian(x, w)
    for k in range(9):
        step = np.zeros(9)
        step[k] = 1e-6
        step = step.reshape(3, 3)
        column = (unit_rows(w @ (x + step)) - unit_rows(w @ (x - step))) / 2e-6
        np.testing.assert_allclose(found[:, k], column.ravel(), atol=1e-8)


def test_normalization_and_its_spectrum():
    x = [1.0, 2.0, 2.0]
    case = lab.normalization(x)
    np.testing.assert_allclose(case.right, np.eye(3) / 3 - np.outer(x, x) / 27)
    np.testing.assert_allclose(case.left, case.right, atol=1e-15)
    assert not np.allclose(lab.normalization(x, power=2).right, case.right)
    found = lab.spectrum(x)
    np.testing.assert_allclose(found.right, [0, 1 / 3, 1 / 3])
    np.testing.assert_allclose(found.left, found.right, atol=1e-15)
    assert lab.spectrum(x, zeros=2).right[1] == 0


def test_rows_by_hand():
    case = lab.rows(np.array([[[1.0, 1.0], [0.0, 1.0]]]), times=2.0)
    assert case.left[0, 0] == pytest.approx(3 - np.sqrt(5))
    assert case.right[0, 0] == 1


def test_operator_norm_by_hand():
    """Rows (1, 1) and (0, 1): the shortest has length 1."""
    x = np.array([[1.0, 1.0], [0.0, 1.0]])
    case = lab.operator_norm(x, times=2.0)
    assert case.left == pytest.approx(1)
    assert case.right == pytest.approx(1 / (3 - np.sqrt(5)))
    assert lab.operator_norm(x, lengths=True).right == pytest.approx(1)
    assert lab.operator_norm(x / 2, lengths=True).left == pytest.approx(4)


def test_least_eigenvalue_by_hand():
    case = lab.least_eigenvalue([1.8, 0.2], lambda a: a)
    assert case.left == pytest.approx(np.log(5))
    assert case.right == pytest.approx(-np.log(0.36))
    assert not all(lab.least_eigenvalue([1.8, 0.2], lambda a: a, small=True).hypotheses.values())
    assert not all(lab.least_eigenvalue([1.8, 0.4], lambda a: a).hypotheses.values())


@given(st.floats(1e-4, 500))
def test_implicit_solves_its_equation(a):
    root = optimize.brentq(lambda u: np.exp(-u) - 1 + u - a, 0, a + 2)
    assert lab.implicit(a) == pytest.approx(root, rel=1e-6)
    assert lab.implicit(a) <= a + 1


def test_implicit_is_the_limit_of_many_equal_eigenvalues():
    values = extreme(4000, 2.0 / 4000)
    assert -np.log(values[-1]) == pytest.approx(lab.implicit(4000 * gap_of(values)), rel=1e-3)


def test_log_norm_by_hand():
    x = np.diag([3.0, 1.0])
    case = lab.log_norm(x / 10, lambda a: a)
    assert case.left == pytest.approx(np.log(10))
    assert case.right == pytest.approx(2 * np.log(5 / 3))
    scaled = lab.log_norm(x / 10, lambda a: a, normalized=True)
    assert scaled.left == pytest.approx(np.log(5) / 2)
    assert scaled.right == pytest.approx(case.right)
    norm = np.linalg.norm(lab.jacobian(x / 10), 2)
    assert case.left == pytest.approx(np.log(norm))


def test_layer_does_not_depend_on_the_rotation_of_its_input():
    x = np.random.default_rng(1).normal(size=(4, 4))
    w = haar(4, 1, Stream(0))[0]
    case = lab.layer(x, w, times=2.0)
    assert 2 * case.left == pytest.approx(case.right)
    assert case.left == pytest.approx(1 / np.linalg.norm(w @ x, axis=1).min())
    stretched = lab.layer(x, 3 * w)
    assert stretched.left == pytest.approx(3 * stretched.right)


def test_inequalities_by_hand():
    case = lab.inequality("(C.130)")
    assert case.left[-1] - 20 == pytest.approx(np.log(2))
    assert case.right[-1] - 20 == pytest.approx(np.sqrt(0.5))
    assert lab.inequality("(C.130)", np.square).right[-1] == 20.25
    curved = lab.inequality("(C.127)")
    assert curved.left[0] - 20 == pytest.approx(np.log(1e-6) + 1, abs=1e-5)
    assert curved.right[0] - 20 == pytest.approx(-0.5, abs=1e-5)


def test_losses_are_those_of_torch():
    z, y = lab.logits(40, 5, Stream(2))
    labels = y.argmax(-1)
    expected = torch.nn.functional.cross_entropy(z, labels, reduction="none")
    torch.testing.assert_close(lab.LOSSES["cross entropy"](z, y), expected)
    squared = lab.LOSSES["squared error of probabilities"](z, y)
    torch.testing.assert_close(squared, (torch.softmax(z, -1) - y).pow(2).sum(-1) / 5)
    outputs = lab.LOSSES["squared error of outputs"](z, y)
    torch.testing.assert_close(outputs, torch.linalg.vector_norm(z - y, dim=-1) ** 2 / 5)


def test_loss_gradients_by_hand():
    """At z = 0 of two classes the gradient is (1/2, -1/2), and of the squared error 1/4 of it."""
    z, y = torch.zeros(1, 2, dtype=torch.float64), torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    case = lab.loss_gradient("cross entropy", z, y, lambda loss, classes: classes / 2)
    assert case.left == pytest.approx(np.sqrt(0.5))
    assert case.right == 1
    squared = lab.loss_gradient("squared error of probabilities", z, y, lambda *_: 1.0)
    assert squared.left == pytest.approx(np.sqrt(0.5) / 2)


def test_gradients_come_near_their_bound():
    z, y = lab.logits(4000, 10, Stream(3))
    case = lab.loss_gradient("cross entropy", z, y, lambda *_: np.sqrt(2))
    assert 1.4 < case.left <= case.right


def test_lipschitz_quotients():
    z, y = lab.logits(2000, 4, Stream(4))
    case = lab.lipschitz("cross entropy", z, y, 1.5)
    assert 1.2 < case.left <= np.sqrt(2)
    assert case.right == 1.5
    assert lab.lipschitz("squared error of outputs", z, y, 1.5).left > 10


def test_lipschitz_by_hand():
    """Squared outputs at 1 and 3 for the label 0: apart by 2, and by 0.02 / 2 and 0.02 / 4."""
    z = torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    case = lab.lipschitz("squared error of outputs", z, torch.zeros_like(z), 1.0)
    assert case.left == pytest.approx(3 + 3 - 0.005)


def test_lipschitz_takes_distant_pairs_too():
    """The loss goes from 0 to 1 over a distance of 80, and is flat at both ends."""
    z = torch.tensor([[40.0, 0.0], [-40.0, 0.0]], dtype=torch.float64)
    y = torch.tensor([[1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    case = lab.lipschitz("squared error of probabilities", z, y, 1.0)
    assert case.left == pytest.approx(1 / 80)


def test_cross_entropy_gradient():
    case = lab.cross_entropy_gradient(*lab.logits(100, 6, Stream(5)))
    np.testing.assert_allclose(case.left, case.right, atol=1e-12)
    wrong = lab.cross_entropy_gradient(*lab.logits(100, 6, Stream(5)), sign=1)
    assert not np.allclose(wrong.right, case.right)


@pytest.mark.parametrize(("factor", "within"), [(0.99, True), (1.01, False)])
def test_small_gaps_end_at_the_printed_threshold(factor, within):
    """1 / (16 d), of a spectrum and of a matrix that has it."""
    values = extreme(4, factor / 64)
    spectrum = lab.least_eigenvalue(values, lambda a: a, small=True)
    matrix = lab.log_norm(np.diag(np.sqrt(values)), lambda a: a, small=True)
    for case in (spectrum, matrix):
        assert case.hypotheses["the gap is at most 1 / (16 d)"] is within
