"""Networks side by side: against those that are trained one by one, intervals by hand."""

import itertools

import numpy as np
import pytest
import torch
from scipy import stats

import signalprop as sp
from signallab.gradients import shaped_training as alone
from signallab.gradients import side_by_side as lab
from signalprop.random import Stream

NAMES = ["identity", "tanh"]


@pytest.fixture(scope="module")
def setting():
    draw = Stream(0).torch()
    x, test_x = (torch.randn(n, 20, generator=draw) for n in (64, 32))
    data = alone.Data(x, (x[:, 0] > 0).long(), test_x, (test_x[:, 0] > 0).long())
    return alone.Setting(data, 12, Stream(1), batch=16, epochs=2, rate=0.2, runs=2, probe=16)


@pytest.fixture(scope="module")
def learned(setting):
    return lab.learn(setting, NAMES, 3, {**sp.training.METRICS, "watched": lab.watch})


def test_side_by_side_is_as_one_by_one(setting, learned):
    found = alone.trained(setting, NAMES, [3], {**sp.training.METRICS, **alone.over_layers(16)})
    tests = lab.right(setting, learned, setting.data.test_x, setting.data.test_labels)
    data = setting.data
    for name in NAMES:
        net, history = found[name, 3]
        watched = learned.of("watched")[name]
        assert watched.shape == (3, 2, 5)
        np.testing.assert_allclose(learned.of("loss")[name], history.values["loss"], rtol=1e-4)
        np.testing.assert_allclose(watched[..., 0], history.values["loss"], rtol=1e-4)
        np.testing.assert_allclose(watched[..., 1], history.values["accuracy"], atol=1e-6)
        np.testing.assert_allclose(watched[..., 2:], history.values["gradient"], rtol=1e-3)
        expected = sp.training.measure(net, data.test_x, data.test_labels, 2, setting.batch)
        np.testing.assert_allclose(tests[name], expected["accuracy"], atol=1e-6)


@pytest.mark.parametrize("deep", [[0.5], [0.5, 0.44, 0.47]])
def test_the_interval_is_that_of_one_spread_for_both(deep):
    """With several deep networks against SciPy, with one by hand."""
    shallow, deep = np.array([0.3, 0.35, 0.32, 0.4, 0.33]), np.array(deep)
    off = deep.mean() - shallow.mean()
    if len(deep) == 1:
        reach = stats.t.ppf(0.975, 4) * np.sqrt(shallow.var(ddof=1) * (1 + 1 / 5))
    else:
        found = stats.ttest_ind(deep, shallow, equal_var=True).confidence_interval(0.95)
        reach = (found.high - found.low) / 2
    runs = {("tanh", 2): shallow, ("tanh", 9): deep}
    case = lab.AcrossDepths(runs, {"tanh": 0.1}).level("tanh", 9)
    assert (case.left, case.right) == (pytest.approx(off + reach), 0.1)
    case = lab.AcrossDepths(runs, {"tanh": 0.1}).level("tanh", 9, less=1.0)
    assert case.left == pytest.approx(1 - off + reach)
    for end, step in itertools.product((-1, 1), (1e-6, -1e-6)):  # just on either side of the ends
        allowed = {"tanh": off + end * (reach + step)}
        case = lab.AcrossDepths(runs, allowed).told("tanh", 9)
        assert bool(case.left <= case.right) is (step > 0)


def test_one_depth_beyond_the_limit_decides_for_all():
    shallow = np.array([0.3, 0.35, 0.32, 0.4, 0.33])
    runs = {("tanh", 2): shallow, ("tanh", 5): shallow + 0.3, ("tanh", 9): shallow[:1]}
    depths = lab.AcrossDepths(runs, {"tanh": 0.05})
    assert [p["depth"] for p in depths.points] == [5, 9]
    assert all(c.left <= c.right for c in (depths.told(**p) for p in depths.points))
    told, table = depths.numbers("tanh"), depths.differences().set_index("depth")
    assert (told["first"], told["last"], told["deep"]) == (2, 9, pytest.approx(0.3))
    assert told["far"] == pytest.approx(float(depths.level("tanh", 5).left))
    assert table.loc[9, "more than shallow"] == pytest.approx(0.3 - shallow.mean())
    off = table.loc[5, "more than shallow"] + table.loc[5, "half interval"]
    assert off == pytest.approx(told["far"])
    del runs["tanh", 5]
    case = lab.AcrossDepths(runs, {"tanh": 0.05}).told("tanh", 9)
    assert case.left > case.right


def test_steady_is_a_factor_up_or_down():
    norms = np.array([[1.0, 4.0, 2.0], [2.0, 1.0, 2.0], [1.0, 4.0, 6.0]])
    assert lab.steady(norms, 5.0).left == pytest.approx(4)
    assert lab.steady(norms[:, [0, 2]], 5.0).left == pytest.approx(3)
