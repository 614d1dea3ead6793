"""The shared setting of the training chapters: one network by hand, and what the starts promise."""

import numpy as np
import pandas as pd
import pytest
import torch

import signalprop as sp
from signallab.orthogonality import plain_training as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def setting():
    """Sixty-four random images of twelve numbers, three classes."""
    x = torch.randn(64, 12, generator=Stream(0).torch())
    labels = (x[:, 0] > 0).long() + (x[:, 1] > 1).long()
    return lab.Setting(
        x, labels, width=16, batch=8, rate=0.1, epochs=3, runs=2, stream=Stream(1), probe=32,
        init_batch=40,
    )  # fmt: skip


def test_a_network_is_a_product_of_matrices_with_relu_between(setting):
    net = lab.networks(setting, depth=3)
    weights = [p[1] for p in net.parameters()]
    assert [tuple(w.shape) for w in weights] == [(16, 12), (16, 16), (16, 16), (10, 16)]
    h = setting.images
    for weight in weights[:-1]:
        h = torch.relu(h @ weight.T)
    torch.testing.assert_close(net(setting.images)[1], h @ weights[-1].T)


def test_weights_have_the_variance_of_the_law(setting):
    for law, factor in ((lab.RELU_XAVIER, 4), (lab.PLAIN_XAVIER, 2)):
        net = lab.networks(setting, 1, law=law, seeds=range(400))
        first = next(iter(net.parameters()))
        assert float(first.detach().var()) == pytest.approx(factor / (12 + 16), rel=0.05)


@pytest.mark.parametrize("start", ["Eq. 6", "Eq. 6, literal slice", "Eq. 6, blind", "orthogonal"])
def test_starts_leave_the_first_layer_and_change_the_square_ones(setting, start):
    before = [p.detach().clone() for p in lab.networks(setting, 3).parameters()]
    after = [p.detach() for p in lab.networks(setting, 3, start).parameters()]
    assert not torch.equal(before[1], after[1])
    assert torch.equal(before[0], after[0]) == start.startswith("Eq. 6")


def test_equation_6_orthogonalizes_the_batch_that_set_it(setting):
    seen = setting.images[: setting.init_batch]
    gap = {
        start: lab.hidden_gap(lab.networks(setting, 6, start), seen).mean()
        for start in ("Xavier", "Eq. 6", "Eq. 6, blind")
    }
    assert gap["Eq. 6"] < gap["Xavier"] - 0.1
    assert gap["Eq. 6"] < gap["Eq. 6, blind"] - 0.1


def test_blind_weights_have_the_norms_of_equation_6_and_are_orthogonal(setting):
    pairs = zip(
        lab.networks(setting, 3, "Eq. 6").parameters(),
        lab.networks(setting, 3, "Eq. 6, blind").parameters(),
        strict=True,
    )
    for weight, blind in list(pairs)[1:-1]:
        norms = [torch.linalg.matrix_norm(w.detach()) for w in (weight, blind)]
        torch.testing.assert_close(*norms)
        gram = (blind @ blind.mT).detach()
        torch.testing.assert_close(gram, gram[..., :1, :1] * torch.eye(16), atol=1e-5, rtol=0)


def test_training_is_gradient_descent_by_hand(setting):
    plan = lab.Plan("plain", 2, rates=(0.1, 0.05))
    found = lab.trained(setting, [plan], records=1)
    assert list(found["rate"].unique()) == [0.1, 0.05]
    net = lab.networks(setting, 2, seeds=[1])
    order = sp.training.batches(setting.stream, [1], 64, 8)
    for _, chosen in zip(range(24), order, strict=False):
        x, y = setting.images[chosen], setting.labels[chosen]
        loss = torch.nn.functional.cross_entropy(net(x)[0], y[0])
        gradients = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(net.parameters(), gradients, strict=True):
                parameter -= 0.05 * gradient
    parts = [slice(i, i + 8) for i in range(0, 32, 8)]
    by_hand = np.mean(
        [
            torch.nn.functional.cross_entropy(net(setting.images[p])[0], setting.labels[p]).item()
            for p in parts
        ]
    )
    last = lab.at_the_end(found)
    assert last.loc[("plain", 0.05, 1), 2] == pytest.approx(by_hand, rel=1e-4)
    assert found["epoch"].max() == 3


def test_clipping_that_acts_on_no_gradient_changes_nothing(setting):
    plain = lab.trained(setting, [lab.Plan("a", 2)])
    clipped = lab.trained(setting, [lab.Plan("a", 2)], clip=1e6)
    assert (clipped["clipped"] == 0).all()
    np.testing.assert_array_equal(plain["loss"], clipped["loss"])
    strong = lab.trained(setting, [lab.Plan("a", 2)], clip=1e-4)
    assert (strong["clipped"] > 0.5).all()
    shares = lab.clipped_at_the_start(setting, 2, [1e-4, 1e6])
    assert shares == {1e-4: 1.0, 1e6: 0.0}


def test_output_gap_has_its_extremes(setting):
    equal = torch.eye(4)[None]
    one = torch.tensor([[[1.0, 1.0, 1.0, 1.0]]]).expand(1, 4, 4)
    assert float(lab.output_gap(torch.nn.Identity(), equal)) == pytest.approx(0, abs=1e-6)
    far = np.linalg.norm([1 - 0.5, 0.5, 0.5, 0.5])
    assert float(lab.output_gap(torch.nn.Identity(), one)) == pytest.approx(far, abs=1e-3)


def test_gaps_before_training_are_those_of_unseen_images(setting):
    found = lab.initial_gaps(setting, [2, 4], ["Xavier", "Eq. 6"])
    assert len(found) == 2 * 2 * 2 * 2
    row = found.query("start == 'Eq. 6' and depth == 4 and of == 'last hidden layer' and run == 1")
    net = lab.networks(setting, 4, "Eq. 6")
    with torch.no_grad():
        expected = sp.orthogonality_gap(net.features(setting.images[40:48]))[1]
    assert float(row["gap"].iloc[0]) == pytest.approx(float(expected), rel=1e-6)


@pytest.mark.slow
def test_what_was_started_is_measured_and_trained_as_it_is(setting):
    plans = [lab.Plan(start, 4, start) for start in ("Xavier", "Eq. 6")]
    groups = lab.started(setting, plans)
    gaps = lab.gaps_before(setting, groups)
    columns = ["start", "depth", "of", "run", "gap"]
    expected = lab.initial_gaps(setting, [4], ["Xavier", "Eq. 6"])
    pd.testing.assert_frame_equal(gaps[columns], expected[columns])
    found = lab.trained(setting, groups)
    pd.testing.assert_frame_equal(found, lab.trained(setting, plans))


def test_shares_at_the_start_are_those_of_a_run(setting):
    ratios = [0.05 * 1.5**k for k in range(10)]
    shares = lab.clipped_at_the_start(setting, 2, ratios)
    net = lab.networks(setting, 2)
    x = setting.images[: setting.batch].expand(setting.runs, -1, -1)
    y = setting.labels[: setting.batch].expand(setting.runs, -1)
    for ratio, share in shares.items():
        expected = sp.training.clipped_share(net, x, y, ratio).mean()
        assert share == pytest.approx(float(expected))
    assert len(set(shares.values())) > 2, "some are clipped, and others not"


def test_unknown_starts_are_named(setting):
    with pytest.raises(ValueError, match="start must be one of Xavier"):
        lab.networks(setting, 2, "Gauss")
