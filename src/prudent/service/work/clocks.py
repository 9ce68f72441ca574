"""The clock of the service, and what can be known of whether it is right.

Times in a log never decrease. If a log goes on after a start whose clock was ahead, its times stay ahead: by `ahead`
milliseconds, which the experiment's row holds, so that its windows go on as fast as time does.
"""

import time
from collections.abc import Callable

from prudent.service.log.store import Store

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
AWAY = 30 * DAY
"""A service that was away for longer may in truth have a clock that is ahead."""


def steady_clock(start: float | None = None) -> Callable[[], int]:
    """Milliseconds since 1970 that go on evenly from `start` (seconds; by default what the machine says), even if
    somebody sets the clock of the machine."""
    begin, since = time.time() if start is None else start, time.monotonic()
    return lambda: round(1000.0 * (begin + time.monotonic() - since))


def machine_clock() -> int:
    """What the clock of this machine says now, in milliseconds since 1970."""
    return round(1000.0 * time.time())


def clock_of(store: Store) -> Callable[[], int]:
    """That of the database, which all its workers share, or else that of this machine."""
    theirs = store.database.clock()
    return steady_clock(None if theirs is None else theirs / 1000.0)


def settle(store: Store, now: int) -> None:
    """Let every log whose last time has not come yet go on from there."""
    with store.transaction():
        store.move_clocks(now)


def machine_alarm(store: Store, machine: int) -> str | None:
    """What is wrong with the clock of this machine, as far as the database has another one."""
    theirs = store.database.clock()
    if theirs is None or abs(machine - theirs) < HOUR:
        return None
    side = "ahead of" if machine > theirs else "behind"
    return f"The clock of this machine is {length(abs(machine - theirs))} {side} that of the database, which counts."


def log_alarms(store: Store) -> list[str]:
    """Which logs are ahead of the clock; the furthest stands for the others."""
    ahead = store.ahead(MINUTE)
    if not ahead:
        return []
    name, most = ahead[0]
    return [f"Experiment {name}{f' and {len(ahead) - 1:,} more' if len(ahead) > 1 else ''}: {alarm_of(most)}"]


def alarm_of(ahead: int) -> str | None:
    """What is wrong with the times of an experiment, for its page."""
    if ahead < MINUTE:
        return None
    return (
        f"the times of the log are {length(ahead)} ahead of the clock. The service was started with a clock that was"
        " ahead, or this clock is behind: check it. Windows last as long as they should."
    )


def absence(store: Store, now: int) -> str | None:
    """Words for the log after an absence that may be none. Without a clock to compare with, nobody can tell."""
    last = store.last_time()
    if last is None or now - last < AWAY:
        return None
    return (
        f"the last event is {length(now - last)} old; if the service was not away for so long, its clock is ahead:"
        " stop it and set the clock before windows close"
    )


def length(milliseconds: int) -> str:
    """A time in its largest unit."""
    for name, unit in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)):
        if milliseconds >= unit:
            many = milliseconds // unit
            return f"{many:,} {name}{'s' if many > 1 else ''}"
    return f"{milliseconds / 1000.0:g} s"
