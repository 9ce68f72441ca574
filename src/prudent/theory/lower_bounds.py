"""What no policy can beat: the constant of the arms [Lai85, Burnetas96], and the rates of [Vakili16]."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prudent.bandit import Bandit, check_bandit
from prudent.base.arrays import Array
from prudent.base.text import number, page
from prudent.risk.base import RiskMeasure
from prudent.risk.mean_variance import MeanVariance
from prudent.theory.bound import Bound, Condition, Instance, check_horizon, over
from prudent.theory.divergences import Model, check_risk

NAME, CITATION = "Lower bound, these arms", f"[Lai85], [Burnetas96]; {page('lower-bounds')}"


@dataclass(frozen=True, eq=False)
class AsymptoticBound:
    """What no policy that learns can beat: as n grows, n·E[regret]/log n does not stay below `constant`.

    Such a policy pulls arm i at least log n/K_i times, with K_i in `divergences`, and each pull adds `prices[i]` to n
    times the regret; both are 0 for the best arm. For a mean-variance this is the regret of the whole sequence of
    rewards, and the price is Δ_i + Γ²_{i*} (Δ_i if only the mean counts). For other measures it is the gap regret, and
    the price is the gap Δ_i alone.
    """

    model: str
    best: int
    divergences: Array
    gaps: Array
    prices: Array

    @property
    def constant(self) -> float:
        """Σ prices/divergences; infinite if an arm of another mean ties with the best one."""
        return float(over(self.prices, self.divergences).sum())

    @property
    def gap_constant(self) -> float:
        """Σ gaps/divergences, the same for the gap regret."""
        return float(over(self.gaps, self.divergences).sum())

    def regret(self, horizon: int) -> float:
        """constant · log n/n, what the regret tends to at best; at a finite n a policy may be below it."""
        n = check_horizon("regret", horizon)
        return float(over(self.prices * math.log(n), self.divergences).sum()) / n


def asymptotic_bound(
    bandit: Bandit,
    risk: RiskMeasure | str,
    support: Sequence[float] | None = None,
    values: ArrayLike | None = None,
) -> AsymptoticBound:
    """Σ_{i≠i*} (Δ_i + Γ²_{i*})/K_i and its parts (docs: lower-bounds); the model is as in `least_divergence`.

    A policy learns if on every bandit of the model it pulls arms that are not best o(nᵃ) times on average, for every
    a > 0. The best arm must be unique.

    Examples
    --------
    >>> from prudent import Bandit, MeanVariance, theory
    >>> bandit = Bandit(["gaussian(1.0, 0.05)", "gaussian(0.5, 0.25)"])
    >>> bound = theory.asymptotic_bound(bandit, MeanVariance(0.0))
    >>> round(bound.constant, 4), round(100_000 * bound.regret(100_000), 2)
    (0.3765, 4.33)
    """
    bandit, measure, model = check_bandit("asymptotic_bound", bandit), check_risk(risk), Model(support, values)
    best, gaps = bandit.best(measure), bandit.gaps(measure)
    cost = float(bandit.costs(measure)[best])
    divergences = np.array([model.divergence(law, cost, measure) for law in bandit.arms])
    divergences[gaps == 0.0] = 0.0
    weight = measure.variance_weight if isinstance(measure, MeanVariance) else 0.0
    prices = gaps + weight * bandit.mean_differences[best] ** 2
    return AsymptoticBound(str(model), best, divergences, gaps, prices)


def lower_bound(
    bandit: Bandit,
    risk: RiskMeasure | str,
    horizon: int,
    support: Sequence[float] | None = None,
    values: ArrayLike | None = None,
) -> Bound:
    """The `asymptotic_bound` at one horizon, with its conditions."""
    found = asymptotic_bound(bandit, risk, support, values)
    remarks = [
        f"a limit, not a bound at this n: n·regret/log n tends to {number(found.constant)} or more",
        f"the model is {found.model}",
    ]
    if (unseen := np.isinf(found.divergences)).any():
        names = ", ".join(name for name, it_is in zip(bandit.names, unseen, strict=True) if it_is)
        remarks.append(f"it says nothing about {names}, which no better law of the model can be taken for")
    kind = "regret" if isinstance(check_risk(risk), MeanVariance) else "gap regret"
    unique = int(np.count_nonzero(bandit.gaps(risk) == 0.0)) == 1
    return Bound(
        NAME,
        f"expected {kind} of any policy that learns, as n grows",
        CITATION,
        None,
        found.regret(check_horizon("lower_bound", horizon)),
        needs=(Condition("K ≥ 2", len(bandit) > 1), Condition("the best arm is unique", unique)),
        remark="; ".join(remarks),
    )


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
