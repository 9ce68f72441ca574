"""The contract of a strategy for finding the best arm, whole.

A strategy is a `NamedTuple` of parameters with one method, written as plain Python that Numba can compile:

`phase(self, arms, rounds, chosen)` marks in `chosen` (a boolean per arm) which arms to pull next and returns how many
    times each; 0 ends the search. The answer is the cheapest of the arms still `alive`; none alive means that no arm
    will do. `rounds` is how many times arms have been pulled so far, counting arms pulled together once.

A field `budget` or `delta` takes what `identify` is given. Optional: `tuned(self, problem)` returns the strategy with
what else depends on the problem filled in, or refuses the problem; `check(self)` refuses bad parameters;
`feasible(self, bandit)` says which arms may be the answer at all.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from prudent.bandit import Bandit
from prudent.compiled import compilable, helper
from prudent.errors import PrudentError
from prudent.policies.base import UNSET, as_annotated, enrol, spec
from prudent.registry import Registry
from prudent.risk import RiskMeasure

Strategy: TypeAlias = tuple[Any, ...]
S = TypeVar("S", bound=type)

BUDGET, DELTA = "budget", "delta"
"""The two settings: the best answer from so many pulls, or as few pulls as a failure probability allows."""

registry = Registry("strategy", "prudent.strategies")
_needs: dict[Any, str] = {}


class Evidence(NamedTuple):
    """What is known of all arms. Row i of `rewards` begins with arm i's rewards, ascending, if the risk reads them."""

    pulls: NDArray[np.int64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    cost: NDArray[np.float64]
    alive: NDArray[np.bool_]
    rewards: NDArray[np.float64]


class Problem(NamedTuple):
    """What is asked. A strategy may use the number of arms and their support; the laws only where it says so."""

    bandit: Bandit
    risk: RiskMeasure
    budget: int | None
    delta: float | None


def strategy(name: str, *, needs: str) -> Callable[[S], S]:
    """Register a strategy class under `name`; it `needs` a BUDGET or a DELTA.

    The class's docstring names its paper in brackets and says what it assumes in a sentence that begins with "Assumes".
    """

    def register(cls: S) -> S:
        _needs[cls] = needs
        return enrol(cls, name, registry)

    return register


def bind(given: Strategy, problem: Problem) -> Any:
    """The strategy ready to search: every parameter a number, its methods known to the compiler."""
    ready: Any = given
    if isinstance(given, type):
        raise PrudentError(f"strategy must be made first: pass {given.__name__}(), not {given.__name__}")
    asked = BUDGET if problem.delta is None else DELTA
    needs = _needs.get(type(ready), asked)
    if needs != asked:
        others = ", ".join(name for name in registry.names() if _needs.get(registry.get(name)) == asked)
        raise PrudentError(f"{spec(given)}: needs {needs}=…, got {asked}; with a {asked} take one of {others}")
    if hasattr(ready, "check"):  # again, since _replace goes past the check at the door
        ready.check()
    for name, value in ((BUDGET, problem.budget), (DELTA, problem.delta)):
        if getattr(ready, name, UNSET) is not UNSET:
            raise PrudentError(f"{spec(given)}: give {name} to identify, not to the strategy")
        if name in getattr(ready, "_fields", ()):
            ready = ready._replace(**{name: value})
    if hasattr(ready, "tuned"):
        ready = ready.tuned(problem)
    if not (hasattr(ready, "_fields") and hasattr(ready, "phase")):
        raise PrudentError(f"strategy must be a NamedTuple with a method phase, got {given!r}")
    ready = as_annotated(ready)
    cls: Any = type(ready)
    compilable(cls)
    return ready


@helper
def cheapest(arms: Evidence) -> int:
    """The living arm of smallest estimated cost, ties to the lowest number; −1 if none lives."""
    best, best_cost = -1, math.inf
    for i in range(len(arms.pulls)):
        if arms.alive[i] and (best < 0 or arms.cost[i] < best_cost):
            best, best_cost = i, arms.cost[i]
    return best


@helper
def strike_dearest(arms: Evidence) -> None:
    """Strike out the living arm of largest estimated cost; of equal ones the highest number goes."""
    worst, worst_cost = -1, -math.inf
    for i in range(len(arms.pulls)):
        if arms.alive[i] and arms.cost[i] >= worst_cost:
            worst, worst_cost = i, arms.cost[i]
    arms.alive[worst] = False
