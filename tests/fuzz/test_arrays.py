"""Whatever array a public function is given: a documented error, or a finite answer in its shape.

Arrays of any shape, kind and scale, degenerate ones among them.
"""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

import signalprop as sp
from signalprop import activations as A
from signalprop import layers, limits, stats
from signalprop import metrics as M

from .budget import fuzz

KINDS = [np.float64, np.float32, np.float16, np.int64, np.bool_, torch.float64, torch.bfloat16]

# What becomes of the last dimensions: (..., n, d) -> (..., *shape(n, d)).
METRICS = {
    "angles": (M.angles, lambda n, d: (n, n)),
    "condition_number": (M.condition_number, lambda n, d: ()),
    "cosine_similarity": (M.cosine_similarity, lambda n, d: (n, n)),
    "gradient_alignment": (M.gradient_alignment, lambda n, d: ()),
    "gram": (M.gram, lambda n, d: (n, n)),
    "gram_condition_number": (M.gram_condition_number, lambda n, d: ()),
    "gram_isometry_gap": (M.gram_isometry_gap, lambda n, d: ()),
    "isometry": (M.isometry, lambda n, d: ()),
    "isometry_gap": (M.isometry_gap, lambda n, d: ()),
    "lyapunov_gap": (M.lyapunov_gap, lambda n, d: ()),
    "mean_absolute_cosine": (M.mean_absolute_cosine, lambda n, d: ()),
    "orthogonality_gap": (M.orthogonality_gap, lambda n, d: ()),
    "rank": (M.rank, lambda n, d: ()),
    "rank_ratio": (M.rank_ratio, lambda n, d: ()),
    "rank with a tolerance": (lambda x: M.rank(x, rtol=1e-9), lambda n, d: ()),
    "regularity_terms": (M.regularity_terms, lambda n, d: ()),
    "second_moment": (M.second_moment, lambda n, d: (d, d)),
    "second_moment_eigenvalues": (M.second_moment_eigenvalues, lambda n, d: (min(n, d),)),
    "soft_rank": (M.soft_rank, lambda n, d: ()),
}
LAYERS = {
    "batch_norm": layers.batch_norm,
    "batch_norm with eps": lambda x: layers.batch_norm(x, eps=1e-5),
    "batch_norm, std": lambda x: layers.batch_norm(x, center=False, divide="std"),
    "frobenius_normalize": layers.frobenius_normalize,
    "layer_norm": layers.layer_norm,
    "layer_norm with eps": lambda x: layers.layer_norm(x, eps=1e-5),
    "recenter": layers.recenter,
    "rescale": layers.rescale,
    "rms_norm": layers.rms_norm,
    "rms_norm with eps": lambda x: layers.rms_norm(x, eps=1e-5),
}
ACTIVATIONS = {n: getattr(A, n) for n in A.__all__ if isinstance(getattr(A, n), A.Activation)}
MAPS = {
    "relu": limits.KernelMap(A.relu.normalized()),
    "tanh": limits.KernelMap(A.tanh.normalized()),
}
CORRELATIONS = {
    **{f"{name} map": (k, 0) for name, k in MAPS.items()},
    **{f"{name} slope": (k.derivative, 0) for name, k in MAPS.items()},
    **{f"{name} complement": (k.complement, 0) for name, k in MAPS.items()},
    **{f"{name} iterate": (lambda r, k=k: k.iterate(r, 3), 4) for name, k in MAPS.items()},
}
LENGTHS = {
    "length": limits.LengthMap(A.tanh),
    "length of relu": limits.LengthMap(A.relu, weight_variance=2.0),
    "slope of length": limits.LengthMap(A.tanh).derivative,
}
MATRICES = {
    "nngp": lambda g: limits.nngp(g, A.relu.normalized(), 2),
    "ntk": lambda g: limits.ntk(g, A.relu.normalized(), 2),
}
CURVES = {
    "mean_interval": stats.mean_interval,
    "slope": lambda y: stats.slope(range(np.shape(y)[-1] if np.ndim(y) else 1), y),
    "exponential_rate": stats.exponential_rate,
    "power_rate": lambda y: stats.power_rate(y, range(1, 1 + np.shape(y)[-1] if np.ndim(y) else 2)),
    "batch_means": lambda y: stats.batch_means(y, batches=2),
}
INFINITE = {"condition_number", "gram_condition_number", "isometry_gap", "gram_isometry_gap"}


@st.composite
def arrays(draw):
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    look = draw(st.sampled_from(["plain", "zero", "ones", "rows", "positive", "psd", "bad"]))
    scale = 10.0 ** draw(st.sampled_from([0, 0, 0, -1, 1, -8, 8, -30, 30, -200, 200, -307, 307]))
    x = generator.standard_normal(shape)
    if look in ("zero", "ones"):
        x = np.full(shape, float(look == "ones"))
    elif look == "rows" and len(shape) > 1:
        x = np.broadcast_to(x[..., :1, :], shape).copy()
    elif look == "positive":
        x = np.abs(x)
    elif look == "psd" and len(shape) > 1:
        x = x @ x.swapaxes(-1, -2)
    with np.errstate(over="ignore"):
        x = np.nan_to_num(x * scale)  # the largest number for what is beyond
    if look == "bad" and x.size:
        x = np.array(x)
        x.flat[draw(st.integers(0, x.size - 1))] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    kind = draw(st.sampled_from(KINDS))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(kind, torch.dtype):
            return torch.from_numpy(np.array(x)).to(kind)
        return np.array(x).astype(kind)


def plain(x):
    return np.array(x.double().numpy() if isinstance(x, torch.Tensor) else x, dtype=np.float64)


def parts_of(result):
    if isinstance(result, stats.Estimate):
        return [result.value, result.low, result.high]
    return list(result) if isinstance(result, tuple) else [result]


def answer(function, x):
    """Return the parts of a checked answer as arrays; none if the input was refused in words."""
    before = x.clone() if isinstance(x, torch.Tensor) else x.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            result = function(x)
        except ValueError:
            result = None
    unchanged = torch.equal(
        *(
            torch.as_tensor(
                np.asarray(a.double() if isinstance(a, torch.Tensor) else a)
            ).nan_to_num()
            for a in (x, before)
        )
    )
    assert unchanged, "the argument was changed"
    if result is None:
        return []
    parts = parts_of(result)
    if not isinstance(result, stats.Estimate):
        assert all(isinstance(p, torch.Tensor) == isinstance(x, torch.Tensor) for p in parts)
    return [np.asarray(p.double() if isinstance(p, torch.Tensor) else p) for p in parts]


@pytest.mark.parametrize("name", METRICS)
@fuzz(x=arrays())
def test_metrics(name, x):
    function, shape = METRICS[name]
    for part in answer(function, x):
        assert not np.isnan(part).any()
        assert name in INFINITE or np.isfinite(part).all()
        assert part.shape == (*x.shape[:-2], *shape(*x.shape[-2:]))


@pytest.mark.parametrize("name", LAYERS)
@fuzz(x=arrays())
def test_layers(name, x):
    for part in answer(LAYERS[name], x):
        assert np.isfinite(part).all()
        assert part.shape == tuple(x.shape)


@pytest.mark.parametrize("name", CORRELATIONS)
@fuzz(x=arrays())
def test_kernel_maps(name, x):
    function, more = CORRELATIONS[name]
    for part in answer(function, x):
        assert np.isfinite(part).all()
        assert part.shape == (*x.shape, *([more] if more else []))


@pytest.mark.parametrize("name", LENGTHS)
@fuzz(x=arrays())
def test_length_maps(name, x):
    for part in answer(LENGTHS[name], x):
        assert np.isfinite(part).all()
        assert part.shape == tuple(x.shape)


@pytest.mark.parametrize("name", MATRICES)
@fuzz(x=arrays())
def test_kernels_of_networks(name, x):
    for part in answer(MATRICES[name], x):
        assert np.isfinite(part).all()
        assert part.shape == tuple(x.shape)


@pytest.mark.parametrize("name", CURVES)
@fuzz(x=arrays())
def test_statistics(name, x):
    parts = answer(CURVES[name], x)
    assert all(np.isfinite(part).all() for part in parts)
    if parts:
        _, low, high = parts
        assert (low <= high).all()


@fuzz(x=arrays(), depth=st.integers(0, 3), runs=st.integers(1, 2))
def test_chains(x, depth, runs):
    chain = sp.Chain(4, layers=[sp.BatchNorm(eps=1e-5)])
    for part in answer(lambda start: chain.run(start, depth, runs).final(), torch.as_tensor(x)):
        assert np.isfinite(part).all()
        assert part.shape[0] == runs


@pytest.mark.parametrize("name", ACTIVATIONS)
@fuzz(x=arrays())
def test_activations(name, x):
    if isinstance(x, torch.Tensor) and not bool(torch.isfinite(x).all()):
        return  # networks diverge: what they give on tensors goes through unchecked, as said
    for function in (ACTIVATIONS[name], ACTIVATIONS[name].derivative):
        for part in answer(function, x):
            assert not np.isnan(part).any()
            assert part.shape == tuple(x.shape)


@fuzz(x=arrays())
def test_sign_classes(x):
    for part in answer(lambda x: M.sign_class_volumes(x, samples=200), x):
        assert part.ndim == 1
        assert (part > 0).all()
        assert abs(part.sum() - 1) < 1e-3
    for part in answer(lambda x: M.gamma(x, samples=200), x):
        assert 0 < part <= 1


@fuzz(x=arrays(), order=st.integers(-1, 6))
def test_hermite_polynomials(x, order):
    for part in answer(lambda x: limits.hermite_polynomials(x, order), x):
        assert part.shape == (*x.shape, order + 1)
        assert np.isfinite(part).all()


@fuzz(x=arrays())
def test_jacobians(x):
    for part in answer(lambda x: sp.jacobian(torch.tanh, x).singular_values(), plain(x)):
        assert np.isfinite(part).all()
        assert (part >= 0).all()


@fuzz(x=arrays())
def test_probes(x):
    model = torch.nn.Sequential(torch.nn.Tanh(), sp.LayerNorm(eps=1e-5)).double()
    with sp.probe(model, [sp.rank, sp.isometry_gap], strict=False) as seen:
        try:
            model(torch.from_numpy(plain(x)))
        except ValueError as refusal:
            assert "layer norm needs" in str(refusal)  # noqa: PT017
    for row in seen.rows:
        assert row["samples"] * row["features"] == np.prod(x.shape)
        assert not np.isnan(row["rank"]) or "remark" in row
