"""Does it work where it was not built? One row for each processor, Python, set of libraries, locale and order of tests.

    make anywhere ANYWHERE="--only newest"

Each row has an environment and machine code of its own in build/anywhere. In it everything is imported, README's code
blocks run word for word, both with every warning an error, and quick tests run; with --full all of `make tests`, with
--brief a few, and no `prudent plan`. A row is green, red, or not run, which says why. What was found before at the same
commit stays in the table; a row of which nothing is known is there as well, as not run.
"""

import argparse
import dataclasses
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "anywhere"
PLACE, SUFFIX = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
THIS_PYTHON = "{}.{}".format(*sys.version_info)
BRIEF_TESTS = (
    "test_nodes.py",  # constants, sums and laws
    "test_costs.py",
    "test_registry.py",  # names, defaults and words
    "test_public_names.py",
    "test_catalogue.py",
    "test_text.py",
    "test_http_openapi.py",  # the service
)
"""Where a version can show, in a minute; --brief."""

QUICK_TESTS = (
    *BRIEF_TESTS,
    "test_risk.py",
    "test_same_numbers.py",  # the engines
    "test_threads.py",
    "test_files.py",  # files, and what another system lacks
    "test_anywhere.py",
    "test_plan.py",
    "test_figure_pins.py",
    "test_pages.py",
    "test_service_exact.py",
)
"""Where a processor, a version, a language or an order can show. Their folders may change, their names may not."""

AVX512 = "import numpy._core._multiarray_umath as m; f = m.__cpu_features__; "
AVX512_NAMES = AVX512 + "print(*[n for n in m.__cpu_dispatch__ if f.get(n) and (n[:6] == 'AVX512' or n == 'X86_V4')])"
"""What this NumPy calls it, because it warns of a name that it does not have: X86_V4 since 2.4, before AVX512_SKX …"""

VERSIONS = "from importlib.metadata import version as v; print(*[v(n) for n in ('numpy', 'scipy', 'numba')])"
IMPORTS = """
import importlib, pkgutil, prudent
for found in pkgutil.walk_packages(prudent.__path__, "prudent."):
    if not found.name.startswith("prudent.engine.gpu") and not found.name.endswith("__main__"):
        importlib.import_module(found.name)
[getattr(prudent, name) for name in prudent.__all__]
"""


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """One way in which another machine may differ from this one."""

    name: str
    python: str = THIS_PYTHON
    libraries: str = "pinned"  # by constraints.txt; or newest, or the lowest of pyproject.toml
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    pytest: tuple[str, ...] = ()
    busy: int = 0  # processes that only take time
    avx512: bool = False  # it needs a processor that has it
    note: str = ""  # what the table says beside the result

    @property
    def folder(self) -> Path:
        return BUILD / re.sub(r"\W+", "-", self.name).strip("-").lower()


def rows(order: int) -> list[Row]:
    """All of them; `order` is the random seed of the order of tests."""
    cores = [
        Row(f"OPENBLAS_CORETYPE={core}", environment={"OPENBLAS_CORETYPE": core}, avx512=core == "SkylakeX")
        for core in ("Haswell", "SkylakeX", "Zen", "Prescott")
    ]
    return [
        *[Row(f"Python {python}", python=python) for python in PYTHONS],
        Row("newest libraries", newest_python(), "newest"),
        Row("lowest libraries", PYTHONS[0], "lowest"),
        *cores,
        Row("NPY_DISABLE_CPU_FEATURES=X86_V4", environment={"NPY_DISABLE_CPU_FEATURES": ""}, avx512=True),
        *[Row(f"NUMBA_CPU_NAME={cpu}", environment={"NUMBA_CPU_NAME": cpu}) for cpu in ("x86-64-v2", "generic")],
        Row("LC_ALL=C", environment={"LANG": "C", "LC_ALL": "C"}),
        Row("TZ=Pacific/Kiritimati", environment={"TZ": "Pacific/Kiritimati"}),
        Row("random order", environment={"PRUDENT_ORDER": str(order)}, pytest=("-p", "shuffled"), note=f"seed {order}"),
        Row("one process", pytest=("-n", "0")),
        Row("four processes", pytest=("-n", "4")),
        Row("beside four busy loops", busy=4),
    ]


class CannotRunError(Exception):
    """Why this machine cannot try a row."""


class StepError(Exception):
    """Which step of a row failed."""


class Trial:
    """A row while it is run: its environment, and a file with all that its steps print."""

    def __init__(self, row: Row, uv: Path) -> None:
        self.row, self._uv = row, uv
        self.bin = row.folder / "env" / PLACE
        self.python = self.bin / f"python{SUFFIX}"
        shutil.rmtree(row.folder, ignore_errors=True)
        (row.folder / "work").mkdir(parents=True)
        self.output = row.folder / "output.txt"
        path = os.pathsep.join([str(self.bin), os.environ["PATH"]])
        self._environment = os.environ | {"PATH": path, "NUMBA_CACHE_DIR": str(row.folder / "numba")}
        self._environment["PYTHONPATH"] = str(ROOT / ".ci")  # for the plugin

    def step(self, name: str, *command: str | Path, **more: str) -> None:
        """Run a command in the row's environment."""
        print(f"  {name} …", end=" ", flush=True)
        start = time.monotonic()
        with self.output.open("a", encoding="utf-8") as file:
            print("$", *command, file=file, flush=True)
            environment = self._environment | more
            code = subprocess.run(
                command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False
            ).returncode
        print(f"{time.monotonic() - start:.0f} s", flush=True)
        if code:
            raise StepError(name)

    def ask(self, script: str) -> str:
        """What a line of Python prints in the row's environment."""
        return subprocess.check_output([self.python, "-c", script], text=True, env=self._environment).strip()

    def prepare(self) -> None:
        """README's Install for the newest libraries; otherwise the same with limits. Then what tests need."""
        row = self.row
        self.step("environment", self._uv, "venv", "-q", "--seed", "-p", find_python(row.python), row.folder / "env")
        if row.libraries == "newest":
            self.step("README, Install", self.python, "-m", "pip", "install", ".")
        limits = {
            "pinned": ["-c", "constraints.txt"],
            "newest": [],
            "lowest": ["--resolution", "lowest-direct"],
        }[row.libraries]
        self.step("libraries", self._uv, "pip", "install", "-q", "-p", self.python, *limits, ".[test]")

    def run(self, extent: str) -> None:
        """Everything that a row tries; each step ends it if it fails."""
        self.prepare()
        if self.row.avx512 and not self.ask(AVX512_NAMES):
            raise CannotRunError("this processor has no AVX-512, or NumPy does not use it")
        if "NPY_DISABLE_CPU_FEATURES" in self.row.environment:
            self._environment["NPY_DISABLE_CPU_FEATURES"] = self.ask(AVX512_NAMES)
        self._environment |= {name: value for name, value in self.row.environment.items() if value}
        with busy_loops(self.row.busy):
            self.step("import", self.python, "-W", "error", "-c", IMPORTS)
            without = ["prudent plan"] if extent == "brief" else []
            self.step("README, its blocks", self.python, ROOT / ".ci/readme.py", self.row.folder / "work", *without)
            options = ["-p", "no:cacheprovider", *self.row.pytest]
            self.step("tests", self.python, "-W", "error", "-m", "pytest", *options, *TESTS[extent]())


def files_called(names: Sequence[str]) -> list[str]:
    """The arguments for pytest that run the quick tests of these files."""
    found = [(name, sorted((ROOT / "tests").rglob(name))) for name in names]
    if lost := [name for name, paths in found if not paths]:
        sys.exit(f"no test file is called {', '.join(lost)}; name its successor in {Path(__file__).name}")
    return ["-m", "not slow", *(str(path.relative_to(ROOT)) for _, paths in found for path in paths)]


TESTS: Mapping[str, Callable[[], list[str]]] = {
    "brief": lambda: files_called(BRIEF_TESTS),
    "quick": lambda: files_called(QUICK_TESTS),
    "full": lambda: ["tests/unit", "tests/properties", "tests/figures", "tests/service"],
}


def find_python(version: str) -> str:
    """An interpreter of this version: this one, one on the path, or one of pyenv."""
    if version == THIS_PYTHON:
        return sys.executable
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"]
    candidates = [shutil.which(f"python{version}"), *(str(p) for r in roots for p in r.glob(f"{version}.*/bin/python"))]
    for candidate in filter(None, candidates):
        tried = subprocess.run([candidate, "-V"], capture_output=True, text=True, check=False)
        if tried.stdout.startswith(f"Python {version}."):
            return candidate
    raise CannotRunError(f"this machine has no Python {version}")


def newest_python() -> str:
    """The last of PYTHONS that this machine has."""
    for version in reversed(PYTHONS):
        with suppress(CannotRunError):
            find_python(version)
            return version
    return THIS_PYTHON


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Processes that take time beside what runs inside."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def try_row(row: Row, uv: Path, extent: str) -> dict[str, str]:
    """Run a row, and keep what came out of it."""
    print(f"{row.name}:", flush=True)
    start, trial = time.monotonic(), Trial(row, uv)
    found = {"commit": commit(), "versions": ""}
    green = ", ".join(["green", *filter(None, [row.note]), *[f"{extent} tests"] * (extent != "quick")])
    try:
        trial.run(extent)
        found["result"] = green
    except CannotRunError as why:
        found["result"] = f"not run: {why}"
    except StepError as what:
        found["result"] = f"RED: {what}"
        print(*trial.output.read_text(encoding="utf-8", errors="replace").splitlines()[-40:], sep="\n")
        print(f"  all of it: {trial.output}")
    with suppress(subprocess.CalledProcessError, OSError):  # it may not have come to installing them
        found["versions"] = trial.ask(VERSIONS)
    found["time"] = f"{time.monotonic() - start:.0f} s"
    print(f"  {found['result']}, {found['time']}", flush=True)
    (row.folder / "result.json").write_text(json.dumps(found), encoding="utf-8")
    if found["result"].startswith("green"):
        for name in ("env", "numba", "work"):
            shutil.rmtree(row.folder / name, ignore_errors=True)
    return found


def commit() -> str:
    """What was tried; a tree with changes has no name, and is not found again."""
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "diff", "--quiet", "HEAD"], check=False).returncode:
        return f"changed {time.time()}"
    return subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()


def earlier(row: Row) -> dict[str, str]:
    """The result of a row that was run before at this commit, or why there is none."""
    file = row.folder / "result.json"
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if found.get("commit") == commit():
        return found
    why = "what was found is of another commit" if found else "not asked for"
    try:
        find_python(row.python)
    except CannotRunError as lacking:
        why = str(lacking)
    return {"versions": "", "result": f"not run: {why}", "time": ""}


def table(results: Mapping[Row, Mapping[str, str]]) -> str:
    """The page of the table, in Markdown."""
    lines = [
        "# Where it was tried",
        "",
        "Every row that was run is an environment of its own. In it everything is imported and README's code blocks",
        "run word for word, both with every warning an error, and tests run. `make anywhere` makes this table. This",
        f"one was made on {platform.system()} ({platform.machine()}, {processor()}).",
        "",
        "| row | Python | libraries | NumPy, SciPy, Numba | result | time |",
        "|---|---|---|---|---|---|",
    ]
    for row, found in results.items():
        versions = ", ".join(found["versions"].split())
        cells = (row.name, row.python, row.libraries, versions, found["result"], found["time"])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def processor() -> str:
    """What the system calls it."""
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or "unknown processor"


def get_uv() -> Path:
    """It makes environments quickly, and finds the lowest versions."""
    folder = BUILD / "uv"
    uv = folder / PLACE / f"uv{SUFFIX}"
    if not uv.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / PLACE / f"python{SUFFIX}", "-m", "pip", "install", "--quiet", "uv"], check=True)
    return uv


def main() -> None:
    """The exit code is 0 if no row is red."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="PATTERN", help="a regular expression of the names of rows")
    parser.add_argument("--brief", dest="extent", action="store_const", const="brief", help="what takes a minute")
    parser.add_argument("--full", dest="extent", action="store_const", const="full", help="all of `make tests`")
    parser.add_argument("--order", type=int, default=random.randrange(10**6), help="seed of the random order")
    parser.add_argument("--page", type=Path, help="write the table into this file, too")
    asked = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    uv = get_uv()
    results = {
        row: try_row(row, uv, asked.extent or "quick") if re.search(asked.only, row.name) else earlier(row)
        for row in rows(asked.order)
    }
    page = table(results)
    (asked.page or BUILD / "table.md").write_text(page, encoding="utf-8")
    print("", page, sep="\n")
    sys.exit(any(found["result"].startswith("RED") for found in results.values()))


if __name__ == "__main__":
    main()
