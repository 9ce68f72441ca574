"""Replay: a policy that learns, run on the rounds of a log [Li11].

A round of the log is accepted with probability floor/p, where p is the probability with which its arm was taken and
`floor` the least that an arm can have had. Among accepted rounds every arm is then equally likely, whatever else the
log's policy knew. The policy under test chooses an arm, and receives the reward of the next accepted round with that
arm; the rounds between are passed over. What it receives has the law of a run of its own on the same arms.
"""

from typing import Any

import numpy as np

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.evaluation.log import OWNER, Log
from prudent.live.agent import Agent

VARYING = "propensities vary, so the log's policy may have learned"
FLOOR = "pass floor=…, the smallest probability that it could give any arm (0.1 divided by the arms for ε = 0.1)"


def least_propensity(log: Log, floor: float | None) -> float:
    """The smallest probability that an arm can have had, or an error that asks for it."""
    if log.propensities is None:
        fix = "name the column with propensity=…, or evaluate fixed arms"
        raise PrudentError(f"{OWNER}: a replay needs the propensities of a log; {fix}")
    if floor is not None:
        return floor
    constant = log.constant_propensities()
    if constant is None:
        raise PrudentError(f"{OWNER}: {VARYING}; {FLOOR}")
    return float(constant.min())


def replayed(log: Log, policy: Any, floor: float, seed: int, settings: dict[str, Any]) -> tuple[Array, Agent]:
    """What was received, in the rounds of the log that were kept, and the agent that chose.

    The agent is tuned for as many rounds as will be kept on average.
    """
    horizon = max(int(floor * log.rounds), 1)
    agent = Agent(policy, arms=list(log.labels), horizon=horizon, seed=seed, **settings)
    coins = np.random.default_rng([seed, log.rounds]).random(log.rounds)
    propensities: Any = log.propensities
    accepted = np.flatnonzero(coins * propensities < floor)
    kept, wanted = [], agent.ask()
    for t in accepted.tolist():
        if log.labels[log.arms[t]] == wanted:
            agent.tell(wanted, float(log.outcomes[t]))
            kept.append(t)
            wanted = agent.ask()
    agent.withdraw(wanted)
    if not kept:
        raise PrudentError(f"{OWNER}: no round of the log could be replayed; it is too short for this policy")
    return log.outcomes[kept], agent
