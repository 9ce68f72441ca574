"""Arms from what people bring: a quantile function, a draw, a distribution of scipy.stats."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from prudent.arms import sampling
from prudent.arms.base import Law, arms
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, as_float, check_finite, shown
from prudent.compile.cache import code_digest

_UNBOUNDED = (-math.inf, math.inf)

MOST_VALUES = 100_000
"""Values of a discrete distribution at most."""


class Integrated(Law):
    """A law whose mean and variance are integrals of its quantiles, computed when they are asked for."""

    @cached_property
    def mean(self) -> float:  # type: ignore[override]
        middle = float(self.tail(np.array([0.5]))[0])
        return middle + self.expectation(lambda x: x - middle, "mean")

    @cached_property
    def variance(self) -> float:  # type: ignore[override]
        mean = self.mean
        return self.expectation(lambda x: (x - mean) ** 2, "variance")


@dataclass(frozen=True)
class FromQuantile(Integrated):
    """The law of a quantile function, given for arrays of levels in (0, 1).

    Parameters
    ----------
    function
        The quantiles at an array of levels.
    upper
        The quantiles at 1 − levels. Give it for a law with a long tail above: it keeps digits that 1 − level has not.
    support
        The interval that holds all rewards.
    draw
        `draw(rng)` returns one reward, from methods of a NumPy Generator; kernels compile it, so it must be plain
        Python on numbers. Without it rewards are drawn from a table of the quantiles (prudent.arms.quantile_tables).

    Examples
    --------
    >>> import numpy as np
    >>> from prudent import FromQuantile
    >>> waiting = FromQuantile(lambda u: -np.log1p(-u), upper=lambda u: -np.log(u), support=(0.0, np.inf))
    >>> round(waiting.mean, 9), round(waiting.variance, 9), round(waiting.lower_tail_mean(0.5), 6)
    (1.0, 1.0, 0.306853)
    """

    function: Callable[[Array], Array]
    upper: Callable[[Array], Array] | None = None
    support: tuple[float, float] = _UNBOUNDED
    draw: Callable[[np.random.Generator], float] | None = None  # type: ignore[assignment]

    name = "from-quantile"

    def __post_init__(self) -> None:
        _check_callable(self.name, "function", self.function, "of arrays of levels")
        for what, given in (("upper", self.upper), ("draw", self.draw)):
            if given is not None:
                _check_callable(self.name, what, given, "of arrays of levels" if what == "upper" else "of rng")
        self._settle(
            support=_ends(self.name, self.support),
            reach=(700.0, 34.0 if self.upper is None else 700.0),
            kind=sampling.TABLED if self.draw is None else sampling.OWN,
        )
        levels = np.array([1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.5])
        found = np.concatenate([self.tail(levels), self.tail(levels[-2::-1], upper=True)])
        if not ((np.diff(found) >= 0.0).all() and np.isfinite(found).all()):
            seen = ", ".join(f"{value:.4g}" for value in found)
            raise PrudentError(
                f"{self.name}: function must give finite numbers that never fall as levels rise, got {seen}"
            )

    def quantile(self, alpha: float) -> float:
        alpha = self._level(alpha)
        if alpha == 1.0:
            return self.support[1]
        upper = alpha > 0.5 and self.upper is not None
        return float(self.tail(np.array([1.0 - alpha if upper else alpha]), upper=upper)[0])

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        if upper and self.upper is not None:
            return self._values("upper", self.upper, levels)
        return self._values("function", self.function, 1.0 - levels if upper else levels)

    def _values(self, what: str, function: Callable[[Array], Array], levels: Array) -> Array:
        with np.errstate(all="ignore"):
            found = function(levels)
        if np.shape(found) != np.shape(levels):
            wanted = f"an array as long as the {len(levels)} levels that it is given"
            raise PrudentError(f"{self.name}: {what} must return {wanted}, got {shown(found)}; write it for arrays")
        values: Array = np.clip(np.asarray(found, float), *self.support)
        return values

    def parameters(self) -> Sequence[float] | Array:
        return self._table if self.draw is None else ()

    def __str__(self) -> str:
        code = code_digest(self.function, self.upper, self.draw)
        return f"{self.name}({code}, {self.support[0]:g}, {self.support[1]:g})"


@dataclass(frozen=True)
class FromDraw(Law):
    """A law of which only a draw, the mean and the variance are known: enough for mean-variance, the mean and the
    variance, and for nothing that asks for quantiles.

    `draw(rng)` returns one reward, from methods of a NumPy Generator; kernels compile it, so it must be plain Python on
    numbers. Whether it has that mean and variance, `prudent.testing.check_arm` tells.

    Examples
    --------
    >>> import numpy as np
    >>> from prudent import FromDraw
    >>> def larger_of_two(rng):
    ...     return max(rng.random(), rng.random())
    >>> law = FromDraw(larger_of_two, mean=2 / 3, variance=1 / 18, support=(0.0, 1.0))
    >>> bool(abs(law.sample(np.random.default_rng(1), 10_000).mean() - law.mean) < 0.01)
    True
    """

    draw: Callable[[np.random.Generator], float]
    mean: float
    variance: float
    support: tuple[float, float] = _UNBOUNDED

    name = "from-draw"
    kind = sampling.OWN
    has_quantiles = False

    def __post_init__(self) -> None:
        _check_callable(self.name, "draw", self.draw, "of rng")
        mean = check_finite(self.name, "mean", self.mean)
        variance = check_finite(self.name, "variance", self.variance, low=0.0, hint="pass σ², not σ")
        self._settle(mean=mean, variance=variance, support=_ends(self.name, self.support))

    def quantile(self, alpha: float) -> float:
        raise PrudentError(
            f"{self.name}: this needs quantiles, and of this law only mean and variance are known; give its quantile"
            " function, as FromQuantile(function, draw=draw), or take mean-variance"
        )

    def parameters(self) -> tuple[float, ...]:
        return ()

    def __str__(self) -> str:
        return f"{self.name}({code_digest(self.draw)}, {self.mean}, {self.variance})"


@dataclass(frozen=True, init=False)
class FromScipy(Integrated):
    """A distribution of scipy.stats: `FromScipy(scipy.stats.lognorm(0.5))`, or by its name, shapes, loc and scale.

    Examples
    --------
    >>> from scipy import stats
    >>> from prudent import FromScipy
    >>> law = FromScipy(stats.weibull_min(2.0, scale=3.0))
    >>> print(law, round(law.mean, 6))
    from-scipy('weibull_min', [2.0], 0.0, 3.0) 2.658681
    """

    distribution: str
    shapes: tuple[float, ...]
    loc: float
    scale: float

    name = "from-scipy"
    _frozen: ClassVar[Any]
    _discrete: ClassVar[bool]

    def __init__(
        self, distribution: Any, shapes: list[float] | tuple[float, ...] = (), loc: float = 0.0, scale: float = 1.0
    ) -> None:
        from scipy import stats  # slow to import, and few need it

        generic = getattr(stats, distribution.replace("-", "_"), None) if isinstance(distribution, str) else None
        if generic is None and not hasattr(distribution, "dist"):
            wanted = "a frozen distribution, as scipy.stats.lognorm(0.5), or the name of one"
            raise PrudentError(f"{self.name}: distribution must be {wanted}, got {shown(distribution)}")
        try:
            given, where, size = (
                distribution.dist._parse_args(*distribution.args, **distribution.kwds)
                if generic is None
                else (tuple(shapes), loc, scale)
            )
            numbers = [as_float(self.name, "shapes", value) for value in given]
            where, size = as_float(self.name, "loc", where), as_float(self.name, "scale", size)
            generic = distribution.dist if generic is None else generic
            discrete = hasattr(generic, "pmf")
            frozen = generic(*numbers, loc=where) if discrete else generic(*numbers, loc=where, scale=size)
            low, high = (float(end) for end in frozen.support())
        except (TypeError, ValueError, AttributeError) as error:
            raise PrudentError(f"{self.name}: {shown(distribution)} does not take these parameters: {error}") from None
        if math.isnan(low) or math.isnan(high):
            raise PrudentError(
                f"{self.name}: {generic.name} has no law with shapes {numbers}, loc {where:g} and scale {size:g}"
            )
        self._settle(distribution=generic.name, shapes=tuple(numbers), loc=where, scale=size)
        self._settle(support=(low, high), reach=(300.0, 300.0), _frozen=frozen, _discrete=discrete)

    def times(self, factor: float) -> "FromScipy | None":
        return (
            None
            if self._discrete
            else FromScipy(self.distribution, self.shapes, self.loc * factor, self.scale * factor)
        )

    def quantile(self, alpha: float) -> float:
        return float(self._frozen.ppf(self._level(alpha)))

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        found: Array = self._frozen.isf(levels) if upper else self._frozen.ppf(levels)
        return found

    def masses(self, x: Array) -> tuple[Array, Array]:
        return self._frozen.cdf(x), self._frozen.sf(x)

    def atoms(self) -> tuple[Array, Array] | None:
        return self._atoms if self._discrete else None

    @cached_property
    def _atoms(self) -> tuple[Array, Array]:
        """All values but those too rare for floats, around the median."""
        middle, reach = float(self._frozen.ppf(0.5)), 64
        while reach < MOST_VALUES and self._outside(middle, reach) > 1e-60:
            reach *= 2
        if self._outside(middle, reach) > 1e-15:
            why = f"{self.distribution} has more than {MOST_VALUES:,} values"
            raise PrudentError(f"{self.name}: {why}; take a smaller scale, or a distribution with a density")
        low, high = max(self.support[0], middle - reach), min(self.support[1], middle + reach)
        values = np.arange(low, high + 0.5)
        weights = self._frozen.pmf(values)
        return values[weights > 0.0], weights[weights > 0.0]

    def _outside(self, middle: float, reach: int) -> float:
        """The probability of values further than this from the middle."""
        return float(self._frozen.cdf(middle - reach) + self._frozen.sf(middle + reach))

    def __str__(self) -> str:
        return f"{self.name}({self.distribution!r}, {list(self.shapes)}, {self.loc}, {self.scale})"


arms.add("from-scipy", example="from-scipy(weibull_min, [2.0], 0, 3)")(FromScipy)


def _check_callable(owner: str, name: str, given: object, what: str) -> None:
    if not callable(given):
        raise PrudentError(f"{owner}: {name} must be a function {what}, got {shown(given)}")


def _ends(owner: str, support: object) -> tuple[float, float]:
    """The support as two floats, the lower end first."""
    if not isinstance(support, (tuple, list)) or len(support) != 2:
        raise PrudentError(f"{owner}: support must be a pair (low, high), got {shown(support)}")
    low, high = (as_float(owner, "support", end) for end in support)
    if not low < high:
        raise PrudentError(f"{owner}: support must be a pair (low, high) with low below high, got {shown(support)}")
    return low, high
