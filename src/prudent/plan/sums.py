"""The risk of a sum of outcomes, such as a shop's day, as a mean-variance.

Few measures add up. The cost of a sum of n independent outcomes is −nμ and a premium for its spread, which by the
central limit theorem is c √n σ: per outcome −μ + c σ/√n. Mean-variance divided by ρ is −μ + σ²/ρ. Both have the same
difference between two options of standard deviations σ₁ and σ₂ where ρ = √n (σ₁ + σ₂)/c, and nearly the same for others
between them. c is taken from the cost of the sum itself (`period_cost`), so that skewed outcomes count.
"""

import math
from collections.abc import Sequence

import numpy as np

from prudent.arms.base import Law
from prudent.arms.continuous import Gaussian
from prudent.arms.discrete import Empirical
from prudent.base.errors import PrudentError
from prudent.plan.elicit import Option
from prudent.plan.words import Outcome
from prudent.risk.base import RiskMeasure
from prudent.risk.mean_variance import MeanVariance
from prudent.theory.periods import period_cost

SAMPLES = 20_000
"""Sums that are drawn to know their cost."""

NORMAL_FROM = 5_000
"""Outcomes of a sum from which on it is as good as normal."""


def risk_of_sums(
    options: Sequence[Option], risk: RiskMeasure, period: int, sign: float
) -> tuple[MeanVariance, dict[str, float]]:
    """The mean-variance that judges outcomes as this risk judges sums of so many of them; and what a sum of each option
    costs, per outcome, as an outcome of the same worth."""
    moments = {option.name: option.moments for option in options}
    premiums, worth = [], {}
    for option in options:
        mean, variance = moments[option.name]
        cost = period_cost(_law(option, period, sign), risk, period, samples=SAMPLES).cost / period
        worth[option.name] = -sign * cost
        if variance > 0.0:
            premiums.append((cost + sign * mean) * math.sqrt(period / variance))
    premium = float(np.mean(premiums)) if premiums else 0.0
    if not premium > 0.0:
        fix = "take a measure that prices spread, such as cvar(0.05), or --rho inf for the mean alone"
        raise PrudentError(f"plan: with a period, risk must cost more where sums vary more; {risk} does not; {fix}")
    deviations = [math.sqrt(variance) for _, variance in moments.values()]
    rho = math.sqrt(period) * (min(deviations) + max(deviations)) / premium
    return MeanVariance(float(f"{rho:.3g}")), worth


def _law(option: Option, period: int, sign: float) -> Law:
    mean, variance = option.moments
    outcomes = getattr(option, "outcomes", None)
    if outcomes is None or period >= NORMAL_FROM:
        return Gaussian(sign * mean, variance)
    return Empirical(sign * np.array(outcomes))


def in_words(trial_risk: MeanVariance, risk: RiskMeasure, period: int, outcome: Outcome, options: Sequence[Option],
             worth: dict[str, float]) -> str:  # fmt: skip
    """What was done, and what the options are worth by their sums; a warning where another option is preferred so."""
    each = ", ".join(f"{name} {outcome.amount(x)}" for name, x in worth.items())
    rho, sign = outcome.amount(trial_risk.rho), outcome.sign
    gains = {option.name: sign * option.moments[0] - option.moments[1] / trial_risk.rho for option in options}
    first = max(worth, key=lambda name: (sign * worth[name], name))
    other = max(gains, key=lambda name: (gains[name], name))
    differs = f" But by these sums {first} is worth more than {other}, which the trial prefers."
    return (
        f"The risk is {risk} of the sum of {period:,} outcomes. Per outcome such a sum is worth: {each}. The trial is"
        f" judged by mean and variance with ρ = {rho}, which prices their spread as these sums do."
        f"{differs if sign * (worth[first] - worth[other]) > 0.0 else ''}"
    )
