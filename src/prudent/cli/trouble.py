"""What ends a command before its time, in words: mistakes, the system's refusals, faults of prudent, signals."""

import _thread
import errno
import os
import shlex
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from prudent.base import own_classes
from prudent.base.errors import PrudentError, shortened

GRACE = 1.5
"""Seconds to clean up after a signal."""

AGAIN = 0.05
"""Seconds until a signal that was lost is sent again."""

ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that ask a process to end; Windows lacks one."""

PLACE = "choose another place"
FIXES = {
    errno.ENOSPC: f"make room, or {PLACE}",
    errno.EFBIG: f"files may not become that large here; {PLACE}",
    errno.EACCES: f"change the rights, or {PLACE}",
    errno.EPERM: f"change the rights, or {PLACE}",
    errno.EROFS: PLACE,
    errno.ENOTDIR: f"a part of the path is a file; {PLACE}",
    errno.EEXIST: PLACE,
    errno.EISDIR: "name a file",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "close other programs",
    errno.EAGAIN: "take fewer workers",
    errno.ENOMEM: "take fewer runs, rounds, arms or workers",
}
"""What helps against what the system says."""

OTHERS = {
    RecursionError: "the input is nested too deeply; write it with fewer brackets inside brackets",
    UnicodeError: "a text is not UTF-8 ({}); save the file as UTF-8, or write plain letters",
}
"""What helps against what Python says."""

TOO_LARGE = (
    "array is too big",
    "maximum allowed dimension",
    "allocat",
    "too large",
    "out of memory",
    "start new thread",
)
"""How libraries word errors about sizes, which are of many types."""


def in_words(error: BaseException) -> str | None:
    """What happened, and the likely fix; None if nothing that a user did or can do explains it."""
    said = str(error.args[-1] if isinstance(error, OverflowError) and error.args else error).partition("\n")[0]
    if isinstance(error, PrudentError):
        return error.message(in_options)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or said}; {FIXES.get(error.errno or 0, 'mend that, and try again')}"
    if kind := next((kind for kind in OTHERS if isinstance(error, kind)), None):
        return OTHERS[kind].format(said)
    if isinstance(error, (MemoryError, OverflowError)) or any(words in said.lower() for words in TOO_LARGE):
        return f"too large for this machine ({said or 'no memory is left'}); {FIXES[errno.ENOMEM]}"
    if "no locator available" in said:  # Numba's, where neither its code nor the user has a folder to write into
        return "compiled code cannot be kept anywhere; set NUMBA_CACHE_DIR to a folder that can be written"
    return None


def in_options(arguments: Mapping[str, str]) -> str:
    """Arguments to pass as they are typed: `--group variant --outcome revenue`."""
    return " ".join(f"--{name.replace('_', '-')} {shlex.quote(value)}" for name, value in arguments.items())


def report(error: BaseException, debug: bool) -> None:
    """One line on stderr, or two for a fault of prudent; with `debug` after the traceback."""
    if debug:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    text = in_words(error)
    said = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    if text is None and (line := _own_line(error)):
        text = f"{line}: {said}"
    if text is None:
        text = f"{said}\nThis is a fault of prudent; "
        text += "please report it with the lines above" if debug else "run again with `prudent --debug …` and report it"
    click.echo(f"Error: {shortened(text)}", err=True)
    _drop_unwritten()


def _own_line(error: BaseException) -> str | None:
    """The last line in a file that a spec named, if one ended in the error."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in own_classes.named:
            return f"{frame.filename}, line {frame.lineno}, in {frame.name}: {frame.line}"
    return None


def _drop_unwritten() -> None:
    """Python would try again to write what stdout did not take, and complain, on its way out."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_closed_streams() -> None:
    """What a supervisor or `>&-` has closed, is as if it were /dev/null.

    Python has None in the place of such a stream, and the next file that is opened, such as a database, would get its
    number, and then what others write to stdout or stderr.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115, it stays


@contextmanager
def orderly_end() -> Iterator[None]:
    """Being told to end runs what cleans up, so that no process is left behind, and does not take long.

    Python hears a signal only between two of its steps, and compiled code may be hours away from the next. So another
    thread hears it too, through a socket, and ends the process if nothing has come of it after a while.
    """
    if threading.current_thread() is not threading.main_thread():  # where signals cannot be heard
        yield
        return
    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    over = threading.Event()
    threading.Thread(target=_end_if_deaf, args=(ear, over), daemon=True).start()
    woken = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    ends = [number for number in ENDS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ends:
        signal.signal(number, _leave)
    told, sys.unraisablehook = sys.unraisablehook, _raise_again
    try:
        yield
    finally:
        sys.unraisablehook = told
        for number in ends:
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(woken)
        over.set()
        mouth.close()


def _leave(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def _raise_again(lost: Any) -> None:
    """A signal that Python hears in a callback of the garbage collector would be dropped there, with a traceback.

    It is sent again a little later, when this function, where it would be dropped too, is over.
    """
    ended = lost.exc_value
    if isinstance(ended, KeyboardInterrupt):
        number = signal.SIGINT
    elif isinstance(ended, SystemExit) and isinstance(ended.code, int):
        number = signal.Signals(ended.code - 128)
    else:
        sys.__unraisablehook__(lost)
        return
    later = threading.Timer(AGAIN, _thread.interrupt_main, (number,))
    later.daemon = True
    later.start()


def _end_if_deaf(ear: socket.socket, over: threading.Event) -> None:
    """End a process that still lives a while after a signal, be it that Python waits for a thread that compiles.

    What is being written is lost, as with a power failure, which files and folders survive.
    """
    with ear:
        heard = ear.recv(1)
        if not heard:
            return
        time.sleep(GRACE)
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h")  # the cursor, which a progress bar hides
    interrupted = heard[0] == signal.SIGINT
    os.write(2, b"\nAborted!\n" if interrupted and not over.is_set() else b"")
    os._exit(1 if interrupted else 128 + heard[0])


@contextmanager
def short_warnings() -> Iterator[None]:
    """Warnings of libraries are one line each, without the place in their code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda text, *_, **__: click.echo(f"Warning: {text}", err=True)
        yield
