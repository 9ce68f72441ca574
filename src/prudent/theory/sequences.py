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
how much better. The regret compares with sequences, as the paper does, and can be negative for such plans.
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from prudent.arms.base import Law
from prudent.arms.continuous import Gaussian
from prudent.bandit import Bandit, check_bandit, medians, slack_of
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_integer, shown
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.distortion import Distortion, ExponentialSpectrum, Spectral
from prudent.risk.tails import CVaR, MeanCVaR
from prudent.theory.periods import (
    MOST_PERIODS,
    SHORT_IF_MANY,
    SHORT_LATTICE,
    lattice_step,
    period_cost,
    shared_lattice,
)

MOST_SEQUENCES = 50_000
"""Counts that are tried, some seconds of them."""

MOST_POINTS = 5 * 10**8
"""Lattice points of all sums that are tried."""


class BestSequence(NamedTuple):
    """How often each arm is pulled, what the sum costs, and what the best single arm would cost.

    `least` is proven: no sequence costs less. It equals `cost` where all sequences were compared; elsewhere the
    sequence is the best single arm, and a mix can save at most `cost − least`. `error` is that of `period_cost`.

    Examples
    --------
    >>> from prudent import Bandit, Empirical, best_sequence
    >>> bandit = Bandit([Empirical([-10.0] + [7.0] * 9), Empirical([-5.0] + [8.0] * 3)])
    >>> best_sequence(bandit, "cvar(alpha=0.05)", 4).counts
    (2, 2)
    """

    counts: tuple[int, ...]
    cost: float
    single_arm: int
    single_cost: float
    least: float
    error: float


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
    >>> rare_large, frequent_small = Empirical([-10.0] + [7.0] * 9), Empirical([-5.0] + [8.0] * 3)
    >>> found = best_sequence(Bandit([rare_large, frequent_small]), "cvar(alpha=0.05)", 4)
    >>> found.counts, round(found.cost, 2), round(found.single_cost, 2)
    ((2, 2), 5.02, 7.29)
    """
    bandit, risk = check_bandit("best_sequence", bandit), risks.make("best_sequence", risk)
    hint = "over how many rewards?"
    periods = check_integer("best_sequence", "periods", periods, low=1, high=MOST_PERIODS, hint=hint)
    singles = [period_cost(law, risk, periods) for law in bandit.arms]
    single = _first_of_least(bandit, risk, np.array([each.cost for each in singles]), periods * np.eye(len(bandit)))
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
    best = _first_of_least(bandit, risk, costs, np.array(tried, float))
    cost, error = float(costs[best]), _rounding(bandit, risk, tried[best])
    return BestSequence(tried[best], cost, single, alone, cost - error, error)


def sequence_cost(bandit: Bandit, risk: RiskMeasure | str, counts: Sequence[int]) -> float:
    """The cost of the sum of counts[i] rewards of arm i, for every i, for Gaussian arms and arms on a lattice.

    Examples
    --------
    >>> from prudent import Bandit, Empirical, sequence_cost
    >>> bandit = Bandit([Empirical([-10.0] + [7.0] * 9), Empirical([-5.0] + [8.0] * 3)])
    >>> round(sequence_cost(bandit, "cvar(alpha=0.05)", [2, 2]), 2)
    5.02
    """
    bandit, risk = check_bandit("sequence_cost", bandit), risks.make("sequence_cost", risk)
    listed = counts.tolist() if isinstance(counts, np.ndarray) else counts
    if not isinstance(listed, Sequence) or isinstance(listed, (str, bytes)) or len(listed) != len(bandit):
        need = f"{len(bandit)} numbers, one for each arm"
        raise PrudentError(f"sequence_cost: counts must be {need}, got {shown(counts)}")
    whole = [check_integer("sequence_cost", "counts", count, low=0, high=MOST_PERIODS) for count in listed]
    if sum(whole) == 0:
        raise PrudentError("sequence_cost: counts must hold at least one pull, got none")
    price = _price(bandit, risk, sum(whole), 1)
    if price is None:
        raise PrudentError(f"sequence_cost: {NO_LATTICE}")
    return price(whole)


def sequences(arms: int, periods: int) -> list[tuple[int, ...]]:
    """All counts of so many arms that sum to `periods`, those with most pulls of the first arm first."""
    bars = combinations(range(periods + arms - 1), arms - 1)
    edges = ((-1, *between, periods + arms - 1) for between in bars)
    return [tuple(high - low - 1 for low, high in pairwise(each)) for each in edges][::-1]


def _first_of_least(bandit: Bandit, risk: RiskMeasure, costs: Array, counts: Array) -> int:
    """The first of the sequences, a row of counts each, whose cost is the least but for rounding."""
    slack = slack_of(risk, costs, counts @ medians(bandit))
    return int(np.argmax(costs <= costs.min() + slack + slack[np.argmin(costs)]))


NO_LATTICE = (
    "the arms must be Gaussian, or share a lattice of values (at most 2²² points with all periods);"
    " round the rewards, or pass Empirical arms with few different values"
)


def _rounding(bandit: Bandit, risk: RiskMeasure, counts: Sequence[int]) -> float:
    """By how much the rounding of probabilities may move the cost of a sequence."""
    lattice = None if all_gaussian(bandit) else shared_lattice(bandit.arms, sum(counts))
    return 0.0 if lattice is None else lattice.cost(risk, counts).error


def _price(bandit: Bandit, risk: RiskMeasure, periods: int, number: int) -> Callable[[Sequence[int]], float] | None:
    """The exact cost of a sequence from its counts; None if it is not known, or `number` of them would take long."""
    if number > MOST_SEQUENCES:
        return None
    if all_gaussian(bandit):
        means, variances = bandit.means, bandit.variances
        return lambda counts: risk.cost(Gaussian(float(means @ counts), float(variances @ counts)))
    lattice = shared_lattice(bandit.arms, periods, SHORT_LATTICE if number == 1 else SHORT_IF_MANY)
    if lattice is None or number * lattice.length > MOST_POINTS:
        return None
    return lambda counts: float(risk.weigh(*lattice.total(counts)))


def all_gaussian(bandit: Bandit) -> bool:
    """Whether every sum is Gaussian; constants are, with variance 0."""
    return all(isinstance(law, Gaussian) or law.variance == 0.0 for law in bandit.arms)


def _concave(bandit: Bandit, risk: RiskMeasure) -> bool:
    """Whether the cost is known to be concave in the counts: −M + k√V with k ≥ 0."""
    return all_gaussian(bandit) and isinstance(risk, Distortion) and risk.cost(Gaussian(0.0, 1.0)) >= 0.0


def _bound(bandit: Bandit, risk: RiskMeasure, periods: int, number: int) -> float:
    """What every sequence costs at least (the module's docstring), or an error that says what can be had."""
    if not isinstance(risk, Spectral):
        why = f"the {number:,} sequences are more than {MOST_SEQUENCES:,}" if number > MOST_SEQUENCES else NO_LATTICE
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


_MAX_STATES = 4 * 10**6
"""Thresholds times sums of the largest plan."""


def adaptive_cost(bandit: Bandit, risk: RiskMeasure | str, periods: int) -> float:
    """The least CVaR or mean-CVaR of the sum of rewards when every arm is chosen by the sum so far.

    For w CVaR − (1 − w) mean it is the least over q of w q + min E[w (−S − q)⁺/α − (1 − w) S] [Rockafellar00], and the
    inner minimum is found backwards from the last period; the best q is minus a value of S. A sequence is a plan that
    does not look, so it never costs less. The values of all arms must lie on one lattice.

    Examples
    --------
    >>> from prudent import Bandit, Empirical, adaptive_cost
    >>> bandit = Bandit([Empirical([-10.0] + [7.0] * 9), Empirical([-5.0] + [8.0] * 3)])
    >>> round(adaptive_cost(bandit, "cvar(alpha=0.05)", periods=4), 2)
    3.25
    """
    bandit, risk = check_bandit("adaptive_cost", bandit), risks.make("adaptive_cost", risk)
    periods = check_integer("adaptive_cost", "periods", periods, low=1, hint="over how many rewards?")
    if not isinstance(risk, (CVaR, MeanCVaR)):
        raise PrudentError(f"adaptive_cost: risk must be cvar or mean-cvar, got {risk}; others have no such recursion")
    weight = risk.weight if isinstance(risk, MeanCVaR) else 1.0
    least, step, moves = _moves(bandit, periods)
    reach = max(int(places[-1]) for places, _ in moves)
    sums = periods * least + step * np.arange(periods * reach + 1)
    # Rows are thresholds −q, columns are sums: first those at the end, then of one period less, and so on.
    values = weight / risk.alpha * np.maximum(sums[:, None] - sums, 0.0) - (1.0 - weight) * sums
    for left in range(periods - 1, -1, -1):
        size = left * reach + 1
        values = np.min([sum(p * values[:, j : j + size] for j, p in zip(*move, strict=True)) for move in moves], 0)
    return float((values[:, 0] - weight * sums).min())


def _moves(bandit: Bandit, periods: int) -> tuple[float, float, list[tuple[np.ndarray, np.ndarray]]]:
    """The least reward, the step of the lattice, and per arm by how many steps its rewards exceed the least."""
    atoms = [found for law in bandit.arms if (found := law.atoms()) is not None]
    if len(atoms) == len(bandit):
        least = bandit.support[0]
        rises = [values - least for values, _ in atoms]
        step = lattice_step(np.unique(np.concatenate(rises)))
        if step is not None:
            moves = [(np.rint(rise / step).astype(int), p) for rise, (_, p) in zip(rises, atoms, strict=True)]
            if (periods * max(int(places[-1]) for places, _ in moves) + 1) ** 2 <= _MAX_STATES:
                return least, step, moves
    fix = "round the rewards, or take fewer periods"
    raise PrudentError(f"adaptive_cost: the arms must share one lattice, with at most 2,000 different sums; {fix}")
