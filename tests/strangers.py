"""Policies and strategies of strangers, careless ones, that several tests use."""

from typing import NamedTuple


class IdlePolicy(NamedTuple):
    """Its phase has no repetitions."""

    def phase(self, arms, t, chosen, rng):
        return 0


class IdleStrategy(NamedTuple):
    """Its phase chooses no arm."""

    def phase(self, arms, t, chosen, rng):
        chosen[:] = False
        return 1


class Spendthrift(NamedTuple):
    """It never stops."""

    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        return 1
