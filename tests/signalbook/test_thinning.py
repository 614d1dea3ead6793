"""What is left of the rows of a figure."""

import io

import numpy as np
import pandas as pd

from signalbook import thinning


def thinned(frame):
    return pd.read_csv(io.StringIO(thinning.thinned(frame.to_csv(index=False))))


def test_short_tables_are_kept_whole():
    frame = pd.DataFrame({"layer": range(300), "mean gap": np.pi})
    assert thinned(frame)["layer"].tolist() == list(range(300))
    assert set(thinned(frame)["mean gap"]) == {3.14159}


def test_long_curves_keep_the_same_places_on_both_kinds_of_axis():
    layers = np.arange(1, 10_001)
    frame = pd.concat(
        [
            pd.DataFrame({"network": name, "layer": layers, "mean gap": 1 / layers, "runs": 20})
            for name in ("plain", "batch norm", "He")
        ]
    )
    there = thinned(frame)
    assert len(there) <= 2 * thinning.ROWS
    by_network = [set(part["layer"]) for _, part in there.groupby("network")]
    assert by_network[0] == by_network[1] == by_network[2]
    kept = np.array(sorted(by_network[0]))
    assert {1, 2, 3, 10_000} <= {*kept}
    assert np.diff(kept).max() < 300
    assert np.diff(np.log(kept)).max() < np.log(2) + 1e-9


def test_many_raw_points_are_thinned_too():
    rng = np.random.default_rng(0)
    assert 100 <= len(thinned(pd.DataFrame(rng.random((50_000, 2)), columns=["x", "y"]))) <= 800
