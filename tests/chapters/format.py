"""Format the code cells of all chapters in place, to the width that a page shows."""

import re
import subprocess
import sys
from pathlib import Path

CELL = re.compile(
    r"(^```\{code-cell\}[^\n]*\n(?:---\n.*?\n---\n|(?::[^\n]*\n)*))(.*?)(^```$)", re.M | re.S
)


def formatted(match: re.Match[str]) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "82", "-"]
    run = subprocess.run(command, input=match[2], capture_output=True, text=True, check=True)
    return match[1] + run.stdout.rstrip("\n") + "\n" + match[3]


if __name__ == "__main__":
    for path in (Path(__file__).parents[2] / "chapters").rglob("*.md"):
        text = path.read_text()
        path.write_text(CELL.sub(formatted, text))
