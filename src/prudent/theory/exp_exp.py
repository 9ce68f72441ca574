"""ExpExp in theory: Theorem 2, of the main text and of the appendix."""

import math

from prudent.bandit import Bandit
from prudent.errors import PrudentError, shown
from prudent.policies.exp_exp import RULES
from prudent.policies.helpers import exploring_pulls
from prudent.risk.mean_variance import MeanVariance
from prudent.theory.bound import PSEUDO, Bound, Condition, Instance

PRINTED = {
    "theorem": (2.0, "Theorem 2", "ExpExp", "Theorem 2 (thm:ee.regret)"),
    "appendix": (3.0, "Theorem 2, appendix", 'ExpExp, rule="appendix"', "App. C, last line"),
}
"""The constant before K/n^{1/3}, with τ = K(n/14)^{2/3} in sec. 4 and τ = K(n/4)^{2/3} in App. C; then its names."""

EXPLORING = 4.25
"""A gap is at most 1/4 + ρ, and Definition 3 counts the variance of the means, which is at most 1, four times."""


def theorem2(bandit: Bandit, risk: MeanVariance | str, horizon: int, rule: str = "theorem") -> Bound:
    """E[pseudo-regret] of ExpExp, whatever the arms: 2K/n^{1/3}, or 3K/n^{1/3} with the appendix's τ."""
    if not isinstance(rule, str) or rule not in PRINTED:
        raise PrudentError(f"theorem2: rule must be one of {', '.join(PRINTED)}, got {shown(rule)}")
    instance = Instance.of("theorem2", bandit, risk, horizon)
    n, k, rho = instance.horizon, instance.n_arms, instance.rho
    each = exploring_pulls(n, k, RULES[rule])
    constant, name, policy, where = PRINTED[rule]
    printed = constant * k / n ** (1.0 / 3.0)
    corrected = explore_then_commit(n, k, rho, each) if each else None
    safe = rho == 0.0 or (corrected is not None and corrected <= printed)
    return Bound(
        name,
        f"expected pseudo-regret of {policy}",
        f"[Sani12], {where}",
        printed,
        corrected,
        "the deviation, bias and gaps of the mean-variance for those of the variance; m as it is rounded",
        needs=(instance.bounded,),
        needs_as_printed=(Condition("ρ = 0, or the corrected value is no larger", safe),),
        needs_of_horizon=(instance.playable,),
        limit=(instance.largest_pseudo_regret, PSEUDO),
    )


def explore_then_commit(horizon: int, n_arms: int, rho: float, each: int) -> float:
    """(4.25+ρ)(K−1)m/n + (1 − Km/n)(K−1) times the cost of a wrong arm, for m pulls each (docs: theory).

    The first term is the price of exploring, the second that of committing to a wrong arm.
    """
    committed = 1.0 - n_arms * each / horizon
    return (n_arms - 1) * ((EXPLORING + rho) * each / horizon + committed * wrong_arm(rho, each))


def wrong_arm(rho: float, each: int) -> float:
    """(1+ρ)/√(2em) + β, β = 1/(4m) if ρ > 0 and 0 if not: the largest gap times the chance to commit to its arm."""
    bias = 0.25 / each if rho > 0.0 else 0.0
    return (1.0 + rho) / math.sqrt(2.0 * math.e * each) + bias
