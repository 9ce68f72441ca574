"""What the service writes about itself: one line for what happens, and a number for what happens again and again."""

import json
import logging
import re
import threading
from datetime import UTC, datetime

EVERY = 60.0
"""Seconds in which the same trouble has one line."""

FIELDS = ("token", "method", "path", "status", "milliseconds", "counted")
"""What lines as JSON have besides, where it is known."""

MOST = 1000
"""Different troubles that are counted at a time."""


def begin(*, as_json: bool = False) -> None:
    """Write to the standard error of this process; `as_json` an object a line, for programs that collect them."""
    handler = logging.StreamHandler()
    handler.addFilter(Counted())
    handler.setFormatter(AsJson() if as_json else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("prudent.service").setLevel(logging.INFO)
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # it quotes what people send


class AsJson(logging.Formatter):
    """A line of the log as JSON: when, how bad, what, and of requests and of counted lines their numbers."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever is in the message."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        more = {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info:
            more["trace"] = self.formatException(record.exc_info)
        return json.dumps({**line, **more}, ensure_ascii=False)


class Counted(logging.Filter):
    """Lets the first of many warnings or errors through, and says after `every` seconds how many there were since.

    They are the same if they differ in numbers alone, such as ports, or come from the same line of the program.
    """

    def __init__(self, every: float = EVERY) -> None:
        super().__init__()
        self.every = every
        self._lock = threading.Lock()
        self._since: dict[tuple[object, ...], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is written now."""
        if record.levelno < logging.WARNING or hasattr(record, "counted"):
            return True
        what = _kind(record)
        with self._lock:
            if what in self._since:
                self._since[what] += 1
                return False
            if len(self._since) >= MOST:
                return True
            self._since[what] = 0
        timer = threading.Timer(self.every, self._sum_up, (what, record))
        timer.daemon = True
        timer.start()
        return True

    def _sum_up(self, what: tuple[object, ...], record: logging.LogRecord) -> None:
        with self._lock:
            many = self._since.pop(what)
        if many:
            words = "%s (%d more times within %g s)"
            said = record.getMessage(), many, self.every
            logging.getLogger(record.name).log(record.levelno, words, *said, extra={"counted": many})


def _kind(record: logging.LogRecord) -> tuple[object, ...]:
    """What is the same in records that need one line."""
    where: object = None
    if record.exc_info and record.exc_info[2] is not None:
        trace = record.exc_info[2]
        while trace.tb_next is not None:
            trace = trace.tb_next
        where = record.exc_info[0], trace.tb_frame.f_code.co_filename, trace.tb_lineno
    return record.name, record.levelno, re.sub(r"\d+", "#", record.getMessage()), where
