"""Confidence sequences: whoever looks after every reward sees a miss with probability at most `failure`.

Streams are fixed. More than `binom.isf(1e-9, runs, failure)` runs with a miss would happen with probability below 1e-9
if a sequence holds. A run that stops whenever it likes misses at most when the run misses somewhere on its path, so the
path is what is tested. For Bernoulli rewards the probability is computed exactly, with no false alarms at all.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

from helpers.crossing_probability import crossing_probability
from prudent import Bernoulli, Beta, Deterministic, Empirical, Exponential, Gaussian, Mixture, Uniform
from prudent.confidence.anytime import mean_bounds, mean_variance_bounds, quantile_ranks, variance_bounds

FAILURE, RHO = 0.2, 0.7
RUNS, LENGTH = 200, 5_000
TIMES = np.unique(np.rint(np.concatenate([np.arange(1, 40), np.geomspace(40, LENGTH, 50)])).astype(int))
"""Bounded rewards are looked at after each of the first 40, then at every 10 % more: bisection takes its time."""

BOUNDED = [
    Bernoulli(0.1),
    Beta(6.0, 2.0),
    Uniform(2.0, 6.0),
    Mixture([Deterministic(0.3), Beta(0.5, 0.5), Bernoulli(0.02)], [0.6, 0.1, 0.3]),
    Empirical([-1.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.2, 3.0]),
]
ANY = [
    *BOUNDED,
    Gaussian(1.0, 4.0),
    Exponential(2.0),
    Mixture([Gaussian(0.0, 1.0), Deterministic(0.5)], [0.5, 0.5]),  # its median lies on an atom
]
QUANTITIES = {
    "mean": (mean_bounds, lambda law: law.mean),
    "variance": (variance_bounds, lambda law: law.variance),
    "mean-variance": (
        lambda pulls, mean, variance, *others: mean_variance_bounds(pulls, mean, variance, RHO, *others),
        lambda law: law.variance - RHO * law.mean,
    ),
}


def missed(quantity, law, pulls, mean, variance):
    """Where the interval of the quantity leaves the truth out."""
    bounds, truth = QUANTITIES[quantity]
    low, high = bounds(pulls, mean, variance, FAILURE, *law.support)
    return (truth(law) < low) | (truth(law) > high)


def most_events(runs):
    return binom.isf(1e-9, runs, FAILURE)


def statistics(rewards):
    """Mean and variance after each reward."""
    count = np.arange(1, rewards.shape[1] + 1)
    shift = rewards.mean()
    mean = (rewards - shift).cumsum(1) / count
    return mean + shift, np.maximum(((rewards - shift) ** 2).cumsum(1) / count - mean**2, 0.0)


@pytest.fixture(scope="module", params=BOUNDED, ids=lambda law: law.name)
def path(request):
    law = request.param
    mean, variance = statistics(law.sample(np.random.default_rng(2021), RUNS * LENGTH).reshape(RUNS, LENGTH))
    return law, TIMES, mean[:, TIMES - 1], variance[:, TIMES - 1]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_few_runs_ever_miss(path, quantity):
    assert missed(quantity, *path).any(1).sum() <= most_events(RUNS)


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("pulls", [2, 10, 100])
@pytest.mark.parametrize("law", BOUNDED, ids=lambda law: law.name)
def test_few_runs_miss_at_a_fixed_time(law, pulls, quantity):
    rewards = law.sample(np.random.default_rng(7), 1_000 * pulls).reshape(1_000, pulls)
    assert missed(quantity, law, pulls, rewards.mean(1), rewards.var(1)).sum() <= most_events(1_000)


def test_an_interval_for_one_fixed_time_would_be_caught():
    """Hoeffding's interval at every time, twice as wide as the normal one: far more runs than `failure` see a miss."""
    rewards = np.random.default_rng(3).integers(0, 2, (RUNS, LENGTH))
    mean, _ = statistics(rewards)
    width = np.sqrt(math.log(2.0 / FAILURE) / (2.0 * np.arange(1, LENGTH + 1)))
    assert (np.abs(mean - 0.5) > width).any(1).sum() > most_events(RUNS)


@pytest.mark.parametrize("failure", [0.05, 0.5])
def test_bernoulli_rewards_miss_exactly_as_seldom_as_proved(failure):
    """And not absurdly more seldom: the sequences for 0.5 do miss, in one run of thirty and more for some success."""
    length = 200
    ones, pulls = np.meshgrid(np.arange(length + 1), np.maximum(np.arange(length + 1), 1))
    mean = np.minimum(ones / pulls, 1.0)
    means = mean_bounds(pulls, mean, mean * (1.0 - mean), failure, 0.0, 1.0)
    variances = variance_bounds(pulls, mean, mean * (1.0 - mean), failure, 0.0, 1.0)
    worst = {"mean": 0.0, "variance": 0.0}
    for p in (0.01, 0.1, 0.3, 0.5, 0.8, 0.99):
        for name, truth, (low, high) in (("mean", p, means), ("variance", p * (1.0 - p), variances)):
            probability = crossing_probability(p, (truth < low) | (truth > high))
            assert probability <= failure
            worst[name] = max(worst[name], probability)
    assert failure < 0.5 or worst["mean"] > 1.0 / 30.0


@pytest.mark.parametrize("quantile", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("law", ANY, ids=str)
def test_few_runs_ever_miss_a_quantile(law, quantile):
    """After every reward: the rewards up to the quantile reach the lower rank, those below it stay under the upper."""
    rewards = law.sample(np.random.default_rng(11), RUNS * LENGTH).reshape(RUNS, LENGTH)
    first, last = quantile_ranks(np.arange(1, LENGTH + 1), quantile, FAILURE)
    truth = law.quantile(quantile)
    up_to, below = (rewards <= truth).cumsum(1), (rewards < truth).cumsum(1)
    assert ((up_to < first) | (below >= last)).any(1).sum() <= most_events(RUNS)


def test_a_quantiles_ranks_miss_exactly_as_seldom_as_proved():
    length = 300
    for quantile in (0.02, 0.3, 0.5):
        first, last = quantile_ranks(np.arange(1, length + 1), quantile, 0.3)
        ones = np.arange(length + 1)
        excluded = np.vstack([ones < 0, (ones < first[:, None]) | (ones >= last[:, None])])
        assert 0.03 < crossing_probability(quantile, excluded) <= 0.3


@pytest.mark.parametrize("law", [Beta(6.0, 2.0), Uniform(2.0, 6.0), Beta(200.0, 100.0)], ids=str)
def test_widths_are_of_use_and_shrink(law):
    """After 1,000 rewards within 2.2 times the normal interval for one fixed time, plus 15 b/n that the range b costs.

    For the variance: the normal interval if (X − μ)² has the largest standard deviation it can have, σ b.
    """
    low, high = law.support
    length = high - low

    def widths(pulls):
        statistics = (pulls, law.mean, law.variance, 0.05, low, high)
        return np.array([right - left for left, right in (mean_bounds(*statistics), variance_bounds(*statistics))])

    units = np.array([length, length**2])
    normal = 2.0 * 1.96 * math.sqrt(law.variance / 1_000) * units / length
    assert (widths(1_000) < 2.2 * normal + 15.0 * units / 1_000).all()
    for pulls in (1_000, 10_000, 100_000):
        assert (widths(100 * pulls) < 0.15 * widths(pulls)).all()


def test_quantile_ranks_close_in():
    """After n rewards the ranks are within 1.6 times Dvoretzky, Kiefer and Wolfowitz's distance at one fixed time."""
    for pulls in (100, 1_000, 10_000):
        first, last = quantile_ranks(pulls, 0.5, 0.05)
        assert last - first <= 1.6 * 2.0 * pulls * math.sqrt(math.log(2.0 / 0.05) / (2.0 * pulls)) + 2
