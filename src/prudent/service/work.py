"""The part of a transaction that belongs to one experiment: what was looked up, what happened, what must be written."""

import hashlib
import hmac
import re
import secrets
from typing import Any, NoReturn

import msgspec

from prudent.errors import PrudentError
from prudent.service.events import Event, body_of
from prudent.service.fold import Fold
from prudent.service.problems import RequestError
from prudent.service.store import Experiment, Known, Row, Store
from prudent.service.tables import DIGEST, known_after, row_after


class BrokenError(Exception):
    """The fold cannot be trusted any more, since an event failed halfway. It is thrown away and built again."""


class Idle:
    """Requests that changed nothing, not yet written: those that came again, and rewards that came too late."""

    def __init__(self) -> None:
        self.again = self.late = 0
        self.written = False  # in the open transaction


class Work:
    """One experiment within a transaction. `now` is the time of its events. Windows that closed until `grace`, while
    the service was away, are still open for rewards."""

    def __init__(self, experiment: Experiment, fold: Fold, now: int, grace: int = 0, idle: Idle | None = None) -> None:
        self.experiment, self.fold, self.idle = experiment, fold, idle or Idle()
        self.now, self.grace = max(now, fold.at), grace
        self.known: dict[bytes, Known] = {}
        self.decisions: dict[int, Row] = {}
        self.events: list[tuple[Event, bytes]] = []
        self._changed: dict[int, Row] = {}
        self._new_keys: list[Known] = []
        self._new_salt: bytes | None = None
        self._arms = len(fold.labels)

    def look_up(self, store: Store, keys: list[bytes], seqs: list[int]) -> None:
        """Read what the requests speak of, in one query each."""
        if keys:
            self.known = store.known(self.experiment.id, keys)
            seqs = [*seqs, *(seq for known in self.known.values() for seq in range(known.seq, known.seq + known.many))]
        if seqs:
            self.decisions = store.decisions(self.experiment.id, seqs)

    def record(self, kind: str, by: int, details: dict[str, Any] | None = None, **parts: Any) -> Event:
        """A new event happens: the fold takes it in, and it will be written."""
        body = body_of(details) if details else None
        event = Event(self.fold.seq + 1, self.now, kind, body=body, by=by, **parts)
        try:
            event = self.fold.apply(event)
        except Exception as error:
            raise BrokenError(str(error)) from error
        self.events.append((event, self.fold.chain))
        if event.decision is not None:
            row = row_after(self.fold.spec, self.decisions.get(event.decision), event)
            self.decisions[row.seq] = self._changed[row.seq] = row
        for known in known_after(self.fold.spec, event):
            self.known[known.key] = known
            self._new_keys.append(known)
        return event

    def closed(self, row: Row) -> bool:
        """Whether it is too late for this decision, also if that is not in the log yet."""
        return row.due is not None and self.grace < row.due <= self.now

    def forget_units(self) -> None:
        """With another salt, nobody can tell who the units were."""
        self._new_salt = secrets.token_bytes(32)
        self.experiment = self.experiment._replace(salt=self._new_salt)

    def write(self, store: Store) -> None:
        """All that happened, into the open transaction."""
        if not self.events:
            return
        number, fold = self.experiment.id, self.fold
        store.add_events(number, self.events)
        if self._changed:
            store.add_decisions(number, self._changed.values())
        if self._new_keys:
            store.add_known(number, self._new_keys)
        if self._new_salt is not None:
            store.change_salt(number, self._new_salt)
        arms = self.experiment.arms if len(fold.labels) == self._arms else msgspec.json.encode(fold.labels).decode()
        store.move(number, arms, fold.seq, fold.at, fold.chain, fold.status)
        if self.idle.again or self.idle.late:
            store.count_more(number, self.idle.again, self.idle.late)
            self.idle.written = True

    # Names

    def arm(self, label: str, parameter: str = "arm") -> int:
        """The number of an arm."""
        if label not in self.fold.numbers:
            refuse(f"{parameter} {label!r} is unknown; the arms are {', '.join(map(repr, self.fold.labels))}")
        return self.fold.numbers[label]

    def id_of(self, row: Row) -> str:
        """What a decision is called outside."""
        return decision_id(self.experiment, row)

    def row(self, decision: str) -> Row:
        """The decision of that name."""
        seq = seq_of(decision)
        row = None if seq is None else self.decisions.get(seq)
        if row is None or not hmac.compare_digest(decision.encode(), self.id_of(row).encode()):
            raise RequestError("not-found", f"there is no decision {decision!r}; is it one of another service?")
        return row


def decision_id(experiment: Experiment, row: Row | Event) -> str:
    """The experiment's number, that of the event that made the decision, and a digest with the experiment's secret: an
    id of another database, or one that somebody made up, is not taken for one of ours.

    After a backup was restored, numbers come again. The digest of the time tells a decision from the lost one that had
    its number, so that the reward of the one never counts for the other.
    """
    text = f"{experiment.id}-{row.seq}"
    digest = hashlib.blake2b(f"{text}-{row.at}".encode(), key=experiment.secret, digest_size=5)
    return f"{text}-{digest.hexdigest()}"


_ID = re.compile(r"([0-9]{1,15})-([0-9]{1,15})-[^-]*")


def experiment_number(decision: str) -> int | None:
    """The number of the experiment that a decision belongs to, if it looks like one."""
    found = _ID.fullmatch(decision)
    return None if found is None else int(found[1])


def seq_of(decision: str) -> int | None:
    """The number of the event that made the decision, if it looks like one."""
    found = _ID.fullmatch(decision)
    return None if found is None else int(found[2])


def key_digest(purpose: str, key: str) -> bytes:
    """A key as it is stored. Keys for different purposes do not meet."""
    return hashlib.blake2b(key.encode(), digest_size=DIGEST, person=purpose.encode()[:16]).digest()


def unit_digest(experiment: Experiment, unit: str) -> bytes:
    """A unit as it is stored: without the experiment's salt nobody can tell who it was."""
    return hmac.digest(experiment.salt, unit.encode(), "sha256")[:DIGEST]


def refuse(detail: str) -> NoReturn:
    """A value is not allowed."""
    raise RequestError("invalid", detail)


def conflict(detail: str) -> NoReturn:
    """It does not fit the present state."""
    raise RequestError("conflict", detail)


def try_first(work: Work, act: Any) -> None:
    """Whether the agent can do it, tried on a copy, since an error halfway would cost a rebuild."""
    try:
        act(work.fold.agent.copy())
    except PrudentError as error:
        refuse(str(error))
