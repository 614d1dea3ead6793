"""The command line: ``python -m environment [--this-python] [setup | lock]``.

Where this Python is too old or too new, another one is looked for; the syntax is that of old ones.
"""

import os
import subprocess
import sys

from environment import NEWEST, OLDEST

#: Exits with 0 in a Python that will do.
WILL_DO = "import sys; sys.exit(not %r <= sys.version_info[:2] <= %r)" % (OLDEST, NEWEST)


def main(arguments):
    """Run the command with this Python, or with another one that will do."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        from environment.commands import run

        return run(arguments)
    this = "%s is Python %d.%d" % (sys.executable, sys.version_info[0], sys.version_info[1])
    other = None if "--this-python" in arguments else another()
    if other is None:
        print("error: %s; Python %d.%d to %d.%d is needed." % ((this,) + OLDEST + NEWEST))
        print("  Install one and name it: make setup PYTHON=python%d.%d" % NEWEST)
        return 1
    return subprocess.call([other, "-m", "environment"] + arguments)


def another():
    """Return the Python of .venv or the newest one on the path that will do, or None."""
    minors = range(NEWEST[1], OLDEST[1] - 1, -1)
    for python in [os.path.join(".venv", "bin", "python")] + ["python3.%d" % m for m in minors]:
        try:
            with open(os.devnull, "w") as nowhere:
                if subprocess.call([python, "-c", WILL_DO], stderr=nowhere) == 0:
                    return python
        except OSError:  # not there
            pass
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
