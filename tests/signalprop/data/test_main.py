"""The command line of the data sets."""

import pytest

from signalprop.data import __main__ as cli
from tests.signalprop.data.tiny import fake


def test_command_line(tiny, capsys):
    tiny(fake())
    assert cli.main(["fetch", "tiny"]) == 0
    assert cli.main(["list"]) == 0
    assert cli.main(["verify"]) == 0
    assert "tiny           cached" in capsys.readouterr().out
    tiny(fake(problem="gone"))
    assert cli.main(["fetch", "tiny"]) == 1
    assert "gone" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["fetch", "nothing"])
