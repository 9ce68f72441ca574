"""Bets against candidates: whoever looks after every reward sees a miss with probability at most `failure`.

Streams are fixed. More than `binom.isf(1e-9, runs, failure)` runs with a miss would happen with probability below 1e-9
if a sequence holds. For the mean of Bernoulli rewards the probability is computed exactly.
"""

import numpy as np
import pytest
from scipy.stats import binom

from helpers.coins import coin_bets
from helpers.crossing_probability import crossing_probability
from prudent import Bernoulli, Beta, Deterministic, Empirical, Mixture, Uniform
from prudent.confidence import anytime, betting

FAILURE, RHO = 0.2, 0.7
RUNS, LENGTH = 100, 600
TIMES = np.unique(np.rint(np.concatenate([np.arange(1, 20), np.geomspace(20, LENGTH, 16)])).astype(int))

LAWS = [
    Bernoulli(0.1),
    Bernoulli(0.5),
    Beta(6.0, 2.0),
    Uniform(2.0, 6.0),
    Mixture([Deterministic(0.3), Beta(0.5, 0.5), Bernoulli(0.02)], [0.6, 0.1, 0.3]),
    Empirical([-1.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.2, 3.0]),
]
QUANTITIES = {
    "mean": (betting.mean_bounds, lambda law: law.mean),
    "variance": (betting.variance_bounds, lambda law: law.variance),
    "mean-variance": (
        lambda ledger, pulls, *others: betting.mean_variance_bounds(ledger, pulls, RHO, *others),
        lambda law: law.variance - RHO * law.mean,
    ),
}


def played(law, runs, length, times, price=1.0):
    """Ledgers of some runs at some times; a mutant's bets are so many times as large as what they cost."""
    rewards = law.sample(np.random.default_rng(2024), runs * length).reshape(runs, length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(betting, "KAPPA", price * betting.KAPPA)
        return np.array([betting.entered(run, times, *law.support, RHO) for run in rewards])


def runs_that_miss(quantity, law, ledgers, repeated=1):
    """How many ever leave the truth out; a mutant counts each reward several times."""
    bounds, truth = QUANTITIES[quantity]
    low, high = bounds(repeated * ledgers, repeated * TIMES, FAILURE, *law.support)
    return ((truth(law) < low) | (truth(law) > high)).any(1).sum()


@pytest.fixture(scope="module", params=LAWS, ids=str)
def path(request):
    return request.param, played(request.param, RUNS, LENGTH, TIMES)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_few_runs_ever_miss(path, quantity):
    assert runs_that_miss(quantity, *path) <= binom.isf(1e-9, RUNS, FAILURE)


def test_rewards_counted_several_times_would_be_caught():
    law = Uniform(0.0, 1.0)
    path = played(law, RUNS, LENGTH, TIMES)
    for quantity in QUANTITIES:
        assert runs_that_miss(quantity, law, path, repeated=16) > binom.isf(1e-9, RUNS, FAILURE)


def test_bets_larger_than_what_they_cost_would_be_caught():
    """Stakes are doubled, the price that the candidate asks for them is not."""
    law = Uniform(0.0, 1.0)
    path = played(law, RUNS, LENGTH, TIMES, price=2.0)
    for quantity in QUANTITIES:
        assert runs_that_miss(quantity, law, path) > binom.isf(1e-9, RUNS, FAILURE)


def bernoulli_ledgers(length):
    """Ledgers of the mean after n rewards of which k are 1, in the places [n, k]; nonsense where k > n."""
    n, k = (np.arange(length + 1)[:, None], np.arange(length + 1)[None, :])
    return coin_bets(np.minimum(n, k), n), np.maximum(n, 1) + 0 * k


@pytest.mark.parametrize("failure", [0.05, 0.5])
def test_bernoulli_rewards_miss_exactly_as_seldom_as_proved(failure):
    """And not absurdly more seldom: for some success within 100 rewards in a fifth of what is allowed and more."""
    low, high = betting.mean_bounds(*bernoulli_ledgers(100), failure, 0.0, 1.0)
    chances = [crossing_probability(p, (p < low) | (p > high)) for p in (0.01, 0.1, 0.3, 0.5, 0.8, 0.99)]
    assert failure / 5.0 < max(chances) <= failure


@pytest.mark.parametrize("failure", [0.05, 0.3])
@pytest.mark.parametrize("lies", [betting.mean_above, betting.mean_below])
def test_one_side_may_use_the_whole_failure(failure, lies):
    """A success rate exactly at the limit is excluded, ever, as seldom as proved, and not absurdly more seldom.

    A function that took the other side's half too, and so twice what it is given, would exceed what is proved.
    """
    ledgers, pulls = bernoulli_ledgers(100)

    def chance(p, failure):
        excluded = np.zeros((101, 101), np.bool_)
        for n, k in zip(*np.tril_indices(101), strict=True):
            excluded[n, k] = lies(ledgers[n, k], pulls[n, k], p, failure, 0.0, 1.0)
        return crossing_probability(p, excluded)

    assert all(chance(p, failure) <= failure for p in (0.1, 0.3))
    assert 0.6 * failure < chance(0.5, failure) <= failure < chance(0.5, 2.0 * failure)


@pytest.mark.parametrize(
    ("law", "mean_gain", "variance_gain"),
    [
        (Bernoulli(0.01), (0.5, 0.8, 1.0, 0.9), (0.8, 0.8, 1.0, 1.0)),
        (Bernoulli(0.1), (0.55, 0.8, 0.85, 0.95), (1.0, 0.95, 0.95, 0.95)),
        (Bernoulli(0.5), (0.65, 0.7, 0.88, 0.97), (1.1, 0.8, 0.65, 0.5)),
        (Beta(2.0, 5.0), (0.35, 0.5, 0.7, 0.88), (0.5, 0.35, 0.42, 0.33)),
        (Uniform(0.0, 1.0), (0.42, 0.6, 0.82, 0.94), (0.65, 0.5, 0.6, 0.6)),
        (Beta(90.0, 210.0), (0.3, 0.4, 0.5, 0.55), (0.4, 0.35, 0.7, 0.7)),
    ],
    ids=str,
)
def test_they_are_narrower_than_those_of_pulls_mean_and_variance(law, mean_gain, variance_gain):
    """Mean widths at level 0.95 after 20, 50, 200, 1,000 rewards, as shares of those of `anytime`."""
    times = np.array([20, 50, 200, 1_000])
    rewards = law.sample(np.random.default_rng(2024), 40 * 1_000).reshape(40, 1_000)
    ledgers = played(law, 40, 1_000, times)
    means = np.array([[run[:n].mean() for n in times] for run in rewards])
    variances = np.array([[run[:n].var() for n in times] for run in rewards])
    for bets, moments, gain in (
        (betting.mean_bounds, anytime.mean_bounds, mean_gain),
        (betting.variance_bounds, anytime.variance_bounds, variance_gain),
    ):
        low, high = bets(ledgers, times, 0.05, 0.0, 1.0)
        left, right = moments(times, means, variances, 0.05, 0.0, 1.0)
        share = (high - low).mean(0) / (right - left).mean(0)
        assert (share < gain).all()
