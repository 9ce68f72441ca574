"""The exact law of what a policy pulls, found by enumeration on arms with few values.

Every policy is written here once more, from its description and in exact arithmetic: costs are fractions, widths have
60 digits, so that equal scores are equal, and ties go where the rule says. All sequences of rewards are followed,
those with the same counts together.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from prudent import Bandit, Bernoulli, Empirical, Law, MeanVariance, identify, simulate

getcontext().prec = 60
EQUAL = Decimal(10) ** -40

Counts = tuple[int, ...]
"""How often each value of an arm was seen."""
State = tuple[Counts, ...]
Choice = dict[tuple[int, ...], float]
"""What may be pulled next, with probabilities; arms named together are pulled together."""


class Exact(NamedTuple):
    """Arms on few values, and a tolerance for risk, as fractions."""

    values: tuple[tuple[Fraction, ...], ...]
    rho: Fraction

    def cost(self, arm: int, counts: Counts) -> Fraction:
        pulls = sum(counts)
        first = sum(c * v for c, v in zip(counts, self.values[arm], strict=True)) / pulls
        second = sum(c * v * v for c, v in zip(counts, self.values[arm], strict=True)) / pulls
        return second - first * first - self.rho * first

    def costs(self, state: State) -> list[Decimal]:
        return [number(self.cost(i, counts)) for i, counts in enumerate(state)]


@cache
def number(fraction: Fraction) -> Decimal:
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def first_smallest(scores: Sequence[Decimal]) -> int:
    """The smallest score, ties to the lowest number."""
    return next(i for i, score in enumerate(scores) if score - min(scores) < EQUAL)


def last_largest(scores: Sequence[Decimal]) -> int:
    """The largest score, ties to the highest number."""
    return max(i for i, score in enumerate(scores) if max(scores) - score < EQUAL)


def pulls_of(state: State) -> list[int]:
    return [sum(counts) for counts in state]


# The policies: what to pull in a state; an answer, once there is one, is pulled to the end.


def exploring(n: int, k: int) -> int:
    """⌈(n/14)^(2/3)⌉ pulls of each arm, at most ⌊n/K⌋; nine digits tell whether the power is whole."""
    return min(math.ceil(round((n / 14) ** (2 / 3), 9)), n // k)


def mv_dsee(arms: Exact, state: State, t: int, n: int) -> Choice:
    """Explore in round t if fewer than t^(2/3) rounds explored, at least K; else the cheapest arm until then."""
    k, explored = len(state), 0
    explores = []
    for s in range(1, n + 1):
        explores.append(explored < max(k, s ** (2 / 3) - 1e-9))
        explored += explores[-1]
    if explores[t - 1]:
        return {(sum(explores[: t - 1]) % k,): 1.0}
    stretch = next((s for s in range(t, n) if explores[s]), n) - t + 1
    return {(first_smallest(arms.costs(state)),) * stretch: 1.0}


def epsilon_greedy(arms: Exact, state: State, t: int, n: int) -> Choice:
    """A random arm with probability 0.1, else the cheapest."""
    pulls = pulls_of(state)
    if min(pulls) == 0:
        return {(pulls.index(0),): 1.0}
    best = first_smallest(arms.costs(state))
    return {(i,): 0.1 / len(state) + 0.9 * (i == best) for i in range(len(state))}


def index(arms: Exact, state: State, width: Decimal, unbiased: bool) -> list[Decimal]:
    """V̂ − ρ μ̂ − width/√s of every arm, with the variance divided by s − 1 if it is to be unbiased."""
    scores = []
    for i, counts in enumerate(state):
        s = sum(counts)
        mean = sum(c * v for c, v in zip(counts, arms.values[i], strict=True)) / s
        variance = arms.cost(i, counts) + arms.rho * mean
        if unbiased:
            variance *= Fraction(s, s - 1)
        scores.append(number(variance - arms.rho * mean) - width / Decimal(s).sqrt())
    return scores


def mv_lcb(arms: Exact, state: State, t: int, n: int) -> Choice:
    """The smallest V̂ − ρ μ̂ − (5 + ρ)√(log(1/δ)/2s), δ = 1/n²; every arm once first."""
    pulls = pulls_of(state)
    if min(pulls) == 0:
        return {(pulls.index(0),): 1.0}
    width = (5 + number(arms.rho)) * Decimal(n).ln().sqrt()
    return {(first_smallest(index(arms, state, width, False)),): 1.0}


def best_of_both(arms: Exact, state: State, t: int, n: int) -> Choice:
    """Sharp MV-LCB until (K − 1)⌈(n/14)^(2/3)⌉ rounds went to other arms than the most pulled, then that one."""
    k, pulls = len(state), pulls_of(state)
    if min(pulls) < 2:
        return {tuple(i for i in range(k) if pulls[i] == min(pulls)): 1.0}
    budget = (k - 1) * exploring(n, k)
    costs = index(arms, state, Decimal(0), True)
    leaders = [i for i in range(k) if pulls[i] == max(pulls)]
    leader = leaders[first_smallest([costs[i] for i in leaders])]
    if sum(pulls) - pulls[leader] >= budget:
        return {(leader,): 1.0}
    lowest = first_smallest(index(arms, state, (1 + number(arms.rho)) * Decimal(n).ln().sqrt(), True))
    second = sorted(pulls)[-2]
    times = max(1, (pulls[leader] - second) // 8) if lowest == leader else 1
    return {(lowest,) * times: 1.0}


def mv_imed(arms: Exact, state: State, t: int, n: int) -> Choice:
    """The smallest (s − 2)K + log s, sK + log s if ρ = 0, of the empirical Gaussians; every arm three times first."""
    pulls = pulls_of(state)
    if min(pulls) < 3:
        return {(next(i for i, s in enumerate(pulls) if s < 3),): 1.0}
    costs, rho = arms.costs(state), number(arms.rho)
    scores = []
    for i, counts in enumerate(state):
        mean = number(sum(c * v for c, v in zip(counts, arms.values[i], strict=True)) / Fraction(pulls[i]))
        price = gaussian_price(mean, costs[i] + rho * mean, min(costs), rho)
        scores.append((pulls[i] if rho == 0 else pulls[i] - 2) * price + Decimal(pulls[i]).ln())
    return {(first_smallest(scores),): 1.0}


def gaussian_price(mean: Decimal, variance: Decimal, cost: Decimal, rho: Decimal) -> Decimal:
    """K(μ, v; c) as the derivation has it, with the nearest variance v′ and mean m′; 10³⁰ stands for infinity."""
    if variance - rho * mean - cost < EQUAL:
        return Decimal(0)
    if variance < EQUAL or (rho == 0 and cost < EQUAL):
        return Decimal(10) ** 30
    if rho == 0:
        return ((cost / variance).ln() + variance / cost - 1) / 2
    a = cost + rho * mean
    q = variance + a * a / rho**2
    nearest = 2 * q / (1 + (1 + 4 * q / rho**2).sqrt())
    shift = mean - (nearest - cost) / rho
    return ((nearest / variance).ln() + (variance + shift * shift) / nearest - 1) / 2


def bernoulli_mv_imed(arms: Exact, state: State, t: int, n: int) -> Choice:
    """The smallest s·kl + log s, kl the smaller one to the two probabilities whose cost is the smallest seen."""
    pulls = pulls_of(state)
    if min(pulls) == 0:
        return {(pulls.index(0),): 1.0}
    costs, rho = arms.costs(state), number(arms.rho)
    best, scores = min(costs), []
    for i, counts in enumerate(state):
        p, price = number(Fraction(counts[-1], pulls[i])), Decimal(0)
        if costs[i] - best >= EQUAL:
            root = ((1 - rho) ** 2 - 4 * best).sqrt()
            price = min(coin_price(p, (1 - rho - root) / 2), coin_price(p, (1 - rho + root) / 2))
        scores.append(pulls[i] * price + Decimal(pulls[i]).ln())
    return {(first_smallest(scores),): 1.0}


def coin_price(p: Decimal, q: Decimal) -> Decimal:
    """kl(p, q) of two coins; 10³⁰ stands for infinity."""
    if q < -EQUAL or q > 1 + EQUAL or (q < EQUAL and p > 0) or (1 - q < EQUAL and p < 1):
        return Decimal(10) ** 30
    ones = p * (p / q).ln() if p > 0 else Decimal(0)
    return ones + ((1 - p) * ((1 - p) / (1 - q)).ln() if p < 1 else Decimal(0))


def ucb_e(arms: Exact, state: State, t: int, n: int) -> Choice:
    """The smallest cost − √(a/s), a = 25(n − K)/(36 · 16 K); after n pulls, the cheapest."""
    pulls, k = pulls_of(state), len(state)
    if min(pulls) == 0:
        return {(pulls.index(0),): 1.0}
    a = number(Fraction(25 * (n - k), 36 * 16 * k))
    return {(first_smallest([c - (a / s).sqrt() for c, s in zip(arms.costs(state), pulls, strict=True)]),): 1.0}


POLICIES: dict[str, Callable[[Exact, State, int, int], Choice]] = {
    "mv-dsee": mv_dsee,
    "epsilon-greedy": epsilon_greedy,
    "mv-lcb": mv_lcb,
    "best-of-both": best_of_both,
    "mv-imed": mv_imed,
}
COMPARED = ("mv-imed", "bernoulli-mv-imed")
"""Those that do not leap."""


def fractions(law: Law) -> tuple[tuple[Fraction, ...], tuple[float, ...]]:
    """An arm's values, as the decimals that were meant, and their probabilities."""
    values, probabilities = law.atoms()  # type: ignore[misc]
    return tuple(Fraction(str(float(v))) for v in values), tuple(map(float, probabilities))


def exact(bandit: Bandit, rho: float) -> Exact:
    return Exact(tuple(fractions(law)[0] for law in bandit.arms), Fraction(str(rho)))


def follow(bandit: Bandit, rho: float, decide: Callable[..., Choice], n: int) -> Iterator[tuple[State, float]]:
    """All that may have been seen after n rounds, with probabilities."""
    arms, laws = exact(bandit, rho), [fractions(law) for law in bandit.arms]
    here: dict[tuple[State, tuple[int, ...]], float] = {(tuple((0,) * len(v) for v, _ in laws), ()): 1.0}
    choose = cache(lambda state, t: decide(arms, state, t, n))
    for t in range(1, n + 1):
        there: dict[Any, float] = defaultdict(float)
        for (state, due), weight in here.items():
            for pulled, chance in {due: 1.0}.items() if due else choose(state, t).items():
                arm, rest = pulled[0], pulled[1:]
                for value, p in enumerate(laws[arm][1]):
                    counts = tuple(c + (j == value) for j, c in enumerate(state[arm]))
                    there[(*state[:arm], counts, *state[arm + 1 :]), rest] += weight * chance * p
        here = there
    yield from ((state, weight) for (state, _), weight in here.items())


def multinomial(pulls: int, probabilities: Sequence[float]) -> Iterator[tuple[Counts, float]]:
    """All counts of so many draws, with probabilities."""
    if len(probabilities) == 1:
        yield (pulls,), 1.0
        return
    p, left = probabilities[0], 1.0 - probabilities[0]
    for first in range(pulls + 1):
        chance = math.comb(pulls, first) * p**first * left ** (pulls - first)
        rest = [q / left for q in probabilities[1:]] if left > 0.0 else [1.0, *probabilities[2:]]
        yield from (((first, *counts), chance * q) for counts, q in multinomial(pulls - first, rest))


def ranks(arms: Exact, pulls: int, laws: Sequence[Any]) -> list[tuple[np.ndarray, np.ndarray, list[Counts]]]:
    """For every arm pulled so often: the rank of the cost of all its counts, equal ones sharing it, and their law."""
    seen = [list(multinomial(pulls, probabilities)) for _, probabilities in laws]
    costs = [[arms.cost(i, counts) for counts, _ in arm] for i, arm in enumerate(seen)]
    order = {cost: rank for rank, cost in enumerate(sorted({cost for arm in costs for cost in arm}))}
    return [
        (np.array([order[c] for c in cost]), np.array([p for _, p in arm]), [counts for counts, _ in arm])
        for cost, arm in zip(costs, seen, strict=True)
    ]


def commits(bandit: Bandit, rho: float, n: int) -> float:
    """The probability that ExpExp keeps arm 0, for long horizons: all pairs of counts after exploring."""
    laws = [fractions(law) for law in bandit.arms]
    (one, p, _), (two, q, _) = ranks(exact(bandit, rho), exploring(n, 2), laws)
    return float((np.outer(p, q) * (one[:, None] <= two[None, :])).sum())


def rejects(bandit: Bandit, rho: float, budget: int) -> float:
    """The probability that Successive Rejects answers arm 0: all counts of the arms left, phase by phase."""
    arms, laws = exact(bandit, rho), [fractions(law) for law in bandit.arms]
    k = len(laws)
    logbar = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, k + 1))
    done, left = 0, {tuple(range(k)): np.ones((1,) * k)}
    for alive in range(k, 1, -1):
        target = max(1, math.ceil((budget - k) / (logbar * alive)))
        before = [[counts for counts, _ in multinomial(done, p)] for _, p in laws]
        after = ranks(arms, target, laws)
        more = [list(multinomial(target - done, p)) for _, p in laws]
        there: dict[tuple[int, ...], np.ndarray] = defaultdict(lambda: np.zeros(1))
        for names, start in left.items():
            weight = start
            for axis, i in enumerate(names):
                places = {counts: j for j, counts in enumerate(after[i][2])}
                step = np.zeros((len(before[i]), len(places)))
                for j, old in enumerate(before[i]):
                    for new, p in more[i]:
                        step[j, places[tuple(a + b for a, b in zip(old, new, strict=True))]] += p
                weight = np.moveaxis(np.tensordot(weight, step, (axis, 0)), -1, axis)
            grid = np.stack(np.meshgrid(*(after[i][0] for i in names), indexing="ij"))
            worst = len(names) - 1 - grid[::-1].argmax(0)
            for axis, i in enumerate(names):
                rest = tuple(other for other in names if other != i)
                there[rest] = there[rest] + np.where(worst == axis, weight, 0.0).sum(axis)
        done, left = target, dict(there)
    return float(left[(0,)].sum())


# The cells


class Cell(NamedTuple):
    """What is played, and the exact mean and variance of what is looked at."""

    title: str
    mean: float
    variance: float
    play: Callable[[int, int], np.ndarray]

    def z(self, runs: int, seed: int) -> tuple[float, float]:
        """The mean found, and how many standard errors it is off."""
        found = float(self.play(runs, seed).mean())
        return found, (found - self.mean) / math.sqrt(max(self.variance, 1e-12) / runs)  # 1e-12: it may be certain


def simulated(policy: str, bandit: Bandit, rho: float, n: int) -> list[Cell]:
    """The pulls of arm 0, by both engines."""
    if policy == "exp-exp":
        kept, each = commits(bandit, rho, n), exploring(n, len(bandit))
        mean, variance = each + kept * (n - 2 * each), kept * (1.0 - kept) * (n - 2 * each) ** 2
    else:
        decide = bernoulli_mv_imed if policy == "bernoulli-mv-imed" else POLICIES[policy]
        mean, variance = moments(follow(bandit, rho, decide, n))

    def play(engine: str, runs: int, seed: int) -> np.ndarray:
        found = simulate(bandit, policy, risk=MeanVariance(rho), horizon=n, runs=runs, seed=seed, engine=engine)
        return np.asarray(found.pulls[:, 0])

    title = f"{policy}, {bandit}, ρ = {rho:g}, n = {n:,}"
    engines = ("stepping",) if policy in COMPARED else ("stepping", "leaping")
    return [Cell(f"{title}, {name}", mean, variance, partial(play, name)) for name in engines]


def moments(states: Iterable[tuple[State, float]]) -> tuple[float, float]:
    """Mean and variance of the pulls of arm 0."""
    pulls, weights = np.array([(sum(state[0]), weight) for state, weight in states]).T
    mean = float(weights @ pulls)
    return mean, float(weights @ (pulls - mean) ** 2)


def identified(strategy: str, bandit: Bandit, rho: float, budget: int) -> list[Cell]:
    """How often arm 0 is the answer."""
    if strategy == "successive-rejects":
        mean = rejects(bandit, rho, budget)
    else:
        costs, ends = exact(bandit, rho).costs, follow(bandit, rho, ucb_e, budget)
        mean = sum(weight for state, weight in ends if first_smallest(costs(state)) == 0)

    def play(runs: int, seed: int) -> np.ndarray:
        found = identify(bandit, strategy, risk=MeanVariance(rho), budget=budget, runs=runs, seed=seed)
        return np.asarray(found.recommended == 0)

    return [Cell(f"{strategy}, {bandit}, ρ = {rho:g}, budget {budget:,}", mean, mean * (1.0 - mean), play)]


def bandits(order: int) -> list[tuple[Bandit, float, int]]:
    """Two arms with many ties, with ρ, and the rounds for which all that may be seen can be followed."""
    bernoulli = [((0.95, 0.9), 0.0), ((0.3, 0.7), 0.0), ((0.2, 0.4), 0.5)]
    three = [(([0.0, 0.5, 1.0], [0.0, 0.0, 0.5, 1.0]), 0.0), (([0.1, 0.2, 0.7], [0.1, 0.3, 0.6]), 1.0)]
    two_valued = [(Bandit([Bernoulli(p) for p in both[::order]]), rho, 30) for both, rho in bernoulli]
    return two_valued + [(Bandit([Empirical(v) for v in both[::order]]), rho, 12) for both, rho in three]


def cells(orders: Sequence[int] = (1, -1)) -> Iterator[Cell]:
    """All cells, with the arms in these orders (1 as listed, −1 reversed)."""
    for order in orders:
        for bandit, rho, n in bandits(order):
            yield from simulated("exp-exp", bandit, rho, 35 * n)
            yield from identified("successive-rejects", bandit, rho, 2 * n)
            yield from identified("ucb-e", bandit, rho, n)
            for policy in POLICIES:
                yield from simulated(policy, bandit, rho, n)
        near = Bandit([Bernoulli(p) for p in (0.98, 0.97)[::order]])
        yield from simulated("exp-exp", near, 0.0, 10_000)
        four = Bandit([Bernoulli(p) for p in (0.5, 0.45, 0.4, 0.3)[::order]])
        yield from identified("successive-rejects", four, 1.0, 200)
