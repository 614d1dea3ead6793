"""What values are made of, as a digest: so that two recipes can be told apart, or found equal."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

__all__ = ["recipe_digest"]


def recipe_digest(*values: object) -> str:
    """Return 32 hexadecimal digits that tell values apart by all they are made of.

    Arrays by their bytes, modules by class, options, parameters and children, functions by their
    code with its constants, defaults and what they enclose, all other things by their class and
    attributes. Not by where they lie in memory: what is made twice in the same way is the same.
    What a function reads from its module is not looked at. Code differs between versions of Python.

    >>> recipe_digest(nn.ReLU(), torch.tanh) == recipe_digest(nn.ReLU(), torch.tanh)
    True
    >>> recipe_digest(lambda x: x + 1) == recipe_digest(lambda x: x + 2)
    False
    """
    return hashlib.blake2b(_told(list(values), ()).encode(), digest_size=16).hexdigest()


def _told(value: Any, above: tuple[int, ...]) -> str:
    """Return a text that says what ``value`` is made of; ``above`` is what it is a part of."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | range):
        return repr(value)
    if id(value) in above:
        return "itself"
    inside = functools.partial(_told, above=(*above, id(value)))
    if isinstance(value, torch.Tensor):
        return inside(value.detach().cpu().numpy()) + str(value.dtype)
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return inside(value.tolist())
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{inside(k)}: {inside(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return type(value).__name__ + "(" + ", ".join(map(inside, value)) + ")"
    return f"{_name(value)}({inside(_parts(value))})"


def _name(value: Any) -> str:
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', None)}.{named.__qualname__}"


def _parts(value: Any) -> Any:
    """Return of a function, a module or any other thing what is to be told of it."""
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, types.CodeType):
        return [value.co_code, value.co_names, value.co_varnames, value.co_consts]
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, nn.Module):
        own = {k: v for k, v in vars(value).items() if not k.startswith("_")}
        return [own, value._parameters, value._buffers, value._modules]
    if isinstance(value, type | types.BuiltinFunctionType):
        return None
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return vars(value) if hasattr(value, "__dict__") else repr(value)
