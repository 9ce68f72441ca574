"""Forecasts of experiments, made beside everything else: whoever asks gets the last one, and the next is made.

One forecast is made at a time, in a process of its own, from a copy of the state that a page has taken anyway. After
each there is a rest, so that forecasts take a small share of one core however many pages are open.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from prudent.live.agent import Agent
from prudent.live.forecast import Forecast
from prudent.service.log.state import ExperimentState
from prudent.service.verbs import ENDED
from prudent.service.work.children import BrokenError, Computer, EndedError

log = logging.getLogger("prudent.service")

GROWTH, LEAST = 0.05, 50
"""A new forecast is made when the log has grown by this share, and by so many events."""

REST, LONGEST = 50.0, 60.0
"""After a forecast no other is made for so many times as long as it took, and at most so many seconds."""

SECONDS = 300.0
"""How long a forecast may take. Its policy is compiled for it once on a machine."""

PACE = 0.25
"""Seconds after which the thread sees that the service closes."""


class Kept(NamedTuple):
    """A forecast, and of which state it is: the position in the log, and the arms in play."""

    seq: int
    arms: tuple[str, ...]
    forecast: Forecast


class Forecasts:
    """The forecast of each experiment, by its number. Thread-safe. `make` makes one, by default in a child process."""

    def __init__(self, make: Callable[[Agent], Forecast] | None = None) -> None:
        self._computer = Computer()
        self._make = self._computed if make is None else make
        self._kept: dict[int, Kept] = {}
        self._wanted: dict[int, ExperimentState] = {}
        self._busy: int | None = None
        self._changed = threading.Condition()

    def of(self, number: int, state: ExperimentState, patience: float = 0.0) -> Kept | None:
        """The last forecast of an experiment that is in this state, if there is one for its arms. If it is old, a new
        one is made, for which one may wait so many seconds. The state must be a copy."""
        if why := _obstacle(state):
            return Kept(state.seq, tuple(state.agent.arms), Forecast(why))
        with self._changed:
            if self._is_old(number, state):
                self._wanted[number] = state
                self._changed.notify_all()
            if patience > 0.0:
                self._changed.wait_for(lambda: number not in self._wanted and self._busy != number, patience)
            return self.last(number, tuple(state.agent.arms))

    def last(self, number: int, arms: tuple[str, ...]) -> Kept | None:
        """The last forecast of an experiment, if one was made with these arms in play."""
        kept = self._kept.get(number)
        return kept if kept is not None and kept.arms == arms else None

    def _is_old(self, number: int, state: ExperimentState) -> bool:
        kept = self._kept.get(number)
        if kept is None or kept.arms != tuple(state.agent.arms):
            return True
        return state.seq >= kept.seq + max(LEAST, GROWTH * kept.seq)

    def run(self, closing: threading.Event) -> None:
        """Make forecasts until the service closes."""
        while not closing.is_set():
            with self._changed:
                if not self._changed.wait_for(lambda: self._wanted, PACE):
                    continue
                number = next(iter(self._wanted))
                state, self._busy = self._wanted.pop(number), number
            began = time.monotonic()
            kept = Kept(state.seq, tuple(state.agent.arms), self._made(state))
            with self._changed:
                self._kept[number], self._busy = kept, None
                self._changed.notify_all()
            closing.wait(min(LONGEST, REST * (time.monotonic() - began)))

    def _made(self, state: ExperimentState) -> Forecast:
        """What goes wrong is told, and does not end the thread."""
        try:
            return self._make(state.agent)
        except EndedError as error:
            why = f"it took more than {SECONDS / 60.0:g} minutes" if error.late else "the service is stopping"
            return Forecast(why)
        except BrokenError as error:
            log.error("a forecast broke: %s", error)
        except Exception as error:
            log.error("a forecast broke: %s", type(error).__name__)
        return Forecast("it could not be computed; the log of the service says more")

    def _computed(self, agent: Agent) -> Forecast:
        """A forecast from a child process."""
        made = self._computer.compute("forecast", agent.to_json().encode(), seconds=SECONDS)
        return msgspec.msgpack.decode(made, type=Forecast)

    def stop(self) -> None:
        """End the forecast that is being made."""
        self._computer.close()


def answer(question: bytes) -> bytes:
    """The job of the child process."""
    return msgspec.msgpack.encode(Agent.from_json(question).forecast())


def _obstacle(state: ExperimentState) -> str:
    """Why there is no forecast, which is said at once; empty if there is one. After a pause the policy may go on."""
    if state.status in ENDED:
        return "the experiment has stopped"
    if state.frozen_to is not None:
        return f"everybody gets {state.labels[state.frozen_to]} while the experiment is frozen"
    return state.agent.no_forecast()
