"""Bets on the CVaR: where it lies, from a ledger of constant size."""

import json
import math

import numpy as np
import pytest

from helpers.agents import resealed
from prudent import Agent, CVaR, MeanCVaR, PrudentError
from prudent.confidence import betting, tails
from prudent.evaluation.betting import Sample, tail_limits

LAWS = {
    "beta": lambda rng, n: rng.beta(2.0, 5.0, n),
    "few values": lambda rng, n: rng.choice([0.0, 0.3, 1.0], n, p=[0.1, 0.6, 0.3]),
}
BETS = (tails.CELLS + 2) * betting.BETS


GAIN = math.log(40.0)


def ends(ledger, pulls, alpha, weight=1.0, gain=GAIN):
    low, high = tails.limits(ledger[None], [pulls], alpha, weight, [gain], (0.0, 1.0))
    return low[0, 0], high[0, 0]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("alpha", "weight"), [(0.25, 1.0), (0.05, 1.0), (0.25, 0.5), (1.0, 1.0)])
def test_they_are_about_as_narrow_as_those_of_a_log_that_keeps_every_reward(law, alpha, weight):
    rewards = LAWS[law](np.random.default_rng(1), 1_000)
    low, high = ends(tails.entered(rewards, 0.0, 1.0, alpha, weight), 1_000, alpha, weight)
    own = MeanCVaR(alpha, weight).sample_cost(np.sort(rewards), np.full(1_000, 1e-3))
    start, end = tail_limits(Sample(rewards, np.ones(1_000)), alpha, weight, 0.05)
    assert low <= own <= high
    assert low < high or own == 0.0
    assert high - low <= 1.2 * (end - start)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("alpha", "weight"), [(0.25, 1.0), (0.1, 0.7)])
def test_the_functions_that_are_bet_on_lie_on_the_right_side_of_the_cost(law, alpha, weight):
    """For the empirical distribution: the least mean of an h is no larger than the cost, and hardly smaller."""
    x = LAWS[law](np.random.default_rng(2), 400)
    cost = MeanCVaR(alpha, weight).sample_cost(np.sort(x), np.full(400, 1 / 400))
    heights = np.mean([tails._heights(each, alpha, weight) for each in x], axis=0)
    below = (weight / alpha + 1.0 - weight) * heights - weight * tails.GRID - (1.0 - weight)
    slack = np.diff(np.searchsorted(np.sort(x), tails.GRID, side="right")).max() / 400 / tails.CELLS / alpha
    assert cost - weight * slack - 1e-12 <= below.min() <= cost + 1e-12


def test_the_fewer_bets_of_a_look_lose_hardly_anything_against_all_of_them():
    """For each point of the grid the limit by all bets together is the largest one that holds."""
    rewards, alpha, gains = LAWS["beta"](np.random.default_rng(3), 300), 0.2, np.array([1.0, 4.0])
    ledger = tails.entered(rewards, 0.0, 1.0, alpha, 1.0)
    low, high = tails.limits(ledger[None], [300], alpha, 1.0, gains, (0.0, 1.0))
    rows = ledger[:BETS].reshape(1, -1, betting.BETS)
    means = betting.least_means(rows, np.array([300.0]), gains, 60)[:, :, 0]
    wanted = (means[:-1] / alpha - tails.GRID[:, None]).min(0)
    assert (low[:, 0] <= wanted + 1e-9).all()
    assert low[:, 0] == pytest.approx(wanted, abs=2e-3)
    assert high[:, 0] == pytest.approx(-means[-1], abs=1e-4)


@pytest.mark.parametrize("larger", [True, False])
def test_an_agent_bets_on_its_cvar_in_any_unit_and_after_loading(larger):
    rewards = LAWS["beta"](np.random.default_rng(4), 200)
    rewards = rewards if larger else 1.0 - rewards
    one, other = (
        Agent("round-robin", 2, risk="cvar(0.2)", support=support, larger_is_better=larger)
        for support in ((0, 1), (-3, 5))
    )
    for reward in rewards.tolist():
        one.tell(0, reward, asked=False)
        other.tell(0, -3.0 + 8.0 * reward, asked=False)
    cost, again = one.intervals()[0].cost, other.intervals()[0].cost
    shift = 3.0 if larger else -3.0
    assert cost.low < one.estimates()[0].cost < cost.high
    assert again == pytest.approx((8.0 * cost.low + shift, 8.0 * cost.high + shift), abs=1e-7)
    assert Agent.from_json(one.to_json()).intervals() == one.intervals()
    state = json.loads(one.to_json())
    for place, value in ((0, 1e9), (-1, 500.0), (5, -1.0)):
        tail = list(state["arms"][0]["tail"])
        tail[place] = value
        arm = {**state["arms"][0], "tail": tail}
        with pytest.raises(PrudentError, match="arm 0: tail must be that of 200 rewards"):
            Agent.from_json(resealed({**state, "arms": [arm, state["arms"][1]]}))


@pytest.mark.parametrize("law", LAWS)
def test_limits_seldom_pass_the_truth_and_would_with_bets_that_win_too_much(law):
    """20 looks at each of 60 streams; more than 33 misses of 60 at a failure of 0.2 have a probability below 1e-8."""
    rng, alpha, truth = np.random.default_rng(5), 0.2, {"beta": CVaR(0.2).cost("beta(2, 5)"), "few values": -0.15}[law]
    missed = {1.0: 0, 3.0: 0}
    for _ in range(60):
        ledger, off = tails.no_bets(), set()
        for pulls, reward in enumerate(LAWS[law](rng, 200).tolist()):
            tails.include(ledger, pulls, reward, 0.0, 1.0, alpha, 1.0)
            for stakes in missed if pulls % 10 == 9 else ():
                known = ledger * np.where(np.arange(len(ledger)) < BETS, stakes, 1.0)
                low, high = ends(known, pulls + 1, alpha, gain=math.log(10.0))
                if low > truth + 1e-9 or high < truth - 1e-9:
                    off.add(stakes)
        for stakes in off:
            missed[stakes] += 1
    assert missed[1.0] <= 33 < missed[3.0]
