"""Runs one case after another, each in a forked child with limits, and says what it did.

Starting Python for every case would take a second or two. So a server process imports the package and loads the
compiled kernels once, and each case is a fork of it: a hang costs no more than its limit, and memory goes back to the
system. Threads do not survive a fork, so the server must never start one: it calls nothing that uses polars.
"""

import contextlib
import gc
import mmap
import os
import pickle
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
COMPILING = 300.0
"""Seconds that Numba may take to compile; they do not count, since the disk cache may be empty."""

SHARE = 1.0 / 6.0
"""What other work on the machine leaves a case of a processor, at least. So of a second in which it takes less, only so
much counts: what is slow because others are busy does not hang, and what only waits is noticed six times as late."""

MARK = struct.Struct("dd")
"""Since when the clock of a case runs: a moment, and the processor time that it had taken then."""


class Case(NamedTuple):
    """A command line, or Python code that stands for a user's script, in a folder with these files.

    `small` says that nothing in it asks for much work, so that it must end by itself. `refused` is a pattern that the
    error must contain, `answers` one that the output must contain; a case without either only has to be clean.
    `damage` changes the files first. What is printed must be lines of `table`, and all of them if it is `whole`.
    """

    args: tuple[str, ...] = ()
    code: str = ""
    files: dict[str, bytes] = {}  # noqa: RUF012, never changed
    small: bool = True
    refused: str = ""
    answers: str = ""
    damage: Callable[[dict[str, bytes]], dict[str, bytes]] | None = None
    table: str = ""
    whole: bool = False


class Limits(NamedTuple):
    """What a case may take: seconds of processor until Ctrl-C, the same to obey it, and megabytes (it does not get
    twice as many)."""

    seconds: float = 10.0
    grace: float = 4.0
    megabytes: int = 1_000


class Outcome(NamedTuple):
    """What happened. `ended` is "itself", "interrupted" (by Ctrl-C, after its time was over) or "killed"."""

    code: int
    ended: str
    out: str
    err: str
    megabytes: float
    seconds: float
    before: dict[str, bytes]
    after: dict[str, bytes]


class Sandbox:
    """The server and its folder; use it in a `with` statement. `setup` is Python that the server runs at the start."""

    def __init__(self, setup: str = "import sandbox; sandbox.warm_up()", limits: Limits | None = None) -> None:
        self.setup, self.limits = setup, limits or Limits()

    def __enter__(self) -> "Sandbox":
        self.home = tempfile.TemporaryDirectory(prefix="prudent-fuzz-")
        path = os.pathsep.join([str(HERE), str(SOURCE), os.environ.get("PYTHONPATH", "")])
        threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        plain = {"PYTHONPATH": path, "MPLBACKEND": "agg", "POLARS_MAX_THREADS": "2", "COLUMNS": "100", **threads}
        code = f"import sandbox; sandbox.serve({self.setup!r})"
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.server = subprocess.Popen([sys.executable, "-c", code], env=os.environ | plain, **pipes)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait()
        assert self.server.stdout is not None
        self.server.stdout.close()
        self.home.cleanup()

    def run(self, case: Case, limits: Limits | None = None) -> Outcome:
        """The outcome of a case in a fresh folder, which is deleted afterwards."""
        with tempfile.TemporaryDirectory(dir=self.home.name) as outer:
            folder = Path(outer) / "here"
            folder.mkdir()
            for name, data in (case.damage(case.files) if case.damage else case.files).items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
                (folder / name).chmod(0o600)  # as a database is made
            before = tree(Path(outer))
            assert self.server.stdin is not None
            assert self.server.stdout is not None
            pickle.dump((str(folder), case.args, case.code, limits or self.limits), self.server.stdin)
            self.server.stdin.flush()
            code, ended, out, err, megabytes, seconds = pickle.load(self.server.stdout)
            return Outcome(code, ended, out, err, megabytes, seconds, before, tree(Path(outer)))


def tree(folder: Path) -> dict[str, bytes]:
    """Every path below the folder; the bytes of files, and a mark for folders and links."""
    found = {}
    for path in sorted(folder.rglob("*")):
        plain = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(folder))] = path.read_bytes() if plain else b"<folder or link>"
    return found


def serve(setup: str) -> None:
    """Get ready, then answer requests on stdin until it is closed. What cases print goes to files of their own."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    quiet_since = mmap.mmap(-1, MARK.size)  # shared with the children
    start_clock_after_compiling(quiet_since)
    seldom, usual = (100_000, 50, 100), gc.get_threshold()
    gc.set_threshold(*seldom)  # while kernels are compiled, as in the conftest
    exec(setup, {})
    gc.set_threshold(*usual)
    gc.collect()
    gc.freeze()  # else the collector of every child would write to all that was made so far, and so copy it
    while True:
        try:
            folder, args, code, limits = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        began = time.monotonic()
        MARK.pack_into(quiet_since, 0, began, 0.0)
        outputs = [os.memfd_create(name) for name in ("out", "err")]
        child = os.fork()
        if child == 0:
            play(folder, args, code, limits, outputs)
        status, ended, usage = watch(child, quiet_since, limits)
        texts = [os.pread(output, 1_000_000, 0).decode(errors="replace") for output in outputs]
        for output in outputs:
            os.close(output)
        exit_code = os.waitstatus_to_exitcode(status)
        pickle.dump((exit_code, ended, *texts, usage.ru_maxrss / 1024, time.monotonic() - began), answers)
        answers.flush()


def watch(child: int, quiet_since: mmap.mmap, limits: Limits) -> tuple[int, str, Any]:
    """Wait for the child. After its time send Ctrl-C, and after its grace kill it, with all that it started."""
    handle, ended = os.pidfd_open(child), "itself"

    def ends_within(seconds: float) -> bool:
        """Whether it ends before its clock shows so much, which begins anew with what is compiled meanwhile."""
        while (left := seconds - counted(child, *MARK.unpack_from(quiet_since))) > 0.0:
            if select.select([handle], [], [], max(left, 0.01))[0]:
                return True
        return bool(select.select([handle], [], [], 0.0)[0])

    if not ends_within(limits.seconds):
        ended = "interrupted"
        os.kill(child, signal.SIGINT)
        if not ends_within(limits.seconds + limits.grace):
            ended = "killed"
    os.close(handle)
    with contextlib.suppress(ProcessLookupError):
        if ended == "killed":
            os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it left behind
    return status, ended, usage


def counted(child: int, moment: float, taken: float) -> float:
    """The seconds that count since a moment at which the child had taken so much of a processor."""
    clock = ~child << 3 | 2  # the number that Linux gives to the clock of a process
    return max(time.clock_gettime(clock) - taken, SHARE * (time.monotonic() - moment))


def play(folder: str, args: tuple[str, ...], code: str, limits: Limits, outputs: list[int]) -> None:
    """In the child: run the case, and end as Python would, though faster."""
    os.setpgid(0, 0)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells take away from what they run behind
    for place, output in enumerate(outputs, 1):
        os.dup2(output, place)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    data = int(re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024  # type: ignore[index]
    resource.setrlimit(resource.RLIMIT_DATA, (data + limits.megabytes * 2**21,) * 2)
    status: Any = 0
    try:
        if code:
            run_code(code)
        else:
            from prudent.cli import main

            main(list(args), prog_name="prudent")
    except SystemExit as error:
        status = error.code or 0
    except BaseException:
        status = 1
        traceback.print_exc()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def run_code(code: str) -> None:
    """A user's script, whose bad input is reported as the command line would report it."""
    from prudent import PrudentError

    sys.path.insert(0, os.getcwd())
    try:
        exec(compile(code, "<case>", "exec"), {"__name__": "__main__"})
    except PrudentError as error:
        print(f"Error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None  # where Python would print a traceback of its own


def warm_up() -> None:
    """Import what commands import, and load the kernels that most cases need."""
    import entries
    import jinja2
    import joblib
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf
    import matplotlib.backends.backend_svg
    import matplotlib.figure
    import mutate
    import polars
    import rich.progress
    import rich.table
    import scipy.stats

    from prudent import live, paper, plan, study, testing, theory
    from prudent.cli import catalogue_pages
    from prudent.confidence import anytime, betting
    from prudent.policies.contract import policies, strategies
    from prudent.portfolio import figures, report
    from prudent.service.http import local
    from prudent.service.log import sqlite
    from prudent.study import compare, plots

    imported = entries, mutate, jinja2, joblib, matplotlib, polars, rich, scipy
    imported += catalogue_pages, live, paper, plan, study, testing, theory, anytime, betting
    imported += figures, report, local, sqlite, compare, plots
    threads = os.listdir("/proc/self/task")
    assert imported
    policies.names(), strategies.names()
    # On a thread that ends: the main thread of a simulation would start others, which end later.
    loading = threading.Thread(target=load_kernels)
    loading.start()
    loading.join()
    time.sleep(0.1)
    assert os.listdir("/proc/self/task") == threads, "the server must have no other thread: a fork would lose it"


def load_kernels() -> None:
    """Simulate a little, so that cases find what is compiled."""
    import prudent
    from prudent import portfolio

    bandit, few = prudent.Bandit(["uniform(0, 1)", "beta(1, 2)"]), {"runs": 2, "workers": 1}
    for risk, suitable in {"mean-variance": ("mv-lcb", "exp-exp", "ucb1"), "cvar": ("ucb1", "cvar-ucb")}.items():
        for policy in suitable:
            prudent.simulate(bandit, policy, risk=risk, horizon=20, **few)
        prudent.identify(bandit, "sequential-halving", risk=risk, budget=40, **few)
        prudent.identify(bandit, "lucb", risk=risk, delta=0.1, most_pulls=100, **few)
    returns = prudent.PortfolioBandit(portfolio.EmpiricalJoint([[0.1, 0.2], [0.0, 0.1], [0.3, -0.2]]))
    prudent.simulate_portfolio(returns, "mc-empirical", horizon=10, **few)


def start_clock_after_compiling(quiet_since: mmap.mmap) -> None:
    """Have the time of a child begin anew when it has compiled something, and not run meanwhile."""
    from numba.core import event

    class Clock(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            MARK.pack_into(quiet_since, 0, time.monotonic() + COMPILING, time.process_time() + COMPILING)

        def on_end(self, _: Any) -> None:
            MARK.pack_into(quiet_since, 0, time.monotonic(), time.process_time())

    event.register("numba:compile", Clock())
