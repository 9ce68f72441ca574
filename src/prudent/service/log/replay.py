"""Reading a log: its events in order, the state that they lead to, and whether each is the one that was written."""

import contextlib
from collections.abc import Iterator

import msgspec

from prudent.base.errors import PrudentError
from prudent.service.log.events import LINK, Event
from prudent.service.log.state import ExperimentState, LogError
from prudent.service.log.store import Experiment, Store
from prudent.service.spec import Spec, decoded

EVENTS_AT_A_TIME = 10_000


def newest(store: Store, experiment: Experiment, *, writing: bool = False) -> ExperimentState:
    """The state at the newest snapshot that can be read and fits the log, or at the beginning."""
    spec = decoded(experiment.spec)
    for seq, text in store.snapshots(experiment.id, writing=writing).items():
        if seq <= experiment.seq:
            with contextlib.suppress(PrudentError, LookupError, TypeError, ValueError):  # a page of it was damaged
                state = ExperimentState.from_json(spec, text)
                links = [link for _, link in store.events(experiment.id, seq - 1, 1, writing=writing)]
                if (state.seq, [state.chain[:LINK]]) == (seq, links):
                    return state
    return ExperimentState(spec)


def catch_up(store: Store, state: ExperimentState, experiment: Experiment, *, writing: bool = False) -> None:
    """Take in the events that are missing."""
    for event, link in events_of(store, experiment, state.seq, writing=writing):
        take_in(state, event, link)
    if state.seq < experiment.seq:
        raise LogError(f"event {state.seq + 1} is missing")


def events_of(
    store: Store, experiment: Experiment, after: int = 0, *, writing: bool = False
) -> Iterator[tuple[Event, bytes]]:
    """Events with their links, from the one after that number to where the experiment is, or as far as there are any;
    some thousands are held at a time."""
    while after < experiment.seq:
        limit = min(EVENTS_AT_A_TIME, experiment.seq - after)
        events = store.events(experiment.id, after, limit, writing=writing)
        if not events:
            return
        yield from events
        after = events[-1][0].seq


def take_in(state: ExperimentState, event: Event, link: bytes) -> None:
    """Take the next event in; `LogError` if it is not the one that was written."""
    seq = state.seq + 1
    try:
        if seq == 1 and (event.kind != "created" or msgspec.convert(event.details["spec"], Spec) != state.spec):
            raise LogError("the experiment was created with another spec")
        whole = state.apply(event)
    except LogError:
        raise
    except Exception as error:
        raise LogError(f"event {seq} cannot have happened: {error}") from error
    if whole != event or state.chain[:LINK] != link:
        raise LogError(f"event {seq} is not the one that was written")
