"""What an experiment has given so far: where its variance comes from, its regret, and what it saved."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import Agent, MeanVariance, PrudentError, RiskMeasure
from prudent.engine.python.arm import ArmState, include_reward
from prudent.live import summary as module
from prudent.live.evidence import Evidence
from prudent.live.summary import spread_between, summary


def trial(rounds, seed=0, **settings):
    """Three arms in turn: a steady one, a wild one and a poor one."""
    settings = {"support": (0, 1), "risk": "mean-variance(rho=0.5)", **settings}
    agent = Agent("round-robin", ["steady", "wild", "poor"], **settings)
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        arm = agent.ask()
        agent.tell(arm, {"steady": rng.beta(20, 15), "wild": rng.random(), "poor": 0.5 * rng.random()}[arm])
    return agent


@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_within_and_moving_are_the_variance_of_the_recorded_sequence(offset):
    """Of a million rewards, to 1e-12 of it; exact sums are the reference."""
    rng = np.random.default_rng(1)
    chosen, rewards = rng.choice(4, 10**6, p=[0.6, 0.3, 0.09, 0.01]), offset + rng.random(10**6)
    rewards += chosen / 7.0
    arms = [ArmState() for _ in range(5)]  # the last one is never pulled
    for arm, reward in zip(chosen.tolist(), rewards.tolist(), strict=True):
        include_reward(arms[arm], reward, -math.inf, math.inf)
    known = summary(Evidence(arms, MeanVariance(1.0), (-math.inf, math.inf)), 0.95)
    mean = math.fsum(rewards) / 10**6
    variance = math.fsum((rewards - mean) ** 2) / 10**6
    assert known.rewards == 10**6
    assert known.mean == pytest.approx(mean, rel=1e-12)
    assert known.variance == known.within + known.moving == pytest.approx(variance, rel=1e-12)
    means = np.array([rewards[chosen == arm].mean() for arm in range(4)])
    assert known.moving == pytest.approx(np.sum(np.bincount(chosen) * (means - mean) ** 2) / 10**6, rel=1e-11)
    assert known.cost == pytest.approx(variance - mean, rel=1e-12)


def test_regret_and_even_split_come_from_the_intervals_of_the_arms_in_play():
    agent = trial(600)
    agent.retire("wild")
    known, arms = agent.summary(0.9), agent.intervals(1.0 - 0.1 / 6.0)  # half for the costs, half for the means
    playing = [arm for arm in arms if arm.arm != "wild"]
    assert known.level == 0.9
    assert known.cost == pytest.approx(known.variance - 0.5 * known.mean)
    assert known.regret.low == pytest.approx(known.cost - min(arm.cost.high for arm in playing))
    assert known.regret.high == pytest.approx(known.cost - min(arm.cost.low for arm in playing))
    spread = spread_between(*np.transpose([arm.mean for arm in playing]))
    even = [np.mean([arm.cost[end] for arm in playing]) + spread[end] for end in (0, 1)]
    assert known.even == pytest.approx(even)
    assert known.saved == pytest.approx((even[0] - known.cost, even[1] - known.cost))
    assert known.why == ""


def test_only_the_mean_counts_if_the_risk_says_so():
    agent = trial(300, risk="mean")
    known, arms = agent.summary(), agent.intervals(1.0 - 0.05 / 3.0)
    assert known.cost == -known.mean
    assert known.even == pytest.approx([-np.mean([arm.mean[end] for arm in arms]) for end in (1, 0)])


def test_losses_are_summed_up_in_their_own_sign():
    gains, losses = (
        Agent("round-robin", 2, risk="mean-variance(rho=1)", support=support, larger_is_better=larger)
        for support, larger in (((-5, 0), True), ((0, 5), False))
    )
    for arm, loss in enumerate(np.random.default_rng(2).uniform(0.0, 5.0, 80)):
        gains.tell(arm % 2, -loss, asked=False)
        losses.tell(arm % 2, loss, asked=False)
    assert losses.summary() == gains.summary()._replace(mean=-gains.summary().mean)
    assert losses.summary().mean > 0.0


boxes = st.lists(
    st.tuples(st.floats(0.0, 1.0), st.one_of(st.just(0.0), st.floats(0.0, 1.0))), min_size=1, max_size=7
).map(lambda pairs: (np.array([a for a, _ in pairs]), np.array([a + width for a, width in pairs])))


def nearest(low, high):
    """The smallest variance over a box, by moving one number at a time to where it is best."""
    numbers = (low + high) / 2.0
    for _ in range(500):
        for i in range(len(numbers)) if len(numbers) > 1 else ():
            numbers[i] = np.clip((numbers.sum() - numbers[i]) / (len(numbers) - 1.0), low[i], high[i])
    return np.var(numbers)


@given(boxes)
def test_the_variance_between_arms_is_extreme_where_brute_force_says(box):
    """With more arms than can be tried the largest is bounded, and exceeded by at most the largest width squared/4K."""
    low, high = box
    smallest, largest = spread_between(*box)
    corners = np.array([np.where(upper, high, low) for upper in product((False, True), repeat=len(low))])
    assert largest == pytest.approx(np.var(corners, axis=1).max(), abs=1e-12)
    assert smallest == pytest.approx(nearest(low, high), abs=1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ENUMERATED", 0)
        bound = spread_between(*box)
    assert bound.low == smallest
    assert -1e-12 <= bound.high - largest <= np.max(high - low) ** 2 / (4.0 * len(low)) + 1e-12


def test_as_many_arms_as_are_tried_one_by_one_have_the_exact_spread():
    rng = np.random.default_rng(4)
    low = rng.random(module.ENUMERATED)
    high = low + rng.random(len(low))
    corners = np.where(np.array(list(product((False, True), repeat=len(low)))), high, low)
    assert spread_between(low, high).high == pytest.approx(np.var(corners, axis=1).max(), rel=1e-12)


def test_many_arms_have_a_spread_too():
    low = np.linspace(0.0, 0.5, 3_000)
    smallest, largest = spread_between(low, low + 0.5)
    assert smallest == pytest.approx(0.0, abs=1e-15)  # all means may be 0.5
    assert largest == pytest.approx(np.var(np.where(low < 0.25, low, low + 0.5)), rel=1e-3)


@dataclass(frozen=True)
class Median(RiskMeasure):
    """Minus the median, of which no interval is known."""

    name = "median"

    def cost(self, law):
        return -law.quantile(0.5)

    def weigh(self, values, weights):
        return -float(values[np.searchsorted(np.cumsum(weights), 0.5)])


def test_measures_that_read_every_reward_are_priced_on_all_of_them():
    known = trial(301, risk="cvar(alpha=0.25)").summary()
    arms = trial(301, remember=True)._arms
    rewards = np.sort(np.concatenate([arm.rewards for arm in arms]))
    assert known.cost == pytest.approx(-rewards[:75].sum() / 75.25 - 0.25 / 75.25 * rewards[75])
    assert known.regret.low < known.regret.high
    assert (known.even, known.saved) == (None, None)
    assert known.why == "What an even split costs is known for mean-variance only"
    known = trial(31, risk=Median()).summary()
    assert known.cost == pytest.approx(-np.median([r for arm in trial(31, remember=True)._arms for r in arm.rewards]))
    assert known.regret is None
    assert known.why == "No confidence interval is known for median()"


def test_what_cannot_be_said_is_none_with_the_reason():
    nothing = trial(0).summary()
    assert nothing == (0, 0.95, "No arm has a reward", *[None] * 8)
    assert str(nothing) == "Nothing can be said yet, because no arm has a reward."
    some = trial(1).summary()
    assert some.regret is None
    assert some.why == "Regret is not known, because wild and poor have no reward yet"
    assert trial(2).summary().why == "Regret is not known, because poor has no reward yet"
    free = trial(9, support=None).summary()
    assert free.variance > 0.0
    assert free.why == "Regret is not known, because intervals need a bounded support"
    forgotten = summary(Evidence([ArmState(None, 1, 0.5)], Median(), (0.0, 1.0)), 0.95)
    assert (forgotten.cost, forgotten.why) == (None, "median() needs every reward, and they are not remembered")
    with pytest.raises(PrudentError, match=r"summary: level must lie in \(0, 1\), got 95; for 95 % confidence pass"):
        trial(0).summary(95)


def test_in_words():
    assert str(trial(3_000).summary()) == (
        "3,000 rewards of mean 0.439 and variance 0.0573; 34 % of the variance comes from moving between arms. "
        "Their cost is −0.162. The regret per round is between 0.11 and 0.122 with 95 % confidence. "
        "An even split would have cost between −0.178 and −0.145: "
        "up to 0.0174 per round were saved, or up to 0.0159 lost."
    )
    assert str(trial(1, risk="mean").summary()) == (
        "1 reward of mean 0.54 and variance 0; 0 % of the variance comes from moving between arms. "
        "Their cost is −0.54. Regret is not known, because wild and poor have no reward yet."
    )


@pytest.mark.parametrize(("better", "words"), [(True, "saved"), (False, "lost")])
def test_what_was_saved_or_lost_for_sure(better, words):
    """Nearly all rounds went to the better arm, or to the worse one."""
    agent = Agent("round-robin", ["good", "bad"], risk="mean", support=(0, 1))
    rng = np.random.default_rng(3)
    for name, rate in (("good", 0.9), ("bad", 0.1)):
        for _ in range(1_000 if (name == "good") == better else 100):
            agent.tell(name, rng.random() < rate, asked=False)
    known = agent.summary()
    assert (known.saved.low > 0.0) == better
    assert (known.saved.high < 0.0) != better
    assert str(known).endswith(f" per round were {words}.")
