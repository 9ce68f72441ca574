"""Decisions and their rewards, one by one: checks first, then events. Nothing here reads a clock or the database.

Everything is checked before the first event, because what the state has taken in cannot be taken back.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from prudent.base.errors import PrudentError
from prudent.service import messages as m
from prudent.service.log.store import Experiment, Row
from prudent.service.problems import RequestError
from prudent.service.spec import check_reward
from prudent.service.verbs import PLAYING
from prudent.service.work.transaction import (
    Command,
    Transaction,
    conflict,
    decision_id,
    key_digest,
    refuse,
    unit_digest,
)
from prudent.service.work.watch import after_reward


def ask(work: Transaction, command: Command) -> m.Decisions:
    """Decisions: those of the same key or the same sticky unit if there are, else new ones."""
    request, state, spec = command.request, work.state, work.state.spec
    assert isinstance(request, m.Ask)
    if used := work.earlier(command.key_digest, request):
        return _repeat(work, range(used.seq, used.seq + used.many))
    unit = None if request.unit is None else unit_digest(work.experiment, request.unit)
    if spec.sticky:
        if unit is None or request.count != 1:
            refuse("unit must be given, and count must be 1, because this experiment is sticky: one decision a unit")
        used = work.used_keys.get(unit)
        if used is not None and work.decisions[used.seq].state != "withdrawn":  # which was never used
            return _repeat(work, [used.seq])
    among = work.arms(request.among)
    if state.status not in PLAYING:
        return _fallback(work, request.count, among)
    if among is not None:
        work.try_first(lambda agent: agent.ask([state.labels[i] for i in among]))
    details = ({} if among is None else {"among": among}) | ({"later": True} if request.activate == "later" else {})
    key = work.key_of(command.key_digest, request)
    first = details if key is None or request.count == 1 else {**details, "many": request.count}
    events = [work.record("asked", command.by, first, key=key, unit=unit)]  # of several, the first carries the key
    events += [work.record("asked", command.by, details, unit=unit) for _ in range(request.count - 1)]
    return m.Decisions([_reply(work, event.seq) for event in events])


def _fallback(work: Transaction, count: int, among: list[int] | None) -> m.Decisions:
    """The fallback arm, which is no decision and is not counted."""
    arm, status = work.state.fallback, work.state.status
    number = None if arm is None else work.state.numbers[arm]
    if arm is None or number in work.state.retired or (among is not None and number not in among):
        why = (
            "it has no fallback arm"
            if arm is None
            else f"its fallback arm {arm!r} is retired or not among those asked for"
        )
        raise RequestError("not-running", f"the experiment is {status}, and {why}")
    return m.Decisions([m.Decision(None, arm, "fallback", why=f"the experiment is {status}")] * count)


def _repeat(work: Transaction, seqs: Iterable[int]) -> m.Decisions:
    return m.Decisions([_reply(work, seq) for seq in seqs], again=True)


def _reply(work: Transaction, seq: int) -> m.Decision:
    """A decision as users read it, the same whenever they do."""
    return decision_reply(work.experiment, work.decisions[seq], work.state.labels)


def decision_reply(experiment: Experiment, row: Row, labels: list[str], at: int | None = None) -> m.Decision:
    """A decision as users read it; a batch has no arm."""
    arm = "" if row.arm is None else labels[row.arm]
    metrics = None if row.body is None or row.arm is None else msgspec.json.decode(row.body)
    known: Any = {"at": at, "propensity": row.propensity}
    return m.Decision(decision_id(experiment, row), arm, row.state, row.due, row.value, metrics, **known)


def tell(work: Transaction, command: Command) -> m.Recorded:
    """The reward of a decision."""
    assert isinstance(command.request, m.Tell)
    return _tell(work, command.decision, command.request, command.by)


def track(work: Transaction, command: Command) -> m.Recorded:
    """The reward of the decision of a sticky unit."""
    request = command.request
    assert isinstance(request, m.Track)
    used = work.used_keys.get(unit_digest(work.experiment, request.unit)) if work.state.spec.sticky else None
    if used is None:
        raise RequestError("not-found", "this unit has no decision here, so that its event is no reward")
    decision = work.id_of(work.decisions[used.seq])
    return _tell(work, decision, m.Tell(request.reward, request.metrics), command.by)


def _tell(work: Transaction, decision: str | None, given: m.Tell | m.Told, by: int) -> m.Recorded:
    """The reward of a decision, once: the same again changes nothing, another one is refused."""
    row, spec = work.row(decision), work.state.spec
    if row.arm is None:
        conflict("this is a batch; report its rewards with PUT /v1/batches/…")
    reward, metrics = _values(work, given)
    body = None if not metrics else msgspec.json.encode(metrics, order="sorted").decode()
    when: m.Counting = "when the window closes" if spec.waits else "now"
    arm = work.state.labels[row.arm]
    if row.state in ("told", "done"):
        if (row.value, row.body) != (reward, body):
            raise RequestError("other-reward", f"the reward {row.value} is recorded already", stands=row.value)
        work.unlogged.again += 1
        return m.Recorded(decision, arm, reward, when, again=True)
    _check_open(work, row)
    details = {"metrics": metrics} if metrics else None
    work.record("told", by, details, decision=row.seq, arm=row.arm, value=reward)
    if not spec.waits:
        after_reward(work, row.arm)
    return m.Recorded(decision, arm, reward, when)


def _values(work: Transaction, given: m.Tell | m.Told) -> tuple[float, dict[str, float]]:
    """Reward and metrics within their supports."""
    try:
        reward = check_reward("reward", "reward", given.reward, work.state.agent.support, work.state.agent.values)
        expected = work.state.spec.metrics
        if unknown := [name for name in given.metrics or () if name not in expected]:
            refuse(f"metric {unknown[0]!r} is unknown; the experiment's metrics are {', '.join(expected) or 'none'}")
        metrics = {
            name: check_reward("metrics", name, value, expected[name].support)
            for name, value in (given.metrics or {}).items()
        }
    except PrudentError as error:
        refuse(str(error))
    return reward, metrics


def _check_open(work: Transaction, row: Row) -> None:
    """Refuse what comes too late, or before its time."""
    if row.state in ("defaulted", "expired") or work.closed(row):
        work.unlogged.late += 1
        raise RequestError("window-closed", "the window of this decision has closed, so that its reward came too late")
    if row.state == "withdrawn":
        conflict("this decision was withdrawn, so that it has no reward")
    if row.state == "waiting":
        conflict("this decision waits to be used; activate it first")


def tell_many(work: Transaction, command: Command) -> m.Results:
    """Many rewards, each with a result of its own."""
    assert isinstance(command.request, m.TellMany)
    results = [_one_of_many(work, told, command.by) for told in command.request.rewards]
    return m.Results(results, sum(result.problem is not None for result in results))


def _one_of_many(work: Transaction, told: m.Told, by: int) -> m.Result:
    try:
        if told.decision is not None and told.arm is None and told.key is None:
            recorded = _tell(work, told.decision, told, by)
        elif told.decision is None and told.arm is not None and told.key is not None:
            recorded = _outside(work, told, by)
        else:
            refuse("a reward has either a decision, or an arm and a key if it comes from outside")
        return m.Result(200 if recorded.again else 201, recorded)
    except RequestError as error:
        return m.Result(error.status, problem=error.as_dict())


def _outside(work: Transaction, told: m.Told, by: int) -> m.Recorded:
    """A reward that no decision asked for, once for its key."""
    assert told.arm is not None
    assert told.key is not None
    arm, (reward, metrics) = work.arm(told.arm), _values(work, told)
    digest = key_digest("outside", told.key)
    if work.earlier(digest, told, "reward"):
        return m.Recorded(None, told.arm, reward, "now", again=True)
    details = {"metrics": metrics} if metrics else None
    work.record("outside", by, details, arm=arm, value=reward, key=work.key_of(digest, told))
    after_reward(work, arm)
    return m.Recorded(None, told.arm, reward, "now")


def activate(work: Transaction, command: Command) -> m.Decision:
    """A decision that had waited is used: its window begins."""
    row = work.row(command.decision)
    if row.arm is None:
        conflict("this is a batch, which is used from the start")
    if row.state == "waiting":
        work.record("activated", command.by, decision=row.seq, arm=row.arm)
    elif row.state in ("withdrawn", "expired"):
        conflict(f"this decision is {row.state}")
    return _reply(work, row.seq)


def withdraw(work: Transaction, command: Command) -> m.Decision:
    """A decision was not used."""
    row = work.row(command.decision)
    if row.arm is None:
        conflict("this is a batch; report it with PUT /v1/batches/…, where what was not used is taken back")
    if row.state in ("open", "waiting"):
        if work.closed(row):
            raise RequestError("window-closed", "the window of this decision has closed")
        work.record("withdrawn", command.by, decision=row.seq, arm=row.arm)
    elif row.state != "withdrawn":
        conflict(f"this decision has an outcome already: it is {row.state}")
    return _reply(work, row.seq)
