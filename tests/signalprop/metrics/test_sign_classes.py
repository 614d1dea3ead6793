import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalprop.metrics import gamma, sign_class_volumes


def generic(n, k, seed):
    return np.random.default_rng(seed).standard_normal((n, k))


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_plane_is_cut_into_2n_arcs_in_opposite_pairs(n, seed):
    volumes = sign_class_volumes(generic(n, 2, seed))
    assert len(volumes) == 2 * n
    assert volumes.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(volumes[::2], volumes[1::2], rtol=1e-9)


@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.floats(0, 6), st.floats(1e-3, 1e3))
def test_gamma_knows_neither_scale_nor_rotation_nor_sign(n, seed, turn, scale):
    x = generic(n, 2, seed)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    assert gamma(-scale * x @ rotation) == pytest.approx(gamma(x), abs=1e-12)


@pytest.mark.parametrize("n", range(1, 22))
def test_equally_spaced_points(n):
    turn = 2 * np.pi * np.arange(1, n + 1) / n
    volumes = sign_class_volumes(np.stack([np.cos(turn), np.sin(turn)], axis=1))
    lines = n if n % 2 else n // 2  # opposite points share a line
    np.testing.assert_allclose(volumes, np.full(2 * lines, 1 / (2 * lines)), atol=1e-12)


def test_frequencies_know_no_scale():
    """A power of two changes no digit, and none is lost where products would be denormal."""
    x = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [-1.0, 2.0, 0.5]])
    known = sign_class_volumes(x, samples=4000, seed=1)
    for scale in (2.0**-1070, 2.0**1020):
        np.testing.assert_array_equal(sign_class_volumes(scale * x, samples=4000, seed=1), known)


def test_sampling_agrees_with_the_exact_volumes():
    x = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 2.0]])
    exact = sign_class_volumes(x)
    flat = np.pad(x, ((0, 0), (0, 1)))  # the same lines, seen from three dimensions: sampled
    assert np.array_equal(sign_class_volumes(flat), sign_class_volumes(flat, samples=100_000))
    sampled = sign_class_volumes(flat, samples=200_000)
    error = np.sqrt(exact * (1 - exact) / 200_000)
    assert (np.abs(sampled - exact) < 6 * error).all()


def test_number_of_classes_in_general_position():
    assert len(sign_class_volumes(generic(4, 3, 0))) == 2 * (1 + 3 + 3)


def test_small_cases():
    assert sign_class_volumes([[2.0], [-3.0]]).tolist() == [0.5, 0.5]
    assert gamma(np.eye(3), samples=99) == gamma(np.eye(3), samples=99, seed=0)
    assert gamma(np.eye(3)) == gamma(np.eye(3), samples=100_000)
    assert gamma([[0.0, 0.0]]) == 1.0
    assert sign_class_volumes(np.zeros((2, 3))).tolist() == [1.0], "no line: one class"
    assert sign_class_volumes(np.eye(3), samples=1).tolist() == [1.0]
    assert gamma([[1.0, 1.0], [0.0, 0.0], [-2.0, -2.0]]) == 0.5, "a zero sample is no line"
    with pytest.raises(ValueError, match="samples"):
        gamma(np.eye(3), samples=0)
    with pytest.raises(ValueError, match=r"\(n, k\)"):
        gamma(np.ones((2, 2, 2)))


@pytest.mark.parametrize("angle", [0.1, 1.0, 1.5])
def test_gamma_of_two_points_is_the_angle_between_them_in_turns(angle):
    """Two lines at an acute angle: the classes between them are the smaller ones."""
    x = [[1.0, 0.0], [np.cos(angle), np.sin(angle)]]
    assert gamma(x) == pytest.approx(angle / (2 * np.pi), abs=1e-12)
    volumes = np.array([angle, angle, np.pi - angle, np.pi - angle]) / (2 * np.pi)
    np.testing.assert_allclose(sign_class_volumes(x), volumes, atol=1e-12)


@pytest.mark.parametrize("angle", [1e-5, 1e-9, 1e-13])
def test_thin_classes_are_not_taken_for_rounding(angle):
    assert gamma(np.array([[1.0, 0.0], [1.0, angle]])) == pytest.approx(
        angle / (2 * np.pi), rel=0.01
    )
