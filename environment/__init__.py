"""What makes `.venv`: `make` runs `python -m environment` before every command.

Standard library alone: it runs before anything is installed. :mod:`environment.venv` makes and
checks the virtual environment, :mod:`environment.uv` runs uv, :mod:`environment.torch` chooses the
build of torch, :mod:`environment.lock` writes the pins. This file and ``__main__`` keep to the
syntax of old Pythons, so that these can say that they are too old.
"""

#: The Pythons that the pins hold for.
OLDEST, NEWEST = (3, 11), (3, 14)


class SetupError(Exception):
    """What stopped the set-up, and what to do, in words for the person who called it."""
