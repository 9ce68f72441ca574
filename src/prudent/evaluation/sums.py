"""Bets on a log of any length in constant memory: what they won is a sum over rounds, and limits follow from sums.

The bets are those of betting.py against the means of x, 1 − x, (x − c)² and 1 − (x − c)², for x in [0, 1]. Guesses and
the centre c are those of the parts of the log before. At the ends of BINS parts of [0, 1] there are bets on and
against rewards below, with the guesses 0, ½ and 1, a third of the capital each. A limit depends on the rounds only
through Σ log(1 + κ Z), so that a log is read once. Products are gathered before a logarithm is taken.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array, Counts
from prudent.compile.types import kernel
from prudent.confidence.betting import LOG_WEIGHTS
from prudent.evaluation.bands import Band, Steps
from prudent.evaluation.betting import STAKES, STEPS
from prudent.evaluation.limits import shift_of

BINS = 1024
"""Into so many parts the support is cut; quantiles and tails are known to one of them."""

FULL = 1e150
"""A product that is larger becomes a logarithm."""

MOMENTS = 4  # x, 1 − x, (x − c)², 1 − (x − c)²
GUESSES = np.array([0.0, 0.5, 1.0])
KINDS = 4  # of factors at the end of a part: that of rewards below with the guesses 0 and ½, above with ½ and 1
BETS = np.concatenate([LOG_WEIGHTS - math.log(len(GUESSES))] * len(GUESSES)).reshape(len(GUESSES), -1)


class Part(NamedTuple):
    """Of a part of the log, an entry for each sample: rounds, guesses of the four means, centres."""

    rounds: Array
    guesses: Array
    centres: Array


class Sums:
    """What is kept of some samples, whose weights are at most `most` (0 if that is not known).

    `totals` are rounds, Σw, Σw², Σwx, Σwx²; `bins` are Σw, Σwx and the rounds of each part of [0, 1].
    """

    def __init__(self, samples: int, most: float) -> None:
        self.most, self.parts = most, list[Part]()
        self.totals, self.bins = np.zeros((samples, 5)), np.zeros((samples, 3, BINS))
        self.won, self.bins_won = (np.zeros((samples, *ways, len(STAKES))) for ways in ((MOMENTS,), (BINS, KINDS)))
        self._products, self._bins_products = np.ones_like(self.won), np.ones_like(self.bins_won)

    def include(self, sample: Counts, x: Array, weights: Array) -> None:
        """Enter a part of the log: the sample of each round (none below 0), the scaled reward, the weight."""
        guesses, centres, before = *self._guesses(), self.totals[:, 0].copy()
        sums = self.totals, self.won, self._products, self.bins, self.bins_won, self._bins_products
        include_rounds(sample, x, weights, self.most, guesses, centres, STAKES, *sums)
        self.parts.append(Part(self.totals[:, 0] - before, guesses, centres))

    def _guesses(self) -> tuple[Array, Array]:
        """Of the four means, and of the mean alone, by all parts before."""
        total = self.totals[:, 1] + 2.0
        mean, square = (self.totals[:, 3] + 1.0) / total, (self.totals[:, 4] + 2.0 / 3.0) / total
        spread = np.clip(square - mean * mean, 0.0, 1.0)
        return np.stack([mean, 1.0 - mean, spread, 1.0 - spread], 1), mean

    def settle(self) -> None:
        """Turn all products into logarithms."""
        self.won += np.log(self._products)
        self.bins_won += np.log(self._bins_products)
        self._products[:], self._bins_products[:] = 1.0, 1.0


@kernel
def include_rounds(  # noqa: PLR0917, since a kernel takes arrays alone
    sample: Counts,
    x: Array,
    weights: Array,
    most: float,
    guesses: Array,
    centres: Array,
    stakes: Array,
    totals: Array,
    won: Array,
    products: Array,
    bins: Array,
    bins_won: Array,
    bins_products: Array,
) -> None:
    """Enter rounds into the fields of `Sums`."""
    last, z, factors = len(stakes) - 1, np.empty(4), np.empty(4)
    for t in range(len(x)):
        i, w, r = sample[t], weights[t], x[t]
        if i < 0:
            continue
        b = min(int(r * BINS), BINS - 1)
        bins[i, 2, b] += 1.0
        totals[i, 0] += 1.0
        if w == 0.0 and most == 0.0:
            continue
        totals[i, 1] += w
        totals[i, 2] += w * w
        totals[i, 3] += w * r
        totals[i, 4] += w * r * r
        bins[i, 0, b] += w
        bins[i, 1, b] += w * r
        spread = (r - centres[i]) ** 2
        luck = max(most - w, 0.0)
        z[0], z[1], z[2], z[3] = w * r, w * (1.0 - r), w * spread, w * (1.0 - spread)
        for way in range(4):
            gain = z[way] + luck * guesses[i, way]
            for j in range(len(stakes)):
                products[i, way, j] *= 1.0 + stakes[j] * gain
            if products[i, way, last] > FULL:
                for j in range(len(stakes)):
                    won[i, way, j] += math.log(products[i, way, j])
                    products[i, way, j] = 1.0
        factors[0], factors[1], factors[2], factors[3] = w, w + 0.5 * luck, 0.5 * luck, luck
        for kind in range(1 if luck == 0.0 and most <= 1.0 else 4):
            for j in range(len(stakes)):
                bins_products[i, b, kind, j] *= 1.0 + stakes[j] * factors[kind]
            if bins_products[i, b, kind, last] > FULL:
                for j in range(len(stakes)):
                    bins_won[i, b, kind, j] += math.log(bins_products[i, b, kind, j])
                    bins_products[i, b, kind, j] = 1.0


def least(capital: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
    """Lower limits of means in [0, 1]: how far logarithms of capital, in the last axes, show that they lie above."""
    low, high = np.zeros(shape), np.ones(shape)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        gained = np.exp(np.minimum(capital(middle), 1.0)).reshape(*shape, -1).sum(-1)
        low, high = np.where(gained >= 1.0, middle, low), np.where(gained >= 1.0, high, middle)
    return low


class Limits:
    """Where quantities of the mixture of some samples by their shares lie, for rewards in [0, 1]."""

    def __init__(self, sums: Sums, shares: Array) -> None:
        sums.settle()
        self.sums, self.shares = sums, shares
        self._known = max(sums.most - 1.0, 0.0)

    def _moment(self, i: int, way: int, failure: float, more: Array | None = None) -> float:
        """A lower limit for v, if the outcomes of a way have a mean of at most v + `more` in each part."""
        parts = self.sums.parts
        rounds = np.array([part.rounds[i] for part in parts])
        offsets = self._known * np.array([part.guesses[i, way] for part in parts]) + (0.0 if more is None else more)
        won = self.sums.won[i, way] + LOG_WEIGHTS + math.log(failure)

        def capital(v: Array) -> Array:
            return np.asarray(won - rounds @ np.log1p(STAKES * np.maximum(v + offsets, 0.0)[:, None]))

        return float(least(capital, ()))

    def means(self, failure: float) -> Array:
        """Where the mean of each sample lies, all of them together."""
        part = failure / (2.0 * len(self.shares))
        ends = [(self._moment(i, 0, part), 1.0 - self._moment(i, 1, part)) for i in range(len(self.shares))]
        return np.array([(low, max(low, high)) for low, high in ends])

    def mean(self, failure: float) -> Array:
        """Where the mean lies."""
        return np.asarray(self.shares @ self.means(failure))

    def cost(self, tolerance: float, failure: float) -> tuple[float, float]:
        """Where σ² − ρμ lies. σ² is the sum of what each sample adds, its share times E[(R − θ)²], θ the mean."""
        for_mean = 0.1 if tolerance == 0.0 else 0.5
        means = self.means(for_mean * failure)
        whole, part = self.shares @ means, (1.0 - for_mean) * failure / (2.0 * len(self.shares))
        found = []
        for i, own in enumerate(means):
            centres = np.array([part.centres[i] for part in self.sums.parts])
            shift = shift_of(centres, whole, own if len(means) > 1 else None)
            low, less = (self._moment(i, way, part, more) for way, more in ((2, shift[1]), (3, -shift[0])))
            found.append((low, 1.0 - less))
        low, high = self.shares @ np.array(found)
        worst = min(max(0.5, whole[0]), whole[1])
        high = max(min(high, worst * (1.0 - worst)), low)  # no variance is above μ(1 − μ)
        ends = tolerance * whole
        return float(low - ends.max()), float(high - ends.min())

    def below(self, failure: float) -> tuple[Array, Array]:
        """Between which ends the probability of less than each end of a part lies, but the last; each of the ends is
        wrong with half that probability."""
        part, ends = failure / (2.0 * len(self.shares)), []
        for i, total in enumerate(self.sums.totals[:, 0]):
            likely, unlikely = self._factors(i)
            sides = []
            for one, other in ((likely, unlikely), (unlikely, likely)):  # on rewards below, and on those above
                won = np.cumsum(one, 0)[:-1] + (other.sum(0) - np.cumsum(other, 0)[:-1])
                sides.append(self._share(won, total, part))
            ends.append((sides[0], 1.0 - sides[1]))
        least_likely, likeliest = (self.shares @ np.array(side) for side in zip(*ends, strict=True))
        return np.maximum.accumulate(least_likely), np.minimum.accumulate(likeliest[::-1])[::-1]

    def _factors(self, i: int) -> tuple[Array, Array]:
        """What bets on rewards below an end win in each part if it lies below and if not, for the three guesses."""
        won, rounds = self.sums.bins_won[i], self.sums.bins[i, 2]
        certain = rounds[:, None] * np.log1p(STAKES * self.sums.most)
        likely = np.stack([won[:, 0], won[:, 1], certain], 1)
        unlikely = np.stack([np.zeros_like(certain), won[:, 2], won[:, 3]], 1)
        return (likely, unlikely) if self._known > 0.0 else (likely[:, :1], unlikely[:, :1])

    def _share(self, won: Array, rounds: float, failure: float) -> Array:
        """Lower limits of probabilities, from what bets with each guess won."""
        guesses = won.shape[1]
        gains = won + (BETS if guesses > 1 else LOG_WEIGHTS) + math.log(failure)
        offsets = self._known * GUESSES[:guesses, None]

        def capital(v: Array) -> Array:
            return np.asarray(gains - rounds * np.log1p(STAKES * (v[:, None, None] + offsets)))

        return least(capital, (len(won),))

    def band(self, failure: float) -> Band:
        """The two distributions between which that of rewards lies."""
        edges = np.arange(BINS + 1) / BINS
        low, high = self.below(failure / (BINS - 1))
        early, late = (np.diff(levels, prepend=0.0, append=1.0) for levels in (np.maximum(low, high), low))
        return Band(Steps(edges[:-1], early), Steps(edges[1:], late))

    def quantiles(self, levels: list[float], failure: float) -> list[tuple[float, float]]:
        """Where quantiles lie, each with that probability of failure: the capital against a level only grows or only
        falls from part to part, so that bets at the true quantile decide."""
        low, high = self.below(failure)
        first, last = np.searchsorted(high, levels), np.searchsorted(low, levels)
        return [(int(begin) / BINS, min(int(end) + 1, BINS) / BINS) for begin, end in zip(first, last, strict=True)]

    def law(self) -> Steps:
        """The estimated distribution: each part has its weight, at the mean of its rewards."""
        weights, sums, _ = self.sums.bins.transpose(1, 0, 2)
        own, centres = (self.shares @ (each / weights.sum(1, keepdims=True)) for each in (weights, sums))
        there = own > 0.0
        return Steps(centres[there] / own[there], own[there])

    def estimates(self) -> tuple[float, float]:
        """Mean and variance."""
        totals = self.sums.totals
        mean, square = (float(self.shares @ (totals[:, i] / totals[:, 1])) for i in (3, 4))
        return mean, max(square - mean * mean, 0.0)

    def weights(self) -> tuple[float, float]:
        """The mean of the weights of the one sample, and its standard error."""
        rounds, total, squares = self.sums.totals[0, :3].tolist()
        mean = total / rounds
        return mean, math.sqrt(max(squares / rounds - mean * mean, 0.0) / rounds)

    @property
    def effective(self) -> float:
        """What the log is worth in rounds of the policy itself."""
        totals = self.sums.totals
        return 1.0 / float(self.shares**2 @ (totals[:, 2] / totals[:, 1] ** 2))
