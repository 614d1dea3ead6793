"""Any modules of one shape, side by side as one."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import nn

from signalprop.training.checkpoint import structure

__all__ = ["Stacked"]

WAYS = ("auto", "together", "in turn")


class Stacked(nn.Module):
    """Modules of one structure as one module with parameters ``(models, ...)``.

    It takes ``(models, n, ...)`` and returns ``(models, n, ...)``, and serves for whatever is to be
    trained side by side. Buffers (running averages) are ``(models, ...)`` as well, and each
    network's are its own; what a pass changes in place is kept.

    ``how`` says in which way: ``"together"`` by ``torch.func.vmap``, ``"in turn"`` one module after
    the other, ``"auto"`` together where that is as fast and goes: not for convolutions (grouped
    ones took 1.4 times as long on a processor as those in turn), nor for modules that look at
    numbers to decide what to do, as norms with ``eps = 0`` do. The results agree to rounding.

    >>> net = Stacked([nn.Linear(3, 2) for _ in range(5)])
    >>> net(torch.ones(5, 4, 3)).shape, net.weight.shape
    (torch.Size([5, 4, 2]), torch.Size([5, 2, 3]))
    """

    def __init__(self, modules: Sequence[nn.Module], how: str = "auto") -> None:
        super().__init__()
        if not modules:
            raise ValueError("modules must hold at least one module, got none")
        if how not in WAYS:
            raise ValueError(f"how must be one of {', '.join(WAYS)}, got {how!r}")
        _require_alike(modules)
        first = modules[0]
        self.models, self.how = len(modules), how
        convolves = any(isinstance(part, nn.modules.conv._ConvNd) for part in first.modules())
        self._together = how == "together" or (how == "auto" and not convolves)
        self._proven: set[bool] = set()  # the modes in which a pass together went through
        # In a tuple, so that its parameters, which are only placeholders, are not registered here.
        self._template = (copy.deepcopy(first),)
        self._names = {name: name.replace(".", "_") for name, _ in _tensors(first)}
        states = [dict(_tensors(module)) for module in modules]
        for name, mine in self._names.items():
            values = torch.stack([state[name].detach() for state in states])
            if isinstance(one := states[0][name], nn.Parameter):
                self.register_parameter(mine, nn.Parameter(values, one.requires_grad))
            else:
                self.register_buffer(mine, values)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs of the modules, each for its own ``x[k]``."""
        if len(x) != self.models:
            raise ValueError(f"x must be ({self.models}, n, ...), got shape {tuple(x.shape)}")
        template = self._template[0].train(self.training)
        state = {name: getattr(self, mine) for name, mine in self._names.items()}
        if not self._together:
            return self._in_turn(template, state, x)
        if self.how == "together" or self.training in self._proven:
            return _at_once(template, state, x)
        before = [buffer.clone() for buffer in self.buffers()]
        try:
            outputs = _at_once(template, state, x)
        except RuntimeError:  # what vmap cannot do; a real error comes again below
            for buffer, value in zip(self.buffers(), before, strict=True):
                buffer.copy_(value)
            self._together = False
            return self._in_turn(template, state, x)
        self._proven.add(self.training)
        return outputs

    def _in_turn(
        self, template: nn.Module, state: dict[str, torch.Tensor], x: torch.Tensor
    ) -> torch.Tensor:
        each = [values.unbind() for values in state.values()]
        outputs = [
            torch.func.functional_call(template, dict(zip(state, values, strict=True)), (xk,))
            for xk, *values in zip(x.unbind(), *each, strict=True)
        ]
        return torch.stack(outputs)

    def each(self) -> list[nn.Module]:
        """Return the modules on their own: copies, with parameters and buffers as they are now."""
        modules = [
            copy.deepcopy(self._template[0]).train(self.training) for _ in range(self.models)
        ]
        with torch.no_grad():
            for k, module in enumerate(modules):
                for name, tensor in _tensors(module):
                    tensor.data = getattr(self, self._names[name])[k].clone()
        return modules

    def extra_repr(self) -> str:
        """Return the module that the networks have the structure of."""
        return f"{self.models} networks, {self._template[0]}"


def _at_once(template: nn.Module, state: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    def one(state: dict[str, torch.Tensor], xk: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = torch.func.functional_call(template, state, (xk,))
        return output

    outputs: torch.Tensor = torch.func.vmap(one, randomness="different")(state, x)
    return outputs


def _tensors(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Return parameters and buffers by name; what is shared comes once."""
    return [*module.named_parameters(), *module.named_buffers()]


def _require_alike(modules: Sequence[nn.Module]) -> None:
    first = modules[0]
    shapes = [(name, tensor.shape) for name, tensor in _tensors(first)]
    for module in modules[1:]:
        theirs = [(name, tensor.shape) for name, tensor in _tensors(module)]
        if shapes != theirs or structure(module) != structure(first):
            raise ValueError(f"modules must have one structure, got {first} and {module}")
