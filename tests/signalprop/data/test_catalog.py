"""Facts about the real data sets, where they are cached; digests that need none."""

import pytest
import torch

from signalprop import data
from signalprop.data import loading


def test_digest_needs_no_data_and_differs(monkeypatch):
    monkeypatch.setattr(loading, "folder", lambda: pytest.fail("looked at the cache"))
    digests = {data.digest(name) for name in data.names()}
    assert len(digests) == len(data.names())
    assert all(len(d) == 64 for d in digests)


def real(name, split):
    if not loading.cached_file(name, split).exists():
        pytest.skip(f"{name} is not cached")
    return data.load(name, split)


def test_cifar10_facts():
    images, labels = real("cifar10", "train")
    mean, std = [0.49139968, 0.48215841, 0.44653091], [0.24703223, 0.24348513, 0.26158784]
    # Channel by channel: the whole set in float64 would take more than a gigabyte.
    for channel, (m, s) in enumerate(zip(mean, std, strict=True)):
        values = (images[:, channel] * 255).round().to(torch.float64) / 255
        assert float(values.mean()) == pytest.approx(m, abs=1e-8)
        assert float(values.std(correction=0)) == pytest.approx(s, abs=1e-8)
    assert labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert real("cifar10", "test")[1][:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_idx_facts(name):
    images, labels = real(name, "train")
    mean, std, first = {
        "mnist": (0.1307, 0.3081, [5, 0, 4, 1, 9]),
        "fashion_mnist": (0.2860, 0.3530, [9, 0, 0, 3, 0]),
    }[name]
    assert float(images.mean()) == pytest.approx(mean, abs=1e-4)
    assert float(images.std()) == pytest.approx(std, abs=1e-4)
    assert labels[:5].tolist() == first
