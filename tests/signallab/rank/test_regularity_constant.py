"""Spectra and matrices of the regularity constant, by hand and by eigenvalues."""

import numpy as np
import pytest

from signallab.rank import regularity_constant as lab
from signalprop.random import Stream


def ratio(m):
    return ((m @ m).diagonal() ** 2).sum() / np.trace(m @ m @ m)


def test_normalized():
    h = lab.normalized(4, 9, 2.0, Stream(0), 5)
    np.testing.assert_allclose(np.linalg.norm(h, axis=2), 3)


def test_definition_by_hand():
    """Cosine c of two units: M^2 has 1 + c^2 on its diagonal, the eigenvalues are 1 +- c."""
    c = 0.6
    h = np.sqrt(2) * np.array([[1, 0], [c, np.sqrt(1 - c**2)]])
    expected = [2 * (1 + c**2) ** 2, (1 + c) ** 3 + (1 - c) ** 3]
    np.testing.assert_allclose(lab.by_definition(h), expected)
    assert lab.by_definition(h, diagonal_first=True)[0] == pytest.approx(2)
    case = lab.terms(4, 3, Stream(1))
    np.testing.assert_allclose(case.left, case.right, rtol=1e-12)


def test_at_most_cube():
    case = lab.at_most_cube(3, 5, 1.0, Stream(2), 7, factor=2)
    h = lab.normalized(3, 5, 1.0, Stream(2), 7)
    for left, right, each in zip(case.left, case.right, h, strict=True):
        np.testing.assert_allclose([left / 2, right], lab.by_definition(each))


def test_flat_in_blocks():
    found = {name: ratio(m) for name, m in lab.flat_in_blocks().items()}
    *flat, equal_rows, unequal = found.values()
    np.testing.assert_allclose(flat, 1)
    # eigenvalues 5/2, 1/2, 1/2, 1/2: (7)^2 / (4 * 16)
    assert equal_rows == pytest.approx(49 / 64)
    assert unequal < 1
    for m in lab.flat_in_blocks().values():
        np.testing.assert_allclose(m.diagonal(), 1)
        assert np.linalg.eigvalsh(m).min() > -1e-12


def test_sign_circulants():
    points = {p["words"]: p["g"] for p in lab.sign_circulants(4)}
    assert len(points) == 2 + 4 + 8
    np.testing.assert_array_equal(points["+++-"], 4 * np.eye(4))
    np.testing.assert_array_equal(points["+-"], [[2, -2], [-2, 2]])


def test_flat_is_decided_as_by_eigenvalues():
    kinds = []
    for point in lab.sign_circulants(7):
        values = np.linalg.eigvalsh(point["g"] / len(point["g"]))
        positive = values[values > 1e-9]
        assert lab.flat(point["g"]) == (np.ptp(positive) < 1e-9)
        case = lab.example_16(**point)
        assert case.left == (ratio(point["g"] / len(point["g"])) > 1 - 1e-12)
        kinds.append((case.left, len(positive)))
    assert (True, 2) in kinds  # flat of rank two, among others


@pytest.mark.parametrize("family", lab.FAMILIES)
def test_families(family):
    d, beta = 2.0**20, 0.6
    values, counts = lab.FAMILIES[family](d, beta)
    assert np.dot(values, counts) == pytest.approx(d)
    assert values[0] == pytest.approx(d**beta)
    assert counts[0] == 1
    assert sum(counts) <= d
    small = {"equal": 1 / d**0.6, "1/10": d**-0.1, "log": 1 / np.log(d)}
    (expected,) = [v for key, v in small.items() if key in family]
    assert values[1] / values[0] == pytest.approx(expected, rel=0.01)


def test_example_17_by_hand():
    """Two to the fourth: 4 and fifteen times 4/5; sums of squares 25.6, of cubes 71.68."""
    case = lab.example_17("the others equal", 0.5, 4)
    assert case.left == pytest.approx(25.6**2 / (16 * 71.68))
    assert case.right == 0.9
    frame = lab.families_against_width([0.5], [4])
    assert frame["regularity constant"][0] == pytest.approx(case.left)


def test_one_sample_has_the_constant_one():
    assert lab.one_sample(3, 1.0).left == 1.0
    assert lab.one_sample(3, 1.0, square_outside=True).left == 3.0
    with pytest.raises(ValueError, match="one stationary law"):
        lab.one_sample(2, 0.1)
