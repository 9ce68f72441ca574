"""The parts of an experiment's page that say more than its numbers: alarms, health, pictures over time, and what can be
done now."""

import math
from typing import Any

import msgspec

from prudent.live.changes import FAILURE
from prudent.live.rails import Rail
from prudent.service.answers import answers_of, changed_arms, past_horizon
from prudent.service.clocks import alarm_of
from prudent.service.fold import Fold
from prudent.service.service import View
from prudent.service.site import charts, words
from prudent.service.site.facts import Facts, Units
from prudent.text import count, counted, minus, number

POINTS = 400
"""Points of all curves of a picture: a page with many arms must not be large."""

ALWAYS = ("Open decisions", "Rewards refused as too late", "Requests that came again")
"""What health says also if there are none."""


AT_ONCE = ", unless outcomes of one kind come sooner than others, since rewards are counted at once"


def alarms(view: View) -> list[str]:
    """What somebody should look at."""
    fold, late = view.fold, alarm_of(view.experiment.ahead)
    answers = answers_of(fold)
    fired = [
        f"A guardrail acted on {fold.labels[arm]}: its {beyond(fold.rails[rail])}." for rail, arm in sorted(fold.fired)
    ]
    at_once = fold.spec.rewards.window is not None and not fold.spec.waits
    warned = ["Rewards are counted at once, so that intervals are wrong if a delay depends on the outcome."] * at_once
    changed = [
        f"{each.sentence} What is said of its mean and cost takes its rewards for draws of one law. This alarm is false"
        f" in at most {100.0 * FAILURE:g} % of experiments{AT_ONCE if at_once else ''}."
        for each in changed_arms(fold)
    ]
    wrong = [] if late is None else [late[0].upper() + late[1:]]
    past = [past_horizon(fold)] if fold.past_horizon else []
    return [*wrong, *past, *fired, *changed, *([str(answers)] if answers.differ else []), *warned]


def beyond(rail: Rail) -> str:
    """What a guardrail watches and its limit: `mean of latency is above 300`."""
    what = rail.watch if rail.q is None else f"{number(rail.q)}-quantile"
    of = "" if rail.metric is None else f" of {rail.metric}"
    return f"{what}{of} is {'above' if rail.below is None else 'below'} {minus(number(rail.limit))}"


def over_time(labels: list[str], series: list[tuple[int, int, str]], units: Units) -> list[dict[str, Any]]:
    """Three pictures with their numbers: costs, shares, exploration risk, over the number of decisions."""
    some = thinned(series, max(12, POINTS // len(labels)))
    points = [(sum(arm[0] for arm in arms), arms) for _, _, text in some if (arms := msgspec.json.decode(text))]
    points = [point for point in points if point[0] > 0]
    if len(points) < 2:
        return []
    costs = [
        (name, [(n, arms[i][4]) for n, arms in points if i < len(arms) and arms[i][4] is not None])
        for i, name in enumerate(labels)
    ]
    shares = [(name, [(n, arms[i][0] / n) for n, arms in points if i < len(arms)]) for i, name in enumerate(labels)]
    moving = [(n, exploration(arms)) for n, arms in points]
    found = []
    for title, curves in (
        (f"Cost of each arm{units.cost and ','}{units.cost}", costs),
        ("Share of decisions", shares),
        (f"Variance from moving between arms{units.variance and ','}{units.variance}", [("Exploration risk", moving)]),
    ):
        rows = [n for n, _ in thinned(points, 7)]
        table = [[count(n), *(cell(curve, n) for _, curve in curves)] for n in rows]
        svg = charts.lines(curves, f"{title}, over the number of decisions")
        found.append({"title": title, "svg": svg, "names": [name for name, _ in curves], "rows": table})
    return found


def thinned(points: list[Any], most: int) -> list[Any]:
    """So many of them at most, evenly spaced, with the first and the last."""
    last = len(points) - 1
    return [points[i] for i in sorted({round(j * last / (most - 1)) for j in range(most)})] if last >= most else points


def cell(curve: list[tuple[int, float]], n: int) -> str:
    """The value of a curve after so many decisions."""
    return next((minus(number(value, 3)) for at, value in curve if at == n), "–")


def exploration(arms: list[list[Any]]) -> float:
    """The variance that comes from moving between arms."""
    known = [(pulls, mean) for _, pulls, mean, _, _ in arms if pulls]
    total = sum(pulls for pulls, _ in known)
    centre = sum(pulls * mean for pulls, mean in known) / total if total else 0.0
    return sum(pulls * (mean - centre) ** 2 for pulls, mean in known) / total if total else 0.0


def health(view: View, oldest: int | None) -> dict[str, str]:
    """Whether answers come, and come in time."""
    fold, row = view.fold, view.experiment
    open_ = sum(known.open_asks for known in fold.agent.estimates())
    tally = fold.tally
    found = {
        "Open decisions": count(open_),
        "The oldest of them": "0" if oldest is None else words.moment(oldest),
        "Rewards reported": count(sum(arm.told for arm in tally)),
        "Windows that closed without one": count(sum(arm.defaulted + arm.expired for arm in tally)),
        "Withdrawn": count(sum(arm.withdrawn for arm in tally)),
        "Rewards refused as too late": count(row.late),
        "Requests that came again": count(row.again),
        "Have rewards changed?": watched(fold),
        "Fallbacks by clients": count(fold.fell_back),
        "Last event": words.moment(fold.at),
    }
    return {name: value for name, value in found.items() if value != "0" or name in ALWAYS}


def watched(fold: Fold) -> str:
    """Whether an arm's rewards have changed, as far as that can be said."""
    if fold.changed:
        return f"yes, of {counted(len(fold.changed), 'arm')}"
    return "not noticed" if all(map(math.isfinite, fold.agent.support)) else "unknown without a support"


def controls(known: Facts) -> list[dict[str, Any]]:
    """What can be done in this state."""
    playing = [arm.label for arm in known.arms if not arm.retired]
    found: list[dict[str, Any]] = []
    if known.state in ("paused", "frozen"):
        found.append({"verb": "resume", "title": "Resume", "text": "Decide again as before."})
    if known.state in ("running", "frozen"):
        found.append({"verb": "pause", "title": "Pause", "text": "Answer with the fallback arm, or not at all."})
    found.append({"verb": "freeze", "title": "Freeze", "text": "Give everybody one arm.", "arms": playing})
    if len(playing) > 1:
        text = "Never choose it again. If it is the fallback arm, say which one takes its place."
        found.append({"verb": "retire", "title": "Retire an arm", "text": text, "arms": playing, "others": playing})
    found.append({"verb": "add", "title": "Add an arm", "text": "It is tried at once.", "new_arm": True})
    found.append({"verb": "stop", "title": "Stop", "text": "End the experiment for good."})
    return [{"arms": None, "others": None, "new_arm": False, **control} for control in found]
