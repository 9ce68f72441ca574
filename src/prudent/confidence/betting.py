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

import numpy as np
from numpy.typing import ArrayLike

from prudent.arrays import Array, as_array
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

STEPS, POINTS = 12, 16
"""A limit is found by trying so many candidates at once, so often: to 2⁻⁴⁸ of the range."""


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
    left, right = _means(*_checked(ledger, pulls, mean, failure, low, high), failure)
    return low + (high - low) * left, high - (high - low) * (1.0 - right)


def variance_bounds(
    ledger: ArrayLike, pulls: ArrayLike, mean: ArrayLike, failure: float, low: float, high: float
) -> tuple[Array, Array]:
    """Where the variance (of the law) lies; `mean_bounds` with half of the failure hold together with it."""
    return mean_variance_bounds(ledger, pulls, mean, 0.0, failure, low, high)


def mean_variance_bounds(
    ledger: ArrayLike, pulls: ArrayLike, mean: ArrayLike, rho: float, failure: float, low: float, high: float
) -> tuple[Array, Array]:
    """Where the cost σ² − ρ μ lies (−μ if ρ = ∞), from the two intervals that hold together."""
    rho = check_parameter("confidence", "rho", rho)
    if np.isinf(rho):
        left, right = mean_bounds(ledger, pulls, mean, failure, low, high)
        return -right, -left
    bets, n, centre = _checked(ledger, pulls, mean, failure, low, high)
    left, right = _means(bets, n, centre, failure / 2.0)
    least, most = _variances(bets, n, left, right, failure / 2.0)
    reach = high - low
    return reach**2 * least - rho * (high - reach * (1.0 - right)), reach**2 * most - rho * (low + reach * left)


def scaled(reward: ArrayLike, low: float, high: float) -> Array:
    """A reward or a mean in [0, 1], in spite of rounding."""
    return np.clip((np.asarray(reward, dtype=float) - low) / (high - low), 0.0, 1.0)


def _means(ledger: Array, pulls: Array, centre: Array, failure: float) -> tuple[Array, Array]:
    """Where the mean of scaled rewards lies."""
    return _limit(ledger, 0, pulls, failure, centre, 0.0), _limit(ledger, 1, pulls, failure, centre, 1.0)


def _variances(ledger: Array, pulls: Array, left: Array, right: Array, failure: float) -> tuple[Array, Array]:
    """Where the variance of scaled rewards lies if their mean is from `left` to `right`."""
    first, second = ledger[..., -2] / pulls, ledger[..., -1] / pulls
    off_centre = np.maximum(left * (left - 2.0 * first), right * (right - 2.0 * first)) + second
    least = _limit(ledger, 2, pulls, failure, np.ones_like(left), 0.0) - np.maximum(off_centre, 0.0)
    middle = np.clip(0.5, left, right)
    # σ² is at most μ(1 − μ), and so at most that of the μ nearest to ½.
    most = np.minimum(_limit(ledger, 3, pulls, failure, np.zeros_like(left), 0.25), middle * (1.0 - middle))
    return np.clip(least, 0.0, most), most


def _limit(ledger: Array, row: int, pulls: Array, failure: float, near: Array, far: float) -> Array:
    """The first excluded candidate on the way from `near`, which is not excluded, to `far`; `far` if there is none."""
    kappa, bets = KAPPA[row], ledger[..., row * len(THETA) : (row + 1) * len(THETA)]
    gains, rounds = (bets + LOG_WEIGHTS)[..., None, :], pulls[..., None, None]
    inside, outside = near, np.full_like(near, far)
    for _ in range(STEPS):
        candidates = inside[..., None] + (outside - inside)[..., None] * np.arange(POINTS + 1) / POINTS
        wealth = gains - rounds * np.log1p(kappa * candidates[..., None])
        largest = wealth.max(-1)
        excluded = largest + np.log(np.exp(wealth - largest[..., None]).sum(-1)) >= np.log(2.0 / failure)
        excluded[..., 0], excluded[..., -1] = False, True
        first = np.argmax(excluded, -1)[..., None]
        inside, outside = (np.take_along_axis(candidates, first - back, -1)[..., 0] for back in (1, 0))
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
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in (bets[..., 0], n, centre))
        raise PrudentError(f"confidence: ledger, pulls and mean must fit together, got the shapes {shapes}") from None
    return bets, n, centre
