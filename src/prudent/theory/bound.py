"""What a theorem says about one bandit: its value as printed and as corrected, its conditions, whether it is vacuous.

"Corrected" is what the paper's proof supports once it is repaired. It is larger than the printed value where that one
is false, and smaller where the printed value is true but loose. Each is derived in docs: theory.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from prudent.bandit import ROUNDING, Bandit, check_bandit
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, as_float, check_integer, check_number, shown
from prudent.base.parameters import check_parameter
from prudent.base.text import number
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.mean_variance import MeanVariance

PSEUDO = "the pseudo-regret of these arms"

MAX_HORIZON = 2**300
"""The longest horizon. Here log n/n is below 1e-87, so that a value has reached what it tends to."""

_MAX_SPREAD, MIN_DELTA = 1e40, 1e-200
"""Limits of ρ and of differences between arms, and of δ, within which products of powers are numbers for floats."""


class Condition(NamedTuple):
    """Something that a theorem assumes, and whether this bandit meets it."""

    text: str
    holds: bool


@dataclass(frozen=True)
class Bound:
    """One result for one bandit. A value is None where there is none, and ∞ where the formula divides by a gap of 0.

    The printed form `needs_as_printed` what the corrected one does without; `needs_of_horizon` are the conditions on n.
    `limit` is the largest value that something can have at all, and what that is; a bound that reaches it is vacuous.
    """

    name: str
    quantity: str
    citation: str
    printed: float | None
    corrected: float | None
    correction: str = ""
    needs: tuple[Condition, ...] = ()
    needs_as_printed: tuple[Condition, ...] = ()
    needs_of_horizon: tuple[Condition, ...] = ()
    limit: tuple[float, str] = (math.inf, "")
    remark: str = ""

    @property
    def value(self) -> float | None:
        """The corrected value, or the printed one where nothing else is known."""
        return self.printed if self.corrected is None else self.corrected

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions; one that ends in "(as printed)" is needed only by the printed form."""
        printed = (Condition(f"{text} (as printed)", holds) for text, holds in self.needs_as_printed)
        return (*self.needs, *self.needs_of_horizon, *printed)

    @property
    def applies(self) -> bool:
        """Whether the bandit and the horizon meet the conditions of `value`."""
        return all(condition.holds for condition in self.needs + self.needs_of_horizon)

    @property
    def vacuous(self) -> bool:
        return self.value is not None and self.value >= self.limit[0]

    @property
    def note(self) -> str:
        remarks = [self.remark] if self.remark else []
        limit, what = self.limit
        if what and (self.vacuous or (self.printed is not None and self.printed >= limit)):
            start = "" if self.vacuous else "vacuous as printed: "
            remarks.insert(0, f"{start}{what} never exceeds {number(limit)}")
        if self.applies and not all(condition.holds for condition in self.needs_as_printed):
            remarks.append("only the corrected form applies")
        return "; ".join(remarks)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, which has no infinity: that becomes the text "inf", which float() reads."""
        shown = "name quantity citation printed corrected correction conditions applies vacuous note"
        facts = {name: getattr(self, name) for name in shown.split()}
        facts["conditions"] = [condition._asdict() for condition in self.conditions]
        return {name: "inf" if value == math.inf else value for name, value in facts.items()}


@dataclass(frozen=True, eq=False)
class Instance:
    """A bandit as the theorems see it. Arrays leave the best arm out; differences of means are squared."""

    n_arms: int
    horizon: int
    rho: float
    gaps: Array
    from_best: Array
    between: Array
    span: float
    largest_pseudo_regret: float
    delta: float

    @classmethod
    def of(
        cls, owner: str, bandit: Bandit, risk: MeanVariance | str, horizon: int, delta: float | None = None
    ) -> "Instance":
        """The numbers the theorems need, or an error for what they cannot treat; δ is Theorem 1's 1/n² by default."""
        bandit, risk = check_bandit(owner, bandit), check_risk(owner, risk)
        hint = "the theorems fix ρ; when only the mean counts, UCB1's own regret bound applies"
        rho = check_number(owner, "rho", risk.rho, low=0.0, high=_MAX_SPREAD, hint=hint)
        n = check_horizon(owner, horizon)
        given = None if delta is None else check_parameter(owner, "delta", delta)
        level = float(n**-2.0 if given is None else check_number(owner, "delta", given, low=MIN_DELTA, high=1.0))
        best, gaps, differences = bandit.best(risk), bandit.gaps(risk), bandit.mean_differences
        if not max(np.abs(differences).max(), gaps.max()) <= _MAX_SPREAD:
            raise PrudentError(
                f"{owner}: means and costs of arms must differ by at most {_MAX_SPREAD:g}; rescale the rewards"
            )
        squared = differences**2
        rest = np.arange(len(bandit)) != best
        arrays = gaps[rest], squared[best, rest], squared[rest][:, rest]
        return cls(len(bandit), n, rho, *arrays, float(np.ptp(bandit.support)), _largest_mixture(gaps, squared), level)

    @property
    def b(self) -> float:
        """The constant of Theorem 1, 2(5+ρ)."""
        return 2.0 * (5.0 + self.rho)

    @property
    def widest(self) -> float:
        """The largest Γ²."""
        return float(max(self.from_best.max(initial=0.0), self.between.max(initial=0.0)))

    @property
    def unique(self) -> Condition:
        return Condition("the best arm is unique", bool((self.gaps > 0.0).all()))

    @property
    def bounded(self) -> Condition:
        """Shifting all rewards changes neither a variance nor a difference, so only the length counts."""
        return Condition("rewards in [0, 1], or an interval as short", self.span <= 1.0 + ROUNDING)

    @property
    def playable(self) -> Condition:
        return Condition(f"n ≥ K: {self.horizon} ≥ {self.n_arms}", self.horizon >= self.n_arms)

    @property
    def failure(self) -> float:
        """The probability 6nKδ that the paper leaves to the event in which its bounds fail."""
        return 6.0 * self.horizon * self.n_arms * self.delta

    @property
    def informative(self) -> Condition:
        return Condition(f"6nKδ < 1, else the probability is 0: {number(self.failure, 3)}", self.failure < 1.0)


def check_horizon(owner: str, horizon: int) -> int:
    """A number of rounds that floats can divide by."""
    n = check_integer(owner, "horizon", horizon, low=1)
    if n > MAX_HORIZON:  # in fewer digits than `check_integer` would print
        raise PrudentError(f"{owner}: horizon must be at most {MAX_HORIZON:.3g}, got {shown(n)}; take a smaller one")
    return n


def check_risk(owner: str, risk: RiskMeasure | str) -> MeanVariance:
    """The mean-variance, or an error for what the theorems do not treat."""
    made = risks.make(owner, risk)
    if not isinstance(made, MeanVariance):
        raise PrudentError(f"{owner}: risk must be a mean-variance, got {made}; [Sani12] proves nothing for others")
    return made


def largest_pseudo_regret(bandit: Bandit, risk: MeanVariance | str) -> float:
    """The largest pseudo-regret (Definition 3) that any allocation of pulls to these arms can have."""
    return Instance.of("largest_pseudo_regret", bandit, risk, 1).largest_pseudo_regret


def largest_regret(rho: float, span: float = 1.0) -> float:
    """The largest possible regret (Definition 2) of rewards in an interval of length b = `span`.

    The best sequence is constant at the top; the worst has a share p of its rewards there and the others at the bottom,
    with cost b² p(1−p) − ρ b p. At p = (1 − ρ/b)/2 the difference is (b + ρ)²/4; for ρ ≥ b it is largest at p = 0,
    where it is ρ b. The paper's 1/4 + ρ is above both on [0, 1].
    """
    rho = check_number("largest_regret", "rho", rho, low=0.0, high=1e150)
    span = as_float("largest_regret", "span", span)
    if not math.isinf(span):
        check_number("largest_regret", "span", span, low=0.0, high=1e150)
    return math.inf if math.isinf(span) else rho * span if rho >= span else (span + rho) ** 2 / 4.0


def over(numerator: float | Array, denominator: Array) -> Array:
    """Division in which 0/0 is 0, and a positive number divided by 0 is infinite."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.where(np.equal(numerator, 0.0), 0.0, numerator / denominator)


def _largest_mixture(gaps: Array, squared: Array) -> float:
    """max_p Σ p_i Δ_i + 4 Var_p(μ), where two arms at most share the worst p: p Δ_i + (1−p) Δ_j + 4 p(1−p) Γ_ij²."""
    tilt = over(gaps[:, None] - gaps, 8.0 * squared)
    share = np.clip(0.5 + tilt, 0.0, 1.0)
    mixed = share * gaps[:, None] + (1.0 - share) * gaps + 4.0 * share * (1.0 - share) * squared
    return float(mixed.max())
