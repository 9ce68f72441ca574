"""Worlds from the pilot's own outcomes, and trials in them that begin with the pilot."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from prudent import CVaR, Deterministic, MeanVariance
from prudent.plan import Pilot, guesses
from prudent.plan.cells import Cells
from prudent.plan.check import agent_of, trials_for
from prudent.plan.race import Heat, Race
from prudent.plan.trial import Trial, Worlds
from prudent.plan.worlds import outcomes_of
from prudent.policies.contract import policies

RNG = np.random.default_rng(5)
NORMAL, SKEWED = RNG.normal(40.0, 9.0, 60), RNG.lognormal(3.0, 1.0, 300)
ZEROS = np.where(RNG.random(800) < 0.9, 0.0, RNG.lognormal(3.0, 0.5, 800))
COUNTS = RNG.poisson(3.0, 200).astype(float)
SHAPES = {"normal": NORMAL, "skewed": SKEWED, "zeros": ZEROS, "counts": COUNTS}

NO_LIMITS = (-math.inf, math.inf)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 3), st.floats(0.1, 2)), min_size=1, max_size=6))
def test_a_distribution_of_cells_agrees_with_its_quantiles(parts):
    """Mean, variance, distribution function and tail mean are integrals of the quantile function, by many of its
    points."""
    starts = np.cumsum([gap + width for gap, width, _ in parts])
    low, high = starts - np.array([width for _, width, _ in parts]), starts
    law = Cells(low, high, np.array([weight for *_, weight in parts]))
    levels = (np.arange(20_000) + 0.5) / 20_000
    x = law.tail(levels)
    assert x.mean() == pytest.approx(law.mean, rel=1e-3, abs=1e-3)
    assert x.var() == pytest.approx(law.variance, rel=5e-3, abs=5e-3)
    assert law.lower_tail_mean(0.25) == pytest.approx(x[:5_000].mean(), rel=1e-3, abs=1e-3)
    middle = 0.5 * (law.support[0] + law.support[1]) + 1e-9
    assert law.cdf(middle) == pytest.approx((x <= middle).mean(), abs=1e-3)
    turned = law.negative()
    assert (turned.mean, turned.variance) == (pytest.approx(-law.mean), pytest.approx(law.variance))
    values, weights = law.points()
    assert CVaR(0.25).sample_cost(values, weights) == pytest.approx(-law.lower_tail_mean(0.25), abs=0.3)


@pytest.mark.parametrize("name", SHAPES)
def test_worlds_are_centred_at_the_pilot(name, rng):
    """The mean over worlds is that of the outcomes, but for tails, which are heavier than what was seen."""
    x = SHAPES[name]
    worlds = [outcomes_of(x, x, NO_LIMITS).draw(rng) for _ in range(400)]
    means = np.array([law.mean for law in worlds])
    assert abs(means.mean() - x.mean()) < 0.5 * x.std() / math.sqrt(len(x)) + 4.0 * means.std() / 20.0
    assert 0.5 < np.median([law.variance for law in worlds]) / x.var() < 2.0
    assert 0.5 < means.std() / (x.std() / math.sqrt(len(x))) < 2.5


@st.composite
def files_with_frequent_values(draw):
    """Files of up to 20,000 outcomes on both sides of values that come often, wherever these lie."""
    size, seed = draw(st.sampled_from([300, 1_000, 5_000, 20_000])), draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], size) * rng.lognormal(3.0, draw(st.sampled_from([0.3, 1.0])), size)
    often = draw(st.lists(st.sampled_from([-200.0, -40.0, -1.5, 0.0, 3.0, 20.0, 90.0]), max_size=3, unique=True))
    for value in often:
        x[rng.random(size) < draw(st.sampled_from([0.02, 0.3, 0.95]))] = value
    return x.round(draw(st.sampled_from([1, 9]))), often


@given(files_with_frequent_values())
def test_mean_variance_and_frequent_values_of_worlds_are_centred_at_the_pilot(made):
    """The expected weights of a world: they have the pilot's mean and its shares of frequent values.

    Smoothing gives a gap of width d the variance d²/12 in place of d²/4, so that the mean square falls by Σ d²/6n.
    """
    x, often = made
    assume(len(np.unique(x)) > 20)  # few values have a prior
    made = outcomes_of(x, x, (x.min(), x.max()))  # the limits leave no tails
    middle, width, share = 0.5 * (made.low + made.high), made.high - made.low, made.shares / made.shares.sum()
    assert made.shares.sum() == pytest.approx(len(x))
    assert share @ middle == pytest.approx(x.mean(), rel=1e-9, abs=1e-9 * np.abs(x).max())
    variance = share @ (middle**2 + width**2 / 12.0) - (share @ middle) ** 2
    values = np.unique(x)
    lost = (np.diff(values) ** 2).sum() / (6.0 * len(x))
    assert x.var() - 1.01 * lost - 0.01 * x.var() <= variance <= 1.01 * x.var()
    for value in (*often, *values[:3]):
        own = share[(made.low == value) & (made.high == value)].sum()
        if (x == value).mean() >= 0.01:
            assert own == pytest.approx((x == value).mean(), rel=1e-9)
    assert (made.low[1:] >= made.high[:-1]).all(), "cells ascend"
    assert len(share) <= 600


def test_a_wide_gap_between_two_groups_of_many_outcomes_stays_nearly_empty(rng):
    x = np.append(rng.normal(0.0, 1.0, 4_321), rng.normal(1_000.0, 1.0, 5_679))
    made = outcomes_of(x, x, NO_LIMITS)
    inside = np.minimum(made.high, 900.0) - np.maximum(made.low, 100.0)
    assert (made.shares * np.maximum(inside, 0.0) / np.maximum(made.high - made.low, 1e-9)).sum() < 1.0


def test_three_outcomes_leave_much_possible(rng):
    x = np.array([1.0, 2.5, 7.0])
    variances = [outcomes_of(x, x, NO_LIMITS).draw(rng).variance for _ in range(400)]
    low, high = np.quantile(variances, [0.1, 0.9]) / x.var(ddof=1)
    assert low < 1.0
    assert high > 5.0


def test_worlds_are_smooth_where_outcomes_are_and_keep_values_that_come_often(rng):
    law = outcomes_of(ZEROS, ZEROS, (0.0, math.inf)).draw(rng)
    drawn = law.sample(rng, 20_000)
    assert abs((drawn == 0.0).mean() - (ZEROS == 0.0).mean()) < 0.05
    assert len(np.unique(drawn[drawn > 0.0])) > 1_500, "the 80 that were paid are not all there can be"
    assert drawn.min() == 0.0
    assert law.support[1] > ZEROS.max(), "larger outcomes than the largest may come"
    counts = outcomes_of(COUNTS, COUNTS, (0.0, math.inf)).draw(rng)
    inside = counts.sample(rng, 5_000)
    assert (inside[inside <= COUNTS.max()] == np.round(inside[inside <= COUNTS.max()])).all()


def test_few_values_are_all_there_are_and_unseen_ones_may_come(rng):
    """Three values, of which an option showed two: the third one has the prior's share."""
    own, others = np.repeat([1.0, 2.0], 10), np.repeat([1.0, 2.0, 3.0], 10)
    laws = [outcomes_of(own, np.concatenate([own, others]), NO_LIMITS).draw(rng) for _ in range(2_000)]
    third = np.array([law.weights[2] for law in laws])
    assert third.mean() == pytest.approx((2.0 / 3.0) / 22.0, rel=0.1)


def test_limits_are_kept(rng):
    x = 100.0 - SKEWED / 20.0
    laws = [outcomes_of(x, x, (x.min() - 1.0, 100.0)).draw(rng) for _ in range(50)]
    assert all(x.min() - 1.0 <= law.support[0] and law.support[1] <= 100.0 for law in laws)


def test_the_largest_outcomes_may_weigh_twice_or_not_at_all(rng):
    odd = np.append(NORMAL, 5_000.0)
    means = []
    for times in (0.0, 1.0, 2.0):
        laws = [outcomes_of(odd, odd, (0.0, math.inf)).draw(np.random.default_rng(i), times) for i in range(300)]
        means.append(np.mean([law.mean for law in laws]))
    assert means[0] < 90.0 < means[1] < means[2], "the gap below the odd outcome goes with it"


def both_ways(policy, risk, pilot, horizon, begin=True):
    """Pulls of a policy on outcomes that never vary: by the compiled trial, and by the agent."""
    guessed = guesses(["c: deterministic(0.4)", "d: deterministic(0.5)"])
    options = [Pilot("a", pilot), Pilot("b", pilot[::-1]), *guessed]
    trial = Trial.checked(options, risk, horizon, support=(0.0, 1.0), begin=begin)
    same = [list(map(Deterministic, (0.3, 0.2, 0.4, 0.5)))]
    race = Race(trial, 10, 2, 0, 1, 1.0, lambda share: None)
    race.worlds_of_weight[1.0] = Worlds.of(trial.risk, same * 60)
    compiled = race.play(policies.parse(policy), Heat(1, 2, horizon)).trials.pulls[0, 0]
    agent = agent_of(trial, policy, horizon, 0)
    worth, pulls = dict(zip("abcd", (0.3, 0.2, 0.4, 0.5), strict=True)), dict.fromkeys("abcd", 0)
    for _ in range(horizon):
        arm = agent.ask()
        pulls[arm] += 1
        agent.tell(arm, worth[arm])
    return compiled.tolist(), list(pulls.values())


@pytest.mark.parametrize("begin", [True, False])
@pytest.mark.parametrize("policy", ["mv-lcb(rho=1, range=1)", "exp-exp(rho=1)"])
def test_a_trial_pulls_what_the_agent_pulls(policy, begin):
    """Outcomes that never vary leave no chance: the compiled trial and the agent agree in every pull, with the pilot
    and without it."""
    compiled, live = both_ways(policy, MeanVariance(1.0), (0.1, 0.9, 0.4, 0.6, 0.2), 90, begin)
    assert compiled == live
    assert sum(live) == 90


def test_a_trial_begins_with_what_the_pilot_knows():
    """Two coins that 400 outcomes tell apart: from nothing a trial looks again, with the pilot hardly."""
    yes, no = (1.0,) * 30 + (0.0,) * 170, (1.0,) * 150 + (0.0,) * 50
    shares = []
    for begin in (True, False):
        trial = Trial.checked([Pilot("no", yes), Pilot("yes", no)], MeanVariance(1.0), 200, begin=begin)
        race = Race(trial, 20, 5, 0, 1, 1.0, lambda share: None)
        found = race.play(policies.parse("mv-lcb(range=1)"), Heat(20, 5, 200))
        shares.append(found.best_share.mean())
    assert shares[0] > 0.95 > shares[1]


def test_the_check_has_the_trials_that_its_time_allows():
    trial = Trial.checked(guesses(["2 * bernoulli(0.1..0.9)"]), MeanVariance(1.0), 100)
    assert [trials_for(trial, n, 30.0) for n in (100, 10_000, 1_000_000)] == [60, 18, 0]
