"""Descents beside sampled runs, eigenvalues and closed forms by hand."""

import math

import numpy as np
import pytest

import signalprop as sp
from signallab.conditioning import training_the_top_layer as lab
from signallab.conditioning.reference import ACTIVATIONS


def test_descent_in_the_eigenbasis():
    a, y = lab.system(4, 7, sp.Stream(0))
    values, vectors = np.linalg.eigh(a @ a.T)
    step = 0.3
    expected = [
        np.sum(((1 - 2 * step / 4 * values) ** t * (vectors.T @ y)) ** 2) / 4 for t in range(6)
    ]
    np.testing.assert_allclose(lab.descent(a, y, step, 5), expected, rtol=1e-10)


def test_theorem_50_by_its_own_numbers():
    case = lab.theorem_50(6, 9, sp.Stream(1), exponent=2.0)
    assert case.left <= case.right
    a, y = lab.system(6, 9, sp.Stream(1))
    values = np.linalg.eigvalsh(a @ a.T)
    t = int(case.words.split()[-1])
    assert case.right == pytest.approx(math.exp(-2 * t * values[0] / values[-1]))
    losses = lab.descent(a, y, 3 / values[-1], t)
    assert case.left == pytest.approx(losses[t] / losses[0])
    late = lab.theorem_50(6, 9, sp.Stream(1), exponent=4.0)
    assert late.left > late.right
    tall = lab.theorem_50(6, 9, sp.Stream(1), tall=True)
    assert tall.words.startswith("9 inputs")


def test_expected_average_beside_sampled_runs():
    """Means over many runs; each expectation within six standard errors."""
    a, y = lab.system(3, 5, sp.Stream(2))
    k, step, count, runs = a @ a.T, 0.2, 6, 40_000
    rng = np.random.default_rng(3)
    r = np.tile(-y, (runs, 1))
    total, last, average = np.zeros_like(r), [], []
    for t in range(1, count + 1):
        total += r
        last.append((r**2).mean(1))
        average.append(((total / t) ** 2).mean(1))
        i = rng.integers(0, 3, runs)
        r = r - 2 * step * r[np.arange(runs), i][:, None] * k[i]
    exact_last, exact_average = lab.expected_average(k, -y, step, count)
    for sampled, exact in ((last, exact_last), (average, exact_average)):
        for t in range(count):
            error = sampled[t].std() / math.sqrt(runs) + 1e-12
            assert abs(sampled[t].mean() - exact[t]) < 6 * error


def test_theorem_51():
    stream = sp.Stream(4)
    k, residual, beta, unit = lab.epoch(5, 9, stream)
    values = np.linalg.eigvalsh(k)
    assert unit == pytest.approx(5 * beta / values[0])
    assert beta == pytest.approx(max(np.diag(k)))
    np.testing.assert_allclose(k @ residual, values[0] * residual, atol=1e-10)
    shares = [lab.theorem_51(5, 9, stream, factor=f).left for f in (0.5, 2.0, 8.0)]
    assert shares[0] > 0.5 > shares[1] > shares[2]


def test_proof_step():
    case = lab.proof_step(4, 6, sp.Stream(5))
    _, y = lab.system(4, 6, sp.Stream(5))
    loss = float((y**2).mean())
    assert case.left - case.right == pytest.approx(loss / 4, rel=1e-6)  # (-1 + 3/2) eta L
    case = lab.proof_step(4, 6, sp.Stream(5), true_constants=True)
    assert case.left == pytest.approx(case.right, rel=1e-9)


def test_deep_kernel():
    k, depth = lab.deep_kernel(12, "ReLU")
    x = np.random.default_rng(0).standard_normal((12, 20))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    expected = sp.nngp(x @ x.T, ACTIVATIONS["ReLU"], depth)
    np.testing.assert_allclose(k, expected, atol=1e-9)
    mu = (math.pi - 2) / (2 * math.pi - 2)
    delta = 1 - np.abs(x @ x.T - np.eye(12)).max()
    start = max(0, math.ceil(math.log(1 / (2 * delta)) / math.log(1 + mu / 2)))
    bound = [22 * (1 - mu / 2) ** (layers - start) for layers in (depth, depth - 1)]
    assert bound[0] <= 0.2 < bound[1]


def test_descent_steps():
    assert lab.descent_steps(np.eye(8), 1.0, 0.1) == 5  # (3/4)^(2t)
    with pytest.raises(ValueError, match="step 1e-09"):
        lab.descent_steps(np.eye(2), 1e-9, 0.1)


def test_sgd_steps():
    """(1 - 1/n)^t of the loss is left where each step clears one of n residuals."""
    assert lab.sgd_steps(np.eye(10), 0.5, 0.1) == math.ceil(math.log(10) / -math.log(0.9))
    assert lab.sgd_steps(np.eye(10), 0.25, 0.1) == math.ceil(
        math.log(10) / -math.log(1 - 0.75 / 10)
    )
    with pytest.raises(ValueError, match="step 1e-09"):
        lab.sgd_steps(np.eye(2), 1e-9, 0.1)


def test_theorems_44_and_45():
    case = lab.theorem_44(40, "ReLU", 1e-3)
    assert case.left > case.right
    k, _ = lab.deep_kernel(40, "ReLU")
    assert case.left == lab.descent_steps(k, 0.25 / np.linalg.eigvalsh(k)[-1], 1e-3)
    case = lab.theorem_44(40, "ReLU", 1e-3, power=1.0)
    assert case.left <= case.right
    case = lab.theorem_45(40, "ReLU", 0.1, 0.5)
    mended = lab.theorem_45(40, "ReLU", 0.1, 0.5, power=1.0)
    assert case.right < case.left == mended.left < mended.right
    assert mended.right == pytest.approx(4 * case.right)


def test_smallest_eigenvalue():
    case = lab.smallest_eigenvalue(40, "ReLU")
    flat = lab.smallest_eigenvalue(40, "ReLU", power=0.0)
    assert case.left == pytest.approx(4 * flat.left)
    assert flat.right == case.right
    assert 0.8 < case.right <= 1
    few = np.linalg.eigvalsh(lab.deep_kernel(10, "ReLU")[0])[0]
    assert flat.left == pytest.approx(few / 2)


def test_rate_by_depth():
    case = lab.rate_by_depth(1, "second Hermite")
    kappa = (1 + 9 * 0.81) / (1 - 0.81)
    assert case.right == pytest.approx(2 * math.log((kappa + 1) / (kappa - 1)))
    assert case.left == pytest.approx(case.right, rel=1e-9)
    other = lab.rate_by_depth(1, "second Hermite", power=0.5).right
    assert other == pytest.approx(2 * math.log((kappa**0.5 + 1) / (kappa**0.5 - 1)))


def test_tables():
    rows = lab.steps_by_depth(["second Hermite"], 2, 1e-3)
    kappa = (1 + 9 * 0.81) / (1 - 0.81)
    assert rows["condition number"][1] == pytest.approx(kappa)
    rate = 2 * math.log((kappa + 1) / (kappa - 1))
    assert rows["steps"][1] == math.ceil(math.log(1000) / rate)
    row = lab.steps_by_inputs([10], "ReLU", 0.1, 0.5).iloc[0]
    assert row["step n/(4λ)"] < row["step 1/(4λ)"]
    assert row["layers"] == lab.deep_kernel(10, "ReLU")[1]
    assert row["one input a step"] == lab.sgd_steps(lab.deep_kernel(10, "ReLU")[0], 0.5, 0.1)
