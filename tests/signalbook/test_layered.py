"""Graphs laid out in columns."""

from __future__ import annotations

from itertools import pairwise

from signalbook.layered import laid_out

NEEDS = {"c": "ab", "d": "c", "e": "ad", "f": "c"}


def test_what_is_needed_stands_to_the_left():
    drawn = laid_out("abcdef", NEEDS)
    for user, needs in NEEDS.items():
        for need in needs:
            assert drawn.places[need][0] < drawn.places[user][0]


def test_routes_lead_from_the_need_to_the_user_through_every_column_between():
    drawn = laid_out("abcdef", NEEDS)
    route = drawn.routes["a", "e"]
    assert (route[0], route[-1]) == (drawn.places["a"], drawn.places["e"])
    assert all(right - left == 1 for (left, _), (right, _) in pairwise(route))


def test_nodes_of_a_column_keep_their_distance_and_lines_their_room():
    drawn = laid_out("abcdefgh", NEEDS | {"g": "a", "h": "abc"}, row=2.0, line=0.5)
    lines = {place for route in drawn.routes.values() for place in route[1:-1]}
    nodes = set(drawn.places.values())
    assert len(nodes) == len(drawn.places)
    for column in {x for x, _ in nodes}:
        here = sorted((y, 2.0) for x, y in nodes if x == column)
        here = sorted([*here, *((y, 0.5) for x, y in lines - nodes if x == column)])
        for (above, room), (below, other) in pairwise(here):
            assert below - above >= (room + other) / 2 - 1e-9


def test_a_circle_is_cut_and_needs_from_elsewhere_are_left_out():
    drawn = laid_out("ab", {"a": "b", "b": ["a", "elsewhere"]})
    assert set(drawn.routes) == {("b", "a"), ("a", "b")}
    assert len({x for x, _ in drawn.places.values()}) == 2


def test_what_needs_nothing_stands_next_to_its_first_user():
    drawn = laid_out("abcde", {"b": "a", "c": "b", "d": ["c", "e"]})
    assert drawn.places["a"][0] == 0
    assert drawn.places["e"][0] == drawn.places["c"][0]


def test_nothing_to_draw():
    assert laid_out([], {}).size == (0.0, 0.0)
