"""Changes of an experiment by people, and what clients did by themselves. `service/verbs.py` says what there is; here
stands what only some of the verbs check."""

from collections.abc import Callable

from prudent.service import messages as m
from prudent.service.log.events import Details
from prudent.service.log.state import ExperimentState
from prudent.service.work.transaction import Command, Transaction, check_words, conflict, refuse


def status_of(name: str, state: ExperimentState) -> m.Status:
    """An experiment in short."""
    frozen = None if state.frozen_to is None else state.labels[state.frozen_to]
    arms = [label for i, label in enumerate(state.labels) if i not in state.retired]
    return m.Status(name, state.status, state.seq, state.at, arms, frozen)


def change(work: Transaction, command: Command) -> m.Status:
    """Carry out a verb, with its reason."""
    request = command.request
    assert isinstance(request, m.Change)
    verb = request.verb
    if work.earlier(command.key_digest, request):
        return _again(work)
    if work.state.status not in verb.states:
        conflict(f"the experiment is {work.state.status}; this needs it to be {' or '.join(verb.states)}")
    check_words("reason", request.reason)
    details: Details = {"reason": request.reason}
    if verb.erases:  # so that what is left can be checked without what is not
        details["chain"] = work.state.chain.hex()
    arm = None
    for field in verb.fields:
        label = getattr(request, field.name)
        if field.kind == "new":
            _check_new(work, label)
            details[field.name] = label
        elif field.kind == "arm":
            arm = work.arm(label)
            if arm in work.state.retired:
                conflict(f"arm {label!r} is retired")
    if arm is not None and verb.name in _CHECKS:
        details |= _CHECKS[verb.name](work, arm, request)
    work.record(verb.event, command.by, details, arm=arm, key=work.key_of(command.key_digest, request))
    if verb.forgets_units:
        work.forget_units()
    return status_of(work.experiment.name, work.state)


def _again(work: Transaction) -> m.Status:
    status = status_of(work.experiment.name, work.state)
    status.again = True
    return status


def _check_new(work: Transaction, label: str) -> None:
    check_words("arm", label)
    if label in work.state.numbers:
        conflict(f"there is an arm {label!r} already")
    work.try_first(lambda agent: agent.add_arm(label))


def _check_freeze(work: Transaction, arm: int, request: m.Change) -> Details:
    work.try_first(lambda agent: agent.ask([work.state.labels[arm]]))
    return {}


def _check_retire(work: Transaction, arm: int, request: m.Change) -> Details:
    """Whether the arm can go, and the fallback arm from now on, if it was that."""
    state, fallback = work.state, getattr(request, "fallback", None)
    label, old = state.labels[arm], state.fallback
    if arm == state.frozen_to:
        conflict("the experiment is frozen to this arm; freeze it to another one first, or resume it")
    work.try_first(lambda agent: agent.retire(label))
    if old != label:
        if fallback is not None:
            conflict(f"fallback names another fallback arm only when the fallback arm is retired, which is {old!r}")
        return {}
    others = [other for i, other in enumerate(state.labels) if i != arm and i not in state.retired]
    if fallback is None:
        conflict(f"arm {old!r} is the fallback arm; name another one, as in fallback={others[0]!r}")
    if fallback not in others:
        refuse(f"fallback must be another arm in play, one of {', '.join(map(repr, others))}, got {fallback!r}")
    return {"fallback": fallback}


_CHECKS: dict[str, Callable[[Transaction, int, m.Change], Details]] = {
    "freeze": _check_freeze,
    "retire": _check_retire,
}
"""What a verb checks of the arm that it names, and adds to the details of its event."""


def count_fallbacks(work: Transaction, command: Command) -> m.Status:
    """A client answered by itself."""
    request = command.request
    assert isinstance(request, m.Fallbacks)
    if work.earlier(command.key_digest, request):
        return _again(work)
    if work.state.fallback is None:
        conflict("this experiment has no fallback arm")
    key = work.key_of(command.key_digest, request)
    work.record("fell-back", command.by, {"count": request.count}, key=key)
    return status_of(work.experiment.name, work.state)
