"""How somebody looks at an experiment: which axis, which period, which control. The address of the page says it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlencode

AXES = {"decisions": "number of decisions", "log": "number of decisions, logarithmic", "time": "time (UTC)"}
"""What pictures over time have below."""

PERIODS = {"1h": ("the last hour", 3600), "1d": ("the last day", 86_400), "7d": ("the last 7 days", 604_800)}
"""Periods by their names in an address: in words, and in seconds."""

EVENTS = {"people": "what people and guards did", "all": "everything"}


class Settings(NamedTuple):
    """What an address asks for. A period is `last` before the last event, or from `begin` to `end` (in UTC)."""

    axis: str = "decisions"
    control: str = ""
    last: str = ""
    begin: str = ""
    end: str = ""
    events: str = "people"

    @property
    def query(self) -> str:
        """The part of the address after its path; empty if all is as usual."""
        usual = Settings()
        given = {name: value for name, value in self._asdict().items() if value != getattr(usual, name)}
        return f"?{urlencode(given)}" if given else ""

    def other(self, **parts: str) -> str:
        """The same with something else, as the end of an address."""
        return self._replace(**parts).query

    def period(self, now: int) -> tuple[float, float]:
        """From when until when, in milliseconds since 1970; `now` is the time of the last event."""
        if self.last:
            return now - 1000.0 * PERIODS[self.last][1], float(now)
        begin, end = _time(self.begin), _time(self.end)
        return (float("-inf") if begin is None else begin), (float("inf") if end is None else end)


def settings_of(query: Mapping[str, str]) -> Settings:
    """The settings of an address; what cannot be is as usual."""
    control, begin, end = (query.get(name, "")[:200] for name in ("control", "begin", "end"))
    return Settings(
        axis=_one_of(AXES, query.get("axis", ""), "decisions"),
        control=control,
        last=_one_of(PERIODS, query.get("last", ""), ""),
        begin=begin if _time(begin) is not None else "",
        end=end if _time(end) is not None else "",
        events=_one_of(EVENTS, query.get("events", ""), "people"),
    )


def _one_of(known: Mapping[str, object], given: str, usual: str) -> str:
    return given if given in known else usual


def _time(text: str) -> float | None:
    """A time as browsers write it, `2026-11-19T20:00`, in milliseconds since 1970."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None or not 1970 <= moment.year <= 9000:
        return None
    return 1000.0 * moment.replace(tzinfo=UTC).timestamp()
