"""Drawing rewards inside kernels.

The arms of a bandit are laid out as a table of numbers, so that one compiled loop serves every mix of laws: arm i
has a kind and a place in the table where its parameters start. A mixture's components follow the arms themselves.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from prudent.arms.quantile_tables import GUIDES, POWERS
from prudent.compile.types import PolicyType, compiled_class, helper, in_kernels, inlined, kernel, simpler_for

GAUSSIAN, BERNOULLI, BETA, UNIFORM, EXPONENTIAL, TRUNCATED, MIXTURE, DETERMINISTIC, EMPIRICAL, STUDENT = range(10)
TABLED = 10
OWN = 11
"""The first of the kinds with a draw of their own, which are numbered within a bandit."""


class Laws(NamedTuple):
    """The laws of a bandit's arms as numbers."""

    kind: NDArray[np.int64]
    start: NDArray[np.int64]
    table: NDArray[np.float64]


class GaussianLaws(Laws):
    """The laws of arms that are all Gaussian: kernels for these are compiled without the other laws."""

    __slots__ = ()


class PairLaws(Laws):
    """The laws of arms with two values each, as mixtures of two constants that stand after the weights."""

    __slots__ = ()


@kernel
def draw(laws: Laws, arm: int, rng: Generator) -> float:
    """One reward of an arm of any law."""
    kind, at, table = laws.kind[arm], laws.start[arm], laws.table
    while kind == MIXTURE:
        arm = _component(table, at, rng)
        kind, at = laws.kind[arm], laws.start[arm]
    if kind == GAUSSIAN:
        return table[at] + table[at + 1] * rng.standard_normal()
    if kind == TABLED:
        return tabled(table, at, rng)
    if kind == DETERMINISTIC:
        return table[at]
    if kind == BERNOULLI:
        return 1.0 if rng.random() < table[at] else 0.0
    if kind == UNIFORM:
        return table[at] + (table[at + 1] - table[at]) * rng.random()
    if kind == BETA:
        return rng.beta(table[at], table[at + 1])
    if kind == EXPONENTIAL:
        return table[at] * rng.standard_exponential()
    if kind == STUDENT:
        return table[at + 1] + table[at + 2] * rng.standard_t(table[at])
    if kind == TRUNCATED:
        return table[at] + table[at + 1] * _truncated(table[at + 2], table[at + 3], rng)
    if kind >= OWN:
        return draw_own(laws, kind, rng)
    return table[at + 2 + rng.integers(0, np.int64(table[at]))]


@simpler_for(draw, GaussianLaws)
def _draw_gaussian(laws: Laws, arm: int, rng: Generator) -> float:
    return laws.table[laws.start[arm]] + laws.table[laws.start[arm] + 1] * rng.standard_normal()


@simpler_for(draw, PairLaws)
def _draw_one_of_two(laws: Laws, arm: int, rng: Generator) -> float:
    at = laws.start[arm]
    return laws.table[at + 4] if rng.random() < laws.table[at + 2] else laws.table[at + 5]


def draw_own(laws: Any, kind: int, rng: Generator) -> float:
    """A reward of a law with a draw of its own; only `OwnLaws` have such."""
    reward: float = laws.own(kind, rng)
    return reward


def own_laws(draws: tuple[Callable[[Generator], float], ...]) -> Any:
    """The class of laws of which some have these draws of their own, made anew where their code has changed."""

    def own(self: object, kind: int, rng: Generator) -> float:
        return np.nan

    for number, drawn in enumerate(draws):
        own = _or_else(OWN + number, helper(drawn), helper(own))
    made = type("OwnLaws", (Laws,), {"__slots__": (), "own": own, "draws": draws})
    return compiled_class(made)


def _or_else(number: int, drawn: Callable[[Generator], float], rest: Callable[..., float]) -> Callable[..., float]:
    def own(self: object, kind: int, rng: Generator) -> float:
        return float(drawn(rng)) if kind == number else rest(self, kind, rng)

    return own


@in_kernels(draw_own)
def _draw_own(laws: object, kind: int, rng: Generator) -> Any:
    if isinstance(laws, PolicyType):
        return lambda laws, kind, rng: laws.own(kind, rng)
    return lambda laws, kind, rng: np.nan


@inlined
def tabled(table: NDArray[np.float64], at: int, rng: Generator) -> float:
    """A reward from a table of the quantile function (arms/quantile_tables.py): the number of segments, whether one is
    constant, the support, a segment to begin with for each part of (0, 1), the edges, and six powers a segment."""
    u = rng.random()
    segments = np.int64(table[at])
    edges = at + 4 + GUIDES
    i = np.int64(table[at + 4 + np.int64(u * GUIDES)])
    while i > 0 and u < table[edges + i]:
        i -= 1
    while i < segments - 1 and u >= table[edges + i + 1]:
        i += 1
    x = max(u - table[edges + i], 0.0)
    c = edges + segments + 1 + POWERS * i
    # Pairs of terms at a time: the next round waits for this number, and so it waits half as long.
    square = x * x
    low, high = table[c] + table[c + 1] * x, table[c + 2] + table[c + 3] * x
    reward = low + square * (high + square * (table[c + 4] + table[c + 5] * x))
    return min(max(reward, table[at + 2]), table[at + 3])


@kernel
def _component(table: NDArray[np.float64], at: int, rng: Generator) -> int:
    """The component a mixture draws from: the table holds their number, the first one's place, and the cumulative
    weights, of which the last is 1."""
    u = rng.random()
    chosen = 0
    while u >= table[at + 2 + chosen] and chosen < np.int64(table[at]) - 1:
        chosen += 1
    return int(table[at + 1]) + chosen


@kernel
def _truncated(low: float, high: float, rng: Generator) -> float:
    """A standard normal given that it lies in [low, high], by rejection [Robert95].

    An interval in the upper tail (mirrored for the lower one) takes an exponential proposal, a short one a uniform
    proposal, any other the normal itself.
    """
    mirrored = high < 0.0
    if mirrored:
        low, high = -high, -low
    rate = 0.5 * (low + np.sqrt(low * low + 4.0)) if low > 0.0 else 0.0
    uniform = (high - low) * rate < 1.0 if low > 0.0 else high - low < 2.5
    while True:
        if uniform:
            x = low + (high - low) * rng.random()
            top = low if low > 0.0 else 0.0
            accept = np.exp(0.5 * (top * top - x * x))
        elif low > 0.0:
            x = low + rng.standard_exponential() / rate
            accept = np.exp(-0.5 * (x - rate) * (x - rate)) if x <= high else 0.0
        else:
            x = rng.standard_normal()
            accept = 1.0 if low <= x <= high else 0.0
        if rng.random() < accept:
            return -x if mirrored else x


@kernel
def may_tie(laws: Laws, n_arms: int) -> bool:
    """Whether the scores of two arms can be equal with positive probability: it takes two arms that have a value of
    positive probability. A mixture is taken for one, and so is a law with a draw of its own."""
    count = 0
    for i in range(n_arms):
        kind = laws.kind[i]
        constant = kind == GAUSSIAN and laws.table[laws.start[i] + 1] == 0.0
        constant = constant or (kind == TABLED and laws.table[laws.start[i] + 1] == 1.0)
        count += constant or kind in (BERNOULLI, DETERMINISTIC, EMPIRICAL, MIXTURE) or kind >= OWN
    return count > 1


@kernel
def draw_many(laws: Laws, arm: int, rewards: NDArray[np.float64], rng: Generator) -> None:
    """Fill an array with rewards of the arm."""
    for i in range(len(rewards)):
        rewards[i] = draw(laws, arm, rng)


@kernel
def draw_block(laws: Laws, arm: int, size: int, rng: Generator) -> tuple[float, float]:
    """Mean and variance (divided by size) of `size` fresh rewards, without drawing them one by one where the law
    of the pair is known: normal and χ² for Gaussian arms, binomial for Bernoulli and multinomial for empirical ones."""
    kind, at, table = laws.kind[arm], laws.start[arm], laws.table
    if size == 0:
        return 0.0, 0.0
    if kind == DETERMINISTIC:
        return table[at], 0.0
    if kind == GAUSSIAN:
        return _gaussian_block(table[at], table[at + 1], size, rng)
    if kind == BERNOULLI:
        mean = rng.binomial(size, table[at]) / size
        return mean, mean * (1.0 - mean)
    if kind == EMPIRICAL and size > table[at + 1]:
        return _multinomial(table, at, size, rng)
    mean, variance = 0.0, 0.0
    for count in range(1, size + 1):
        mean, variance = include(count, mean, variance, draw(laws, arm, rng))
    return mean, variance


@simpler_for(draw_block, GaussianLaws)
def _draw_gaussian_block(laws: Laws, arm: int, size: int, rng: Generator) -> tuple[float, float]:
    if size == 0:
        return 0.0, 0.0
    return _gaussian_block(laws.table[laws.start[arm]], laws.table[laws.start[arm] + 1], size, rng)


@kernel
def _gaussian_block(mean: float, deviation: float, size: int, rng: Generator) -> tuple[float, float]:
    """Mean and variance of `size` Gaussian rewards, at least one."""
    block_mean = mean + deviation * rng.standard_normal() / np.sqrt(size)
    if size == 1:
        return block_mean, 0.0
    return block_mean, deviation**2 * rng.chisquare(size - 1.0) / size


@kernel
def _multinomial(table: NDArray[np.float64], at: int, size: int, rng: Generator) -> tuple[float, float]:
    """Mean and variance of `size` draws from observed values: the table holds their number, the number of different
    ones, the values, the different values, and how often each occurs."""
    values, distinct = np.int64(table[at]), np.int64(table[at + 1])
    first = at + 2 + values
    left, pool = size, table[at]
    mean, variance = 0.0, 0.0
    for j in range(distinct):
        times = table[first + distinct + j]
        count = left if j == distinct - 1 else rng.binomial(left, times / pool)
        mean, variance = merge(size - left, mean, variance, count, table[first + j], 0.0)
        left -= count
        pool -= times
        if left == 0:
            break
    return mean, variance


@inlined
def include(count: int, mean: float, variance: float, reward: float) -> tuple[float, float]:
    """Mean and variance after the `count`-th reward (Welford)."""
    share = 1.0 / count
    deviation = reward - mean
    mean += deviation * share
    return mean, variance + (deviation * (reward - mean) - variance) * share


@kernel
def merge(
    count: int, mean: float, variance: float, more: int, more_mean: float, more_variance: float
) -> tuple[float, float]:
    """Mean and variance of two groups of rewards together (Chan)."""
    total = count + more
    if total == 0:
        return 0.0, 0.0
    share = more / total
    gap = more_mean - mean
    return mean + gap * share, variance + (more_variance - variance + gap * gap * (1.0 - share)) * share
