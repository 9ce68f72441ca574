"""Confidence sequences: intervals that hold at all times at once, so one may look after every reward and stop at will.

`failure` bounds the probability that an interval ever misses, after 1, 2, 3, … rewards. Every function assumes rewards
that are independent draws of one law; those of bounded rewards also that they lie in [low, high]. They read only the
number of rewards, their mean and their variance (divided by the number), numbers or arrays alike; a quantile needs the
rewards.

Two nonnegative supermartingales M with M₀ = 1 do all the work, by Ville's inequality P(some M_n ≥ 1/δ) ≤ δ:

Mean. For ξ ≥ −1 and 0 ≤ λ < 1, exp(λξ + ξ²(λ + log(1−λ))) ≤ 1 + λξ ((4.11) of [Fan15]; the heart of Theorem 4 of
[Howard21], the empirical Bernstein sequence). Put ξ = (X − μ)/b, b = high − low, multiply over the rewards, and average
over λ uniform on (0, 1):

    M_n(μ) = ∫₀¹ exp(λs + v(λ + log(1−λ))) dλ,   s = n(μ̂ − μ)/b,  v = n(V̂ + (μ̂ − μ)²)/b².

The theorem centres its squares at any prediction of the next reward; here the prediction is the candidate μ itself,
which makes v a function of pulls, mean and variance. The integral is an incomplete gamma function, as in Proposition 9
of [Howard21], whose prior has a parameter to tune. [RyuBhatt22] mixes the same bound.

Counts. For Y in [0, 1] of mean p and any q in (0, 1), (q/p)^Y ((1−q)/(1−p))^(1−Y) has mean at most 1, being convex in
Y. Averaged over q ~ Beta(½, ½) this is the mixture of [Krichevsky81], short of its best q by a factor of at most 2√n
(the logarithm of the factor is convex in the sum of the Y, since ψ′(x + ½) < 1/x, and at the ends it is
√π n!/Γ(n + ½) ≤ 2√n). So at all times, with probability 1 − δ,

    n kl(Ȳ, p) ≤ log(2√n/δ),   kl(x, y) = x log(x/y) + (1−x) log((1−x)/(1−y)).

Widths follow √(log n/n). A stitched boundary [Howard21] has the better rate √(log log n/n), with larger constants.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from prudent.base.arrays import Array, as_array
from prudent.base.errors import PrudentError, check_number
from prudent.base.parameters import check_parameter, check_support

LARGEST = 1e140
"""Rewards beyond this have no squares that can be added up."""

MOST = 2**53
"""Beyond this, floats cannot count rewards."""

MEAN_SHARE = 0.2
"""The share of a cost's failure that goes to the interval of the mean, whose width hardly matters for it."""

HALVINGS = 40
"""Of what lies between a point and the end of the support: after them limits are as exact as anybody can want."""

Pair: TypeAlias = tuple[Array, Array]
"""Where something lies: from, to."""


def gains(failure: float) -> Array:
    """The logarithm of the capital that each side of an interval needs, as an array of one."""
    return np.array([math.log(2.0 / check_parameter("confidence", "failure", failure))])


def mean_bounds(
    pulls: ArrayLike, mean: ArrayLike, variance: ArrayLike, failure: float, low: float, high: float
) -> Pair:
    """Where the mean lies: the μ nearest to μ̂, on either side, with M_n(μ) ≥ 2/failure (module docstring).

    M_n is at most the capital ∫ Π(1 + λ(X − μ)/b) dλ, which falls as μ rises: whatever lies beyond an excluded μ is
    excluded with it, though M_n itself need not be monotone. The other side is the same for −X.
    """
    left, right = mean_limits(pulls, mean, variance, gains(failure), (low, high))
    return left[0], right[0]


def mean_above(pulls: int, mean: float, variance: float, limit: float, failure: float, low: float, high: float) -> bool:
    """Whether the mean of one arm lies above `limit`, by a single look at M_n(limit).

    If it does not, this is True at some time with probability at most `failure`: M_n(limit) is at most the capital
    against the limit, which is at most that against the true mean (`mean_bounds`), and Ville's inequality holds for
    that one. It is the capital of one side, so the whole failure serves it, and `mean_bounds` of twice the failure
    leave the limit out as well.
    """
    check_quickly(pulls, failure)
    if not low <= limit <= high:  # no reward lies there
        return limit < low
    distance, spread = np.array((mean - limit) / (high - low)), np.array(variance / (high - low) ** 2)
    return mean > limit and bool(log_capital(np.array(pulls), distance, spread) >= -math.log(failure))


def mean_below(pulls: int, mean: float, variance: float, limit: float, failure: float, low: float, high: float) -> bool:
    """Whether the mean of one arm lies below `limit`, as `mean_above` says it of −X."""
    return mean_above(pulls, -mean, variance, -limit, failure, -high, -low)


def variance_bounds(
    pulls: ArrayLike, mean: ArrayLike, variance: ArrayLike, failure: float, low: float, high: float
) -> Pair:
    """Where the variance (of the distribution) lies."""
    return mean_variance_bounds(pulls, mean, variance, 0.0, failure, low, high)


def mean_variance_bounds(
    pulls: ArrayLike, mean: ArrayLike, variance: ArrayLike, rho: float, failure: float, low: float, high: float
) -> Pair:
    """Where the cost σ² − ρ μ lies (−μ if ρ = ∞)."""
    rho, failure = check_parameter("confidence", "rho", rho), check_parameter("confidence", "failure", failure)
    if np.isinf(rho):
        left, right = mean_bounds(pulls, mean, variance, failure, low, high)
        return -right, -left
    spent = MEAN_SHARE * failure
    least, most = mean_variance_limits(pulls, mean, variance, rho, gains(failure - spent), spent, (low, high))
    return np.minimum(least[0], most[0]), most[0]


def mean_limits(
    pulls: ArrayLike, mean: ArrayLike, variance: ArrayLike, gains: ArrayLike, support: tuple[float, float]
) -> Pair:
    """Limits of the mean from below and from above at each of the gains; an array (gain, arm) each."""
    low, high = support
    n, centre, spread = _statistics(pulls, mean, variance, low, high)
    wanted, length = _by_gain(gains, n), high - low

    def excluded(candidate: Array) -> Any:
        return log_capital(n, np.abs(candidate - centre) / length, spread / length**2) >= wanted

    centre = np.broadcast_to(centre, np.broadcast_shapes(wanted.shape, centre.shape))
    left, right = _edges(excluded, centre, centre, support)
    return left, right


def mean_variance_limits(
    pulls: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    rho: float,
    gains: ArrayLike,
    failure: float,
    support: tuple[float, float],
) -> Pair:
    """Limits of the cost σ² − ρ μ, ρ finite, at each of the gains, if the mean lies within its interval, which it does
    with probability 1 − failure.

    Two ways share the capital, because either may be the sharper one: bets on the cost itself, and bets on the mean and
    on the variance, of which the limits are added up.
    """
    known, wanted = _statistics(pulls, mean, variance, *support), np.asarray(gains, float)
    if rho == 0.0:
        return _from_squares(known, 0.0, wanted, mean_bounds(*known, failure, *support), support)
    sides = mean_limits(*known, np.append(wanted + math.log(4.0), math.log(2.0 / failure)), support)
    (left, right), ends = (side[:-1] for side in sides), (sides[0][-1], sides[1][-1])
    least, most = _from_squares(known, rho, wanted + math.log(2.0), ends, support)
    smallest, largest = _from_squares(known, 0.0, wanted + math.log(4.0), ends, support)
    return np.maximum(least, smallest - rho * right), np.minimum(most, largest - rho * left)


def _from_squares(
    known: tuple[Array, Array, Array], rho: float, gains: Array, ends: Pair, support: tuple[float, float]
) -> Pair:
    """Limits of σ² − ρ μ for a mean within `ends`.

    For a fixed m in there, the function g(x) = (x − m)² − ρx lies between a floor and a top that m decides, and scaled
    by them g(X) obeys the kl inequality. For m = μ it has the mean σ² − ρμ and the average V̂ + (μ̂ − μ)² − ρμ̂. A common
    floor and a common top of all m can only make kl smaller, since to shift and shrink [0, 1] into itself loses
    information. The lower limit takes the least such average, the upper one the largest. And no variance is below 0,
    nor above (μ − low)(high − μ).
    """
    (n, centre, spread), (left, right), (low, high) = known, ends, support
    nearest = np.minimum(right + rho / 2.0, high)
    floor = (nearest - right) ** 2 - rho * nearest  # it falls as m rises
    top = np.max([(end - m) ** 2 - rho * end for m in ends for end in (low, high)], axis=0)
    reach, far = top - floor, np.maximum(right - centre, centre - left)
    least = np.clip((spread - rho * centre - floor) / reach, 0.0, 1.0)
    most = np.clip((spread + far**2 - rho * centre - floor) / reach, 0.0, 1.0)
    rate = (_by_gain(gains, n) + np.log(2.0 * np.sqrt(n))) / n
    least, most = np.broadcast_arrays(least, most, rate)[:2]
    both = np.stack([least, most])
    smallest, largest = floor + reach * _edges(lambda p: kl(both, p) >= rate, least, most, (0.0, 1.0))
    worst = np.clip((low + high - rho) / 2.0, left, right)
    largest = np.minimum(largest, (worst - low) * (high - worst) - rho * worst)
    return np.maximum(smallest, -rho * right), largest


def share_bounds(pulls: ArrayLike, share: ArrayLike, failure: float) -> tuple[Array, Array]:
    """Where a probability lies, from the share of rounds in which something happened: the kl inequality for counts."""
    n, x = np.broadcast_arrays(counts(pulls), as_array("confidence", "share", share))
    if not ((x >= 0.0) & (x <= 1.0)).all():
        raise PrudentError("confidence: share must lie in [0, 1]; it is a number of rounds divided by that of all")
    rate = _rate(n, check_parameter("confidence", "failure", failure))
    low, high = (_edge(lambda p: kl(x, p) >= rate, x, end) for end in (0.0, 1.0))
    return low, high


def quantile_bounds(
    rewards: ArrayLike, quantile: float, failure: float, low: float = -np.inf, high: float = np.inf
) -> tuple[float, float]:
    """Where the quantile lies, from rewards in ascending order of any law; `low` and `high` where there are too few."""
    ordered = as_array("confidence", "rewards", rewards)
    if ordered.ndim != 1 or not (ordered[:-1] <= ordered[1:]).all() or np.isnan(ordered).any():
        raise PrudentError("confidence: rewards must be a list of numbers in ascending order; pass np.sort(rewards)")
    low, high = check_support("confidence", (low, high))
    first, last = quantile_ranks(len(ordered), quantile, failure)
    padded = np.concatenate(([low], ordered, [high]))
    return float(padded[first]), float(padded[last])


def quantile_ranks(pulls: ArrayLike, quantile: float, failure: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ranks, from 1, of the rewards that enclose the quantile; 0 and n + 1 where there is none.

    Let q be a p-quantile: P(X < q) ≤ p ≤ P(X ≤ q). Count the rewards below q and, by a coin that makes the chance p,
    some of those equal to it: a sum of Bernoulli(p), in the range of the kl inequality at all times with probability
    1 − failure. The rewards below q are no more than that, those up to q no fewer. ([Howard22] treats the two counts
    apart; the coin makes no assumption on atoms and costs nothing.)
    """
    hint = "0.5 is the median"
    p = check_number("confidence", "quantile", quantile, low=0.0, high=1.0, open_low=True, open_high=True, hint=hint)
    n = counts(pulls)
    rate = _rate(n, check_parameter("confidence", "failure", failure))
    start = np.full_like(rate, p)
    fewest, most = (_edge(lambda x: kl(x, p) >= rate, start, end) for end in (0.0, 1.0))
    return np.ceil(n * fewest).astype(np.int64), np.floor(n * most).astype(np.int64) + 1


def log_capital(pulls: Array, distance: Array, variance: Array) -> Any:
    """log ∫₀¹ exp(λs + v(λ + log(1−λ))) dλ = log[e^x Γ(v+1) P(v+1, x) / x^(v+1)] with x = s + v."""
    s, v = pulls * distance, pulls * (variance + distance**2)
    x = np.maximum(s + v, 1e-300)  # the limit at 0 is 0
    return x + special.gammaln(v + 1.0) + np.log(special.gammainc(v + 1.0, x)) - (v + 1.0) * np.log(x)


def kl(x: Any, y: Any) -> Any:
    """The divergence of Bernoulli(x) from Bernoulli(y)."""
    return special.rel_entr(x, y) + special.rel_entr(1.0 - x, 1.0 - y)


def _by_gain(gains: ArrayLike, pulls: Array) -> Array:
    """The gains along an axis of their own, before those of the arms."""
    return np.reshape(np.asarray(gains, float), (-1, *(1,) * pulls.ndim))


def _rate(pulls: Array, failure: float) -> Array:
    """What kl may reach at all times."""
    return np.asarray(np.log(2.0 * np.sqrt(pulls) / failure) / pulls)


def _edges(excluded: Callable[[Array], Any], left: Array, right: Array, ends: tuple[float, float]) -> Array:
    """The edges from `left` down and from `right` up, both at once, which takes little longer than one."""
    near = np.stack([left, right])
    return _edge(excluded, near, np.reshape(ends, (2, *(1,) * left.ndim)))


def _edge(excluded: Callable[[Array], Any], near: Array, far: ArrayLike) -> Array:
    """An excluded point between `near`, which is not, and `far`, as near as it may be; `far` if none is found."""
    inside, outside = near, np.full_like(near, far)
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        out = excluded(middle)
        inside, outside = np.where(out, inside, middle), np.where(out, middle, outside)
    return outside


def _statistics(
    pulls: ArrayLike, mean: ArrayLike, variance: ArrayLike, low: float, high: float
) -> tuple[Array, Array, Array]:
    """The statistics as arrays of one shape, the mean between low and high in spite of rounding."""
    low, high = checked_ends(low, high)
    given = counts(pulls), as_array("confidence", "mean", mean), as_array("confidence", "variance", variance)
    try:
        n, centre, spread = np.broadcast_arrays(*given)
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in given)
        raise PrudentError(f"confidence: pulls, mean and variance must fit together, got the shapes {shapes}") from None
    slack = 1e-9 * (high - low) + 1e-12 * max(abs(low), abs(high))  # rewards far from 0 have lost digits
    if not ((centre >= low - slack) & (centre <= high + slack)).all():
        raise PrudentError(f"confidence: mean must lie in [{low:g}, {high:g}]; widen low and high to hold every reward")
    most = (centre - low) * (high - centre) + slack * (high - low)
    if not ((spread >= 0.0) & (spread <= most)).all():
        allowed = "lie between 0 and (mean − low)(high − mean), or some reward left [low, high]"
        fix = "is it divided by the number of rewards, and not the standard deviation?"
        raise PrudentError(f"confidence: variance must {allowed}; {fix}")
    return n, np.clip(centre, low, high), spread


def checked_ends(low: float, high: float) -> tuple[float, float]:
    """Where rewards lie, for intervals that need to know."""
    low, high = check_support("confidence", (low, high))
    if not max(abs(low), abs(high)) <= LARGEST:
        allowed = f"finite, and at most {LARGEST:g} in size"
        raise PrudentError(f"confidence: low and high must be {allowed}, got ({low}, {high}); quantiles need no bounds")
    return low, high


def counts(pulls: ArrayLike) -> Array:
    """How many rewards arms have, at least one."""
    n = as_array("confidence", "pulls", pulls)
    if not ((n >= 1.0) & (n <= MOST)).all():
        allowed = f"at least 1 and at most {MOST:,}"
        raise PrudentError(f"confidence: pulls must be {allowed}; nothing is known of an arm without rewards")
    return n


def check_quickly(pulls: int, failure: float) -> None:
    """As `counts` and `checked_ends`, but at once if all is well, because limits are asked about at every reward."""
    if not (pulls >= 1 and 0.0 < failure < 1.0):
        counts(pulls)
        check_parameter("confidence", "failure", failure)
