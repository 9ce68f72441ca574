"""What no policy can beat: the rates of Vakili and Zhao [Vakili16]."""

import math

from prudent.bandit import Bandit
from prudent.risk.mean_variance import MeanVariance
from prudent.theory.bound import Bound, Condition, Instance


def lower_bound_rates(bandit: Bandit, risk: MeanVariance | str, horizon: int) -> tuple[Bound, Bound]:
    """log n/n for any one bandit and n^{−1/3} in the worst case, constants left out; no policy improves on them.

    [Vakili16] counts regret over all rounds, Ω(log n) and Ω(n^{2/3}); here regret is per round, as in [Sani12].
    """
    instance = Instance.of("lower_bound_rates", bandit, risk, horizon)
    n = instance.horizon
    choice = Condition("K ≥ 2", instance.n_arms > 1)
    one = Bound(
        "Lower bound, one bandit",
        "expected regret of any consistent policy, up to a constant of the arms",
        "[Vakili16]",
        math.log(n) / n,
        None,
        needs=(choice, instance.unique),
        remark="a rate; MV-LCB has it (Theorem 1)",
    )
    worst = Bound(
        "Lower bound, worst case",
        "the largest expected regret over all bandits, of any policy, up to a constant",
        "[Vakili16]",
        n ** (-1.0 / 3.0),
        None,
        needs=(choice,),
        remark="a rate; ExpExp has it (Theorem 2), MV-LCB does not (Remark 2)",
    )
    return one, worst
