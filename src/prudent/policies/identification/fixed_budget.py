"""Strategies for a fixed budget of n pulls among K arms: the best answer they can buy.

All of them compare estimated costs, so that any risk measure can be plugged in; their published error bounds are for
means of rewards in [0, 1].
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.base.arrays import Marks
from prudent.base.errors import PrudentError, check_finite, check_positive
from prudent.policies.contract import UNSET, Arms, Setting, strategies
from prudent.policies.helpers import choose_alive, choose_only, choose_pulled, fewest_pulls_alive, strike_worst
from prudent.policies.identification import BUDGET
from prudent.policies.ties import arm_of, below
from prudent.risk.base import RiskMeasure

_ORACLE = "oracle"


@strategies.add("uniform", needs=BUDGET)
class UniformAllocation(NamedTuple):
    """Every arm in turn, n/K times; the first n mod K arms once more. The baseline of [Audibert10].

    Assumes nothing.

    Examples
    --------
    >>> from prudent import Bandit, Bernoulli, UniformAllocation, identify
    >>> bandit = Bandit([Bernoulli(0.1), Bernoulli(0.9)])
    >>> found = identify(bandit, UniformAllocation(), risk="mean", budget=200, runs=3)
    >>> found.recommended.tolist()
    [1, 1, 1]
    """

    budget: int = UNSET
    risk: RiskMeasure = UNSET

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        # Arms behind the others catch up first: a live experiment may have rewards from elsewhere.
        n_arms, fewest = len(arms.pulls), int(arms.pulls.min())
        if fewest < self.budget // n_arms:
            choose_pulled(chosen, arms, fewest)
            return int(self.budget // n_arms - fewest)
        left = self.budget - arms.pulls.sum()
        for i in range(n_arms):
            chosen[i] = i < left
        return int(left > 0)


@strategies.add("successive-rejects", needs=BUDGET)
class SuccessiveRejects(NamedTuple):
    """K − 1 phases; after phase k every arm left has n_k pulls, and the worst is dropped (Fig. 3 of [Audibert10]).

    n_k = ⌈(n − K) / (logbar(K) (K + 1 − k))⌉, logbar(K) = ½ + Σ_{i=2}^K 1/i; at least 1 here, for n = K. For means of
    rewards in [0, 1] the error is at most K(K−1)/2 · exp(−(n − K)/(logbar(K) H₂)), H₂ = max_i i/Δ_(i)². Assumes nothing
    beyond independent rewards.

    Examples
    --------
    >>> from prudent import Bandit, Bernoulli, SuccessiveRejects, identify
    >>> bandit = Bandit([Bernoulli(0.1), Bernoulli(0.9)])
    >>> found = identify(bandit, SuccessiveRejects(), risk="mean", budget=200, runs=3)
    >>> found.recommended.tolist()
    [1, 1, 1]
    """

    budget: int = UNSET
    risk: RiskMeasure = UNSET

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        n_arms = len(arms.pulls)
        logbar = 0.5
        for i in range(2, n_arms + 1):
            logbar += 1.0 / i
        while arms.alive.sum() > 1:
            target = math.ceil((self.budget - n_arms) / (logbar * arms.alive.sum()))
            short = max(target, 1) - fewest_pulls_alive(arms)
            if short > 0:
                choose_alive(chosen, arms)
                return int(short)
            strike_worst(arms)
        return 0


@strategies.add("sequential-halving", needs=BUDGET)
class SequentialHalving(NamedTuple):
    """⌈log₂ K⌉ phases of equal cost; after each the worse half of the arms is dropped (Algorithm 1 of [Karnin13]).

    In a phase with S arms each is pulled ⌊n / (S ⌈log₂ K⌉)⌋ times, and ⌈S/2⌉ stay. Estimates use every reward of an
    arm, the paper's only those of the phase. Assumes n ≥ K ⌈log₂ K⌉, so that no phase is empty.

    Examples
    --------
    >>> from prudent import Bandit, Bernoulli, SequentialHalving, identify
    >>> bandit = Bandit([Bernoulli(0.1), Bernoulli(0.9)])
    >>> found = identify(bandit, SequentialHalving(), risk="mean", budget=200, runs=3)
    >>> found.recommended.tolist()
    [1, 1, 1]
    """

    budget: int = UNSET
    risk: RiskMeasure = UNSET

    def tuned(self, setting: Setting) -> "SequentialHalving":
        least = setting.n_arms * (setting.n_arms - 1).bit_length()
        if self.budget < least:
            raise PrudentError(
                f"sequential-halving: budget must be at least K⌈log₂ K⌉ = {least}, got {self.budget}; every arm left is"
                " pulled in every phase"
            )
        return self

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        n_arms, phases = len(arms.pulls), 0
        while 2**phases < n_arms:
            phases += 1
        target, left = 0, n_arms
        while arms.alive.sum() > 1:
            target += self.budget // (left * phases)
            short = target - fewest_pulls_alive(arms)
            if short > 0:
                choose_alive(chosen, arms)
                return int(short)
            left = (left + 1) // 2
            while arms.alive.sum() > left:
                strike_worst(arms)
        return 0


@strategies.add("ucb-e", needs=BUDGET)
class UCBE(NamedTuple):
    """The arm of smallest cost − √(a/s) is pulled, s its pulls so far (Fig. 1 of [Audibert10]).

    The paper proves its bound for a ≤ 25(n − K)/(36 H₁), H₁ = Σ 1/Δ² (the best arm counts with the second's gap), and
    H₁ is what nobody knows. So give `a`, or a guess of the `hardness` H₁ from which a = 25(n − K)/(36 hardness): 16 K
    by default, gaps of 1/4. `hardness=oracle` takes the true gaps, which only a simulation can. Assumes rewards in an
    interval of length b = `range`; by default gaps are then b/4, or b²/4 for a mean-variance.

    Examples
    --------
    >>> from prudent import UCBE, Bandit, Bernoulli, identify
    >>> bandit = Bandit([Bernoulli(0.1), Bernoulli(0.9)])
    >>> found = identify(bandit, UCBE(), risk="mean", budget=200, runs=3)
    >>> found.recommended.tolist()
    [1, 1, 1]
    """

    a: float = UNSET
    hardness: float | str = UNSET
    range: float = UNSET
    budget: int = UNSET
    risk: RiskMeasure = UNSET

    def check(self) -> None:
        if self.a is not UNSET:
            check_finite("ucb-e", "a", self.a, low=0.0)
            if self.hardness is not UNSET:
                raise PrudentError("ucb-e: give a or hardness, not both; a = 25(n − K)/(36 hardness)")
        if self.hardness not in (UNSET, _ORACLE):
            check_positive("ucb-e", "hardness", self.hardness, hint="or pass oracle, to take the true gaps")

    def tuned(self, setting: Setting) -> "_UCBE":
        n_arms, bandit = setting.n_arms, setting.bandit
        if self.a is not UNSET:
            return _UCBE(self.budget, self.a, self.risk)
        if self.hardness == _ORACLE:
            if bandit is None:
                raise PrudentError("ucb-e: hardness=oracle needs the true arms, which only a simulation knows")
            second = np.sort(bandit.gaps(setting.risk))[1]
            if second == 0.0:
                raise PrudentError("ucb-e: hardness=oracle needs a unique best arm; give hardness=… as a number")
            hardness = bandit.complexity(setting.risk) + 1.0 / second**2
        else:
            cost = self.range * self.range if getattr(setting.risk, "rho", math.inf) < math.inf else self.range
            hardness = 16.0 * n_arms / (cost * cost) if self.hardness is UNSET else float(self.hardness)
        return _UCBE(self.budget, 25.0 * (self.budget - n_arms) / (36.0 * hardness), self.risk)


class _UCBE(NamedTuple):
    budget: int
    a: float
    risk: RiskMeasure

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        if arms.pulls.min() == 0:
            choose_pulled(chosen, arms, 0)
            return 1
        best, best_score = 0, math.inf
        for i in range(len(arms.pulls)):
            score = arms.cost[i] - math.sqrt(self.a / arms.pulls[i])
            if below(score, arm_of(arms, i), best_score, arm_of(arms, best)):
                best, best_score = i, score
        choose_only(chosen, best)
        return int(arms.pulls.sum() < self.budget)
