"""Activity against layers with explicit weights, and the starts against their definition."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.decomposed import one_neuron_per_point as lab
from signalprop.random import Stream

STREAM = Stream(7).child("one neuron per point")


def test_numbers_by_hand():
    y = np.array([[0.0, 8.0, 0.0, 0.0], [0.1, 0.0, 0.2, 0.1], [0.1, 0.0, 0.1, 4.0]])
    found = lab.numbers(y)
    assert found["others"] == 0.5
    assert found["longest but one"] == 2
    assert found["strong"] == pytest.approx(1 / 3)
    assert found["on for most"] == 0
    assert found["on"] == pytest.approx(7 / 12)
    assert lab.numbers(np.ones((2, 4)))["on for most"] == 1


def test_what_counts_as_strong_and_as_most():
    y = np.ones((3, 20))
    y[:, 0] = [10.5, 9.5, 1.0]  # the median response is 1
    y[:1, -1:] = y[1:2, -3:] = 0  # on for 19, 17 and 20 of twenty
    found = lab.numbers(y)
    assert found["strong"] == pytest.approx(1 / 3)
    assert found["on for most"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("rescale", [False, True])
def test_activity_has_the_law_of_layers_with_weights(rescale):
    """The first layers by sp.Chain, with explicit weights, and the same measure."""
    runs, x = 400, STREAM.numpy("x").normal(size=(6, 4))
    frame = lab.activity(np.broadcast_to(x, (runs, 6, 4)), 12, 3, STREAM, rescale=rescale, every=3)
    rng, explicit = STREAM.numpy("explicit", int(rescale)), []
    norm = sp.BatchNorm() if rescale else sp.Recenter()
    for _ in range(runs):
        y = torch.tensor(x)
        for _ in range(3):
            w = rng.normal(size=(y.shape[1], 12))
            y = torch.relu(norm(y @ torch.tensor(w)))
        explicit.append(lab.numbers(y.T.numpy())["others"])
    gap = np.mean(explicit) - frame["others"].mean()
    error = np.hypot(np.std(explicit), frame["others"].std()) / np.sqrt(runs)
    assert abs(gap) < 6 * error
    assert frame["layer"].unique().tolist() == [3]


def test_deep_layers_respond_to_one_point_unless_they_rescale():
    x = STREAM.numpy("deep").normal(size=(4, 12, 20))
    plain, rescaled = (
        lab.activity(x, 200, 120, STREAM, rescale=r).query("layer == 120") for r in (False, True)
    )
    assert plain["others"].max() < 0.5 < rescaled["others"].min()


def test_diagonal_and_its_rival():
    x = STREAM.numpy("diagonal").normal(size=(40, 3)) + 5
    case = lab.diagonal(x)
    assert (case.left == case.right).all()
    assert (case.right == np.eye(40)).all()
    rival = lab.diagonal(x, "half of the own product").left
    assert np.diag(rival).all()
    assert np.count_nonzero(rival) > 40


def test_around_keeps_points_apart():
    x = lab.around(50, STREAM.numpy("around"))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1)
    angle = np.sort(np.arctan2(x[:, 1], x[:, 0]) % (2 * np.pi)) / (2 * np.pi)
    gaps = np.diff(angle, append=angle[0] + 1)
    assert gaps.min() >= 0.5 / 50 - 1e-12
    assert np.ptp(gaps) > 0.2 / 50


def test_isolated_counts_the_corners_of_the_hull():
    from scipy.spatial import ConvexHull

    frame = lab.isolated(50, [2, 3], STREAM).set_index("dimension")
    for k in (2, 3):
        x = STREAM.numpy("isolated", k).normal(size=(50, k))
        assert frame.loc[k, "as drawn"] == len(ConvexHull(x).vertices)
    assert frame["on a sphere"].tolist() == [50, 50]


def points(n=12, k=9):
    x = torch.tensor(STREAM.numpy("points").normal(size=(n, k)))
    return x * k**0.5 / x.norm(dim=1, keepdim=True)


def test_starts():
    x = points()
    own = lab.network(x, "own response 1", [0, 1], STREAM).features(x.float())
    torch.testing.assert_close(own, torch.eye(12).expand(2, -1, -1), atol=1e-4, rtol=0)
    long = lab.network(x, "own response as long as He's", [0], STREAM).features(x.float())
    torch.testing.assert_close(long[0], 12**0.5 * torch.eye(12), atol=1e-3, rtol=0)
    he = lab.network(points(400), "He", range(5), STREAM).features(points(400).float())
    assert (he.detach().norm(dim=-1) ** 2).mean().item() == pytest.approx(400, rel=0.1)
    assert lab.network(x, "He", [0], STREAM)(x.float()).abs().max().item() == 0


def test_silent_points():
    x = points()
    found = lab.silent(x, torch.cat([x, -10 * x]), STREAM)
    assert found["He"] < 0.1
    assert found["own response 1"] == pytest.approx(found["own response as long as He's"])
    far = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64) * 2**0.5
    away = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64) * 2**0.5
    assert lab.silent(far, away, STREAM)["own response 1"] == 0.5


def made_up(name, count):
    rng = STREAM.numpy(name)
    labels = torch.tensor(rng.integers(0, 2, size=count))
    images = torch.tensor(rng.random((count, 1, 8, 8)), dtype=torch.float32)
    images[:, :, :4] += labels[:, None, None, None]
    return images, labels


def test_samples_and_training(monkeypatch):
    monkeypatch.setattr(sp.data, "load", lambda name, count: made_up(name, 300))
    x, y, x_test, y_test = lab.samples("toy", 4, 40, 60, STREAM.numpy("samples"))
    assert x.shape == (40, 16)
    assert (len(y), x_test.shape, len(y_test)) == (40, (60, 16), 60)
    torch.testing.assert_close(x.norm(dim=1), torch.full((40,), 4.0, dtype=torch.float64))
    frame = lab.trained("toy", 4, 40, 60, [0.1, 0.01], 100, 2, STREAM)
    assert len(frame) == 2 * 3 * 2
    he = frame.query("start == 'He' and rate == 0.1")
    assert (he["test accuracy"] > 0.9).all()
    long = frame[frame["start"] == "own response as long as He's"]
    assert (long["steps"] <= 4).all()
    early = lab.trained("toy", 4, 40, 60, [0.1], 1, 1, STREAM).set_index("start")
    assert np.isnan(early.loc["own response 1", "steps"])  # half of the points were not seen yet
    path = np.array([[0.5, 0.5], [0.95, 1.0], [1.0, 1.0]])  # by record and rate
    history = SimpleNamespace(values={"accuracy": path}, steps=np.array([0, 2, 4]))
    monkeypatch.setattr(
        sp.training, "train", lambda groups, *_, **__: {g.name: history for g in groups}
    )
    told = lab.trained("toy", 4, 40, 60, [0.1, 0.01], 4, 1, STREAM)
    assert told.groupby("rate")["steps"].unique().map(list).to_dict() == {0.1: [4], 0.01: [2]}


def test_strong_is_beside_responses_that_are_positive():
    """Those are 0.2, 0.2, 1.5 and 4, with a median of 0.85; that of all nine is zero."""
    y = np.array([[1.5, 0.0, 0.0], [0.0, 0.2, 0.2], [4.0, 0.0, 0.0]])
    assert lab.numbers(y)["strong"] == 0
    y[2, 0] = 9.0
    assert lab.numbers(y)["strong"] == pytest.approx(1 / 3)
