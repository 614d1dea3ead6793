"""Plant slips of one token in a copy of the code, and see whether the test file beside it notices.

    python tests/mutants.py src/signalprop/theory src/signalprop/limits --count 200

A slip is a sign or an operation turned round, a comparison flipped, a number off by one (or by a
tenth), a root left out, n for n - 1. Not touched are texts, types, the arguments of ``raise``,
and numbers so small that they can only be tolerances. Every slip is tried by itself against the
mirrored test file (``src/a/b.py``: ``tests/a/test_b.py``); it survives if that file still passes.
Settings are not touched either: constants in capitals outside of ``theory`` say how fine, how far
and how many at once, and a value near them serves as well. The same is true, and they are left
alone, of what a function of ``POINTS`` is given: it places the points at which a curve is looked at
or an integral is taken; of how often ``for _ in range(...)`` halves or doubles, where that is a
number; of what a function as ``zeros_like`` is given, since it sees the shape only; and of what
stands in an ``if`` that ends in ``raise``, since it words the error.
Nor are those of ``tests/same_anyway.txt``: survivors of earlier samples that were read and change
nothing but the time taken or the last bit, each with its reason. A slip that changes a result
belongs into a test, not there.
Prints the survivors, their share and its exact interval of 95 %, and fails if the share is above
5 %. A sample is drawn anew each time: to mend what survives and draw the same again proves nothing.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import io
import multiprocessing.pool
import os
import random
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[1]
SAME = Path(__file__).with_name("same_anyway.txt")
ALLOWED = 0.05  # share of survivors: some slips change nothing, such as a finer grid
SECONDS = 120  # of CPU time, whatever else the machine does: a slip may make a loop endless
TOLERANCE = 1e-6  # numbers below are for rounding

OPERATIONS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
UNTOUCHED = ("annotation", "returns", "decorator_list")  # of a decorator: how much a cache keeps
#: Functions that place points: what they are given says how many and how far, with a margin.
POINTS = {"linspace", "geomspace", "leggauss", "resolve", "grid_at_length"}
DIGITS = "show"  # how many digits are shown changes no result
NAMES = {"maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "log1p": "log"}
NAMES |= {"amax": "amin", "amin": "amax", "expm1": "exp", "cos": "sin", "sin": "cos"}


def test_of(path: Path) -> Path:
    """The test file that mirrors a module: ``src/a/_b.py`` has ``tests/a/test_b.py``."""
    inside = path.relative_to(ROOT / "src")
    return ROOT / "tests" / inside.with_name(f"test_{inside.stem.strip('_')}.py")


@dataclass(frozen=True)
class Mutant:
    """A file with one slip: the ``text`` it then has, and what was changed in which line."""

    path: Path
    line: int
    slip: str
    text: str

    @property
    def test(self) -> Path:
        return test_of(self.path)

    @property
    def name(self) -> str:
        code = self.path.read_text().splitlines()[self.line - 1].strip()
        return f"{self.path.relative_to(ROOT)}: {self.slip}  in  {code}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Every slip in a file."""
    source = path.read_text()
    lines = source.encode().splitlines(keepends=True)
    tree = ast.parse(source)
    if "theory" not in path.parts:
        tree.body = [node for node in tree.body if not _is_setting(node)]
    for node in _code(tree):
        for other in _slips(node):
            text = f"({ast.unparse(other)})"
            changed = _replaced(lines, node, text)
            slip = f"{ast.unparse(node)}  ->  {ast.unparse(other)}"
            yield Mutant(path, node.lineno, slip, changed)


def _code(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that compute something."""
    for name, value in ast.iter_fields(node):
        if isinstance(node, ast.FunctionDef) and _is_overload(node):
            return
        if name in UNTOUCHED or isinstance(node, ast.Raise | ast.JoinedStr):
            continue
        if name in ("args", "keywords") and isinstance(node, ast.Call) and _is_effort(node):
            continue
        if isinstance(node, ast.Call) and name == "args" and ast.unparse(node.func) == DIGITS:
            value = value[:1]
        if isinstance(node, ast.If) and name == "body" and isinstance(node.body[-1], ast.Raise):
            continue
        if isinstance(node, ast.For) and name == "iter" and _is_count(node):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr):
                yield child
            if isinstance(child, ast.AST):
                yield from _code(child)


def _is_overload(function: ast.FunctionDef) -> bool:
    """Whether only type checkers read it."""
    return any(ast.unparse(decorator) == "overload" for decorator in function.decorator_list)


def _is_effort(call: ast.Call) -> bool:
    name = ast.unparse(call.func).split(".")[-1]
    return name in POINTS or name.endswith("_like")


def _is_count(loop: ast.For) -> bool:
    return bool(re.fullmatch(r"for _ in range\(\d+\):", ast.unparse(loop).splitlines()[0]))


def _is_setting(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).isupper()


def _slips(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Constant(value=bool() | str() | None):
            pass
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)) if abs(value) >= TOLERANCE or value == 0:
            yield ast.Constant(1.1 * value if value else 0.1)
        case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS:
            yield ast.BinOp(left, OPERATIONS[type(operation)](), right)
            if isinstance(operation, ast.Add | ast.Sub) and isinstance(right, ast.Constant):
                yield left
        case ast.Compare(left, [operation, *others], right) if type(operation) in OPERATIONS:
            yield ast.Compare(left, [OPERATIONS[type(operation)](), *others], right)
        case ast.BoolOp(operation, values):
            yield ast.BoolOp(OPERATIONS[type(operation)](), values)
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.Call(ast.Attribute(_, "sqrt"), [argument]):
            yield argument
        case ast.Call(ast.Attribute(value, "sqrt"), []):
            yield value
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in NAMES:
            yield ast.Call(ast.Attribute(value, NAMES[name]), arguments, keywords)
        case ast.Call(ast.Name(name), arguments, keywords) if name in NAMES:
            yield ast.Call(ast.Name(NAMES[name]), arguments, keywords)


def _replaced(lines: list[bytes], node: ast.expr, text: str) -> str:
    assert node.end_lineno is not None
    before = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    after = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (before + text.encode() + after).decode()


def passes(mutant: Mutant) -> bool:
    """Whether the test file passes with the slip, in a process that shares our imports."""
    with tempfile.TemporaryDirectory() as folder:
        package = mutant.path.relative_to(ROOT / "src").parts[0]
        shutil.copytree(ROOT / "src" / package, Path(folder) / package)
        (Path(folder) / mutant.path.relative_to(ROOT / "src")).write_text(mutant.text)
        process = multiprocessing.get_context("fork").Process(target=_run, args=(folder, mutant))
        process.start()
        process.join()
        return process.exitcode == 0


def _run(folder: str, mutant: Mutant) -> None:
    import pytest

    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    sys.path.insert(0, folder)
    options = ["-xq", "-p", "no:cacheprovider", "-p", "no:xdist", str(mutant.test)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = pytest.main(options, plugins=[CheapFirst])
    sys.exit(int(code))


class CheapFirst:
    """Tests marked `slow` come last: what the others notice already need not be paid for twice."""

    @staticmethod
    def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: "slow" in item.keywords)


def main() -> None:
    """See ``--help``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path, help="files or folders under src")
    parser.add_argument("--count", type=int, help="try so many, drawn at random; all by default")
    parser.add_argument("--seed", type=int, help="which are drawn; others each time by default")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    files = sorted(f for p in options.paths for f in ([p] if p.is_file() else p.rglob("*.py")))
    same = {line.split("  # ")[0] for line in SAME.read_text().splitlines()}
    every = [m for f in files if f.name != "__init__.py" for m in mutants(f.resolve())]
    found = [m for m in every if m.name not in same]
    print(f"{len(every) - len(found)} slips are known to change nothing: {SAME.name}", flush=True)
    missing = sorted({str(m.test.relative_to(ROOT)) for m in found if not m.test.is_file()})
    if missing:
        sys.exit(f"no test file: {', '.join(missing)}")
    if options.count and options.count < len(found):
        seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
        print(f"{options.count} of {len(found)} slips, drawn with the seed {seed}", flush=True)
        found = random.Random(seed).sample(found, options.count)
    _load()
    whole = {m.path: Mutant(m.path, 0, "", m.path.read_text()) for m in found}
    with multiprocessing.pool.ThreadPool(options.jobs) as pool:
        broken = [
            m
            for m, good in zip(whole.values(), pool.map(passes, whole.values()), strict=True)
            if not good
        ]
        if broken:
            sys.exit(f"fails without a slip: {', '.join(str(m.test) for m in broken)}")
        survivors = []
        for number, (mutant, alive) in enumerate(
            zip(found, pool.imap(passes, found), strict=True), start=1
        ):
            if alive:
                survivors.append(mutant)
                print(f"{mutant.path.relative_to(ROOT)}:{mutant.line}: {mutant.slip}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{number} of {len(found)}", end="", file=sys.stderr, flush=True)
    from scipy import stats

    share = len(survivors) / len(found)
    low, high = stats.binomtest(len(survivors), len(found)).proportion_ci(method="exact")
    print(
        f"{len(survivors)} of {len(found)} slips survive: {100 * share:.1f} % "
        f"(exact interval {100 * low:.1f} to {100 * high:.1f} %)"
    )
    sys.exit(share > ALLOWED)


def _load() -> None:
    """Load once what every test needs, so that the processes that try a slip share it."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    import hypothesis, mpmath, pytest, scipy.integrate, scipy.optimize, scipy.stats, torch  # noqa: E401, F401, I001

    torch.set_num_threads(1)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main(["--version"])  # loads its own parts
    for name in [name for name in sys.modules if name.split(".")[0] in ("conftest", "tests")]:
        del sys.modules[name]
    gc.freeze()  # what is there stays: pytest collects garbage after every run


if __name__ == "__main__":
    main()
