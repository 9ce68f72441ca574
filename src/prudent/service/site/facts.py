"""What the page of an experiment says, from its state alone: numbers as text, sentences, and ends of bars.

It takes as long with a million decisions as with ten, since nothing here looks at single decisions.
"""

import math
from typing import Any, NamedTuple

from prudent.errors import PrudentError
from prudent.live.deciding import Leader
from prudent.live.summary import Summary
from prudent.risk.mean_variance import MeanVariance
from prudent.service.fold import Fold
from prudent.text import count, counted, minus, number, risk_name

STATES = {
    "running": "Running",
    "paused": "Paused",
    "frozen": "Frozen",
    "stopped": "Stopped",
}


class ArmFacts(NamedTuple):
    """A row of the table of arms. `interval` is that of the cost, as numbers, for the picture."""

    label: str
    retired: bool
    asked: int
    share: float
    recent: float
    rewards: int
    open: int
    mean: str
    deviation: str
    cost: str
    mean_interval: str
    cost_interval: str
    cost_value: float | None
    interval: tuple[float, float] | None
    excluded: bool


class Units(NamedTuple):
    """What stands behind outcomes, behind costs, which have the unit of a variance if the risk has, and behind
    variances: a space and the unit, or nothing if nobody said what it is."""

    outcome: str = ""
    cost: str = ""
    variance: str = ""


class Facts(NamedTuple):
    """Everything that a page shows of an experiment."""

    name: str
    state: str
    sentence: str
    why: str
    policy: str
    risk: str
    unit: str
    units: Units
    horizon: int | None
    rewards: int
    decisions: int
    level: float
    arms: list[ArmFacts]
    summary: Summary
    regret: str
    saved: str
    within: float
    moving: float
    seq: int
    at: int
    chain: str


def facts(name: str, fold: Fold, recent: dict[int, int], level: float = 0.95) -> Facts:
    """Of an experiment at a moment; `recent` are the decisions of each arm among the last ones."""
    agent, spec = fold.agent, fold.spec
    summary = agent.summary(level)
    leader, intervals, why = None, None, summary.why
    try:
        leader, intervals = agent.leader(level, foresee=False), agent.intervals(level)
    except PrudentError as error:
        why = str(error)
    asked, lately = sum(tally.asked for tally in fold.tally), sum(recent.values())
    excluded = set() if leader is None else set(leader.excluded)
    arms = []
    for i, known in enumerate(agent.estimates()):
        ends = None if intervals is None else intervals[i]
        cost = None if ends is None or ends.cost is None else (ends.cost.low, ends.cost.high)
        arms.append(
            ArmFacts(
                label=fold.labels[i],
                retired=known.retired,
                asked=fold.tally[i].asked,
                share=fold.tally[i].asked / asked if asked else 0.0,
                recent=recent.get(i, 0) / lately if lately else 0.0,
                rewards=known.pulls,
                open=known.open_asks,
                mean=text(known.mean),
                deviation=text(None if known.variance is None else math.sqrt(known.variance)),
                cost=text(known.cost),
                mean_interval=between(None if ends is None else ends.mean),
                cost_interval=between(None if ends is None else ends.cost),
                cost_value=known.cost,
                interval=cost if cost is not None and all(map(math.isfinite, cost)) else None,
                excluded=fold.labels[i] in excluded,
            )
        )
    return Facts(
        name=name,
        state=fold.status,
        sentence=sentence(fold, leader),
        why=why,
        policy=spec.policy,
        risk=risk_name(agent.risk),
        unit=spec.unit,
        units=units(fold),
        horizon=spec.horizon,
        rewards=summary.rewards,
        decisions=asked,
        level=level,
        arms=arms,
        summary=summary,
        regret=between(summary.regret),
        saved=saved(summary, units(fold).cost),
        within=summary.within or 0.0,
        moving=summary.moving or 0.0,
        seq=fold.seq,
        at=fold.at,
        chain=fold.chain.hex(),
    )


def units(fold: Fold) -> Units:
    """Those of an experiment."""
    unit, risk = fold.spec.unit, fold.agent.risk
    if not unit:
        return Units()
    squared = isinstance(risk, MeanVariance) and math.isfinite(risk.rho)
    return Units(f" {unit}", f" {unit}²" if squared else f" {unit}", f" {unit}²")


def sentence(fold: Fold, leader: Leader | None) -> str:
    """How it stands, in one or two short sentences."""
    state = STATES[fold.status]
    if fold.frozen_to is not None:
        state = f"Frozen to {fold.labels[fold.frozen_to]}"
    if leader is None:
        return (
            f"{state}. Which arm is best cannot be said with confidence, since the support of rewards is not bounded."
        )
    sure = f"{100.0 * leader.level:g} % confidence"
    if not leader.left:
        return f"{state}. No arm is in play."
    if leader.arm is None:
        return f"{state}. No reward has been counted yet."
    if leader.decided and not leader.excluded:
        return f"{state}. {leader.arm} is the only arm in play."
    if leader.decided:
        certain = f"{leader.arm} is best, with {sure}. You may stop."
        doubtful = f"{leader.arm} would be best, with {sure}, but rewards have changed: find the reason first."
        return f"{state}. {doubtful if fold.changed else certain}"
    left = f"{len(leader.left)} of {len(leader.left) + len(leader.excluded)} arms may still be best."
    return f"{state}. {leader.arm} is ahead, but nothing is decided: {left}"


def text(value: float | None) -> str:
    """A number of the table."""
    return minus(number(value, 4))


def between(ends: Any) -> str:
    """An interval."""
    return "–" if ends is None else f"{minus(number(ends.low, 3))} to {minus(number(ends.high, 3))}"


def saved(summary: Summary, unit: str) -> str:
    """What learning has saved against an even split, in words."""
    if summary.saved is None:
        return "–"
    low, high = summary.saved
    if low >= 0.0:
        return f"{minus(number(low, 3))} to {minus(number(high, 3))}{unit} saved"
    if high <= 0.0:
        return f"{minus(number(-high, 3))} to {minus(number(-low, 3))}{unit} lost"
    return f"from {minus(number(-low, 3))} lost to {minus(number(high, 3))}{unit} saved"


def progress(facts: Facts) -> str:
    """How far the experiment has come."""
    so_far = counted(facts.decisions, "decision")
    return so_far if facts.horizon is None else f"{so_far} of the {count(facts.horizon)} planned"
