"""How strong are the tests? Change one token of the source, run the tests of that part, and list what they miss.

    python benchmarks/mutants.py [--seed 0] [--count 60] [--jobs 2] [--module theory] [--limit 900] [--list]

A mutant is the source with one token changed: an operator swapped, a number plus one, a flag flipped, min for max, a
`not` or a minus dropped. Type annotations and texts are left alone, and so is `strict=True` of a zip, a guard that
correct code never meets. Each mutant is a copy of the tree in a folder of its own, where the tests of its room
(`tests_of`) run until the first failure. The failing test is then run on the unchanged tree as well; if it fails there
too, the mutant does not count as caught. One that exceeds the limit counts as caught, because it hangs. Machine code
is copied along, since its name tells the source that it was made from; not so where a mutant may change these names.
So run the tests once before, or every mutant compiles everything.
"""

import argparse
import ast
import contextlib
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tokenize
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from itertools import pairwise, starmap
from pathlib import Path
from typing import NamedTuple

from prudent.compile.cache import ROOMS

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "prudent"
TESTS = ROOT / "tests"
COMPILED = {"compile", *ROOMS, "portfolio"}
"""Rooms whose code other files compile into their own machine code."""

NAMING = {"compile", "portfolio"}
"""Those of which the names of machine code do not tell."""

ALSO = {
    "__main__": "package",
    "arms": "ties bandit costs risk axioms block_identities testing_values plan sampling leaping",
    "bandit": "hostile runs theory",
    "base": "arms hostile portfolio_hostile bandit study study_store anywhere plan cli cli_trouble policies "
    "catalogue report",
    "cli": "horizons plan errors evaluation portfolio_figures paper widths pages",
    "compile": "engine risk policies study testing_policies",
    "confidence": "agent_intervals risk identification_laws steps",
    "engine": "ties block_identities hypergeometric posteriors enumeration reference leaping learning leading learners "
    "runs agent agent_late",
    "live": "ties",
    "paper": "definitions figure_pins fig2_left beyond *_figure* leaderboard labels report claims",
    "plan": "figure_pins files",
    "policies": "units leaping_engine enumeration learning theorems reference threads testing_strategies",
    "portfolio": "figure_pins",
    "results": "figure_pins labels portfolio_figures grid_figures portfolio_learning portfolio_rates identities theory "
    "engine cli plan paper",
    "risk": "axioms bandit identities testing_values identification_laws confidence_once confidence_widths",
    "service": "http_* site* cli_trial",
    "study": "figure_pins cli_study plan",
    "testing": "arms best_of_both risk policies",
    "theory": "configuration_figures theorems figure_pins periods_figure",
}
"""Files of tests that say much about a room, besides those that bear its name or lie in its folder."""

SWAPS: dict[type, tuple[str, ...]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Pow: ("**", "*"),
    ast.Lt: ("<", "<=", ">"),
    ast.LtE: ("<=", "<", ">="),
    ast.Gt: (">", ">=", "<"),
    ast.GtE: (">=", ">", "<="),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


class Mutant(NamedTuple):
    """`before` at a byte of a file, which becomes `after`."""

    path: Path
    start: int
    before: str
    after: str

    @property
    def room(self) -> str:
        return self.path.relative_to(SOURCE).parts[0].removesuffix(".py")

    def source(self) -> bytes:
        old = self.path.read_bytes()
        return old[: self.start] + self.after.encode() + old[self.start + len(self.before.encode()) :]

    def __str__(self) -> str:
        old = self.path.read_bytes()
        number = old.count(b"\n", 0, self.start) + 1
        line = old.splitlines()[number - 1].decode().strip()
        change = f"{self.before} → {self.after or 'nothing'}"
        return f"{self.path.relative_to(SOURCE)}:{number}: {change}    {line}"


class Text:
    """The bytes of a file with its tokens, as the tree counts columns in bytes."""

    def __init__(self, path: Path) -> None:
        self.path, self.bytes = path, path.read_bytes()
        lines = self.bytes.splitlines(keepends=True)
        self.starts = [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]
        self.tokens = []
        for token in tokenize.tokenize(io.BytesIO(self.bytes).readline):
            row, column = token.start
            if token.type in (tokenize.OP, tokenize.NAME):
                before = lines[row - 1].decode()[:column].encode()
                self.tokens.append((self.starts[row - 1] + len(before), token.string))

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def between(self, left: ast.expr, right: ast.expr, symbol: str, *after: str) -> Iterator[Mutant]:
        """The operator between two operands, changed."""
        low, high = self.span(left)[1], self.span(right)[0]
        for start, string in self.tokens:
            if low <= start < high and string == symbol:
                yield from (Mutant(self.path, start, symbol, new) for new in after)
                return


def code_of(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but type annotations, formatted strings and guards."""
    for name, field in ast.iter_fields(tree):
        if name not in ("annotation", "returns"):
            for node in field if isinstance(field, list) else [field]:
                guard = isinstance(node, ast.keyword) and node.arg == "strict"
                if isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr) and not guard:
                    yield node
                    yield from code_of(node)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every single-token mutant of a file."""
    text = Text(path)
    for node in code_of(ast.parse(text.bytes)):
        match node:
            case ast.BinOp(left, operator, right) if type(operator) in SWAPS:
                yield from text.between(left, right, *SWAPS[type(operator)])
            case ast.BoolOp(operator, values):
                for left, right in pairwise(values):
                    yield from text.between(left, right, *SWAPS[type(operator)])
            case ast.Compare(left, operators, values):
                for first, operator, second in zip([left, *values], operators, values, strict=False):
                    if type(operator) in SWAPS:
                        yield from text.between(first, second, *SWAPS[type(operator)])
            case ast.UnaryOp(operator) if isinstance(operator, (ast.Not, ast.USub)):
                yield Mutant(path, text.span(node)[0], "not" if isinstance(operator, ast.Not) else "-", "")
            case ast.Constant(value) if isinstance(value, (bool, int, float)) and value != value + 1:
                start, end = text.span(node)
                after = str(not value if isinstance(value, bool) else value + 1)
                yield Mutant(path, start, text.bytes[start:end].decode(), after)
            case ast.Name(word) if word in EXTREMES:
                yield Mutant(path, text.span(node)[0], word, EXTREMES[word])
            case ast.Attribute(attr=word) if word in EXTREMES:
                yield Mutant(path, text.span(node)[1] - len(word), word, EXTREMES[word])


def all_mutants(module: str = "") -> list[Mutant]:
    """Those of all files in whose path the pattern is found, in the order of the files."""
    chosen = [path for path in sorted(SOURCE.rglob("*.py")) if re.search(module, path.relative_to(SOURCE).as_posix())]
    return [mutant for path in chosen for mutant in mutants_of(path)]


@cache
def imports() -> dict[Path, set[tuple[str, str]]]:
    """What each file of tests imports from this package: (module, name)."""
    found = {}
    for test in TESTS.rglob("test_*.py"):
        nodes = [node for node in ast.walk(ast.parse(test.read_bytes())) if isinstance(node, ast.ImportFrom)]
        ours = [(node.module, node.names) for node in nodes if node.module and node.module.startswith("prudent")]
        found[test] = {(module, alias.name) for module, aliases in ours for alias in aliases}
    return found


def tests_that_import(path: Path) -> list[Path]:
    """The test files that import something from a file of the source, be it by way of the package."""
    module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    body = ast.parse(path.read_bytes()).body
    defined = {node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}

    def ours(where: str, name: str) -> bool:
        return module in (where, f"{where}.{name}") or (name in defined and module.startswith(where))

    return sorted(test for test, names in imports().items() if "gpu" not in test.parts and any(starmap(ours, names)))


def tests_of(path: Path) -> list[str]:
    """The test files of a file, from the root: first those with its name and those that import from it; then those in
    the folder of its room, those named after the room, and what the table adds; last those that compare laws, since
    they take long."""
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    importers = tests_that_import(path)
    found = [*importers, *sorted(TESTS.glob(f"unit/{room}/**/test_*.py"))]
    for name in (path.stem, room, f"{room}_*", *ALSO.get(room, "").split(), "refusals", "package"):
        found += sorted(TESTS.glob(f"*/**/test_{name}.py"))
    found.sort(key=lambda test: (path.stem not in test.stem and test not in importers, "statistical" in test.parts))
    return [test.relative_to(ROOT).as_posix() for test in dict.fromkeys(found)]


def copy_tree(folder: Path, *, machine_code: bool) -> None:
    """The source, tests and docs, with their times, which Numba compares; with its machine code or without."""
    for name in ("src", "tests", "docs", "examples", "benchmarks"):
        left = shutil.ignore_patterns() if machine_code else shutil.ignore_patterns("*.nb[ic]")
        shutil.copytree(ROOT / name, folder / name, ignore=left)
    for path in ROOT.glob("*.*"):
        if path.is_file():
            shutil.copy2(path, folder)


def pytest(folder: Path, tests: list[str], limit: float) -> tuple[str, str]:
    """The first failure of these tests, and what pytest printed; empty if all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts="]
    settings = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    settings.pop("NUMBA_CACHE_DIR", None)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, *tests], cwd=folder, env=settings, start_new_session=True, **pipes) as running:
        try:
            out, err = running.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return f"the limit of {limit:g} s", ""
        finally:  # what the tests have started may hang too
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    if running.returncode == 0:
        return "", out
    if running.returncode == -signal.SIGTERM:
        raise SystemExit("the tests were ended from outside, which says nothing about the mutant")
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::\S.*?|\S+)(?: - .*)?$", out, re.M)
    return (failed[0] if failed else f"exit code {running.returncode}"), out + err


def try_mutant(mutant: Mutant, limit: float) -> tuple[str, float]:
    """What caught the mutant ("" if nothing did), and the seconds that took."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        copy_tree(folder, machine_code=mutant.room not in NAMING)
        (folder / mutant.path.relative_to(ROOT)).write_bytes(mutant.source())
        caught, _ = pytest(folder, tests_of(mutant.path), limit)
    if caught.startswith("tests/") and not passes_unchanged(caught, limit):
        caught = ""
    return caught, time.perf_counter() - began


@cache
def passes_unchanged(test: str, limit: float) -> bool:
    """Whether a test passes, or a file is imported, as it stands; said aloud if not, as then it can catch nothing."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        copy_tree(Path(name), machine_code=True)
        failed, printed = pytest(Path(name), [test] if "::" in test else [test, "--collect-only"], limit)
    if failed:
        print(f"{test} fails without a mutant:\n{printed}", file=sys.stderr, flush=True)
    return not failed


def main() -> None:
    described = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    described.add_argument("--seed", type=int, default=0, help="which mutants are drawn")
    described.add_argument("--count", type=int, default=60, help="how many")
    described.add_argument("--jobs", type=int, default=2, help="how many at a time")
    described.add_argument("--module", default="", help="a pattern for paths, such as engine/leap or ^(cli|study)/")
    described.add_argument("--limit", type=float, default=900.0, help="seconds, after which a mutant hangs")
    described.add_argument("--list", action="store_true", help="only list the mutants")
    options = described.parse_args()
    everything = all_mutants(options.module)
    drawn = random.Random(options.seed).sample(everything, min(options.count, len(everything)))
    drawn.sort(key=lambda mutant: mutant.room in COMPILED)  # those that compile everything anew come last
    print(f"{len(drawn)} of {len(everything)} mutants, seed {options.seed}", flush=True)
    if options.list:
        print(*drawn, sep="\n")
        return
    survivors, catchers = [], Counter[str]()
    with ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(try_mutant, mutant, options.limit): mutant for mutant in drawn}
        for done, future in enumerate(as_completed(running), 1):
            mutant, (caught, seconds) = running[future], future.result()
            catchers[caught.split("::")[0]] += 1
            print(f"{done:3}/{len(drawn)} {seconds:4.0f} s  {mutant}\n{'':14}{caught or 'SURVIVES'}", flush=True)
            survivors += [] if caught else [mutant]
    print("\nCaught by:", *(f"{count:5}  {what}" for what, count in catchers.most_common() if what), sep="\n")
    print(f"\n{len(drawn) - len(survivors)} of {len(drawn)} caught. Survivors:", *map(str, survivors), sep="\n")


if __name__ == "__main__":
    main()
