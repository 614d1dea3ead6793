"""One neuron a point, and the points for which there is one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from signalprop import Stream
from signalprop.initializers import (
    isolable,
    one_neuron_per_point,
)


@given(seed=st.integers(0, 999), n=st.integers(2, 12), d=st.integers(2, 40))
@settings(max_examples=30, deadline=None)
def test_one_neuron_fires_for_each_point_of_a_sphere(seed, n, d):
    x = Stream(seed).numpy().standard_normal((n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for unit in (True, False):
        weight, bias = one_neuron_per_point(x, unit_response=unit)
        response = np.maximum(x @ weight.T + bias, 0)
        assert np.all((response > 0) == np.eye(n, dtype=bool))
    weight, bias = one_neuron_per_point(x)
    np.testing.assert_allclose(np.diag(x @ weight.T + bias), 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([[1.0, 0.0], [2.0, 0.0]], "1 samples whose own product"),
        ([[1.0, 0.0], [1.0, 0.0]], "2 samples whose own product"),
        ([[1.0, 0.0]], "n >= 2"),
        ([1.0, 0.0], "n >= 2"),
    ],
)
def test_one_neuron_refuses_what_it_cannot_isolate(x, message):
    with pytest.raises(ValueError, match=message):
        one_neuron_per_point(x)


def test_isolable_are_the_corners_of_the_hull():
    x = Stream(0).numpy().standard_normal((60, 2))
    corners = np.zeros(60, bool)
    corners[ConvexHull(x).vertices] = True
    np.testing.assert_array_equal(isolable(x), corners)
    np.testing.assert_array_equal(isolable(1e-9 * x), corners)


def test_isolable_in_high_dimension_and_with_doubles():
    x = Stream(0).numpy().standard_normal((10, 12))
    x[3] = x[7]
    np.testing.assert_array_equal(isolable(x), [i not in (3, 7) for i in range(10)])
    np.testing.assert_array_equal(isolable(np.ones((3, 2))), [False] * 3)
    with pytest.raises(ValueError, match="n >= 2"):
        isolable(np.ones((1, 2)))
