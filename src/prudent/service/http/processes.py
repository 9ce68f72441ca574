"""The processes of the service: workers that are replaced, and an end that comes in time."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from prometheus_client.multiprocess import mark_process_dead
from uvicorn.supervisors import Multiprocess

log = logging.getLogger("prudent.service")

STARTING = 60.0
"""Seconds that a worker has to start, on a machine that does other things too."""

ENDING = 4.2
"""Seconds after which a process that was told to stop ends, whatever still hangs in it."""


class Workers(Multiprocess):
    """uvicorn's processes; the log says when one took the place of another. One that starts is given time to,
    and none outlives the order to stop by more than some seconds."""

    def init_processes(self) -> None:
        super().init_processes()
        self._begun = time.monotonic()

    def keep_subprocess_alive(self) -> None:
        starting = time.monotonic() < self._begun + STARTING
        if starting and all(worker.process.is_alive() for worker in self.processes):
            return  # a worker that does not answer yet is not one that hangs
        before = list(self.processes)
        super().keep_subprocess_alive()
        if before != self.processes:
            self._begun = time.monotonic()
        for old, new in zip(before, self.processes, strict=False):
            if new is not old:
                mark_process_dead(old.pid)  # type: ignore[no-untyped-call]
                code = old.exitcode or 0
                how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
                log.warning("worker %s %s; worker %s takes its place", old.pid, how, new.pid)

    def handle_term(self) -> None:
        super().handle_term()
        _later(ENDING, self._kill)

    def handle_int(self) -> None:
        super().handle_int()
        _later(ENDING, self._kill)

    def _kill(self) -> None:
        for worker in self.processes:
            worker.process.kill()


def end_in_time() -> None:
    """See to it that this process ends soon after the order to stop, also if a request, a reader of the database or a
    thread hangs then. What was answered is on disk anyway."""
    if threading.current_thread() is not threading.main_thread():
        return  # who serves in a thread ends it
    for order in (signal.SIGTERM, signal.SIGINT):
        usual = signal.getsignal(order)

        def handle(number: int, frame: Any, usual: Any = usual) -> None:
            _later(ENDING, _give_up)
            usual(number, frame)

        if callable(usual):
            signal.signal(order, handle)


def _later(seconds: float, act: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()


def _give_up() -> None:
    log.error("something did not end within %g seconds; the process ends without it", ENDING)
    os._exit(1)
