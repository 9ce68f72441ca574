"""The paper's lemmas and theorems as values with their conditions, as printed and as corrected (docs/theory.md)."""

from prudent.bandit import Bandit
from prudent.risk.mean_variance import MeanVariance
from prudent.theory.bound import Bound, Condition, largest_pseudo_regret, largest_regret
from prudent.theory.exp_exp import theorem2
from prudent.theory.lower_bounds import lower_bound_rates
from prudent.theory.mv_lcb import (
    corollary,
    lemma1,
    lemma2,
    pulls_bound,
    remark1_rate,
    theorem1_expectation,
    theorem1_high_probability,
    theorem1_sharp,
    worst_case,
)

__all__ = [
    "Bound",
    "Condition",
    "bounds",
    "corollary",
    "largest_pseudo_regret",
    "largest_regret",
    "lemma1",
    "lemma2",
    "lower_bound_rates",
    "pulls_bound",
    "remark1_rate",
    "theorem1_expectation",
    "theorem1_high_probability",
    "theorem1_sharp",
    "theorem2",
    "worst_case",
]


def bounds(bandit: Bandit, risk: MeanVariance, horizon: int, delta: float | None = None) -> list[Bound]:
    """Every result at this bandit, in the paper's order; `delta` (1/n² by default) is for those that name a δ."""
    return [
        lemma1(bandit, risk, horizon, delta),
        lemma2(bandit, risk, horizon, delta),
        pulls_bound(bandit, risk, horizon, delta),
        theorem1_high_probability(bandit, risk, horizon, delta),
        theorem1_expectation(bandit, risk, horizon),
        theorem1_sharp(bandit, risk, horizon),
        remark1_rate(bandit, risk, horizon),
        worst_case(bandit, risk, horizon),
        corollary(bandit, risk, horizon),
        theorem2(bandit, risk, horizon),
        theorem2(bandit, risk, horizon, rule="appendix"),
        *lower_bound_rates(bandit, risk, horizon),
    ]
