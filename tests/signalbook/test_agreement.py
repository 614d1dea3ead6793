"""A live run against its record: what is compared, what is let pass, what is found."""

import numpy as np
import pandas as pd
import pytest

from signalbook.agreement import agreement
from signalbook.checks import LEVEL
from signalbook.outputs import CLAIMS, FIGURE
from signalbook.records import Record

LAYERS = range(1, 11)


def sample(count, shift=0.0, layers=LAYERS, seed=0, at=None):
    """Rows as `draw.curves` hands them out: means of ``count`` Gaussian runs, at every layer."""
    draws = np.random.default_rng(seed).standard_normal((count, 10))
    draws[:, (at or 1) - 1 if at else slice(None)] += shift
    return pd.DataFrame(
        [
            {
                "network": "plain",
                "layer": layer,
                "mean gap": draws[:, layer - 1].mean(),
                "standard error": draws[:, layer - 1].std(ddof=1) / count**0.5,
                "runs": count,
            }
            for layer in layers
        ]
    )


def found(live, recorded, reduced=(), recorded_reduced=(), claims=(), recorded_claims=()):
    outputs = [{"data": {FIGURE: {"name": "gaps", "csv": live.to_csv(index=False)}}}]
    outputs[0]["data"][FIGURE]["reduced"] = list(reduced)
    outputs.append({"data": {CLAIMS: list(claims)}})
    csv = recorded.to_csv(index=False, float_format="%.6g")
    record = {
        "figures": {"gaps": {"csv": csv, "reduced": list(recorded_reduced)}},
        "claims": list(recorded_claims),
    }
    return agreement({"cells": [{"outputs": outputs}]}, Record(record))


def test_two_runs_of_one_law_agree_where_they_overlap():
    there = found(sample(5), sample(50, layers=[2, 4, 99 - 89], seed=1))
    assert (there.places, there.wrong) == (3, ())
    assert there.error == LEVEL


def test_a_difference_at_one_place_is_named_with_both_values():
    there = found(sample(100, shift=2.0, at=3), sample(400, seed=1))
    (message,) = there.wrong
    assert message.startswith("figure gaps, at network = plain, layer = 3, mean gap: live ")
    live = sample(100, shift=2.0, at=3)["mean gap"][2]
    assert f"live {live:.6g} ± " in message.replace("−", "-")
    assert "over 400 runs" in message


def test_many_differences_are_summed_up():
    wrong = found(sample(100, shift=3.0), sample(100, seed=1)).wrong
    assert len(wrong) == 4
    assert wrong[-1] == "figure gaps: so do 7 more places"


def test_what_counts_is_the_error_of_both():
    """The same difference of means: found with many runs, within chance with few."""
    many = sample(400, shift=0.8, at=3), sample(400, seed=1)
    few = sample(8, shift=0.8, at=3), sample(8, seed=1)
    assert found(*many).wrong
    assert not found(*few).wrong
    assert not found(few[0], many[1]).wrong


def test_false_alarms_keep_to_the_level_and_real_differences_are_found(monkeypatch):
    """At a level that can be measured: a true null is refused no more often than it says."""
    monkeypatch.setattr("signalbook.agreement.LEVEL", 0.2)
    null = [bool(found(sample(6, seed=s), sample(30, seed=s + 999)).wrong) for s in range(300)]
    # Binomial(300, 0.2) exceeds 100 with probability 3e-8.
    assert 15 < sum(null) <= 100
    other = [
        bool(found(sample(6, seed=s, shift=3.0), sample(30, seed=s + 999)).wrong) for s in range(20)
    ]
    assert all(other)


def test_what_was_reduced_in_something_that_matters_is_not_compared():
    far = sample(100, shift=9.0), sample(100)
    assert found(*far).wrong
    for options in ({"reduced": ["width"]}, {"recorded_reduced": ["width"]}):
        there = found(*far, **options)
        assert (there.places, there.wrong, there.error) == (0, (), 0.0)


def test_without_chance_they_agree_to_rounding():
    exact = sample(3).assign(**{"standard error": 0.0})
    assert not found(exact, exact).wrong
    off = exact.assign(**{"mean gap": exact["mean gap"] * (1 + 3e-5)})
    assert found(off, exact).wrong
    one_run = exact.assign(runs=1)
    assert not found(one_run, sample(3)).wrong, "the error of the other counts"


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.drop(columns="standard error"),
        lambda rows: rows.assign(**{"standard error": np.nan}),
        lambda rows: rows.assign(network="other"),
        lambda rows: rows.assign(layer=1),
        lambda rows: rows.assign(**{"mean rank": 1.0}),
    ],
)
def test_what_cannot_be_told_to_be_the_same_is_not_compared(change):
    """No error, another network, a place named twice, two means with one error."""
    assert found(change(sample(100, shift=9.0)), sample(100)).places == 0


def test_means_of_two_quantities_in_one_table_are_told_apart():
    gap = sample(100)
    loss = sample(100, shift=9.0).rename(columns={"mean gap": "mean loss"})
    both = pd.concat([gap, loss])
    there = found(both, both)
    assert (there.places, there.wrong) == (20, ())
    swapped = both.rename(columns={"mean gap": "mean loss", "mean loss": "mean gap"})
    assert len(found(both, swapped).wrong) == 4


def claim(verdict, about="the rank"):
    return {"id": "RANK-F5", "about": about, "verdict": verdict, "measured": f"so {verdict}"}


@pytest.mark.parametrize(
    ("live", "recorded", "differ"),
    [
        ("holds", "not reproduced", True),
        ("holds", "holds", False),
        ("agrees at reduced scale", "not reproduced", False),
        ("holds", "agrees at reduced scale", False),
    ],
)
def test_claims_that_both_settle_at_full_size_have_one_verdict(live, recorded, differ):
    wrong = found(
        sample(5), sample(5), claims=[claim(live)], recorded_claims=[claim(recorded)]
    ).wrong
    assert bool(wrong) == differ
    if differ:
        assert "RANK-F5 (the rank): the live run finds 'holds' (so holds), the record" in wrong[0]
    assert not found(
        sample(5), sample(5), claims=[claim(live)], recorded_claims=[claim(recorded, "other")]
    ).wrong
