import numpy as np
import pytest

from signalprop import theory


def test_invariant_representation_keeps_its_squared_norms():
    # Theorem 13 for squares, in closed form: half of alpha times the centred squared norms.
    for n in range(2, 30):
        alpha, radius = theory.dec_theorem_13_alpha(n), theory.dec_invariant_radius(n)
        assert alpha * (radius * (n - 1) / n) ** 2 == pytest.approx(1)
        assert alpha * (radius / n) ** 2 == pytest.approx(1 / (n - 1) ** 2)
        assert theory.dec_theorem_14_alpha(n, radius) == pytest.approx(alpha)
        assert radius < n / (n - 1)  # what Theorem 14 asks to be exceeded


@pytest.mark.parametrize("n", [2, 5])
def test_layers_at_the_gain_of_theorem_13_keep_the_norms_of_an_invariant_batch(n):
    """One point at unit length, the others together beside it: DEC Definition 12, simulated."""
    alone, together = np.array([1.0, 0.0]), np.array([0.0, 1 / (n - 1)])
    x = np.stack([alone] + [together] * (n - 1))
    radius = np.linalg.norm(alone - together)
    assert theory.dec_invariant_radius(n) == pytest.approx(radius, rel=1e-12)
    d = 400_000
    weights = np.random.default_rng(n).standard_normal((2, d))
    for alpha in (theory.dec_theorem_13_alpha(n), theory.dec_theorem_14_alpha(n, radius)):
        y = np.maximum((x - x.mean(axis=0)) @ weights * np.sqrt(2 * alpha / d), 0)
        squares = (y**2).sum(axis=1)  # relative standard error sqrt(5 / d) each
        np.testing.assert_allclose(squares, (x**2).sum(axis=1), rtol=6 * np.sqrt(5 / d))
        assert abs(y[0] @ y[1]) < 1e-12
