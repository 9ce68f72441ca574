"""Axes of pictures: where their ticks are, and what is written there."""

import math
from bisect import bisect_left
from datetime import UTC, datetime, timedelta

from prudent.base.text import minus, number

SECOND, MINUTE, HOUR, DAY = 1.0, 60.0, 3600.0, 86_400.0
STEPS = (
    *(SECOND * n for n in (1, 2, 5, 10, 30)),
    *(MINUTE * n for n in (1, 2, 5, 10, 30)),
    *(HOUR * n for n in (1, 3, 6, 12)),
    *(DAY * n for n in (1, 2, 3, 7, 14)),
)
"""Seconds between two ticks of a calendar, as people count; after them come months and years."""

MONTH, YEAR = 30.44 * DAY, 365.25 * DAY
Ticks = list[tuple[float, str]]


def linear_ticks(low: float, high: float, most: int = 4) -> Ticks:
    """Round numbers between the ends, in steps of 1, 2, 2.5 or 5 times a power of ten; at most `most` steps."""
    rough = (high - low) / most
    if not 1e-300 < rough < math.inf:
        return [(low, minus(number(low, 3)))]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1.0, 2.0, 2.5, 5.0, 10.0) if times * power >= rough * (1.0 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(i * step, minus(number(i * step, _digits(i * step, step)))) for i in range(first, last + 1)]


def _digits(tick: float, step: float) -> int:
    """How many digits tell a tick from its neighbours."""
    return 3 if tick == 0.0 else max(3, 2 + math.floor(math.log10(abs(tick))) - math.floor(math.log10(step)))


def log_ticks(low: float, high: float, most: int = 5) -> Ticks:
    """Powers of ten between the ends, or round numbers if there are fewer than two."""
    powers = range(math.ceil(math.log10(max(low, 1.0)) - 1e-9), math.floor(math.log10(max(high, 1.0)) + 1e-9) + 1)
    if len(powers) < 2:
        return linear_ticks(low, high, most)
    return [(10.0**power, number(10.0**power)) for power in powers][:: -(-len(powers) // most)]


def calendar_ticks(low: int, high: int, most: int = 5) -> Ticks:
    """Whole seconds, minutes, hours, days, months or years between two times in milliseconds since 1970, in UTC."""
    wanted = (high - low) / 1000.0 / most
    if wanted <= STEPS[-1]:
        step = STEPS[bisect_left(STEPS, wanted)]
        begin = math.ceil(low / 1000.0 / step) * step  # days begin at midnight, and 1970 on a Thursday
        times = [begin + i * step for i in range(most + 2)]
        return [(1000.0 * at, _clock(at, step)) for at in times if 1000.0 * at <= high]
    months = 1
    while months * MONTH < wanted:
        months = next((n for n in (2, 3, 6, 12) if n > months), months + 12)
    moment, found = _first_of_month(low), []
    while 1000.0 * moment.timestamp() <= high:
        form = "%Y" if months % 12 == 0 else "%b %Y"
        found.append((1000.0 * moment.timestamp(), moment.strftime(form)))
        year, month = divmod(moment.month - 1 + months, 12)
        moment = moment.replace(year=moment.year + year, month=month + 1)
    return found


def _first_of_month(at: int) -> datetime:
    moment = datetime.fromtimestamp(at / 1000.0, UTC)
    first = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return first if first == moment else (first + timedelta(days=32)).replace(day=1)


def _clock(at: float, step: float) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    if step >= DAY or (moment.hour, moment.minute, moment.second) == (0, 0, 0):
        return f"{moment.day} {moment:%b}"
    return f"{moment:%H:%M:%S}" if step < MINUTE else f"{moment:%H:%M}"
