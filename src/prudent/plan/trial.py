"""The trial that is planned: its options, how outcomes are judged, and the worlds that it may turn out to be in."""

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent import Bandit, PrudentError
from prudent.arms.base import Law, arms
from prudent.arms.continuous import Gaussian, StudentT, Uniform
from prudent.arms.discrete import Bernoulli, Deterministic
from prudent.arms.mixture import Mixture
from prudent.arms.truncated import TruncatedGaussian
from prudent.base.arrays import Array
from prudent.base.errors import check_choice, check_flag, check_integer, check_number, shown
from prudent.base.parameters import check_support
from prudent.engine.jobs import MAX_ROUNDS
from prudent.plan.cells import Cells
from prudent.plan.elicit import Option, Pilot, check_options
from prudent.plan.sums import in_words as sums_in_words
from prudent.plan.sums import risk_of_sums
from prudent.plan.words import Outcome
from prudent.plan.worlds import Outcomes, outcomes_of
from prudent.policies.units import NOTHING, Units, units_of_arms
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.mean_variance import MeanVariance

LADDER = (30, 100, 300, 1_000, 3_000, 10_000)
"""The lengths that are compared if none is given."""

LONGEST_UNIT = 30

MODELS = ("pilot", "normal")
"""Worlds from the pilot's own outcomes, or normal ones with the pilot's mean and variance."""


class Trial(NamedTuple):
    """Options by name, the risk by which outcomes are judged, and how many rounds; `support` is where outcomes lie.

    `begin` says that the policy begins with the pilot's outcomes, `model` what worlds are drawn from. `period` is the
    number of outcomes whose sum bears the risk, `month` the number of rounds a month, for amounts a month. `sums` says
    what was done where the risk of a sum is not the sum of risks.
    """

    options: Sequence[Option]
    risk: RiskMeasure
    horizons: tuple[int, ...]
    outcome: Outcome = Outcome()
    support: tuple[float, float] | None = None
    begin: bool = True
    model: str = "pilot"
    period: int = 1
    month: int | None = None
    sums: str = ""

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
        begin: Any = True,
        model: Any = "pilot",
        period: Any = 1,
        month: Any = None,
    ) -> "Trial":
        """The trial, if all of it makes one."""
        measure = risks.make("plan", risk)
        if not isinstance(unit, str) or len(unit) > LONGEST_UNIT or not unit.isprintable():
            raise PrudentError(f"plan: unit must be a word such as 'EUR', got {shown(unit)}")
        outcome = Outcome(unit.strip(), check_flag("plan", "larger_is_better", larger_is_better))
        chosen = check_options(options)
        ends = None if support is None else check_support("plan", support)
        if ends is not None:
            _check_inside(chosen, *ends)
        check_choice("plan", "model", model, MODELS)
        length = check_integer("plan", "period", period, low=1, high=10**6)
        said = ""
        if length > 1 and not measure.additive:
            whole, (measure, worth) = measure, risk_of_sums(chosen, measure, length, outcome.sign)
            said = sums_in_words(measure, whole, length, outcome, chosen, worth)
        rounds = None if month is None else check_integer("plan", "month", month, low=1, high=MAX_ROUNDS)
        begins = check_flag("plan", "begin", begin)
        horizons = _horizons(horizon, len(chosen))
        return cls(chosen, measure, horizons, outcome, ends, begins, model, length, rounds, said)

    @property
    def names(self) -> list[str]:
        return [option.name for option in self.options]

    @property
    def rho(self) -> float | None:
        """ρ, if outcomes are judged by mean and variance."""
        return self.risk.rho if isinstance(self.risk, MeanVariance) else None

    def price(self, cost: float) -> float:
        """A difference of costs in the unit of outcomes: by ρ, variance becomes mean."""
        return cost if self.rho is None or math.isinf(self.rho) or self.rho == 0.0 else cost / self.rho

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

    @property
    def limits(self) -> tuple[float, float] | None:
        """Where outcomes lie, if that is bounded: as it was given, or as every bandit of the prior has it."""
        one, other = self.example().support, self.example(1).support
        drawn = sorted(self.outcome.sign * end + 0.0 for end in one) if one == other else (-math.inf, math.inf)
        low, high = drawn if self.support is None else self.support
        return (low, high) if math.isfinite(low) and math.isfinite(high) else None

    @property
    def known(self) -> list[Array]:
        """The gains that the policy knows of every option before the first round, ascending."""
        sign = self.outcome.sign
        return [
            np.sort(sign * np.array(option.outcomes)) if self.begin and isinstance(option, Pilot) else np.empty(0)
            for option in self.options
        ]

    @property
    def told(self) -> int:
        """How many outcomes the policy knows before the first round."""
        return sum(len(gains) for gains in self.known)

    def draw(self, rng: np.random.Generator) -> dict[str, str]:
        """One bandit of the prior in which outcomes that are not 0 or 1 are normal, as gains."""
        drawn = {}
        for option in self.options:
            try:
                law = option.draw(rng)
            except (TypeError, ValueError) as error:
                raise PrudentError(f"plan: option {option.name!r} cannot be drawn: {error}") from error
            drawn[option.name] = law if self.outcome.larger_is_better else str(mirrored(option.name, arms.parse(law)))
        return drawn

    def example(self, seed: int = 0) -> Bandit:
        """One bandit of the prior, to try policies on."""
        drawn = self.draw(np.random.default_rng(seed))
        return Bandit(list(drawn.values()), list(drawn))

    def worlds(self, count: int, seed: int, times: float = 1.0) -> "Worlds":
        """So many worlds; each depends on the seed and its number alone. With `times` the largest outcomes of the pilot
        weigh so many times as much."""
        shapes = self._shapes()
        return Worlds.of(self.risk, [self._world(shapes, [seed, number], times) for number in range(count)])

    def _world(self, shapes: Sequence[Outcomes | None], key: list[int], times: float) -> list[Law]:
        rng = np.random.default_rng(key)
        found: list[Law] = []
        for option, shape in zip(self.options, shapes, strict=True):
            law: Law = arms.parse(option.draw(rng)) if shape is None else shape.draw(rng, times)
            if not self.outcome.larger_is_better:
                law = law.negative() if isinstance(law, Cells) else mirrored(option.name, law)
            found.append(law)
        return found

    def _shapes(self) -> list[Outcomes | None]:
        """The cells of each option's outcomes; None for those that are drawn as they say."""
        pilots = [option for option in self.options if isinstance(option, Pilot)]
        everyone = np.array([x for option in pilots for x in option.outcomes])
        low, high = (-math.inf, math.inf) if self.support is None else self.support
        if self.support is None and len(everyone):
            low, high = 0.0 if everyone.min() >= 0.0 else low, 0.0 if everyone.max() <= 0.0 else high
        return [
            outcomes_of(option.outcomes, everyone, (low, high))
            if isinstance(option, Pilot) and self.model == "pilot" and not option.binary
            else None
            for option in self.options
        ]


class Worlds(NamedTuple):
    """Distributions of the options as gains, a row for each world, with their means, variances and costs."""

    laws: list[list[Law]]
    means: Array
    variances: Array
    costs: Array

    @classmethod
    def of(cls, risk: RiskMeasure, laws: list[list[Law]]) -> "Worlds":
        means = np.array([[law.mean for law in row] for row in laws])
        variances = np.array([[law.variance for law in row] for row in laws])
        if risk.by_moments:
            costs = np.asarray(risk.stats_cost(means, variances), float)
        else:
            costs = np.array([[_cost(risk, law) for law in row] for row in laws])
        return cls(laws, means, variances, costs)

    def __len__(self) -> int:
        return len(self.costs)

    @property
    def best(self) -> Any:
        """The option of smallest cost in each world, ties to the first."""
        return self.costs.argmin(1)

    @property
    def gaps(self) -> Array:
        """What each option costs more than the best."""
        found: Array = self.costs - self.costs.min(1, keepdims=True)
        return found

    def some(self, count: int) -> "Worlds":
        """The first so many."""
        return Worlds(self.laws[:count], self.means[:count], self.variances[:count], self.costs[:count])


def _cost(risk: RiskMeasure, law: Law) -> float:
    return risk.sample_cost(*law.points()) if isinstance(law, Cells) else risk.cost(law)


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
        sorted({check_integer("plan", "horizon", n, low=1, high=MAX_ROUNDS) for n in (given if many else [given])})
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
    policies: Any, out: Any, progress: Any, *, draws: Any, runs: Any, seed: Any, workers: Any, seconds: Any
) -> tuple[int, int, int, int | None, float]:
    """Draws, runs, seed, workers and seconds as numbers; others are refused if they cannot be what they should be."""
    if isinstance(policies, str) or not hasattr(policies, "__iter__"):
        raise PrudentError(f"plan: policies must be a list such as ['mv-lcb'], got {shown(policies)}")
    if progress is not None and not callable(progress):
        raise PrudentError(f"plan: progress must be a function of the share of the work done, got {shown(progress)}")
    if not isinstance(out, str | os.PathLike):
        raise PrudentError(f"plan: out must be a folder, got {shown(out)}")
    return (
        check_integer("plan", "draws", draws, low=10, high=100_000, hint="200 worlds show differences well"),
        check_integer("plan", "runs", runs, low=2, high=100_000),
        check_integer("plan", "seed", seed, low=0, high=2**63 - 1),
        None if workers is None else check_integer("plan", "workers", workers, low=1, high=10_000),
        check_number("plan", "seconds", seconds, low=1.0, high=1e6, hint="30 is the default"),
    )
