"""The contract of a strategy for finding the best arm."""

import inspect
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from prudent import Bandit, Bernoulli, Deterministic, Law, MeanVariance, RiskMeasure, Uniform
from prudent.arms.base import encode
from prudent.engine.record import COMPLAINTS, FINE
from prudent.identification import BUDGET, DELTA
from prudent.identification.kernel import Found, search
from prudent.policies.base import Policy, Setting, strategies
from prudent.policies.binding import bind
from prudent.testing.rules import SEED, Watched, answers, check_parameters, check_spec, compiles, require

MOST_PULLS = 400
"""Where a search with a confidence may end undecided."""


def check_strategy(
    strategy: Policy,
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
    name = strategies.spec(strategy)
    if name.split("(")[0] in strategies:
        check_spec(strategy, name, strategies)
    check_parameters(name, strategy, given=(BUDGET, DELTA))
    confident = hasattr(strategy, DELTA)
    for laws in _games(arms):
        bandit = Bandit(laws)
        setting = Setting.of(bandit, risk)
        setting = setting._replace(delta=delta) if confident else setting._replace(budget=budget)
        with answers(name, f"must bind to {len(laws)} arms"):
            ready = bind(strategy, setting)
        taken = inspect.signature(ready.phase).parameters.values()
        plain = len(taken) == 4 and all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in taken)
        require(plain, name, "phase must take (self, arms, t, chosen, rng)", "no defaults, no *args, nothing else")
        _check_search(f"{name} on {bandit!r}", strategy, ready, setting)


def _games(arms: Sequence[int]) -> Iterator[Sequence[Law]]:
    """Arms in [0, 1]: smooth, coins, sure, equal."""
    for n in arms:
        places = [(i + 1) / (n + 1) for i in range(n)]
        yield [Uniform(0.0, x) for x in places]
        yield [Bernoulli(x) for x in reversed(places)]
        yield [Deterministic(x) for x in places]
        yield [Deterministic(0.5)] * n
        yield [Uniform(0.0, 1.0)] * n


def _check_search(name: str, strategy: Any, ready: Any, setting: Setting) -> None:
    """Interpreted search keeps the rules; compiled search is the same, with the same stream."""
    bandit = setting.bandit or Bandit([])
    with answers(name, "must search interpreted"):
        # First, since an arm out of range is an IndexError here and a crash compiled.
        plain = _search(name, Watched(name, ready), setting, search.py_func)  # type: ignore[attr-defined]
        again = _search(name, Watched(name, ready), setting, search.py_func)  # type: ignore[attr-defined]
    require(_same(plain, again), name, "equal streams must give equal searches", "keep nothing between calls")
    with compiles(name, ready):
        compiled = _search(name, ready, setting, search)
    told = f"pulls {plain.pulls.tolist()} interpreted, but {compiled.pulls.tolist()} compiled"
    fix = "compiled integers wrap around at 2**63; `math` gives the same digits both ways, NumPy's functions may not"
    require(_same(plain, compiled), name, f"must search the same compiled, but {told}", fix)
    if setting.budget is not None:
        within = f"may pull {setting.budget} times, its budget, and asks for more"
        require(plain.decided.all(), name, within, "return 0 when it is spent")
    known = all(pulls[arm] > 0 for pulls, arm in zip(plain.pulls, plain.recommended, strict=True) if arm >= 0)
    require(known, name, "recommends an arm it never pulled", "pull every arm that is left alive")
    if all(isinstance(law, Deterministic) for law in bandit.arms) and not hasattr(strategy, "feasible"):
        right = bandit.gaps(setting.risk)[plain.recommended] == 0.0
        rule = f"rewards are sure, yet it recommends arm {plain.recommended[0] + 1}"
        require((right | ~plain.decided).all(), name, rule, "strike out the arms of largest cost")


def _search(name: str, ready: Any, setting: Setting, loop: Any) -> Found:
    """Three searches."""
    found, laws = Found.empty(3, setting.n_arms), encode(setting.bandit.arms if setting.bandit else ())
    most = MOST_PULLS if setting.budget is None else setting.budget
    risk = getattr(ready, "risk", setting.risk.compiled())
    status = loop(ready, risk, not risk.by_moments, laws, most, found, np.random.default_rng(SEED))
    require(status == FINE, name, COMPLAINTS.get(status, ""))
    return found


def _same(one: Found, other: Found) -> bool:
    return all(map(np.array_equal, one, other))
