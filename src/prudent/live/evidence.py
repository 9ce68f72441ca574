"""What an agent has seen: all that its estimates, intervals, leader, summary and forecast are computed from."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from prudent.engine.python.arm import ArmState, ordered
from prudent.engine.record import Statistics
from prudent.live.labels import Label, label_of
from prudent.risk.base import RiskMeasure
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.tails import CVaR, MeanCVaR


class Estimate(NamedTuple):
    """What is known about an arm. Mean, variance (divided by the pulls) and cost are None before its first reward."""

    arm: Label
    pulls: int
    mean: float | None
    variance: float | None
    cost: float | None
    open_asks: int
    retired: bool


SAME = 1e-9
"""By what share of the largest variance that of two values may differ from (high − mean)(mean − low)."""


class Evidence(NamedTuple):
    """The arms, retired ones too, with the risk that prices them and the support of their rewards.

    Rewards, means and support are those that the agent compares: larger is better. `binary` says that rewards are known
    to be one of the two ends of the support, because somebody has declared it: rewards seen prove nothing of others.
    """

    arms: Sequence[ArmState]
    risk: RiskMeasure
    support: tuple[float, float]
    binary: bool = False

    @property
    def playing(self) -> list[int]:
        """The numbers of the arms that are not retired."""
        return [i for i, arm in enumerate(self.arms) if not arm.retired]

    @property
    def total(self) -> int:
        """The rewards of all arms."""
        return sum(arm.pulls for arm in self.arms)

    def label(self, number: int) -> Label:
        """What users call an arm."""
        return label_of(self.arms, number)

    def labels(self, numbers: Iterable[int]) -> tuple[Label, ...]:
        """What users call some arms."""
        return tuple(self.label(number) for number in numbers)

    def some(self, numbers: Iterable[int]) -> "Evidence":
        """The evidence of some arms alone, which are numbered from 0 in it."""
        return self._replace(arms=[self.arms[number] for number in numbers])

    def estimate(self, number: int) -> Estimate:
        """Mean, variance and cost of an arm, as far as they are known."""
        arm, label = self.arms[number], self.label(number)
        if arm.pulls == 0:
            return Estimate(label, 0, None, None, None, arm.open_asks, arm.retired)
        with np.errstate(over="ignore"):  # a cost too large for a float is infinite
            cost = float(self.risk.estimate(arm.mean, arm.variance, ordered(arm)))
        return Estimate(label, arm.pulls, arm.mean, arm.variance, cost, arm.open_asks, arm.retired)


def are_two_values(arms: Iterable[ArmState], ends: tuple[float, float]) -> bool:
    """Whether all rewards are one of the two ends: no other rewards have so large a variance."""
    _, means, variances = statistics_of([arm for arm in arms if arm.pulls])
    low, high = ends
    with np.errstate(over="ignore"):
        most, slack = (high - means) * (means - low), SAME * (high - low) ** 2
    return bool((most >= -slack).all() and (abs(variances - most) <= slack).all())


def rho_of(risk: RiskMeasure) -> float:
    """The ρ for which an arm's ledger has bets of its own, beside those on mean and variance; 0 if there is none."""
    return risk.rho if isinstance(risk, MeanVariance) and risk.rho < math.inf else 0.0


def tail_of(risk: RiskMeasure) -> tuple[float, float] | None:
    """The level and the weight of a CVaR, on which bets of their own are made; None for other measures."""
    if isinstance(risk, MeanCVaR):
        return risk.alpha, risk.weight
    return (risk.alpha, 1.0) if isinstance(risk, CVaR) else None


def statistics_of(arms: Sequence[ArmState]) -> Statistics:
    """Pulls, means and variances of some arms."""
    return Statistics(
        np.array([arm.pulls for arm in arms], np.int64),
        np.array([arm.mean for arm in arms], np.float64),
        np.array([arm.variance for arm in arms], np.float64),
    )
