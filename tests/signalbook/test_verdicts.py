"""The words for verdicts: in order, said on the page for readers, and light to load."""

import re
import subprocess
import sys
from pathlib import Path

from signalbook.pages import TO_COME
from signalbook.verdicts import SEVERITIES, VERDICTS

CERTIFIED = ["certified", "holds (proved)"]  # said beside a verdict, by a certificate
READING = (Path(__file__).parents[2] / "pages" / "reading.md").read_text()


def test_readers_are_told_every_word_in_its_order():
    """The page says that an ID whose claims differ gets the last of their verdicts."""
    told = re.findall(r"^(\w.*)\n: ", READING, re.MULTILINE)
    assert told == [*VERDICTS, TO_COME, *CERTIFIED, *SEVERITIES]


def test_the_build_computes_nothing_and_loads_nothing_to_compute_with():
    program = "import sys, signalbook.build; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert "signalbook.site" in loaded
    assert not {"torch", "scipy", "pandas", "matplotlib"} & loaded
