"""Whether answers get lost more often for one arm than for another.

A policy changes its shares all the time, so that a test of the split says nothing. What must not differ between arms is
how often a decision that has closed was answered: outcomes that are lost may be other ones than those that come.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from prudent.base.errors import PrudentError, check_integer
from prudent.base.parameters import check_parameter
from prudent.confidence import anytime
from prudent.live.labels import called
from prudent.risk.base import Interval

FAILURE = 0.001
"""How often a warning may be false, over the whole life of an experiment."""


class Answers(NamedTuple):
    """Where the arms' answer rates lie, all of them at any time with probability `level`; `str()` says it in words.

    `less` is answered less often than `more`, the two arms that are furthest apart; both are None if no two intervals
    are apart. That is the warning.
    """

    rates: dict[Any, Interval]
    less: Any
    more: Any
    level: float

    @property
    def differ(self) -> bool:
        """Whether some arm is answered less often than another."""
        return self.less is not None

    def __str__(self) -> str:
        if not self.differ:
            return "No arm is answered less often than another, as far as can be said."
        few, many = _percents(self.rates[self.less], self.rates[self.more])
        return (
            f"{called(self.less)} is answered less often than {called(self.more)}: {few} against {many}; outcomes that "
            "are lost may differ from those that come, so find the reason before you compare these arms."
        )


def answer_rates(counts: Mapping[Any, tuple[int, int]], failure: float = FAILURE) -> Answers:
    """From each arm's decisions that have closed, and how many of them were answered.

    A warning is false, ever, with probability at most `failure`, if decisions of an arm are answered independently of
    each other. The arms share it; if you add one, that holds for what is said from then on.
    """
    failure = check_parameter("answer_rates", "failure", failure)
    for arm, (closed, answered) in counts.items():
        check_integer("answer_rates", "closed", closed, low=0)
        if check_integer("answer_rates", "answered", answered, low=0) > closed:
            raise PrudentError(f"answer_rates: answered must be at most closed, {closed}, got {answered} for {arm!r}")
    rates = dict.fromkeys(counts, Interval(0.0, 1.0))
    some = [arm for arm, (closed, _) in counts.items() if closed > 0]
    if some:
        pulls, hits = np.array([counts[arm] for arm in some], float).T
        ends = anytime.share_bounds(pulls, hits / pulls, failure / len(counts))
        rates |= {arm: Interval(*own) for arm, own in zip(some, np.transpose(ends).tolist(), strict=True)}
    less = min(rates, key=lambda arm: rates[arm].high, default=None)
    more = max(rates, key=lambda arm: rates[arm].low, default=None)
    apart = bool(rates) and rates[less].high < rates[more].low
    return Answers(rates, less if apart else None, more if apart else None, 1.0 - failure)


def _percents(few: Interval, many: Interval) -> list[str]:
    """Both in percent, with as many digits as it takes to see that they are apart."""
    for digits in range(5):
        ends = [[f"{100.0 * end:.{digits}f}" for end in ends] for ends in (few, many)]
        if float(ends[0][1]) < float(ends[1][0]):
            break
    return [f"{low}–{high} %" for low, high in ends]
