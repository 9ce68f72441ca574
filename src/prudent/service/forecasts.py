"""Forecasts of experiments, made beside everything else: whoever asks gets the last one, and the next is made.

One thread makes one forecast at a time, from a copy of the state that a page has taken anyway, in compiled code that
lets the writer run. After each it rests, so that it takes a small share of one core however many pages are open.
"""

import logging
import threading
import time
from typing import NamedTuple

import numpy as np

from prudent.engine.threads import halted_by
from prudent.live.forecast import Forecast
from prudent.service.fold import Fold

log = logging.getLogger("prudent.service")

GROWTH, LEAST = 0.05, 50
"""A new forecast is made when the log has grown by this share, and by so many events."""

REST, LONGEST = 50.0, 60.0
"""The thread rests so many times as long as it worked, and at most so many seconds."""

PACE = 0.25
"""Seconds after which the thread sees that the service closes."""


class Kept(NamedTuple):
    """A forecast, and of which state it is: the position in the log, and the arms in play."""

    seq: int
    arms: tuple[str, ...]
    forecast: Forecast


class Forecasts:
    """The forecast of each experiment, by its number. Thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[int, Kept] = {}
        self._wanted: dict[int, Fold] = {}
        self._busy: int | None = None
        self._changed = threading.Condition()
        self._halt = np.zeros(1, np.bool_)

    def of(self, number: int, fold: Fold, patience: float = 0.0) -> Kept | None:
        """The last forecast of an experiment that is in this state, if there is one for its arms. If it is old, a new
        one is made, for which one may wait so many seconds. The state must be a copy."""
        if why := _obstacle(fold):
            return Kept(fold.seq, tuple(fold.agent.arms), Forecast(why))
        with self._changed:
            if self._is_old(number, fold):
                self._wanted[number] = fold
                self._changed.notify_all()
            if patience > 0.0:
                self._changed.wait_for(lambda: number not in self._wanted and self._busy != number, patience)
            return self.last(number, tuple(fold.agent.arms))

    def last(self, number: int, arms: tuple[str, ...]) -> Kept | None:
        """The last forecast of an experiment, if one was made with these arms in play."""
        kept = self._kept.get(number)
        return kept if kept is not None and kept.arms == arms else None

    def _is_old(self, number: int, fold: Fold) -> bool:
        kept = self._kept.get(number)
        if kept is None or kept.arms != tuple(fold.agent.arms):
            return True
        return fold.seq >= kept.seq + max(LEAST, GROWTH * kept.seq)

    def run(self, closing: threading.Event) -> None:
        """Make forecasts until the service closes."""
        while not closing.is_set():
            with self._changed:
                if not self._changed.wait_for(lambda: self._wanted, PACE):
                    continue
                number = next(iter(self._wanted))
                fold, self._busy = self._wanted.pop(number), number
            began = time.thread_time()
            kept = Kept(fold.seq, tuple(fold.agent.arms), self._made(fold))
            with self._changed:
                self._kept[number], self._busy = kept, None
                self._changed.notify_all()
            closing.wait(min(LONGEST, REST * (time.thread_time() - began)))

    def _made(self, fold: Fold) -> Forecast:
        """What goes wrong is told, and does not end the thread."""
        try:
            with halted_by(self._halt):
                return fold.agent.forecast()
        except Exception as error:
            if not self._halt[0]:
                log.exception("unexpected error in a forecast")
            return Forecast(f"it could not be computed ({type(error).__name__})")

    def stop(self) -> None:
        """End the forecast that is being made."""
        self._halt[0] = True


def _obstacle(fold: Fold) -> str:
    """Why there is no forecast, which is said at once; empty if there is one. After a pause the policy may go on."""
    if fold.status == "stopped":
        return "the experiment has stopped"
    if fold.frozen_to is not None:
        return f"everybody gets {fold.labels[fold.frozen_to]} while the experiment is frozen"
    return fold.agent.no_forecast()
