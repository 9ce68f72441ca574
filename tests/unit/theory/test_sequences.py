"""The best sequence of arms: against enumeration of outcomes in fractions, and the theorems as theorems."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from prudent import (
    Bandit,
    Bernoulli,
    Beta,
    CVaR,
    Deterministic,
    Empirical,
    Entropic,
    ExponentialSpectrum,
    Gaussian,
    MeanCVaR,
    MeanVariance,
    PrudentError,
    StudentT,
    Uniform,
    VaR,
    Wang,
    adaptive_cost,
    best_sequence,
    explore_then_sequence,
    period_cost,
    sequence_cost,
    sequence_regret,
)
from prudent.theory import sequences
from prudent.theory.periods import shared_lattice
from prudent.theory.sequences import sequences as every_sequence

LOSSES = Bandit([Empirical([-10.0] + [7.0] * 9), Empirical([-5.0] + [8.0] * 3)])
"""Rare large losses, and frequent small ones."""

laws = st.lists(st.integers(-6, 6), min_size=1, max_size=5)
"""Observed whole rewards, each equally likely."""


def outcomes(values):
    """The law of one reward, in fractions."""
    return {Fraction(x): Fraction(count, len(values)) for x, count in Counter(values).items()}


def added(one, other):
    """The law of a sum of two independent rewards."""
    total = Counter()
    for (x, p), (y, q) in itertools.product(one.items(), other.items()):
        total[x + y] += p * q
    return total


def law_of_sum(arms, counts):
    """The law of the sum of counts[i] rewards of arm i, in fractions."""
    total = {Fraction(0): Fraction(1)}
    for law, count in zip(arms, counts, strict=True):
        for _ in range(count):
            total = added(total, law)
    return total


def exact_cvar(law, alpha):
    """Minus the mean of the worst α-fraction, in fractions."""
    left, total = alpha, Fraction(0)
    for x in sorted(law):
        total += min(left, law[x]) * x
        left -= min(left, law[x])
    return -total / alpha


def exact_mean_variance(law, rho):
    mean = sum(x * p for x, p in law.items())
    return sum(p * (x - mean) ** 2 for x, p in law.items()) - rho * mean


def everything(arms, periods):
    return [counts for counts in itertools.product(range(periods + 1), repeat=arms) if sum(counts) == periods]


def bandit_of(samples):
    return Bandit([Empirical(np.array(values, float)) for values in samples])


# Additive measures: the paper's remark


@given(st.lists(laws, min_size=2, max_size=3), st.integers(1, 3), st.fractions(0, 5, max_denominator=8))
def test_for_the_mean_variance_the_best_sequence_is_the_best_single_arm(samples, periods, rho):
    """In fractions: the cost of every sequence is the sum of its arms' costs, so no mix is below the best arm."""
    arms = [outcomes(values) for values in samples]
    alone = [exact_mean_variance(law, rho) for law in arms]
    for counts in everything(len(arms), periods):
        cost = exact_mean_variance(law_of_sum(arms, counts), rho)
        assert cost == sum(count * one for count, one in zip(counts, alone, strict=True)) >= periods * min(alone)
    found = best_sequence(bandit_of(samples), MeanVariance(float(rho)), periods)
    assert found.cost == found.least == found.single_cost == pytest.approx(float(periods * min(alone)), abs=1e-9)
    assert found.counts[found.single_arm] == periods
    assert float(alone[found.single_arm]) == pytest.approx(float(min(alone)), abs=1e-9)


@given(st.lists(laws, min_size=2, max_size=3), st.integers(1, 4), st.floats(0.1, 2))
def test_for_the_entropic_risk_too(samples, periods, lam):
    bandit, risk = bandit_of(samples), Entropic(lam)
    costs = [sequence_cost(bandit, risk, counts) for counts in everything(len(bandit), periods)]
    found = best_sequence(bandit, risk, periods)
    assert found.cost == pytest.approx(min(costs), rel=1e-9, abs=1e-9)
    assert found.counts[found.single_arm] == periods


# All sequences


@given(st.lists(laws, min_size=1, max_size=3), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_sums_of_several_arms_are_convolutions(samples, counts):
    counts = counts[: len(samples)]
    direct = law_of_sum([outcomes(values) for values in samples], counts)
    values, masses = shared_lattice(bandit_of(samples).arms, max(1, sum(counts))).total(counts)
    assert values == pytest.approx([float(x) for x in sorted(direct)], abs=1e-9)
    assert masses == pytest.approx([float(direct[x]) for x in sorted(direct)], abs=1e-14)


def test_arms_on_shifted_lattices_share_one():
    """Values 0.1 and 0.3 beside 1/3 and 1/3 + 0.5: only the distances need a common step, 0.1."""
    bandit = Bandit([Empirical([0.1, 0.3]), Empirical([1 / 3, 1 / 3 + 0.5])])
    values, masses = shared_lattice(bandit.arms, 2).total([1, 1])
    assert values == pytest.approx(np.sort([0.1 + 1 / 3, 0.3 + 1 / 3, 0.6 + 1 / 3, 0.8 + 1 / 3]))
    assert masses == pytest.approx([0.25] * 4)
    assert shared_lattice([Bernoulli(0.5), Empirical([0.0, math.sqrt(2.0)])], 2) is None
    assert shared_lattice([Bernoulli(0.5), Uniform(0.0, 1.0)], 2) is None


@given(st.lists(laws, min_size=2, max_size=3), st.integers(1, 4), st.sampled_from([1, 2, 5, 10]))
def test_the_best_sequence_is_the_best_of_all(samples, periods, tenths):
    arms, alpha = [outcomes(values) for values in samples], Fraction(tenths, 10)
    costs = {counts: exact_cvar(law_of_sum(arms, counts), alpha) for counts in everything(len(arms), periods)}
    found = best_sequence(bandit_of(samples), CVaR(float(alpha)), periods)
    least = min(costs.values())
    assert found.cost == found.least == pytest.approx(float(least), abs=1e-9)
    assert costs[found.counts] == least
    singles = [costs[tuple(periods if j == i else 0 for j in range(len(arms)))] for i in range(len(arms))]
    assert found.single_cost == pytest.approx(float(min(singles)), abs=1e-9)
    assert singles[found.single_arm] == min(singles)
    if min(singles) == least:
        assert max(found.counts) == periods, "a single arm is preferred"


def test_a_mix_beats_every_single_arm_under_a_coherent_risk():
    """By hand: two pulls of each sum to −30, −17, −13, −4 with 34 chances in 1,600, and to 0 with 108."""
    found = best_sequence(LOSSES, CVaR(0.05), 4)
    assert found.counts == (2, 2)
    worst = [(-30, 1), (-17, 6), (-13, 18), (-4, 9), (0, 46)]  # of 80 in 1,600
    assert sum(count for _, count in worst) == 80
    assert found.cost == pytest.approx(-sum(x * count for x, count in worst) / 80)
    assert found.single_cost == pytest.approx(period_cost(LOSSES.arms[0], CVaR(0.05), 4).cost)
    assert found.cost < found.single_cost - 2.0
    assert best_sequence(LOSSES, "cvar(alpha=0.05)", 4) == found


def test_of_equal_sequences_a_single_arm_is_preferred():
    """Losing 1 with probability 0.06 is no loss to the 10 % quantile once, but twice; never is as good as once."""
    bandit = Bandit([Empirical([-1.0] * 6 + [0.0] * 94), Deterministic(0.0)])
    costs = [sequence_cost(bandit, VaR(0.1), counts) for counts in ((2, 0), (1, 1), (0, 2))]
    assert costs == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert best_sequence(bandit, VaR(0.1), 2).counts == (0, 2)


def test_all_counts_are_listed_once():
    for arms, periods in ((1, 3), (2, 4), (3, 5), (4, 3)):
        assert sorted(every_sequence(arms, periods)) == sorted(everything(arms, periods))
    assert every_sequence(2, 2) == [(2, 0), (1, 1), (0, 2)]


# Gaussian arms


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 2)), min_size=2, max_size=3),
    st.integers(1, 6),
    st.sampled_from([CVaR(0.1), VaR(0.3), Wang(0.5), MeanCVaR(0.2, 0.4)]),
)
def test_of_gaussian_arms_a_single_one_is_best(moments, periods, risk):
    bandit = Bandit([Gaussian(mean, variance) for mean, variance in moments])
    costs = [
        risk.cost(Gaussian(float(bandit.means @ counts), float(bandit.variances @ counts)))
        for counts in everything(len(bandit), periods)
    ]
    found = best_sequence(bandit, risk, periods)
    assert max(found.counts) == periods
    assert found.cost == found.least == pytest.approx(min(costs), abs=1e-9)
    assert best_sequence(bandit, risk, 10**6).error == 0.0


def test_who_loves_risk_may_mix_gaussian_arms():
    """The 90 % quantile M + 1.28 √V is concave in the counts, so the least of minus it may lie inside."""
    bandit = Bandit([Deterministic(1.0), Gaussian(0.7, 1.0)])
    found = best_sequence(bandit, VaR(0.9), 10)
    costs = [10 - 0.3 * k + stats.norm.ppf(0.9) * math.sqrt(k) for k in range(11)]
    assert found.counts == (10 - int(np.argmax(costs)), int(np.argmax(costs))) == (5, 5)
    assert found.cost == pytest.approx(-max(costs))


# Many periods: the bound


def test_the_bound_by_hand():
    """Coins of 0 and 1: β = 1/8, σ² = 1/4, B = ½. Coins of 0 and 1 with p = 0.2: β/σ² = 0.64 + 0.04 = 0.68."""
    bandit, n = Bandit([Bernoulli(0.5), Bernoulli(0.2)]), 10**6
    k = stats.norm.pdf(stats.norm.ppf(0.1)) / 0.1
    found = best_sequence(bandit, CVaR(0.1), n)
    assert found.counts == (n, 0)
    assert found.cost == period_cost(Bernoulli(0.5), CVaR(0.1), n).cost
    assert found.least == pytest.approx(-n * 0.5 + k * math.sqrt(n * 0.25) - 10.0 * 0.68, abs=1e-6)
    mixed = best_sequence(bandit, MeanCVaR(0.1, 0.25), n)
    slope = 0.75 + 0.25 / 0.1
    assert mixed.least == pytest.approx(-n * 0.5 + 0.25 * k * math.sqrt(n * 0.25) - slope * 0.68, abs=1e-6)
    # Without a slope only the mean bounds the cost; few periods too, where the other bound is below it.
    assert best_sequence(bandit, Wang(0.5), n).least == -0.5 * n


def test_the_slope_is_the_largest_quotient():
    for risk in (CVaR(0.1), MeanCVaR(0.2, 0.3), ExponentialSpectrum(5.0)):
        quotients = risk.distort(np.array([1e-7, 0.01, 0.3])) / np.array([1e-7, 0.01, 0.3])
        assert sequences._slope(risk) == pytest.approx(quotients.max(), rel=1e-5)


@given(st.lists(laws, min_size=2, max_size=3), st.integers(2, 8), st.sampled_from([CVaR(0.1), MeanCVaR(0.3, 0.5)]))
def test_no_sequence_is_below_the_bound(samples, periods, risk):
    bandit = bandit_of(samples)
    exact, patch = best_sequence(bandit, risk, periods), pytest.MonkeyPatch()
    patch.setattr(sequences, "MOST_SEQUENCES", 0)
    bounded = best_sequence(bandit, risk, periods)
    patch.undo()
    assert bounded.least <= exact.cost + 1e-9
    assert bounded.cost == pytest.approx(exact.single_cost, abs=1e-9)
    assert max(bounded.counts) == periods


@pytest.mark.parametrize("counts", [(1, 0), (0, 1), (3, 1), (5, 5), (0, 9)])
def test_sums_are_as_near_to_a_gaussian_law_as_the_bound_says(counts):
    """∫|F − G| ≤ Σ counts β/V. A fair coin of ±1 comes to 0.535 of it, so half the bound would not do."""
    bandit = Bandit([Empirical([-1.0, 1.0]), Empirical([-3.0] + [1.0] * 5)])
    values, masses = shared_lattice(bandit.arms, sum(counts)).total(counts)
    mean, deviation = bandit.means @ counts, math.sqrt(bandit.variances @ counts)
    levels = np.concatenate([[0.0], np.cumsum(masses)])
    edges = np.concatenate([[mean - 9 * deviation], values, [mean + 9 * deviation]])
    distance = sum(
        integrate.quad(lambda x, level=level: abs(stats.norm.cdf(x, mean, deviation) - level), low, high)[0]
        for level, low, high in zip(levels, edges[:-1], edges[1:], strict=True)
    )
    most = max(sequences._distance(law) for law, count in zip(bandit.arms, counts, strict=True) if count > 0)
    assert distance <= most
    if counts == (1, 0):
        assert distance > 0.5 * most


def test_drawn_sums_and_heavy_tails_have_a_bound_too():
    bandit = Bandit([Beta(2.0, 1.0), Uniform(0.0, 1.0)])
    found = best_sequence(bandit, CVaR(0.1), 30)
    assert found.counts == (30, 0)
    assert found.error > 0.0
    assert found.least < found.cost < found.least + 2 * 10 * 0.3
    heavy = best_sequence(Bandit([StudentT(2.5), Bernoulli(0.5)]), CVaR(0.1), 4)
    assert heavy.least == -2.0, "without a third moment only the mean bounds the cost"


def test_what_cannot_be_had_says_what_can():
    many = Bandit([Bernoulli(0.1 * i) for i in range(1, 9)])
    message = r"cannot compare all sequences under var\(alpha=0.1\): the 26,075,972,546 sequences are more than 50,000"
    with pytest.raises(
        PrudentError, match=message + "; take fewer periods or arms, or a spectral measure such as cvar"
    ):
        best_sequence(many, VaR(0.1), 100)
    with pytest.raises(PrudentError, match="the arms must be Gaussian, or share a lattice"):
        best_sequence(Bandit([Beta(2.0, 1.0), Uniform(0.0, 1.0)]), VaR(0.1), 2)
    with pytest.raises(PrudentError, match="sequence_cost: the arms must be Gaussian, or share a lattice"):
        sequence_cost(Bandit([Beta(2.0, 1.0), Uniform(0.0, 1.0)]), CVaR(0.1), (1, 1))
    with pytest.raises(PrudentError, match=r"best_sequence: periods must be a whole number from 1 .*, got 0"):
        best_sequence(LOSSES, CVaR(0.1), 0)
    for counts in ((1,), (0, 0), (-1, 2), (0.5, 1)):
        with pytest.raises(PrudentError, match="sequence_cost: counts must"):
            sequence_cost(LOSSES, CVaR(0.1), counts)
    assert best_sequence(Bandit([Beta(2.0, 1.0)]), VaR(0.1), 2).counts == (2,), "one arm leaves nothing to compare"


# Plans that adapt


def best_plan(arms, alpha):
    """The least CVaR over all plans of two periods: a first arm, then one for each of its rewards."""
    costs = []
    for first in arms:
        for choice in itertools.product(arms, repeat=len(first)):
            total = Counter()
            for (x, p), second in zip(first.items(), choice, strict=True):
                for y, q in second.items():
                    total[x + y] += p * q
            costs.append(exact_cvar(total, alpha))
    return min(costs)


@given(st.lists(laws, min_size=2, max_size=2), st.sampled_from([1, 3, 7]))
def test_the_best_plan_of_two_periods_is_the_best_of_all(samples, tenths):
    arms, alpha = [outcomes(values) for values in samples], Fraction(tenths, 10)
    found = adaptive_cost(bandit_of(samples), CVaR(float(alpha)), 2)
    assert found == pytest.approx(float(best_plan(arms, alpha)), abs=1e-9)


@given(st.lists(laws, min_size=1, max_size=3), st.integers(1, 5), st.floats(0.05, 1), st.floats(0, 1))
def test_a_plan_that_adapts_is_never_worse(samples, periods, alpha, weight):
    bandit, risk = bandit_of(samples), MeanCVaR(alpha, weight)
    found, sequence = adaptive_cost(bandit, risk, periods), best_sequence(bandit, risk, periods)
    assert found <= sequence.cost + 1e-9
    assert found >= -periods * bandit.means.max() - 1e-9
    if periods == 1 or len(bandit) == 1:
        assert found == pytest.approx(sequence.cost, abs=1e-9)
    assert adaptive_cost(bandit, CVaR(alpha), periods) == adaptive_cost(bandit, MeanCVaR(alpha, 1.0), periods)


def test_adapting_beats_every_sequence():
    assert adaptive_cost(LOSSES, "cvar(alpha=0.05)", 4) == pytest.approx(3.25)
    assert best_sequence(LOSSES, CVaR(0.05), 4).cost > 5.0


def test_plans_need_one_lattice_and_a_tail():
    with pytest.raises(PrudentError, match=r"adaptive_cost: risk must be cvar or mean-cvar, got var"):
        adaptive_cost(LOSSES, VaR(0.1), 2)
    for bandit, periods in ((Bandit([Uniform(0.0, 1.0)]), 2), (LOSSES, 10_000), (Bandit([Bernoulli(0.5)]), 2_000)):
        with pytest.raises(PrudentError, match="the arms must share one lattice, with at most 2,000 different sums"):
            adaptive_cost(bandit, CVaR(0.1), periods)


# Regret and learning


def test_regret_of_sure_totals_is_exact():
    bandit = Bandit([Deterministic(1.0), Deterministic(3.0)])
    assert sequence_regret([7.0] * 200, bandit, CVaR(0.1), 3) == (pytest.approx(2.0 / 3.0), 0.0)
    with pytest.raises(PrudentError, match="sequence_regret: totals must hold at least 200 runs, got 199"):
        sequence_regret([7.0] * 199, bandit, CVaR(0.1), 3)


def test_the_best_sequence_has_no_regret_and_a_single_arm_has_its_own():
    """Within 6 standard errors, which chance leaves once in 500 million times."""
    rng, risk, n = np.random.default_rng(5), CVaR(0.05), 40_000
    drawn = [law.sample(rng, 4 * n).reshape(n, 4) for law in LOSSES.arms]
    known = best_sequence(LOSSES, risk, 4)
    assert known.counts == (2, 2)
    mixed = sum(x[:, :count].sum(1) for x, count in zip(drawn, known.counts, strict=True))
    regret = sequence_regret(mixed, LOSSES, risk, 4)
    assert 0.0 < regret.se < 0.1
    assert abs(regret.value) < 6.0 * regret.se
    alone = sequence_regret(drawn[1].sum(1), LOSSES, risk, 4)
    assert abs(alone.value - (sequence_cost(LOSSES, risk, (0, 4)) - known.cost) / 4.0) < 6.0 * alone.se


def test_sure_rewards_are_learned_at_once():
    bandit = Bandit([Deterministic(1.0), Deterministic(3.0), Deterministic(2.0)])
    totals = explore_then_sequence(bandit, CVaR(0.1), 10, explore=2, runs=5)
    assert totals.tolist() == [2 * 6.0 + 4 * 3.0] * 5
    assert explore_then_sequence(bandit, CVaR(0.1), 10, runs=5).tolist() == [6.0 + 7 * 3.0] * 5
    assert explore_then_sequence(bandit, CVaR(0.1), 6, explore=2, runs=5).tolist() == [12.0] * 5


def test_the_learner_plays_the_best_sequence_for_what_it_saw():
    """Three periods of two coins, one pull each to explore: the law of the total, exactly, and 40,000 runs of it.

    χ² exceeds the limit with probability 1e-7.
    """
    arms, risk, runs = [{0: 0.6, 2: 0.4}, {-1: 0.3, 1: 0.7}], CVaR(0.5), 40_000
    bandit = Bandit([Empirical([0.0] * 3 + [2.0] * 2), Empirical([-1.0] * 3 + [1.0] * 7)])
    law = Counter()
    for (x, p), (y, q) in itertools.product(arms[0].items(), arms[1].items()):
        chosen = arms[0] if x >= y else arms[1]
        for z, r in chosen.items():
            law[x + y + z] += p * q * r
    totals = explore_then_sequence(bandit, risk, 3, explore=1, runs=runs, seed=4)
    values = sorted(law)
    found = np.array([(np.abs(totals - value) < 1e-9).sum() for value in values])
    assert found.sum() == runs
    expected = runs * np.array([law[value] for value in values])
    assert ((found - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-7, len(values) - 1)


def test_gaussian_arms_are_learned_as_gaussian():
    bandit = Bandit([Gaussian(5.0, 0.1), Gaussian(0.0, 0.1)])
    totals = explore_then_sequence(bandit, CVaR(0.1), 50, explore=3, runs=300)
    assert abs(totals.mean() - 47 * 5.0) < 6.0 * math.sqrt(50 * 0.1 / 300)


def test_learning_repeats_with_the_seed_and_refuses_what_it_cannot_plan():
    once, again, other = (explore_then_sequence(LOSSES, "cvar(alpha=0.1)", 9, runs=50, seed=s) for s in (1, 1, 2))
    assert once.tolist() == again.tolist() != other.tolist()
    with pytest.raises(PrudentError, match="explore_then_sequence: explore must be a whole number from 1 to 4, got 5"):
        explore_then_sequence(LOSSES, CVaR(0.1), 9, explore=5, runs=2)
    with pytest.raises(PrudentError, match="explore_then_sequence: the arms must be Gaussian, or share a lattice"):
        explore_then_sequence(Bandit([Beta(1.0, 2.0), Bernoulli(0.5)]), CVaR(0.1), 9, runs=2)
    with pytest.raises(PrudentError, match="periods must be a whole number at least 2, got 1; every arm"):
        explore_then_sequence(LOSSES, CVaR(0.1), 1, runs=2)
