"""What a first call costs: processor time of one question with nothing kept on disk, and of each function in it.

    python benchmarks/compiling.py                     # README's first question and others, a line each
    python benchmarks/compiling.py mv-lcb gaussian     # one question, function by function

Every question runs in a process of its own with an empty folder for machine code, then again with what the first one
left there. A function's time is its own, without that of functions compiled inside it; a name that comes several times
was compiled for several types of arguments. Numba's own functions are in it, because they are compiled too.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from typing import Any

ARMS = {
    "gaussian": ["gaussian(1.0, 0.05)", "gaussian(0.5, 0.25)"],
    "bernoulli": ["bernoulli(0.4)", "bernoulli(0.5)"],
    "beta": ["beta(2, 3)", "beta(1, 2)"],
}
QUESTIONS = [
    ("mv-lcb", "gaussian"),
    ("mv-lcb", "bernoulli"),
    ("mv-lcb", "beta"),
    ("exp-exp", "gaussian"),
    ("thompson", "gaussian"),
    ("bernoulli-mvts", "bernoulli"),
]


def ask(policy: str, kind: str) -> dict[str, Any]:
    """Simulate, and note what was compiled for it: [name, seconds] of each function."""
    from numba.core.event import Listener, register

    class Stopwatch(Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.open: list[list[float]] = []
            self.compiled: list[tuple[str, float]] = []

        def on_start(self, event: Any) -> None:
            self.open.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            started, inside = self.open.pop()
            taken = time.process_time() - started
            function = event.data["dispatcher"].py_func
            self.compiled.append((f"{function.__module__}.{function.__name__}", taken - inside))
            if self.open:
                self.open[-1][1] += taken

    watch = Stopwatch()
    register("numba:compile", watch)
    from prudent import Bandit, simulate

    imported = time.process_time()
    risk = "mean-variance(rho=0)"
    simulate(Bandit(ARMS[kind]), policy, risk=risk, horizon=10_000, runs=500, seed=7, snapshots=[100, 1_000])
    return {"all": time.process_time(), "import": imported, "compiled": watch.compiled}


def asked(policy: str, kind: str, folder: str) -> dict[str, Any]:
    """The same in a process of its own, with machine code in a folder."""
    command = [sys.executable, __file__, "--ask", policy, kind]
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "PRUDENT_QUIET": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(*asked_for: str) -> None:
    for policy, kind in [asked_for] if asked_for else QUESTIONS:
        with tempfile.TemporaryDirectory() as folder:
            first, again = (asked(policy, kind, folder) for _ in range(2))
        print(
            f"{policy} on {kind} arms: {first['all']:.1f} s of processor time, of which {first['import']:.1f} s import;"
            f" {len(first['compiled'])} functions compiled; {again['all']:.1f} s the second time"
        )
        times: dict[str, list[float]] = defaultdict(list)
        for name, seconds in first["compiled"]:
            times[name].append(seconds)
        for name, each in sorted(times.items(), key=lambda item: -sum(item[1])) if asked_for else []:
            print(f"  {sum(each):6.2f} s  {len(each):2} ×  {name}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        print(json.dumps(ask(*sys.argv[2:])))
    else:
        main(*sys.argv[1:])
