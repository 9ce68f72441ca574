"""ExpExp, the paper's second algorithm: explore, then exploit."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.errors import PrudentError, check_integer, check_positive
from prudent.policies.base import (
    FOREVER,
    UNSET,
    Arms,
    Policy,
    cheapest,
    check_rho,
    choose_only,
    mean_variance,
    need_horizon,
    policy,
)

RULES = {"theorem": 14.0, "appendix": 4.0}
EXPLORATIONS = ("round-robin", "successive-rejects", "ucb-e")


@policy("exp-exp", serves="mean-variance")
class ExpExp(NamedTuple):
    """Explore for τ rounds, then pull the arm with the smallest empirical mean-variance to the end ([Sani12], sec. 4).

    The rule gives m = ⌈(n/14)^{2/3}⌉ pulls an arm (`rule="theorem"`, Theorem 2) or ⌈(n/4)^{2/3}⌉ (`"appendix"`), at
    most ⌊n/K⌋; τ = K m. An explicit `tau` gives ⌊τ/K⌋ pulls an arm. `explore` says how the τ rounds are spent: by
    round robin, or, as Remark 2 suggests, by Successive Rejects or UCB-E [Audibert10] with the smallest empirical
    mean-variance as the best. UCB-E needs a guess of the `hardness` Σ1/Δ² of the problem. The default 16 K stands for
    gaps of 1/4, the largest difference of variances on [0, 1]. Assumes rewards in [0, 1], as Theorem 2 does, and a
    known horizon.
    """

    rho: float = UNSET
    tau: int = UNSET
    rule: str = "theorem"
    explore: str = "round-robin"
    hardness: float = UNSET

    def tuned(self, horizon: int | None, n_arms: int) -> Policy:
        n = need_horizon("exp-exp", horizon)
        if n < n_arms:
            hint = "it explores every arm at least once"
            raise PrudentError(f"exp-exp: horizon must be at least the number of arms, {n_arms}, got {n}; {hint}")
        if self.tau is UNSET:
            each = min(math.ceil((n / RULES[self.rule]) ** (2.0 / 3.0)), n // n_arms)
        else:
            each = check_integer("exp-exp", "tau", self.tau, low=n_arms, high=n, hint="pull every arm once") // n_arms
        if self.explore == "round-robin":
            return _UniformThenBest(self.rho, each)
        budget = each * n_arms
        if self.explore == "successive-rejects":
            return _RejectsThenBest(self.rho, budget)
        hardness = 16.0 * n_arms if self.hardness is UNSET else self.hardness
        return _UCBEThenBest(self.rho, budget, 25.0 * (budget - n_arms) / (36.0 * hardness))

    def check(self) -> None:
        check_rho("exp-exp", self.rho)
        if self.tau is not UNSET:
            check_integer("exp-exp", "tau", self.tau, low=1)
        for name, value, allowed in (("rule", self.rule, RULES), ("explore", self.explore, EXPLORATIONS)):
            if value not in allowed:
                raise PrudentError(f"exp-exp: {name} must be one of {', '.join(allowed)}, got {value!r}")
        if self.hardness is not UNSET:
            check_positive("exp-exp", "hardness", self.hardness)


class _UniformThenBest(NamedTuple):
    """m pulls of each arm in turn, then the best. The arms behind the others catch up first."""

    rho: float
    each: int

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        fewest = arms.pulls.min()
        if fewest < self.each:
            chosen[:] = arms.pulls == fewest
            return int(self.each - fewest)
        choose_only(chosen, cheapest(arms, self.rho))
        return FOREVER


class _RejectsThenBest(NamedTuple):
    """Successive Rejects: in phase k each remaining arm has n_k = ⌈(τ−K)/(logbar(K)(K+1−k))⌉ pulls, then the worst
    goes; logbar(K) = ½ + Σ_{i=2}^K 1/i. The last one left is pulled to the end."""

    rho: float
    budget: int

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        n_arms = len(arms.pulls)
        logbar = 0.5
        for i in range(2, n_arms + 1):
            logbar += 1.0 / i
        while chosen.sum() > 1:
            target = math.ceil((self.budget - n_arms) / (logbar * chosen.sum()))
            short = max(target, 1) - arms.pulls[chosen].min()
            if short > 0:
                return int(short)
            worst, worst_cost = 0, -math.inf
            for i in range(n_arms):
                cost = mean_variance(arms.mean[i], arms.variance[i], self.rho)
                if chosen[i] and cost >= worst_cost:
                    worst, worst_cost = i, cost
            chosen[worst] = False
        return FOREVER


class _UCBEThenBest(NamedTuple):
    """UCB-E: argmin of mean-variance − √(a/s) for τ rounds, then the best."""

    rho: float
    budget: int
    a: float

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        if arms.pulls.min() == 0:
            chosen[:] = arms.pulls == 0
            return 1
        if t > self.budget:
            choose_only(chosen, cheapest(arms, self.rho))
            return FOREVER
        best, best_score = 0, math.inf
        for i in range(len(arms.pulls)):
            score = mean_variance(arms.mean[i], arms.variance[i], self.rho) - math.sqrt(self.a / arms.pulls[i])
            if score < best_score:
                best, best_score = i, score
        choose_only(chosen, best)
        return 1
