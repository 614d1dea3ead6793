"""Paths of cosines under kernel maps, and how far they reach beyond a bound."""

import numpy as np

from signalprop.random import Stream

DEPTHS = np.arange(41)
RHO0 = np.concatenate([[-1 + 1e-8, -0.9999], np.linspace(-0.98, 0.98, 21), [0.9999, 1 - 1e-8]])


def paths(k):
    """Return ``rho_l`` and ``1 - rho_l``, each in the variable that has its digits."""
    gaps = k.iterate_complement(1 - RHO0, DEPTHS[-1])
    return np.where(gaps < 0.5, 1 - gaps, k.iterate(RHO0, DEPTHS[-1])), gaps


def worst(measured, bound):
    """Return the largest ratio among values that rounding did not make."""
    measured, bound = np.broadcast_arrays(measured, bound)
    large = measured > 1e-13
    return (measured[large] / bound[large]).max()


def random_weights(count, zero=None):
    rng = Stream(7).numpy()
    for _ in range(count):
        w = rng.dirichlet(np.full(rng.integers(3, 40), rng.choice([0.1, 0.3, 1.0])))
        if zero is not None:
            w[0] = zero
        yield w / w.sum()
