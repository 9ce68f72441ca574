"""Explore: move arms, ρ, policy and horizon, and see regret, its parts, the pulls and the bounds of the theorems.

The address holds the whole question, so that a picture can be shared. It is answered in a process of its own, its work
is bounded, and what was computed is kept.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from prudent.base.errors import PrudentError, check_integer, shown
from prudent.base.text import number, with_error
from prudent.policies.contract import policies
from prudent.risk.mean_variance import MeanVariance
from prudent.service.http.routes import Call
from prudent.service.pages import charts
from prudent.service.pages.axes import log_ticks
from prudent.service.problems import RequestError
from prudent.service.work.children import Computer, EndedError, in_own_thread

ARMS = "gaussian(1, 0.22); gaussian(0.5, 0.32)"
LONGEST = 10**7
"""Rounds at most."""

STEPS = 4 * 10**6
"""Rounds of all runs together that are stepped one by one, a fraction of a second."""

LOOKS = 10**9
"""Rewards that policies look at in all runs together, if a score looks at all rewards of its arm: in each run half the
square of the rounds. That takes a few seconds."""

RUNS, FEWEST = 500, 20
POINTS = 40

SECONDS = 60.0
"""How long an answer may take. A policy is compiled when it is first used, which takes some seconds of it."""

MOST_KEPT = 200
"""Answers that are kept."""

GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3}){2,}|[0-9]{2,3},000")
"""Numbers whose commas can only separate thousands."""


class Question(NamedTuple):
    """What is asked: arms, separated by semicolons, and the rest."""

    arms: str = ARMS
    rho: str = "1"
    policy: str = "mv-lcb"
    horizon: str = "10000"


class Answer(NamedTuple):
    """What is shown."""

    curves: list[tuple[str, list[tuple[float, float]]]]
    parts: list[tuple[str, list[tuple[float, float]]]]
    pulls: list[tuple[str, str]]
    facts: dict[str, str]
    said: list[tuple[str, str, str, str]]


class Explorer:
    """Answers questions in a child process, one at a time, each once."""

    def __init__(self) -> None:
        self._computer, self._kept = Computer(), dict[Question, bytes]()
        self.close = self._computer.close

    async def answer(self, call: Call, question: Question) -> Answer:
        """The answer, or `PrudentError` with the reason why there is none. If the caller hangs up, it ends."""
        if question not in self._kept:
            raw = msgspec.json.encode(question)
            async with call.watched() as gone:

                def wanted(folder: Path) -> bool:
                    return not gone.is_set()

                made = await in_own_thread(
                    lambda: self._computer.compute("explore", raw, seconds=SECONDS, wanted=wanted)
                )
            while len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[question] = made
        return msgspec.msgpack.decode(self._kept[question], type=Answer)


def refused(error: EndedError) -> RequestError:
    """What is said of an answer that took too long, or that nobody waits for."""
    if error.late:
        fix = "ask for fewer rounds, or a policy that needs less work"
        return RequestError("unavailable", f"the answer took more than {SECONDS:g} seconds, so it was ended; {fix}")
    return RequestError("unavailable", "the computation was ended, because nobody waited for it")


def question_of(query: Mapping[str, str]) -> Question:
    """The question of an address; what it leaves out is as on the first page."""
    known = {name: query[name].strip()[:1000] for name in Question._fields if query.get(name, "").strip()}
    return Question(**known)


def answer(question: bytes) -> bytes:
    """The job of the child process."""
    return msgspec.msgpack.encode(answered(msgspec.json.decode(question, type=Question)))


def answered(question: Question) -> Answer:
    """The answer to a question."""
    from prudent.bandit import Bandit
    from prudent.policies.units import without_warning
    from prudent.theory import bounds

    bandit = Bandit([text for part in question.arms.split(";") if (text := part.strip())])
    risk = MeanVariance(_number("rho", question.rho))
    horizon = check_integer("explore", "horizon", _number("horizon", question.horizon), low=1, high=LONGEST)
    policy = policies.make("explore", question.policy)
    grid = sorted({round(horizon ** (i / (POINTS - 1))) for i in range(POINTS)})
    with without_warning():
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
        (bound.name, bound.quantity, number(bound.value, 3) if bound.applies else "–", verdict(bound))
        for bound in bounds(bandit, risk, horizon)
    ]
    gap = [(n, value - part) for (n, value), (_, part) in zip(regret, moving, strict=True)]
    return Answer([("regret", regret)], [("from worse arms", gap), ("from moving", moving)], pulls, facts, said)


def verdict(bound: Any) -> str:
    """What a theorem says here: that it does not apply, and why; that it is only a rate; or whether it says more than
    what holds anyway."""
    if not bound.applies:
        missing = [condition.text for condition in (*bound.needs, *bound.needs_of_horizon) if not condition.holds]
        return f"does not apply: it needs {' and '.join(missing)}"
    if bound.value is None:
        return "gives no value here"
    if bound.remark.startswith(("a rate", "a limit")):
        return "rate only"
    return "not informative" if bound.vacuous else "informative"


def _played(bandit: Any, policy: Any, risk: MeanVariance, horizon: int, grid: list[int]) -> Any:
    """Leaping if it can, for as many runs as the work allows."""
    from prudent.engine.simulate import simulate
    from prudent.policies.scoring import reads_rewards

    settings: dict[str, Any] = {"risk": risk, "horizon": horizon, "seed": 0, "snapshots": grid[:-1], "scale": "auto"}
    try:
        return simulate(bandit, policy, runs=RUNS, engine="leaping", **settings)
    except PrudentError:
        looks = hasattr(policy, "score") and reads_rewards(type(policy))
        most = STEPS // FEWEST if not looks else math.isqrt(2 * LOOKS // FEWEST)
        if horizon > most:
            kind = "looks at all rewards in every round" if looks else "is simulated round by round"
            raise PrudentError(
                f"explore: horizon must be at most {most:,} for a policy that {kind}, got {horizon:,}"
            ) from None
        runs = min(RUNS, STEPS // horizon, 2 * LOOKS // horizon**2 if looks else RUNS)
        return simulate(bandit, policy, runs=runs, engine="stepping", workers=1, **settings)


def _number(name: str, text: str) -> float:
    """A number; thousands may be separated by commas, but a comma alone may mean a point, and is refused."""
    plain = text.replace("−", "-").replace("∞", "inf")
    try:
        return float(plain.replace(",", "") if GROUPED.fullmatch(plain) else plain)
    except ValueError:
        raise PrudentError(f"explore: {name} must be a number, written as 1234.5, got {shown(text)}") from None


def pictures(answer: Answer) -> list[tuple[str, Any]]:
    """The pictures with their titles."""
    named = (("Regret per round", answer.curves), ("Where it comes from", answer.parts))
    return [(title, _picture(title, series)) for title, series in named]


def _picture(title: str, series: list[tuple[str, list[tuple[float, float]]]]) -> Any:
    rounds = [at for at, _ in series[0][1]]
    ticks = [(math.log(at), text) for at, text in log_ticks(rounds[0], rounds[-1])]
    places = charts.Places([math.log(at) for at in rounds], [f"{at:,.0f} rounds" for at in rounds], ticks, "rounds")
    some = [charts.Curve(name, i, [value for _, value in curve]) for i, (name, curve) in enumerate(series)]
    return charts.curves(places, some, f"{title}, over the number of rounds, logarithmic")


def choices() -> list[str]:
    """Policies to choose from."""
    return sorted(policies.names())
