"""Explore: move arms, ρ, policy and horizon, and see regret, its parts, the pulls and the bounds of the theorems.

The address holds the whole question, so that a picture can be shared. The work of a question is bounded, and what was
computed is kept.
"""

import math
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from prudent.bandit import Bandit
from prudent.engine.simulation import simulate
from prudent.errors import PrudentError, check_integer
from prudent.policies.base import policies
from prudent.policies.units import without_warning
from prudent.risk.mean_variance import MeanVariance
from prudent.service.site import charts
from prudent.text import number, with_error
from prudent.theory import bounds

ARMS = "gaussian(1, 0.22); gaussian(0.5, 0.32)"
LONGEST = 10**7
"""Rounds at most."""

STEPS = 4 * 10**6
"""Rounds of all runs together that are stepped one by one, a fraction of a second."""

RUNS, FEWEST = 500, 20
POINTS = 40

_one_at_a_time = threading.Lock()


class Question(NamedTuple):
    """What is asked: arms, separated by semicolons, and the rest."""

    arms: str = ARMS
    rho: str = "1"
    policy: str = "mv-lcb"
    horizon: str = "10000"


class Seen(NamedTuple):
    """What is shown."""

    curves: list[tuple[str, list[tuple[float, float]]]]
    parts: list[tuple[str, list[tuple[float, float]]]]
    pulls: list[tuple[str, str]]
    facts: dict[str, str]
    said: list[tuple[str, str, str]]


def question_of(query: Mapping[str, str]) -> Question:
    """The question of an address; what it leaves out is as on the first page."""
    known = {name: query[name].strip()[:1000] for name in Question._fields if query.get(name, "").strip()}
    return Question(**known)


@lru_cache(maxsize=200)
def seen(question: Question) -> Seen:
    """The answer to a question, computed once."""
    bandit = Bandit([text for part in question.arms.split(";") if (text := part.strip())])
    risk = MeanVariance(float(question.rho) if question.rho != "∞" else math.inf)
    horizon = check_integer("explore", "horizon", _number("horizon", question.horizon), low=1, high=LONGEST)
    policy = policies.make("explore", question.policy)
    grid = sorted({round(horizon ** (i / (POINTS - 1))) for i in range(POINTS)})
    with _one_at_a_time, without_warning():
        runs = _played(bandit, policy, risk, horizon, grid)
    rows = [(n, runs.at(n)) for n in grid]
    regret = [(float(n), float(at.regret().mean())) for n, at in rows]
    moving = [(float(n), float(at.exploration_risk().mean())) for n, at in rows]
    end = runs.regret()
    spread = float(end.std() / math.sqrt(len(end)))
    facts = {
        "Regret per round at the end": with_error(float(end.mean()), 2.0 * spread),
        "Of it, from moving between arms": number(moving[-1][1], 3),
        "Share of the best arm": f"{100.0 * float(runs.best_share().mean()):.3g} %",
        "Runs": number(len(end)),
        "Engine": runs.engine,
    }
    pulls = [(str(arm), number(float(count), 4)) for arm, count in zip(bandit.arms, runs.pulls.mean(0), strict=True)]
    said = [
        (bound.name, number(bound.value, 3), "says something" if not bound.vacuous else "says nothing here")
        for bound in bounds(bandit, risk, horizon)
    ]
    gap = [(n, value - part) for (n, value), (_, part) in zip(regret, moving, strict=True)]
    return Seen([("regret", regret)], [("from worse arms", gap), ("from moving", moving)], pulls, facts, said)


def _played(bandit: Bandit, policy: Any, risk: MeanVariance, horizon: int, grid: list[int]) -> Any:
    """Leaping if it can, for as many runs as the work allows."""
    settings: dict[str, Any] = {"risk": risk, "horizon": horizon, "seed": 0, "snapshots": grid[:-1], "scale": "auto"}
    try:
        return simulate(bandit, policy, runs=RUNS, engine="leaping", **settings)
    except PrudentError:
        runs = min(RUNS, STEPS // horizon)
        if runs < FEWEST:
            raise PrudentError(
                f"explore: horizon must be at most {STEPS // FEWEST:,} for a policy that is simulated round by round,"
                f" got {horizon:,}"
            ) from None
        return simulate(bandit, policy, runs=runs, engine="stepping", **settings)


def _number(name: str, text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        raise PrudentError(f"explore: {name} must be a number, got {text!r}") from None


def pictures(shown: Seen) -> list[tuple[str, Any]]:
    """The pictures with their titles."""
    return [
        ("Regret per round", charts.lines(shown.curves, "Regret per round over the number of rounds")),
        ("Where it comes from", charts.lines(shown.parts, "Parts of the regret over the number of rounds")),
    ]


def choices() -> list[str]:
    """Policies to choose from."""
    return sorted(policies.names())
