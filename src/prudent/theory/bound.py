"""What a theorem says about one bandit: its value as printed and as corrected, its conditions, whether it is vacuous.

"Corrected" is what the paper's proof supports once it is repaired. It is larger than the printed value where that one
is false, and smaller where the printed value is true but loose. docs/theory.md derives each.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from prudent.arrays import Array
from prudent.bandit import ROUNDING, Bandit
from prudent.errors import PrudentError, check_integer, check_number
from prudent.parameters import check_parameter
from prudent.risk.mean_variance import MeanVariance


class Condition(NamedTuple):
    """Something that a theorem assumes, and whether this bandit meets it."""

    text: str
    holds: bool


@dataclass(frozen=True)
class Bound:
    """One result for one bandit. A value is None where there is none, and ∞ where the formula divides by a gap of 0.

    `applies` says whether the bandit meets the conditions of `value`. A condition that ends in "(as printed)" is needed
    only by the printed form.
    """

    name: str
    quantity: str
    citation: str
    printed: float | None
    corrected: float | None
    correction: str = ""
    conditions: tuple[Condition, ...] = ()
    applies: bool = True
    vacuous: bool = False
    note: str = ""

    @property
    def value(self) -> float | None:
        """The corrected value, or the printed one where nothing else is known."""
        return self.printed if self.corrected is None else self.corrected

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, which has no infinity: that becomes the text "inf", which float() reads."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
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

    @classmethod
    def of(cls, owner: str, bandit: Bandit, risk: MeanVariance, horizon: int) -> "Instance":
        """The numbers the theorems need, or an error for what they cannot treat."""
        if not isinstance(risk, MeanVariance):
            raise PrudentError(f"{owner}: risk must be a mean-variance, got {risk}; [Sani12] proves nothing for others")
        hint = "the theorems fix ρ; when only the mean counts, UCB1's own regret bound applies"
        rho = check_number(owner, "rho", risk.rho, low=0.0, open_high=True, hint=hint)
        n = check_integer(owner, "horizon", horizon, low=1)
        best = bandit.best(risk)
        gaps = bandit.gaps(risk)
        squared = bandit.mean_differences**2
        rest = np.arange(len(bandit)) != best
        low, high = bandit.support
        largest = _largest_mixture(gaps, squared)
        return cls(len(bandit), n, rho, gaps[rest], squared[best, rest], squared[rest][:, rest], high - low, largest)

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

    def level(self, owner: str, delta: float | None) -> float:
        """δ, by default Theorem 1's 1/n²."""
        return float(self.horizon**-2.0 if delta is None else check_parameter(owner, "delta", delta))

    def informative(self, delta: float) -> Condition:
        failure = 6.0 * self.horizon * self.n_arms * delta
        return Condition(f"6nKδ < 1, else the probability is 0: {failure:.3g}", failure < 1.0)


def largest_pseudo_regret(bandit: Bandit, risk: MeanVariance) -> float:
    """The largest pseudo-regret (Definition 3) that any allocation of pulls to these arms can have.

    It is max_p Σ p_i Δ_i + 4 Var_p(μ) = min_c max_i Δ_i + 4 (μ_i − c)², since Var_p(μ) = min_c Σ p_i (μ_i − c)². The
    minimum over c lies at a vertex or where two of these parabolas cross, so two arms at most share the worst p.
    """
    return Instance.of("largest_pseudo_regret", bandit, risk, 1).largest_pseudo_regret


def largest_regret(rho: float, span: float = 1.0) -> float:
    """The largest possible regret (Definition 2) of rewards in an interval of length b = `span`.

    The best sequence is constant at the top; the worst has a share p of its rewards there and the others at the bottom,
    with cost b² p(1−p) − ρ b p. At p = (1 − ρ/b)/2 the difference is (b + ρ)²/4; for ρ ≥ b it is largest at p = 0,
    where it is ρ b. The paper's 1/4 + ρ is above both on [0, 1].
    """
    return math.inf if math.isinf(span) else rho * span if rho >= span else (span + rho) ** 2 / 4.0


def over(numerator: float | Array, denominator: Array) -> Array:
    """Division in which 0/0 is 0, and a positive number divided by 0 is infinite."""
    top = np.broadcast_to(np.asarray(numerator, float), np.shape(denominator))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.where(top == 0.0, 0.0, top / denominator)


def judge(
    name: str,
    quantity: str,
    citation: str,
    printed: float | None,
    corrected: float | None,
    *,
    correction: str = "",
    conditions: tuple[Condition, ...] = (),
    as_printed: tuple[Condition, ...] = (),
    limit: float = math.inf,
    limit_is: str = "",
    note: str = "",
) -> Bound:
    """A bound with its verdict: vacuous when the value reaches `limit`, the largest possible value of `limit_is`."""
    value = printed if corrected is None else corrected
    vacuous = value is not None and value >= limit
    remarks = [note] if note else []
    if vacuous and limit_is:
        remarks.insert(0, f"{limit_is} never exceeds {limit:.4g}")
    elif printed is not None and printed >= limit and limit_is:
        remarks.insert(0, f"vacuous as printed: {limit_is} never exceeds {limit:.4g}")
    applies = all(condition.holds for condition in conditions)
    if applies and not all(condition.holds for condition in as_printed):
        remarks.append("only the corrected form applies")
    every = conditions + tuple(Condition(f"{text} (as printed)", holds) for text, holds in as_printed)
    remark = "; ".join(remarks)
    return Bound(name, quantity, citation, printed, corrected, correction, every, applies, vacuous, remark)


def _largest_mixture(gaps: Array, squared: Array) -> float:
    """max over two arms and a share p of p Δ_i + (1−p) Δ_j + 4 p(1−p) Γ_ij²."""
    tilt = over(gaps[:, None] - gaps, 8.0 * squared)
    share = np.clip(0.5 + tilt, 0.0, 1.0)
    mixed = share * gaps[:, None] + (1.0 - share) * gaps + 4.0 * share * (1.0 - share) * squared
    return float(mixed.max())
