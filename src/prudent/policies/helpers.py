"""What policies share: functions for scores and phases, compiled with them, and for tuning."""

import math

from prudent.base.arrays import Marks
from prudent.base.errors import PrudentError
from prudent.compile.types import helper
from prudent.policies.contract import Arm, Arms, ReadyPolicy, Setting
from prudent.policies.ties import arm_of, below


@helper
def corner_bound(scorer: ReadyPolicy, low: Arm, high: Arm) -> float:
    """The largest score at the corners of the box: a bound for every score monotone in pulls, in mean, in variance."""
    bound = -math.inf
    for pulls in (low.pulls, high.pulls):
        for mean in (low.mean, high.mean):
            for variance in (low.variance, high.variance):
                bound = max(bound, scorer.score(Arm(pulls, mean, variance)))
    return bound


@helper
def cheapest(arms: Arms) -> int:
    """The arm of smallest estimated cost among those alive, ties to the lowest number; −1 if none is."""
    # By name, since reading them from the tuple in the loop would count references every time.
    pulls, mean, variance, cost, alive = arms.pulls, arms.mean, arms.variance, arms.cost, arms.alive
    best, best_cost, best_arm = -1, math.inf, Arm(0, 0.0, 0.0)
    for i in range(len(cost)):
        if alive[i]:
            arm = Arm(pulls[i], mean[i], variance[i])
            if best < 0 or below(cost[i], arm, best_cost, best_arm):
                best, best_cost, best_arm = i, cost[i], arm
    return best


@helper
def answer(arms: Arms) -> int:
    """The cheapest arm alive; −1 if there is none, or several and no costs to choose by."""
    best = cheapest(arms)
    return best if best >= 0 and (arms.cost[best] < math.inf or arms.alive.sum() == 1) else -1


@helper
def strike_worst(arms: Arms) -> None:
    """Strike out the arm of largest estimated cost among those alive; of equal ones the highest number goes."""
    worst, worst_cost, worst_arm = -1, -math.inf, Arm(0, 0.0, 0.0)
    for i in range(len(arms.pulls)):
        if arms.alive[i]:
            arm = arm_of(arms, i)
            if worst < 0 or not below(arms.cost[i], arm, worst_cost, worst_arm):
                worst, worst_cost, worst_arm = i, arms.cost[i], arm
    arms.alive[worst] = False


@helper
def choose_pulled(chosen: Marks, arms: Arms, pulls: int) -> None:
    """Choose the arms that have so many pulls. One by one, like the next: Numba takes two seconds to compile an
    assignment of arrays, and all that it needs to complain of their shapes."""
    for i in range(len(chosen)):
        chosen[i] = arms.pulls[i] == pulls


@helper
def choose_alive(chosen: Marks, arms: Arms) -> None:
    """Choose the arms that are alive."""
    for i in range(len(chosen)):
        chosen[i] = arms.alive[i]


@helper
def fewest_pulls_alive(arms: Arms) -> int:
    """The pulls of the arm pulled least of those alive."""
    fewest = -1
    for i in range(len(arms.pulls)):
        if arms.alive[i] and (fewest < 0 or arms.pulls[i] < fewest):
            fewest = arms.pulls[i]
    return fewest


@helper
def choose_only(chosen: Marks, arm: int) -> None:
    """Leave one arm chosen."""
    chosen[:] = False
    chosen[arm] = True


def need_horizon(owner: str, setting: Setting) -> int:
    """The horizon, for a policy that needs one and pulls every arm."""
    if setting.horizon is None:
        raise PrudentError(f"{owner}: needs the horizon; pass horizon=…, or take an anytime policy")
    return enough_rounds(owner, setting)


def enough_rounds(owner: str, setting: Setting) -> int:
    """The horizon, long enough to pull every arm; any is, if it is not known."""
    n, n_arms = setting.n_arms if setting.horizon is None else setting.horizon, setting.n_arms
    if n < n_arms:
        raise PrudentError(
            f"{owner}: horizon must be at least the number of arms, {n_arms}, got {n}; it pulls each once"
        )
    return n


def exploring_pulls(horizon: int, n_arms: int, constant: float = 14.0) -> int:
    """⌈(n/14)^{2/3}⌉ pulls of each arm to explore (Theorem 2 of [Sani12]), at most ⌊n/K⌋."""
    return min(math.ceil(math.pow(horizon / constant, 2.0 / 3.0)), horizon // n_arms)
