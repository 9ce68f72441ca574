"""Agents and how the tests of agents drive them."""

from typing import NamedTuple

import numpy as np

from prudent import FixedArm
from prudent.arms import Bernoulli, Beta, Gaussian, encode
from prudent.policies import registry

LAWS = encode([Gaussian(0.6, 0.05), Bernoulli(0.5), Beta(2.0, 3.0)])
N_ARMS, HORIZON = 3, 200
KEEPERS = ["b-cvts", "cvar-ucb", "entropic-lcb", "m-cvts", "marab", "npts", "quantile-ucb", "rho-mts", "u-ucb"]
"""Policies that read every reward, of arms whose rewards lie in [0, 1]."""

COINS = encode([Bernoulli(0.6), Bernoulli(0.5), Bernoulli(0.4)])
# Other tests may register policies of their own.
OURS = [name for name in registry.names() if registry.get(name).__module__.startswith("prudent.")]
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
