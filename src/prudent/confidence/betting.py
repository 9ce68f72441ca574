"""Sharper confidence sequences for the mean and the variance of bounded rewards, by betting against candidates.

They hold at all times at once like those of `always`, and are much narrower after few rewards. In exchange they need a
ledger of `SIZE` numbers, kept up to date with `include` reward by reward; `always` reads only pulls, mean and variance.
Rewards are independent draws of one law on [low, high]. Below they are scaled to [0, 1].

One fair bet [WaudbySmith24]. Let Y in [0, 1] have the mean m_t given the past, and κ > −1. Then (1 + κY)/(1 + κm_t) is
nonnegative with mean 1, so the product over the rewards is the capital of a gambler who plays fair games: a martingale
that starts at 1. So is an average of such products with weights w_j that sum to 1, and by Ville's inequality it ever
reaches 1/δ with probability at most δ. As log is concave, Σ log(1 + κm_t) ≤ n log(1 + κm̄) with m̄ the average of the
m_t. Hence at all times, with probability 1 − δ,

    W_n(m̄) < 1/δ,   W_n(m) = Σ_j w_j exp(G_j − n log(1 + κ_j m)),   G_j = Σ_t log(1 + κ_j Y_t).

The G_j are all that must be kept, since the candidate m is separate from the rewards. [WaudbySmith24] adapts a single
bet to the rewards; a mixture of constant bets is Cover's universal portfolio, studied for this in [Orabona24]. Widths
are about the same, and the mixture's are smaller where the variance is (`python docs/widths.py`); nor does it depend on
the order of rewards. Bets are κ = e^θ − 1 with θ = ±2⁻¹² … ±2⁴. As θ is the logarithm of an odds ratio, rewards 1 − Y
change only the signs. Weights follow the half-Cauchy density, which is flat for small bets and still gives large ones
their share. A finer grid gains nothing.

Mean. Y = X and m̄ = μ. Positive κ exclude small μ, negative ones large μ, each with half of the failure. W_n falls or
rises in m, so what is left is an interval; it holds the sample mean, at which no bet has gained anything.

Variance. Y_t = (X_t − c_t)² with c_t = (½ + X_1 + … + X_{t−1})/t has the mean σ² + (μ − c_t)² given the past. Bets with
κ > 0 give m̄ ≥ ℓ, so σ² ≥ ℓ − max Σ(μ − c_t)²/n over the μ of an interval of the mean that takes half of the failure.
Those with κ < 0 need no μ: (1 + κY)/(1 + κσ²) has a mean of at most 1, whatever c_t is. They go down to −4, because a
centre within r of both ends makes Y ≤ r²: the centre of each is moved as far as 1 + κY ≥ 0 needs.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from prudent.arrays import Array, as_array
from prudent.confidence import always
from prudent.confidence.always import checked_ends, counts
from prudent.errors import PrudentError, shown
from prudent.parameters import check_parameter

THETA = 2.0 ** np.arange(-12.0, 5.0)
LOG_WEIGHTS = np.log(THETA / (1.0 + THETA**2) / (THETA / (1.0 + THETA**2)).sum())
"""Of the half-Cauchy density on a geometric grid."""

KAPPA = np.stack([np.expm1(THETA), np.expm1(-THETA), np.expm1(THETA), 4.0 * np.expm1(-THETA)])
"""Bets that the mean is larger, that it is smaller, that the variance is larger, that it is smaller."""

REACH = np.clip(np.sqrt((1.0 - 1e-9) / -KAPPA[3]), 0.5, 1.0)
"""How far from its centre a reward may lie for the last bets not to lose more than all."""

SIZE = KAPPA.size + 2
"""How many numbers a ledger has: G_j for all bets, Σ c_t and Σ c_t²."""

STEPS, POINTS = 24, 4
"""A limit is found by cutting the range into so many parts, so often: to 2⁻⁴⁸ of it."""


def no_bets() -> Array:
    """The ledger before the first reward."""
    return np.zeros(SIZE)


def include(ledger: Array, pulls: int, mean: float, reward: float, low: float, high: float) -> None:
    """Enter a reward, in place; `pulls` and `mean` are those before it."""
    x, before = (min(max((value - low) / (high - low), 0.0), 1.0) for value in (reward, mean))  # in spite of rounding
    centre = (0.5 + pulls * before) / (pulls + 1.0)
    outcome = np.full(KAPPA.shape, x)
    outcome[2] = (x - centre) ** 2
    outcome[3] = (x - np.minimum(np.maximum(centre, 1.0 - REACH), REACH)) ** 2
    ledger[:-2] += np.log1p(KAPPA * outcome).ravel()
    ledger[-2] += centre
    ledger[-1] += centre * centre


def mean_bounds(
    ledger: ArrayLike, pulls: ArrayLike, mean: ArrayLike, failure: float, low: float, high: float
) -> tuple[Array, Array]:
    """Where the mean lies. Several ledgers are the rows of an array, each with its pulls and its mean."""
    bets, n, centre = _checked(ledger, pulls, mean, failure, low, high)
    left, right = _limits(bets, n, failure, [(0, centre, 0.0), (1, centre, 1.0)])
    return low + (high - low) * left, high - (high - low) * (1.0 - right)


def mean_above(ledger: Array, pulls: int, limit: float, failure: float, low: float, high: float) -> bool:
    """Whether the mean of one arm lies above `limit`, by a single look at its bets.

    If it does not, this is True at some time with probability at most `failure`. That is Ville's inequality for the
    bets with κ > 0 alone: they gain no more against the limit than against the true mean, because W_n falls as the
    candidate rises. No bet is made on the other side, so the whole failure serves this one, and the limit is excluded
    exactly if it lies below the `mean_bounds` of twice the failure.
    """
    return _gained(ledger, 0, pulls, (limit - low) / (high - low), failure)


def mean_below(ledger: Array, pulls: int, limit: float, failure: float, low: float, high: float) -> bool:
    """Whether the mean of one arm lies below `limit`, as `mean_above`; by the bets with κ < 0."""
    return _gained(ledger, 1, pulls, (limit - low) / (high - low), failure)


def joint_bounds(
    ledger: ArrayLike, pulls: ArrayLike, mean: ArrayLike, failure: float, low: float, high: float
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Where mean and variance (of the law) lie, both together; each takes half of the failure."""
    bets, n, centre = _checked(ledger, pulls, mean, failure, low, high)
    ways = [(0, centre, 0.0), (1, centre, 1.0), (2, np.ones_like(centre), 0.0), (3, np.zeros_like(centre), 0.25)]
    left, right, off_centres, around_centres = _limits(bets, n, failure / 2.0, ways)
    first, second = bets[..., -2] / n, bets[..., -1] / n
    moved = np.maximum(left * (left - 2.0 * first), right * (right - 2.0 * first)) + second
    middle = np.clip(0.5, left, right)
    # σ² is at most μ(1 − μ), and so at most that of the μ nearest to ½.
    most = np.minimum(around_centres, middle * (1.0 - middle))
    least = np.clip(off_centres - np.maximum(moved, 0.0), 0.0, most)
    reach = high - low
    return (low + reach * left, high - reach * (1.0 - right)), (reach**2 * least, reach**2 * most)


def variance_bounds(
    ledger: ArrayLike, pulls: ArrayLike, mean: ArrayLike, failure: float, low: float, high: float
) -> tuple[Array, Array]:
    """Where the variance (of the law) lies; `mean_bounds` with half of the failure hold together with it."""
    return joint_bounds(ledger, pulls, mean, failure, low, high)[1]


def mean_variance_bounds(
    ledger: ArrayLike, pulls: ArrayLike, mean: ArrayLike, rho: float, failure: float, low: float, high: float
) -> tuple[Array, Array]:
    """Where the cost σ² − ρ μ lies (−μ if ρ = ∞), from the two intervals that hold together."""
    rho = check_parameter("confidence", "rho", rho)
    if np.isinf(rho):
        left, right = mean_bounds(ledger, pulls, mean, failure, low, high)
        return -right, -left
    (left, right), (least, most) = joint_bounds(ledger, pulls, mean, failure, low, high)
    return least - rho * right, most - rho * left


def scaled(reward: ArrayLike, low: float, high: float) -> Array:
    """A reward or a mean in [0, 1], in spite of rounding."""
    return np.clip((np.asarray(reward, dtype=float) - low) / (high - low), 0.0, 1.0)


def _gained(ledger: Array, row: int, pulls: int, candidate: float, failure: float) -> bool:
    """Whether the bets of a row have won 1/failure times their stake against a candidate."""
    always.check_quickly(pulls, failure)
    if not 0.0 <= candidate <= 1.0:  # no reward lies there
        return (candidate < 0.0) == (row == 0)
    bets = ledger[row * len(THETA) : (row + 1) * len(THETA)]
    wealth = bets + (LOG_WEIGHTS + math.log(failure)) - pulls * np.log1p(KAPPA[row] * candidate)
    return bool(np.exp(np.minimum(wealth, 1.0)).sum() >= 1.0)


def _limits(ledger: Array, pulls: Array, failure: float, ways: list[tuple[int, Array, float]]) -> Array:
    """For each way (row of bets, near, far) the first excluded candidate on the way from `near`, which is not
    excluded, to `far`; `far` if there is none. All arms and ways are searched at once."""
    rows = [row for row, _, _ in ways]
    size = len(THETA)
    bets = np.stack([ledger[..., row * size : (row + 1) * size] for row in rows])
    kappa = KAPPA[rows].reshape(len(ways), *(1,) * pulls.ndim, 1, size)
    gains, rounds = (bets + LOG_WEIGHTS - np.log(2.0 / failure))[..., None, :], pulls[..., None, None]
    inside = np.stack([near for _, near, _ in ways])
    outside = np.stack([np.full_like(near, far) for _, near, far in ways])
    excluded = np.ones((*inside.shape, POINTS), np.bool_)
    for _ in range(STEPS):
        width = outside - inside
        candidates = inside[..., None] + width[..., None] * np.arange(1, POINTS) / POINTS
        wealth = gains - rounds * np.log1p(kappa * candidates[..., None])
        excluded[..., :-1] = np.exp(np.minimum(wealth, 1.0)).sum(-1) >= 1.0  # one that wins e times enough is enough
        first = np.argmax(excluded, -1)
        inside, outside = inside + width * first / POINTS, inside + width * (first + 1) / POINTS
    return outside


def _checked(
    ledger: ArrayLike, pulls: ArrayLike, mean: ArrayLike, failure: float, low: float, high: float
) -> tuple[Array, Array, Array]:
    """Ledger, pulls and scaled mean as arrays."""
    low, high = checked_ends(failure, low, high)
    bets, n, centre = as_array("confidence", "ledger", ledger), counts(pulls), as_array("confidence", "mean", mean)
    if not np.isfinite(centre).all():
        raise PrudentError(f"confidence: mean must be finite, got {shown(mean)}")
    if bets.shape[-1:] != (SIZE,) or not np.isfinite(bets).all():
        got = f"got the shape {bets.shape}" if bets.shape[-1:] != (SIZE,) else "got others"
        raise PrudentError(f"confidence: ledger must hold {SIZE} finite numbers, {got}; begin with no_bets()")
    try:
        n, centre, _ = np.broadcast_arrays(n, scaled(centre, low, high), bets[..., 0])
        bets = np.broadcast_to(bets, (*n.shape, SIZE))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in (bets[..., 0], n, centre))
        raise PrudentError(f"confidence: ledger, pulls and mean must fit together, got the shapes {shapes}") from None
    return bets, n, centre
