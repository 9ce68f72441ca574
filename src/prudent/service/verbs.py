"""What each request does: checks first, then events. Nothing here reads a clock or the database.

A verb checks everything before its first event, because what the fold has taken in cannot be taken back.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec

from prudent.errors import PrudentError
from prudent.service import messages as m
from prudent.service.problems import RequestError
from prudent.service.rails import after_reward
from prudent.service.spec import check_reward, check_text
from prudent.service.store import Experiment, Known, Row
from prudent.service.work import Work, conflict, decision_id, key_digest, refuse, seq_of, try_first, unit_digest


class Command(msgspec.Struct):
    """A request for an experiment. `decision` is the id in its address, `key` its idempotency key, `by` the token."""

    experiment: str
    request: m.Request
    decision: str | None = None
    key: str | None = None
    by: int = 0
    if_match: int | None = None

    @property
    def size(self) -> int:
        """How many events it may make, apart from those that follow by themselves."""
        request = self.request
        if isinstance(request, m.TellMany):
            return len(request.rewards)
        return request.count if isinstance(request, m.Ask) else 1


def perform(work: Work, command: Command) -> Any:
    """The answer to a command; its events are recorded."""
    if command.if_match is not None and command.if_match != work.fold.seq:
        raise RequestError(
            "state-changed", f"the experiment is at {work.fold.seq}, not at {command.if_match}; look again first"
        )
    return VERBS[type(command.request)](work, command)


def wanted_keys(work: Work, command: Command) -> list[bytes]:
    """The digests of keys and units that the command speaks of."""
    request = command.request
    found = [] if command.key is None else [key_digest(type(request).__name__, command.key)]
    if isinstance(request, m.Ask) and request.unit is not None and work.fold.spec.sticky:
        found.append(unit_digest(work.experiment, request.unit))
    if isinstance(request, m.TellMany):
        found += [key_digest("outside", told.key) for told in request.rewards if told.key is not None]
    return found


def wanted_decisions(command: Command) -> list[int]:
    """The numbers of the decisions that the command speaks of."""
    named = [command.decision]
    if isinstance(command.request, m.TellMany):
        named += [told.decision for told in command.request.rewards]
    return [seq for name in named if name is not None and (seq := seq_of(name)) is not None]


def again(work: Work, command: Command) -> Known | None:
    """What this key did before, if it did; another request with the same key is refused."""
    if command.key is None:
        return None
    known = work.known.get(key_digest(type(command.request).__name__, command.key))
    if known is not None and known.request != _fingerprint(work, command.request):
        raise RequestError("key-reused", "this key was used for another request; make a new key for each request")
    work.idle.again += known is not None
    return known


def key_of(work: Work, command: Command) -> bytes | None:
    """The digests of a command's key and of its request, as its event holds them."""
    if command.key is None:
        return None
    return key_digest(type(command.request).__name__, command.key) + _fingerprint(work, command.request)


def _fingerprint(work: Work, request: m.Request) -> bytes:
    """A digest of a request; of one that names a unit with the salt, so that nobody can tell who it was."""
    salt = work.experiment.salt if isinstance(request, m.Ask) and request.unit is not None else b""
    return hashlib.blake2b(msgspec.json.encode(request), key=salt, digest_size=8).digest()


def ask(work: Work, command: Command) -> m.Decisions:
    """Decisions: those of the same key or the same sticky unit if there are, else new ones."""
    request, fold, spec = command.request, work.fold, work.fold.spec
    assert isinstance(request, m.Ask)
    if known := again(work, command):
        return _shown_again(work, range(known.seq, known.seq + known.many))
    unit = None if request.unit is None else unit_digest(work.experiment, request.unit)
    if spec.sticky:
        if unit is None or request.count != 1:
            refuse("unit must be given, and count must be 1, because this experiment is sticky: one decision a unit")
        known = work.known.get(unit)
        if known is not None and work.decisions[known.seq].state != "withdrawn":  # which was never used
            return _shown_again(work, [known.seq])
    among = among_of(work, request.among)
    if fold.status in ("paused", "stopped"):
        return _fallback(work, request.count, among)
    if among is not None:
        try_first(work, lambda agent: agent.ask([fold.labels[i] for i in among]))
    details = ({} if among is None else {"among": among}) | ({"later": True} if request.activate == "later" else {})
    key = key_of(work, command)
    first = details if key is None or request.count == 1 else {**details, "many": request.count}
    made = [work.record("asked", command.by, first, key=key, unit=unit)]  # of several, the first carries the key
    made += [work.record("asked", command.by, details, unit=unit) for _ in range(request.count - 1)]
    return m.Decisions([shown(work, work.decisions[event.seq]) for event in made])


def among_of(work: Work, labels: list[str] | None) -> list[int] | None:
    """The arms to choose from: those asked for, of which a frozen experiment leaves one."""
    frozen, retired = work.fold.frozen_to, work.fold.retired
    numbers = None if labels is None else sorted({work.arm(label, "among") for label in labels})
    if numbers is not None and retired.intersection(numbers):
        out = ", ".join(repr(work.fold.labels[i]) for i in numbers if i in retired)
        refuse(f"among must hold no retired arm, got {out}")
    if frozen is None:
        return numbers
    if numbers is not None and frozen not in numbers:
        label = work.fold.labels[frozen]
        raise RequestError("not-running", f"the experiment is frozen to {label!r}, which is not among those asked for")
    return [frozen]


def _fallback(work: Work, count: int, among: list[int] | None) -> m.Decisions:
    """The fallback arm, which is no decision and is not counted."""
    arm, status = work.fold.fallback, work.fold.status
    number = None if arm is None else work.fold.numbers[arm]
    if arm is None or number in work.fold.retired or (among is not None and number not in among):
        why = (
            "it has no fallback arm"
            if arm is None
            else f"its fallback arm {arm!r} is retired or not among those asked for"
        )
        raise RequestError("not-running", f"the experiment is {status}, and {why}")
    return m.Decisions([m.Decision(None, arm, "fallback", why=f"the experiment is {status}")] * count)


def _shown_again(work: Work, seqs: Any) -> m.Decisions:
    return m.Decisions([shown(work, work.decisions[seq]) for seq in seqs], again=True)


def shown(work: Work, row: Row) -> m.Decision:
    """A decision as it is told to users, the same whenever it is told."""
    return shown_row(work.experiment, row, work.fold.labels)


def shown_row(experiment: Experiment, row: Row, labels: list[str], at: int | None = None) -> m.Decision:
    """A decision as it is told to users; a batch has no arm."""
    arm = "" if row.arm is None else labels[row.arm]
    metrics = None if row.body is None or row.arm is None else msgspec.json.decode(row.body)
    return m.Decision(decision_id(experiment, row), arm, row.state, row.due, row.value, metrics, at=at)


def tell(work: Work, command: Command) -> m.Recorded:
    """The reward of a decision."""
    assert isinstance(command.request, m.Tell)
    return _tell(work, command.decision or "", command.request, command.by)


def _tell(work: Work, decision: str, given: m.Tell | m.Told, by: int) -> m.Recorded:
    """The reward of a decision, once: the same again changes nothing, another one is refused."""
    row, spec = work.row(decision), work.fold.spec
    if row.arm is None:
        conflict("this is a batch; report its rewards with PUT /v1/batches/…")
    reward, metrics = _checked(work, given)
    body = None if not metrics else msgspec.json.encode(metrics, order="sorted").decode()
    when: Any = "when the window closes" if spec.waits else "now"
    arm = work.fold.labels[row.arm]
    if row.state in ("told", "done"):
        if (row.value, row.body) != (reward, body):
            raise RequestError("other-reward", f"the reward {row.value} is recorded already", stands=row.value)
        work.idle.again += 1
        return m.Recorded(decision, arm, reward, when, again=True)
    _check_open(work, row)
    details = {"metrics": metrics} if metrics else None
    work.record("told", by, details, decision=row.seq, arm=row.arm, value=reward)
    if not spec.waits:
        after_reward(work, row.arm)
    return m.Recorded(decision, arm, reward, when)


def _checked(work: Work, given: m.Tell | m.Told) -> tuple[float, dict[str, float]]:
    """Reward and metrics within their supports."""
    try:
        reward = check_reward("reward", "reward", given.reward, work.fold.agent.support)
        known = work.fold.spec.metrics
        if unknown := [name for name in given.metrics or () if name not in known]:
            refuse(f"metric {unknown[0]!r} is unknown; the experiment's metrics are {', '.join(known) or 'none'}")
        metrics = {
            name: check_reward("metrics", name, value, known[name].support)
            for name, value in (given.metrics or {}).items()
        }
    except PrudentError as error:
        refuse(str(error))
    return reward, metrics


def _check_open(work: Work, row: Row) -> None:
    """Refuse what comes too late, or before its time."""
    if row.state in ("defaulted", "expired") or work.closed(row):
        work.idle.late += 1
        raise RequestError("window-closed", "the window of this decision has closed, so that its reward came too late")
    if row.state == "withdrawn":
        conflict("this decision was withdrawn, so that it has no reward")
    if row.state == "waiting":
        conflict("this decision waits to be used; activate it first")


def tell_many(work: Work, command: Command) -> m.Results:
    """Many rewards, each with a result of its own."""
    assert isinstance(command.request, m.TellMany)
    results = [_one_of_many(work, told, command.by) for told in command.request.rewards]
    return m.Results(results, sum(result.problem is not None for result in results))


def _one_of_many(work: Work, told: m.Told, by: int) -> m.Result:
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


def _outside(work: Work, told: m.Told, by: int) -> m.Recorded:
    """A reward that no decision asked for, once for its key."""
    assert told.arm is not None
    assert told.key is not None
    arm, (reward, metrics) = work.arm(told.arm), _checked(work, told)
    digest = key_digest("outside", told.key)
    if known := work.known.get(digest):
        if known.request != _fingerprint(work, told):
            raise RequestError("key-reused", "this key was used for another reward; make a new key for each")
        work.idle.again += 1
        return m.Recorded(None, told.arm, reward, "now", again=True)
    details = {"metrics": metrics} if metrics else None
    work.record("outside", by, details, arm=arm, value=reward, key=digest + _fingerprint(work, told))
    after_reward(work, arm)
    return m.Recorded(None, told.arm, reward, "now")


def activate(work: Work, command: Command) -> m.Decision:
    """A decision that had waited is used: its window begins."""
    row = work.row(command.decision or "")
    if row.arm is None:
        conflict("this is a batch, which is used from the start")
    if row.state == "waiting":
        work.record("activated", command.by, decision=row.seq, arm=row.arm)
    elif row.state in ("withdrawn", "expired"):
        conflict(f"this decision is {row.state}")
    return shown(work, work.decisions[row.seq])


def withdraw(work: Work, command: Command) -> m.Decision:
    """A decision was not used."""
    row = work.row(command.decision or "")
    if row.arm is None:
        conflict("this is a batch; report it with PUT /v1/batches/…, where what was not used is taken back")
    if row.state in ("open", "waiting"):
        if work.closed(row):
            raise RequestError("window-closed", "the window of this decision has closed")
        work.record("withdrawn", command.by, decision=row.seq, arm=row.arm)
    elif row.state != "withdrawn":
        conflict(f"this decision has an outcome already: it is {row.state}")
    return shown(work, work.decisions[row.seq])


def _reason(work: Work, reason: str) -> dict[str, str]:
    try:
        check_text("request", "reason", reason)
    except PrudentError as error:
        refuse(str(error))
    return {"reason": reason}


def status_of(work: Work, **more: Any) -> m.Status:
    """The experiment in short."""
    return short(work.experiment.name, work.fold, **more)


def short(name: str, fold: Any, **more: Any) -> m.Status:
    """An experiment in short."""
    frozen = None if fold.frozen_to is None else fold.labels[fold.frozen_to]
    arms = [label for i, label in enumerate(fold.labels) if i not in fold.retired]
    return m.Status(name, fold.status, fold.seq, fold.at, arms, frozen, **more)


CHANGES: dict[type, tuple[str, tuple[str, ...]]] = {
    m.Pause: ("paused", ("running", "frozen")),
    m.Resume: ("resumed", ("paused", "frozen")),
    m.Freeze: ("frozen", ("running", "paused", "frozen")),
    m.Stop: ("stopped", ("running", "paused", "frozen")),
    m.AddArm: ("arm-added", ("running", "paused", "frozen")),
    m.Retire: ("arm-retired", ("running", "paused", "frozen")),
    m.Forget: ("forgotten", ("running", "paused", "frozen", "stopped")),
}
"""Which event a request makes, and in which states it may."""


def change(work: Work, command: Command) -> m.Status:
    """Pause, resume, freeze, stop, add or retire an arm, forget units: each with a reason."""
    if again(work, command):
        return status_of(work, again=True)
    request: Any = command.request
    kind, allowed = CHANGES[type(request)]
    if work.fold.status not in allowed:
        conflict(f"the experiment is {work.fold.status}; this needs it to be {' or '.join(allowed)}")
    details: dict[str, Any] = _reason(work, request.reason)
    arm = None
    if isinstance(request, m.AddArm):
        _check_new_arm(work, request.arm)
        details["arm"] = request.arm
    elif isinstance(request, m.Freeze | m.Retire):
        arm = work.arm(request.arm)
        if arm in work.fold.retired:
            conflict(f"arm {request.arm!r} is retired")
        if isinstance(request, m.Retire):
            _check_retire(work, arm)
            details |= _new_fallback(work, arm, request.fallback)
        else:
            try_first(work, lambda agent: agent.ask([request.arm]))
    work.record(kind, command.by, details, arm=arm, key=key_of(work, command))
    if isinstance(request, m.Forget):
        work.forget_units()
    return status_of(work)


def _check_new_arm(work: Work, label: str) -> None:
    try:
        check_text("request", "arm", label)
    except PrudentError as error:
        refuse(str(error))
    if label in work.fold.numbers:
        conflict(f"there is an arm {label!r} already")
    try_first(work, lambda agent: agent.add_arm(label))


def _check_retire(work: Work, arm: int) -> None:
    if arm == work.fold.frozen_to:
        conflict("the experiment is frozen to this arm; freeze it to another one first, or resume it")
    try_first(work, lambda agent: agent.retire(work.fold.labels[arm]))


def _new_fallback(work: Work, arm: int, label: str | None) -> dict[str, Any]:
    """The arm that is the fallback from now on, if the one that is retired was it."""
    old = work.fold.fallback
    if old != work.fold.labels[arm]:
        if label is not None:
            conflict(f"fallback names another fallback arm only when the fallback arm is retired, which is {old!r}")
        return {}
    if label is None:
        conflict(f"arm {old!r} is the fallback arm; name another one, as in fallback={_others(work, arm)[0]!r}")
    if label not in _others(work, arm):
        refuse(
            f"fallback must be another arm in play, one of {', '.join(map(repr, _others(work, arm)))}, got {label!r}"
        )
    return {"fallback": label}


def _others(work: Work, arm: int) -> list[str]:
    return [label for i, label in enumerate(work.fold.labels) if i != arm and i not in work.fold.retired]


def fell_back(work: Work, command: Command) -> m.Status:
    """A client answered by itself."""
    assert isinstance(command.request, m.Fallbacks)
    if again(work, command):
        return status_of(work, again=True)
    if work.fold.fallback is None:
        conflict("this experiment has no fallback arm")
    work.record("fell-back", command.by, {"count": command.request.count}, key=key_of(work, command))
    return status_of(work)


VERBS: dict[type, Callable[[Work, Command], Any]] = {
    m.Ask: ask,
    m.Tell: tell,
    m.TellMany: tell_many,
    m.Activate: activate,
    m.Withdraw: withdraw,
    m.Fallbacks: fell_back,
    **dict.fromkeys(CHANGES, change),
}
"""What carries out each kind of request; `batches` adds its own."""
