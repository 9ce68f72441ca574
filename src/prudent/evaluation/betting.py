"""Limits for what a policy receives, by betting on the weighted rewards of a log.

Let w = π(A)/p be the weight of a round: the probability of its arm under the policy, divided by the probability with
which the log's own policy took it. Whatever that one knew, E[w f(R) | past] is the mean of f(R) under the policy, and
E[w | past] = 1. So the outcomes Z = w f(R) are nonnegative and have the means that one wants to know. For every κ > 0,
(1 + κZ)/(1 + κm) is then nonnegative with mean 1 given the past, where m is the mean of Z. The products over rounds,
averaged over several κ, are the capital of fair bets, which ever reaches 1/δ with probability at most δ
(prudent.confidence.betting). An m against which it does is excluded, and so is every smaller one:

    W(m) = Σ_j v_j Π_t (1 + κ_j Z_t)/(1 + κ_j m) ≥ 1/δ.

This bounds m from below and needs no bound on weights. An upper limit of the mean of f(R) in [0, 1] is 1 minus the
lower limit of 1 − f(R), because weights have the mean 1 [WaudbySmith22]. Nothing is assumed of the log's policy, so it
may have learned from the rewards.

If weights are known to be at most `most`, a guess g ≥ 0 of the mean, made before the round, takes out the luck of the
weights: Z = w f(R) + (most − w) g is nonnegative too, its mean is larger by (most − 1) g, and it varies less. This is
what doubly robust estimates do, with one guess for all arms.
"""

import heapq
import itertools
import math
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array, Counts
from prudent.confidence.betting import KAPPA, LOG_WEIGHTS

STAKES = KAPPA
STEPS = 50
"""Halvings of an interval, until floats can hardly tell its ends apart."""

NEWTON = 4
"""Steps of Newton's method. Each gives a limit that holds, and a better one than the step before."""

GUESSED = 8
"""Levels are treated in so many groups; those of a group share the guess g."""

COARSE, FINE, FINEST = 8, 1 / 32, 1 / 1024
"""Cells of quantiles for the lower limit of a tail: how many there are first, and the length that ends the search, as a
share of the interval and at least. A cell costs no more than its length."""

REFRESH = 1.05
"""By how much a log grows until its running quantile is found again."""

Ends = tuple[float, float]


class Sample(NamedTuple):
    """Weighted rewards in [low, high], in the order of rounds, and the largest weight possible, which may be infinite.

    So may low and high, for quantiles.
    """

    rewards: Array
    weights: Array
    most: float = 1.0
    low: float = 0.0
    high: float = 1.0

    def reversed(self) -> "Sample":
        """The sample of −R."""
        return self._replace(rewards=-self.rewards, low=-self.high, high=-self.low)

    def scaled(self) -> "Sample":
        """The sample in [0, 1], in spite of rounding."""
        rewards = np.clip((self.rewards - self.low) / (self.high - self.low), 0.0, 1.0)
        return self._replace(rewards=rewards, low=0.0, high=1.0)

    def running_mean(self, outcomes: Array, first: float) -> Array:
        """The weighted mean of the outcomes before each round, beginning with a first guess. That has the largest
        weight possible, so that one early round does not decide about the next guesses."""
        own = self.most if math.isfinite(self.most) else 1.0
        sums, counts = np.cumsum(self.weights * outcomes), np.cumsum(self.weights)
        return np.concatenate(([first], (own * first + sums[:-1]) / (own + counts[:-1])))

    def running_quantile(self, level: float) -> Array:
        """The weighted quantile of the rewards before each round, found again now and then; the level itself first."""
        found, start = np.full(len(self.rewards), level), 8
        while start < len(found):
            order = np.argsort(self.rewards[:start], kind="stable")
            sums = np.cumsum(self.weights[order])
            stop = int(start * REFRESH) + 1
            if sums[-1] > 0.0:
                found[start:stop] = self.rewards[order[np.searchsorted(sums, level * sums[-1])]]
            start = stop
        return found


def least(sample: Sample, outcomes: Array, guess: Array, more: Array, failure: float) -> float:
    """A lower limit for v, if the outcome of each round, which is nonnegative, has a mean of at most v + `more`.

    Outcomes are functions of the reward. They, the guess of them and `more` may depend on all rounds before. The limit
    is found for the average of the means first, and raised by Newton's method to the v against which the capital is
    1/failure. Its logarithm falls and is convex in v, so that no step goes too far.
    """
    offsets, bets = more, sample.weights * outcomes
    if math.isfinite(sample.most):
        offsets, bets = more + (sample.most - 1.0) * guess, bets + (sample.most - sample.weights) * guess
    won = np.array([np.log1p(stake * bets).sum() for stake in STAKES]) + LOG_WEIGHTS + math.log(failure)
    low, high = 0.0, float(bets.mean())  # no bet has gained anything against the average of the bets
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        capital = won - len(bets) * np.log1p(STAKES * middle)
        low, high = (middle, high) if np.exp(np.minimum(capital, 1.0)).sum() >= 1.0 else (low, middle)
    found = max(low - float(offsets.mean()), -float(more.min()))  # no mean is negative
    for _ in range(NEWTON if np.ptp(offsets) > 0.0 else 0):
        means = found + offsets
        capital = won - np.array([np.log1p(stake * means).sum() for stake in STAKES])
        excess = float(np.logaddexp.reduce(capital))
        if excess <= 0.0:
            break
        slopes = np.array([(stake / (1.0 + stake * means)).sum() for stake in STAKES])
        found += excess / float(np.exp(capital - excess) @ slopes)
    return found


def mean_limits(sample: Sample, failure: float) -> Ends:
    """Where the mean lies, with probability 1 − failure."""
    none = np.zeros(len(sample.rewards))
    low, less = (
        max(least(side, side.rewards, side.running_mean(side.rewards, 0.5), none, failure / 2.0), 0.0)
        for side in (sample.scaled(), sample.reversed().scaled())
    )
    reach = sample.high - sample.low
    return sample.low + reach * low, sample.high - reach * min(less, 1.0 - low)


def cost_limits(sample: Sample, rho: float, centre: Array, shift: tuple[Array, Array], failure: float) -> Ends:
    """Where v = E[(R − θ)² − ρR] lies, for rewards in [0, 1]; it does not with probability `failure`.

    The mean θ is not known. With a guess c of it, made before the round, h(R) = (R − c)² − ρR has a mean that differs
    from v by E[(R − c)² − (R − θ)²], which is between the two ends of `shift`.
    """
    x = sample.rewards
    height = (x - centre) ** 2 - rho * x
    nearest = np.clip(centre + rho / 2.0, 0.0, 1.0)
    floor, top = (nearest - centre) ** 2 - rho * nearest, np.maximum(centre**2, (1.0 - centre) ** 2 - rho)
    guess = sample.running_mean(height, float(floor[0] + top[0]) / 2.0)
    low, less = (
        least(sample, np.maximum(outcomes, 0.0), np.maximum(guessed, 0.0), more, failure / 2.0)  # in spite of rounding
        for outcomes, guessed, more in (
            (height - floor, guess - floor, shift[1] - floor),
            (top - height, top - guess, top - shift[0]),
        )
    )
    return low, -less


def tail_limits(sample: Sample, alpha: float, weight: float, failure: float) -> Ends:
    """Where w CVaR_α − (1 − w)μ lies, for rewards in [0, 1]; it does not with probability `failure`.

    It is the least E g_b(R) over all b, g_b(x) = w((b − x)₊/α − b) − (1 − w)x [Rockafellar00]. So it is at most the
    average of E g_b over any b chosen before their rounds, and bets on g_b for the quantile of the rewards so far bound
    it from above. From below, a lower limit for each b holds at the best one, whichever it is, so the least of them
    holds; g_b is at least g_{b′} − w(b − b′) for b′ < b, so cells of b are enough, and the lowest is halved.
    """
    x, none = sample.rewards, np.zeros(len(sample.rewards))

    def height(b: Array | float, lifted: Array | float) -> Array:
        return weight * (np.maximum(b - x, 0.0) / alpha - lifted) - (1.0 - weight) * x

    centre = sample.running_quantile(alpha)
    top, heights = weight * (centre / alpha - centre), height(centre, centre)
    guess = np.maximum(top - sample.running_mean(heights, 0.0), 0.0)
    high = -least(sample, np.maximum(top - heights, 0.0), guess, top, failure / 2.0)

    def bound(start: float, end: float) -> float:
        floor = -weight * end - (1.0 - weight)
        outcomes = np.maximum(height(start, end) - floor, 0.0)
        return floor + least(sample, outcomes, sample.running_mean(outcomes, 0.0), none, failure / 2.0)

    edges = np.linspace(0.0, 1.0, COARSE + 1).tolist()
    cells = [(bound(*ends), *ends) for ends in itertools.pairwise(edges)]
    heapq.heapify(cells)
    while (end := cells[0][2]) - (start := cells[0][1]) > max(FINEST, FINE * (high - cells[0][0])):
        middle = 0.5 * (start + end)
        heapq.heapreplace(cells, (bound(start, middle), start, middle))
        heapq.heappush(cells, (bound(middle, end), middle, end))
    low = max(cells[0][0], -1.0)
    return min(low, high), min(high, 0.0)


def upper_quantiles(sample: Sample, levels: Array, failure: float) -> Array:
    """For each level u a reward x with P(R ≤ x) ≥ u; each is wrong with probability at most `failure`. `high` if
    none is found.

    Against P(R ≤ x) = u one bets on the rounds with R ≤ x, and the capital grows with x. So the x for which it is
    enough, though they depend on the rewards, are all wrong only if it is enough just below the true quantile.
    """
    order = np.argsort(sample.rewards, kind="stable")
    order = order[sample.weights[order] > 0.0]  # the others change nothing as x passes them
    ordered = np.append(sample.rewards[order], sample.high)
    distinct, place = np.unique(sample.weights, return_inverse=True)  # often few, as there are arms
    counts = np.bincount(place)
    found, known = np.empty(len(levels)), math.isfinite(sample.most)
    won = np.zeros((len(STAKES), len(ordered)))
    groups = min(GUESSED, len(levels)) if known and (distinct < sample.most).any() else 1
    for part in np.array_split(np.arange(len(levels)), groups):
        guess = float(levels[part].mean()) if known else 0.0
        more = (sample.most - distinct) * guess if known else np.zeros(len(distinct))
        above, below = np.log1p(STAKES[:, None] * more), np.log1p(STAKES[:, None] * (distinct + more))
        np.cumsum((below - above)[:, place[order]], axis=1, out=won[:, 1:])
        means = levels[part] + ((sample.most - 1.0) * guess if known else 0.0)
        start = above @ counts + LOG_WEIGHTS + math.log(failure)
        capital = start - len(place) * np.log1p(STAKES * means[:, None])
        found[part] = ordered[_first(won, capital) - 1]
    return found


def _first(won: Array, capital: Array) -> Counts:
    """For each row of logarithms of capital the smallest number of rounds that make it 1 with what they won; one more
    than there are if none does."""
    low, high = np.zeros(len(capital), np.int64), np.full(len(capital), won.shape[1], np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        enough = np.exp(np.minimum(won[:, middle].T + capital, 1.0)).sum(1) >= 1.0
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
