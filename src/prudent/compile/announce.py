"""What a user notices of compiling: a line on stderr where it takes long, and one line where Numba writes pages.

The machine code of every policy is kept on disk, so a policy is compiled once on a machine. PRUDENT_QUIET=1 in the
environment silences the line.
"""

import linecache
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.core.event import Listener, register

from prudent.base.errors import PrudentError

ANNOUNCED_SECONDS = 2.0
"""Seconds after which it is said what takes so long."""

SECONDS = 10.0
"""What a policy takes to be compiled with nothing kept, about; `benchmarks/compiling.py` measures it."""

PLACE = re.compile(r'^File "(.+)", line (\d+):?$')
"""How Numba names a line of source."""

RAISED = re.compile(r"Raised from (.+) \((\d+)\)")
"""How it names one that it cannot even read."""

LIBRARIES = "numba", "numba_cuda", "prudent"
"""Whose source is not what a user can change."""

COLOUR = re.compile(r"\x1b\[\d*m")
"""What Numba writes its reports with where colorama is installed, as on every Windows, where click needs it."""

_subject: ContextVar[str] = ContextVar("subject", default="")


class NotCompiledError(PrudentError):
    """Machine code that is not there yet was asked for where nothing is to be compiled."""


class RefusedError(PrudentError):
    """Code of the user's that Numba cannot compile."""


class Compiling:
    """What is compiled within is compiled for the `subject`; if Numba refuses its code, one line says which."""

    def __init__(self, subject: str) -> None:
        self._subject = subject

    def __enter__(self) -> None:
        self._before = _subject.set(self._subject)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        _subject.reset(self._before)
        unknown = isinstance(error, AssertionError) and "@overload" in str(error)  # as sorted(…, key=str) ends
        if error is not None and (unknown or isinstance(error, (NumbaError, UnsupportedBytecodeError))):
            raise RefusedError(f"{self._subject}: {refusal(error)}") from error


def refusal(error: BaseException) -> str:
    """Numba's long report cut down to the line it refuses, and the likely fix."""
    fix = "keep to numbers, arrays, math and NumPy"
    return f"must compile, but Numba refuses {_refused_line(str(error))}; {fix}"


def _refused_line(text: str) -> str:
    """The last line of source in the report that is neither Numba's nor this package's."""
    if raised := RAISED.search(text):  # before types are known, as for an import inside of a function
        return (
            f'File "{Path(raised[1]).name}", line {raised[2]}: {linecache.getline(raised[1], int(raised[2])).strip()}'
        )
    report = [line.strip() for line in COLOUR.sub("", text).splitlines()]
    report = [line for line in report if line]
    specs = [find_spec(name) for name in LIBRARIES]
    libraries = [Path(spec.origin).parent for spec in specs if spec is not None and spec.origin is not None]
    for at in reversed(range(len(report))):
        place = PLACE.match(report[at])
        # Numba writes a path as it looks from the working folder, with "..", which only `abspath` takes out.
        ours = place and any(Path(os.path.abspath(place[1])).is_relative_to(library) for library in libraries)
        if place and not ours and "^" in report[at:]:
            return f'File "{Path(place[1]).name}", line {place[2]}: {report[report.index("^", at) - 1]}'
    return "what its methods take or return"


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """In here, in all threads, only machine code that is kept is run; where there is none, it is NotCompiledError."""
    _watch.forbidden += 1
    try:
        yield
    finally:
        _watch.forbidden -= 1


class _Watch(Listener):  # type: ignore[misc]
    """Told by Numba when it begins and ends to compile a function; one inside another, but never two at once."""

    def __init__(self) -> None:
        self.forbidden, self._depth = 0, 0
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        self._depth += 1  # first, because the end is told even where this raises
        function = event.data["dispatcher"].py_func
        if self._depth == 1 and function.__module__.startswith("prudent."):
            if self.forbidden:
                raise NotCompiledError(f"{_subject.get() or function.__name__}: is not compiled yet")
            self._timer = threading.Timer(ANNOUNCED_SECONDS, say, [_subject.get() or function.__name__])
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None


def say(subject: str) -> None:
    """One line on stderr, unless silence is asked for."""
    if not os.environ.get("PRUDENT_QUIET"):
        said = f"prudent: compiling {subject} for arms of this kind, once; about {SECONDS:.0f} s"
        print(said, file=sys.stderr, flush=True)


@contextmanager
def patience() -> Iterator[None]:
    """What is compiled within is announced if it takes long; for compilers that tell nobody when they begin."""
    timer = threading.Timer(ANNOUNCED_SECONDS, say, [_subject.get()])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


_watch = _Watch()
register("numba:compile", _watch)
