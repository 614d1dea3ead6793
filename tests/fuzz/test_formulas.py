"""Whatever numbers a formula of the documents is given: refused in words, or a number."""

import importlib
import inspect
import pkgutil
import warnings

import numpy as np
import pytest
from hypothesis import strategies as st

import signalprop.theory as theory

from .budget import fuzz

BY_DOCUMENT: dict[str, dict[str, object]] = {}
for found in pkgutil.walk_packages(theory.__path__, "signalprop.theory."):
    part = found.name.split(".")[2]
    if not found.ispkg and not part.startswith("_"):
        module = importlib.import_module(found.name)
        formulas = {n: getattr(module, n) for n in module.__all__}
        named = BY_DOCUMENT.setdefault(part, {})
        named.update({n: f for n, f in formulas.items() if inspect.isfunction(f)})

NUMBERS = ["Any", "Numbers", "Floats", "Tensor", "torch.Tensor", "Sequence[float]", "int", "float"]
VECTORS = {"eigenvalues", "gram", "jumps", "m", "norms", "path", "slopes", "spectrum", "transition"}
VECTORS |= {"values", "weights", "x", "a", "b", "delta", "theta"}

counts = st.integers(1, 6)
calm = st.sampled_from([0.1, 0.25, 0.4, 0.9, 1.0, 2.0, 3.0])
wild = st.one_of(
    calm,
    st.integers(-2, 1000),
    st.floats(-3, 3),
    st.sampled_from([0.0, 1e-300, 1e-8, 1e8, 1e300, np.nan, np.inf, -np.inf]),
)


@st.composite
def values(draw, parameter, tame):
    """One argument: in most formulas' range, or from anywhere."""
    of = calm if tame else wild
    annotation = str(parameter.annotation)
    if tame and annotation == "int":
        return draw(counts)
    if (tame and annotation == "float") or draw(st.booleans()):
        return draw(of)
    shape = draw(st.sampled_from([(3,), (2, 1), (2, 2)] if tame else [(0,), (1,), (3,), (2, 3)]))
    count = int(np.prod(shape))
    return np.array(draw(st.lists(of, min_size=count, max_size=count)), float).reshape(shape)


def tried(function, arguments):
    """The value, or None where the arguments were refused in words; they stay as they were."""
    before = [np.array(a, copy=True) for a in arguments]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            value = function(*arguments)
        except ValueError as refusal:
            assert len(str(refusal)) > 10  # noqa: PT017
            value = None
    for a, b in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(np.asarray(a), b)
    return value


def test_every_document_has_its_formulas():
    assert min(len(named) for named in BY_DOCUMENT.values()) > 3
    assert sum(len(named) for named in BY_DOCUMENT.values()) > 150


@pytest.mark.parametrize("document", sorted(BY_DOCUMENT))
@fuzz(data=st.data())
def test_formulas(document, data):
    name = data.draw(st.sampled_from(sorted(BY_DOCUMENT[document])))
    function = BY_DOCUMENT[document][name]
    taken = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    if any(str(p.annotation) not in NUMBERS for p in taken):
        return  # it takes a function
    tame = data.draw(st.booleans())
    arguments = [data.draw(values(p, tame), label=p.name) for p in taken]
    value = tried(function, arguments)
    for part in value if isinstance(value, tuple) else [value]:
        if isinstance(part, float | np.ndarray | np.generic):
            assert np.asarray(part).dtype.kind != "c"
            assert not np.isnan(np.asarray(part)).any()
    whole = any(str(p.annotation) == "int" or p.name in VECTORS for p in taken)
    if value is not None and not isinstance(value, tuple) and not whole:
        assert np.shape(value) == np.broadcast_shapes(*(np.shape(a) for a in arguments))
