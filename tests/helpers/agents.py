"""Agents and how the tests of agents drive them."""

import json
from typing import NamedTuple

import numpy as np

from prudent import Bernoulli, Beta, FixedArm, Gaussian
from prudent.arms.base import encode
from prudent.base.json_text import digest_of
from prudent.policies.binding import bind, served_risk
from prudent.policies.contract import Setting, policies
from prudent.policies.scoring import reads_rewards as score_reads_rewards

LAWS = encode([Gaussian(0.6, 0.05), Bernoulli(0.5), Beta(2.0, 3.0)])
N_ARMS, HORIZON = 3, 200
COINS = encode([Bernoulli(0.6), Bernoulli(0.5), Bernoulli(0.4)])
# Other tests may register policies of their own.
OURS = [
    entry.name
    for entry in policies.entries()
    if entry.factory.__module__.startswith("prudent.") and "arms" not in entry.facts  # those for so many arms only
]


def risk_of(policy):
    """The risk measure that a policy serves, with ρ = 1 where it has none."""
    return served_risk(policies.make("test", policy))


def reads_rewards(name):
    """Whether a policy's score asks for every reward of an arm."""
    policy = policies.parse(name)
    ready = bind(policy, Setting(N_ARMS, served_risk(policy), HORIZON))
    return hasattr(ready, "score") and score_reads_rewards(type(ready))


KEEPERS = [name for name in OURS if reads_rewards(name)]
"""Policies that read every reward; they are made for rewards in [0, 1]."""

NAMES = [name for name in OURS if name not in KEEPERS]
VARIANTS = [
    "mv-lcb(rho=inf)",
    "mv-lcb(c=1, unbiased=True)",
    "exp-exp(explore='successive-rejects')",
    "exp-exp(explore='ucb-e')",
    "fixed-arm(arm=2)",
]
ALL = [*NAMES, *VARIANTS]
LEARNERS = [name for name in NAMES if name not in ("fixed-arm", "random-arm")]


def rewards(seed):
    return np.random.default_rng(seed).random


def play(agent, rounds, reward):
    """Ask and tell in turn; returns the arms."""
    arms = []
    for _ in range(rounds):
        arms.append(agent.ask())
        agent.tell(arms[-1], reward())
    return arms


def stumble(agent, steps, seed):
    """Several open asks, some among few arms, rewards late and out of order; returns the arms."""
    rng = np.random.default_rng(seed)
    must = [agent.policy.arm] if isinstance(agent.policy, FixedArm) else []
    arms = []
    for _ in range(steps):
        few = {*rng.choice(agent.arms, 2).tolist(), *must}
        arms.append(agent.ask(few if rng.random() < 0.3 else None))
        waiting = [e.arm for e in agent.estimates() for _ in range(e.open_asks)]
        for arm in rng.permutation(waiting)[: rng.integers(0, 3)]:
            agent.tell(arm, rng.random())
    return arms


class Worst(NamedTuple):
    """Asks for the rewards alone."""

    def score(self, arm, rewards):
        return -rewards[0] - 1.0 / len(rewards)


def resealed(state):
    """The text of an agent's state that somebody altered on purpose, with the digest that belongs to it now."""
    rest = {name: part for name, part in state.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest_of(json.dumps(rest))})
