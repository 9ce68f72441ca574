"""Learning which sequence is best: the regret that the multi-period problem defines, and a learner that plugs in."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prudent.arms.base import Law
from prudent.arms.continuous import Gaussian
from prudent.arms.discrete import Empirical
from prudent.bandit import Bandit, check_bandit
from prudent.base.arrays import Array, as_array
from prudent.base.errors import PrudentError, check_integer
from prudent.policies.helpers import exploring_pulls
from prudent.risk.base import RiskMeasure, risks
from prudent.theory.periods import BATCHES, MOST_PERIODS, sampled_cost, shared_lattice
from prudent.theory.sequences import NO_LATTICE, all_gaussian, best_sequence

MOST_RUNS = 10**8
"""Each run is planned by itself."""


class SequenceRegret(NamedTuple):
    """The regret per period against the best sequence, and its standard error.

    Examples
    --------
    >>> from prudent import SequenceRegret
    >>> regret = SequenceRegret(value=0.7, se=0.02)
    >>> regret.value - 2.0 * regret.se > 0.0
    True
    """

    value: float
    se: float


def sequence_regret(totals: ArrayLike, bandit: Bandit, risk: RiskMeasure | str, periods: int) -> SequenceRegret:
    """The cost of the totals of many runs minus that of the best sequence, divided by the periods.

    `totals` holds the sum of the rewards of each run: `runs.horizon * runs.reward_mean()` of any simulation, or what
    `explore_then_sequence` returns. This regret belongs to the law of a run's total, so no single run has one: it is
    estimated from all runs together, with the standard error given. It may be negative for a policy that adapts.

    Examples
    --------
    >>> from prudent import Bandit, Gaussian, explore_then_sequence, sequence_regret
    >>> bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    >>> totals = explore_then_sequence(bandit, "variance", 20, runs=1_000)
    >>> regret = sequence_regret(totals, bandit, "variance", periods=20)
    >>> round(regret.value, 1)
    0.7
    """
    bandit, risk = check_bandit("sequence_regret", bandit), risks.make("sequence_regret", risk)
    periods = check_integer("sequence_regret", "periods", periods, low=1, high=MOST_PERIODS)
    sums = as_array("sequence_regret", "totals", totals).ravel()
    if sums.size < 10 * BATCHES:
        need = f"totals must hold at least {10 * BATCHES} runs, got {sums.size}"
        raise PrudentError(f"sequence_regret: {need}; the error is estimated from {BATCHES} parts of them")
    best = best_sequence(bandit, risk, periods)
    cost, error = sampled_cost(risk, sums)
    return SequenceRegret((cost - best.cost) / periods, math.hypot(error, best.error) / periods)


def explore_then_sequence(
    bandit: Bandit, risk: RiskMeasure | str, periods: int, *, explore: int | None = None, runs: int, seed: int = 0
) -> Array:
    """The total reward of each run of a learner: pull every arm `explore` times, then play the best sequence.

    The sequence is the best one over the periods left for the laws estimated in that run: the observed rewards, each
    equally likely, or for a Gaussian arm the Gaussian law of the observed mean and variance. `explore` is by default
    the ⌈(n/14)^(2/3)⌉ of ExpExp. The total includes what exploration earned.

    It is a function and no policy of the registry for two reasons: a policy of phases keeps marks of arms from one
    phase to the next, so it would forget the counts it planned; and planning convolves laws, which kernels do not.

    Examples
    --------
    >>> from prudent import Bandit, Gaussian, explore_then_sequence
    >>> bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    >>> explore_then_sequence(bandit, "variance", 20, runs=100).shape
    (100,)
    """
    owner = "explore_then_sequence"
    arms = len(check_bandit(owner, bandit))
    risk = risks.make(owner, risk)
    periods = check_integer(owner, "periods", periods, low=arms, hint="every arm is pulled at least once")
    runs, seed = check_integer(owner, "runs", runs, low=1, high=MOST_RUNS), check_integer(owner, "seed", seed, low=0)
    each = exploring_pulls(periods, arms) if explore is None else explore
    each = check_integer(owner, "explore", each, low=1, high=periods // arms, hint="pulls of each arm")
    if not all_gaussian(bandit) and shared_lattice(bandit.arms, periods) is None:
        raise PrudentError(f"{owner}: {NO_LATTICE}")
    rng = np.random.default_rng(seed)
    seen = [np.sort(law.sample(rng, runs * each).reshape(runs, each)) for law in bandit.arms]
    # Runs that saw the same rewards plan the same.
    kinds, kind = np.unique(np.hstack(seen), axis=0, return_inverse=True)
    plans = [_plan(bandit, risk, periods - arms * each, np.split(row, arms)) for row in kinds]
    counts = np.array(plans)[kind.ravel()]
    totals: Array = np.hstack(seen).sum(1)
    for law, pulls in zip(bandit.arms, counts.T, strict=True):
        earned = np.append(0.0, np.cumsum(law.sample(rng, int(pulls.sum()))))
        totals += np.diff(earned[np.append(0, np.cumsum(pulls))])
    return totals


def _plan(bandit: Bandit, risk: RiskMeasure, periods: int, seen: Sequence[Array]) -> tuple[int, ...]:
    """The counts of the best sequence for the laws estimated from the rewards seen."""
    if periods == 0:
        return (0,) * len(bandit)
    laws = [_fitted(law, rewards) for law, rewards in zip(bandit.arms, seen, strict=True)]
    return best_sequence(Bandit(laws), risk, periods).counts


def _fitted(law: Law, rewards: Array) -> Law:
    """The law estimated from its rewards."""
    return Gaussian(float(rewards.mean()), float(rewards.var())) if isinstance(law, Gaussian) else Empirical(rewards)
