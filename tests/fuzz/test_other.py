"""Certificates, recipes and the files of data sets: a refusal in words, or what can be used."""

import gzip
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from signalprop.data import standardize
from signalprop.data.decoding import cifar_records, idx_files
from signalprop.training import Group, Recipe, accuracy, cross_entropy

from .budget import fuzz

sizes = st.integers(-2, 6)
numbers = st.one_of(
    st.floats(-2, 2),
    st.sampled_from([0.0, 1e-300, 1e300, math.nan, math.inf, -math.inf]),
)


@fuzz(point=numbers, other=numbers, layers=sizes, size=st.one_of(st.floats(0.1, 1), numbers))
def test_certificates(point, other, layers, size):
    flint = pytest.importorskip("flint")
    from signalprop.certify import PowerSeries, iterates, signs

    kappa = PowerSeries((flint.arb(0), flint.arb("0.5"), flint.arb("0.5")))
    try:
        path = iterates(kappa, point, layers)
    except ValueError as refusal:
        assert "must" in str(refusal)  # noqa: PT017
    else:
        assert all(value.is_finite() for value in path)
        assert len(path) == 1 + layers
    try:
        parts = list(
            itertools.islice(signs(lambda x: x - flint.arb("0.3"), [(point, other)], size), 99)
        )
    except ValueError as refusal:
        assert "must" in str(refusal)  # noqa: PT017
    else:
        assert {sign for _, sign in parts} <= {-1, 0, 1}


@fuzz(
    left=numbers, right=st.fractions(-2, 2), name=st.sampled_from(["exceeds", "differs", "reaches"])
)
def test_counterexamples(left, right, name):
    flint = pytest.importorskip("flint")
    from signalprop.certify import differs, exceeds, reaches

    finds = {"differs": differs, "exceeds": exceeds, "reaches": reaches}
    try:
        found = finds[name](flint.arb(left), right, at="a point")
    except ValueError:
        return
    exact = Fraction(left) if math.isfinite(left) else left
    assert {"exceeds": exact > right, "differs": exact != right, "reaches": exact >= right}[name]
    assert not found.exact


@fuzz(steps=sizes, batch=sizes, every=sizes, after=st.one_of(st.none(), sizes), drop=numbers)
def test_recipes(steps, batch, every, after, drop):
    try:
        recipe = Recipe(steps, batch, record_every=every, drop_every=after, drop=drop)
    except ValueError as refusal:
        assert "must be" in str(refusal)  # noqa: PT017
        return
    assert recipe.records(recipe.steps)
    assert not math.isnan(recipe.rate_factor(recipe.steps))


@fuzz(
    seeds=st.lists(sizes, max_size=3), rates=st.lists(numbers, max_size=3), models=st.integers(0, 3)
)
def test_groups(seeds, rates, models):
    model = torch.nn.ParameterList([torch.zeros(models, 2)])
    try:
        group = Group("g", model, seeds, rates)
    except ValueError as refusal:
        assert "must be" in str(refusal)  # noqa: PT017
        return
    assert len(group.seeds) == len(group.rates) == models
    assert all(0 < rate < math.inf for rate in group.rates)


@fuzz(models=st.integers(1, 3), n=st.integers(1, 4), classes=st.integers(1, 5), scale=numbers)
def test_scores(models, n, classes, scale):
    if not math.isfinite(scale):
        return  # networks diverge: training freezes these
    logits = scale * torch.randn(models, n, classes, dtype=torch.float64)
    labels = torch.zeros(models, n, dtype=torch.int64)
    for score in (cross_entropy(logits, labels), accuracy(logits, labels)):
        assert score.shape == (models,)
        assert bool(torch.isfinite(score).all())


@fuzz(
    head=st.sampled_from(
        [b"", b"\0\0\x08\1\0\0\0\2", b"\0\0\x08\3" + b"\0\0\0\1" * 3, b"\x1f\x8b"]
    ),
    body=st.binary(max_size=40),
    zipped=st.booleans(),
)
def test_files_of_images(head, body, zipped):
    raw = gzip.compress(head + body) if zipped else head + body
    names = [
        f"{p}-{kind}"
        for p in ("train", "t10k")
        for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")
    ]
    for decode, files in (
        (idx_files(), dict.fromkeys(names, raw)),
        (cifar_records(("a",), ("b",), label_bytes=1, size=1), {"a": raw, "b": raw}),
    ):
        try:
            splits = decode(files)
        except (ValueError, OSError, EOFError):  # which the loader turns into words
            continue
        for images, labels in splits.values():
            assert images.dtype == labels.dtype == np.uint8


@fuzz(shape=st.lists(st.integers(0, 3), max_size=5), scale=numbers)
def test_standardize(shape, scale):
    images = torch.full(shape, scale, dtype=torch.float64) * torch.arange(math.prod(shape)).reshape(
        shape
    )
    try:
        found = standardize(images)
    except ValueError:
        return
    assert found.shape == images.shape
    assert bool(torch.isfinite(found).all())


coefficients = st.one_of(st.integers(-3, 3), st.fractions(-2, 2, max_denominator=50))
sides = st.one_of(numbers, st.integers(-2, 2), st.fractions(-2, 2, max_denominator=50))


@fuzz(
    terms=st.lists(coefficients, min_size=3, max_size=3),
    box=st.lists(st.tuples(sides, sides), max_size=2),
    budget=st.integers(-1, 200),
)
def test_proofs_on_boxes(terms, box, budget):
    """Of a quadratic, whose least value on a box is known in exact fractions."""
    flint = pytest.importorskip("flint")
    from signalprop.certify import NotProved, Refuted, prove_positive

    def value(*x):
        c, b, a = (flint.fmpq(*Fraction(term).as_integer_ratio()) for term in terms)
        return sum((a * t * t + b * t for t in x), flint.arb(0)) + c

    def exact(t):
        return Fraction(terms[2]) * t * t + Fraction(terms[1]) * t

    def least(low, high):
        ends = [Fraction(low), Fraction(high)]
        middle = -Fraction(terms[1]) / (2 * Fraction(terms[2])) if terms[2] else ends[0]
        return min(map(exact, [*ends, middle] if ends[0] < middle < ends[1] else ends))

    try:
        proof = prove_positive(value, box, budget)
    except ValueError as refusal:
        assert "must" in str(refusal)  # noqa: PT017
    except Refuted as refuted:
        assert Fraction(terms[0]) + sum(map(exact, refuted.point)) <= 0  # noqa: PT017
    except NotProved as spent:
        assert not spent.value > 0  # noqa: PT017
    else:
        assert Fraction(terms[0]) + sum(least(*side) for side in box) > 0
        assert proof.boxes <= max(budget, 1)
