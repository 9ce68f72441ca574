"""What the page, the list and the report of an experiment say: numbers as text, sentences, and ends of intervals.

It takes as long with a million decisions as with ten, since nothing here looks at single decisions. Amounts are in the
unit of outcomes. All intervals of a page hold together: each of K arms has its share of what may fail.
"""

import math
from typing import NamedTuple

from prudent.base.text import count, counted, risk_name
from prudent.live.forecast import percent
from prudent.live.stopping import Leader
from prudent.live.summary import Summary
from prudent.service.log.state import ExperimentState
from prudent.service.spec import LEVEL
from prudent.service.verbs import ENDED
from prudent.service.views.amounts import Ends, Units, between, estimate, finite, is_squared, saved, text, units
from prudent.service.views.answers import (
    Apart,
    Gain,
    difference,
    gains,
    leads,
    may_stop,
    other_differences,
    plus,
    received,
    sentence,
)
from prudent.service.views.view import View


class ArmFacts(NamedTuple):
    """A row of the table of arms, as text and, for pictures, as numbers; rates are in percent. `more` is how much
    larger its mean is than that of the control, `apart` the same of spread and cost if the risk is not the mean, and
    `chance` the probability that it is the best."""

    label: str
    retired: bool
    excluded: bool
    asked: int
    share: float
    recent: float
    rewards: int
    open: int
    mean: str
    mean_interval: str
    more: str
    more_interval: str
    apart: list[Apart]
    chance: str
    deviation: str
    cost: str
    cost_interval: str
    mean_value: float | None
    mean_ends: Ends | None
    more_value: float | None
    more_ends: Ends | None
    cost_value: float | None
    cost_ends: Ends | None

    @property
    def out(self) -> bool:
        """Whether it is out of the race."""
        return self.retired or self.excluded


class Facts(NamedTuple):
    """Everything that a page says of an experiment, apart from pictures over time."""

    name: str
    state: str
    ended: bool
    sentence: str
    leads: str
    may_stop: str
    gains: list[Gain]
    received: str
    control: str
    why: str
    policy: str
    risk: str
    squared: bool
    better: str
    unit: str
    note: str
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


def facts(
    view: View, recent: dict[int, int], control: str | None = None, pace: float | None = None, *, brief: bool = False
) -> Facts:
    """Of an experiment. `recent` are the decisions of each arm among the last ones, `control` is the arm with which
    others are compared, and `pace` the decisions an hour. The list needs them `brief`."""
    state, spec, summary = view.state, view.state.spec, view.summary()
    control = control_of(state, control)
    leader, known = view.leader() if brief else view.foreseen(), units(state)
    return Facts(
        name=view.experiment.name,
        state=state.status,
        ended=state.status in ENDED,
        sentence=sentence(state, leader),
        leads="" if brief else leads(view, leader, control),
        may_stop="" if brief else may_stop(view, leader, pace),
        gains=[] if brief else gains(view, leader, control),
        received=received(summary, known),
        control=control,
        why=view.why or summary.why,
        policy=spec.policy,
        risk=risk_name(state.agent.risk),
        squared=is_squared(state),
        better="larger" if spec.larger_is_better else "smaller",
        unit=spec.unit,
        note=spec.note,
        units=known,
        horizon=spec.horizon,
        rewards=summary.rewards,
        decisions=view.asked,
        level=LEVEL,
        arms=[] if brief else arms(view, recent, leader, state.numbers[control]),
        summary=summary,
        regret=between(summary.regret),
        saved=saved(summary, known.cost),
        within=summary.within or 0.0,
        moving=summary.moving or 0.0,
        seq=state.seq,
        at=state.at,
        chain=state.chain.hex(),
    )


def control_of(state: ExperimentState, asked: str | None = None) -> str:
    """The arm with which others are compared: the one that is asked for, that of the spec, the fallback arm, or the
    first."""
    known = asked if asked in state.numbers else state.spec.control or state.fallback
    return known if known is not None else state.labels[0]


def arms(view: View, recent: dict[int, int], leader: Leader | None, control: int) -> list[ArmFacts]:
    """A row for each arm."""
    state, lately, unit = view.state, sum(recent.values()), units(view.state)
    joint, chances = view.joint(), view.posterior.best or {}
    excluded = set() if leader is None else set(leader.excluded)
    found = []
    for i, known in enumerate(view.estimates):
        label, tally = state.labels[i], state.tally[i]
        ends = None if joint is None else joint[i]
        mean, mean_ends = unit.scaled(known.mean), unit.scaled_ends(finite(None if ends is None else ends.mean))
        more, more_ends = difference(view, i, control)
        more, more_ends = unit.scaled(more), unit.scaled_ends(more_ends)
        cost_ends = finite(None if ends is None else ends.cost)
        found.append(
            ArmFacts(
                label=label,
                retired=known.retired,
                excluded=label in excluded,
                asked=tally.asked,
                share=tally.asked / view.asked if view.asked else 0.0,
                recent=recent.get(i, 0) / lately if lately else 0.0,
                rewards=known.pulls,
                open=known.open_asks,
                mean=estimate(mean, mean_ends),
                mean_interval=between(mean_ends),
                more=plus(more, more_ends),
                more_interval=between(more_ends, sign=True),
                apart=other_differences(view, i, control),
                chance=percent(chances[label]) if label in chances else "–",
                deviation=text(None if known.variance is None else math.sqrt(known.variance)),
                cost=estimate(known.cost, cost_ends),
                cost_interval=between(cost_ends),
                mean_value=mean,
                mean_ends=mean_ends,
                more_value=more,
                more_ends=more_ends,
                cost_value=known.cost,
                cost_ends=cost_ends,
            )
        )
    return found


def progress(facts: Facts) -> str:
    """How far the experiment has come."""
    so_far = counted(facts.decisions, "decision")
    return so_far if facts.horizon is None else f"{so_far} of the {count(facts.horizon)} planned"
