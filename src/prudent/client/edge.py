"""A batch of decisions that a program makes by itself, and whose rewards it reports merged.

One experiment decides serially. A program that needs more asks how the next decisions are to be divided over the arms,
makes them without the service, and reports count, mean and variance of each arm, which is all that most policies use.
"""

import math
import random
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .shapes import shown
from .wire import whole

MAX_REWARD = 1e150
"""Rewards are no larger in size, so that their variance is a number."""

TOGETHER = 1024
"""Rewards of an arm that wait until they are merged at once."""


class Statistics(NamedTuple):
    """Rewards of an arm: how many, their mean, and their variance, divided by their number."""

    number: int = 0
    mean: float = 0.0
    variance: float = 0.0

    def and_more(self, rewards: list[float]) -> "Statistics":
        """These and those. Sums are exact before they are rounded, and the mean is subtracted before squares are."""
        added = len(rewards)
        mean = math.fsum(rewards) / added
        variance = math.fsum([(reward - mean) ** 2 for reward in rewards]) / added
        total, apart = self.number + added, mean - self.mean
        share = added / total
        spread = self.variance + share * (variance - self.variance) + share * (1.0 - share) * apart**2
        return Statistics(total, self.mean + share * apart, spread)

    def as_sent(self) -> dict[str, float]:
        """As the API takes them."""
        return {"count": self.number, "mean": self.mean, "variance": self.variance}


class Batch:
    """Decisions that are divided already: `arms` says how many each arm gets, `id` is the service's name for them.

    Their order is random by the `seed`: all decisions of the split, shuffled by `random.Random(seed)`. Threads may
    share a batch.
    """

    def __init__(
        self, id: str, arms: Mapping[str, int], seed: int, send: Callable[["Batch"], dict[str, object]]
    ) -> None:
        self.id, self.arms, self.seed = id, dict(arms), seed
        self._order = [arm for arm, share in self.arms.items() for _ in range(share)]
        random.Random(seed).shuffle(self._order)
        self._next, self._send = 0, send
        self._waiting: dict[str, list[float]] = {arm: [] for arm in self.arms}
        self._room = {arm: min(TOGETHER, share) for arm, share in self.arms.items()}
        self._merged = dict.fromkeys(self.arms, Statistics())
        self._report: dict[str, object] | None = None
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """Decisions that have not been taken."""
        return len(self._order) - self._next

    def take(self, count: int = 1) -> list[str]:
        """The arms of the next `count` decisions, or of all that are left; an empty list means: get a new batch."""
        whole("take", "count", count, 1)
        with self._lock:
            if self._report is not None:
                raise ValueError(f"take: batch {self.id} is reported; get a new one")
            first = self._next
            self._next = min(first + count, len(self._order))
            return self._order[first : self._next]

    def tell(self, arm: str, reward: float) -> None:
        """The reward of one decision."""
        if not _is_reward(reward):
            raise ValueError(f"tell: reward must be a finite number, got {shown(reward)}")
        waiting = self._rewards_of(arm)
        waiting.append(reward)
        if len(waiting) >= self._room[arm]:
            self._merge(arm)

    def tell_many(self, arm: str, rewards: Iterable[float]) -> None:
        """The rewards of several decisions with this arm."""
        given = list(rewards) if isinstance(rewards, Iterable) else [None]
        if not all(map(_is_reward, given)):
            raise ValueError(f"tell_many: rewards must be finite numbers, got {shown(rewards)}")
        self._rewards_of(arm).extend(given)
        self._merge(arm)

    def report(self) -> dict[str, Any]:
        """Send the rewards; nothing can be taken or told afterwards. Decisions without a reward are taken back.

        If the service is away, call it again later: however often it arrives, it counts once.
        """
        return self._send(self)

    def merged(self) -> dict[str, Any]:
        """What is reported, the same whenever it is asked for."""
        if self._report is None:
            for arm in self.arms:
                self._merge(arm)
            with self._lock:
                self._waiting = {}
                self._report = {arm: known.as_sent() for arm, known in self._merged.items() if known.number}
        return self._report

    def _merge(self, arm: str) -> None:
        """Include what waits, up to the decisions that there are."""
        with self._lock:
            waiting, known = self._waiting[arm], self._merged[arm]
            taken = waiting[: self.arms[arm] - known.number]
            extra = len(waiting) - len(taken)
            del waiting[: len(taken) + extra]  # another thread may add some meanwhile
            if taken:
                self._merged[arm] = known = known.and_more(taken)
                self._room[arm] = min(TOGETHER, self.arms[arm] - known.number)
        if extra:
            raise ValueError(
                f"tell: arm {arm!r} has {self.arms[arm]:,} decisions in the batch, and {extra:,} more rewards"
            )

    def _rewards_of(self, arm: str) -> list[float]:
        try:
            return self._waiting[arm]
        except (KeyError, TypeError):
            if self._report is not None:
                raise ValueError(f"tell: batch {self.id} is reported; get a new one") from None
            raise ValueError(f"tell: arm {shown(arm)} is not in the batch, which has {', '.join(self.arms)}") from None


def _is_reward(given: Any) -> bool:
    try:
        return bool(-MAX_REWARD <= given <= MAX_REWARD)
    except (TypeError, ValueError):  # text, or an array of several
        return False
