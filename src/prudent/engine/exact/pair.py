"""The pass for two arms of two values each, such as coins.

The weights are those of prudent.engine.exact.lattice, but all of a policy's states are in one array and one compiled
loop. State (s, a) of the first arm has s pulls, a of them of the larger value; (u, b) is that of the second arm. Row a
holds, for u = 0, 1, … and b = 0, …, u, what the states (s, a, u, b) give on by a pull of the first arm. Level s of it
is made from rows a − 1 and a of level s − 1, and replaces it. A row of level s ends with the states of n pulls in all,
which no later level touches, so that the rows hold the last layer in the end: n³/6 numbers, and no more.

Within a row u rises, and what the second arm's pull gives on stays in the fastest memory. Several levels follow each
other row by row, so that each row is read from slow memory once for all of them. Only the states between the first and
the last possible b are looked at, since deterministic policies reach few.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from prudent.base.arrays import Array, Counts
from prudent.compile.types import borrowed, compilable, kernel
from prudent.engine.exact.chances import ToldChances
from prudent.engine.exact.choices import Known, Scores, choices, keep_all
from prudent.engine.exact.draws import DrawnScores
from prudent.engine.exact.lattice import Lattice, Layer
from prudent.policies.contract import Arm
from prudent.policies.scoring import kept_of, score_of
from prudent.policies.ties import below

LEVELS = 8
"""So many levels follow each other. With more of them their rows do not fit into the fast memory."""

ROWS = 2**24
"""Probabilities of choices that are computed at a time."""


def fits_pair(lattice: Lattice) -> bool:
    """Whether the pass is for these arms."""
    return len(lattice) == 2 and all(len(arm.values) == 2 for arm in lattice.arms)


class Rows(NamedTuple):
    """The weights, row after row, and between which b they are possible, for each row and each u."""

    weights: Array
    start: Counts
    low: Any
    high: Any

    @classmethod
    def empty(cls, horizon: int) -> "Rows":
        sizes = [(horizon - a + 1) * (horizon - a + 2) // 2 for a in range(horizon + 1)]
        start = np.concatenate([[0], np.cumsum(sizes)])
        shape = (horizon + 1, horizon + 1)
        return cls(np.zeros(start[-1]), start, np.full(shape, horizon + 1, np.int32), np.full(shape, -1, np.int32))

    def layer(self, horizon: int) -> Layer:
        """The states after all rounds, by allocation."""
        found: Layer = {}
        for s in range(horizon + 1):
            u = horizon - s
            begins = self.start[: s + 1] + u * (u + 1) // 2
            weights = np.empty((s + 1, u + 1))
            for a, begin in enumerate(begins):
                weights[a] = self.weights[begin : begin + u + 1]
            if weights.any():
                found[s, u] = weights
        return found


# How the weights of states are split between the two arms. Each has the method
# split(s, a, u, low, kept, given): of the weights `kept` of the states b = low, low + 1, …, what the second arm is
# pulled with moves to `given`.


class Bounds(NamedTuple):
    """By scores of each arm alone: the second arm is pulled if its score is below the other one by more than rounding.
    `start` is where the scores of each round begin."""

    start: Counts
    first: Array
    second: Array

    def split(self, s: int, a: int, u: int, low: int, kept: Array, given: Array) -> None:
        begin = self.start[s + u + 1]
        limit = self.first[begin + s * (s + 1) // 2 + a]
        place = begin + u * (u + 1) // 2 + low
        scores = self.second[place : place + len(kept)]
        for b in range(len(kept)):
            moved = kept[b] if scores[b] < limit else 0.0
            given[b] = moved
            kept[b] -= moved


class Compared(NamedTuple):
    """By scores that compare with the smaller cost of both arms."""

    policy: Any
    room: Array
    first: Known
    second: Known
    bad: Any

    def split(self, s: int, a: int, u: int, low: int, kept: Array, given: Array) -> None:
        i, j = s * (s + 1) // 2 + a, u * (u + 1) // 2 + low
        one = Arm(s, self.first.mean[i], self.first.variance[i])
        for b in range(len(kept)):
            given[b] = 0.0
            if kept[b] > 0.0 and s > 0 and (u == 0 or self.second_is_lower(i, one, j + b, u)):
                given[b], kept[b] = kept[b], 0.0

    def second_is_lower(self, i: int, one: Arm, j: int, u: int) -> bool:
        """Whether the score of the second arm, in its state j after u pulls, is below that of the first one."""
        cost, best = self.second.cost[j], self.first.cost[i]
        other = Arm(u, self.second.mean[j], self.second.variance[j])
        if cost <= best:
            score, limit = self.second.as_best[j], self.score(self.first, i, one, cost)
        else:
            score, limit = self.score(self.second, j, other, best), self.first.as_best[i]
        if math.isnan(score) or math.isnan(limit):
            self.bad[0] = True
        return below(score, other, limit, one)

    def score(self, known: Known, state: int, arm: Arm, best_cost: float) -> float:
        keep_all(self.policy, self.room, known.values, known.counts[state])
        return score_of(self.policy, arm, best_cost, 0, 0, kept_of(self.policy, self.room, 0, arm.pulls))


class Shares(NamedTuple):
    """By the probabilities of both arms: one table each for `rows` of one level, from row `top` downwards."""

    top: int
    first: Array
    second: Array

    def split(self, s: int, a: int, u: int, low: int, kept: Array, given: Array) -> None:
        place = u * (u + 1) // 2 + low
        stay, move = self.first[self.top - a, place:], self.second[self.top - a, place:]
        for b in range(len(kept)):
            given[b] = kept[b] * move[b]
            kept[b] *= stay[b]


for _each in (Bounds, Compared, Shares):
    compilable(_each)


def last_layer_of_pair(owner: str, ready: Any, lattice: Lattice) -> Layer:
    """W of the states after all rounds, for a policy that decides round by round."""
    n, chosen = lattice.horizon, choices(owner, ready, lattice)
    rows = Rows.empty(n)
    if isinstance(chosen, Scores):
        bad = np.zeros(1, np.bool_)
        how = Compared(*chosen.comparison(), bad) if chosen.compared else Bounds(*chosen.all_bounds())
        _sweep(rows, how, n, 0, n, n, 0, LEVELS)
        chosen.check(bool(bad[0]))
    elif isinstance(chosen, ToldChances):
        bad = np.zeros(1, np.bool_)
        _sweep(rows, chosen.of_pair(bad), n, 0, n, n, 0, LEVELS)
        chosen.check(bool(bad[0]))
    else:
        for s in range(n + 1):
            _sweep_drawn(rows, chosen, n, s)
    return rows.layer(n)


def _sweep_drawn(rows: Rows, chosen: DrawnScores, n: int, s: int) -> None:
    """One level, the probabilities of choices for some of its rows at a time."""
    states = (n - s + 1) * (n - s + 2) // 2
    step = max(1, ROWS // states)
    for top in range(s, -1, -step):
        bottom = max(0, top - step + 1)
        _sweep(rows, Shares(top, *chosen.of_rows(s, bottom, top, n - s)), n, s, s, top, bottom, 1)


@kernel
def _sweep(rows: Any, how: Any, n: int, first: int, last: int, top: int, bottom: int, levels: int) -> None:
    """Replace the rows from `top` to `bottom` of these levels, as many levels at a time as it says."""
    rows, how = borrowed(rows), borrowed(how)
    received, given, nothing = np.zeros(n + 4), np.zeros(n + 4), np.zeros(n + 4)
    numbers = np.arange(n + 4).astype(np.float64)
    for begin in range(first, last + 1, levels):
        for step in range(min(begin, top), bottom - levels, -1):
            for d in range(levels):
                s, a = begin + d, step + d
                if s <= last and bottom <= a <= s:
                    _replace(rows, how, n, s, a, received, given, numbers, nothing)


@kernel
def _replace(
    rows: Any, how: Any, n: int, s: int, a: int, received: Array, given: Array, numbers: Array, nothing: Array
) -> None:
    """Row a of level s. What the second arm gave from b is in `received[b + 1]`."""
    own = rows.weights[rows.start[a] : rows.start[a + 1]]
    before = rows.weights[rows.start[a - 1] : rows.start[a]] if a > 0 else own
    more, same = (a / s, (s - a) / s) if s > 0 else (0.0, 0.0)
    first, last = 0, -1  # of the b that receive something from the second arm
    for u in range(n - s + 1):
        low, high = (first, last + 1) if last >= first else (n + 1, -1)
        if s == u == 0:
            low, high = 0, 0
        if a < s:
            low, high = min(low, rows.low[a, u]), max(high, rows.high[a, u])
        if a > 0:
            low, high = min(low, rows.low[a - 1, u]), max(high, rows.high[a - 1, u])
        if high < low:
            rows.low[a, u], rows.high[a, u] = n + 1, -1
            first, last = 0, -1
            continue
        place, count = u * (u + 1) // 2 + low, high - low + 1
        kept, other, b = own[place : place + count], before[place : place + count], numbers[low : high + 1]
        fewer, equal = nothing, nothing
        if last >= first:
            received[low : first + 1] = 0.0
            received[last + 2 : high + 2] = 0.0
            fewer, equal = received[low:], received[low + 1 :]
        whole, part = float(u), 1.0 / max(u, 1)
        if s == 0:
            for i in range(count):
                kept[i] = (b[i] * fewer[i] + (whole - b[i]) * equal[i]) * part
            kept[0] += u == 0
        elif a == s:
            for i in range(count):
                kept[i] = more * other[i] + (b[i] * fewer[i] + (whole - b[i]) * equal[i]) * part
        elif a == 0:
            for i in range(count):
                kept[i] = same * kept[i] + (b[i] * fewer[i] + (whole - b[i]) * equal[i]) * part
        else:
            for i in range(count):
                kept[i] = same * kept[i] + more * other[i] + (b[i] * fewer[i] + (whole - b[i]) * equal[i]) * part
        if u == n - s:
            return
        moved = given[low + 1 : high + 2]
        how.split(s, a, u, low, kept, moved)
        rows.low[a, u], rows.high[a, u] = _range(kept, low, n)
        first, last = _range(moved, low, n)
        received, given = given, received


@kernel
def _range(weights: Array, low: int, n: int) -> tuple[int, int]:
    """The first and the last place of a weight that is not 0, counted from `low`; n + 1 and −1 if there is none."""
    begin, end = 0, len(weights) - 1
    while begin <= end and weights[begin] == 0.0:
        begin += 1
    while end >= begin and weights[end] == 0.0:
        end -= 1
    return (low + begin, low + end) if begin <= end else (n + 1, -1)
