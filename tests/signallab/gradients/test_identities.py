"""Displays that are proved by algebra, beside numbers; and neighbours that algebra refuses."""

import numpy as np
import pytest

from signallab.gradients import expected_isometry, identities
from signallab.gradients.exponential_orthogonalization import sharper_large, sharper_small
from signalprop import theory
from signalprop.certify import NoIdentity


@pytest.mark.parametrize("name", [name for name in identities.__all__ if name != "one_step"])
def test_all_are_identities(name):
    assert getattr(identities, name)()


@pytest.mark.parametrize("small", [True, False])
def test_both_regimes(small):
    assert len(identities.one_step(small)) == 15


@pytest.mark.parametrize(
    ("name", "proofs"),
    [
        ("E_1", ["fourth_moments", "weingarten", "pairs_of_rows"]),
        ("E_2", ["fourth_moments", "weingarten", "pairs_of_rows"]),
        ("C_35", ["pairs_of_rows", "expected_growth"]),
        ("C_39", ["expected_growth", "corollary"]),
        ("PRINTED_GAIN", ["expected_growth", "corollary"]),
    ],
)
def test_what_is_printed_is_needed(monkeypatch, name, proofs):
    monkeypatch.setattr(identities, name, getattr(identities, name) * (1 + 1 / identities.d))
    for proof in proofs:
        with pytest.raises(NoIdentity):
            getattr(identities, proof)()


@pytest.mark.parametrize("d", [2, 3, 7])
def test_moments_are_those_of_weingarten_in_fractions(d):
    for q, printed in ((1, identities.E_1), (0, identities.E_2)):
        exact = expected_isometry.moment((0, 0, 1, 1), (0, 0, q, q), d)
        assert float(printed.subs(identities.d, d)) == pytest.approx(float(exact), rel=1e-14)


def test_what_a_turn_does_to_a_mean():
    d = identities.d
    first, second = identities.E_1, identities.E_2
    means = {(2, 0, 2, 0): second, (0, 2, 0, 2): second}
    means |= {(2, 0, 0, 2): first, (0, 2, 2, 0): first, (1, 1, 1, 1): -second / (d - 1)}
    w, weights = expected_isometry.quadrature(3, 12)
    c, s = np.cos(0.4), np.sin(0.4)
    turned = (c * w[:, 0, 0] + s * w[:, 0, 1]) ** 2 * (c * w[:, 1, 0] + s * w[:, 1, 1]) ** 2
    found = identities._after_a_turn(means).subs({d: 3, "c": c})
    assert float(found) == pytest.approx(float(weights @ turned))
    crossed = weights @ np.prod(w[:, :2, :2].reshape(-1, 4), axis=1)
    assert float((-second / (d - 1)).subs(d, 3)) == pytest.approx(float(crossed))


def test_the_printed_sides_are_those_of_the_theory():
    values = np.array([0.3, 0.9, 1.8])
    at = {identities.d: 3, identities.spread: expected_isometry.spread(values)}
    assert float(identities.C_35.subs(at)) == pytest.approx(theory.grad_equation_c_35(values))
    assert float(identities.C_39.subs(at)) == pytest.approx(theory.grad_equation_c_39(values))
    growth = float(identities.PRINTED_GAIN.subs(at))
    assert growth == pytest.approx(float(theory.grad_theorem_6_3(values)))


@pytest.mark.parametrize("d", [2, 3, 50])
def test_falls_are_those_of_the_chapter(d):
    small, large, psi = d - 2, d - 2, 0.9 / (16 * d)
    room = psi * (4 * small**2 + 13 * small + 4) / (6 * d**2 * (d + 2))
    assert sharper_small(d, psi) - theory.grad_lemma_c_9(d, psi) == pytest.approx(room)
    room = (8 * large**2 + 27 * large + 12) / (160 * d**3 * (d + 2))
    psi = 2 / (16 * d)
    assert sharper_large(d, psi) - theory.grad_lemma_c_9(d, psi) == pytest.approx(room)
    assert theory.grad_theorem_6_1(d, psi) == pytest.approx(32 * d**2 * (1 + d * psi))


@pytest.mark.parametrize("t", [-0.5, 0.5])
def test_a_gap_of_one_eigenvalue(t):
    pade = t * (6 + t) / (6 + 4 * t)
    assert t - np.log1p(t) >= t - pade > 1 / 16
