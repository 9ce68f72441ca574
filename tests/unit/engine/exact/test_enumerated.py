"""Policies of each kind that the exact engine takes, against all sequences of rewards (tests/helpers/exact_states.py).

tests/statistical/test_exact_engine.py does the same with every policy.
"""

import math
from typing import NamedTuple

import pytest

from helpers.exact_states import counted, enumerated
from prudent import Bandit, simulate

THREE = (0.0, 0.5, 1.0)


class Own(NamedTuple):
    """A user's policy."""

    width: float

    def score(self, arm, t):
        return -arm.mean - self.width * math.sqrt(math.log(t + 1.0) / arm.pulls)


SCORES = [
    "mv-lcb(c=1)",
    "mv-lcb(c=1, unbiased=True)",
    "anytime-mv-lcb",
    "mv-ucb",
    "ucb1",
    "ucb-v",
    "kl-ucb",
    "ucb-tuned",
]
COMPARED = ["mv-imed", "bernoulli-mv-imed"]
REWARDS = ["cvar-ucb(alpha=0.4)", "u-ucb(alpha=0.4)"]
PHASES = ["exp-exp", "exp-exp(tau=6)", "exp-exp(explore='successive-rejects')", "best-of-both", "prudent", "mv-dsee"]
PLAIN = ["round-robin", "fixed-arm(arm=1)"]
ALL = [*SCORES, *COMPARED, *REWARDS, *PHASES, *PLAIN, Own(0.7)]


@pytest.mark.parametrize("rho", [0.0, 1.0])
@pytest.mark.parametrize("policy", ALL, ids=str)
def test_two_coins(policy, rho):
    risk, coins = f"mean-variance(rho={rho})", Bandit(["bernoulli(0.3)", "bernoulli(0.6)"])
    found = simulate(coins, policy, risk=risk, horizon=8, engine="exact")
    assert counted(found, 2) == enumerated(policy, risk, (0.0, 1.0), 2, 8)


@pytest.mark.parametrize("policy", ALL, ids=str)
def test_three_coins(policy):
    risk, coins = "mean-variance(rho=0.5)", Bandit([f"bernoulli({p})" for p in (0.3, 0.6, 0.2)])
    found = simulate(coins, policy, risk=risk, horizon=9, engine="exact")
    assert counted(found, 3) == enumerated(policy, risk, (0.0, 1.0), 3, 9)


@pytest.mark.parametrize("policy", [p for p in ALL if "bernoulli" not in str(p)], ids=str)
def test_two_arms_with_three_values(policy):
    risk, arms = "mean-variance(rho=0.5)", Bandit([f"empirical({[*THREE, more]})" for more in THREE[:2]])
    found = simulate(arms, policy, risk=risk, horizon=7, engine="exact")
    assert counted(found, 2) == enumerated(policy, risk, THREE, 2, 7)
