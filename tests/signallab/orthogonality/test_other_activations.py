"""The settled chain with an activation against a plain loop, closed forms and symmetries."""

import numpy as np
import pytest

import signalprop as sp
from signallab.orthogonality import other_activations as lab
from signalprop.random import Stream

STREAM = Stream(21)
SHORT = {"layers": 120, "burn_in": 30, "runs": 6, "stream": STREAM}
PLAIN = {
    "linear": lambda x: x,
    "sin": np.sin,
    "tanh": np.tanh,
    "ReLU": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def by_loop(activation: str, n: int, width: int, scale: float, layers: int) -> np.ndarray:
    """Mean off-diagonal entry and mean gap of one long chain, weights drawn by hand."""
    rng = np.random.default_rng(4)
    q, seen = rng.normal(size=(width, n)), []
    for layer in range(layers + 30):
        q = rng.normal(size=(width, width)) @ PLAIN[activation](q)
        q *= scale / np.linalg.norm(q, axis=1, keepdims=True)
        gram = q.T @ q / (width * scale**2)
        if layer >= 30:
            off = (gram.sum() - 1) / (n * (n - 1))
            seen.append((off, np.linalg.norm(gram - np.eye(n) / n)))
    return np.mean(seen, axis=0)


@pytest.mark.parametrize(("activation", "scale"), [*((a, 1.0) for a in PLAIN), ("sigmoid", 3.0)])
def test_settled_is_a_plain_loop(activation, scale):
    found = lab.settled(activation, 3, 24, scale=scale, **SHORT)
    off, gap = by_loop(activation, 3, 24, scale, 700)
    assert found.off_diagonal.mean() == pytest.approx(off, abs=0.025)  # entries range over 0.3
    assert found.gap.mean() == pytest.approx(gap, rel=0.12)
    assert (found.deviation <= found.gap * (1 + 1e-6) + 0.02).all()


def test_linear_gap_is_the_closed_form():
    found = lab.settled("linear", 4, 128, **SHORT)
    assert found.gap.mean() == pytest.approx(sp.theory.stationary_gap(4, 128), rel=0.06)


@pytest.mark.parametrize("activation", ["linear", "sigmoid"])
def test_centred_rows_fix_the_stationary_mean(activation):
    """Rows without mean make the samples sum to zero; what is left is a chain of n - 1 samples."""
    found = lab.settled(activation, 4, 128, center=True, **SHORT)
    np.testing.assert_allclose(found.off_diagonal, -1 / 12, atol=1e-6)
    expected = sp.theory.stationary_gap(3, 128)
    assert found.deviation.mean() == pytest.approx(expected, rel=0.06)


def test_relu_does_not_see_the_scale():
    one, other = (lab.settled("ReLU", 3, 32, scale=s, **SHORT) for s in (1.0, "1/sqrt d"))
    np.testing.assert_allclose(one.gap, other.gap, rtol=1e-6)


@pytest.mark.parametrize("activation", list(lab.ACTIVATIONS))
def test_equal_samples_stay_equal_and_others_do_not_join_them(activation):
    equal = lab.settled(activation, 3, 32, start="equal", **SHORT)
    np.testing.assert_allclose(equal.off_diagonal, 1 / 3, atol=1e-12)
    apart = lab.settled(activation, 3, 32, start="nearly parallel", **SHORT)
    assert apart.off_diagonal.max() < 1 / 3 - 0.005


def test_only_equal_samples_stay_parallel():
    """Two parallel samples of different lengths part: the sigmoid of q and 2q, the ReLU of q, -2q.

    The claim "parallel samples stay parallel under any activation" would pass unseen otherwise.
    """
    for name, factor in (("sigmoid", 2), ("ReLU", -2)):
        q = np.random.default_rng(0).normal(size=64)
        x = np.stack([q, factor * q])
        path = lab._chain(name, 64, 1.0).run(x, 1, 1, STREAM, engine="direct")
        assert path.measure(sp.mean_absolute_cosine).values[0, 1] < 0.99


def test_a_sample_that_a_relu_maps_to_zero_is_lost():
    x = np.random.default_rng(2).normal(size=(3, 32))
    x[1] = -np.abs(x[1])
    path = lab._chain("ReLU", 32, 1.0).run(x, 3, 2, STREAM, engine="direct")
    grams = path.measure(lab._gram_of_trace_one).values[:, 1:]
    assert (grams[..., 1, 1] == 0).all()
    assert (grams[..., 0, 0] > 0).all()


def test_descent_starts_nearly_parallel():
    frame = lab.descents(4, 64, depth=25, runs=3, stream=STREAM)
    mean = frame.groupby(["activation", "layer"])["orthogonality gap"].mean()
    for name in lab.ACTIVATIONS:
        assert mean[name, 0] == pytest.approx(0.75**0.5, abs=1e-3)
    assert mean["tanh", 25] < 0.25 < mean["sigmoid", 25]


def test_slopes_run_by_run():
    widths = [8, 32, 64]
    values = np.stack([np.array(widths, dtype=float) ** p for p in (-0.5, 0.3)])
    np.testing.assert_allclose(lab.log_slopes(widths, values), [-0.5, 0.3], atol=1e-12)


@pytest.mark.parametrize("n", [2, 4, 9])
def test_first_term_sees_the_rate_at_orthogonality(n):
    """Far down each layer multiplies the gap by n/(n+2): a faster power is overtaken, no other."""
    for factor, holds in ((0.98, False), (1.02, True)):
        rate = factor * sp.theory.contraction_at_orthogonality(n)
        case = lab.first_term(lambda alpha, rate=rate: rate)(n, 0.9, 900)
        assert (case.left <= case.right) == holds
        assert case.where["alpha"] ** 2 * n > 0.9
    assert lab.first_term(lambda a: 1 - a, 2.0)(n, 0.9, 5).right == pytest.approx(
        2 * (1 - case.where["alpha"]) ** 5
    )


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="activation must be one of"):
        lab.settled("cos", 3, 8, **SHORT)
    with pytest.raises(ValueError, match="start must be one of"):
        lab.settled("sin", 3, 8, start="parallel", **SHORT)
