"""How a plan writes numbers: in the unit of the outcome, in its own sign, with as many digits as are known."""

import math
from typing import Any, NamedTuple

from prudent import MeanVariance
from prudent.text import minus, number, with_error


class Outcome(NamedTuple):
    """What is measured of every person in the trial: its unit, and whether more of it is better.

    Inside, rewards are gains, so where smaller is better they are minus the outcomes; here they are turned back.
    """

    unit: str = ""
    larger_is_better: bool = True

    @property
    def sign(self) -> float:
        return 1.0 if self.larger_is_better else -1.0

    def amount(self, x: float, *, power: int = 1) -> str:
        """`29.9 minutes`; of a variance (`power` 2) `29.9 minutes²`."""
        return self._with_unit(minus(number(x)), power)

    def about(self, row: dict[str, Any], name: str, *, power: int = 1, gain: bool = False) -> str:
        """`29.9 ± 0.4 minutes`: a mean with two standard errors; a `gain` is turned back into an outcome."""
        mean = self.sign * row[name] if gain else row[name]
        return self._with_unit(plus_minus(mean, row[f"{name}_se"]), power)

    def _with_unit(self, text: str, power: int) -> str:
        return f"{text} {self.unit}{'²' if power == 2 else ''}" if self.unit else text

    def rho(self, risk: MeanVariance) -> str:
        """`ρ = 55 EUR`."""
        return "ρ = ∞, the mean alone" if math.isinf(risk.rho) else f"ρ = {self.amount(risk.rho)}"


def plus_minus(mean: float | None, se: float | None) -> str:
    """`38.12 ± 0.42`: the mean with two standard errors."""
    return minus(with_error(mean, None if se is None else 2.0 * se))


def percent(row: dict[str, Any], name: str) -> str:
    """A share as a percentage, with two standard errors."""
    return f"{plus_minus(100.0 * row[name], 100.0 * (row[f'{name}_se'] or 0.0))} %"
