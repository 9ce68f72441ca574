"""Learning the best mix: the contract of a portfolio policy, and the policies.

A policy is a frozen dataclass with a generator `play(task)`. It yields a mix and for how many rounds to play it, and is
sent what the feedback shows of those rounds, an `Observation`:

full: the rewards of all arms. semi-bandit: those of the arms with weight. bandit: the reward of the mix alone.

Rewards are independent from round to round, so while the mix stays the same only the rewards' number, mean and scatter
matter. The learners here solve again when the rounds have grown by the share `growth` since they last did (every round
up to round 1/growth): their mix rests on at least 1/(1 + growth) of the rounds seen, and a run of n rounds costs about
log(n)/growth solves.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prudent.errors import PrudentError, check_finite, check_integer, check_number
from prudent.policies import Arm, bind
from prudent.policies import registry as arm_policies
from prudent.portfolio.laws import NOTHING, Block
from prudent.portfolio.program import positive_part, solve
from prudent.registry import Registry
from prudent.risk import MeanVariance

Array = NDArray[np.float64]

FOREVER = 2**62
"""As many rounds as there are left."""

registry = Registry("portfolio policy", "prudent.portfolio_policies")


class Task(NamedTuple):
    """What a policy is told before it plays."""

    arms: int
    rho: float
    horizon: int
    upper: ArrayLike | None = None
    short: bool = False

    def best(self, mean: Array, covariance: Array) -> Array:
        """The best mix for an estimate, whose covariance may have to be made positive semi-definite first."""
        return solve(positive_part(covariance)[0], mean, self.rho, upper=self.upper, short=self.short).weights

    def even(self) -> Array:
        """The most even mix that the bounds allow: 1/K of each arm if they allow that."""
        return solve(np.eye(self.arms), np.zeros(self.arms), 0.0, upper=self.upper, short=self.short).weights


class Observation(NamedTuple):
    """What the feedback shows of some rounds: of which arms, and their rewards' moments.

    With bandit feedback no arm is seen, and the block is that of the mix's rewards.
    """

    arms: NDArray[np.int64]
    block: Block


Play: TypeAlias = Generator[tuple[Array, int], Observation, None]


class PortfolioPolicy(ABC):
    """The base of portfolio policies; `feedback` is what they must be shown."""

    name: ClassVar[str]
    feedback: ClassVar[str]

    @abstractmethod
    def play(self, task: Task) -> Play:
        """Yield (mix, rounds) without end; receive what was seen."""

    def __str__(self) -> str:
        """The spec from which the registry builds this policy again."""
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default]  # type: ignore[arg-type]
        return f"{self.name}({', '.join(shown)})" if shown else self.name


class Pairs:
    """Moments of the rewards for each pair of arms, over the rounds that showed both; the diagonal is a single arm's.

    `mean[i, j]` is arm i's mean over the rounds shared with j.
    """

    def __init__(self, arms: int) -> None:
        self.rounds = np.zeros((arms, arms))
        self.means = np.zeros((arms, arms))
        self.scatter = np.zeros((arms, arms))

    def add(self, seen: Observation) -> None:
        where = np.ix_(seen.arms, seen.arms)
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
        estimate: Array = self.scatter / np.maximum(self.rounds, 1.0)
        return estimate


@dataclass(frozen=True)
class MCEmpirical(PortfolioPolicy):
    """Follow the empirical optimum (MC-Empirical of [Du21], full information).

    Two rounds of the even mix come first, 10 + 2K where short selling makes a singular estimate useless. Differs from
    the paper in solving again only as rounds grow, see above.
    """

    growth: float = 0.05

    name = "mc-empirical"
    feedback = "full"

    def __post_init__(self) -> None:
        _check_growth(self.name, self.growth)

    def play(self, task: Task) -> Play:
        seen, mix, t = Pairs(task.arms), task.even(), 0
        rounds = 10 + 2 * task.arms if task.short else 2
        while True:
            seen.add((yield mix, rounds))
            t += rounds
            mix = task.best(seen.mean, seen.covariance)
            rounds = max(1, int(self.growth * t))


@dataclass(frozen=True)
class MCUCB(PortfolioPolicy):
    """Optimism in means and covariances, after MC-UCB of [Du21] (semi-bandit feedback).

    Minimises xᵀ(Ĉ − θ w wᵀ)x − ρ xᵀ(μ̂ + b) with b_i = c √(2 V̂_i log t / N_i) and w_i² = 2c V̂_i √(t log t) / N_i', where
    N_i counts the rounds that showed arm i and N_i' those that showed it beside each arm of the mix just played.
    w_i w_j is at least 2c √(V̂_i V̂_j log t / N_ij) for i in that mix, the width of a covariance.

    Differs from the paper: subtracting a width from every covariance leaves no convex problem, so w wᵀ takes their
    place, with θ ≤ 1 the largest share that keeps the matrix positive semi-definite; the widths are √(2 log t) standard
    deviations of Gaussian moments, not the paper's constants, so its proof does not carry over; a mix may hold an arm
    with any weight, where the paper asks for none or a least one. 10 + 2K rounds of the even mix come first, so that no
    width rests on a handful of rewards. Assumes tails not much heavier than Gaussian ones.
    """

    c: float = 1.0
    growth: float = 0.05

    name = "mc-ucb"
    feedback = "semi-bandit"

    def __post_init__(self) -> None:
        check_finite(self.name, "c", self.c, low=0.0, hint="1 is √(2 log t) standard deviations of Gaussian moments")
        _check_growth(self.name, self.growth)

    def play(self, task: Task) -> Play:
        if task.short and task.upper is None:
            raise PrudentError(f"{self.name}: optimism without bounds sells without end; give upper bounds")
        seen, mix, rounds, t = Pairs(task.arms), task.even(), 10 + 2 * task.arms, 0
        while True:
            seen.add((yield mix, rounds))
            t += rounds
            mix = task.best(*self._optimistic(seen, mix, t))
            rounds = max(1, int(self.growth * t))

    def _optimistic(self, seen: Pairs, mix: Array, t: int) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(seen.covariance)
        values = np.maximum(values, 1e-9 * values[-1])  # pairs come from different rounds: not quite a covariance
        covariance = (vectors * values) @ vectors.T
        variances = np.diag(covariance)
        beside = np.maximum(seen.rounds[:, mix != 0.0].min(1), 1.0)  # bounds may have kept an arm out so far
        width = np.sqrt(2.0 * self.c * variances * math.sqrt(t * math.log(t)) / beside)
        share = 1.0 / max(1.0, float(((vectors.T @ width) ** 2 / values).sum()))
        of_mean = self.c * np.sqrt(2.0 * variances * math.log(t) / np.maximum(np.diag(seen.rounds), 1.0))
        return seen.mean + of_mean, covariance - share * np.outer(width, width)


@dataclass(frozen=True)
class MCETE(PortfolioPolicy):
    """Explore a design of mixes, then exploit (MC-ETE of [Du21], bandit feedback).

    The design holds each arm alone and each pair half and half, K(K + 1)/2 mixes, whose variances give all covariances:
    C_ij = 2 Var((r_i + r_j)/2) − (C_ii + C_jj)/2. It is played through while it was played fewer than t^{2/3}/K times,
    and at least twice; between, the empirical optimum is. Differs from the paper in bundling the passes and solving
    again only as rounds grow, see above.
    """

    growth: float = 0.05

    name = "mc-ete"
    feedback = "bandit"

    def __post_init__(self) -> None:
        _check_growth(self.name, self.growth)

    def play(self, task: Task) -> Play:
        if task.upper is not None:
            raise PrudentError(f"{self.name}: explores with single arms, which upper bounds forbid; leave them out")
        if task.short:
            raise PrudentError(f"{self.name}: its estimates may be singular, and short selling then has no end")
        design = pair_design(task.arms)
        inverse = np.linalg.pinv(design)
        blocks = [NOTHING] * len(design)
        passes, t = 0, 0
        while True:
            wanted = max(2, math.ceil(t ** (2.0 / 3.0) / task.arms))
            if wanted > passes:
                for i, mix in enumerate(design):
                    blocks[i] = blocks[i].join((yield mix, wanted - passes).block)
                t += (wanted - passes) * len(design)
                passes = wanted
                mean = inverse @ np.array([block.mean for block in blocks])
                variances = np.array([block.scatter for block in blocks]) / passes
                best = task.best(mean, covariance_of_pairs(variances, task.arms))
            rounds = max(1, int(self.growth * t))
            yield best, rounds
            t += rounds


@dataclass(frozen=True)
class Even(PortfolioPolicy):
    """The even mix in every round, a baseline."""

    name = "even"
    feedback = "bandit"

    def play(self, task: Task) -> Play:
        while True:
            yield task.even(), FOREVER


@dataclass(frozen=True)
class SingleArm(PortfolioPolicy):
    """One arm in every round, a baseline; `PortfolioBandit.best_arm` knows the best."""

    arm: int

    name = "single-arm"
    feedback = "bandit"

    def play(self, task: Task) -> Play:
        arm = check_integer(self.name, "arm", self.arm, low=0, high=task.arms - 1, hint="arms are numbered from 0")
        while True:
            yield np.eye(task.arms)[arm], FOREVER


@dataclass(frozen=True)
class Vertices(PortfolioPolicy):
    """A policy for single arms, MV-LCB unless another is named, on the vertices of the simplex: no arms are mixed.

    Plays round by round, in Python; any policy whose score needs neither the clock nor chance will do.
    """

    policy: str = "mv-lcb"

    name = "vertices"
    feedback = "bandit"

    def play(self, task: Task) -> Play:
        ready: Any = bind(arm_policies.parse(self.policy), MeanVariance(task.rho), task.horizon, task.arms)
        vertices = np.eye(task.arms)
        blocks = []
        for vertex in vertices:
            blocks.append((yield vertex, 1).block)
        scores = [self._score(ready, block) for block in blocks]
        while True:
            arm = int(np.argmin(scores))
            blocks[arm] = blocks[arm].join((yield vertices[arm], 1).block)
            scores[arm] = self._score(ready, blocks[arm])

    def _score(self, ready: Any, block: Block) -> float:
        try:
            return float(ready.score(Arm(block.rounds, float(block.mean), float(block.scatter) / block.rounds)))
        except (AttributeError, TypeError):
            raise PrudentError(f"{self.name}: {self.policy} has no score of an arm alone; try mv-lcb") from None


def pair_design(arms: int) -> Array:
    """Each arm alone, then each pair half and half."""
    first, second = np.triu_indices(arms, 1)
    single = np.eye(arms)
    return np.vstack([single, (single[first] + single[second]) / 2.0])


def covariance_of_pairs(variances: Array, arms: int) -> Array:
    """The covariance that gives the mixes of `pair_design` their variances."""
    single = variances[:arms]
    covariance = np.diag(single)
    first, second = np.triu_indices(arms, 1)
    between = 2.0 * variances[arms:] - (single[first] + single[second]) / 2.0
    covariance[first, second] = covariance[second, first] = between
    return covariance


def _check_growth(owner: str, growth: Any) -> None:
    check_number(owner, "growth", growth, low=0.0, high=1.0, hint="0 solves every round, 0.05 when rounds grew by 5 %")


for _kind in (MCEmpirical, MCUCB, MCETE, Even, SingleArm, Vertices):
    registry.add(_kind.name, _kind)
