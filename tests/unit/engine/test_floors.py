"""Scores that compare an arm with the best one: what the lazy loop pulls, and what the contract refuses."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from prudent import Bandit, Bernoulli, CVaR, Deterministic, Empirical, Gaussian, MeanVariance, PrudentError, simulate
from prudent.arms.base import encode
from prudent.arms.sampling import draw, include
from prudent.engine.compiled import stepper
from prudent.engine.floors import clearly_below
from prudent.engine.record import BAD_SCORE, FINE, HALTED, Record, Statistics, write_down
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting, policies
from prudent.policies.scoring import counted
from prudent.policies.ties import below
from prudent.testing import check_policy
from prudent.testing.rules import ConformanceError

FIVE = Bandit([Gaussian(m, v) for m, v in ((0.1, 0.05), (0.3, 0.1), (0.5, 0.3), (0.5, 0.35), (0.9, 0.9))])
COINS = Bandit([Bernoulli(p) for p in (0.5, 0.5, 0.8, 0.2)])
THREE = Bandit([Empirical(v) for v in ([0.0, 0.5, 1.0], [0.0, 0.0, 0.5, 1.0], [0.5, 0.5, 1.0])])
HORIZON = 100


def ready(policy: Any, bandit: Bandit = FIVE, rho: float = 1.0) -> Any:
    made = policies.parse(policy) if isinstance(policy, str) else policy
    return bind(made, Setting(len(bandit), MeanVariance(rho), HORIZON))


def lazily(policy: Any, bandit: Bandit, seed: int = 3, interpreted: bool = True) -> list[list[int]]:
    """The pulls after every round, by the loop of the engine."""
    rounds = np.arange(1, HORIZON + 1)
    record, rng = Record.empty(1, HORIZON, len(bandit)), np.random.default_rng(seed)
    loop = stepper(policy, HORIZON, interpreted=interpreted)
    assert loop(encode(bandit.arms), 0, rounds, record, np.zeros(1, bool), rng) == FINE
    return record.pulls[0].tolist()


def plainly(policy: Any, bandit: Bandit, seed: int = 3) -> list[list[int]]:
    """The same with every score computed in every round; between rounds the twins take their draws from the stream."""
    laws, k = encode(bandit.arms), len(bandit)
    record, rng = Record.empty(1, HORIZON, k), np.random.default_rng(seed)
    pulls, mean, variance, rewards = [0] * k, [0.0] * k, [0.0] * k, [[] for _ in range(k)]
    found = []
    for t in range(HORIZON):
        arms = [Arm(*each) for each in zip(pulls, mean, variance, strict=True)]
        costs = [arm.variance - policy.rho * arm.mean for arm in arms if arm.pulls > 0]
        scores = []
        for arm, own in zip(arms, rewards, strict=True):
            more = (counted(policy.values, own),) if hasattr(policy, "values") else ()
            scores.append(policy.score(arm, min(costs), *more) if arm.pulls > 0 else -math.inf)
        best = 0
        for i in range(1, k):
            best = i if below(scores[i], arms[i], scores[best], arms[best]) else best
        rewards[best].append(draw(laws, best, rng))
        pulls[best] += 1
        mean[best], variance[best] = include(pulls[best], mean[best], variance[best], rewards[best][-1])
        found.append(list(pulls))
        known = Statistics(np.array(pulls), np.array(mean), np.array(variance))
        write_down(record, 0, t, known, laws, 0, rng)
    return found


@pytest.mark.parametrize("rho", [0.0, 1.0, 10.0])
@pytest.mark.parametrize(
    ("policy", "bandit"),
    [
        ("mv-imed", FIVE),
        ("mv-imed", THREE),
        ("bernoulli-mv-imed", COINS),
        ("finite-mv-imed(values=[0, 0.5, 1])", THREE),
    ],
    ids=["gaussian", "gaussian index, values that tie", "bernoulli", "finite"],
)
def test_the_arms_are_those_of_a_loop_that_computes_every_score(policy, bandit, rho):
    bound = ready(policy, bandit, rho)
    assert lazily(bound, bandit) == plainly(bound, bandit)


def test_most_scores_are_not_computed():
    calls = []

    class Counting:
        rho = 1.0

        def score(self, arm, best_cost):
            calls.append(arm)
            return ready("mv-imed").score(arm, best_cost)

    policy = Counting()
    assert lazily(policy, FIVE) == plainly(ready("mv-imed"), FIVE)
    assert len(calls) < 3.5 * HORIZON  # of five a round, in the rounds when most change


def test_sure_arms_and_one_arm():
    sure = Bandit([Deterministic(x) for x in (0.2, 0.7, 0.7)])
    assert lazily(ready("mv-imed", sure), sure)[-1] == [3, 49, 48]
    alone = Bandit([Gaussian(0.0, 1.0)])
    assert lazily(ready("mv-imed", alone), alone)[-1] == [HORIZON]


def test_a_difference_is_clear_beyond_rounding():
    assert clearly_below(1.0, 1.001)
    assert not clearly_below(1.0, 1.0 + 1e-12)
    assert not clearly_below(1.001, 1.0)
    assert clearly_below(-math.inf, 3.0)
    assert clearly_below(3.0, math.inf)
    assert not clearly_below(-math.inf, -math.inf)


class Rising(NamedTuple):
    rho: float = 1.0

    def score(self, arm, best_cost):
        return best_cost + 1.0 / arm.pulls


class Nothing(NamedTuple):
    def score(self, arm, best_cost):
        return -best_cost


class Clocked(NamedTuple):
    rho: float = 1.0

    def score(self, arm, best_cost, t):
        return -best_cost / t


class Tail(NamedTuple):
    risk: Any = CVaR(0.3)

    def score(self, arm, best_cost):
        return -best_cost


class Both(NamedTuple):
    rho: float = 1.0

    def score(self, arm, rewards, counts):
        return 0.0


class Uncounted(NamedTuple):
    def score(self, arm, counts):
        return 0.0


class Undefined(NamedTuple):
    rho: float = 1.0

    def score(self, arm, best_cost):
        return math.nan if arm.pulls > 4 else float(arm.pulls)


def test_a_score_that_rises_with_the_best_cost_is_refused_by_the_checker():
    with pytest.raises(ConformanceError, match="must not rise when best_cost does"):
        check_policy(Rising(), arms=(2,), horizon=10)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Nothing(), "asks for best_cost, so it needs a field rho, or a field risk"),
        (Tail(), "a risk that takes more than mean and variance needs a score that asks for rewards too"),
        (Clocked(), r"score must take \(self, arm\), and then best_cost, or those it needs of t and rng"),
        (Both(), "and then rewards or counts, in this order"),
        (Uncounted(), "asks for counts, so it needs a field values"),
    ],
)
def test_a_score_that_asks_for_what_there_is_not_is_refused(policy, message):
    with pytest.raises(PrudentError, match=message):
        ready(policy)


def test_without_a_bound_it_does_not_leap_and_says_why():
    with pytest.raises(PrudentError, match="bernoulli-mv-imed cannot leap here: it has no score_bound"):
        simulate(COINS, "bernoulli-mv-imed", risk="variance", horizon=10, runs=1, engine="leaping")


def test_it_ends_when_it_is_told_to_and_when_a_score_is_undefined():
    rest = Record.empty(1, 1, 5), np.zeros(1, bool), np.random.default_rng(0)
    laws, rounds = encode(FIVE.arms), np.array([HORIZON])
    assert stepper(ready(Undefined()), HORIZON, interpreted=True)(laws, 0, rounds, *rest) == BAD_SCORE
    rest[1][0] = True
    assert stepper(ready("mv-imed"), HORIZON, interpreted=True)(laws, 0, rounds, *rest) == HALTED


@pytest.mark.parametrize("name", ["mv-imed", "prudent"])
@pytest.mark.parametrize("unit", [2.0**-20, 1024.0])
def test_the_choices_are_free_of_units(name, unit):
    """Nothing is scaled: the policy itself decides alike if rewards and ρ are in another unit."""
    other = Bandit([Gaussian(law.mean * unit, law.variance * unit**2) for law in FIVE.arms])
    assert lazily(ready(name, FIVE, 0.7), FIVE) == lazily(ready(name, other, 0.7 * unit), other)
