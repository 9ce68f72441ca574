"""What a plan promises holds for the distribution that the pilot came from, and not only for the pilot."""

import numpy as np
import pytest
from scipy import stats

from prudent import Bandit, FromScipy, Gaussian
from prudent.plan import Pilot
from prudent.plan.race import Heat, Race
from prudent.plan.ranking import ranked
from prudent.plan.trial import Trial, Worlds
from prudent.policies.contract import policies
from prudent.policies.units import fitted

PILOTS, WORLDS, RUNS = 200, 60, 5
TRUTH_RUNS = 60

KNOWN = {
    "normal": ([Gaussian(40.0, 100.0), Gaussian(44.0, 400.0)], 60, 50.0),
    "yes and no": (["bernoulli(0.3)", "bernoulli(0.4)"], 60, float("inf")),
    "exponential": ([FromScipy(stats.expon(scale=10.0)), FromScipy(stats.gamma(2.0, scale=6.0))], 100, 25.0),
    "many zeros": ([f"mixture([deterministic(0), exponential(20)], [{x}, {1 - x}])" for x in (0.8, 0.7)], 300, 60.0),
    "nearly equal": ([FromScipy(stats.lognorm(1.0, scale=x)) for x in (10.0, 12.0)], 300, 60.0),
    "lognormal": ([FromScipy(stats.lognorm(1.0, scale=x)) for x in (10.0, 15.0)], 300, 60.0),
}  # fmt: skip


PROMISED = "found_best", "regret", "outcome"


def covered(laws, outcomes, rho, horizon=200, pilots=PILOTS):
    """How often, of so many pilots of a known distribution, the intervals of success rate, cost and mean outcome of the
    recommended policy hold the true values: it is the best of three in the worlds of that pilot."""
    bandit, hits = Bandit(laws), np.zeros(3)
    low = 0.0 if bandit.support[0] == 0.0 else -np.inf
    for number in range(pilots):
        rng = np.random.default_rng([11, number])
        options = [
            Pilot(name, tuple(law.sample(rng, outcomes).tolist())) for name, law in zip("ab", bandit.arms, strict=True)
        ]
        trial = Trial.checked(options, f"mean-variance(rho={rho})", horizon)
        race = Race(trial, WORLDS, RUNS, number, 1, 30.0, lambda share: None)
        names = ("vts", "mv-lcb", "exp-exp") if low != 0.0 or rho < np.inf else ("bernoulli-thompson", "ucb1", "vts")
        tried = [fitted(policies.parse(name), trial.units) for name in names]
        promised = ranked([race.play(policy, Heat(WORLDS, RUNS, horizon)) for policy in tried])[0]
        policy = promised.policy
        truth = Race(trial, WORLDS, RUNS, number + 10_000, 1, 30.0, lambda share: None)
        truth.worlds_of_weight[1.0] = Worlds.of(trial.risk, [list(bandit.arms)])
        found = truth.play(policy, Heat(1, TRUTH_RUNS, horizon))
        for place, name in enumerate(PROMISED):
            promise = promised.promise(name)
            hits[place] += promise.low <= getattr(found, name).mean() <= promise.high
    return hits / pilots


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_intervals_of_ninety_percent_hold_the_truth_in_at_least_88_percent_of_pilots(name):
    assert (covered(*KNOWN[name]) >= 0.88).all()
