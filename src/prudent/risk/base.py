"""The contract of a risk measure. Every one is a cost: smaller is better, and it prices rewards, not losses.

A measure is a frozen dataclass of numbers. Three of its methods also run inside compiled policies, so they are
written as plain Python that Numba can compile:

`weigh(values, weights)` prices the law that gives values[i] (ascending) the weight weights[i] (they sum to 1);
`estimate(mean, variance, rewards)` prices rewards (ascending, equal weights) of which mean and variance are known;
`bounds(pulls, mean, variance, rewards, failure, low, high)` contains the true cost with probability 1 − failure, from
    that many independent rewards in [low, high].

A measure that mean and variance determine says `by_moments = True`; `rewards` may then be empty, and mean and variance
may be arrays.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial, wraps
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prudent.arms.base import Law
from prudent.base.arrays import Array, as_array
from prudent.base.errors import PrudentError, shown
from prudent.base.parameters import PARAMETERS, Parameter, check_parameter, check_support, in_other_unit
from prudent.base.registry import Registry, named
from prudent.compile.types import helper, tuple_form

INTERPRETED = frozenset({"cost", "sample_cost", "stats_cost", "always_bounds", "interval", "compiled"})
"""The methods that stay outside kernels."""

POSITIVE = (0.0, math.inf, "low high")
"""Where a `Parameter` lies that is finite and above 0."""


class Interval(NamedTuple):
    """Where a true cost lies, with the requested confidence."""

    low: float
    high: float


class RiskMeasure(ABC):
    """A cost of reward laws. Subclass it as a frozen dataclass, and register it: `@risks.add("my-measure")`.

    Examples
    --------
    >>> from prudent import CVaR, Gaussian
    >>> risk = CVaR(alpha=0.05)  # minus the mean of the worst 5 % of rewards
    >>> round(risk.cost(Gaussian(1.0, 0.25)), 3)
    0.031
    >>> risk.sample_cost([0.5, 1.0, 2.0, 3.0])
    -0.5
    """

    name: ClassVar[str]
    by_moments: ClassVar[bool] = False
    additive: ClassVar[bool] = False
    """The cost of a sum of independent rewards is the sum of their costs."""

    quasiconcave: ClassVar[bool] = False
    """Proven: no mixture of laws costs less than the best of them (docs: risks). If False, one may."""

    grows: ClassVar[Mapping[str, int] | None] = None
    """By which power of the unit of rewards each parameter grows, so that no choice changes; None if nobody knows."""

    own_parameters: ClassVar[Mapping[str, Parameter]] = {}
    """The intervals of parameters that prudent.base.parameters does not have, or has otherwise."""

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if "cost" in cls.__dict__:
            cls.cost = _finite(cls.cost)  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        """Check the parameters by their names."""
        known = {**PARAMETERS, **self.own_parameters}
        for name in (field.name for field in fields(self) if field.name in known):  # type: ignore[arg-type]
            object.__setattr__(self, name, check_parameter(self.name, name, getattr(self, name), known))

    def times(self, factor: float) -> "RiskMeasure | None":
        """The measure that orders rewards times a factor above 0 as this one orders rewards; None if none is known."""
        other: RiskMeasure | None = in_other_unit(self, factor)
        return other

    @staticmethod
    def check_given(owner: str, given: "RiskMeasure | str") -> None:
        """Refuse what is no risk measure, nor the spec of one, for whoever has a field of this type."""
        risks.make(owner, given)

    @abstractmethod
    def cost(self, law: Law) -> float:
        """The exact cost of a law; the measures of this package take its spec too."""

    @abstractmethod
    def weigh(self, values: Array, weights: Array) -> float:
        """The cost of the law that gives each of the ascending values its weight; the weights sum to 1."""

    def estimate(self, mean: float, variance: float, rewards: Array) -> float:
        """The cost of observed rewards, ascending, whose mean and variance (divided by their number) are known."""
        return self.weigh(rewards, np.full(len(rewards), 1.0 / len(rewards)))

    def sample_cost(self, rewards: ArrayLike, weights: ArrayLike | None = None) -> float:
        """The cost of observed rewards, taken as a law that gives each its weight (equal by default)."""
        x, w = check_sample(self.name, rewards, weights)
        order = np.argsort(x, kind="stable")
        return _as_float(self.name, "these rewards", partial(self.weigh, x[order], w[order]))

    def stats_cost(self, mean: ArrayLike, variance: ArrayLike) -> Array:
        """The cost where mean and variance determine it; element by element."""
        if not self.by_moments:
            raise PrudentError(f"{self.name}: mean and variance do not determine this cost; use sample_cost(rewards)")
        estimate: Any = self.estimate
        moments = as_array(self.name, "mean", mean), as_array(self.name, "variance", variance)
        with np.errstate(invalid="ignore"):
            costs: Array = estimate(*moments, np.empty(0))
        if np.isnan(costs).any() and (moments[1] < 0.0).any():
            raise PrudentError(f"{self.name}: variance must be at least 0, got {shown(variance)}")
        return costs

    def always_bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float] | None:
        """Bounds that hold after 1, 2, 3, … rewards, all of them with probability 1 − failure; None if none are known.

        Here they are the `bounds` after n rewards with failure/(n(n + 1)); these shares sum to `failure`.
        """
        bounds = getattr(self, "bounds", None)
        return bounds and bounds(pulls, mean, variance, rewards, failure / (pulls * (pulls + 1)), low, high)

    def interval(self, rewards: ArrayLike, level: float = 0.95, support: Sequence[float] | None = None) -> Interval:
        """An interval that contains the true cost with probability `level` or more, from independent rewards.

        `support` is the interval in which all rewards lie; each measure's docstring says what it assumes.
        """
        level = check_parameter(self.name, "level", level)
        x, _ = check_sample(self.name, rewards, None)
        low, high = (-math.inf, math.inf) if support is None else check_support(self.name, support)
        if x.min() < low or x.max() > high:
            raise PrudentError(f"{self.name}: rewards must lie in the support ({low:g}, {high:g}); widen the support")
        bounds = getattr(self, "bounds", None)
        if bounds is None:
            raise PrudentError(f"{self.name}: no confidence interval is known for this measure")
        return Interval(*map(float, bounds(x.size, x.mean(), x.var(), np.sort(x), 1.0 - level, low, high)))

    def compiled(self) -> Any:
        """The measure as kernels take it."""
        made = tuple_form(self, INTERPRETED)
        type(made).by_moments, type(made).quasiconcave = self.by_moments, self.quasiconcave
        return made

    def __str__(self) -> str:
        """The spec from which the registry builds this measure again."""
        return f"{self.name}({', '.join(f'{f.name}={getattr(self, f.name)}' for f in fields(self))})"  # type: ignore[arg-type]


def _finite(cost: Any) -> Any:
    """A method `cost` whose answer is a finite number, or an error in words."""

    @wraps(cost)
    def checked(self: Any, law: Any) -> float:
        return _as_float(self.name, law, partial(cost, self, law))

    return checked


def _as_float(owner: str, of: object, cost: Callable[[], float]) -> float:
    try:
        with np.errstate(all="ignore"):
            number = float(cost())
    except ArithmeticError:  # divided by what was too small, or too large to be a float
        number = math.inf
    if not math.isfinite(number):
        raise PrudentError(f"{owner}: the cost of {shown(of, str)} is too large or too small; use another unit")
    return number


WANTED = "a risk measure such as MeanVariance(1.0), or its name"
risks: Registry[RiskMeasure] = Registry(
    "risk", "prudent.risks", "prudent.risk", wanted=WANTED, of=RiskMeasure, prepare=named
)


@helper
def total(terms: Array) -> float:
    """Σ terms, added one by one; NumPy's `sum` is not, compiled it is, and last digits decide between equal arms."""
    return np.cumsum(terms)[-1] if len(terms) > 0 else 0.0


def check_sample(owner: str, rewards: ArrayLike, weights: ArrayLike | None) -> tuple[Array, Array]:
    """Rewards and weights as arrays; weights sum to 1."""
    x = as_array(owner, "rewards", rewards).ravel()
    if x.size == 0 or not np.isfinite(x).all():
        raise PrudentError(f"{owner}: rewards must be one or more finite numbers, got {x.size} values")
    w = np.full(x.size, 1.0) if weights is None else as_array(owner, "weights", weights).ravel()
    if w.size != x.size or not np.isfinite(w).all() or w.min() < 0.0 or w.sum() <= 0.0:
        raise PrudentError(f"{owner}: weights must be {x.size} finite numbers ≥ 0, not all 0; give one per reward")
    return x, w / w.sum()
