"""The multi-period problem of the paper's conclusions: the sequence of arms whose sum of rewards has the least risk.

A sequence is a plan made before the first reward. Rewards are independent, so the law of their sum depends only on how
often each arm is pulled, its counts; the order does not matter. What is known of the best counts:

*Additive measures* (mean-variance, entropic). The cost of the sum is Σ counts_i cost_i, which is linear, so the arm of
smallest cost is the best sequence at every n. The paper says so of the mean-variance in a remark.

*Gaussian arms.* The sum is N(M, V), M and V linear in the counts. A distortion (CVaR, value at risk, every spectral
measure) costs −M + k√V with k = cost(N(0, 1)). For k ≥ 0 this is concave in the counts, so a single arm is best again.

*Other arms, few periods.* All counts are tried; laws on a lattice are convolved. A mix may beat every single arm.

*Other arms, many periods.* For a spectral measure of slope s = g′(0) (1/α for CVaR) costs of two laws differ by at most
s ∫|F − G| dx. For G = N(M, V) that integral is at most Σ counts_i β_i / V, β_i = E|X_i − μ_i|³, and an arm that is
itself Gaussian adds nothing to the numerator ([Goldstein10], which builds on the bound 2E|W* − W| of [Goldstein07]).
The ratio is at most max β_i/σ_i² = B, whatever the counts. Together with the concavity: every sequence costs at least

    min_i (−n μ_i + k σ_i √n) − s B,   and also at least −n max μ_i.

So a mix saves at most 2sB over the best single arm, however long the horizon: O(1/n) a period.

A *plan that adapts*, choosing the next arm by the sum so far, can do better than every sequence; `adaptive_cost` says
how much better. The regret here compares with sequences, as the paper does, and can be negative for such plans.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prudent.arms.base import Law
from prudent.arms.continuous import Gaussian
from prudent.arms.discrete import Empirical
from prudent.arrays import Array, as_array
from prudent.bandit import ROUNDING, Bandit
from prudent.errors import PrudentError, check_integer
from prudent.policies.helpers import exploring_pulls
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.distortion import Distortion, ExponentialSpectrum, Spectral
from prudent.risk.periods import BATCHES, lattice_step, period_cost, sampled_cost, shared_lattice
from prudent.risk.tails import CVaR, MeanCVaR

MOST_SEQUENCES = 50_000
"""Counts that are tried, some seconds of them."""

MOST_POINTS = 5 * 10**8
"""Lattice points of all sums that are tried."""

MOST_STATES = 4 * 10**6
"""Thresholds times sums of the largest adaptive plan."""


class BestSequence(NamedTuple):
    """How often each arm is pulled, what the sum costs, and what the best single arm would cost.

    `least` is proven: no sequence costs less. It equals `cost` where all sequences were compared; elsewhere the
    sequence is the best single arm, and a mix can save at most `cost − least`. `error` is the standard error of `cost`
    where sums of that arm had to be drawn, else 0.
    """

    counts: tuple[int, ...]
    cost: float
    single_arm: int
    single_cost: float
    least: float
    error: float


class SequenceRegret(NamedTuple):
    """The regret per period against the best sequence, and its standard error."""

    value: float
    se: float


def best_sequence(bandit: Bandit, risk: RiskMeasure | str, periods: int) -> BestSequence:
    """The sequence of `periods` arms whose sum of rewards has the smallest cost.

    Exact for additive measures, for Gaussian arms, and for few periods of arms on a lattice; otherwise the best single
    arm with a proven bound for all sequences, if the measure is spectral (the module's docstring has the proofs). Of
    sequences that cost the same a single arm is preferred, then the arms of lowest numbers.

    Parameters
    ----------
    bandit
        The arms.
    risk
        The risk measure that prices the sum, or its spec.
    periods
        How many rewards are added up.

    Examples
    --------
    >>> from prudent import Bandit, Empirical, best_sequence
    >>> bandit = Bandit([Empirical([0.0] * 3 + [4.0] * 7), Empirical([1.0] * 6 + [6.0] * 4)])
    >>> found = best_sequence(bandit, "cvar(alpha=0.1)", 4)
    >>> found.counts, round(found.cost, 2), round(found.single_cost, 2)
    ((2, 2), -4.58, -4.0)
    """
    risk = risks.make("best_sequence", risk)
    periods = check_integer("best_sequence", "periods", periods, low=1, hint="over how many rewards?")
    singles = [period_cost(law, risk, periods) for law in bandit.arms]
    single = first_of_least(np.array([each.cost for each in singles]))
    alone, error = singles[single]
    counts = tuple(periods if i == single else 0 for i in range(len(bandit)))
    if len(bandit) == 1 or risk.additive or _concave(bandit, risk):
        return BestSequence(counts, alone, single, alone, alone, error)
    number = math.comb(periods + len(bandit) - 1, periods)
    price = _price(bandit, risk, periods, number)
    if price is None:
        return BestSequence(counts, alone, single, alone, _bound(bandit, risk, periods, number), error)
    # The fewer arms, the earlier: so that of equal costs a single arm's is the first.
    tried = sorted(sequences(len(bandit), periods), key=lambda each: sum(count > 0 for count in each))
    costs = np.array([price(each) for each in tried])
    best = first_of_least(costs)
    return BestSequence(tried[best], float(costs[best]), single, alone, float(costs[best]), 0.0)


def sequence_cost(bandit: Bandit, risk: RiskMeasure | str, counts: Sequence[int]) -> float:
    """The cost of the sum of counts[i] rewards of arm i, for every i, for Gaussian arms and arms on a lattice."""
    risk = risks.make("sequence_cost", risk)
    if len(counts) != len(bandit):
        raise PrudentError(f"sequence_cost: counts must be {len(bandit)} numbers, one for each arm, got {counts!r}")
    whole = [check_integer("sequence_cost", "counts", count, low=0) for count in counts]
    if sum(whole) == 0:
        raise PrudentError("sequence_cost: counts must hold at least one pull, got none")
    price = _price(bandit, risk, sum(whole), 1)
    if price is None:
        raise PrudentError(f"sequence_cost: {_NO_LATTICE}")
    return price(whole)


def sequences(arms: int, periods: int) -> list[tuple[int, ...]]:
    """All counts of so many arms that sum to `periods`, those with most pulls of the first arm first."""
    bars = combinations(range(periods + arms - 1), arms - 1)
    edges = ((-1, *between, periods + arms - 1) for between in bars)
    return [tuple(high - low - 1 for low, high in pairwise(each)) for each in edges][::-1]


def first_of_least(costs: Array) -> int:
    """The first of the costs that are the least but for rounding."""
    return int(np.argmax(costs <= costs.min() + ROUNDING * np.abs(costs).max()))


_NO_LATTICE = (
    "the arms must be Gaussian, or share a lattice of values (at most 2²² points with all periods);"
    " round the rewards, or pass Empirical arms with few different values"
)


def _price(bandit: Bandit, risk: RiskMeasure, periods: int, number: int) -> Callable[[Sequence[int]], float] | None:
    """The exact cost of a sequence from its counts; None if it is not known, or `number` of them would take long."""
    if number > MOST_SEQUENCES:
        return None
    if _gaussian(bandit):
        means, variances = bandit.means, bandit.variances
        return lambda counts: risk.cost(Gaussian(float(means @ counts), float(variances @ counts)))
    lattice = shared_lattice(bandit.arms, periods)
    if lattice is None or number * lattice.length > MOST_POINTS:
        return None
    return lambda counts: float(risk.weigh(*lattice.total(counts)))


def _gaussian(bandit: Bandit) -> bool:
    """Whether every sum is Gaussian; constants are, with variance 0."""
    return all(isinstance(law, Gaussian) or law.variance == 0.0 for law in bandit.arms)


def _concave(bandit: Bandit, risk: RiskMeasure) -> bool:
    """Whether the cost is known to be concave in the counts: −M + k√V with k ≥ 0."""
    return _gaussian(bandit) and isinstance(risk, Distortion) and risk.cost(Gaussian(0.0, 1.0)) >= 0.0


def _bound(bandit: Bandit, risk: RiskMeasure, periods: int, number: int) -> float:
    """What every sequence costs at least (the module's docstring), or an error that says what can be had."""
    if not isinstance(risk, Spectral):
        why = f"the {number:,} sequences are more than {MOST_SEQUENCES:,}" if number > MOST_SEQUENCES else _NO_LATTICE
        fix = "take fewer periods or arms, or a spectral measure such as cvar, for which a bound is known"
        raise PrudentError(f"best_sequence: cannot compare all sequences under {risk}: {why}; {fix}")
    normal = risk.cost(Gaussian(0.0, 1.0)) * np.sqrt(periods * bandit.variances) - periods * bandit.means
    slack = _slope(risk) * max(_distance(law) for law in bandit.arms)
    return max(float(normal.min()) - slack, -periods * float(bandit.means.max()))


def _slope(risk: Spectral) -> float:
    """g′(0), by how much the cost changes at most when ∫|F − G| changes by 1; infinite if it is not known."""
    match risk:
        case CVaR():
            return 1.0 / risk.alpha
        case MeanCVaR():
            return 1.0 - risk.weight + risk.weight / risk.alpha
        case ExponentialSpectrum():
            return -risk.k / math.expm1(-risk.k)
        case _:
            return math.inf


def _distance(law: Law) -> float:
    """β/σ², which bounds ∫|F − G| for a sum of such rewards and the Gaussian law of the same mean and variance."""
    if isinstance(law, Gaussian) or law.variance == 0.0:
        return 0.0
    try:
        return law.expectation(lambda x: np.abs(x - law.mean) ** 3, "third moment") / law.variance
    except PrudentError:
        return math.inf


def adaptive_cost(bandit: Bandit, risk: CVaR | MeanCVaR | str, periods: int) -> float:
    """The least cost of the sum when the next arm may be chosen by the sum so far, for arms on one lattice.

    For w CVaR − (1 − w) mean it is the least over q of w q + min E[w (−S − q)⁺/α − (1 − w) S] [Rockafellar00], and the
    inner minimum is found backwards from the last period; the best q is minus a value of S. A sequence is such a plan
    that does not look, so its cost is never smaller.
    """
    risk = risks.make("adaptive_cost", risk)
    if not isinstance(risk, (CVaR, MeanCVaR)):
        raise PrudentError(f"adaptive_cost: risk must be cvar or mean-cvar, got {risk}; others have no such recursion")
    periods = check_integer("adaptive_cost", "periods", periods, low=1, hint="over how many rewards?")
    weight = risk.weight if isinstance(risk, MeanCVaR) else 1.0
    atoms = [found for law in bandit.arms if (found := law.atoms()) is not None]
    least = min(law.support[0] for law in bandit.arms)
    rises = np.unique(np.concatenate([values - least for values, _ in atoms])) if atoms else np.zeros(1)
    step = lattice_step(np.union1d(0.0, rises))
    size = 0 if step is None else periods * round(float(rises[-1]) / step) + 1
    if len(atoms) < len(bandit) or step is None or size**2 > MOST_STATES:
        raise PrudentError(f"adaptive_cost: the arms must share a lattice of few values; {periods} periods are too many")
    sums = periods * least + step * np.arange(size)
    shortfall = np.maximum(sums[:, None] - sums, 0.0)  # rows are thresholds −q, columns are sums
    values = weight / risk.alpha * shortfall - (1.0 - weight) * sums
    moves = [(np.rint((x - least) / step).astype(int), p) for x, p in atoms]
    for left in range(periods):
        size -= round(float(rises[-1]) / step)
        after = [sum(q * values[:, j : j + size] for j, q in zip(at, p, strict=True)) for at, p in moves]
        values = np.minimum.reduce(after)
    return float((values[:, 0] - weight * sums).min())


def sequence_regret(totals: ArrayLike, bandit: Bandit, risk: RiskMeasure | str, periods: int) -> SequenceRegret:
    """The cost of the totals of many runs minus that of the best sequence, divided by the periods.

    `totals` holds the sum of the rewards of each run: `runs.horizon * runs.reward_mean()` of any simulation, or what
    `explore_then_sequence` returns. This regret belongs to the law of a run's total, so no single run has one: it is
    estimated from all runs together, with the standard error given. It may be negative for a policy that adapts.
    """
    risk = risks.make("sequence_regret", risk)
    sums = as_array("sequence_regret", "totals", totals).ravel()
    if sums.size < 10 * BATCHES:
        need = f"totals must hold at least {10 * BATCHES} runs, got {sums.size}"
        raise PrudentError(f"sequence_regret: {need}; the error is estimated from {BATCHES} parts of them")
    best = best_sequence(bandit, risk, periods)
    cost, error = sampled_cost(risk, sums)
    return SequenceRegret((cost - best.cost) / periods, math.hypot(error, best.error) / periods)


def explore_then_sequence(
    bandit: Bandit, risk: RiskMeasure | str, periods: int, *, explore: int | None = None, runs: int, seed: int = 0
) -> Array:
    """The total reward of each run of a learner: pull every arm `explore` times, then play the best sequence.

    The sequence is the best one over the periods left for the laws estimated in that run: the observed rewards, each
    equally likely, or for a Gaussian arm the Gaussian law of the observed mean and variance. `explore` is by default
    the ⌈(n/14)^(2/3)⌉ of ExpExp. The total includes what exploration earned.

    It is a function and no policy of the registry for two reasons: a policy of phases keeps marks of arms from one
    phase to the next, so it would forget the counts it planned; and planning convolves laws, which kernels do not.
    """
    risk = risks.make("explore_then_sequence", risk)
    owner, arms = "explore_then_sequence", len(bandit)
    periods = check_integer(owner, "periods", periods, low=arms, hint="every arm is pulled at least once")
    runs, seed = check_integer(owner, "runs", runs, low=1), check_integer(owner, "seed", seed, low=0)
    each = exploring_pulls(periods, arms) if explore is None else explore
    each = check_integer(owner, "explore", each, low=1, high=periods // arms, hint="pulls of each arm")
    if not _gaussian(bandit) and shared_lattice(bandit.arms, periods) is None:
        raise PrudentError(f"{owner}: {_NO_LATTICE}")
    rng = np.random.default_rng(seed)
    seen = [law.sample(rng, runs * each).reshape(runs, each) for law in bandit.arms]

    @cache
    def planned(laws: tuple[Law, ...]) -> tuple[int, ...]:
        return best_sequence(Bandit(laws), risk, periods - arms * each).counts if periods > arms * each else (0,) * arms

    counts = np.array([planned(tuple(_fitted(law, x[run]) for law, x in zip(bandit.arms, seen, strict=True))) for run in range(runs)])
    totals = np.sum([x.sum(1) for x in seen], axis=0)
    for law, pulls in zip(bandit.arms, counts.T, strict=True):
        rewards = np.append(0.0, np.cumsum(law.sample(rng, int(pulls.sum()))))
        totals += np.diff(rewards[np.append(0, np.cumsum(pulls))])
    return totals


def _fitted(law: Law, rewards: Array) -> Law:
    """The law estimated from its rewards."""
    return Gaussian(float(rewards.mean()), float(rewards.var())) if isinstance(law, Gaussian) else Empirical(rewards)
