"""How a plan writes numbers: in the unit of the outcome, in its own sign, with as many digits as are known."""

import math
from typing import Any, NamedTuple

from prudent import MeanVariance


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
        return self._with_unit(number(x), power)

    def about(self, row: dict[str, Any], name: str, *, power: int = 1, gain: bool = False) -> str:
        """`29.9 ± 0.4 minutes`: a mean with two standard errors; a `gain` is turned back into an outcome."""
        mean = self.sign * row[name] if gain else row[name]
        return self._with_unit(plus_minus(mean, row[f"{name}_se"]), power)

    def _with_unit(self, text: str, power: int) -> str:
        return f"{text} {self.unit}{'²' if power == 2 else ''}" if self.unit else text

    def rho(self, risk: MeanVariance) -> str:
        """`ρ = 55 EUR`."""
        return "ρ = ∞, the mean alone" if math.isinf(risk.rho) else f"ρ = {self.amount(risk.rho)}"


def number(x: float, digits: int = 4) -> str:
    """A number as people read it: thousands separated, − for minus, no more than four digits that matter."""
    if math.isinf(x):
        return "∞" if x > 0.0 else "−∞"
    size = abs(x)
    if size >= 10.0 ** (digits - 1):
        text = f"{float(f'{size:.{digits}g}'):,.0f}" if size < 1e15 else f"{size:.{digits}g}"
    else:
        text = f"{size:.{digits}g}"
    return f"−{text}" if x < 0.0 and float(text.replace(",", "")) else text


def plus_minus(mean: float | None, se: float | None) -> str:
    """`38.12 ± 0.42`: the mean with two standard errors, to two digits of these."""
    if mean is None or math.isnan(mean):
        return "–"
    margin = 2.0 * (se or 0.0)
    if not math.isfinite(margin) or margin <= 1e-12 * abs(mean) or not 1e-9 <= margin < 1e15:
        return number(mean)
    places = max(0, 1 - math.floor(math.log10(margin)))
    text = f"{abs(mean):,.{places}f} ± {margin:,.{places}f}"
    return f"−{text}" if mean < 0.0 and float(f"{mean:.{places}f}") else text


def percent(row: dict[str, Any], name: str) -> str:
    """A share as a percentage, with two standard errors."""
    return f"{plus_minus(100.0 * row[name], 100.0 * (row[f'{name}_se'] or 0.0))} %"
