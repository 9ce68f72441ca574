"""Computations for callers: each in a process of its own, with an end, which does not keep anybody else waiting.

What a stranger asks to be computed may take long, or never end. So it runs in a child process (`jobs`) that opens no
file which a spec names. It is ended when its time is over, when nobody wants its answer any more, or when the service
stops. A `Computer` has one child and answers one question at a time; while it is busy it refuses others instead of
letting them wait, and no thread that tokens or the writer need ever waits for it.
"""

import asyncio
import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from prudent.base.errors import PrudentError
from prudent.service.problems import RequestError

QUESTION, ANSWER, REFUSAL, TROUBLE = ".question", ".answer", ".refusal", ".trouble"
"""The files of a computation in its folder: what is asked, what came of it, why there is nothing, what broke."""

LOOK = 0.1
"""Seconds between two looks at whether the answer is still wanted."""

NICE = 10
"""How far a child steps back behind the service; 0 takes as much as others."""


class EndedError(Exception):
    """A computation that was ended before its answer was there. `late` if its time was over, else nobody wanted it."""

    def __init__(self, *, late: bool) -> None:
        super().__init__("the computation was ended")
        self.late = late


class BrokenError(Exception):
    """A computation with a fault of the software, which the message describes without what the caller wrote."""


class Computer:
    """Computes one thing at a time in a child process, which is started when it is first needed and ends when it has
    had nothing to do for a while."""

    def __init__(self) -> None:
        self._free, self._closing = threading.Lock(), threading.Event()
        self._child: subprocess.Popen[str] | None = None

    def compute(
        self,
        job: str,
        question: bytes,
        *,
        seconds: float,
        wanted: Callable[[Path], bool] = lambda folder: True,
        files: Mapping[str, bytes] | None = None,
        within: Path | None = None,
    ) -> bytes:
        """The answer of a job of `jobs`, or `PrudentError` with its refusal.

        It takes at most so many `seconds`. `wanted` is asked now and then with the folder of the computation, which
        holds `files` too; if it says no, the computation ends. The folder is a temporary one, or `within`, which is
        left as it is, so that the job may go on with what is there when it is asked again.
        """
        if self._closing.is_set():
            raise RequestError("unavailable", "the service is stopping; try again in a moment")
        if not self._free.acquire(blocking=False):
            raise RequestError("busy", "something else is being computed; try again in a moment")
        try:
            with contextlib.ExitStack() as unless_kept:
                if within is None:
                    made = tempfile.TemporaryDirectory(prefix="prudent-", ignore_cleanup_errors=True)
                    folder = Path(unless_kept.enter_context(made))
                else:
                    folder = within.absolute()
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    for old in (ANSWER, REFUSAL, TROUBLE):
                        (folder / old).unlink(missing_ok=True)
                for file, data in {QUESTION: question, **(files or {})}.items():
                    (folder / file).write_bytes(data)
                return self._answer(job, folder, time.monotonic() + seconds, wanted)
        finally:
            self._free.release()

    def close(self) -> None:
        """End what is being computed, and the child."""
        self._closing.set()
        self._end()

    def _answer(self, job: str, folder: Path, ends: float, wanted: Callable[[Path], bool]) -> bytes:
        said: queue.SimpleQueue[str] = queue.SimpleQueue()
        child = self._asked(job, folder)
        ear = threading.Thread(target=lambda: said.put(_line(child)), daemon=True)
        ear.start()
        while True:
            try:
                status = said.get(timeout=LOOK)
                break
            except queue.Empty:
                late = time.monotonic() > ends
                if late or self._closing.is_set() or not wanted(folder):
                    self._end()
                    raise EndedError(late=late) from None
        if status == "0":
            return (folder / ANSWER).read_bytes()
        if status == "1":
            raise PrudentError((folder / REFUSAL).read_text("utf-8"))
        self._end()
        if self._closing.is_set():
            raise EndedError(late=False)
        trouble, alone = folder / TROUBLE, f"it ended by itself ({child.returncode})"
        raise BrokenError(trouble.read_text("utf-8") if trouble.exists() else alone)

    def _asked(self, job: str, folder: Path) -> "subprocess.Popen[str]":
        """The child, which has the question. One that had ended, because it had nothing to do, is replaced."""
        for _ in range(2):
            if self._child is None or self._child.poll() is not None:
                self._child = _started()
            assert self._child.stdin is not None
            try:
                self._child.stdin.write(f"{job}\t{folder}\n")
                self._child.stdin.flush()
            except OSError:
                self._end()
            else:
                return self._child
        raise BrokenError("it could not be started")

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for end in (child.stdin, child.stdout):
                with contextlib.suppress(OSError):
                    if end is not None:
                        end.close()


def _started() -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "prudent.service.work.jobs", str(NICE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what broke is written into the folder, without what the caller wrote
        text=True,
        encoding="utf-8",
        start_new_session=os.name == "posix",  # Ctrl-C is for the service, which ends its children
    )


def _line(child: "subprocess.Popen[str]") -> str:
    """The next line of a child; empty if it ends."""
    assert child.stdout is not None
    try:
        return child.stdout.readline().strip()
    except (OSError, ValueError):
        return ""


async def in_own_thread(act: Callable[[], Any]) -> Any:
    """What a function gives, called in a thread of its own: nothing else waits for it, and it keeps no process from
    ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any) -> None:
        if done.done():  # the request was cut off
            return
        if isinstance(result, BaseException):
            done.set_exception(result)
        else:
            done.set_result(result)

    def run() -> None:
        try:
            result = act()
        except Exception as error:
            result = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=run, daemon=True).start()
    return await done
