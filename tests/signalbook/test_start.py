"""The first line of a chapter checks what was injected and names the randomness."""

import matplotlib.pyplot as plt
import pytest

from signalbook import start as module
from signalbook.errors import BookError
from signalbook.start import start
from signalprop import Stream

DECLARED = "runs: int = 20\nrate: float = 0.1\ndevice: str = 'cpu'\nseed: int = 0"


@pytest.fixture
def injected(monkeypatch):
    def install(text):
        monkeypatch.setattr(module, "history", lambda: [DECLARED, f"# Parameters\n{text}\n"])

    return install


def test_randomness_is_that_of_chapter_and_seed():
    assert start("kernels/b", 3) == Stream(3, ("kernels/b",))


def test_the_style_is_the_books():
    plt.rcParams["figure.figsize"] = (1, 1)
    start("kernels/b", 0)
    assert plt.rcParams["figure.figsize"] == [4.8, 3.3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bogus = 1", "kernels/b: unknown parameter 'bogus'; there are: runs: int"),
        ("runs = 2.5", r"kernels/b: parameter runs must be int, got 2\.5"),
        ("runs = 0", "kernels/b: parameter runs must be 1 or more, got 0"),
        ("rate = float('nan')", "kernels/b: parameter rate must be finite, got nan"),
        ("device = 'quantum'", "device 'quantum' is not there; there are: cpu"),
    ],
)
def test_what_was_injected_wrongly_is_named(injected, text, message):
    injected(text)
    with pytest.raises(BookError, match=message):
        start("kernels/b", 0)


def test_what_fits_passes(injected):
    injected("runs = 5\ndevice = 'meta'")
    assert start("kernels/b", 0).names == ("kernels/b",)
