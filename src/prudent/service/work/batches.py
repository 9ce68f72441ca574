"""Many decisions at once: how a batch is divided over the arms, and its rewards as merged statistics.

A program at the edge takes a split, decides by itself, and reports count, mean and variance of each arm. Policies need
no more, so nothing is lost but freshness: rewards are seen when the batch is reported.
"""

import secrets

import msgspec

from prudent.base.errors import PrudentError, check_number
from prudent.live.agent import Agent
from prudent.service import messages as m
from prudent.service.log.events import Details
from prudent.service.log.store import Row
from prudent.service.problems import RequestError
from prudent.service.spec import LARGEST
from prudent.service.verbs import PLAYING
from prudent.service.work.transaction import Command, Transaction, conflict, refuse
from prudent.service.work.watch import after_reward

MergedRow = tuple[int, int, float, float]
"""Of an arm: how many decisions were not used, how many rewards there are, their mean and their variance."""


def split(work: Transaction, command: Command) -> m.Batch:
    """How the next decisions are to be divided."""
    request, state, spec = command.request, work.state, work.state.spec
    assert isinstance(request, m.Split)
    count = request.count
    if used := work.earlier(command.key_digest, request):
        return _reply(work, work.decisions[used.seq], again=True)
    if not spec.takes_batches:
        conflict(
            "batches need an experiment that is not sticky and has neither a window nor metrics; the edge has those"
        )
    if state.status not in PLAYING:
        raise RequestError("not-running", f"the experiment is {state.status}; use the fallback arm, if there is one")
    among = work.arms(request.among)
    labels = None if among is None else [state.labels[i] for i in among]
    work.try_first(lambda agent: agent.split(count, labels))
    details: Details = {"count": count, "seed": secrets.randbits(53)}
    details |= {} if among is None else {"among": among}
    event = work.record("split", command.by, details, key=work.key_of(command.key_digest, request))
    return _reply(work, work.decisions[event.seq])


def _reply(work: Transaction, row: Row, *, again: bool = False) -> m.Batch:
    details = msgspec.json.decode(row.body or "{}")
    arms = {label: count for label, count in zip(work.state.labels, details["arms"], strict=False) if count}
    return m.Batch(work.id_of(row), arms, details["seed"], again)


def merge(work: Transaction, command: Command) -> m.Merged:
    """The rewards of a batch, once."""
    request, state = command.request, work.state
    assert isinstance(request, m.Merge)
    row = work.row(command.decision)
    if row.arm is not None:
        conflict("this is a decision, not a batch; report its reward with PUT /v1/decisions/…/reward")
    details = msgspec.json.decode(row.body or "{}")
    given = {work.arm(label): part for label, part in request.arms.items()}
    rows: list[MergedRow] = []
    for arm, count in enumerate(details["arms"]):
        part = given.pop(arm, None)
        count_used = 0 if part is None else part.count
        if count_used > count:
            refuse(f"arm {state.labels[arm]!r}: the batch had {count} decisions, got {count_used} rewards")
        mean, variance = (0.0, 0.0) if part is None else _moments(part)
        rows.append((count - count_used, count_used, mean, variance))
    if given:
        refuse(f"arm {state.labels[min(given)]!r} was not part of the batch")
    if row.state == "done":
        if details.get("merged") != [list(row) for row in rows]:
            raise RequestError("other-reward", "other statistics of this batch are recorded already")
        work.unlogged.again += 1
        return _merged(work, row, rows, again=True)
    work.try_first(lambda agent: _try(agent, state.labels, rows))
    work.record("merged", command.by, {"arms": rows}, decision=row.seq)
    for arm, (_, count, _, _) in enumerate(rows):
        if count:
            after_reward(work, arm, count)
    return _merged(work, row, rows)


def _moments(part: m.Statistics) -> tuple[float, float]:
    """Mean and variance that a database keeps as they are."""
    try:
        mean = check_number("statistics", "mean", part.mean, low=-LARGEST, high=LARGEST) + 0.0
        return mean, check_number("statistics", "variance", part.variance, low=0.0, high=LARGEST**2) + 0.0
    except PrudentError as error:
        refuse(str(error))


def _try(agent: Agent, labels: list[str], rows: list[MergedRow]) -> None:
    for label, (unused, count, mean, variance) in zip(labels, rows, strict=False):
        if count:
            agent.merge(label, count, mean, variance)
        if unused:
            agent.withdraw(label, unused)


def _merged(work: Transaction, batch: Row, rows: list[MergedRow], *, again: bool = False) -> m.Merged:
    used = {label: row[1] for label, row in zip(work.state.labels, rows, strict=False) if row[1]}
    return m.Merged(work.id_of(batch), used, sum(row[0] for row in rows), again)
