"""How late a reward is seen: by a number of rounds, by a law, or by a function of the reward."""

import math
from collections.abc import Callable

import numpy as np

from prudent.arms.base import Law
from prudent.arms.base import arms as laws
from prudent.base.description import described
from prudent.base.errors import PrudentError, check_integer, shown
from prudent.engine.jobs import MAX_ROUNDS

WANTED = "a number of rounds, a law such as 'poisson(3)', or a function (reward, rng) -> rounds"
Delay = Callable[[float, np.random.Generator], float]


class Drawn:
    """Delays of a law, rounded down to whole rounds."""

    def __init__(self, law: Law) -> None:
        self.law = law

    def __call__(self, reward: float, rng: np.random.Generator) -> float:
        return float(math.floor(self.law.sample(rng, 1)[0]))


class Fixed:
    """Every reward is late by as many rounds."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def __call__(self, reward: float, rng: np.random.Generator) -> float:
        return self.rounds


def delay_of(owner: str, given: object) -> tuple[Delay | None, str]:
    """What decides the delays, None where no reward is late, and its text."""
    if isinstance(given, (str, Law)):
        law = laws.make(owner, given)
        if law.support[0] < 0.0:
            raise PrudentError(f"{owner}: delay must not be negative, got {law}; take a law on numbers from 0")
        return Drawn(law), str(law)
    if callable(given) and not isinstance(given, type):
        return given, described(given)
    if given is None:
        return None, ""
    rounds = check_integer(owner, "delay", given, low=0, high=MAX_ROUNDS, hint=f"it is {WANTED}")
    return (Fixed(rounds), str(rounds)) if rounds else (None, "")


def checked_rounds(given: object) -> float:
    """A delay as a function gave it: a whole number of rounds, or infinite for a reward that never comes."""
    if isinstance(given, float) and given == math.inf:
        return given
    try:
        return float(check_integer("delay", "rounds", given, low=0))
    except PrudentError:
        wanted = "a whole number of rounds from 0, or math.inf for a reward that never comes"
        raise PrudentError(f"delay: the function must return {wanted}, got {shown(given)}") from None
