"""What a policy asks for, and how kernels hand it over: decided when they are compiled, so nobody pays for more."""

import inspect
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

from prudent.compile.types import helper, in_kernels
from prudent.policies.contract import Arm, Arms, ReadyPolicy
from prudent.policies.posteriors import all_drawn
from prudent.risk.mean_variance import mean_variance

SCORE_INPUTS = ("arm", "best_cost", "t", "rng", "rewards", "counts")
"""What a policy's `score` may ask for, by name and in this order; of the last two only one, which is then `kept`."""

WHAT_A_SCORE_TAKES = "(self, arm), and then best_cost, or those it needs of t and rng, and then rewards or counts"


def score_inputs(policy: type) -> tuple[str, ...]:
    """Which of SCORE_INPUTS the `score` of a policy class asks for; ("arm", "draws") if the class has `draws`."""
    return _score_inputs(policy)


@cache
def _score_inputs(policy: type) -> tuple[str, ...]:
    return ("arm", "draws") if declares_draws(policy) else score_names(policy)


def score_names(policy: type) -> tuple[str, ...]:
    """What the `score` of a policy class takes, by the names written there."""
    return _score_names(policy)


@cache
def _score_names(policy: type) -> tuple[str, ...]:
    return tuple(inspect.signature(vars(policy)["score"]).parameters)[1:]


def declares_draws(policy: type) -> bool:
    """Whether a policy class has `draws`: laws from which a number each is drawn for every score."""
    return hasattr(policy, "draws")


def fits(names: tuple[str, ...]) -> bool:
    """Whether a score may ask for these: in order, and nothing that excludes another."""
    ordered = tuple(name for name in SCORE_INPUTS if name in names)
    alone = "best_cost" not in names or not {"t", "rng"} & set(names)
    return names[:1] == SCORE_INPUTS[:1] and names == ordered and alone and not {"rewards", "counts"} <= set(names)


def needs_no_clock(policy: type) -> bool:
    """A score that reads neither the clock nor chance changes only with what is known of the arms."""
    return not {"t", "rng", "draws"} & set(score_inputs(policy))


def compares(policy: type) -> bool:
    """Whether a score takes the smallest cost of all arms, so that one arm's reward may change every score."""
    return "best_cost" in score_inputs(policy)


def reads_rewards(policy: type) -> bool:
    """Whether a score takes more of an arm's rewards than their mean and variance."""
    return bool({"rewards", "counts"} & set(score_inputs(policy)))


def room_for(ready: ReadyPolicy, horizon: int) -> int:
    """How many numbers of an arm must be kept for a policy: every reward, a count for each value, or none."""
    if not hasattr(ready, "score"):
        return horizon if costs_need_rewards(ready) else 0
    if "counts" in score_inputs(type(ready)):
        return len(ready.values)
    return horizon if "rewards" in score_inputs(type(ready)) else 0


FORMS: dict[tuple[str, ...], Callable[..., Any]] = {
    ("arm",): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm),
    ("arm", "best_cost"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, best_cost),
    ("arm", "t"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, t),
    ("arm", "rng"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, rng),
    ("arm", "t", "rng"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, t, rng),
    ("arm", "kept"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, kept),
    ("arm", "best_cost", "kept"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, best_cost, kept),
    ("arm", "t", "kept"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, t, kept),
    ("arm", "rng", "kept"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, rng, kept),
    ("arm", "t", "rng", "kept"): lambda policy, arm, best_cost, t, rng, kept: policy.score(arm, t, rng, kept),
    ("arm", "draws"): lambda policy, arm, best_cost, t, rng, kept: policy.score(
        arm, *all_drawn(policy.draws(arm), rng)
    ),
}
"""How a score is called, by what it asks for; interpreted and in kernels alike."""


def score_of(
    policy: ReadyPolicy, arm: object, best_cost: float, t: float, rng: Generator | int | None, kept: object
) -> float:
    """The policy's score of an arm, passing only what its `score` asks for."""
    return float(_form(type(policy))(policy, arm, best_cost, t, rng, kept))


@cache
def _form(policy: type) -> Callable[..., Any]:
    return FORMS[tuple("kept" if name in ("rewards", "counts") else name for name in score_inputs(policy))]


@in_kernels(score_of)
def _score_of(policy: Any, arm: Any, best_cost: Any, t: Any, rng: Generator, kept: Any) -> Any:
    return None if declares_draws(policy.instance_class) else _form(policy.instance_class)


# Only draws are worth it: Numba removes dead code of a kernel in which something stands in line, and has removed code
# that was not dead (a loop of leap_scores that never ended).
@in_kernels(score_of, inline=True)
def _score_of_draws(policy: Any, arm: Any, best_cost: Any, t: Any, rng: Generator, kept: Any) -> Any:
    return _form(policy.instance_class) if declares_draws(policy.instance_class) else None


def kept_of(policy: Any, kept: Any, i: int, pulls: int) -> Any:
    """Arm i's rewards, ascending, or its counts, for a score that asks for them; nothing for others."""
    if "counts" in score_inputs(type(policy)):
        return kept[i]
    return kept[i, :pulls] if "rewards" in score_inputs(type(policy)) else None


@in_kernels(kept_of)
def _kept_of(policy: Any, kept: Any, i: Any, pulls: Any) -> Any:
    if "counts" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, pulls: kept[i]
    if "rewards" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, pulls: kept[i, :pulls]
    return lambda policy, kept, i, pulls: None


def keep(policy: ReadyPolicy, kept: Any, i: int, pulls: int, reward: float) -> None:
    """Put a reward in its place among arm i's `pulls` before it, or count it, for a score that asks for that."""
    if "counts" in score_inputs(type(policy)):
        kept[i, place(policy.values, reward)] += 1.0
    elif "rewards" in score_inputs(type(policy)):
        insert(kept, i, pulls, reward)


@in_kernels(keep)
def _keep(policy: Any, kept: Any, i: Any, pulls: Any, reward: Any) -> Any:
    if "counts" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, pulls, reward: _count(policy.values, kept, i, reward)
    if "rewards" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, pulls, reward: insert(kept, i, pulls, reward)
    return lambda policy, kept, i, pulls, reward: None


def unkeep(policy: ReadyPolicy, kept: Any, i: int, reward: float) -> None:
    """Take a reward of arm i back out of the counts, for a score that asks for them."""
    if "counts" in score_inputs(type(policy)):
        kept[i, place(policy.values, reward)] -= 1.0


@in_kernels(unkeep)
def _unkeep(policy: Any, kept: Any, i: Any, reward: Any) -> Any:
    if "counts" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, reward: _uncount(policy.values, kept, i, reward)
    return lambda policy, kept, i, reward: None


@helper
def _uncount(values: Any, kept: Any, i: int, reward: float) -> None:
    kept[i, place(values, reward)] -= 1.0


@helper
def _count(values: Any, kept: Any, i: int, reward: float) -> None:
    kept[i, place(values, reward)] += 1.0


@helper
def place(values: Any, reward: float) -> int:
    """Which of the ascending values a reward is; one between two is the larger, one above all of them the last."""
    at = 0
    while at < len(values) - 1 and values[at] < reward:
        at += 1
    return at


def counted(values: Any, rewards: Any) -> Any:
    """How many of some rewards are each of the values."""
    return np.bincount([place(values, reward) for reward in rewards], minlength=len(values)).astype(float)


@helper
def insert(kept: Any, i: int, pulls: int, reward: float) -> None:
    """Put a reward in its place among the first `pulls` of row i, which ascend. O(pulls), a move of memory."""
    row = kept[i]
    at = np.searchsorted(row[:pulls], reward)
    for j in range(pulls, at, -1):
        row[j] = row[j - 1]
    row[at] = reward


def own_cost(policy: ReadyPolicy, arm: Arm, kept: object) -> float:
    """The estimated cost of an arm by the policy's own `risk` or `rho`; 0 for a policy with neither."""
    if hasattr(policy, "risk"):
        return float(policy.risk.estimate(arm.mean, arm.variance, kept))
    return mean_variance(arm.mean, arm.variance, policy.rho) if hasattr(policy, "rho") else 0.0


@in_kernels(own_cost)
def _own_cost(policy: Any, arm: Any, kept: Any) -> Any:
    if "risk" in policy.instance_class._fields:
        return lambda policy, arm, kept: policy.risk.estimate(arm.mean, arm.variance, kept)
    if "rho" in policy.instance_class._fields:
        return lambda policy, arm, kept: mean_variance(arm.mean, arm.variance, policy.rho)
    return lambda policy, arm, kept: 0.0


def best_cost_of(policy: ReadyPolicy, arms: object, kept: object) -> float:
    """The smallest estimated cost of all arms with rewards, for a score that asks for it; 0 for others."""
    return _smallest_cost(policy, arms, kept) if compares(type(policy)) else 0.0


@in_kernels(best_cost_of)
def _best_cost_of(policy: Any, arms: Any, kept: Any) -> Any:
    return _smallest_cost if compares(policy.instance_class) else lambda policy, arms, kept: 0.0


@helper
def _smallest_cost(policy: ReadyPolicy, arms: Any, kept: Any) -> float:
    smallest = math.inf
    for i in range(len(arms.pulls)):
        if arms.pulls[i] > 0:
            arm = Arm(int(arms.pulls[i]), arms.mean[i], arms.variance[i])  # a GPU counts by 32 bits
            smallest = min(smallest, own_cost(policy, arm, kept_of(policy, kept, i, arms.pulls[i])))
    return smallest


def cost_of(policy: ReadyPolicy, arms: Arms, i: int) -> float:
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


def costs_need_rewards(ready: ReadyPolicy) -> bool:
    """Whether the costs of a policy of phases take more than means and variances."""
    return hasattr(ready, "risk") and not ready.risk.by_moments
