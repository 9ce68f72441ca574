"""identify(): many searches for the best arm of a bandit."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from prudent.arms import encode
from prudent.bandit import Bandit
from prudent.engine.streams import stream
from prudent.engine.threads import count_workers, play_all
from prudent.errors import PrudentError, check_integer
from prudent.identification import exploring
from prudent.identification.base import Problem, Strategy, bind
from prudent.identification.base import registry as strategy_registry
from prudent.identification.identifications import Identifications
from prudent.policies import spec
from prudent.policies.base import check_delta
from prudent.risk import RiskMeasure
from prudent.risk import registry as risk_registry

MOST_PULLS = 10_000_000

COMPLAINTS = {
    exploring.BAD_COST: "an estimated cost is not a number (NaN); does the risk measure divide by zero?",
    exploring.BAD_PHASE: "its phase chose no arm or returned fewer than 0 repetitions",
}


def identify(
    bandit: Bandit,
    strategy: Strategy | str,
    *,
    risk: RiskMeasure | str,
    budget: int | None = None,
    delta: float | None = None,
    runs: int,
    seed: int = 0,
    most_pulls: int | None = None,
    workers: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Identifications:
    """Search for the arm of smallest cost, `runs` times: with a `budget` of pulls, or until wrong with probability
    `delta` at most.

    With a `delta`, a search that would exceed `most_pulls` (ten million by default) ends undecided. The result is the
    same for any number of `workers` (threads; all cores by default). `progress` is called with the number of runs just
    finished.
    """
    strategy = strategy_registry.parse(strategy) if isinstance(strategy, str) else strategy
    risk = risk_registry.parse(risk) if isinstance(risk, str) else risk
    runs = check_integer("identify", "runs", runs, low=1)
    seed = check_integer("identify", "seed", seed, low=0)
    bandit, risk = _checked(bandit, risk)
    problem = _problem(bandit, risk, budget, delta)
    ready = bind(strategy, problem)
    cap = _cap(problem, most_pulls)
    cell = f"{bandit!r} | {risk} | {spec(strategy)} | {problem.budget} {problem.delta} {cap}"
    found = exploring.Found(np.empty(runs, np.int64), np.empty(runs, np.bool_), np.empty((runs, len(bandit)), np.int64))
    laws, measure, by_moments = encode(bandit.arms), risk.compiled(), risk.by_moments

    def play(chunk: int, part: slice) -> None:
        rng = stream(seed, cell, chunk)
        status = exploring.explore(ready, measure, by_moments, laws, cap, found.part(part), rng)
        if status != exploring.FINE:
            raise PrudentError(f"{spec(strategy)}: {COMPLAINTS[status]}")

    started = time.perf_counter()
    play_all(play, runs, count_workers("identify", workers), progress)
    seconds = time.perf_counter() - started
    if problem.budget is not None and not found.decided.all():
        raise PrudentError(f"{spec(strategy)}: asks for more pulls than the budget, {problem.budget}; mend its phase")
    asked = {"budget": problem.budget, "delta": problem.delta, "most_pulls": cap, "seed": seed, "seconds": seconds}
    return Identifications(bandit, strategy, risk, **asked, **found._asdict())  # type: ignore[arg-type]


def _checked(bandit: Any, risk: Any) -> tuple[Bandit, RiskMeasure]:
    if not isinstance(bandit, Bandit):
        raise PrudentError(f"identify: bandit must be a Bandit, got {bandit!r}; pass Bandit([arm, arm])")
    if not isinstance(risk, RiskMeasure):
        raise PrudentError(f"identify: risk must be a risk measure or its name, got {risk!r}; pass e.g. CVaR(0.05)")
    bandit.costs(risk)  # a law without the moment it takes is told now, not when errors are counted
    return bandit, risk


def _problem(bandit: Bandit, risk: RiskMeasure, budget: int | None, delta: float | None) -> Problem:
    if (budget is None) == (delta is None):
        given = "neither" if budget is None else "both"
        raise PrudentError(f"identify: pass either budget=… (pulls) or delta=… (failure probability), got {given}")
    if len(bandit) < 2:
        raise PrudentError("identify: bandit must have at least 2 arms, got 1; there is nothing to find out")
    if budget is not None:
        budget = check_integer("identify", "budget", budget, low=len(bandit), high=2**53, hint="every arm is pulled")
    check_delta("identify", delta)
    return Problem(bandit, risk, budget, None if delta is None else float(delta))


def _cap(problem: Problem, most_pulls: int | None) -> int:
    if problem.budget is not None:
        if most_pulls is not None:
            raise PrudentError("identify: most_pulls goes with delta; the budget already limits the pulls")
        return problem.budget
    least = 2 * len(problem.bandit)
    return MOST_PULLS if most_pulls is None else check_integer("identify", "most_pulls", most_pulls, low=least)
