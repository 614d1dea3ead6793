"""What neural-tangents finds, and how fast: run in an environment of its own, prints JSON.

It needs versions of numpy and scipy that the book does not have, so `tangents.py` makes the
environment and calls this file there. The inputs are a formula, so that both sides have the same
to the last bit but one: row ``(s, i)`` of ``ROWS`` is ``s cos(i j)`` for j = 1, ..., FEATURES. Two
pairs of rows are parallel, one of them in opposite directions: there closed forms round most.
"""

from __future__ import annotations

import json
import sys
import time
import types
import warnings
from importlib.metadata import version

# Its experimental part needs packages that nothing here uses.
sys.modules["neural_tangents.experimental"] = types.ModuleType("experimental")

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from neural_tangents import stax  # noqa: E402

ROWS = [(1.0, 1), (0.5, 2), (1.0, 3), (1.5, 4), (2.0, 1), (-1.0, 2)]
FEATURES = 8
NETWORKS = [(1, 2.0, 0.0), (3, 1.5, 0.1)]  # hidden layers, variance of weights, of biases
QUADRATURE = 50  # points of their numerical kernels in each direction
CLOSED = {
    "ReLU": stax.Relu(),
    "leaky ReLU, 0.1": stax.LeakyRelu(0.1),
    "absolute value": stax.Abs(),
    "squared ReLU": stax.RectifiedMonomial(2),
    "sign": stax.Sign(),
    "erf": stax.Erf(),
    "sigmoid-like erf": stax.Sigmoid_like(),
    "GELU": stax.Gelu(),
    "sine": stax.Sin(),
    "cosine": stax.Cos(),
    "exponential": stax.Exp(0.5, 0.5),
    "Gaussian bump": stax.Gaussian(),
    "square": stax.Monomial(2),
    "cube": stax.Monomial(3),
    "polynomial": stax.Polynomial([0.1, 0.5, 0.2]),
}
NUMERICAL = {"tanh": jnp.tanh, "SiLU": jax.nn.silu, "SELU": jax.nn.selu}
TIMED = {"ReLU": 1000, "erf": 1000, "GELU": 1000, "tanh": 100}


def activation(name: str) -> tuple:
    """Return the layer, by a closed form where there is one."""
    if name in CLOSED:
        return CLOSED[name]
    return stax.ElementwiseNumerical(NUMERICAL[name], deg=QUADRATURE)


def kernels(name: str, depth: int, weight_variance: float, bias_variance: float) -> object:
    """Return the kernel function of a network with ``depth`` hidden layers."""
    dense = stax.Dense(1, W_std=weight_variance**0.5, b_std=bias_variance**0.5)
    return stax.serial(*[dense, activation(name)] * depth, dense)[2]


def rows() -> np.ndarray:
    """Return the inputs, one a row."""
    places = np.arange(1, FEATURES + 1)
    return np.array([scale * np.cos(i * places) for scale, i in ROWS])


def upper(kernel: np.ndarray) -> list[float | None]:
    """Return the upper triangle row by row; what is no number as null."""
    entries = np.asarray(kernel)[np.triu_indices(len(ROWS))].tolist()
    return [entry if np.isfinite(entry) else None for entry in entries]


def values() -> list[dict[str, object]]:
    """Return both kernels of all networks."""
    found = []
    for name in (*CLOSED, *NUMERICAL):
        for network in NETWORKS:
            kernel = kernels(name, *network)(rows(), None, ("nngp", "ntk"))
            case = {"activation": name, "network": network, "closed": name in CLOSED}
            found.append(case | {"nngp": upper(kernel.nngp), "ntk": upper(kernel.ntk)})
    return found


def seconds(name: str, n: int, features: int = 100, turns: int = 5) -> float:
    """Return the least time of the tangent kernel of n inputs, compiled before."""
    x = np.random.default_rng(0).standard_normal((n, features))
    kernel = jax.jit(lambda x: kernels(name, *NETWORKS[-1])(x, None, "ntk"))
    kernel(x).block_until_ready()
    times = []
    for _ in range(turns):
        begin = time.perf_counter()
        kernel(x).block_until_ready()
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    warnings.simplefilter("ignore")
    packages = ("neural-tangents", "jax", "jaxlib", "numpy", "scipy")
    told = {
        "versions": {name: version(name) for name in packages},
        "inputs": {
            "recipe": "row (s, i) is s cos(i j), j = 1, ..., features",
            "rows": ROWS,
            "features": FEATURES,
        },
        "quadrature": QUADRATURE,
        "values": values(),
        "seconds": {name: (n, seconds(name, n)) for name, n in TIMED.items()},
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
