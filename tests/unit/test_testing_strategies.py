"""check_strategy catches what is broken, says what it is, and lets good strangers pass."""

import itertools
import math
from typing import Any, NamedTuple

import pytest

from prudent.errors import check_positive
from prudent.identification import registry
from prudent.policies import UNSET
from prudent.risk import CVaR
from prudent.testing import ConformanceError, check_strategy
from strangers import IdleStrategy, Spendthrift


@pytest.mark.parametrize("name", registry.names())
def test_every_registered_strategy_passes(name: str) -> None:
    check_strategy(registry.parse(name), arms=(2, 5))


class Once(NamedTuple):
    """Every arm once."""

    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        return 1 - rounds


def test_a_good_stranger_passes() -> None:
    check_strategy(Once())


class NoMethod(NamedTuple):
    a: float = 1.0


class Hasty(NamedTuple):
    """Answers before the first pull."""

    def phase(self, arms, rounds, chosen):
        return 0


class Half(NamedTuple):
    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        return 0.5


class Backwards(NamedTuple):
    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        return -1


class Forges(NamedTuple):
    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        arms.cost[0] = -1.0
        return 1 - rounds


class Revives(NamedTuple):
    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        arms.alive[:] = rounds != 1
        return 1 if rounds < 3 else 0


class KeepsTheDearest(NamedTuple):
    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        if rounds == 1:
            arms.alive[:] = arms.cost == arms.cost.max()
        return 1 - rounds


class OutOfRange(NamedTuple):
    def phase(self, arms, rounds, chosen):
        chosen[:] = False
        chosen[len(chosen)] = True
        return 1


class WrapsAround(NamedTuple):
    """2**63 is negative in compiled integers."""

    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        if rounds > 0:
            return 0
        return 1 if (rounds + 2**62) * 2 > 0 else 2


class Counts(NamedTuple):
    """Searches differ as time goes by."""

    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        return 0 if rounds > 0 else 1 + next(CALLS) % 2


CALLS = itertools.count()


class PythonOnly(NamedTuple):
    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        return max(0, 1 - rounds, key=abs)


class ShortPhase(NamedTuple):
    def phase(self, arms, rounds):
        return 0


class Unchecked(NamedTuple):
    """Its check lets NaN through."""

    width: float = 1.0
    budget: int = UNSET

    def check(self) -> None:
        if self.width < 0.0:
            check_positive("unchecked", "width", self.width)

    def phase(self, arms, rounds, chosen):
        chosen[:] = True
        return 1 - rounds


BROKEN: dict[str, tuple[Any, str]] = {
    "no tuple": (object(), "a strategy must be a NamedTuple; write class"),
    "no instance": (Once, "a strategy must be a NamedTuple.* pass Mine"),
    "no method": (NoMethod(), "must bind to 2 arms, but raised PrudentError: strategy must be .* phase"),
    "budget": (Spendthrift(), "may pull 60 times, its budget, and asks for more; return 0"),
    "nobody": (IdleStrategy(), "phase chose no arm after 0 rounds; mark at least one"),
    "hasty": (Hasty(), "recommends an arm it never pulled"),
    "half": (Half(), "whole number of repetitions, not 0.5"),
    "backwards": (Backwards(), "0 or more repetitions, not -1"),
    "forges": (Forges(), "must not change the arms' statistics; write to `chosen` and `alive` only"),
    "revives": (Revives(), "an arm struck out must stay out"),
    "dearest": (KeepsTheDearest(), "rewards are sure, yet it recommends arm 1; strike out"),
    "out of range": (OutOfRange(), "must search interpreted, but raised IndexError"),
    "wraps around": (WrapsAround(), "must search the same compiled, but pulls .* interpreted, but .* compiled"),
    "state": (Counts(), "equal streams must give equal searches; keep nothing"),
    "Python only": (PythonOnly(), r'must compile, but Numba refuses File ".*test_testing_strategies.py", line \d+'),
    "short phase": (ShortPhase(), r"phase must take \(self, arms, rounds, chosen\)"),
    "NaN accepted": (Unchecked(), "check with width=nan must raise PrudentError, but was accepted"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_strategies_are_caught(case: str) -> None:
    strategy, message = BROKEN[case]
    with pytest.raises(ConformanceError, match=message) as caught:
        check_strategy(strategy)
    assert len(str(caught.value)) < 600


def test_a_measure_that_is_no_number_is_caught() -> None:
    class Nowhere(CVaR):
        by_moments = True

        def estimate(self, mean: float, variance: float, rewards: Any) -> float:
            return math.nan

    with pytest.raises(ConformanceError, match=r"the estimated .* is NaN"):
        check_strategy(Once(), risk=Nowhere(0.5))
