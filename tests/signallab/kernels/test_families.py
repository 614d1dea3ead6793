"""The families of maps lie in their cases, and a trial finds the place where a bound is worst."""

import numpy as np
import pytest

import signalprop as sp
from signallab.kernels import families
from signalprop.limits import quadrature


@pytest.mark.parametrize("case", [1, 2, 3, 4])
def test_members_are_in_their_case(case):
    for name, kernel in families.maps(case, 40, 12, seed=3).items():
        at_zero, slope = np.asarray(kernel(0.0)), np.asarray(kernel.derivative(1.0))
        np.testing.assert_allclose(kernel(1.0), 1, atol=1e-12, err_msg=name)
        assert np.all(kernel.nonlinearity > 1e-6), name
        assert np.all(at_zero < 1e-15 if case == 1 else at_zero > 1e-6), name
        between = {1: slope > 1, 2: slope < 1, 3: abs(slope - 1) < 1e-11, 4: slope > 1}
        assert np.all(between[case]), name


def test_critical_by_quadrature():
    """E phi'^2 = E phi^2, each an integral that knows nothing of kernel maps."""
    gelu = sp.activations.gelu
    phi = families.shifted(gelu.standardized(), families.critical_mean(gelu))
    moments = [
        quadrature.gaussian_expectation(lambda x, f=f: f(x) ** 2) for f in (phi, phi.derivative)
    ]
    assert moments[0] == pytest.approx(1, abs=1e-12)
    assert moments[1] == pytest.approx(1, abs=1e-12)


def test_a_trial_finds_the_worst_place():
    """Of rho^2 and rho^3 from two starts: distances by hand, against a bound that is 1 but once."""
    kernel = sp.KernelMap.from_series([[0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    trial = families.Trial("powers", kernel, np.array([0.5, -0.8]), depth=2)
    by_hand = [[[0.5**2, 0.5**4], [0.5**3, 0.5**9]], [[0.64, 0.64**2], [0.512, 0.512**3]]]
    np.testing.assert_allclose(trial.distances, by_hand, rtol=1e-14)
    bound = np.ones((2, 2, 2))
    bound[1, 1, 1] = 0.01
    case = trial.against(lambda start, layer, k: bound)
    assert case.left == pytest.approx(0.512**3)
    assert case.right == 0.01
    assert case.words == "powers (number 2) from ρ₀ = −0.8 in layer 2"
    assert all(case.hypotheses.values())


def test_rounding_is_taken_off_inside_only():
    inside = sp.KernelMap.from_series([1 / 3, 0, 2 / 3])
    tiny = lambda start, layer, k: 1e-300 + 0 * start * layer  # noqa: E731
    assert families.Trial("", inside, np.array([0.5]), 3).against(tiny).left == 0
    at_zero = sp.KernelMap.from_series([0, 0, 1.0])
    assert families.Trial("", at_zero, np.array([1e-9]), 1).against(tiny).left > 0


@pytest.mark.parametrize("case", [1, 2, 3, 4])
def test_hypotheses_tell_the_cases_apart(case):
    for other in (1, 2, 3, 4):
        trials = families.trials(other, 10, 5, 1, seed=2).values()
        right = [
            all(families.Trial(t.name, t.kernel, t.starts, 1, case).hypotheses.values())
            for t in trials
        ]
        assert all(right) if other == case else not any(right)
