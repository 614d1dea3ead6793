"""The frozen chain of Lemma 7 in balls, beside a chain in doubles with drawn weights."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from signallab.rank import frozen

PULL = (Fraction(-3, 2), Fraction(-5, 4))


def activation(x):
    return np.sign(x) * np.clip(200 * abs(x) - 247, 0, 1)


def layer(h, w, gamma=1 / 16):
    z = h + gamma * w @ activation(h)
    return z / np.sqrt(np.mean(z**2, axis=1, keepdims=True))


def test_the_activation():
    for x in np.linspace(-2, 2, 81):
        assert float(frozen.staircase(arb(x))) == pytest.approx(activation(x), abs=1e-12)
        assert abs(activation(x)) <= abs(x)
    assert frozen.staircase(arb(1.2375, 0.001)).contains(activation(1.237))


def test_the_chain_stays_after_one_layer():
    found, rng = frozen.average_is_no_sign(), np.random.default_rng(0)
    for _ in range(20):
        h = layer(np.array([[0.62, 0.34]] * 2), rng.uniform(-(3**0.5), 3**0.5, (2, 2)))
        assert h == pytest.approx(np.array([[1.24, 0.68]] * 2)), "the first layer is the start"
        w = np.array([rng.uniform(float(low), float(high), 2) for low, high in frozen.PULLS])
        after = h = layer(h, w)
        for _ in range(10):
            h = layer(h, rng.uniform(-(3**0.5), 3**0.5, (2, 2)))
        assert (h == after).all() or h == pytest.approx(after, abs=1e-14)
        assert found.left.contains(np.mean(h[0] * h[1]) ** 2)
    assert found.at.count("1/147456") == 1


def test_the_chance_is_that_of_the_weights():
    rng, within = np.random.default_rng(1), 1.0
    for low, high in frozen.PULLS:
        w = rng.uniform(-(3**0.5), 3**0.5, 1_000_000)
        within *= np.mean((w > float(low)) & (w < float(high))) ** 2
    assert within == pytest.approx(1 / 147456, rel=0.05)


@pytest.mark.parametrize(
    ("pulls", "said"),
    [
        ((PULL, PULL), "must refute"),  # rows that may be alike
        ((PULL, (Fraction(1, 4), Fraction(3, 8))), "H stays"),  # pushed up, not below
        ((PULL, (Fraction(-1, 100), Fraction(0))), "H stays"),  # not far enough
        (((Fraction(-2), Fraction(-7, 4)), PULL), "within"),
    ],
)
def test_what_is_not_certified(pulls, said):
    with pytest.raises(ValueError, match=said):
        frozen.average_is_no_sign(pulls)


def test_a_larger_step_is_not_admitted(monkeypatch):
    monkeypatch.setattr(frozen, "GAMMA", Fraction(1, 15))
    with pytest.raises(ValueError, match="γ"):
        frozen.average_is_no_sign()
