"""Weights made of a batch, trees, spectra, Gram matrices and networks: refused in words, or right.

What a test lists here is asked with arrays or sizes from anywhere.
"""

import math

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from signalprop import activations, clusters, initializers, limits, metrics, models, stats

from .budget import fuzz
from .test_arrays import arrays
from .test_options import attempt, numbers, sizes

KERNEL = limits.KernelMap(activations.relu.normalized())

# What becomes of a shape.
OF_ARRAYS = {
    "bivariate_expectation": (
        lambda x: limits.bivariate_expectation(x, torch.relu, kinks=[0.0]),
        lambda *shape: [shape],
    ),
    "expected_spectrum": (limits.expected_spectrum, lambda *shape: [shape]),
    "exponent": (
        lambda x: stats.exponent(np.arange(1, 1 + np.shape(x)[-1]) if np.ndim(x) else 1, x).value,
        lambda *shape: [()],
    ),
    "gram_angles": (clusters.gram_angles, lambda *shape: [shape]),
    "gram_map": (lambda x: limits.gram_map(x, torch.relu, 50), lambda *shape: [shape] * 2),
    "gram_norms": (clusters.gram_norms, lambda n, _: [(n,)]),
    "gram_path": (lambda x: limits.gram_path(x, torch.relu, 2, 50), lambda *shape: [(3, *shape)]),
    "hermite_series": (
        lambda x: limits.hermite_series(x, [0.5, 2.0, -1.0]),
        lambda *shape: [shape],
    ),
    "infinite_width_path": (
        lambda x: limits.infinite_width_path(x, 2),
        lambda *shape: [(3, *shape)],
    ),
    "isolable": (initializers.isolable, lambda n, d: [(n,)]),
    "literal_tree": (
        lambda x: clusters.literal_tree(x, 2),
        lambda *shape: [(*shape[:-1], 4 * shape[-1])],
    ),
    "one_neuron_per_point": (
        initializers.one_neuron_per_point,
        lambda *shape: [shape, shape[:-1]],
    ),
    "orthogonalizing_weight": (
        initializers.orthogonalizing_weight,
        lambda *shape: [(*shape[:-2], shape[-1], shape[-1])],
    ),
    "per_sample_gradients": (lambda x: metrics.per_sample_gradients(x, x), None),
    "recentred_gram_map": (
        lambda x: limits.recentred_gram_map(x, KERNEL),
        lambda *shape: [shape],
    ),
    "transform": (lambda x: clusters.transform(x, -1.0), lambda *shape: [shape]),
}


@pytest.mark.parametrize("name", OF_ARRAYS)
@fuzz(x=arrays())
def test_constructions(name, x):
    function, shapes = OF_ARRAYS[name]
    found = attempt(function, x)
    if found is None:
        return
    parts = found if isinstance(found, tuple) else [found]
    for part in parts:
        assert bool(torch.isfinite(torch.as_tensor(part)).all())
    if shapes is not None:
        assert [tuple(np.shape(part)) for part in parts] == shapes(*x.shape)


@fuzz(size=st.integers(1, 4), places=st.lists(st.integers(-3, 3), min_size=16, max_size=16))
def test_grams_of_integers(size, places):
    """Of any size: what 64 bits would overflow at is right as well."""
    points = np.array(places, dtype=object).reshape(4, 4)[:size]
    gram = points @ points.T
    near, far = ((attempt(clusters.gram_angles, g)) for g in (gram, gram * 10**200))
    np.testing.assert_array_equal(near, far)
    np.testing.assert_array_equal(clusters.gram_angles(gram.astype(np.int64) * 10**10), near)
    if gram.diagonal().any():
        norms = clusters.gram_norms(gram)
        assert norms.max() == 1
        np.testing.assert_array_equal(clusters.gram_norms(gram * 10**200), norms)


@fuzz(values=st.lists(st.one_of(sizes, numbers), max_size=4), depth=st.integers(-1, 4))
def test_trees(values, depth):
    tree = attempt(lambda: clusters.ClusterTree.start(values).after(depth))
    if tree is None:
        return
    gram = tree.gram()
    assert gram.shape == (len(values), len(values))
    assert (gram == gram.T).all()
    literal = attempt(clusters.literal_tree, np.array(values)[:, None], depth)
    if literal is not None and 1e-100 < np.abs(values).max() < 1e100:
        exact = np.array([[float(entry * tree.scale) for entry in row] for row in gram])
        np.testing.assert_allclose(literal @ literal.T, exact, atol=1e-9 * exact.max())


@fuzz(n=sizes, d=sizes, outputs=sizes, power=numbers, factor=st.sampled_from(["polar", "slice"]))
def test_weights_of_a_batch(n, d, outputs, power, factor):
    h = torch.linspace(-1, 2, max(n, 0) * max(d, 0)).reshape(max(n, 0), max(d, 0)).sin()
    weight = attempt(
        lambda: initializers.orthogonalizing_weight(h, outputs, power=power, factor=factor)
    )
    if weight is not None:
        assert weight.shape == (outputs, d)
        assert bool(torch.isfinite(weight).all())


@fuzz(depth=sizes, exponent=numbers)
def test_gains(depth, exponent):
    gains = attempt(initializers.gain_schedule, depth, exponent)
    if gains is not None:
        assert gains.shape == (depth,)
        assert bool(torch.isfinite(gains).all())


NETWORKS = {
    "conv_net": lambda given, more, size, outputs, hidden, stride: models.conv_net(
        given, size=size, outputs=outputs, hidden=hidden, first_stride=stride
    ),
    "vgg": lambda given, more, size, outputs, hidden, stride: models.vgg(
        given, more, size=size, outputs=outputs, hidden=hidden
    ),
    "orth_table_3": lambda given, more, size, outputs, hidden, stride: models.orth_table_3(
        5 + stride, widths=(given * 3)[:3] or (1, 1, 1), hidden=hidden, size=size
    ),
    "ResNet": lambda given, more, size, outputs, hidden, stride: models.ResNet(
        given, more, outputs=outputs
    ),
    "CifarResNet": lambda given, more, size, outputs, hidden, stride: models.CifarResNet(
        8 + 6 * (stride - 1), width=(*given, 1)[0], outputs=outputs
    ),
}


@fuzz(
    name=st.sampled_from(sorted(NETWORKS)),
    given=st.lists(sizes, max_size=3),
    more=st.lists(st.integers(-1, 2), max_size=3),
    size=st.integers(-1, 9),
    outputs=sizes,
    hidden=st.lists(sizes, max_size=2),
    stride=st.integers(-1, 3),
)
def test_networks_of_images(name, given, more, size, outputs, hidden, stride):
    net = attempt(NETWORKS[name], given, more, size, outputs, hidden, stride)
    if net is not None:
        pixels = 8 if "Res" in name else size
        found = net.eval()(torch.ones(2, 3, pixels, pixels))
        assert found.shape == (2, 10 if name == "orth_table_3" else outputs)
        assert bool(torch.isfinite(found).all())


@fuzz(shape=st.lists(st.integers(0, 4), max_size=5), window=st.tuples(sizes, sizes, sizes))
def test_patches(shape, window):
    kernel, padding, stride = window
    rows = attempt(models.unfold_rows, torch.ones(shape), kernel, padding, stride)
    if rows is not None:
        n, channels, height, width = shape
        places = math.prod((s + 2 * padding - kernel) // stride + 1 for s in (height, width))
        assert rows.shape == (n * places, channels * kernel**2)
