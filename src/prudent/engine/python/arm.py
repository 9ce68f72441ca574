"""What an agent keeps of an arm, and whether it can be so."""

import copy
import inspect
import math
from bisect import insort_left
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from prudent.arms.sampling import include
from prudent.base.errors import PrudentError, check_finite
from prudent.confidence import betting, tails
from prudent.confidence.anytime import LARGEST

take = inspect.unwrap(include)  # interpreted: a service starts without waiting for the compiler

ROUNDED = 1e-6
"""By what share of the rewards' spread mean and variance may be off: far more than rounding, unless rewards are far
from 0. There the recursion may be off by `DRIFT` of their size, though never by more than their spread."""

DRIFT, LAST_DIGITS = 1e-9, 1e-12

TINY = 1e-300
"""Numbers below this begin to lose their digits, and denormal ones have none."""


@dataclass(slots=True)
class ArmState:
    """An arm's statistics, its open asks, and its part in a policy's phases: chosen, alive, how often it is still due.

    `name` is None if arms go by their numbers. `rewards` are in ascending order; None if the agent does not remember
    them. `ledger` is that of `confidence.betting`; None before the first reward, if the support is unbounded, and for
    good after merged rewards, or if older versions, which kept none, recorded the first rewards. `tail` is that of
    `confidence.tails`, if the cost is a CVaR. `recent` is what a policy that forgets remembers
    (prudent.engine.python.memory); None for other policies.
    """

    name: str | None = None
    pulls: int = 0
    mean: float = 0.0
    variance: float = 0.0
    open_asks: int = 0
    retired: bool = False
    chosen: bool = True
    alive: bool = True
    due: int = 0
    rewards: list[float] | None = None
    ledger: NDArray[np.float64] | None = None
    tail: NDArray[np.float64] | None = None
    recent: list[float] | None = None


def copy_of(arm: ArmState) -> ArmState:
    """The arm as it is now."""
    other = copy.copy(arm)
    other.rewards, other.ledger, other.tail = copy.copy(arm.rewards), copy.copy(arm.ledger), copy.copy(arm.tail)
    other.recent = copy.copy(arm.recent)
    return other


def ordered(arm: ArmState) -> NDArray[np.float64]:
    """The arm's rewards, ascending, as policies and risk measures take them; none if they are not remembered."""
    return np.array(arm.rewards or (), np.float64)


def include_reward(
    arm: ArmState,
    reward: float,
    low: float,
    high: float,
    rho: float = 0.0,
    tail: tuple[float, float] | None = None,
) -> None:
    """Enter a reward, which lies in [low, high], into mean, variance, ledgers and remembered rewards.

    The ledger bets on σ² − ρμ, beside mean and variance; that of a tail on the CVaR at `tail`'s level, with its weight.
    """
    mean, variance = take(arm.pulls + 1, arm.mean, arm.variance, reward)
    if not math.isfinite(variance):
        raise PrudentError(f"tell: reward {reward} is too large for a variance; rescale the rewards")
    if arm.pulls == 0 and keeps_ledger(low, high):
        arm.ledger = betting.no_bets(rho)
        arm.tail = None if tail is None else tails.no_bets()
    if arm.tail is not None and tail is not None:
        tails.include(arm.tail, arm.pulls, reward, low, high, *tail)
    if arm.ledger is not None:
        betting.include(arm.ledger, arm.pulls, arm.mean, reward, low, high, rho)
    arm.pulls, arm.mean, arm.variance = arm.pulls + 1, mean, variance
    if arm.rewards is not None:
        insort_left(arm.rewards, reward)


def keeps_ledger(low: float, high: float) -> bool:
    """Whether bets can be made on rewards in [low, high]."""
    return max(abs(low), abs(high)) <= LARGEST


def check_moments(where: str, arm: ArmState, low: float, high: float) -> None:
    """Whether so many rewards in [low, high] can have this mean and this variance, up to rounding."""
    arm.mean = check_finite(where, "mean", arm.mean)
    arm.variance = check_finite(where, "variance", arm.variance, low=0.0)
    if arm.pulls == 0 and (arm.mean, arm.variance) != (0.0, 0.0):
        raise PrudentError(f"{where}: mean and variance must be 0 without pulls, got {arm.mean} and {arm.variance}")
    if arm.pulls == 0:
        return
    near = LAST_DIGITS * max((abs(end) for end in (low, high) if math.isfinite(end)), default=0.0)
    if not low - near <= arm.mean <= high + near:
        raise PrudentError(f"{where}: mean must lie in the support [{low:g}, {high:g}], got {arm.mean}")
    most = 0.0 if arm.pulls == 1 else (high - arm.mean) * (arm.mean - low)
    slack = 0.0 if arm.pulls == 1 else _variance_slack(high - low, max(abs(low), abs(high)))
    if arm.variance > most + slack:
        why = f"{most:g} with {arm.pulls} rewards of mean {arm.mean} in [{low:g}, {high:g}]"
        raise PrudentError(f"{where}: variance must be at most {why}, got {arm.variance}")


def _variance_slack(spread: float, size: float) -> float:
    """By how much the variance of rewards of that spread and size may be off."""
    near = LAST_DIGITS * size
    return ROUNDED * spread * spread + min(DRIFT * size, spread) * spread + near * near + TINY


def check_rewards(where: str, arm: ArmState, rewards: list[float]) -> None:
    """Whether the rewards are those of the arm's statistics."""
    if len(rewards) != arm.pulls:
        raise PrudentError(f"{where}: rewards must be one for each of {arm.pulls} pulls, got {len(rewards)}")
    if any(first > second for first, second in pairwise(rewards)):
        raise PrudentError(f"{where}: rewards must be in ascending order")
    if not rewards:
        return
    spread, size = rewards[-1] - rewards[0], max(abs(rewards[0]), abs(rewards[-1]))
    off_mean, off_variance = abs(arm.mean - np.mean(rewards)), abs(arm.variance - np.var(rewards))
    mean_slack = ROUNDED * spread + min(DRIFT * size, spread) + LAST_DIGITS * size + TINY
    if off_mean > mean_slack or off_variance > _variance_slack(spread, size):
        raise PrudentError(f"{where}: rewards must have the mean {arm.mean} and the variance {arm.variance}")


def checked_ledger(
    where: str, arm: ArmState, given: list[object], low: float, high: float, rho: float
) -> NDArray[np.float64]:
    """The ledger, if bets can have gained so much on rewards of this mean: log(1 + κy) is concave in y."""
    size = len(betting.no_bets(rho))
    if arm.pulls == 0 or not keeps_ledger(low, high) or len(given) != size:
        wanted = f"{size} numbers, for an arm with rewards and a bounded support"
        raise PrudentError(f"{where}: ledger must be {wanted}, got {len(given)}")
    ledger = np.array([check_finite(where, "ledger", entry) for entry in given])
    bets, places = betting.BETS, size // betting.BETS
    near = ROUNDED + min(DRIFT * max(abs(low), abs(high)) / (high - low), 1.0)
    left, right = np.clip(betting.scaled(arm.mean, low, high) + np.array([-near, near]), 0.0, 1.0)
    least, most = np.zeros((places, betting.BETS)), np.ones((places, betting.BETS))  # averages of the outcomes
    least[:2], most[:2] = np.array([[left], [1.0 - right]]), np.array([[right], [1.0 - left]])
    gained = ledger[: places * bets].reshape(places, bets) / arm.pulls
    fits = (gained >= least * betting.THETA - ROUNDED) & (gained <= np.log1p(betting.KAPPA * most) + ROUNDED)
    fits[3::2] |= gained[3::2] < 0.0  # bets from above may lose nearly all
    first, second, *own = ledger[places * bets :] / arm.pulls
    centred = -ROUNDED <= first <= 1.0 + ROUNDED and first * first - ROUNDED <= second <= first + ROUNDED
    floored = not own or -rho / (high - low) - ROUNDED <= own[0] <= ROUNDED
    if not (fits.all() and centred and floored):
        raise PrudentError(f"{where}: ledger must be that of {arm.pulls} rewards of mean {arm.mean}")
    return ledger


def checked_tail(where: str, arm: ArmState, given: list[object], low: float, high: float) -> NDArray[np.float64]:
    """The ledger of a tail, if bets can have gained so much, and if so many rewards can lie up to each point."""
    if arm.pulls == 0 or not keeps_ledger(low, high) or len(given) != tails.SIZE:
        wanted = f"{tails.SIZE} numbers, for an arm with rewards and a bounded support"
        raise PrudentError(f"{where}: tail must be {wanted}, got {len(given)}")
    tail = np.array([check_finite(where, "tail", entry) for entry in given])
    gained = tail[: -tails.CELLS - 1].reshape(-1, betting.BETS) / arm.pulls
    below = np.concatenate(([0.0], tail[-tails.CELLS - 1 :], [arm.pulls]))
    fits = (gained <= betting.THETA + ROUNDED).all() and (gained[:-1] >= -ROUNDED).all() and (np.diff(below) >= 0).all()
    if not fits:
        raise PrudentError(f"{where}: tail must be that of {arm.pulls} rewards")
    return tail
