"""Loss and accuracy of networks side by side, against their definitions."""

import numpy as np
import pytest
import torch
from torch import nn

from signalprop import Stream
from signalprop.training.scores import METRICS, accuracy, cross_entropy, measure

GENERATOR = Stream(0).child("scores")
LOGITS = torch.randn(3, 7, 4, generator=GENERATOR.torch("logits"), dtype=torch.float64)
LABELS = torch.from_numpy(GENERATOR.numpy("labels").integers(0, 4, (3, 7)))


def test_cross_entropy_is_minus_the_mean_log_probability():
    probabilities = np.exp(LOGITS.numpy())
    probabilities /= probabilities.sum(-1, keepdims=True)
    chosen = np.take_along_axis(probabilities, LABELS.numpy()[..., None], -1)[..., 0]
    np.testing.assert_allclose(cross_entropy(LOGITS, LABELS), -np.log(chosen).mean(-1), rtol=1e-12)


def test_accuracy_counts():
    expected = []
    for rows, labels in zip(LOGITS.tolist(), LABELS.tolist(), strict=True):
        hits = [row[y] == max(row) for row, y in zip(rows, labels, strict=True)]
        expected.append(sum(hits) / len(hits))
    assert accuracy(LOGITS, LABELS).tolist() == pytest.approx(expected)
    assert len(set(expected)) > 1


class Counting(nn.Module):
    """A model that notes its mode and what it sees, and answers with its input."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append((self.training, tuple(x.shape)))
        return x


def test_whole_batches_alone_are_measured_in_evaluation_mode():
    model, x = Counting(), torch.arange(11.0)[:, None]
    values = measure(
        model,
        x,
        torch.zeros(11, dtype=torch.int64),
        2,
        4,
        {
            "mean": lambda model, x, y: model(x).mean((-1, -2)),
        },
    )
    assert values["mean"].tolist() == [3.5, 3.5]  # samples 0 to 7, not 8 to 10
    assert model.seen == [(False, (2, 4, 1))] * 2
    assert model.training


def test_a_model_in_evaluation_stays_so_and_few_samples_are_one_batch():
    model = Counting().eval()
    values = measure(model, torch.eye(3), torch.arange(3), 1, 8)
    assert not model.training
    assert values["accuracy"].tolist() == [1.0]
    assert set(values) == set(METRICS)
    assert values["loss"].dtype == torch.float32, "the type of the model"


def test_nothing_is_traced():
    labels = torch.zeros(2, dtype=torch.int64)
    assert not measure(nn.Linear(2, 2), torch.ones(2, 2), labels, 1, 2)["loss"].requires_grad


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"models": 0}, "models and batch must be at least 1, got 0 and 2"),
        ({"batch": 0}, "models and batch must be at least 1, got 1 and 0"),
        ({"inputs": torch.tensor(1.0)}, r"inputs and labels must be \(N, ...\) and \(N,\)"),
        ({"inputs": torch.ones(0, 4), "labels": torch.arange(0)}, "with N >= 1, got"),
        ({"labels": torch.full((4,), 9)}, r"labels must be in 0\.\.3, of 4 classes"),
    ],
)
def test_what_cannot_be_measured_is_refused(changes, words):
    given = {"inputs": torch.eye(4), "labels": torch.arange(4), "models": 1, "batch": 2}
    model = nn.Identity()
    with pytest.raises(ValueError, match=words):
        measure(model, **(given | changes))
    assert model.training, "as it was before"
