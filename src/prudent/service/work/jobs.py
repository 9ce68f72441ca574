"""What a child process of the service computes: `python -m prudent.service.work.jobs NICE`, one job after another.

Each line of its input names a job and a folder, between them a tab. The folder holds the question; the answer is
written there, or why there is none. A line of output says which: 0 there is an answer, 1 a refusal in words, 2 a fault
of ours. The process opens no file that a spec names, and ends when its parent does.
"""

import contextlib
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from prudent.base.errors import PrudentError
from prudent.base.registry import close_files
from prudent.service.work.children import ANSWER, QUESTION, REFUSAL, TROUBLE

IDLE = 120.0
"""Seconds without a job after which the process ends."""

JOBS = {
    "explore": ("prudent.service.pages.explore", "answer"),
    "look": ("prudent.service.plans.questions", "answer"),
    "plan": ("prudent.service.plans.computing", "answer"),
    "forecast": ("prudent.service.work.forecasts", "answer"),
}
"""Each job, with the module and the function that does it: from the question to the answer, both as bytes."""


def main(nice: str) -> None:
    """Do what the lines of the input say, until there are no more."""
    close_files()
    with contextlib.suppress(AttributeError, OSError):
        os.nice(int(nice))
    said = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # nothing that a job prints is taken for a word to the parent
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    with contextlib.suppress(queue.Empty, BrokenPipeError):
        while True:
            job, _, folder = lines.get(timeout=IDLE).rstrip("\n").partition("\t")
            said.write(f"{_done(job, Path(folder))}\n")


def _listen(lines: "queue.SimpleQueue[str]") -> None:
    """Hand on the lines of the input; when it ends, the parent has ended, and so does this process at once."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(3)


def _done(job: str, folder: Path) -> int:
    """Carry out a job in its folder, so that messages name files without it."""
    with contextlib.chdir(folder):
        try:
            answer = _function(job)(Path(QUESTION).read_bytes())
        except PrudentError as error:
            Path(REFUSAL).write_text(str(error).replace(f"{folder}{os.sep}", ""), "utf-8")
            return 1
        except BaseException as error:
            # Where it broke, but not what it says: that may hold what the caller wrote.
            where = "".join(traceback.format_tb(error.__traceback__))
            Path(TROUBLE).write_text(f"{type(error).__name__}\n{where}", "utf-8")
            return 2
        Path(ANSWER).write_bytes(answer)
        return 0


def _function(job: str) -> Callable[[bytes], bytes]:
    module, name = JOBS[job]
    function: Callable[[bytes], bytes] = getattr(import_module(module), name)
    return function


if __name__ == "__main__":
    main(sys.argv[1])
