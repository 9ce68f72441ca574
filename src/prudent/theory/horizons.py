"""From which horizon on a result says something about a bandit: its value is below the largest that is possible.

A search by doubling and halving finds the one right n, because beyond n = 3 what says something keeps saying something:
every value but that of Theorem 2, divided by its limit, is a sum of 1/n, log n/n, their squares and roots, all of which
fall from there on, and of the shares min(1, (a log n + 1)/n) of the pulls, which never rise. Where the user gives δ,
the probability of failure grows with n, and there is a last n too. Theorem 2 needs a search of its own.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from prudent.bandit import Bandit, check_bandit
from prudent.base.errors import PrudentError, check_flag, shown
from prudent.policies.exp_exp import RULES
from prudent.policies.helpers import exploring_pulls
from prudent.risk.mean_variance import MeanVariance
from prudent.theory.bound import MAX_HORIZON, Bound, check_risk
from prudent.theory.upper_bounds import EXPLORING, PRINTED, wrong_arm

_SETTLED_HORIZON = 3
"""log n/n falls from here on."""

Result = Callable[[Bandit, MeanVariance | str, int], Bound]
_Test = Callable[[int], bool]


class Horizons(NamedTuple):
    """All n from `first` to `last`, which is None if there is no last; a `first` of None means no n at all."""

    first: int | None
    last: int | None = None


def informative_horizons(
    result: Result, bandit: Bandit, risk: MeanVariance | str, *, printed: bool = False
) -> Horizons | None:
    """The n at which a result's value (as `printed`, or as corrected) is below its limit and n meets its conditions.

    `first` is the smallest n such that this is so for all larger ones, up to `last`. Conditions on the arms are left
    aside, as in `Bound.vacuous`. None stands for what has no limit: rates, exact values, and regret of unbounded arms.
    """
    if not callable(result):
        raise PrudentError(f"informative_horizons: result must be a theorem such as lemma2, got {shown(result)}")
    bandit, risk = check_bandit("informative_horizons", bandit), check_risk("informative_horizons", risk)
    printed = check_flag("informative_horizons", "printed", printed)

    def says_something(n: int) -> bool:
        bound = result(bandit, risk, n)
        value = bound.printed if printed else bound.value
        return value is not None and value < bound.limit[0] and all(met for _, met in bound.needs_of_horizon)

    far = result(bandit, risk, MAX_HORIZON)
    if math.isinf(far.limit[0]) or (printed and far.printed is None):
        return None
    last = _last(result, bandit, risk, far)
    end = MAX_HORIZON if last is None else last
    if end < 1 or not says_something(end):
        # Only the value of Lemma 2, with a δ of the user's, grows with n.
        return Horizons(1, _first(lambda n: not says_something(n), 1, end) - 1) if says_something(1) else Horizons(None)
    rules = {name: rule for rule, (_, name, *_) in PRINTED.items()}
    if far.name in rules and not printed:
        return Horizons(_first_of_theorem2(says_something, len(bandit), risk.rho, RULES[rules[far.name]]))
    start = min(_SETTLED_HORIZON, end)
    if not says_something(start):
        return Horizons(_first(says_something, start, end), last)
    return Horizons(next((n + 1 for n in range(start - 1, 0, -1) if not says_something(n)), 1), last)


def _last(result: Result, bandit: Bandit, risk: MeanVariance, far: Bound) -> int | None:
    """The last n that meets the conditions that large n do not, such as 6nKδ < 1 with a δ of the user's."""
    broken = [i for i, condition in enumerate(far.needs_of_horizon) if not condition.holds]
    if not broken:
        return None

    def too_large(n: int) -> bool:
        conditions = result(bandit, risk, n).needs_of_horizon
        return not all(conditions[i].holds for i in broken)

    return _first(too_large, 0, MAX_HORIZON) - 1


def _first(test: _Test, low: int, high: int) -> int:
    """The smallest n > `low` that passes a test, which `low` fails and every n from there to `high` passes."""
    step = 1
    while low + step < high and not test(low + step):
        low, step = low + step, 2 * step
    high = min(high, low + step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if test(middle) else (middle, high)
    return high


def _first_of_theorem2(says_something: _Test, n_arms: int, rho: float, constant: float) -> int:
    """The first n of the corrected Theorem 2, (K−1)[w + (m/n)(A − Kw)] with A = 4.25 + ρ, w the cost of a wrong arm.

    While n grows and m does not, this falls if Kw ≤ A and rises if not. w falls with m, and so does m/n at the first n
    of each m. Hence, once Kw ≤ A, the value at these first n falls with m and is the largest until the next. Before
    that, the last n of each m has the largest value; few m are so small, and they are looked at one by one.
    """

    def each(n: int) -> int:
        return exploring_pulls(n, n_arms, constant)

    def first_with_as_many(n: int) -> int:
        return _first(lambda k: each(k) >= each(n), 0, n)

    falling = _first(lambda n: n_arms * wrong_arm(rho, each(n)) <= EXPLORING + rho, n_arms - 1, MAX_HORIZON)
    if not says_something(falling):
        above = _first(lambda n: says_something(first_with_as_many(n)), falling, MAX_HORIZON)
        return _first(says_something, first_with_as_many(above - 1), above)
    first = falling
    while first > n_arms and says_something(first - 1):
        first = first_with_as_many(first - 1)
    return first
