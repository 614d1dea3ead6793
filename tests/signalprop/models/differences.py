"""Gradients against differences of the loss along one random direction."""

import pytest
import torch


def has_the_gradient_of_its_differences(loss, weights, *, step, rel):
    """Assert that the slope of ``loss()`` along a random direction is that of central differences.

    ``step`` is small beside the distance to the next kink, ``rel`` large beside rounding / step.
    The weights end where the lower of the two differences was taken.
    """
    gradients = torch.autograd.grad(loss(), weights)
    direction = [torch.randn_like(p) for p in weights]
    slope = sum(float((g * d).sum()) for g, d in zip(gradients, direction, strict=True))
    ends = []
    for move in (step, -2 * step):
        with torch.no_grad():
            for p, d in zip(weights, direction, strict=True):
                p += move * d
            ends.append(float(loss()))
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=rel)
