"""Checkpoints that are whole or absent, and that only continue the run they are of."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import nn

from signalprop._identity import recipe_digest
from signalprop.chains.chain import Chain

__all__ = ["read_checkpoint", "run_identity", "structure", "write_checkpoint"]

DIGEST = 32  # bytes of SHA-256, which stand before the state


def write_checkpoint(path: Path, state: dict[str, Any], identity: str) -> None:
    """Write ``state`` so that ``path`` is at any moment absent, or one whole state, old or new.

    Why it holds: the state is written beside ``path`` and synced, then renamed, which is atomic.
    ``identity`` says which run it is of, see `run_identity`.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_checkpoint(Path(folder) / "toy.pt", {"step": 3}, identity="toy")
    ...     read_checkpoint(Path(folder) / "toy.pt", identity="toy")
    {'step': 3}
    """
    whole = io.BytesIO()
    torch.save({"identity": identity, "state": state}, whole)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as folder:
        part = Path(folder) / path.name
        with part.open("wb") as file:
            file.write(hashlib.sha256(whole.getbuffer()).digest())
            file.write(whole.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


def read_checkpoint(path: Path, identity: str) -> dict[str, Any] | None:
    """Return the state saved in ``path``, None if there is none.

    A file of another run, or a damaged one, is an error: it is for its owner to delete. What the
    file says of itself is compared with its digest, so that no flipped bit goes unseen.

    >>> read_checkpoint(Path("no-such-file.pt"), identity="toy") is None
    True
    """
    if not path.exists():
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"checkpoint {path} cannot be read ({error}): delete it") from error
    found, whole = content[:DIGEST], content[DIGEST:]
    if hashlib.sha256(whole).digest() != found:
        raise ValueError(f"checkpoint {path} cannot be read (it is damaged): delete it")
    saved = torch.load(io.BytesIO(whole), map_location="cpu", weights_only=True)
    if saved["identity"] != identity:
        raise ValueError(f"checkpoint {path} is of another run: delete it or choose another folder")
    result: dict[str, Any] = saved["state"]
    return result


def run_identity(*parts: object) -> str:
    """Return a digest of tensors (their bytes), chains and functions (what they are made of).

    Of other values it knows what they print.

    >>> run_identity(torch.zeros(2), "a") == run_identity(torch.zeros(2), "a")
    True
    >>> run_identity(torch.zeros(2), "a") == run_identity(torch.ones(2), "a")
    False
    >>> run_identity(torch.relu) == run_identity(torch.tanh)
    False
    """
    result = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, torch.Tensor):
            result.update(f"{part.dtype}{tuple(part.shape)}".encode())
            result.update(part.detach().cpu().contiguous().numpy().data)
        elif callable(part) or isinstance(part, Chain):
            result.update(recipe_digest(part).encode())
        else:
            result.update(repr(part).encode())
    return result.hexdigest()


def structure(model: nn.Module) -> str:
    """Return what ``model`` prints: its layers and their options, without addresses in memory.

    >>> structure(nn.ReLU())
    'ReLU()'
    """
    return re.sub(r" at 0x[0-9a-f]+", "", repr(model))
