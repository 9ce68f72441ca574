"""Worlds: distributions of the options that the pilot's own outcomes leave possible, many of them.

A world gives the outcomes of an option random weights, which is the Bayesian bootstrap [Rubin81]. Where outcomes are
continuous, the weights belong to the gaps between neighbouring outcomes [Banks88]: of n outcomes of any continuous
distribution the n + 1 gaps hold Dirichlet(1, …, 1) shares of it. The last gap reaches beyond the largest outcome, with
a tail that continues that of the outcomes; a bootstrap without it takes for granted that nothing larger can come.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.plan.cells import Cells
from prudent.plan.odd import odd_ones

FEW = 10
"""Different values of all options together, seen `OFTEN` on average, up to which there are no others; each counts as
`PRIOR / number` more outcomes."""

PRIOR = 2.0

OFTEN = 3
"""An outcome that comes so often is a value of positive probability, such as 0 where most people buy nothing."""

MOST_CELLS = 240
"""Cells of an option up to which none are joined."""

ENDS, WIDEST = 60, 40
"""Cells at each end, and cells wider than others, that are never joined: they hold what is far from the rest."""

FREQUENT = 0.005
"""Nor is a value joined that at least this share of outcomes has, such as 0 where most people buy nothing."""

STEPS = 8
"""Cells of a tail beyond the largest outcome."""

LIGHTEST, HEAVIEST = -0.5, 0.45
"""The shape of a tail: one of ½ has no variance any more."""


WEIGHT, SKEWED, LEAST = 0.8, 0.03, 0.4
"""How much a gap between outcomes counts for: `WEIGHT` of one, the less the more their kurtosis exceeds 3, and at least
`LEAST`. With whole weights intervals of variances are too short for few outcomes. Not derived: chosen so that intervals
cover (tests/statistical/test_plan_coverage.py)."""


class Tail(NamedTuple):
    """How outcomes go on beyond the last: by excesses of a generalised Pareto distribution above the `size` largest,
    of this shape and scale at the last outcome, up to a limit."""

    shape: float
    scale: float
    size: int
    limit: float


class Outcomes(NamedTuple):
    """The cells of an option with the number of outcomes that each stands for, `shares`, and its tails, if any.

    `far` marks the cells of the largest outcomes, of which one may ask what they decide.
    """

    low: Array
    high: Array
    shares: Array
    below: Tail | None
    above: Tail | None
    far: Any
    weight: float = 1.0

    def draw(self, rng: np.random.Generator, times: float = 1.0) -> Cells:
        """One distribution that they leave possible; with `times` the largest outcomes weigh so many times as much."""
        shares = self.weight * self.shares
        masses = rng.standard_gamma(np.where(shares > 0.0, shares, 1.0)) * (shares > 0.0)
        low, high = self.low, self.high
        far = self.far
        for tail, end in ((self.below, 0), (self.above, -1)):
            if tail is None:
                continue
            excess = _excesses(tail, rng)
            edges = np.minimum(high[-1] + excess, tail.limit) if end else np.maximum(low[0] - excess, tail.limit)
            share = np.full(STEPS, rng.standard_gamma(self.weight) / STEPS)
            marks = np.full(STEPS, bool(far[end]))
            if end:
                low, high = np.append(low, edges[:-1]), np.append(high, edges[1:])
                masses, far = np.append(masses, share), np.append(far, marks)
            else:
                low, high = np.append(edges[:0:-1], low), np.append(edges[-2::-1], high)
                masses, far = np.append(share, masses), np.append(marks, far)
        masses = np.where(far, times * masses, masses)
        return Cells(low, high, masses)


def outcomes_of(own: Sequence[float], everyone: Array, support: tuple[float, float]) -> Outcomes:
    """The cells of an option with these outcomes; `everyone` are those of all options."""
    x = np.sort(np.asarray(own, float))
    values, counts = np.unique(x, return_counts=True)
    known = np.unique(everyone)
    if len(known) <= FEW and len(everyone) >= OFTEN * len(known):
        shares = PRIOR / len(known) + np.array([(x == value).sum() for value in known], float)
        return Outcomes(known, known, shares, None, None, np.zeros(len(known), bool))
    atom = counts >= OFTEN
    discrete = bool((everyone == np.round(everyone)).all() and np.mean(np.isin(x, values[atom])) >= 0.5)
    below, above = _tail(-x[::-1], not atom[0], -support[0]), _tail(x, not atom[-1], support[1])
    below = None if below is None else below._replace(limit=-below.limit)
    tails = below is not None, above is not None
    found = _cells(values, counts.astype(float), np.ones_like(atom) if discrete else atom, tails)
    cells = [np.array(part) for part in found]
    low, high, shares, far = _fewer(cells, _far(x, cells[0], cells[1]), len(x))
    return Outcomes(low, high, shares, below, above, far, _size(x))


def _cells(
    values: Array, counts: Array, atom: Any, tails: tuple[bool, bool]
) -> tuple[list[float], list[float], list[float]]:
    """Values that come often are cells of no width; between neighbouring others the gap is one. The outcome at each end
    of a row of gaps keeps half of its count, so that the mean stays that of the outcomes; where a tail begins, the tail
    has that half."""
    low, high, shares = [], [], []

    def add(start: float, end: float, share: float) -> None:
        low.append(start)
        high.append(end)
        shares.append(share)

    for i, value in enumerate(values.tolist()):
        if atom[i]:
            add(value, value, float(counts[i]))
            continue
        gap_before, gap_after = i > 0 and not atom[i - 1], i + 1 < len(values) and not atom[i + 1]
        before = gap_before or (i == 0 and tails[0])
        after = gap_after or (i + 1 == len(values) and tails[1])
        own = counts[i] - 0.5 * before - 0.5 * after
        if own > 0.0:
            add(value, value, float(own))
        if gap_after:
            add(value, float(values[i + 1]), 1.0)
    return low, high, shares


def _fewer(parts: Sequence[Array], far: Any, size: int) -> tuple[Array, Array, Array, Any]:
    """Cells with neighbours joined where there are too many, so that the mean stays what it was.

    Joined cells become two, which meet at their mean: of a part from a to b with the mean m the share (b − m)/(b − a)
    lies below m.
    """
    low, high, shares = parts
    if len(low) <= MOST_CELLS:
        return low, high, shares, far
    alone = (high == low) & (shares >= FREQUENT * size)
    alone[:ENDS] = alone[-ENDS:] = True
    width = np.where(alone, 0.0, high - low)
    alone |= width > np.sort(width)[-WIDEST - 1]
    block = np.cumsum(np.where(alone, 0.0, shares)) // max(2.0, shares[~alone].sum() / (MOST_CELLS - 2 * ENDS))
    new = alone[1:] | alone[:-1] | (far[1:] != far[:-1]) | (block[1:] != block[:-1])
    first = np.append(0, 1 + np.flatnonzero(new))
    last = np.append(first[1:], len(low)) - 1
    total = np.add.reduceat(shares, first)
    start, end = low[first], high[last]
    mean = np.add.reduceat(shares * (0.5 * low + 0.5 * high), first) / total
    joined = (last > first) & (start < mean) & (mean < end)
    below = np.where(joined, (end - mean) / np.where(joined, end - start, 1.0), 1.0)
    order = np.repeat(np.arange(len(first)), 1 + joined)
    upper = np.append(False, order[1:] == order[:-1])
    middle = np.where(joined, mean, end)[order]
    share = np.where(upper, 1.0 - below[order], below[order]) * total[order]
    return np.where(upper, middle, start[order]), np.where(upper, end[order], middle), share, far[first][order]


def _tail(x: Array, open_end: bool, limit: float) -> Tail | None:
    """How ascending outcomes go on above; None where the last one comes often, or is the limit."""
    if not open_end or x[-1] >= limit:
        return None
    size = int(np.clip(np.ceil(np.sqrt(len(x))), 2, max(2, len(x) // 2)))
    excess = x[-size:] - x[-size - 1]
    mean = float(excess.mean())
    if not mean > 0.0:
        return None
    # Probability-weighted moments [Hosking87], which need no search; few outcomes tell little of the index.
    weights = (size - np.arange(size) - 0.65) / size
    weighted = float((weights * excess).mean())
    index = 2.0 - mean / (mean - 2.0 * weighted) if mean > 2.0 * weighted else HEAVIEST
    index = float(np.clip(index * size / (size + 4.0), LIGHTEST, HEAVIEST))
    scale = mean * (1.0 - index) + index * float(excess[-1])
    return Tail(index, scale, size, float(limit))


def _excesses(tail: Tail, rng: np.random.Generator) -> Array:
    """The edges of the cells beyond the last outcome, of equal probability; how large they are is uncertain too."""
    scale = tail.scale * tail.size / max(rng.standard_gamma(tail.size), 0.2 * tail.size)
    left = np.append(1.0 - np.arange(STEPS) / STEPS, 0.25 / STEPS)
    if abs(tail.shape) < 1e-9:
        return np.asarray(-scale * np.log(left))
    return np.asarray(scale / tail.shape * (left**-tail.shape - 1.0))


def _far(x: Array, low: Array, high: Array) -> Any:
    """The cells of the half per cent of outcomes, one at least, that are farthest from the middle on one side, and of
    those that are odd."""
    size = max(1, round(0.005 * len(x)))
    middle, (odd, _) = float(np.median(x)), odd_ones(x)
    right = x[-1] - middle >= middle - x[0]
    above = min([x[-size] if right else np.inf, *odd[odd > middle]])
    below = max([-np.inf if right else x[size - 1], *odd[odd < middle]])
    return (high >= above) | (low <= below)


def _size(x: Array) -> float:
    """How much an outcome counts for: less than one, because squares of few outcomes of a skewed distribution tell less
    of its variance than they seem to."""
    z = x - x.mean()
    kurtosis = float((z**4).mean() / (z**2).mean() ** 2)
    return float(np.clip(WEIGHT / (1.0 + SKEWED * max(0.0, kurtosis - 3.0)), LEAST, WEIGHT))
