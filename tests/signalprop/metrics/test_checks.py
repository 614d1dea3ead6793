"""What metrics ask of a batch and of a Gram matrix."""

import pytest
import torch

from signalprop.metrics import _checks as checks


@pytest.mark.parametrize("shape", [(3,), (0, 3), (3, 0)])
def test_batches_have_samples_and_features(shape):
    checks.require_batch(torch.ones(2, 1, 1))
    checks.require_batch(torch.ones(0, 1, 1))  # no batch at all is no wrong one
    with pytest.raises(ValueError, match=r"x must be .* with n, d >= 1, got shape"):
        checks.require_batch(torch.ones(shape))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize(("off", "good"), [(0.0, True), (1e-10, True), (1e-6, False)])
def test_symmetric_means_up_to_rounding_at_any_scale(scale, off, good):
    m = scale * torch.tensor([[2.0, 1.0], [1.0 + off, 3.0]], dtype=torch.float64)
    if good:
        checks.require_symmetric(m)
    else:
        with pytest.raises(ValueError, match="m must be symmetric"):
            checks.require_symmetric(m)


@pytest.mark.parametrize(("off", "good"), [(0.97e-4, True), (1.03e-4, False)])
def test_single_precision_has_a_wider_rounding(off, good):
    m = torch.tensor([[2.0, 1.0], [1.0 + off, 3.0]])
    if good:
        checks.require_symmetric(m)
    else:
        with pytest.raises(ValueError, match="m must be symmetric"):
            checks.require_symmetric(m)


@pytest.mark.parametrize("shape", [(2,), (2, 3), (0, 0)])
def test_gram_matrices_are_square(shape):
    checks.require_symmetric(torch.zeros(0, 2, 2))
    with pytest.raises(ValueError, match=r"m must be \(..., n, n\) with n >= 1"):
        checks.require_symmetric(torch.zeros(shape))


def test_zero_norms_are_counted():
    checks.require_positive(torch.tensor([1e-300], dtype=torch.float64), "samples")
    with pytest.raises(ValueError, match="samples must not be zero, got 2 of 3 that are"):
        checks.require_positive(torch.tensor([0.0, 1.0, 0.0]), "samples")


def test_results_beyond_the_type_are_named():
    checks.require_representable(torch.tensor([1e300], dtype=torch.float64), "the sum")
    with pytest.raises(ValueError, match=r"the sum is beyond the largest torch\.float32: scale x"):
        checks.require_representable(torch.tensor([1.0, torch.inf]), "the sum")
