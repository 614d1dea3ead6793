"""What a chapter's numbers depend on: found through re-exports, stars and relative imports."""

import pytest

from signalbook import keys


@pytest.fixture
def package(tmp_path):
    files = {
        "signalprop/__init__.py": "from signalprop import theory\nfrom .chains import Chain\n",
        "signalprop/chains.py": "from .random import Stream\n",
        "signalprop/random.py": "import math\n",
        "signalprop/other.py": "",
        "signalprop/theory/__init__.py": "from .one import *\nfrom .two import *\n",
        "signalprop/theory/one.py": '__all__ = ["bound"]\n',
        "signalprop/theory/two.py": '__all__ = ["rate"]\n',
        "signalprop/loud/__init__.py": "from .inner import f\nif f:\n    f = 1\n",
        "signalprop/loud/inner.py": "",
        "signalprop/same/__init__.py": "from signalprop.same.same import same\n",
        "signalprop/same/same.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import signalprop as sp\nsp.Chain(3)", {"chains.py", "random.py"}),
        ("from signalprop import Chain", {"chains.py", "random.py"}),
        ("import signalprop as sp\nsp.theory.bound()", {"theory/one.py"}),
        ("from signalprop.theory import rate", {"theory/two.py"}),
        ("from signalprop import other as o\no.x", {"other.py"}),
        ("import signalprop.random", {"random.py"}),
        ("from signalprop.same import same", {"same/same.py"}),
        ("from signalprop.loud import f", {"loud/__init__.py", "loud/inner.py"}),
        ("import numpy as np\nnp.Chain", set()),
    ],
)
def test_imported(package, code, expected):
    found = {p.relative_to(package / "signalprop").as_posix() for p in keys.imported(code, package)}
    assert found == expected


def test_key_covers_each_dependency_and_no_prose(book):
    from signalbook.project import Project

    path = book.chapter("orthogonality/a", "ORTH-X1")
    project = Project(book.root)

    def key():
        return keys.key(project, "orthogonality/a", "fast")

    first = key()
    original = path.read_text()
    path.write_text(original.replace("Prose of", "Other prose of"))
    assert key() == first
    path.write_text(original.replace("seed: int = 0", "seed: int = 1"))
    assert {name for name, value in key().items() if value != first[name]} == {"parameters"}
    path.write_text(original.replace("(runs)", "(2 * runs)"))
    assert {name for name, value in key().items() if value != first[name]} == {"code"}
    path.write_text(original)
    (book.root / "constraints.txt").write_text("numpy==1\n")
    assert {name for name, value in key().items() if value != first[name]} == {"constraints"}
