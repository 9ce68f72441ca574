"""What is read of an experiment: the whole of it, what is known of its arms, and its decisions as a file."""

import asyncio
import csv
import io
import math
import re
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

import msgspec

from prudent.errors import PrudentError
from prudent.live.answers import Answers, answer_rates
from prudent.live.changes import Change
from prudent.service.messages import Answer, Decision, Status
from prudent.service.routes import NDJSON
from prudent.service.spec import Spec
from prudent.service.work import seq_of
from prudent.text import count

PAGE = 10_000
"""Decisions that are read at a time."""

MEDIA = {"csv": "text/csv; charset=utf-8", "ndjson": NDJSON, "parquet": "application/vnd.apache.parquet"}
COLUMNS = ("decision", "arm", "state", "at", "due", "reward")
BLANKS = r"[\s\0-\x20\x7f-\xa0\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"
FORMULA = re.compile(rf"{BLANKS}[=+\-@＝＋－＠−']")
"""What spreadsheets may take for a formula: a sign of one, also of full width, after blanks of all kinds. What begins
with an apostrophe is like them, so that the one that is put before them can be told from one that was there."""

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


class KnownArm(Answer):
    """What is known of an arm, in the order of the spec. Ends of intervals are null where nothing is known.

    `open` decisions wait for a reward. `asked` to `outside` say what became of its decisions.
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


def shown(view: Any) -> Shown:
    """The whole of an experiment."""
    fold, row = view.fold, view.experiment
    parts = msgspec.structs.asdict(view.status)
    beside = {"fell_back": fold.fell_back, "repeated": row.again, "late": row.late}
    beside |= {"fallback": fold.fallback, "past_horizon": past_horizon(fold) or None}
    return Shown(**parts, spec=fold.spec, chain=fold.chain.hex(), **beside)


def estimates(view: Any, level: float) -> Estimates:
    """What is known of the arms."""
    fold, status = view.fold, view.status
    agent, why = fold.agent, None
    known = [None] * len(fold.labels)
    leader = None
    try:
        known, leader = agent.intervals(level), agent.leader(level)
    except PrudentError as error:  # the support is not bounded
        why = str(error)
    return Estimates(
        experiment=status.experiment,
        status=status.status,
        seq=status.seq,
        at=status.at,
        level=level,
        arms=[_arm(*parts) for parts in zip(agent.estimates(), known, fold.tally, strict=True)],
        leader=None if leader is None else _ahead(leader),
        summary=_so_far(agent.summary(level)),
        answered=_answered(fold) if fold.spec.waits else None,
        rails=[Fired(rail, fold.labels[arm]) for rail, arm in sorted(fold.fired)],
        changed=changed_arms(fold),
        why=why,
        past_horizon=past_horizon(fold) or None,
    )


def past_horizon(fold: Any) -> str:
    """What it means that more decisions were made than were planned; empty if there were not."""
    if not fold.past_horizon:
        return ""
    made = sum(tally.asked for tally in fold.tally)
    return (
        f"{count(made)} decisions were made, and {count(fold.spec.horizon)} were planned. The policy goes on, but it"
        " was chosen for the plan: stop the experiment, or plan a longer one."
    )


def _arm(found: Any, intervals: Any, tally: Any) -> KnownArm:
    mean, variance, cost = (_ends(getattr(intervals, name, None)) for name in ("mean", "variance", "cost"))
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


def changed_arms(fold: Any) -> list[ChangedArm]:
    """Arms whose rewards have surely changed."""
    return [
        ChangedArm(fold.labels[arm], details["rewards"], change_in_words(fold.labels[arm], details))
        for arm, details in sorted(fold.changed.items())
    ]


def change_in_words(arm: str, details: dict[str, Any]) -> str:
    """That the rewards of an arm have changed, and how, by the details of its event."""
    change = Change(**{name: details[name] for name in Change._fields})
    return f"The rewards of {arm} have changed: {change}."


def answers_of(fold: Any) -> Answers:
    """How often decisions of each arm were answered.

    Where rewards wait for their window, of decisions whose window has closed: those that are answered but still open do
    not count, since those that are not answered are known only later. Otherwise of decisions that were told, expired or
    withdrawn.
    """
    counts = {}
    for known, tally in zip(fold.agent.estimates(), fold.tally, strict=True):
        answered = known.pulls - tally.defaulted - tally.outside
        withdrawn = 0 if fold.spec.waits else tally.withdrawn
        counts[known.arm] = answered + tally.defaulted + tally.expired + withdrawn, answered
    return answer_rates(counts)


def _answered(fold: Any) -> AnswerRates:
    found = answers_of(fold)
    rates: dict[str, Ends] = {arm: (ends.low, ends.high) for arm, ends in found.rates.items()}
    return AnswerRates(rates, found.less, found.more, str(found))


def _ends(interval: Any) -> Ends | None:
    return None if interval is None else (finite(interval.low), finite(interval.high))


def finite(number: float | None) -> float | None:
    """JSON knows no infinity."""
    return number if number is not None and math.isfinite(number) else None


async def exported(service: Any, view: Any, kind: str) -> AsyncIterator[bytes]:
    """All decisions up to now, a part of the file at a time. No part is kept longer than it takes to send it."""
    metrics = sorted(view.fold.spec.metrics)
    if kind == "parquet":
        frames = [await asyncio.to_thread(_frame, page, metrics) async for page in _pages(service, view)]
        yield await asyncio.to_thread(_parquet, frames or [_frame([], metrics)])
        return
    if kind == "csv":
        yield _csv([[*COLUMNS, *metrics]])
    async for page in _pages(service, view):
        if kind == "csv":
            yield _csv([_cells(decision, metrics) for decision in page])
        else:
            yield b"".join(msgspec.json.encode(decision) + b"\n" for decision in page)


async def _pages(service: Any, view: Any) -> AsyncIterator[list[Decision]]:
    after = 0
    while after < view.fold.seq:
        page = await asyncio.to_thread(service.decisions, view.experiment.name, after, PAGE)
        if page:
            yield page
        if len(page) < PAGE:
            return
        after = seq_of(page[-1].decision or "") or after


def _cells(decision: Decision, metrics: list[str]) -> list[Any]:
    return [*(getattr(decision, name) for name in COLUMNS), *((decision.metrics or {}).get(name) for name in metrics)]


def _csv(rows: list[list[Any]]) -> bytes:
    """Lines of CSV. Text that a spreadsheet would take for a formula gets an apostrophe, which makes it text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[_guarded(cell) for cell in row] for row in rows])
    return text.getvalue().encode()


def _guarded(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def _frame(decisions: list[Decision], metrics: list[str]) -> Any:
    import polars

    text, count, number = polars.String, polars.Int64, polars.Float64
    kinds = [text, text, text, count, count, number, *[number] * len(metrics)]
    schema = dict(zip([*COLUMNS, *metrics], kinds, strict=True))
    return polars.DataFrame([_cells(each, metrics) for each in decisions], schema=schema, orient="row")


def _parquet(frames: list[Any]) -> bytes:
    import polars

    file = io.BytesIO()
    polars.concat(frames).write_parquet(file)
    return file.getvalue()
