"""Which build of torch: without a GPU's driver the one for the CPU, else one for the driver."""

from __future__ import annotations

import re
import sys

from environment import SetupError
from environment.uv import Uv, explain

__all__ = ["choose", "install_from"]

#: A set-up must not wait long for an index that may be out of reach.
IMPATIENT = {"UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "15", "UV_HTTP_CONNECT_TIMEOUT": "5"}


def choose(uv: Uv, pin: str) -> tuple[list[str], str]:
    """Return the options that make uv take the right build, and a line that says which.

    ``--torch-backend auto`` looks for a driver and takes PyTorch's own index for it; on macOS there
    is one build only. A wheel in a folder of the user's wins: it is there for that.
    """
    if _would(uv, pin, "--offline") == "":
        return [], f"torch {pin} is there"
    if uv.variables.get("UV_FIND_LINKS") and (found := _would(uv, pin, "--no-index")):
        return [], f"{found} from the folder of wheels"
    if sys.platform != "linux" or uv.variables.get("UV_NO_INDEX"):
        return [], f"torch {pin} from the configured index"
    backend = ["--torch-backend", "auto"]
    if found := _would(uv, pin, *backend):
        return backend, f"{found} from PyTorch's index for this machine"
    line = "PyTorch's own index is out of reach, or has no such build"
    return [], f"{line}: torch {pin} from the configured index"


def install_from(uv: Uv, pin: str, index: str, python: str) -> None:
    """Install torch from one index and nowhere else; what it needs comes with the rest."""
    alone = dict.fromkeys(["UV_FIND_LINKS", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_NO_INDEX"])
    arguments = ["--reinstall", "--no-deps", "--default-index", index, f"torch=={pin}"]
    good, said = uv.check("install", "--dry-run", *arguments, **alone)
    if not good:
        raise SetupError(f"TORCH_INDEX: {explain(said, python, uv.variables)}")
    uv.show("install", *arguments, **alone)


def _would(uv: Uv, pin: str, *options: str) -> str | None:
    """Return what uv would install, nothing if it is there already, None if there is none."""
    arguments = ["install", "--dry-run", "--no-deps", *options, f"torch=={pin}"]
    good, said = uv.check(*arguments, **IMPATIENT)
    if not good:
        return None
    found = re.search(r"\+ torch==(\S+)", said)
    return f"torch {found[1]}" if found else ""
