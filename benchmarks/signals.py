"""Every command that takes time, stopped in the middle: how long it takes to end, and what it leaves behind.

    python benchmarks/signals.py [SECONDS]

Each command is started anew for SIGINT, SIGTERM and SIGKILL, which comes after SECONDS (4 by default; a command that
compiles is stopped while it does). Prints how long it took to end, its exit code, and what must not be: processes that
outlive it by two seconds, and files that were being written. A study and a plan are then run to their end, and must
hold the same cells as one that was never stopped.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STUDY = """
runs = 200
horizons = [2000, 20000]
risks = ["mean-variance(rho=1)"]
policies = ["mv-lcb", "ucb1", "exp-exp"]

[ranges]
mu = { from = 0.1, to = 0.9, steps = 9 }

[bandits.pair]
arms = ["beta(2, 2)", "beta({mu}, 1)"]
"""
ARMS = ["--arm", "beta(1,1)", "--arm", "beta(1,2)"]
PLAN = ["plan", "--option", "3 * beta(1..3, 1..3)", "--horizon", "20000", "--rho", "1", "--policy", "ucb1"]
COMMANDS = {
    "simulate": ["simulate", *ARMS, "--policy", "ucb1", "--horizon", "1e10", "--runs", "2"],
    "identify": ["identify", *ARMS, "--strategy", "lucb", "--risk", "cvar(0.1)", "--delta", "0.01", "--runs", "50"],
    "portfolio": ["portfolio", "wide.csv", "--horizon", "100000", "--runs", "400", "--out", "made"],
    "paper": ["paper", "--runs", "5000", "--out", "made"],
    "claims": ["paper", "claims", "--runs", "2000", "--out", "made"],
    "plan": [*PLAN, "--draws", "400", "--out", "made"],
    "run, threads": ["study", "run", "study.toml", "--out", "made"],
    "run, processes": ["study", "run", "study.toml", "--out", "made", "--backend", "processes", "--workers", "2"],
}
PROMPT = 2.0


def main() -> None:
    wait = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        whole = finished(Path(name) / "whole", COMMANDS["run, threads"])
        for command, arguments in COMMANDS.items():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                folder = Path(name) / f"{command}-{number.name}"
                told, wrong = stopped(folder, arguments, number, wait)
                if arguments[0] == "study" and finished(folder, arguments) != whole:
                    wrong.append("OTHER CELLS THAN A RUN THAT WAS NEVER STOPPED")
                print(f"{command:15} {number.name:8} {told}  {'; '.join(wrong)}", flush=True)
                bad += bool(wrong)
    print(f"{bad} of {3 * len(COMMANDS)} were not as they should be")
    sys.exit(bad > 0)


def stopped(folder: Path, arguments: list[str], number: signal.Signals, wait: float) -> tuple[str, list[str]]:
    """How the command ends after a signal, and what is wrong with that."""
    prepare(folder)
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command_line(arguments), cwd=folder, start_new_session=True, **pipes)
    time.sleep(wait)
    if process.poll() is not None:
        return "was over before", ["NOT TRIED"]
    began = time.perf_counter()
    process.send_signal(number)
    said = process.communicate()[1].decode()
    taken = time.perf_counter() - began
    wrong = ["SLOW"] if taken > PROMPT else []
    wrong += ["TRACEBACK"] if "Traceback" in said else []
    time.sleep(2.0)
    wrong += [f"{count} ORPHANS"] if (count := others(process.pid)) else []
    left = [path.name for path in folder.rglob("*.part")]
    wrong += [f"LEAVES {left}"] if left and number != signal.SIGKILL else []
    return f"{taken:5.2f} s, exit code {process.returncode:4}", wrong


def finished(folder: Path, arguments: list[str]) -> str:
    """The cells of a study that is run to its end."""
    prepare(folder)
    subprocess.run(command_line(arguments), cwd=folder, check=True, capture_output=True)
    shown = subprocess.run(
        command_line(["study", "show", "made", "--csv"]), cwd=folder, check=True, capture_output=True, text=True
    )
    return shown.stdout


def prepare(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(STUDY)
    rows = [[((i * 7919 + j * 104729) % 1000) / 1e4 for j in range(300)] for i in range(200)]
    lines = [",".join(f"a{j}" for j in range(300)), *(",".join(map(str, row)) for row in rows)]
    (folder / "wide.csv").write_text("\n".join(lines))


def command_line(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "prudent", *arguments]


def others(session: int) -> int:
    """Processes of the session that the command began and has left behind."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        count += fields[3] == str(session) and fields[0] != "Z" and path.parent.name != str(os.getpid())
    return count


if __name__ == "__main__":
    main()
