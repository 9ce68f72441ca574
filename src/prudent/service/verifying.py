"""Whether a log is whole: every event follows from those before it, and its chain is the one recorded."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from prudent.service.events import LINK, Event
from prudent.service.fold import Fold, LogError
from prudent.service.spec import decoded
from prudent.service.store import Experiment, Store

PAGE = 10_000


class Verified(NamedTuple):
    """What a replay of the log showed; `first_bad` is the number of the first event that is altered, missing or
    misplaced, and `chain` the end of the chain, which you can keep elsewhere to compare."""

    ok: bool
    events: int
    seconds: float
    chain: str
    first_bad: int | None = None
    why: str | None = None


def verify(store: Store, experiment: Experiment) -> Verified:
    """Replay all events up to where the experiment is, and compare choices, links, snapshots, and the end."""
    since = time.perf_counter()
    fold = Fold(decoded(experiment.spec))
    snapshots = {seq: state for seq, state in store.snapshots(experiment.id).items() if seq <= experiment.seq}
    bad: tuple[int, str] | None = None
    seq = 1
    try:
        for event, link in _log(store, experiment):
            seq = fold.seq + 1
            check_next(fold, event, link)
            if fold.seq in snapshots and fold.to_json() != snapshots[fold.seq]:
                bad = fold.seq, "the snapshot of this event holds another state"
                break
    except LogError as error:
        bad = seq, str(error)
    if bad is None and (fold.seq, fold.chain) != (experiment.seq, experiment.chain):
        bad = fold.seq + 1, f"the log ends at {fold.seq}; it was at {experiment.seq}, with another chain"
    seconds = time.perf_counter() - since
    first, why = bad or (None, None)
    return Verified(bad is None, fold.seq, seconds, fold.chain.hex(), first, why)


def check_next(fold: Fold, event: Event, link: bytes) -> None:
    """Take the next event in; `LogError` if it is not the one that was written."""
    seq = fold.seq + 1
    try:
        if event.seq == 1 and msgspec.convert(event.details["spec"], type(fold.spec)) != fold.spec:
            raise LogError("the experiment was created with another spec")
        fold.apply(event)
    except LogError:
        raise
    except Exception as error:
        raise LogError(f"event {seq} cannot have happened: {error}") from error
    if fold.chain[:LINK] != link:
        raise LogError(f"event {seq} is not the one that was written")


def _log(store: Store, experiment: Experiment) -> Iterator[tuple[Event, bytes]]:
    after = 0
    while after < experiment.seq:
        events = store.events(experiment.id, after, min(PAGE, experiment.seq - after))
        if not events:
            return
        yield from events
        after = events[-1][0].seq
