"""The kernel's testimony: every way to reach a module leaves its name, and no other's."""

import json
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

from signalbook.fingerprint import SOURCES

TOY = {
    "signalprop/__init__.py": """
        from signalprop._lazy import reexports
        __getattr__, __dir__, __all__ = reexports(__name__, __file__)
        """,
    "signalprop/__init__.pyi": """
        from . import layers as layers
        from . import theory as theory
        from .chains import Chain as Chain
        """,
    "signalprop/layers.py": "norm = 1",
    "signalprop/chains.py": "from signalprop import layers\nChain = 1",
    "signalprop/theory/__init__.py": "from .one import *",
    "signalprop/theory/one.py": '__all__ = ["f"]\ndef f(): pass',
    "signallab/__init__.py": "",
    "signallab/rank.py": """
        from importlib.resources import files
        table = files("signallab").joinpath("table.csv").read_text()
        """,
    "signallab/table.csv": "1,2",
}
THEORY = {"theory", "theory.one"}


@pytest.fixture
def testify(tmp_path):
    for name in ("__init__", "fingerprint", "witness"):
        (tmp_path / "signalbook").mkdir(exist_ok=True)
        shutil.copy(SOURCES / "signalbook" / f"{name}.py", tmp_path / "signalbook")
    for name, text in TOY.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    shutil.copy(SOURCES / "signalprop" / "_lazy.py", tmp_path / "signalprop")

    def run(code):
        code = f"""
import json
from signalbook.witness import MIME, Testimony, watch
watch()
{code}
print(json.dumps(Testimony()._repr_mimebundle_()[MIME]))"""
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        made = subprocess.check_output([sys.executable, "-c", code], env=environment)
        return json.loads(made)

    run.folder = tmp_path
    return run


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import signalprop as sp\nsp.theory.f()", THEORY),
        ("import signalprop as sp\nt = sp.theory\nt.f()", THEORY),
        ("import signalprop as sp\nL = sp.layers", {"layers"}),
        ("import signalprop.theory", THEORY),
        ("from signalprop.theory import *\nf()", THEORY),
        ("import signalprop\ngetattr(signalprop, 'the' + 'ory').f()", THEORY),
        ("import importlib\nimportlib.import_module('signalprop.theory')", THEORY),
        ("from signalprop import Chain", {"chains", "layers"}),
        ("import signalprop", set()),
    ],
)
def test_every_form_of_import_is_seen(testify, code, expected):
    seen = testify(code)
    assert set(seen["modules"]) == {"signalprop", "signalprop._lazy"} | {
        f"signalprop.{name}" for name in expected
    }
    assert set(seen["files"]) == {"signalprop/__init__.pyi"}


def test_files_of_a_package_are_seen(testify):
    first = testify("import signallab.rank")
    assert set(first["modules"]) == {"signallab", "signallab.rank"}
    assert set(first["files"]) == {"signallab/table.csv"}
    (testify.folder / "signallab" / "table.csv").write_text("1,3")
    assert testify("import signallab.rank")["files"] != first["files"]


def test_an_edit_of_the_same_second_and_size_is_seen(testify):
    """Where a bytecode cache would be taken for fresh."""
    path = testify.folder / "signalprop" / "layers.py"
    first = testify("import signalprop.layers as l\nassert l.norm == 1")
    times = path.stat()
    path.write_text("norm = 2")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert testify("import signalprop.layers as l\nassert l.norm == 2") != first


def test_a_kernel_runs_the_sources_as_they_stood_when_it_started(testify):
    path = testify.folder / "signalprop" / "layers.py"
    edit = f"open({str(path)!r}, 'w').write('norm = 3')"
    first = testify("import signalprop.layers")
    assert testify(f"{edit}\nimport signalprop.layers as l\nassert l.norm == 1") == first
