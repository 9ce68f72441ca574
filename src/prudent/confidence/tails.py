"""Confidence sequences of the CVaR, and of its mixture with the mean, of bounded rewards, by betting.

They hold at all times at once, like those of `betting`, and from a ledger of constant size. Rewards are scaled to
[0, 1]. The cost w CVaR_α − (1 − w) μ is the least E g_b over all b, g_b(x) = w((b − x)₊/α − b) − (1 − w)x
[Rockafellar00].

From above. For a b_t chosen before the reward, E g_{b_t} is at least the cost, so Y_t = −g_{b_t}(X) has a mean of at
most minus the cost. Y_t may be negative, but 1 + κY_t may not, so b_t is the α-quantile of the rewards before, as far
as counts tell it, or what the bet allows.

From below. Between two neighbours b′ < b″ of a grid, (b − x)₊ ≥ ((b′ − x) + (b − b′)) 1{x ≤ b′}. The right side is a
straight line in b, so the least E g_b of the cell is at least E g_{b′} or E h_{b″}, where
h_{b″}(x) = w((b″ − x) 1{x ≤ b′}/α − b″) − (1 − w)x. And g_{b′} is at least the h of the cell before. So the cost is at
least the least E h over the grid, which is smaller by no more than the probability of a cell times its length over α.
Bets on (h + wb″ + 1 − w)/(w/α + 1 − w), which lies in [0, 1], bound each E h, and the least of these limits holds. It
fails only if the one does that belongs to the smallest E h, whichever that is: so a limit at the gain s fails only if a
single capital has reached e^s, and gains add up (`prudent.live.differences`).
"""

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array
from prudent.confidence.anytime import Pair, checked_ends
from prudent.confidence.betting import BETS, KAPPA, LOG_WEIGHTS, least_means

CELLS = 128
"""Into so many parts the support is cut."""

GRID = np.arange(CELLS + 1) / CELLS

BEFORE = np.append(-1.0, GRID[:-1])
"""The neighbour below each point of the grid; before 0 there is none."""

NEAR = 6
"""So many cells on either side of the one that decides are searched; for the others a single bet each is enough."""

SIZE = (CELLS + 2) * BETS + CELLS + 1
"""How many numbers a ledger has: what bets on each h and on Y have won, and how many rewards are up to each point of
the grid."""

ALLOWED = 0.9
"""What share of its capital a bet from above may lose with one reward."""

STEPS = 3
"""Of Newton's method, each of which leads to a limit that holds."""


def no_bets() -> Array:
    """The ledger before the first reward."""
    return np.zeros(SIZE)


def include(ledger: Array, pulls: int, reward: float, low: float, high: float, alpha: float, weight: float) -> None:
    """Enter a reward, in place; `pulls` are those before it."""
    x = min(max((reward - low) / (high - low), 0.0), 1.0)  # in spite of rounding
    counts = ledger[-CELLS - 1 :]
    quantile = float(np.interp(alpha, (counts + GRID) / (pulls + 1.0), GRID))
    outcomes = np.empty((CELLS + 2, BETS))
    outcomes[:-1] = _heights(x, alpha, weight)[:, None]
    b = np.minimum(quantile, ALLOWED / (KAPPA * max(weight * (1.0 / alpha - 1.0), 1e-300)))
    outcomes[-1] = weight * (b - np.maximum(b - x, 0.0) / alpha) + (1.0 - weight) * x
    outcomes *= KAPPA
    ledger[: (CELLS + 2) * BETS] += np.log1p(np.maximum(outcomes, -1.0 + 1e-9)).reshape(-1)
    counts += x <= GRID


def entered(rewards: Array, low: float, high: float, alpha: float, weight: float) -> Array:
    """The ledger after some rewards."""
    ledger = no_bets()
    for pulls, reward in enumerate(rewards.tolist()):
        include(ledger, pulls, reward, low, high, alpha, weight)
    return ledger


def limits(
    ledgers: ArrayLike, pulls: ArrayLike, alpha: float, weight: float, gains: ArrayLike, support: tuple[float, float]
) -> Pair:
    """Limits of the cost from below and from above at each of the gains, arrays (gain, arm). Several ledgers are the
    rows of an array, each with its pulls."""
    low, high = checked_ends(*support)
    known, n, wanted = np.asarray(ledgers, float), np.asarray(pulls, float), np.asarray(gains, float)
    length, shift = _length(alpha, weight), weight * GRID + 1.0 - weight
    bets = known[:, : (CELLS + 2) * BETS].reshape(len(known), CELLS + 2, BETS)
    rounds, middle = n[:, None, None], len(wanted) // 2
    worth = bets[:, :-1] + LOG_WEIGHTS
    # A single bet: the largest mean against which it has gained s has a closed form. The best bets hardly depend on s.
    best = np.clip(_by_single((worth - wanted[middle]) / rounds, KAPPA).argmax(-1), 1, BETS - 2)
    some = best[..., None] + np.arange(-1, 2)
    worth = np.take_along_axis(worth, some, -1) - wanted[:, None, None, None]
    costs = length * _by_single(worth / rounds, KAPPA[some]).max(-1) - shift  # (gain, arm, cell)
    place = np.clip(costs[middle].argmin(-1), NEAR, CELLS - NEAR)
    near = place[:, None] + np.arange(-NEAR, NEAR + 1)
    rows = np.concatenate([np.take_along_axis(bets, near[..., None], 1), bets[:, -1:]], 1)
    searched = least_means(rows, n, wanted, STEPS)  # (outcome, gain, arm)
    sharper = length * np.moveaxis(searched[:-1], 0, -1) - shift[near]
    where = np.broadcast_to(near, sharper.shape)
    np.put_along_axis(costs, where, np.maximum(np.take_along_axis(costs, where, -1), sharper), -1)
    least, most = np.maximum(costs.min(-1), -1.0), 0.0 - searched[-1]
    return (high - low) * least - low, (high - low) * most - low


def _by_single(worth: Array, stakes: Array) -> Array:
    """The largest means in [0, 1] that single bets exclude."""
    means: Array = np.clip(np.expm1(np.minimum(worth, 700.0)) / stakes, 0.0, 1.0)
    return means


def _length(alpha: float, weight: float) -> float:
    return weight / alpha + 1.0 - weight


def _heights(x: float, alpha: float, weight: float) -> Array:
    """h of a reward for each point of the grid, in [0, 1]."""
    heights: Array = weight * np.where(x <= BEFORE, GRID - x, 0.0) / alpha + (1.0 - weight) * (1.0 - x)
    return heights / _length(alpha, weight)
