"""identify(): many searches for the best arm of a bandit."""

from collections.abc import Callable
from typing import Any

from prudent.arms.base import encode
from prudent.bandit import Bandit
from prudent.base.errors import PrudentError, check_integer, shown
from prudent.base.memory import check_memory
from prudent.base.parameters import check_parameter
from prudent.engine.jobs import MAX_ROUNDS, Job
from prudent.engine.search_rounds import Found, search
from prudent.policies.binding import bind
from prudent.policies.contract import Policy, Setting, strategies
from prudent.policies.identification import BUDGET, DELTA
from prudent.policies.units import PUBLISHED, fitted, warn_of_size
from prudent.results.searches import Searches
from prudent.risk.base import RiskMeasure, risks

DEFAULT_MOST_PULLS = 10_000_000


def identify(
    bandit: Bandit,
    strategy: Policy | str,
    *,
    risk: RiskMeasure | str,
    budget: int | None = None,
    delta: float | None = None,
    runs: int,
    seed: int = 0,
    most_pulls: int | None = None,
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Searches:
    """Search for the arm of smallest cost, `runs` times.

    Parameters
    ----------
    bandit
        The arms, two or more.
    strategy
        A strategy, its spec such as `"successive-rejects"`, or one of your own (prudent/policies/identification).
    risk
        The risk measure whose cost is to be smallest, or its spec.
    budget, delta
        Either the number of pulls a search may make, or the probability with which its answer may be wrong.
    runs, seed, workers, progress
        As for `simulate`.
    most_pulls
        With a `delta`, the pulls after which a search ends undecided; ten million by default.

    Examples
    --------
    >>> from prudent import Bandit, Bernoulli, identify
    >>> bandit = Bandit([Bernoulli(0.9), Bernoulli(0.4)])
    >>> identify(bandit, "successive-rejects", risk="mean", budget=60, runs=100).error_probability().value
    0.0
    """
    if not isinstance(bandit, Bandit):
        raise PrudentError(f"identify: bandit must be a Bandit, got {shown(bandit)}; pass Bandit([arm, arm])")
    strategy, risk = strategies.make("identify", strategy), risks.make("identify", risk)
    job = Job.checked("identify", runs, seed, workers, progress)
    bandit.costs(risk)  # a law without the moment it takes is refused now, not when errors are counted
    setting = _setting(bandit, risk, budget, delta)
    ready, cap = _ready(strategy, setting), _cap(setting, most_pulls)
    warn_of_size(strategies.spec(strategy), fitted(strategy, PUBLISHED), bandit, other="")
    measure = getattr(ready, "risk", risk.compiled())
    check_memory("identify", job.runs * len(bandit), f"{job.runs:,} searches of {len(bandit):,} arms")
    if setting.budget is not None and not measure.by_moments:
        check_memory("identify", setting.budget, f"all rewards of {setting.budget:,} pulls")
    found, laws, keep = Found.empty(job.runs, len(bandit)), encode(bandit.arms), not measure.by_moments
    text = strategies.spec(strategy)
    cell = f"{bandit.unnamed} | {risk} | {text} | {setting.budget} {setting.delta} {cap}"
    seconds = job.run(cell, text, lambda part, *rest: search(ready, measure, keep, laws, cap, found.part(part), *rest))
    if setting.budget is not None and not found.decided.all():
        raise PrudentError(f"{text}: asks for more pulls than the budget, {setting.budget}; correct its phase")
    facts: dict[str, Any] = {"bandit": bandit, "policy": strategy, "risk": risk, "seed": job.seed, "seconds": seconds}
    facts |= {"budget": setting.budget, "delta": setting.delta, "most_pulls": cap}
    return Searches(**facts, **found._asdict())


def _setting(bandit: Bandit, risk: RiskMeasure, budget: int | None, delta: float | None) -> Setting:
    if (budget is None) == (delta is None):
        given = "neither" if budget is None else "both"
        raise PrudentError(f"identify: pass either budget=… (pulls) or delta=… (failure probability), got {given}")
    if len(bandit) < 2:
        raise PrudentError("identify: bandit must have at least 2 arms, got 1; there is nothing to find out")
    if budget is not None:
        budget = check_integer("identify", BUDGET, budget, low=len(bandit), high=MAX_ROUNDS, hint="every arm is pulled")
    delta = None if delta is None else check_parameter("identify", DELTA, delta)
    return Setting.of(bandit, risk)._replace(budget=budget, delta=delta)


def _ready(strategy: Any, setting: Setting) -> Any:
    asked = BUDGET if setting.delta is None else DELTA
    needs = strategies.facts_of(strategy).get("needs", asked)
    if needs != asked:
        others = ", ".join(entry.name for entry in strategies.entries() if entry.facts.get("needs") == asked)
        raise PrudentError(
            f"{strategies.spec(strategy)}: needs {needs}=…, got {asked}; with a {asked} take one of {others}"
        )
    ready = bind(strategy, setting)
    if not hasattr(ready, "phase"):
        raise PrudentError(f"strategy must be a NamedTuple with a method phase, got {shown(strategy)}")
    return ready


def _cap(setting: Setting, most_pulls: int | None) -> int:
    if setting.budget is not None:
        if most_pulls is not None:
            raise PrudentError("identify: most_pulls goes with delta; the budget already limits the pulls")
        return setting.budget
    least = 2 * setting.n_arms
    return (
        DEFAULT_MOST_PULLS
        if most_pulls is None
        else check_integer("identify", "most_pulls", most_pulls, low=least, high=MAX_ROUNDS)
    )
