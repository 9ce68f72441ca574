"""The contract of a portfolio policy.

A policy is a frozen dataclass with a generator `play(brief)`. It yields a mix and for how many rounds to play it, and
is sent what the feedback shows of those rounds, an `Observation`:

full: the rewards of all arms. semi-bandit: those of the arms with weight. bandit: the reward of the mix alone.

Rewards are independent from round to round, so while the mix stays the same only the rewards' number, mean and scatter
matter. The learners here solve again when the rounds have grown by the share `growth` since they last did (every round
up to round 1/growth): their mix rests on at least 1/(1 + growth) of the rounds seen, and a run of n rounds costs about
log(n)/growth solves.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prudent.base.arrays import Array
from prudent.base.errors import check_number
from prudent.base.registry import Registry, named
from prudent.portfolio.laws import Block
from prudent.portfolio.program import best_mix, limits, nearest_covariance

FOREVER = 2**62
"""As many rounds as there are left."""


class Brief(NamedTuple):
    """What a policy knows before the first round."""

    arms: int
    rho: float
    horizon: int
    upper: ArrayLike | None = None
    short: bool = False

    def best(self, mean: Array, covariance: Array, *, positive: bool = False) -> Array:
        """The best mix for an estimate, whose covariance may have to be made positive semi-definite first.

        Unless it is `positive` but for rounding: looking takes long where arms are many.
        """
        nearest = nearest_covariance(covariance, positive)
        return best_mix(nearest, mean, self.rho, upper=self.upper, short=self.short).weights

    def even(self) -> Array:
        """The most even mix that the limits allow: 1/K of each arm if they allow that."""
        high = limits(self.arms, self.upper, self.short)[1]
        least = np.sort(high)
        # Those with the least limits are full; the others share what is left.
        shares = (1.0 - np.concatenate([[0.0], np.cumsum(least[:-1])])) / np.arange(self.arms, 0, -1)
        full = np.flatnonzero(shares <= least)
        return np.minimum(high, shares[full[0]]) if full.size else high


class Observation(NamedTuple):
    """What the feedback shows of some rounds: of which arms, and their rewards' moments.

    With bandit feedback no arm is seen, and the block is that of the mix's rewards.
    """

    arms: NDArray[np.int64]
    block: Block


class Explore(NamedTuple):
    """A mix played to learn from it, not because it looks best; yield it in place of (mix, rounds)."""

    mix: Array
    rounds: int


Play: TypeAlias = Generator[tuple[Array, int], Observation, None]


class PortfolioPolicy(ABC):
    """The base of portfolio policies; `feedback` is what they must be shown."""

    name: ClassVar[str]
    feedback: ClassVar[str]

    @abstractmethod
    def play(self, brief: Brief) -> Play:
        """Yield (mix, rounds) without end; receive what was seen."""

    def __str__(self) -> str:
        """The spec from which the registry builds this policy again."""
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default]  # type: ignore[arg-type]
        return f"{self.name}({', '.join(shown)})" if shown else self.name


class Learner(PortfolioPolicy):
    """A policy that solves again when the rounds have grown by the share `growth`."""

    growth: float

    def __post_init__(self) -> None:
        hint = "0 solves every round, 0.05 when rounds grew by 5 %"
        check_number(self.name, "growth", self.growth, low=0.0, high=1.0, hint=hint)


class Joint:
    """Moments of the rewards of all arms, over rounds that showed all of them."""

    def __init__(self, arms: int) -> None:
        self.rounds, self.mean, self.scatter = 0, np.zeros(arms), np.zeros((arms, arms))

    def add(self, block: Block) -> None:
        before, self.rounds = self.rounds, self.rounds + block.rounds
        step = block.mean - self.mean
        between = np.multiply.outer(step, step)  # in place from here on: of many arms it is large
        between *= before * block.rounds / self.rounds
        between += block.scatter
        self.scatter += between
        self.mean += step * (block.rounds / self.rounds)

    @property
    def covariance(self) -> Array:
        """Divided by the rounds."""
        return self.scatter / max(self.rounds, 1)


class Pairs:
    """Moments of the rewards for each pair of arms, over the rounds that showed both; the diagonal is a single arm's.

    `mean[i, j]` is arm i's mean over the rounds shared with j.
    """

    def __init__(self, arms: int) -> None:
        self.rounds, self.means, self.scatter = np.zeros((3, arms, arms))

    def add(self, seen: Observation) -> None:
        where: Any = np.ix_(seen.arms, seen.arms) if seen.arms.size < len(self.rounds) else np.s_[:, :]
        block, before = seen.block, self.rounds[where]
        after = before + block.rounds
        step = block.mean[:, None] - self.means[where]
        self.scatter[where] += block.scatter + step * step.T * (before * block.rounds / after)
        self.means[where] += step * (block.rounds / after)
        self.rounds[where] = after

    @property
    def mean(self) -> Array:
        return np.diag(self.means).copy()

    @property
    def covariance(self) -> Array:
        """Divided by the rounds; a pair never seen together counts as uncorrelated."""
        return np.asarray(self.scatter / np.maximum(self.rounds, 1.0))


portfolio_policies: Registry[PortfolioPolicy] = Registry(
    "policy",
    "prudent.portfolio_policies",
    "prudent.portfolio.policies",
    wanted="a portfolio policy such as MCEmpirical()",
    of=PortfolioPolicy,
    prepare=named,
)
