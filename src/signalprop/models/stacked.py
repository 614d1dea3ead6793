"""Any modules of one shape, side by side as one."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import nn

__all__ = ["Stacked"]


class Stacked(nn.Module):
    """Modules of one structure as one module with parameters ``(models, ...)``.

    It takes ``(models, n, ...)`` and returns ``(models, n, ...)``, one module after the other.
    Where a batched product serves, as in `MLP`, that is faster; this one is for whatever else is
    to be trained side by side, such as convolutional networks. Modules with buffers (running
    averages) are refused: they could not be kept apart.

    >>> net = Stacked([nn.Linear(3, 2) for _ in range(5)])
    >>> net(torch.ones(5, 4, 3)).shape, net.weight.shape
    (torch.Size([5, 4, 2]), torch.Size([5, 2, 3]))
    """

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        super().__init__()
        if not modules:
            raise ValueError("modules must hold at least one module, got none")
        if buffers := [name for name, _ in modules[0].named_buffers()]:
            raise ValueError(f"modules must have no buffers, got {', '.join(buffers)}")
        self.models = len(modules)
        self._names = [name for name, _ in modules[0].named_parameters()]
        states = [dict(module.named_parameters()) for module in modules]
        # In a tuple, so that its parameters, which are only placeholders, are not registered here.
        self._template = (copy.deepcopy(modules[0]),)
        for name in self._names:
            values = torch.stack([state[name].detach() for state in states])
            self.register_parameter(name.replace(".", "_"), nn.Parameter(values))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs of the modules, each for its own ``x[k]``."""
        each = [getattr(self, name.replace(".", "_")).unbind() for name in self._names]
        template = self._template[0].train(self.training)
        outputs = [
            torch.func.functional_call(template, dict(zip(self._names, values, strict=True)), (xk,))
            for xk, *values in zip(x.unbind(), *each, strict=True)
        ]
        return torch.stack(outputs)

    def each(self) -> list[nn.Module]:
        """Return the modules on their own: copies, with the parameters as they are now."""
        modules = [
            copy.deepcopy(self._template[0]).train(self.training) for _ in range(self.models)
        ]
        with torch.no_grad():
            for name in self._names:
                values = getattr(self, name.replace(".", "_"))
                for module, value in zip(modules, values, strict=True):
                    module.get_parameter(name).data = value.clone()
        return modules

    def extra_repr(self) -> str:
        """Return the module that the networks have the structure of."""
        return f"{self.models} networks, {self._template[0]}"
