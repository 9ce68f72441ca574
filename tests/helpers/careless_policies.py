"""Policies and strategies of strangers, careless ones, that several tests use."""

import math
from typing import NamedTuple

from prudent.policies.helpers import corner_bound

OVERALL, CONSTANTLY, WAVE, NOWHERE, UNDEFINED, MONOTONE = range(6)


class Odd(NamedTuple):
    """Clock-free scores and their bounds: a careful user's, MONOTONE, and such as a careless one may write.

    One class, because a class is compiled once.
    """

    kind: int

    def score(self, arm):
        if self.kind == CONSTANTLY:
            return 0.0
        if self.kind == WAVE:
            return math.sin(0.05 * arm.pulls) + 0.01 * math.cos(1.7 * arm.pulls) - arm.mean
        if self.kind == UNDEFINED and arm.pulls > 20:
            return math.nan
        if self.kind == MONOTONE:
            return math.sqrt(arm.variance) - 0.5 * arm.mean - 1.5 / math.sqrt(arm.pulls)
        return arm.variance - 1.0 / math.sqrt(arm.pulls)

    def score_bound(self, low, high):
        if self.kind == CONSTANTLY:
            return 0.0
        if self.kind == WAVE:
            return 1.01 - low.mean
        if self.kind == NOWHERE:
            return math.nan
        if self.kind == MONOTONE:
            return corner_bound(self, low, high)
        return math.inf


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
