"""check_strategy catches what is broken, says what it is, and lets good strangers pass."""

import itertools
import math
from typing import Any, NamedTuple

import pytest

from helpers.careless_policies import IdleStrategy, Spendthrift
from prudent import CVaR
from prudent.policies.contract import strategies as registry
from prudent.testing import ConformanceError, check_strategy


@pytest.mark.parametrize("name", registry.names())
def test_every_registered_strategy_passes(name: str) -> None:
    check_strategy(registry.parse(name), arms=(2, 5), risk="var(0.5)" if name == "qlucb" else None)


class Once(NamedTuple):
    """Every arm once."""

    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        return 2 - t


def test_a_good_stranger_passes() -> None:
    check_strategy(Once())


class NoMethod(NamedTuple):
    a: float = 1.0


class Hasty(NamedTuple):
    """Answers before the first pull."""

    def phase(self, arms, t, chosen, rng):
        return 0


class Half(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        return 0.5


class Backwards(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        return -1


class Forges(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        arms.cost[0] = -1.0
        return 2 - t


class Revives(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        arms.alive[:] = t != 2
        return 1 if t < 4 else 0


class KeepsTheWorst(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        if t == 2:
            arms.alive[:] = arms.cost == arms.cost.max()
        return 2 - t


class OutOfRange(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        chosen[:] = False
        chosen[len(chosen)] = True
        return 1


class WrapsAround(NamedTuple):
    """2**63 is negative in compiled integers."""

    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        if t > 1:
            return 0
        return 1 if (t - 1 + 2**62) * 2 > 0 else 2


class Counts(NamedTuple):
    """Searches differ as time goes by."""

    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        return 0 if t > 1 else 1 + next(CALLS) % 2


CALLS = itertools.count()


class PythonOnly(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        return max(0, 2 - t, key=abs)


class ShortPhase(NamedTuple):
    def phase(self, arms, t):
        return 0


BROKEN: dict[str, tuple[Any, str]] = {
    "no tuple": (object(), "a strategy must be a NamedTuple; write class"),
    "no instance": (Once, "a strategy must be a NamedTuple.* pass Mine"),
    "no method": (NoMethod(), "must bind to 2 arms, but raised PrudentError: policy must be .* phase"),
    "budget": (Spendthrift(), "may pull 60 times, its budget, and asks for more; return 0"),
    "nobody": (IdleStrategy(), "phase chose no arm at t=1; mark at least one"),
    "hasty": (Hasty(), "recommends an arm it never pulled"),
    "half": (Half(), "whole number of repetitions, not 0.5"),
    "backwards": (Backwards(), "0 or more repetitions, not -1"),
    "forges": (Forges(), "must not change the arms' statistics; write to `chosen` and `alive` only"),
    "revives": (Revives(), "an arm struck out must stay out"),
    "worst": (KeepsTheWorst(), "rewards are sure, yet it recommends arm 1; strike out"),
    "out of range": (OutOfRange(), "must search interpreted, but raised IndexError"),
    "wraps around": (WrapsAround(), "must search the same compiled, but pulls .* interpreted, but .* compiled"),
    "state": (Counts(), "equal streams must give equal searches; keep nothing"),
    "Python only": (PythonOnly(), r'must compile, but Numba refuses File ".*test_testing_strategies.py", line \d+'),
    "short phase": (ShortPhase(), r"phase must take \(self, arms, t, chosen, rng\)"),
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

    with pytest.raises(ConformanceError, match=r"an estimated cost is not a number"):
        check_strategy(Once(), risk=Nowhere(0.5))
