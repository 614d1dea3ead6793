"""Streams: the same names give the same numbers, other names independent ones."""

import numpy as np
import pytest
from scipy import stats

from signalprop import Stream
from signalprop.random import as_stream

NAMES = [(), ("a",), ("b",), ("a", "b"), ("ab",), (1,), ("1",), (1, 2), (12,), (-1,)]


def test_numbers_depend_on_seed_and_names_alone():
    drawn = {}
    for seed in (0, 1, 2**70):
        for names in NAMES:
            first, again = (Stream(seed).numpy(*names).random(4) for _ in range(2))
            np.testing.assert_array_equal(first, again)
            drawn[seed, names] = tuple(first)
    assert len(set(drawn.values())) == 3 * len(NAMES)


def test_a_child_is_its_names_further_down():
    stream = Stream(5, ("chapter",))
    np.testing.assert_array_equal(
        stream.child("weights", 3).numpy().random(3),
        Stream(5).numpy("chapter", "weights", 3).random(3),
    )
    for run, generator in enumerate(stream.runs(3)):
        assert generator.random() == stream.numpy(run).random()


def test_torch_draws_repeat_and_differ_by_name():
    stream = Stream(0)
    draws = [stream.torch("a").initial_seed(), stream.torch("a").initial_seed()]
    assert draws[0] == draws[1] != stream.torch("b").initial_seed()
    assert stream.torch("a").device.type == "cpu"


def test_integers_of_numpy_name_the_same_stream():
    assert Stream(np.int64(3)).numpy(np.int32(7)).random() == Stream(3).numpy(7).random()


def test_streams_side_by_side_are_uncorrelated():
    """First draws of 4,000 children: uniform, and children one apart uncorrelated."""
    first = np.array([generator.random() for generator in Stream(0).child("many").runs(4000)])
    assert stats.kstest(first, "uniform").pvalue > 1e-6
    assert stats.pearsonr(first[:-1], first[1:]).pvalue > 1e-6


def test_a_stream_is_kept_and_an_integer_becomes_one():
    stream = Stream(3, ("a",))
    assert as_stream(stream) is stream
    assert as_stream(3) == Stream(3)


@pytest.mark.parametrize("seed", [True, 1.0, "1", None])
def test_seeds_that_are_no_integers_are_named(seed):
    with pytest.raises(ValueError, match="seed must be an integer, got"):
        Stream(seed)


def test_names_that_are_neither_words_nor_integers_are_named():
    with pytest.raises(ValueError, match=r"strings or integers, got 0\.5"):
        Stream(0).child(0.5)
