"""What ends a command before its time, in words: mistakes, the system's refusals, faults of prudent, signals."""

import errno
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from prudent.errors import PrudentError

LONGEST = 1_000
"""Characters of a line; what is longer quotes input that nobody wants to read again."""

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
        return str(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or said}; {FIXES.get(error.errno or 0, 'mend that, and try again')}"
    if isinstance(error, RecursionError):
        return "the input is nested too deeply; write it with fewer brackets inside brackets"
    if isinstance(error, UnicodeError):
        return f"a text is not UTF-8 ({said}); save the file as UTF-8, or write plain letters"
    if isinstance(error, (MemoryError, OverflowError)) or any(words in said.lower() for words in TOO_LARGE):
        return f"too large for this machine ({said or 'no memory is left'}); {FIXES[errno.ENOMEM]}"
    return None


def report(error: BaseException, debug: bool) -> None:
    """One line on stderr, or two for a fault of prudent; with `debug` after the traceback."""
    if debug:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    text = in_words(error)
    if text is None:
        said = str(error).partition("\n")[0]
        text = f"{type(error).__name__}: {said}\nThis is a fault of prudent; "
        text += "please report it with the lines above" if debug else "run again with `prudent --debug …` and report it"
    click.echo(f"Error: {shortened(text)}", err=True)
    _drop_unwritten()


def shortened(text: str) -> str:
    """The text without the middle of lines that are too long."""
    half = LONGEST // 2
    lines = text.split("\n")
    return "\n".join(line if len(line) <= LONGEST else f"{line[:half]} … {line[-half:]}" for line in lines)


def _drop_unwritten() -> None:
    """Python would try again to write what stdout did not take, and complain, on its way out."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def orderly_end() -> Iterator[None]:
    """Being told to end runs what cleans up, so that no process is left behind; warnings are one line each."""
    changed: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if signal.getsignal(number) is signal.SIG_DFL:
                changed[number] = signal.signal(number, _leave)
    with warnings.catch_warnings():
        warnings.showwarning = lambda text, *_, **__: click.echo(f"Warning: {text}", err=True)
        try:
            yield
        finally:
            for number, handler in changed.items():
                signal.signal(number, handler)


def _leave(number: int, _: Any) -> NoReturn:
    """A second signal ends the process at once."""
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)
