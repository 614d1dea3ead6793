"""Which device ``device=auto`` is: a GPU where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["resolved"]


def resolved(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of parameters with the machine's own device in place of ``auto``.

    What a run keeps names the device that it had.

    >>> resolved({"runs": 5, "device": "cpu"})
    {'runs': 5, 'device': 'cpu'}
    """
    if values.get("device") != "auto":
        return dict(values)
    import torch  # it takes seconds, and most commands need it not

    return {**values, "device": "cuda" if torch.cuda.is_available() else "cpu"}
