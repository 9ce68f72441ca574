"""A view as the bodies of the API: the whole of an experiment, and what is known of its arms."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from prudent.service.messages import Answer, Status
from prudent.service.spec import Spec
from prudent.service.views.view import View
from prudent.service.views.words import change_in_words, past_horizon

Ends = tuple[float | None, float | None]


class Shown(Status, kw_only=True):
    """An experiment with its spec and the end of its chain, which you can keep elsewhere to compare."""

    spec: Spec
    chain: str
    fell_back: int
    repeated: int
    """Requests that came again and were answered as before."""
    late: int
    """Rewards that were refused, because their window had closed."""
    fallback: str | None = None
    """The arm to use while the experiment is paused or stopped; another one than in the spec if that was retired."""
    past_horizon: str | None = None
    """What that means, if more decisions were made than were planned."""


class KnownMetric(Answer):
    """What is known of another metric under an arm: how many values there were, their mean and variance, and where the
    true ones lie."""

    count: int
    mean: float | None
    variance: float | None
    mean_interval: Ends | None
    variance_interval: Ends | None


class KnownArm(Answer):
    """What is known of an arm, in the order of the spec. Ends of intervals are null where nothing is known.

    `open` decisions wait for a reward. `asked` to `outside` say what became of its decisions. `best` is the probability
    of being best, if one accepts the model that `posterior` names. Differences are this arm minus the control: of
    means, of standard deviations and of costs.
    """

    arm: str
    pulls: int
    mean: float | None
    variance: float | None
    cost: float | None
    open: int
    retired: bool
    mean_interval: Ends | None
    variance_interval: Ends | None
    cost_interval: Ends | None
    asked: int
    told: int
    defaulted: int
    expired: int
    withdrawn: int
    outside: int
    best: float | None
    mean_difference: Ends | None
    deviation_difference: Ends | None
    cost_difference: Ends | None
    metrics: dict[str, KnownMetric]


class Ahead(Answer):
    """Which arm is ahead, and what is certain about it."""

    arm: str | None
    decided: bool
    left: list[str]
    excluded: list[str]
    rounds: float | None
    sentence: str


class SoFar(Answer):
    """All rewards as one sequence. `variance` is that `within` arms plus that from `moving` between them, which is the
    exploration risk. `regret` per round, the cost of an `even` split and what was `saved` against it are intervals."""

    rewards: int
    mean: float | None
    variance: float | None
    within: float | None
    moving: float | None
    cost: float | None
    regret: Ends | None
    even: Ends | None
    saved: Ends | None
    sentence: str


class AnswerRates(Answer):
    """What share of the decisions of each arm got a reward before its window closed, as intervals. `less` is answered
    less often than `more`, if that is certain; then outcomes get lost, and perhaps not by chance."""

    rates: dict[str, Ends]
    less: str | None
    more: str | None
    sentence: str


class Fired(Answer):
    """A guardrail of the spec, by its place from 0, that has acted on an arm."""

    rail: int
    arm: str


class ChangedArm(Answer):
    """An arm whose rewards have surely changed: after how many `rewards` this was certain, and in words how."""

    arm: str
    rewards: int
    sentence: str


class Estimates(Answer):
    """What is known at this event. Each interval holds at all times with probability `level`."""

    experiment: str
    status: str
    seq: int
    at: int
    level: float
    arms: list[KnownArm]
    leader: Ahead | None
    summary: SoFar
    answered: AnswerRates | None
    rails: list[Fired]
    changed: list[ChangedArm]
    why: str | None
    """Why there are no intervals and no leader, if so."""
    control: str | None
    """The arm with which the others are compared: the one that was asked for, or that of the spec, if there is one."""
    posterior: str
    """The probabilities of being best in words, with the model behind them; or why there are none."""
    past_horizon: str | None = None
    """What that means, if more decisions were made than were planned."""


class Checked(Answer):
    """What a replay of the whole log showed. `first_bad` is the first event that is altered, missing or misplaced."""

    ok: bool
    events: int
    seconds: float
    chain: str
    first_bad: int | None
    why: str | None


def shown(view: View) -> Shown:
    """The whole of an experiment."""
    state, row = view.state, view.experiment
    parts = msgspec.structs.asdict(view.status)
    beside: dict[str, Any] = {"fell_back": state.fell_back, "repeated": row.again, "late": row.late}
    beside |= {"fallback": state.fallback, "past_horizon": past_horizon(state) or None}
    return Shown(**parts, spec=state.spec, chain=state.chain.hex(), **beside)


def estimates(view: View, level: float, control: str | None = None) -> Estimates:
    """What is known of the arms, and of their differences from the control."""
    state, status = view.state, view.status
    control = state.spec.control if control is None else control
    leader, none = view.foreseen(level), [None] * len(state.labels)
    intervals: Sequence[Any] = view.intervals(level) or none
    apart: Sequence[Any] = (None if control is None else view.differences(control, level)) or none
    best = view.posterior.best or {}
    rows = zip(view.estimates, intervals, apart, state.tally, _metrics(view, level), strict=True)
    return Estimates(
        experiment=status.experiment,
        status=status.status,
        seq=status.seq,
        at=status.at,
        level=level,
        arms=[_arm(*parts, best.get(parts[0].arm)) for parts in rows],
        leader=None if leader is None else _ahead(leader),
        summary=_so_far(view.summary(level)),
        answered=_answered(view) if state.spec.waits else None,
        rails=[Fired(rail, state.labels[arm]) for rail, arm in sorted(state.fired)],
        changed=changed_arms(state),
        why=view.why,
        control=control,
        posterior=str(view.posterior),
        past_horizon=past_horizon(state) or None,
    )


def _metrics(view: View, level: float) -> list[dict[str, KnownMetric]]:
    """Of each arm the other metrics by their names."""
    found: list[dict[str, KnownMetric]] = [{} for _ in view.state.labels]
    for name in view.state.spec.metrics:
        for arm, (known, ends) in zip(found, view.metric(name, level), strict=True):
            about = known.pulls, known.mean, known.variance
            arm[name] = KnownMetric(*about, _ends(ends.mean), _ends(ends.variance))
    return found


def _arm(
    found: Any, intervals: Any, difference: Any, tally: Any, metrics: dict[str, KnownMetric], best: float | None
) -> KnownArm:
    mean, variance, cost = (_ends(getattr(intervals, name, None)) for name in ("mean", "variance", "cost"))
    apart = {name: _ends(getattr(difference, name, None)) for name in ("mean", "deviation", "cost")}
    return KnownArm(
        arm=found.arm,
        pulls=found.pulls,
        mean=found.mean,
        variance=found.variance,
        cost=finite(found.cost),
        open=found.open_asks,
        retired=found.retired,
        mean_interval=mean,
        variance_interval=variance,
        cost_interval=cost,
        best=best,
        mean_difference=apart["mean"],
        deviation_difference=apart["deviation"],
        cost_difference=apart["cost"],
        metrics=metrics,
        **asdict(tally),
    )


def _ahead(leader: Any) -> Ahead:
    return Ahead(
        arm=leader.arm,
        decided=leader.decided,
        left=list(leader.left),
        excluded=list(leader.excluded),
        rounds=finite(leader.rounds),
        sentence=str(leader),
    )


def _so_far(summary: Any) -> SoFar:
    parts: dict[str, Any] = {name: _ends(getattr(summary, name)) for name in ("regret", "even", "saved")}
    parts |= {name: finite(getattr(summary, name)) for name in ("mean", "variance", "within", "moving", "cost")}
    return SoFar(rewards=summary.rewards, **parts, sentence=str(summary))


def changed_arms(state: Any) -> list[ChangedArm]:
    """Arms whose rewards have surely changed."""
    return [
        ChangedArm(state.labels[arm], details["rewards"], change_in_words(state.labels[arm], details))
        for arm, details in sorted(state.changed.items())
    ]


def _answered(view: View) -> AnswerRates:
    found = view.answers
    rates: dict[str, Ends] = {arm: (ends.low, ends.high) for arm, ends in found.rates.items()}
    return AnswerRates(rates, found.less, found.more, str(found))


def _ends(interval: Any) -> Ends | None:
    return None if interval is None else (finite(interval.low), finite(interval.high))


def finite(number: float | None) -> float | None:
    """JSON knows no infinity."""
    return number if number is not None and math.isfinite(number) else None
