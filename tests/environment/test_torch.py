"""The build of torch: one's own wheel, then PyTorch's index for this machine, then any."""

from __future__ import annotations

import sys

import pytest

from environment import SetupError, torch

CPU = "Would install\n + torch==2.0+cpu"


class Uv:
    """Answers by the option that is asked for."""

    def __init__(self, answers: dict[str, str], **variables: str) -> None:
        self.answers, self.variables = answers, variables
        self.asked: list[tuple[str, ...]] = []

    def check(self, *arguments: str, **variables: str | None) -> tuple[bool, str]:
        self.asked.append(arguments)
        for option, answer in self.answers.items():
            if option in arguments:
                return True, answer
        return False, "error: dns error"

    def show(self, *arguments: str, **variables: str | None) -> None:
        self.asked.append(("show", *arguments))
        self.shown = variables


@pytest.mark.parametrize(
    ("uv", "options", "line"),
    [
        (Uv({"--offline": "Would make no changes"}), [], "torch 2.0 is there"),
        (
            Uv({"--no-index": CPU, "--torch-backend": CPU}, UV_FIND_LINKS="/wheels"),
            [],
            "torch 2.0+cpu from the folder of wheels",
        ),
        (
            Uv({"--torch-backend": CPU}, UV_FIND_LINKS="/wheels"),
            ["--torch-backend", "auto"],
            "torch 2.0+cpu from PyTorch's index for this machine",
        ),
        (
            Uv({}),
            [],
            "PyTorch's own index is out of reach, or has no such build: "
            "torch 2.0 from the configured index",
        ),
        (Uv({"--torch-backend": CPU}, UV_NO_INDEX="1"), [], "torch 2.0 from the configured index"),
    ],
    ids=["there", "wheel", "backend", "fallback", "offline"],
)
def test_which_build_is_taken(monkeypatch, uv, options, line):
    monkeypatch.setattr(sys, "platform", "linux")
    assert torch.choose(uv, "2.0") == (options, line)


def test_on_macos_there_is_one_build(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    uv = Uv({"--torch-backend": CPU})
    assert torch.choose(uv, "2.0") == ([], "torch 2.0 from the configured index")


def test_an_index_that_was_named_is_the_only_one():
    uv = Uv({"--default-index": CPU}, UV_FIND_LINKS="/wheels")
    torch.install_from(uv, "2.0", "https://a.example/whl", "Python 3.11.2")
    assert uv.asked[-1][-3:] == ("--default-index", "https://a.example/whl", "torch==2.0")
    assert set(uv.shown) >= {"UV_FIND_LINKS", "UV_INDEX", "UV_NO_INDEX"}
    assert set(uv.shown.values()) == {None}


def test_an_index_that_was_named_and_is_out_of_reach_stops_the_set_up():
    with pytest.raises(SetupError, match=r"^TORCH_INDEX: no network"):
        torch.install_from(Uv({}), "2.0", "https://a.example/whl", "Python 3.11.2")
