"""Bounds, exponents and fits on made-up averages; whitening and rounding on small chains."""

import numpy as np
import pandas as pd
import pytest

from signallab.rank import square_root_theorem as lab
from signalprop.random import Stream


def made_up(width=16, gamma=1.0, **columns):
    base = {"r": 4.0, "soft rank": 5.0, "squared norm": 64.0, "diagonal term": 300, "cube": 400}
    return pd.DataFrame({"gamma": gamma, "width": width, **base, **columns}, index=range(2))


def test_bounds_by_hand():
    """alpha = 3/4, d = 16: sqrt((1 - alpha) d) = 2, d^1.5 / sqrt(1 - alpha) = 128."""
    frame = made_up()
    np.testing.assert_allclose(lab.rank_bound(frame, 1.0, 16).left, 2 / 4)
    np.testing.assert_allclose(lab.rank_bound(frame, 1.0, 16, constant=2).left, 1)
    np.testing.assert_allclose(lab.frobenius(frame, 1.0, 16).left, 64 / 128)
    np.testing.assert_allclose(lab.frobenius(frame, 1.0, 16, constant=0.5).left, 1)
    np.testing.assert_allclose(lab.soft_bound(frame, 1.0, 16).left, 1 / 5)
    np.testing.assert_allclose(lab.many_singular_values(frame, 1.0, 16).left, 4 / 24 / 5)


@pytest.mark.parametrize(
    ("bound", "column"),
    [
        (lab.rank_bound, "r"),
        (lab.rank_bound, "cube"),
        (lab.soft_bound, "soft rank"),
        (lab.soft_bound, "r"),
        (lab.frobenius, "squared norm"),
        (lab.frobenius, "diagonal term"),
        (lab.many_singular_values, "soft rank"),
    ],
)
def test_errors_are_those_of_the_ratio_of_means(bound, column):
    """A small change of one stretch moves the ratio of means as it moves the mean of numbers."""
    one = made_up().astype(float)
    other = one.copy()
    other.loc[1, column] *= 1.002
    numbers = bound(other, 1.0, 16).left
    ratio = bound(made_up(**{column: other[column].mean()}), 1.0, 16).left[0]
    assert numbers.mean() == pytest.approx(ratio, rel=1e-9)
    unmoved = bound(one, 1.0, 16).left[0]
    # half of the change is in each mean, and all of the spread between the two numbers
    assert (numbers[1] - numbers[0]) / 2 == pytest.approx(ratio - unmoved, rel=0.01)


def test_balance_by_hand():
    rows = lab.balance(made_up())
    assert rows["drift / d^2"][0] == pytest.approx(2 - 2 * 64 / 256 - 8 * 100 / 256)
    assert rows["γ²d"][0] == 16
    assert lab.balance(made_up(gamma=1e9))["γ²d"][0] == "∞"
    # two stretches whose drifts differ by 4/256: half of that is the error of their mean
    spread = lab.balance(made_up(**{"squared norm": [64.0, 66.0]}))
    assert spread["standard error"][0] == pytest.approx(2 / 256)


def power_law(power, noise=0.01):
    rows = [(1.0, d, d**power * (1 + e)) for d in (8, 16, 32, 64) for e in (-noise, 0, noise)]
    return pd.DataFrame(rows, columns=["gamma", "width", "r"])


def test_slopes():
    frame = power_law(0.7)
    numbers = lab.slopes(frame, 1.0, "r")
    assert numbers.mean() == pytest.approx(0.7, abs=1e-12)
    frame.loc[(frame["width"] == 64) & (frame.index % 3 == 2), "r"] *= 1.01
    assert lab.slopes(frame, 1.0, "r")[2] > numbers[2]
    np.testing.assert_allclose(lab.local_exponents(power_law(0.7), 1.0, "r"), 0.7)


def test_levels():
    """The error is that of the logarithm of the mean, to first order: 1/3 of 1.5 over log 2."""
    frame = pd.concat([made_up(width=4), made_up(width=8, gamma=0.5)])
    frame["r"] = [2.0, 2.0, 1.0, 2.0]
    numbers = lab.levels(frame, "r", [(0.5, 8), (1.0, 4)])
    np.testing.assert_allclose(numbers.mean(axis=0), [np.log2(1.5), 1])
    np.testing.assert_allclose(np.diff(numbers, axis=0)[0], [1 / 1.5 / np.log(2), 0])


def test_fits_find_the_law():
    rows = lab.fits(power_law(0.5), 1.0, ["r"]).set_index("law")["r"]
    assert rows["sqrt d"] == pytest.approx(0, abs=1e-9)
    assert rows.drop("sqrt d").min() > 1
    # two widths: logs are off by +-0.05 log 2, errors 0.01 / sqrt(3) of the mean
    two = power_law(0.5).query("width < 20")
    expected = 0.05 * np.log(2) / (0.01 / np.sqrt(3))
    assert lab.fits(two, 1.0, ["r"]).set_index("law")["r"]["d^0.4"] == pytest.approx(expected)


def test_fits_weigh_by_precision():
    """Two widths of errors 1 and 2 %: the factor is their mean with weights 4 and 1."""
    rows = [(1.0, d, d**0.5 * f) for d, s in ((4, 1), (16, 2)) for f in (1 - s / 100, 1 + s / 100)]
    frame = pd.DataFrame(rows, columns=["gamma", "width", "r"])
    off = lab.fits(frame, 1.0, ["r"]).set_index("law")["r"]["d^0.4"]
    gap = 0.1 * np.log(4)
    expected = np.sqrt(((gap / 5 / 0.01) ** 2 + (gap * 4 / 5 / 0.02) ** 2) / 2)
    assert off == pytest.approx(expected, rel=1e-9)


def test_chains_and_their_parts():
    frame = lab.chains([4, 6], [0.5, 1e9], Stream(0), layers=250, runs=1)
    assert len(lab.at(frame, 1e9, 6)) == 20
    assert lab.by_width(frame, 0.5, "r").shape == (20, 2)
    again = lab.chains([6], [0.5], Stream(0), layers=250, runs=1)
    np.testing.assert_array_equal(lab.at(frame, 0.5, 6)["r"], again["r"])


def test_whitening_keeps_all_directions_there_are():
    assert set(lab.whitened(5, 14, Stream(0)).left) == {5}  # 14 for 5 would lower M to 5/14
    assert set(lab.whitened(5, 3, Stream(0)).left) == {3}


def test_rounding_agrees_at_first():
    frame = lab.rounding(3, 10, Stream(1), every=5).pivot(index="layer", columns="numbers")
    np.testing.assert_allclose(frame["r"]["float64"], frame["r"]["100 digits"], rtol=1e-9)
    pair = frame["conditioning"]
    np.testing.assert_allclose(pair["float64"], pair["100 digits"], rtol=1e-3)
    assert lab._ratio([2.0, 1.0]) == pytest.approx(25 / 17)
