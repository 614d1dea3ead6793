"""Displays that are proved by algebra, beside numbers."""

import numpy as np
import pytest
import sympy

import signalprop as sp
from signallab.isometry import identities
from signalprop import theory
from signalprop.certify import NoIdentity


@pytest.mark.parametrize("name", identities.__all__)
def test_all_are_identities(name):
    assert getattr(identities, name)()


def test_the_gains_of_some_lengths():
    lengths = np.array([0.5, 1.0, 4.0])
    sums = {identities.n: 3, identities.first: lengths.sum(), identities.second: (lengths**2).sum()}
    mean = float(identities.mean.subs(sums))
    printed = (lengths**2).mean() / mean**2
    exact = (lengths**2).mean() / np.prod(lengths**2) ** (1 / 3)
    assert float(theory.iso_theorem_4_3(lengths)) == pytest.approx(printed)
    assert float(theory.iso_normalization_gain(lengths)) == pytest.approx(exact)
    assert exact > printed


def test_the_gain_needs_the_mean(monkeypatch):
    monkeypatch.setattr(identities, "mean", identities.first / (identities.n + 1))
    with pytest.raises(NoIdentity):
        identities.variance_of_the_lengths()


def test_two_vectors_by_the_library():
    angle, a, b = 1.1, 0.7, 2.0
    x = np.array([[a, 0.0], [b * np.cos(angle), b * np.sin(angle)]])
    expected = 2 * a * b * np.sin(angle) / (a**2 + b**2)
    assert float(sp.isometry(x)) == pytest.approx(expected)


def test_logarithm_of_the_ratio_of_two_means():
    values = np.array([0.2, 1.0, 5.0, 0.01])
    x = values / values.mean()
    ratio = values.mean() / np.exp(np.log(values).mean())
    assert (x - 1 - np.log(x)).sum() == pytest.approx(len(values) * np.log(ratio))
    assert sympy.limit(identities.a - 1 - sympy.log(identities.a), identities.a, 1) == 0
