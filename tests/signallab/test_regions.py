import numpy as np
import pytest

from signallab.regions import corners, regions


def disc(x, y):
    """Positive inside the circle of radius 1."""
    return 1 - x * x - y * y


SIDES = {"x": (0, 1), "y": (0, 2)}


@pytest.mark.parametrize("size", [1 / 4, 1 / 32])
def test_boxes_fill_the_whole_and_say_the_truth(size):
    found = regions(disc, SIDES, size)
    wide, high = (found[f"{s} to"] - found[f"{s} from"] for s in SIDES)
    assert float((wide * high).sum()) == 2.0  # dyadic: exact
    assert float(wide[found["the bound"] == "undecided"].max()) <= size
    assert float(high[found["the bound"] == "undecided"].max()) <= 2 * size
    far = found["x to"] ** 2 + found["y to"] ** 2  # the corners nearest to the circle
    near = found["x from"] ** 2 + found["y from"] ** 2
    assert (far[found["the bound"] == "holds"] < 1).all()
    assert (near[found["the bound"] == "fails"] > 1).all()


def test_what_is_undecided_shrinks_to_the_border():
    areas = []
    for size in (1 / 8, 1 / 32):
        found = regions(disc, SIDES, size)
        open_ones = found[found["the bound"] == "undecided"]
        areas.append(
            ((open_ones["x to"] - open_ones["x from"]) * (open_ones["y to"] - open_ones["y from"]))
            .to_numpy()
            .sum()
        )
    assert areas[1] < areas[0] / 3  # a curve: the area goes with the size
    holds = found[found["the bound"] == "holds"]
    inside = ((holds["x to"] - holds["x from"]) * (holds["y to"] - holds["y from"])).sum()
    assert inside < np.pi / 4 < inside + areas[1]


def test_corners_go_round_the_box():
    found = regions(lambda x, y: y + 1, SIDES, 1)
    assert corners(found, "y", "x").tolist() == [[[0, 0], [2, 0], [2, 1], [0, 1]]]
