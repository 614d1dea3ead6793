"""Ranks of batches: against numpy, thresholds by hand, draws without replacement."""

import numpy as np
import pytest
import torch

import signalprop as sp
from signallab.gradients import rank_of_real_batches as lab
from signalprop.random import Stream


@pytest.fixture(scope="module")
def images():
    """Forty positive images of sixty numbers, with singular values over ten powers of ten."""
    g = Stream(0).numpy()
    left, _ = np.linalg.qr(g.standard_normal((40, 40)))
    right, _ = np.linalg.qr(g.standard_normal((60, 40)))
    return torch.from_numpy(255 * left * 10.0 ** -np.linspace(0, 10, 40) @ right.T)


def test_batches_are_draws_without_replacement(images):
    numbered = torch.arange(40.0)[:, None]
    drawn = list(lab.batches(numbered, 30, 5, Stream(1)))
    for x in drawn:
        assert len(np.unique(x.numpy())) == 30
    assert not torch.equal(drawn[0], drawn[1])
    torch.testing.assert_close(list(lab.batches(numbered, 30, 2, Stream(1)))[1], drawn[1])
    shifted = list(lab.batches(numbered, 30, 2, Stream(1), shift=0.5))[1]
    torch.testing.assert_close(shifted, drawn[1] - 0.5)
    assert float(next(iter(lab.batches(numbered, 40, 1, Stream(1)))).max()) == 39 / 255
    with pytest.raises(ValueError, match=r"size must be in 1\.\.40, got 41"):
        lab.batches(numbered, 41, 1, Stream(1))


@pytest.mark.parametrize("precision", lab.FORMATS)
@pytest.mark.parametrize("gram", [True, False])
def test_ranks_are_numpys(images, gram, precision):
    found = lab.ranks(images, [8, 20], 2, Stream(1), gram=gram, precision=precision)
    assert list(found["size"]) == [8, 8, 20, 20]
    x = list(lab.batches(images, 20, 2, Stream(1)))[1].numpy()
    x = x.astype({"single": np.float32, "double": np.float64}[precision])
    matrix = x @ x.T if gram else x
    assert found["rank"].iloc[3] == np.linalg.matrix_rank(matrix)


def test_squaring_costs_rank_and_digits_give_it_back(images):
    mean = {
        (gram, precision): lab.ranks(images, [40], 1, Stream(1), gram=gram, precision=precision)[
            "rank"
        ].mean()
        for gram in (True, False)
        for precision in lab.FORMATS
    }
    assert mean[True, "single"] < mean[False, "single"] < mean[False, "double"] == 40
    # Singular values of the Gram matrix below 40 * 2^-52 of the largest are lost, so those of the
    # batch below 1e-7: two thirds of ten powers of ten remain, and a few.
    assert mean[True, "double"] < 40


def test_singular_values_and_cosines_by_hand(images):
    x = next(iter(lab.batches(images, 10, 1, Stream(2)))).numpy()
    values = np.linalg.svd(x, compute_uv=False)
    np.testing.assert_allclose(lab.singular_values(images, 10, Stream(2)), values / values[0])
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    expected = (unit @ unit.T)[np.triu_indices(10, 1)].mean()
    assert lab.cosines(images, 10, 1, Stream(2))[0] == pytest.approx(expected)


def test_images_are_whole_numbers_of_known_mean():
    images = lab.load("fashion_mnist")
    assert images.shape == (60000, 784)
    assert images.dtype == torch.uint8
    original, _ = sp.data.load("fashion_mnist", count=100)
    torch.testing.assert_close(images[:100].float() / 255, original.flatten(1))
    # Known of the data set: mean 0.2860.
    assert lab.mean_pixel(images) == pytest.approx(0.2860, abs=5e-5)
    with pytest.raises(ValueError, match="precision must be one of single, double, got 'half'"):
        lab.ranks(images[:9], [3], 1, Stream(0), precision="half")
