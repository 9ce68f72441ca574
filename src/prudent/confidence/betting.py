"""Confidence sequences of mean, variance and σ² − ρ μ of bounded rewards, by betting against candidates.

They hold at all times at once like those of `anytime`, and are much narrower. In exchange they need a ledger of some
hundred numbers, kept up to date with `include` reward by reward; `anytime` reads only pulls, mean and variance. Rewards
are independent draws of one distribution on [low, high]. Below they are scaled to [0, 1].

One fair bet [WaudbySmith24]. Let Y in [0, 1] have the mean m_t given the past, and κ > 0. Then (1 + κY)/(1 + κm_t) is
nonnegative with mean 1, so the product over the rewards is the capital of a gambler who plays fair games: a martingale
that starts at 1. So is an average of such products with weights w_j that sum to 1, and by Ville's inequality it ever
reaches 1/δ with probability at most δ. As log is concave, Σ log(1 + κm_t) ≤ n log(1 + κm̄) with m̄ the average of the
m_t. Hence at all times, with probability 1 − δ,

    W_n(m̄) < 1/δ,   W_n(m) = Σ_j w_j exp(G_j − n log(1 + κ_j m)),   G_j = Σ_t log(1 + κ_j Y_t).

W_n falls as m rises, so this bounds m̄ from below. The G_j are all that must be kept, since the candidate m is separate
from the rewards. [WaudbySmith24] adapts a single bet to the rewards; a mixture of constant bets is Cover's universal
portfolio, studied for this in [Orabona24]. Widths are about the same, and the mixture's are smaller where the variance
is (`python docs/widths.py`). Bets are κ = e^θ − 1 with θ = 2⁻¹² … 2⁴, because θ is the logarithm of an odds ratio.
Weights follow the half-Cauchy density, which is flat for small bets and still gives large ones their share. A finer
grid gains nothing.

Mean. Y = X bounds it from below, and Y = 1 − X from above.

Cost. g(X) = (X − c)² − ρX with any c made before the reward has the mean σ² − ρμ + (μ − c)² given the past.

From above, nothing need be known of μ: the mean of g is at least the cost, so Y = (h − g)/(h + ρ) has one of at most
(h − σ² + ρμ)/(h + ρ), where h is the largest cost possible, and −ρ the least. Y may be negative, but 1 + κY may not,
so c is moved from the running mean c_t = (½ + X_1 + … + X_{t−1})/t just as far as the bet needs.

From below, with c = c_t and f_t the least value of g, Y_t = (g − f_t)/(1 + ρ) has means of which the average is
(σ² − ρμ + s(μ) − f̄)/(1 + ρ), s(μ) the average of the (μ − c_t)². That is at most what s is at one end of an interval
of the mean, which takes `MEAN_SHARE` of the failure. s is of the order of 1/n and does not matter in the long run.

Also, no variance exceeds μ(1 − μ), and none is below 0. With ρ = 0 the cost is the variance.

Every limit is one *at a gain* s: beyond it, the logarithm of the capital is s or more. Capital of different arms may be
multiplied, however the arms were chosen, so that gains add up (`prudent.live.differences`).
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prudent.base.arrays import Array, as_array
from prudent.base.errors import PrudentError, shown
from prudent.base.parameters import check_parameter
from prudent.confidence import anytime
from prudent.confidence.anytime import MEAN_SHARE, Pair, checked_ends, counts

THETA = 2.0 ** np.arange(-12.0, 5.0)
LOG_WEIGHTS = np.log(THETA / (1.0 + THETA**2) / (THETA / (1.0 + THETA**2)).sum())
"""Of the half-Cauchy density on a geometric grid."""

KAPPA = np.expm1(THETA)
"""All bets that are made, on each outcome."""

BETS = len(KAPPA)

SIZES = {False: 4 * BETS + 2, True: 6 * BETS + 3}
"""How many numbers a ledger has, without and with a ρ of its own: G_j for X, for 1 − X, for the variance from below and
from above, and for the cost; then Σ c_t, Σ c_t², and Σ f_t of the cost."""

LEVELS = np.sin(0.5 * np.pi * np.arange(1, 129) / 129) ** 2
"""At so many levels the quantiles are bounded for a band around a distribution. They lie as dense as quantiles are
known: closest at both ends, where few rewards lie beyond."""

STEPS, PRECISE = 8, 1e-12
"""Newton's method stops after so many steps, or once a step is so short. Each leads to a limit that holds."""


def no_bets(rho: float = 0.0) -> Array:
    """The ledger before the first reward, for the cost σ² − ρ μ; mean and variance are in every ledger."""
    return np.zeros(SIZES[_own(rho)])


def include(ledger: Array, pulls: int, mean: float, reward: float, low: float, high: float, rho: float = 0.0) -> None:
    """Enter a reward, in place; `pulls` and `mean` are those before it."""
    x, before = (min(max((value - low) / (high - low), 0.0), 1.0) for value in (reward, mean))  # in spite of rounding
    ledger += _entry(x, (0.5 + pulls * before) / (pulls + 1.0), rho / (high - low) if _own(rho) else 0.0)


def entered(rewards: Array, counts: Array, low: float, high: float, rho: float = 0.0) -> Array:
    """The ledgers after the first so many rewards, a row for each of the ascending counts."""
    x = scaled(rewards[: counts[-1]], low, high)
    centre = (0.5 + np.append(0.0, np.cumsum(x)[:-1])) / np.arange(1.0, len(x) + 1.0)
    entries = _entry(x[:, None], centre[:, None], rho / (high - low) if _own(rho) else 0.0)
    sums: Array = np.cumsum(np.add.reduceat(entries, np.append(0, counts[:-1])), axis=0)
    return sums


def of_two_values(ones: ArrayLike, counts: ArrayLike) -> Array:
    """The ledgers of so many rewards of which so many are `high` and the others `low`, as far as the mean needs them:
    no reward need have been seen by itself."""
    heads, pulls = np.broadcast_arrays(np.asarray(ones, float), np.asarray(counts, float))
    ledgers = np.zeros((*heads.shape, SIZES[False]))
    ledgers[..., :BETS], ledgers[..., BETS : 2 * BETS] = heads[..., None] * THETA, (pulls - heads)[..., None] * THETA
    return ledgers


def _entry(x: Any, centre: Any, tolerance: float) -> Array:
    """What a reward adds to a ledger; of several, which stand in a column, a row for each."""
    places = (4 if tolerance == 0.0 else 6) * BETS
    entry = np.empty((*np.shape(x)[:-1], SIZES[tolerance > 0.0]))
    outcomes = entry[..., :places].reshape(*np.shape(x)[:-1], -1, BETS)  # a view
    square = (x - centre) ** 2
    outcomes[..., 0, :], outcomes[..., 1, :] = x, 1.0 - x
    outcomes[..., 2, :], outcomes[..., 3, :] = square, _from_above(x, centre, 0.0)
    sums = [centre, centre * centre]
    if tolerance > 0.0:
        nearest = np.minimum(centre + tolerance / 2.0, 1.0)
        sums.append((nearest - centre) ** 2 - tolerance * nearest)
        outcomes[..., 4, :] = (square - tolerance * x - sums[2]) / (1.0 + tolerance)
        outcomes[..., 5, :] = _from_above(x, centre, tolerance)
    outcomes *= KAPPA
    np.log1p(np.maximum(outcomes, -1.0 + 1e-9, out=outcomes), out=outcomes)  # in spite of rounding
    for place, each in enumerate(sums, places):
        entry[..., place : place + 1] = each
    return entry


def _from_above(x: Any, centre: Any, tolerance: float) -> Array:
    """The outcome, for each bet, that bounds a cost from above; its centre is moved lest the bet lose more than all."""
    largest = largest_cost(tolerance)
    leftmost, rightmost = _centres(tolerance)
    moved = np.minimum(np.maximum(centre, leftmost), rightmost)
    outcome: Array = (largest + tolerance * x - (x - moved) ** 2) / (largest + tolerance)
    return outcome


@lru_cache(maxsize=64)
def _centres(tolerance: float) -> Pair:
    """Between which centres each bet from above cannot lose more than all: (x − c)² − ρx may be so large at most."""
    largest = largest_cost(tolerance)
    allowed = largest + (largest + tolerance) / KAPPA
    return 1.0 - np.sqrt(allowed + tolerance), np.sqrt(allowed)


def largest_cost(tolerance: float) -> float:
    """Of rewards in [0, 1]: that of a coin with the success rate (1 − ρ)/2, if that is one."""
    return max((1.0 - tolerance) / 2.0, 0.0) ** 2


def mean_bounds(ledger: ArrayLike, pulls: ArrayLike, failure: float, low: float, high: float) -> tuple[Array, Array]:
    """Where the mean lies. Several ledgers are the rows of an array, each with its pulls."""
    return _one(mean_limits(ledger, pulls, anytime.gains(failure), (low, high)))


def variance_bounds(
    ledger: ArrayLike, pulls: ArrayLike, failure: float, low: float, high: float
) -> tuple[Array, Array]:
    """Where the variance (of the distribution) lies."""
    return mean_variance_bounds(ledger, pulls, 0.0, failure, low, high)


def mean_variance_bounds(
    ledger: ArrayLike, pulls: ArrayLike, rho: float, failure: float, low: float, high: float
) -> tuple[Array, Array]:
    """Where the cost σ² − ρ μ lies (−μ if ρ = ∞), for the ρ of the ledger or 0."""
    rho, failure = check_parameter("confidence", "rho", rho), check_parameter("confidence", "failure", failure)
    if math.isinf(rho):
        left, right = mean_bounds(ledger, pulls, failure, low, high)
        return -right, -left
    spent = MEAN_SHARE * failure
    least, most = _one(mean_variance_limits(ledger, pulls, rho, anytime.gains(failure - spent), spent, (low, high)))
    return np.minimum(least, most), most


def mean_above(ledger: Array, pulls: int, limit: float, failure: float, low: float, high: float) -> bool:
    """Whether the mean of one arm lies above `limit`, by a single look at its bets.

    If it does not, this is True at some time with probability at most `failure`. That is Ville's inequality for the
    bets on X alone: they gain no more against the limit than against the true mean, because W_n falls as the candidate
    rises. No bet is made on the other side, so the whole failure serves this one, and the limit is excluded exactly if
    it lies below the `mean_bounds` of twice the failure.
    """
    return _gained(ledger, 0, pulls, (limit - low) / (high - low), failure)


def mean_below(ledger: Array, pulls: int, limit: float, failure: float, low: float, high: float) -> bool:
    """Whether the mean of one arm lies below `limit`, as `mean_above`; by the bets on 1 − X."""
    return _gained(ledger, 1, pulls, (high - limit) / (high - low), failure)


def mean_limits(ledger: ArrayLike, pulls: ArrayLike, gains: ArrayLike, support: tuple[float, float]) -> Pair:
    """Limits of the mean from below and from above at each of the gains; an array (gain, arm) each."""
    low, high = checked_ends(*support)
    bets, n = _checked(ledger, pulls)
    left, less = least_means(bets[..., : 2 * BETS].reshape(*n.shape, 2, BETS), n, gains)
    return low + (high - low) * left, high - (high - low) * less


def mean_variance_limits(
    ledger: ArrayLike, pulls: ArrayLike, rho: float, gains: ArrayLike, failure: float, support: tuple[float, float]
) -> Pair:
    """Limits of the cost σ² − ρ μ, ρ finite, at each of the gains, if the mean lies within its interval, which it does
    with probability 1 − failure."""
    low, high = checked_ends(*support)
    bets, n = _checked(ledger, pulls)
    reach, tolerance = high - low, rho / (high - low)
    place = 4 * BETS if _own(rho) else 2 * BETS
    if _own(rho):
        _check_size(bets, SIZES[True], rho)
    sums = bets[..., (6 if bets.shape[-1] == SIZES[True] else 4) * BETS :] / n[..., None]
    first, second, floor = sums[..., 0], sums[..., 1], sums[..., -1] if _own(rho) else 0.0
    ends = np.stack(_one(mean_limits(bets, n, anytime.gains(failure), support)))
    left, right = np.clip((ends - low) / reach, 0.0, 1.0)
    moved = np.maximum(left * (left - 2.0 * first), right * (right - 2.0 * first)) + second
    more, less = least_means(bets[..., place : place + 2 * BETS].reshape(*n.shape, 2, BETS), n, gains)
    worst = np.clip((1.0 - tolerance) / 2.0, left, right)
    largest = largest_cost(tolerance)
    most = np.minimum(largest - (largest + tolerance) * less, worst * (1.0 - worst) - tolerance * worst)
    least = np.maximum((1.0 + tolerance) * more + floor - moved, -tolerance * right)
    return reach**2 * least - rho * low, reach**2 * most - rho * low


def least_means(bets: Array, pulls: Array, gains: ArrayLike, steps: int = STEPS) -> Array:
    """For outcomes in [0, 1] the largest mean against which the capital has gained so much, in an array
    (outcome, gain, arm); 0 where there is none. `bets` are the G_j in an array (arm, outcome, bet).

    The largest mean that a single bet excludes has a closed form. From the best of these, Newton's method leads to the
    limit from below, and so through means that are excluded, because log W_n is convex and falls.
    """
    worth = np.moveaxis(bets, -2, 0)[:, None] + LOG_WEIGHTS  # (outcome, 1, arm, bet)
    wanted = np.reshape(np.asarray(gains, float), (-1, *(1,) * pulls.ndim))
    n = pulls[..., None]
    with np.errstate(over="ignore"):
        mean = np.maximum((np.expm1((worth - wanted[..., None]) / n) / KAPPA).max(-1), 0.0)
    for _ in range(steps):
        rise = KAPPA * mean[..., None]
        capital = worth - n * np.log1p(rise)
        largest = capital.max(-1, keepdims=True)
        parts = np.exp(capital - largest)
        total = parts.sum(-1)
        excess = largest[..., 0] + np.log(total) - wanted
        step = np.maximum(excess * total / (parts * (n * KAPPA / (1.0 + rise))).sum(-1), 0.0)
        mean = mean + step
        if (step <= PRECISE).all():
            break
    limits: Array = np.minimum(mean, 1.0)
    return limits


def fewest_below(pulls: int, levels: Array, gains: ArrayLike) -> NDArray[np.int64]:
    """How many of so many rewards must lie at x or below it for bets to have gained so much against P(X ≤ x) ≤ level;
    an array (gain, level), with pulls + 1 where even all of them are too few.

    The x with enough rewards depend on the rewards. Below the quantile of the level they are all wrong, but only if the
    rewards below that quantile are as many, which is one bet [Howard22]. So such an x is no smaller than the quantile.
    """
    wanted = np.asarray(gains, float)[:, None]
    price = pulls * np.log1p(KAPPA * levels[:, None]) - LOG_WEIGHTS
    count = ((wanted[..., None] + price) / THETA).min(-1)  # log(1 + κ) = θ, so this is what a single bet needs
    for _ in range(STEPS):  # Newton's method, from above
        capital = count[..., None] * THETA - price
        largest = capital.max(-1, keepdims=True)
        parts = np.exp(capital - largest)
        total = parts.sum(-1)
        step = np.maximum((largest[..., 0] + np.log(total) - wanted) * total / (parts * THETA).sum(-1), 0.0)
        count = count - step
        if (step <= 1e-6).all():
            break
    enough: NDArray[np.int64] = np.minimum(np.ceil(count), pulls + 1.0).astype(np.int64)
    return enough


def scaled(reward: ArrayLike, low: float, high: float) -> Array:
    """A reward or a mean in [0, 1], in spite of rounding."""
    return np.clip((np.asarray(reward, dtype=float) - low) / (high - low), 0.0, 1.0)


def _own(rho: float) -> bool:
    """Whether the cost needs bets of its own, beside those of mean and variance."""
    return 0.0 < rho < math.inf


def _one(limits: Pair) -> Pair:
    """Those of a single gain."""
    return limits[0][0], limits[1][0]


def _gained(ledger: Array, row: int, pulls: int, candidate: float, failure: float) -> bool:
    """Whether the bets on an outcome have won 1/failure times their stake against a candidate for its mean."""
    anytime.check_quickly(pulls, failure)
    if not 0.0 <= candidate <= 1.0:  # no outcome lies there
        return candidate < 0.0
    bets = ledger[row * BETS : (row + 1) * BETS]
    wealth = bets + (LOG_WEIGHTS + math.log(failure)) - pulls * np.log1p(KAPPA * candidate)
    return bool(np.exp(np.minimum(wealth, 1.0)).sum() >= 1.0)


def _check_size(bets: Array, wanted: int, rho: float) -> None:
    if bets.shape[-1] != wanted:
        got = f"got {bets.shape[-1]}; begin with no_bets(rho={rho:g})"
        raise PrudentError(f"confidence: ledger must hold {wanted} numbers for rho={rho:g}, {got}")


def _checked(ledger: ArrayLike, pulls: ArrayLike) -> tuple[Array, Array]:
    """Ledgers and pulls as arrays."""
    bets, n = as_array("confidence", "ledger", ledger), counts(pulls)
    if bets.shape[-1:] not in {(size,) for size in SIZES.values()} or not np.isfinite(bets).all():
        got = f"got the shape {bets.shape}" if np.isfinite(bets).all() else f"got {shown(ledger)}"
        wanted = " or ".join(map(str, SIZES.values()))
        raise PrudentError(f"confidence: ledger must hold {wanted} finite numbers, {got}; begin with no_bets()")
    try:
        n, _ = np.broadcast_arrays(n, bets[..., 0])
        return np.broadcast_to(bets, (*n.shape, bets.shape[-1])), n
    except ValueError:
        shapes = f"{bets[..., 0].shape}, {n.shape}"
        raise PrudentError(f"confidence: ledger and pulls must fit together, got the shapes {shapes}") from None
