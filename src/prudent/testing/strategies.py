"""The contract of a strategy for finding the best arm."""

import inspect
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prudent.arms import Bernoulli, Deterministic, Law, Uniform, encode
from prudent.bandit import Bandit
from prudent.identification import BUDGET, DELTA, Evidence, Problem, Strategy, exploring, registry
from prudent.identification.base import bind
from prudent.identification.exploring import Found
from prudent.policies import spec
from prudent.risk import MeanVariance, RiskMeasure
from prudent.testing.rules import SEED, answers, check_parameters, check_spec, compiles, require

MOST_PULLS = 400
"""Where a search with a confidence may end undecided."""


def check_strategy(
    strategy: Strategy,
    *,
    risk: RiskMeasure | None = None,
    arms: Sequence[int] = (2, 3, 5),
    budget: int = 60,
    delta: float = 0.1,
) -> None:
    """A strategy must search any bandit within its budget, and the same compiled as interpreted.

    `arms` are the sizes of the bandits, whose rewards lie in [0, 1]. A strategy with a field `delta` is asked for that
    confidence, any other is given the `budget`. The risk is the mean unless given. Whether a confidence is kept is for
    a test of the strategy's own; here the answer must be right where every reward is sure.
    """
    risk = MeanVariance(math.inf) if risk is None else risk
    named = isinstance(strategy, tuple) and hasattr(strategy, "_fields")
    require(named, repr(strategy), "a strategy must be a NamedTuple", "write class Mine(NamedTuple) and pass Mine()")
    name = spec(strategy)
    if name.split("(")[0] in registry:
        check_spec(strategy, name, registry)
    check_parameters(name, strategy, given=(BUDGET, DELTA))
    confident = hasattr(strategy, DELTA)
    for laws in _games(arms):
        problem = Problem(Bandit(laws), risk, None if confident else budget, delta if confident else None)
        with answers(name, f"must bind to {len(laws)} arms"):
            ready = bind(strategy, problem)
        taken = inspect.signature(ready.phase).parameters.values()
        plain = len(taken) == 3 and all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in taken)
        require(plain, name, "phase must take (self, arms, rounds, chosen)", "no defaults, no *args, nothing else")
        _check_search(f"{name} on {problem.bandit!r}", strategy, ready, problem)


def _games(arms: Sequence[int]) -> Iterator[Sequence[Law]]:
    """Arms in [0, 1]: smooth, coins, sure, equal."""
    for n in arms:
        places = [(i + 1) / (n + 1) for i in range(n)]
        yield [Uniform(0.0, x) for x in places]
        yield [Bernoulli(x) for x in reversed(places)]
        yield [Deterministic(x) for x in places]
        yield [Deterministic(0.5)] * n
        yield [Uniform(0.0, 1.0)] * n


def _check_search(name: str, strategy: Any, ready: Any, problem: Problem) -> None:
    """Interpreted search keeps the rules; compiled search is the same, with the same stream."""
    with answers(name, "must search interpreted"):
        # First, since an arm out of range is an IndexError here and a crash compiled.
        plain = _search(name, _Watched(name, ready), problem, exploring.explore.py_func)  # type: ignore[attr-defined]
        again = _search(name, _Watched(name, ready), problem, exploring.explore.py_func)  # type: ignore[attr-defined]
    require(_same(plain, again), name, "equal streams must give equal searches", "keep nothing between calls")
    with compiles(name, ready):
        compiled = _search(name, ready, problem, exploring.explore)
    told = f"pulls {plain.pulls.tolist()} interpreted, but {compiled.pulls.tolist()} compiled"
    fix = "compiled integers wrap around at 2**63; `math` gives the same digits both ways, NumPy's functions may not"
    require(_same(plain, compiled), name, f"must search the same compiled, but {told}", fix)
    if problem.budget is not None:
        within = f"may pull {problem.budget} times, its budget, and asks for more"
        require(plain.decided.all(), name, within, "return 0 when it is spent")
    known = all(pulls[arm] > 0 for pulls, arm in zip(plain.pulls, plain.recommended, strict=True) if arm >= 0)
    require(known, name, "recommends an arm it never pulled", "pull every arm that is left alive")
    if all(isinstance(law, Deterministic) for law in problem.bandit.arms) and not hasattr(strategy, "feasible"):
        right = problem.bandit.gaps(problem.risk)[plain.recommended] == 0.0
        rule = f"rewards are sure, yet it recommends arm {plain.recommended[0] + 1}"
        require((right | ~plain.decided).all(), name, rule, "strike out the arms of largest cost")


def _search(name: str, ready: Any, problem: Problem, explore: Any) -> Found:
    """Three searches."""
    runs, n_arms, risk = 3, len(problem.bandit), problem.risk
    found = Found(np.empty(runs, np.int64), np.empty(runs, np.bool_), np.empty((runs, n_arms), np.int64))
    most = MOST_PULLS if problem.budget is None else problem.budget
    rng = np.random.default_rng(SEED)
    status = explore(ready, risk.compiled(), risk.by_moments, encode(problem.bandit.arms), most, found, rng)
    require(status != exploring.BAD_COST, name, f"the estimated {risk} is NaN", "0/0 or ∞ − ∞ inside the measure?")
    require(status != exploring.BAD_PHASE, name, "phase must choose an arm and at least one repetition, or return 0")
    return found


class _Watched:
    """A strategy that is caught when it writes where it should only read."""

    def __init__(self, name: str, strategy: Any) -> None:
        self.name, self.strategy = name, strategy

    def phase(self, arms: Evidence, rounds: int, chosen: NDArray[np.bool_]) -> int:
        """The strategy's phase, watched."""
        before = Evidence._make(array.copy() for array in arms)
        repeats = self.strategy.phase(arms, rounds, chosen)
        kept = all(map(partial(np.array_equal, equal_nan=True), before._replace(alive=arms.alive), arms))
        require(kept, self.name, "phase must not change the arms' statistics", "write to `chosen` and `alive` only")
        revived = (arms.alive & ~before.alive).any()
        require(not revived, self.name, "an arm struck out must stay out", "never set `alive` to true")
        whole = isinstance(repeats, (int, np.integer)) and not isinstance(repeats, bool)
        require(whole, self.name, f"phase must return a whole number of repetitions, not {repeats!r}", "return int(…)")
        require(repeats >= 0, self.name, f"phase must return 0 or more repetitions, not {repeats}", "0 ends the search")
        fix = "mark at least one arm in `chosen`, or return 0"
        require(repeats == 0 or chosen.any(), self.name, f"phase chose no arm after {rounds} rounds", fix)
        return int(repeats)


def _same(one: Found, other: Found) -> bool:
    return all(map(np.array_equal, one, other))
