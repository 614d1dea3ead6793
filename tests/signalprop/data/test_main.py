"""The command line of the data sets."""

from dataclasses import replace

import pytest

from signalprop.data import __main__ as cli
from signalprop.data import catalog
from tests.signalprop.data.tiny import fake


def test_command_line(tiny, capsys):
    tiny(fake())
    assert cli.main(["fetch", "tiny"]) == 0
    assert cli.main(["list"]) == 0
    assert cli.main(["verify"]) == 0
    told = capsys.readouterr().out
    assert "tiny           cached" in told
    assert "tiny: good" in told
    assert cli.main([]) == 0
    assert "tiny           cached" in capsys.readouterr().out
    tiny(fake(problem="gone"))
    assert cli.main(["fetch", "tiny"]) == 1
    assert "gone" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["fetch", "nothing"])


def test_what_has_no_digest_is_not_called_good(tiny, monkeypatch, capsys):
    tiny(fake())
    cli.main(["fetch", "tiny"])
    monkeypatch.setitem(catalog.DATASETS, "tiny", replace(catalog.DATASETS["tiny"], digests={}))
    capsys.readouterr()
    assert cli.main(["verify"]) == 0
    assert capsys.readouterr().out.startswith("tiny: not verified")
