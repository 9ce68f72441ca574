"""The trial that is planned: its options, how outcomes are judged, and the bandits that it may turn out to be."""

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent import Bandit, MeanVariance, PrudentError
from prudent.arms.base import Law, arms
from prudent.arms.continuous import Gaussian, StudentT, Uniform
from prudent.arms.discrete import Bernoulli, Deterministic
from prudent.arms.mixture import Mixture
from prudent.arms.truncated import TruncatedGaussian
from prudent.engine.scaffold import LONGEST
from prudent.errors import check_flag, check_integer, shown
from prudent.parameters import check_support
from prudent.plan.elicit import Option, Pilot, check_options
from prudent.plan.words import Outcome
from prudent.policies.units import NOTHING, Units, units_of_arms
from prudent.risk.base import risks

LADDER = (30, 100, 300, 1_000, 3_000, 10_000)
"""The lengths that are compared if none is given."""

LONGEST_UNIT = 30


class Trial(NamedTuple):
    """Options by name, the risk by which outcomes are judged, and how many rounds; `support` is where outcomes lie."""

    options: Sequence[Option]
    risk: MeanVariance
    horizons: tuple[int, ...]
    outcome: Outcome = Outcome()
    support: tuple[float, float] | None = None

    @classmethod
    def checked(
        cls,
        options: Any,
        risk: Any,
        horizon: Any,
        *,
        unit: Any = "",
        larger_is_better: Any = True,
        support: Any = None,
    ) -> "Trial":
        """The trial, if all of it makes one."""
        measure = risks.make("plan", risk)
        if not isinstance(measure, MeanVariance):
            raise PrudentError(f"plan: risk must be a mean-variance such as MeanVariance(1.0), got {risk}")
        if not isinstance(unit, str) or len(unit) > LONGEST_UNIT or not unit.isprintable():
            raise PrudentError(f"plan: unit must be a word such as 'EUR', got {shown(unit)}")
        outcome = Outcome(unit.strip(), check_flag("plan", "larger_is_better", larger_is_better))
        chosen = check_options(options)
        ends = None if support is None else check_support("plan", support)
        if ends is not None:
            _check_inside(chosen, *ends)
        return cls(chosen, measure, _horizons(horizon, len(chosen)), outcome, ends)

    @property
    def names(self) -> list[str]:
        return [option.name for option in self.options]

    @property
    def units(self) -> Units:
        """How large gains are, as far as options and support tell: policies are told this, and run with it live."""
        sd = _rounded(math.sqrt(max(option.moments[1] for option in self.options))) or 1.0
        one, other = self.example(), self.example(1)
        if one.support == other.support and all(
            map(math.isfinite, one.support)
        ):  # whatever is drawn, it has these ends
            return units_of_arms(one)._replace(sd=sd)
        if self.support is None:
            return NOTHING._replace(range=2.0 * sd, sd=sd)
        low, high = sorted(self.outcome.sign * end + 0.0 for end in self.support)
        return Units(high - low, sd, low, high, None)

    def draw(self, rng: np.random.Generator) -> dict[str, str]:
        """One bandit of the prior, as gains: what each option may turn out to be."""
        drawn = {}
        for option in self.options:
            try:
                law = option.draw(rng)
            except (TypeError, ValueError) as error:
                raise PrudentError(f"plan: option {option.name!r} cannot be drawn: {error}") from error
            drawn[option.name] = law if self.outcome.larger_is_better else str(mirrored(option.name, arms.parse(law)))
        return drawn

    def example(self, seed: int = 0) -> Bandit:
        """One bandit of the prior."""
        return Bandit(list(self.draw(np.random.default_rng(seed)).values()), self.names)

    def worth(self, cost: float) -> tuple[float, int]:
        """A difference in cost as an amount of the outcome, with its power: by ρ a cost σ² − ρ μ becomes a mean."""
        rho = self.risk.rho
        return (cost, 2) if rho == 0.0 else (cost, 1) if np.isinf(rho) else (cost / rho, 1)

    def price(self, row: dict[str, Any], name: str) -> str:
        """Such a difference in words, with two standard errors."""
        both = {key: None if row[key] is None else self.worth(row[key])[0] for key in (name, f"{name}_se")}
        return self.outcome.about(both, name, power=self.worth(0.0)[1])


def _rounded(sd: float) -> float:
    """To eight binary digits, which are few enough to be read and scale with the unit by powers of two."""
    mantissa, exponent = math.frexp(sd)
    return math.ldexp(round(256.0 * mantissa), exponent - 8)


def _check_inside(options: Sequence[Option], low: float, high: float) -> None:
    """Refuse outcomes of a pilot that are said to be impossible."""
    for option in options:
        outside = (
            next((x for x in option.outcomes if not low <= x <= high), None) if isinstance(option, Pilot) else None
        )
        if outside is not None:
            limits = f"must lie in the support, [{low:g}, {high:g}]"
            raise PrudentError(f"plan: outcomes of {option.name!r} {limits}, got {outside:g}; widen the support")


def _horizons(given: Any, options: int) -> tuple[int, ...]:
    """The lengths to compare, shortest first; one if the length is known."""
    if given is None:
        fitting = tuple(n for n in LADDER if n >= 3 * options)
        if len(fitting) < 2:
            raise PrudentError(f"plan: horizon must be given for {options:,} options, such as {30 * options:,}")
        return fitting
    many = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    if many and not 1 <= len(given) <= 20:
        raise PrudentError(f"plan: horizon must be a number of rounds, or a list of up to 20, got {shown(given)}")
    return tuple(
        sorted({check_integer("plan", "horizon", n, low=1, high=LONGEST) for n in (given if many else [given])})
    )


MIRRORS: dict[type[Law], Callable[[Any], Law]] = {
    Gaussian: lambda law: Gaussian(-law.mean, law.variance),
    Uniform: lambda law: Uniform(-law.high, -law.low),
    StudentT: lambda law: StudentT(law.degrees, -law.location, law.scale),
    TruncatedGaussian: lambda law: TruncatedGaussian(-law.center, law.scale, -law.high, -law.low),
    Deterministic: lambda law: Deterministic(-law.value),
    Bernoulli: lambda law: Mixture([Deterministic(-1.0), Deterministic(0.0)], [law.success, 1.0 - law.success]),
}


def mirrored(name: str, law: Law) -> Law:
    """The law of minus the outcome."""
    if type(law) not in MIRRORS:
        known = f"a pilot, or {', '.join(kind.name for kind in MIRRORS)}"
        raise PrudentError(f"plan: where smaller is better, option {name!r} must be {known}; got {law}")
    return MIRRORS[type(law)](law)


def check_settings(
    policies: Any, out: Any, draws: Any, runs: Any, seed: Any, workers: Any, progress: Any
) -> tuple[int, int, int, int | None]:
    """Draws, runs, seed and workers as whole numbers; the others are refused if they cannot be what they should be."""
    if isinstance(policies, str) or not hasattr(policies, "__iter__"):
        raise PrudentError(f"plan: policies must be a list such as ['mv-lcb'], got {shown(policies)}")
    if progress is not None and not callable(progress):
        raise PrudentError(f"plan: progress must be a function of the cells just finished, got {shown(progress)}")
    if not isinstance(out, str | os.PathLike):
        raise PrudentError(f"plan: out must be a folder, got {shown(out)}")
    return (
        check_integer("plan", "draws", draws, low=10, hint="100 draws show differences well"),
        check_integer("plan", "runs", runs, low=2),
        check_integer("plan", "seed", seed, low=0, high=2**63 - 1),
        None if workers is None else check_integer("plan", "workers", workers, low=1, high=10_000),
    )
