"""Kernels of finite networks beside networks with explicit weights, and tables by hand."""

import math

import numpy as np
import pandas as pd
import pytest

import signalprop as sp
from signallab.conditioning import finite_width_kernel as lab
from signallab.conditioning.reference import directions


def test_sizes_in_closed_form():
    """tanh: the value at infinity; erf and sine: the largest derivative of the three orders."""
    deviation = math.sqrt((1 - math.exp(-2)) / 2)
    assert lab.size("sine") == pytest.approx(1 / deviation, rel=1e-6)
    x, w = np.polynomial.hermite_e.hermegauss(101)
    second = (np.tanh(x) ** 2 * w).sum() / math.sqrt(2 * math.pi)
    assert lab.size("tanh") == pytest.approx(1 / math.sqrt(second), rel=1e-4)


def test_deviations_have_the_law_of_networks_with_weights():
    """Mean of the largest deviation, of two layers of 20 units, three inputs."""
    x, phi = directions(40)[:3], lab.BOUNDED["tanh"]
    rng, found = np.random.default_rng(1), []
    k = sp.KernelMap(phi)
    limit = np.asarray(k(np.asarray(k(np.clip(x @ x.T, -1, 1)))))
    for _ in range(1500):
        h = np.asarray(phi(rng.standard_normal((20, 10)) @ x.T)) / math.sqrt(20)
        h = np.asarray(phi(rng.standard_normal((20, 20)) @ h)) / math.sqrt(20)
        found.append(np.abs(h.T @ h - limit).max())
    drawn = lab.deviations("tanh", 3, 20, 2, 1500, sp.Stream(5))[:, 1]
    error = math.hypot(np.std(found), drawn.std()) / math.sqrt(1500)
    assert abs(np.mean(found) - drawn.mean()) < 4.5 * error
    assert error < 0.03 * drawn.mean()


def test_errors_have_all_places_once():
    rows = lab.errors(3, [8, 16], [1, 2], 4, sp.Stream(0))
    assert not rows.duplicated(["activation", "layer", "width", "run"]).any()
    again = lab.deviations("erf", 3, 16, 2, 4, sp.Stream(0).child("erf", 3, 16))
    chosen = rows[(rows["activation"] == "erf") & (rows["layer"] == 2) & (rows["width"] == 16)]
    np.testing.assert_array_equal(chosen["error"], again[:, 1])


ROWS = pd.DataFrame(
    {
        "activation": "sine",
        "layer": [1, 1, 3, 3],
        "width": [100, 100, 100, 100],
        "error": [0.1, 0.3, 0.2, 0.4],
    }
)


def test_within_and_growth_by_hand():
    c = 4 * lab.size("sine")
    case = lab.within(ROWS, 10, "sine", 3, 100)
    assert (case.left, case.right) == (0.4, pytest.approx(c**2 * math.sqrt(math.log(10)) / 10))
    assert lab.within(ROWS, 10, "sine", 3, 100, scale=0.1).right == pytest.approx(case.right / 10)
    grown = lab.growth(ROWS, "sine", 3, 100)
    np.testing.assert_allclose(grown.left, [0.2 + 0.1 * c, 0.4 - 0.1 * c])
    assert grown.right == pytest.approx(0.2 * c)
    even = lab.growth(ROWS, "sine", 3, 100, base=1.0)
    np.testing.assert_allclose(even.left, [0.3, 0.3])
    assert even.right == pytest.approx(0.2)


def test_growth_scatters_as_both_of_its_sides():
    """The standard error of its left side is that of the difference, over many sets of runs."""
    rng, differences, errors = np.random.default_rng(2), [], []
    for _ in range(400):
        first = 1 + rng.random(50)
        rows = pd.DataFrame(
            {
                "activation": "sine",
                "layer": np.repeat([1, 3], 50),
                "width": 9,
                "error": [*first, *(first + 2 * rng.random(50))],
            }
        )
        case = lab.growth(rows, "sine", 3, 9, base=2.0)
        differences.append(case.left.mean() - case.right)
        errors.append(case.left.std(ddof=1) / math.sqrt(50))
    assert np.std(differences) == pytest.approx(np.mean(errors), rel=0.15)


def test_needed_by_hand():
    table = lab.needed(ROWS, 10, 0.1)
    assert table["width, measured"].tolist() == [400, 900]
    c = 4 * lab.size("sine")
    np.testing.assert_allclose(
        table["width, by the lemma"], [c**2 * math.log(10) * 100, c**4 * math.log(10) * 100]
    )
