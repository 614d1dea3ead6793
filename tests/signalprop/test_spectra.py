import numpy as np
import pytest

from signalprop import spectra


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_they_are_spectra_of_unit_sum_and_reach_both_ends(n):
    s = spectra.varied(n, 60, 3)
    assert s.shape == (60, n)
    np.testing.assert_allclose(s.sum(axis=1), 1)
    assert np.all(np.diff(s, axis=1) <= 0)
    assert np.all(s >= 0)
    np.testing.assert_allclose(s[0], 1 / n)
    if n > 1:
        assert s[2, -1] == 0
        assert s[:, 0].max() > 1 - 1e-6


def test_the_draws_depend_on_the_seed_alone():
    np.testing.assert_array_equal(spectra.varied(3, 9, 1), spectra.varied(3, 9, 1))
    assert np.any(spectra.varied(3, 9, 1) != spectra.varied(3, 9, 2))


@pytest.mark.parametrize(("n", "count"), [(0, 10), (3, 3)])
def test_bad_sizes_are_named(n, count):
    with pytest.raises(ValueError, match=f"got {n} and {count}"):
        spectra.varied(n, count)
