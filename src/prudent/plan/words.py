"""How a plan writes numbers: in the unit of the outcome, in its own sign, with as many digits as are known."""

import math
import re
from typing import Any, NamedTuple

from prudent.base.text import minus, number, risk_name, with_error
from prudent.risk.base import RiskMeasure
from prudent.risk.mean_variance import MeanVariance


class Outcome(NamedTuple):
    """What is measured of every person in the trial: its unit, and whether more of it is better.

    Inside, rewards are gains, so where smaller is better they are minus the outcomes; here they are turned back.
    """

    unit: str = ""
    larger_is_better: bool = True

    @property
    def sign(self) -> float:
        return 1.0 if self.larger_is_better else -1.0

    def amount(self, x: float, *, power: int = 1, digits: int = 4) -> str:
        """`29.9 minutes`; of a variance (`power` 2) `29.9 minutes²`."""
        return self._with_unit(minus(number(x, digits)), power)

    def of_gain(self, gain: float, digits: int = 4) -> str:
        """A gain, turned back into an outcome."""
        return self.amount(self.sign * gain + 0.0, digits=digits)

    def difference(self, gain: float, digits: int = 3) -> str:
        """How much better a gain is than another, in words: `0.31 EUR more`."""
        word = "more" if gain * self.sign >= 0.0 else "less"
        return f"{self.amount(abs(gain), digits=digits)} {word}"

    def _with_unit(self, text: str, power: int) -> str:
        return f"{text} {self.unit}{'²' if power == 2 else ''}" if self.unit else text

    def risk(self, risk: RiskMeasure) -> str:
        """`ρ = 55 EUR`; of another measure its name."""
        if not isinstance(risk, MeanVariance):
            return risk_name(risk)
        return "ρ = ∞, the mean alone" if math.isinf(risk.rho) else f"ρ = {self.amount(risk.rho)}"


def plus_minus(mean: float | None, se: float | None) -> str:
    """`38.12 ± 0.42`: the mean with two standard errors."""
    return minus(with_error(mean, None if se is None else 2.0 * se))


def percent(share: float) -> str:
    """`97 %`; `99.6 %` near an end, and never 100 % for less than that."""
    value = 100.0 * share
    digits = 0 if 1.0 <= value <= 99.0 else 1
    text = f"{value:.{digits}f}"
    if share < 1.0 and float(text) == 100.0:
        return "over 99.9 %"
    if share > 0.0 and float(text) == 0.0:
        return "under 0.1 %"
    return f"{text.removesuffix('.0')} %"


def short(policy: str) -> str:
    """A policy's name with numbers of three digits, `vts(sd=53.8)`, for people; programs take the whole name."""
    return re.sub(r"-?\d+\.\d+(?:e[+-]?\d+)?", lambda found: number(float(found[0]), 3).replace(",", ""), policy)


def listed(names: Any) -> str:
    """A, B and C; of many only how many."""
    names = list(names)
    if len(names) > 6:
        return f"{len(names):,} options"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
