"""What is remembered of the arms where a policy forgets, interpreted: beside what is known of them, an arm's `recent`.

`recent` is the number of rewards that count, their mean and variance, and counts of values for a score that asks for
them. A discount fades it with every reward told; a window keeps the last rewards themselves.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from prudent.base.errors import PrudentError
from prudent.engine.python.arm import ArmState, take
from prudent.policies.contract import Arm
from prudent.policies.forgetting import Remembering
from prudent.policies.scoring import counted, place, score_inputs


class Memory:
    """How a policy forgets, and the last rewards (arm, reward) if it keeps a window; the same for all of its arms."""

    def __init__(self, how: Remembering, unit: float, latest: Iterable[tuple[int, float]] = ()) -> None:
        self.discount, self.window, self.unit = how.discount, how.window, unit
        counts = "counts" in score_inputs(type(how.policy))
        self.values: Any = np.array(how.policy.values) if counts else None
        self.latest = deque((int(i), float(reward)) for i, reward in latest)

    def check(self, arms: Sequence[ArmState]) -> None:
        """Begin with arms that are new; an error if what is remembered of others is not of this policy."""
        size = 3 + (0 if self.values is None else len(self.values))
        for number, arm in enumerate(arms):
            if arm.recent is None and arm.pulls == 0:
                self.begin(arm)
            elif arm.recent is None or len(arm.recent) != size:
                raise PrudentError(f"arm {number}: recent must hold {size} numbers for this policy, got {arm.recent}")
            elif self.window and arm.recent[0] != sum(i == number for i, _ in self.latest):
                raise PrudentError(f"arm {number}: recent must count its rewards in latest, got {arm.recent[0]:g}")

    def begin(self, arm: ArmState) -> ArmState:
        """The arm, of which nothing is remembered yet."""
        arm.recent = [0.0] * (3 + (0 if self.values is None else len(self.values)))
        return arm

    def tell(self, arms: Sequence[ArmState], number: int, reward: float) -> None:
        """A reward, which counts in full."""
        if self.window:
            self.latest.append((number, reward))
            gone = self.latest.popleft()[0] if len(self.latest) > self.window else number
            for i in {number, gone}:
                self._read(arms[i], i)
            return
        self.fade(arms, 1)
        recent = arms[number].recent
        assert recent is not None
        recent[0] += 1.0
        recent[1], recent[2] = take(recent[0], recent[1], recent[2], reward)
        if self.values is not None:
            recent[3 + place(self.values, reward / self.unit)] += 1.0

    def fade(self, arms: Sequence[ArmState], rounds: int) -> None:
        """So many rounds have passed."""
        factor = self.discount**rounds
        for arm in arms:
            assert arm.recent is not None
            arm.recent[0] *= factor
            for j in range(3, len(arm.recent)):
                arm.recent[j] *= factor

    def check_merges(self) -> None:
        """An error if rewards must come one by one."""
        if self.window or self.values is not None:
            what = "a sliding window" if self.window else "a discounted policy that counts values"
            raise PrudentError(f"merge: {what} needs rewards one by one; report them with tell")

    def merge(self, arms: Sequence[ArmState], number: int, count: int, mean: float, variance: float) -> None:
        """So many rewards of an arm by their mean and variance. Nobody knows their order, so that all of them count as
        much: together as much as they would one by one."""
        self.fade(arms, count)
        recent = arms[number].recent
        assert recent is not None
        more = float(count) if self.discount == 1.0 else (1.0 - self.discount**count) / (1.0 - self.discount)
        total, gap = recent[0] + more, mean - recent[1]
        recent[2] = (recent[0] * recent[2] + more * variance) / total + gap * gap * recent[0] * more / total / total
        recent[0], recent[1] = total, recent[1] + gap * more / total

    def forget(self, arms: Sequence[ArmState], number: int) -> None:
        """Nothing is remembered of an arm any more."""
        self.latest = deque(pair for pair in self.latest if pair[0] != number)
        self.begin(arms[number])

    def _read(self, arm: ArmState, number: int) -> None:
        """What is in the window of an arm."""
        own = np.array([reward for i, reward in self.latest if i == number])
        self.begin(arm)
        assert arm.recent is not None
        if len(own):
            arm.recent[:3] = len(own), float(own.mean()), float(own.var())
        if self.values is not None:
            arm.recent[3:] = counted(self.values, own / self.unit).tolist()


def seen_of(arm: ArmState, unit: float) -> Arm:
    """What a policy sees of an arm, in its unit."""
    if arm.recent is not None:
        pulls, mean, variance = arm.recent[:3]
        return Arm(pulls, mean / unit, variance / unit / unit)  # type: ignore[arg-type]
    return Arm(arm.pulls, arm.mean / unit, arm.variance / unit / unit)


def clock(how: Remembering, arms: Sequence[ArmState]) -> float:
    """The rounds that count: all that are discounted, or the coming one as far as rounds are remembered."""
    waiting = sum(arm.open_asks for arm in arms)
    if how.window:
        return min(sum(arm.pulls for arm in arms) + waiting + 1, how.window)
    return sum(arm.recent[0] for arm in arms if arm.recent is not None) + waiting
