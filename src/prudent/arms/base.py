"""What every reward law knows, and how laws become numbers for kernels. Rewards: larger is better."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property, partial, wraps
from typing import Any, ClassVar

import numpy as np

from prudent.arms import quadrature, quantile_tables, sampling
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, as_float, check_integer, check_number, shown
from prudent.base.parameters import check_parameter, in_other_unit
from prudent.base.registry import Registry, named

MOST_AVERSE = 1e100
"""The largest λ whose product with rewards, squared, is a number."""

MAX_MOMENT = 1e70
"""The size of the largest mean and standard deviation: variances have squares then, and sums of those."""


_MAX_REWARDS = 10**10
"""Rewards drawn at once at most, 80 GB of them."""


def take_arrays(cls: type) -> None:
    """Have methods of one number that a class defines take arrays too, number by number."""
    for name in ("quantile", "cdf", "partial_mean", "lower_tail_mean", "upper_tail_mean"):
        if name in vars(cls):
            setattr(cls, name, _elementwise(vars(cls)[name]))


def _elementwise(function: Callable[[Any, Any], float]) -> Callable[..., Any]:
    @wraps(function)
    def of(self: object, *args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        if len(given) != 1 or not isinstance(given[0], (list, tuple, np.ndarray)):
            return function(self, *args, **kwargs)
        try:
            numbers = np.asarray(given[0])
        except ValueError:  # rows of different lengths
            return function(self, *args, **kwargs)
        found = [function(self, each) for each in numbers.ravel().tolist()]
        return np.reshape(np.array(found, float), numbers.shape)[()]

    return of


class Law(ABC):
    """A distribution of rewards. `mean`, `variance` and `support` are computed when it is made.

    `quantile`, `cdf`, `partial_mean` and the tail means take arrays as well.

    Examples
    --------
    >>> from prudent import Gaussian
    >>> law = Gaussian(mean=1.0, variance=0.25)
    >>> round(law.quantile(0.05), 3), round(law.lower_tail_mean(0.05), 3)
    (0.178, -0.031)
    """

    name: ClassVar[str]
    kind: ClassVar[int] = sampling.TABLED
    mean: float
    variance: float
    support: tuple[float, float]
    draw: Callable[[np.random.Generator], float]
    """One reward, for a law of the kind OWN."""

    has_quantiles: ClassVar[bool] = True
    """Whether more is known of the law than draws, mean and variance."""

    grows: ClassVar[Mapping[str, int] | None] = None
    """By which power of the unit of rewards each parameter grows; None if the kind is bound to its unit."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        take_arrays(cls)

    @abstractmethod
    def quantile(self, alpha: float) -> float:
        """The smallest x with P(X ≤ x) ≥ α, for α in (0, 1]; the value at risk of the rewards."""

    def cdf(self, x: float) -> float:
        """P(X ≤ x); by search in the quantiles, unless a law knows better."""
        return float(self.masses(np.array([self._reward(x)]))[0][0])

    def partial_mean(self, x: float) -> float:
        """E[X; X ≤ x], the part of the mean that comes from rewards up to x; by quadrature, unless a law knows it."""
        x = self._reward(x)
        return self.expectation(lambda y: np.where(y <= x, y, 0.0), "mean")

    def parameters(self) -> Sequence[float] | Array:
        """The numbers the sampling kernel of this kind expects: a table of the quantiles for a law that has no kind of
        its own; the fields for others, unless a law says otherwise."""
        return self._table if self.kind == sampling.TABLED else self._fields()

    @cached_property
    def _table(self) -> Array:
        if (atoms := self.atoms()) is not None:
            return quantile_tables.of_values(*atoms)
        return quantile_tables.of_quantiles(str(self), self.tail, self.support)

    def parts(self) -> tuple["Law", ...]:
        """The laws a reward may come from, for a mixture."""
        return ()

    def times(self, factor: float) -> "Law | None":
        """The law of rewards times a factor above 0; None where this kind has no such law."""
        other: Law | None = in_other_unit(self, factor)
        return other

    def lower_tail_mean(self, alpha: float) -> float:
        """Mean of the worst α-fraction of rewards, (1/α)∫₀^α q(u) du; an atom at the quantile counts by its share."""
        q, alpha = self.quantile(alpha), self._level(alpha)
        if alpha == 1.0:
            return self.mean
        part, level = self.partial_mean(q), self.cdf(q)
        # Without an atom at q the level is α but for rounding, and a tail far smaller than q keeps its digits.
        return q + (part - q * level) / alpha if level > alpha * (1.0 + 1e-9) else (part + q * (alpha - level)) / alpha

    def upper_tail_mean(self, alpha: float) -> float:
        """Mean of the best α-fraction of rewards; a law of one's own loses digits here as α nears 0."""
        if (atoms := self.atoms()) is not None:
            values, weights = atoms[0][::-1], atoms[1][::-1]
            shares = np.clip(self._level(alpha) - (np.cumsum(weights) - weights), 0.0, weights)
            return float(shares @ values / shares.sum())
        if (worse := 1.0 - self._level(alpha)) == 0.0:
            return self.mean
        return (self.mean - worse * self.lower_tail_mean(worse)) / alpha

    def atoms(self) -> tuple[Array, Array] | None:
        """The values of a law on finitely many, ascending, and their probabilities; None for other laws."""
        return None

    # What integrals over a law ask for. A law of one's own need not write these four.

    reach: tuple[float, float] = (300.0, 34.0)
    """The largest s for which quantiles at e^−s, and at 1 − e^−s, are known to most of their digits."""

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        """The quantiles at levels up to ½, or at 1 minus these; a law keeps digits that 1 minus a level has not."""
        return np.array([self.quantile(float(u)) for u in (1.0 - levels if upper else levels)])

    def masses(self, x: Array) -> tuple[Array, Array]:
        """P(X ≤ x) and P(X > x), each to all its digits if the law can."""
        if (atoms := self.atoms()) is not None:
            place, sums = np.searchsorted(atoms[0], x, side="right"), np.cumsum(atoms[1])
            below, above = np.append(0.0, sums), np.append(np.cumsum(atoms[1][::-1])[::-1], 0.0)
            return np.minimum(below[place], 1.0), np.minimum(above[place], 1.0)
        if type(self).cdf is Law.cdf:
            return quantile_tables.search(self.tail, self.support, x)
        below = np.array([self.cdf(float(value)) for value in x])
        return below, 1.0 - below

    def panels(self, *, upper: bool = False) -> Array:
        """The s, ascending from log 2, between which the quantiles at e^−s, or at 1 − e^−s, are smooth."""
        return quadrature.levels(self.reach[upper])

    def edges(self) -> Array:
        """Points, ascending, that hold all rewards but the rarest, cdf smooth between them."""
        if (atoms := self.atoms()) is not None:
            return atoms[0]
        ends = [end for end in self.support if math.isfinite(end)]
        tails = [self.tail(np.exp(-self.panels(upper=upper)), upper=upper) for upper in (False, True)]
        return np.unique(np.concatenate([ends, *tails]))

    def expectation(self, function: Callable[[Array], Array], moment: str = "expectation of this function") -> float:
        """E function(X), for a function of arrays; an infinite one is an error that names the `moment`."""
        if not callable(function):
            raise PrudentError(f"{self.name}: function must be a function of arrays, got {shown(function)}")
        if (atoms := self.atoms()) is not None:
            there = atoms[1] > 0.0
            return self._sum(atoms[1][there] * function(atoms[0][there]), [], moment)
        terms, tails = [], []
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for upper in (False, True):
                density, edges = partial(self._density, function, upper), self.panels(upper=upper)
                terms.append(quadrature.integrals(density, edges))
                tails.append(quadrature.beyond(density, float(edges[-1])))
        return self._sum(np.concatenate(terms), tails, moment)

    def log_laplace(self, lam: float) -> float:
        """log E e^(−λX), for λ > 0; an infinite one is an error."""
        lam = self._aversion(lam)
        moment, start = f"exponential moment at −{lam:g}", self.quantile(0.5)
        if (atoms := self.atoms()) is not None:
            return log_mean_exp(-lam * atoms[0], atoms[1])
        if lam * (self.quantile(0.99) - self.quantile(0.01)) < 1.0:
            return math.log1p(self.expectation(lambda x: np.expm1(-lam * (x - start)), moment)) - lam * start
        # Rewards are counted from those that matter most, so that e^(−λX) stays within floats.
        s = self.panels()
        top = float((-lam * self.tail(np.exp(-s)) - s).max())
        return math.log(self.expectation(lambda x: np.exp(-lam * x - top), moment)) + top

    def _density(self, function: Callable[[Array], Array], upper: bool, s: Array) -> Array:
        """What the level e^−s, or 1 − e^−s, adds to E function(X)."""
        x = self.tail(np.exp(-s), upper=upper)
        values = function(x)
        if np.isnan(values).any():
            where = np.isnan(x).any()
            bad = (
                f"quantile({math.exp(-s[np.isnan(x)][0]):.3g})" if where else f"function at {x[np.isnan(values)][0]:g}"
            )
            raise PrudentError(f"{self}: its {bad} is not a number; it must be one at every level and reward")
        return values * np.exp(-s)

    def _sum(self, terms: Array, tails: list[quadrature.Tail], moment: str) -> float:
        """The sum of all, unless it is infinite or unknown."""
        size = float(np.abs(terms).sum()) + sum(abs(tail.rest) for tail in tails)
        if not math.isfinite(size):
            raise PrudentError(f"{self}: its {moment} is infinite; take a risk measure that needs less, such as var")
        if sum(tail.doubt for tail in tails) > quadrature.DOUBT * size:
            why = "rests on rewards too rare for floats"
            raise PrudentError(f"{self}: its {moment} {why}; take a risk measure that needs less, such as var")
        return math.fsum([*terms, *(tail.rest for tail in tails)])

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """`size` independent rewards."""
        if not isinstance(rng, np.random.Generator):
            raise PrudentError(f"sample: rng must be np.random.default_rng(seed), got {shown(rng)}")
        size = check_integer("sample", "size", size, low=0, high=_MAX_REWARDS)
        rewards = np.empty(size)
        sampling.draw_many(encode([self]), 0, rewards, rng)
        return rewards

    def __str__(self) -> str:
        """The spec from which the registry builds this law again."""
        return f"{self.name}({', '.join(map(str, self._fields()))})"

    def _fields(self) -> tuple[float, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def _settle(self, **values: Any) -> None:
        mean, variance = values.get("mean", 0.0), values.get("variance", 0.0)
        if not (abs(mean) <= MAX_MOMENT and variance <= MAX_MOMENT * MAX_MOMENT):
            why = "its mean or variance is too large for floats"
            raise PrudentError(f"{self.name}: {why}; measure rewards in larger units")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _level(self, alpha: float) -> float:
        return check_parameter(self.name, "alpha", alpha)

    def _aversion(self, lam: float) -> float:
        check_parameter(self.name, "lam", lam)
        return check_number(self.name, "lam", lam, low=0.0, high=MOST_AVERSE, hint="measure rewards in smaller units")

    def _reward(self, x: float) -> float:
        """A point at which the law is asked for its distribution; it may be infinite."""
        if math.isnan(number := as_float(self.name, "x", x)):
            raise PrudentError(f"{self.name}: x must be a number, got nan")
        return number


take_arrays(Law)

arms: Registry[Law] = Registry(
    "arm", "prudent.arms", "prudent.arms", wanted="a law such as Gaussian(1.0, 0.05)", of=Law, prepare=named
)


def log_mean_exp(values: Array, weights: Array) -> float:
    """log Σ weights e^values, for weights that sum to 1: exact for tiny values as for large ones."""
    top = float(values[weights > 0.0].max())
    with np.errstate(over="ignore", invalid="ignore"):
        shift = np.where(weights > 0.0, values - top, 0.0)
    below = math.fsum(weights * np.expm1(shift))
    return top + (math.log1p(below) if below > -0.5 else math.log(math.fsum(weights * np.exp(shift))))


def reached(level: Array | float, alpha: float) -> Any:
    """Whether a distribution function reaches α, up to the rounding of sums of weights and of 1 minus them."""
    return level >= alpha - min(4e-16, 1e-12 * alpha)


def encode(laws: Sequence[Law]) -> sampling.Laws:
    """The laws as the table of numbers kernels read; a mixture's components queue up behind the arms."""
    queue = list(laws)
    tables: list[Sequence[float] | Array] = []
    for law in queue:
        head = [float(len(parts)), float(len(queue))] if (parts := law.parts()) else []
        queue += parts
        tables.append([*head, *law.parameters()] if parts else law.parameters())
    start = np.cumsum([0, *map(len, tables)])[:-1]
    draws = tuple(dict.fromkeys(law.draw for law in queue if law.kind == sampling.OWN))
    kind = np.array(
        [law.kind + (draws.index(law.draw) if law.kind == sampling.OWN else 0) for law in queue], dtype=np.int64
    )
    form = sampling.GaussianLaws if (kind == sampling.GAUSSIAN).all() else sampling.Laws
    form = sampling.own_laws(draws) if draws else form
    return form(kind, start.astype(np.int64), np.concatenate(tables, dtype=float))
