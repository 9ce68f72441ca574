"""The contract of a policy: a `NamedTuple` of parameters with a `score` or a `phase`, plain Python that Numba compiles.

| method | needed | what it buys |
|---|---|---|
| `score(self, arm, …)` | without a `phase` | the arm with the smallest score is pulled |
| `phase(self, arms, t, chosen, rng)` | without a `score` | many pulls in one decision, and an end |
| `draws(self, arm)` | if beliefs are sampled | the score takes a number from each, and runs leap |
| `score_bound(self, low, high)` | never | runs leap (docs: leaping) |
| `tuned(self, setting)` | if a constant depends on the `Setting` | the policy with it, before the first round |
| `fitted(self, units)` | if a part of it assumes something of rewards | that part with its range, sd, … |
| `check(self)` | if names of fields say too little | wrong parameters are refused at the door |
| `chances(self, arms, t, chances)` | with a `phase` that draws at random | distributions are exact (docs: exact) |
| `feasible(self, bandit)` | if a strategy has conditions | `identify` knows which answers are right |

**Score.** Ties go to the lowest number; an arm never pulled goes first. After `arm` a score names what else it needs,
in this order. One that names neither `t` nor `rng` is computed for the pulled arm only.

| name | it is | in return |
|---|---|---|
| `best_cost` | the smallest cost of all arms, by the field `rho` or `risk` | must not rise with it, nor need a clock |
| `t` | the round about to be played, from 1 | |
| `rng` | a NumPy Generator | |
| `rewards` | the arm's rewards, ascending | keeping them sorted costs O(pulls) a round |
| `counts` | how many of them are each of the field `values` | |

**Draws** are one or two of `normal`, `inverse_gamma` and `beta` (prudent.policies.posteriors). The score must be a
polynomial, of degree two at most in one number, of degree one in two.

**Score bound.** At least every score of an arm whose pulls, mean and variance lie between those of `low` and `high`. It
takes `t` if the score does, which then must never rise with `t`. With `best_cost` it bounds the best arm's own score.

**Phase.** Mark in `chosen` (a boolean an arm, all true at first, then as it was left) which arms to pull in turn, and
return how many times each. 0 is the end: the arm of smallest cost among those `alive` is the answer, and is pulled from
then on. With a field `rho` or `risk`, `arms.cost` has the estimated costs. In
`identify` arms pulled together make one round `t`.

**Chances.** With which probability `phase` pulls each arm in round t, if it decides every round from counts alone.

**Fields** left UNSET are filled in: `risk` is the measure that the policy serves, and other names are its parameters;
`budget` and `delta` are those of `identify`, else δ = 1/n²; `range`, `sd`, `low`, `high`, `best` and `values` say what
is assumed of rewards, in their units (prudent.policies.units). Names in prudent.base.parameters are checked. A field
`arm` is an arm's number.

Examples
--------
>>> from typing import NamedTuple
>>> from prudent import Agent, Bandit, simulate
>>> from prudent.policies.contract import UNSET
>>> from prudent.policies.helpers import choose_only, corner_bound
>>> from prudent.policies.posteriors import normal
>>> def first_arm(policy):
...     return Agent(policy, arms=["a", "b"], horizon=50, support=(0, 1), risk="mean").ask()

>>> class Score(NamedTuple):
...     def score(self, arm, t):
...         return -arm.mean - (t / arm.pulls) ** 0.5
>>> first_arm(Score())
'a'

>>> class Leaps(NamedTuple):
...     rho: float = UNSET
...     delta: float = UNSET
...     def score(self, arm):
...         return arm.variance - self.rho * arm.mean - (1.0 - self.delta) / arm.pulls
...     def score_bound(self, low, high):
...         return corner_bound(self, low, high)
>>> bandit = Bandit(["gaussian(0, 1)", "gaussian(1, 1)"])
>>> simulate(bandit, Leaps(), risk="mean-variance(rho=1)", horizon=50, runs=2).engine
'leaping'

>>> class Draws(NamedTuple):
...     sd: float = UNSET
...     def draws(self, arm):
...         return (normal(arm.mean, self.sd / arm.pulls**0.5),)
...     def score(self, arm, mean):
...         return -mean
>>> first_arm(Draws())
'a'

>>> class Phase(NamedTuple):
...     rounds: int = UNSET
...     def tuned(self, setting):
...         return self._replace(rounds=setting.horizon // 5)
...     def phase(self, arms, t, chosen, rng):
...         if arms.pulls.min() < self.rounds:
...             return self.rounds
...         choose_only(chosen, arms.mean.argmax())
...         return 1
>>> first_arm(Phase())
'a'
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from prudent.bandit import Bandit
from prudent.base.arrays import Array, Counts, Marks
from prudent.base.parameters import UNSET as UNSET  # noqa: PLC0414, since policies take it from here
from prudent.base.parameters import checked
from prudent.base.registry import Registry
from prudent.policies.learners import asks_and_tells
from prudent.policies.units import PUBLISHED, Units
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


class ReadyPolicy(Protocol):
    """What `bind` makes of a policy, and kernels take: any of these, and the fields that its methods read.

    Which there are is read off its class (prudent.policies.scoring), never tried.
    """

    score: Callable[..., float]
    score_bound: Callable[..., float]
    draws: Callable[..., tuple[Any, ...]]
    phase: Callable[..., int]
    risk: Any
    rho: float
    values: Array


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
policies.also = asks_and_tells
strategies: Registry[Policy] = Registry(
    "strategy",
    "prudent.strategies",
    "prudent.policies.identification",
    wanted="a NamedTuple with a method phase, or the name of one, such as 'uniform'",
    of=tuple,
    parts=risks,
    prepare=checked,
)
"""Policies that stop, for `identify`."""

spec = policies.spec
