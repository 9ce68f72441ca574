"""What a policy asks for, and how kernels hand it over: decided when they are compiled, so nobody pays for more."""

import inspect
from functools import cache
from typing import Any

import numpy as np

from prudent.compiled import helper, in_kernels
from prudent.policies.base import Arms
from prudent.risk.mean_variance import mean_variance

SCORE_INPUTS = ("arm", "t", "rng", "rewards")
"""What a policy's `score` may ask for, by name and in this order."""


def score_inputs(policy: Any) -> tuple[str, ...]:
    """Which of SCORE_INPUTS the `score` of a policy class asks for."""
    return _score_inputs(policy)


@cache
def _score_inputs(policy: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(vars(policy)["score"]).parameters)[1:]


def needs_no_clock(policy: Any) -> bool:
    """A score that reads neither the clock nor chance changes only when its arm is pulled."""
    return not {"t", "rng"} & set(score_inputs(policy))


def score_of(policy: Any, arm: Any, t: int, rng: Any, rewards: Any) -> float:
    """The policy's score of an arm, passing only what its `score` asks for."""
    given = dict(zip(SCORE_INPUTS, (arm, t, rng, rewards), strict=True))
    return float(policy.score(*(given[name] for name in score_inputs(type(policy)))))


@in_kernels(score_of)
def _score_of(policy: Any, arm: Any, t: Any, rng: Any, rewards: Any) -> Any:
    return {
        ("arm",): lambda policy, arm, t, rng, rewards: policy.score(arm),
        ("arm", "t"): lambda policy, arm, t, rng, rewards: policy.score(arm, t),
        ("arm", "rng"): lambda policy, arm, t, rng, rewards: policy.score(arm, rng),
        ("arm", "t", "rng"): lambda policy, arm, t, rng, rewards: policy.score(arm, t, rng),
        ("arm", "rewards"): lambda policy, arm, t, rng, rewards: policy.score(arm, rewards),
        ("arm", "t", "rewards"): lambda policy, arm, t, rng, rewards: policy.score(arm, t, rewards),
        ("arm", "rng", "rewards"): lambda policy, arm, t, rng, rewards: policy.score(arm, rng, rewards),
        ("arm", "t", "rng", "rewards"): lambda policy, arm, t, rng, rewards: policy.score(arm, t, rng, rewards),
    }[score_inputs(policy.instance_class)]


def rewards_of(policy: Any, kept: Any, i: int, pulls: int) -> Any:
    """Arm i's rewards, ascending, for a score that asks for them; nothing for others."""
    return kept[i, :pulls] if "rewards" in score_inputs(type(policy)) else None


@in_kernels(rewards_of)
def _rewards_of(policy: Any, kept: Any, i: Any, pulls: Any) -> Any:
    if "rewards" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, pulls: kept[i, :pulls]
    return lambda policy, kept, i, pulls: None


def keep(policy: Any, kept: Any, i: int, pulls: int, reward: float) -> None:
    """Put a reward in its place among arm i's `pulls` before it, for a score that asks for rewards."""
    if "rewards" in score_inputs(type(policy)):
        insert(kept, i, pulls, reward)


@in_kernels(keep)
def _keep(policy: Any, kept: Any, i: Any, pulls: Any, reward: Any) -> Any:
    if "rewards" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, pulls, reward: insert(kept, i, pulls, reward)
    return lambda policy, kept, i, pulls, reward: None


@helper
def insert(kept: Any, i: int, pulls: int, reward: float) -> None:
    """Put a reward in its place among the first `pulls` of row i, which ascend. O(pulls), a move of memory."""
    row = kept[i]
    at = np.searchsorted(row[:pulls], reward)
    for j in range(pulls, at, -1):
        row[j] = row[j - 1]
    row[at] = reward


def cost_of(policy: Any, arms: Arms, i: int) -> float:
    """The estimated cost of arm i by the policy's own `risk` or `rho`; unchanged for a policy with neither."""
    if hasattr(policy, "risk"):
        return float(policy.risk.estimate(arms.mean[i], arms.variance[i], arms.rewards[i, : arms.pulls[i]]))
    return mean_variance(arms.mean[i], arms.variance[i], policy.rho) if hasattr(policy, "rho") else float(arms.cost[i])


@in_kernels(cost_of)
def _cost_of(policy: Any, arms: Any, i: Any) -> Any:
    if "risk" in policy.instance_class._fields:
        return lambda policy, arms, i: policy.risk.estimate(
            arms.mean[i], arms.variance[i], arms.rewards[i, : arms.pulls[i]]
        )
    if "rho" in policy.instance_class._fields:
        return lambda policy, arms, i: mean_variance(arms.mean[i], arms.variance[i], policy.rho)
    return lambda policy, arms, i: arms.cost[i]


def costs_need_rewards(ready: Any) -> bool:
    """Whether the costs of a policy of phases take more than means and variances."""
    return hasattr(ready, "risk") and not ready.risk.by_moments
