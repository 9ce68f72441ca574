"""The contract of a policy, whole.

A policy is a `NamedTuple` of parameters with one of two methods, written as plain Python that Numba can compile:

`score(self, arm, …)` gives one arm's score from its statistics; the arm with the smallest score is pulled, ties go to
    the lowest number, an arm never pulled goes first. What else it needs it asks for by name, in this order: `t`,
    `rng`, and `rewards`, the arm's rewards so far in ascending order (keeping them sorted costs O(pulls) a round), or
    `counts`, how many of them are each of the policy's `values`. Asking for neither `t` nor `rng` declares that the
    score needs no clock: then only the pulled arm is rescored. A score that needs no clock may also ask, right after
    `arm`, for `best_cost`: the smallest cost of all arms, estimated by the policy's own `rho` or `risk`. It must not
    rise when `best_cost` does, so that most scores need not be computed in a round (prudent.engine.comparing).
    A score may instead be that of numbers drawn from what is believed of the arm: `draws(self, arm)` returns a tuple
    of one or two laws (`normal`, `inverse_gamma`, `beta` of prudent.policies.posteriors), and `score(self, arm, …)`
    takes one number from each. It must be a polynomial of degree two at most in a single number, and of degree one in
    two, so that engines know which numbers make a score smaller than another.
`phase(self, arms, t, chosen, rng)` decides a phase at a time: mark in `chosen` (a boolean per arm, all true at first,
    then as the policy left it) which arms to pull, and return how many times each; they are pulled in turn. 0 means
    that the policy is done: the arm of smallest cost among those `alive` is its answer, and is pulled from then on. A
    policy with a field `risk` or `rho` finds the arms' estimated costs in `arms.cost`.

`t` is the round about to be played, from 1; in `identify` arms pulled together make one round. Optional:
`tuned(self, setting)` returns the policy with what depends on the `Setting` filled in; a field left UNSET takes the
value of that name from the risk measure the policy serves, a field `risk` the measure itself, `budget` and `delta` what
`identify` is given, else δ = 1/n². What a policy assumes of rewards is a field `range`, `sd`, `low`, `high`, `best` or
`values`, in their units (prudent.policies.units); a policy with parts that assume something fills them in by
`fitted(self, units)`. A field `arm` holds an arm's number.
Parameters named in prudent.parameters are checked; `check(self)` refuses what is wrong with others.

Runs leap (docs: leaping) if the policy bounds its score: `score_bound(self, low, high)` returns at least every score
of an arm whose pulls, mean and variance lie between those of `low` and `high`. For a score of `arm` alone that is
monotone in each of the three, return `corner_bound(self, low, high)` of prudent.policies.helpers. For a score that asks
for `t` it is `score_bound(self, low, high, t)`, and the score must never rise with `t`. For one that asks for
`best_cost` it bounds the score of an arm that is itself the best one. A policy with `draws` needs none.
"""

import math
from typing import Any, NamedTuple, Protocol

from prudent.arrays import Array, Counts, Marks
from prudent.bandit import Bandit
from prudent.parameters import UNSET as UNSET  # noqa: PLC0414, since policies take it from here
from prudent.parameters import checked
from prudent.policies.units import PUBLISHED, Units
from prudent.registry import Registry
from prudent.risk.base import RiskMeasure, risks

FOREVER = 2**62
"""As many repetitions as there are rounds left."""

MEAN, ANY = "mean", "any risk"
"""What a policy without a risk measure of its own serves."""


class Policy(Protocol):
    """Any `NamedTuple`; `bind` checks that it has a score or a phase."""

    @property
    def _fields(self) -> tuple[str, ...]: ...
    @property
    def _field_defaults(self) -> dict[str, Any]: ...
    def _replace(self, *args: Any, **kwargs: Any) -> Any: ...
    def _asdict(self) -> dict[str, Any]: ...


class Arm(NamedTuple):
    """What is known of one arm: pulls, mean, variance (divided by the pulls)."""

    pulls: int
    mean: float
    variance: float


class Arms(NamedTuple):
    """What is known of all arms, an array each. `alive` is the policy's to set: an arm struck out is no answer.

    `cost` is infinite before the first pull. Row i of `rewards` begins with arm i's rewards, ascending, if costs need
    them; else it is empty.
    """

    pulls: Counts
    mean: Array
    variance: Array
    cost: Array
    alive: Marks
    rewards: Array


class Setting(NamedTuple):
    """What a policy is told before the first round. The `bandit` is known in simulations only, `units` fill in what the
    policy assumes of rewards."""

    n_arms: int
    risk: RiskMeasure
    horizon: int | None = None
    support: tuple[float, float] = (-math.inf, math.inf)
    budget: int | None = None
    delta: float | None = None
    bandit: Bandit | None = None
    units: Units = PUBLISHED

    @classmethod
    def of(cls, bandit: Bandit, risk: RiskMeasure, horizon: int | None = None, units: Units = PUBLISHED) -> "Setting":
        """That of a simulation."""
        return cls(len(bandit), risk, horizon, bandit.support, bandit=bandit, units=units)


policies: Registry[Policy] = Registry(
    "policy",
    "prudent.policies",
    "prudent.policies",
    wanted="a NamedTuple with a method score or phase, or the name of one, such as 'ucb1'",
    of=tuple,
    parts=risks,
    prepare=checked,
)
strategies: Registry[Policy] = Registry(
    "strategy",
    "prudent.strategies",
    "prudent.identification",
    wanted="a NamedTuple with a method phase, or the name of one, such as 'uniform'",
    of=tuple,
    parts=risks,
    prepare=checked,
)
"""Policies that stop, for `identify`."""

spec = policies.spec
