"""The part of a transaction that belongs to one experiment: the requests, what they speak of, what happened, and what
must be written."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from typing import NoReturn

import msgspec

from prudent.base.errors import PrudentError
from prudent.live.agent import Agent
from prudent.service import messages as m
from prudent.service.log.events import Details, Event, body_of
from prudent.service.log.rows import DIGEST, row_after, used_keys_of
from prudent.service.log.state import ExperimentState
from prudent.service.log.store import Experiment, Row, Store, UsedKey
from prudent.service.problems import RequestError
from prudent.service.spec import check_text


class BrokenStateError(Exception):
    """The state cannot be trusted any more, since an event failed halfway. It is thrown away and built again."""


class UnloggedCounts:
    """Requests that changed nothing, not yet written: those that came again, and rewards that came too late."""

    def __init__(self) -> None:
        self.again = self.late = 0
        self.written = False  # in the open transaction


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

    @property
    def key_digest(self) -> bytes | None:
        """Its key as it is stored."""
        return None if self.key is None else key_digest(type(self.request).__name__, self.key)

    @property
    def decisions(self) -> list[int]:
        """The numbers of the decisions that it speaks of."""
        named = [self.decision]
        if isinstance(self.request, m.TellMany):
            named += [told.decision for told in self.request.rewards]
        return [seq for name in named if name is not None and (seq := seq_of(name)) is not None]


class Transaction:
    """One experiment within a transaction. `now` is the time of its events. Windows that closed until `grace`, while
    the service was away, are still open for rewards."""

    def __init__(
        self,
        experiment: Experiment,
        state: ExperimentState,
        now: int,
        grace: int = 0,
        unlogged: UnloggedCounts | None = None,
    ) -> None:
        self.experiment, self.state, self.unlogged = experiment, state, unlogged or UnloggedCounts()
        self.now, self.grace = max(now, state.at), grace
        self.used_keys: dict[bytes, UsedKey] = {}
        self.decisions: dict[int, Row] = {}
        self.events: list[tuple[Event, bytes]] = []
        self._changed: dict[int, Row] = {}
        self._new_keys: list[UsedKey] = []
        self._new_salt: bytes | None = None
        self._arms = len(state.labels)

    def look_up(self, store: Store, commands: list[Command]) -> None:
        """Read what the requests speak of, in one query each."""
        keys = [key for command in commands for key in self._keys_of(command)]
        seqs = [seq for command in commands for seq in command.decisions]
        if keys:
            self.used_keys = store.used_keys(self.experiment.id, keys)
            seqs += [key.seq + i for key in self.used_keys.values() for i in range(key.many)]
        if seqs:
            self.decisions = store.decisions(self.experiment.id, seqs)

    def _keys_of(self, command: Command) -> list[bytes]:
        """The digests of keys and units that a command speaks of."""
        request = command.request
        keys = [] if command.key_digest is None else [command.key_digest]
        if isinstance(request, m.Ask | m.Track) and request.unit is not None and self.state.spec.sticky:
            keys.append(unit_digest(self.experiment, request.unit))
        if isinstance(request, m.TellMany):
            keys += [key_digest("outside", told.key) for told in request.rewards if told.key is not None]
        return keys

    def earlier(self, key: bytes | None, request: m.Request, what: str = "request") -> UsedKey | None:
        """What this key did before, if it did; another request with the same key is refused."""
        used = None if key is None else self.used_keys.get(key)
        if used is not None:
            if used.request != self._fingerprint(request):
                raise RequestError(
                    "key-reused", f"this key was used for another {what}; make a new key for each {what}"
                )
            self.unlogged.again += 1
        return used

    def key_of(self, key: bytes | None, request: m.Request) -> bytes | None:
        """The digests of a key and of its request, as an event holds them."""
        return None if key is None else key + self._fingerprint(request)

    def _fingerprint(self, request: m.Request) -> bytes:
        """A digest of a request; of one that names a unit with the salt, so that nobody can tell who it was."""
        salt = self.experiment.salt if isinstance(request, m.Ask) and request.unit is not None else b""
        return hashlib.blake2b(msgspec.json.encode(request), key=salt, digest_size=8).digest()

    def record(
        self,
        kind: str,
        by: int,
        details: Details | None = None,
        *,
        decision: int | None = None,
        arm: int | None = None,
        value: float | None = None,
        key: bytes | None = None,
        unit: bytes | None = None,
    ) -> Event:
        """A new event happens: the state takes it in, and it will be written."""
        body = body_of(details) if details else None
        event = Event(self.state.seq + 1, self.now, kind, decision, arm, value, key, unit, body, by)
        try:
            event = self.state.apply(event)
        except Exception as error:
            raise BrokenStateError(str(error)) from error
        self.events.append((event, self.state.chain))
        if event.decision is not None:
            row = row_after(self.state.spec, self.decisions.get(event.decision), event)
            self.decisions[row.seq] = self._changed[row.seq] = row
        for used in used_keys_of(self.state.spec, event):
            self.used_keys[used.key] = used
            self._new_keys.append(used)
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
        number, state = self.experiment.id, self.state
        store.add_events(number, self.events)
        if self._changed:
            store.add_decisions(number, self._changed.values())
        if self._new_keys:
            store.add_used_keys(number, self._new_keys)
        if self._new_salt is not None:
            store.change_salt(number, self._new_salt)
        arms = self.experiment.arms if len(state.labels) == self._arms else msgspec.json.encode(state.labels).decode()
        store.move(number, arms, state.seq, state.at, state.chain, state.status)
        if self.unlogged.again or self.unlogged.late:
            store.count_more(number, self.unlogged.again, self.unlogged.late)
            self.unlogged.written = True

    # Names

    def arm(self, label: str, parameter: str = "arm") -> int:
        """The number of an arm."""
        if label not in self.state.numbers:
            refuse(f"{parameter} {label!r} is unknown; the arms are {', '.join(map(repr, self.state.labels))}")
        return self.state.numbers[label]

    def arms(self, labels: list[str] | None) -> list[int] | None:
        """The arms to choose from: those asked for, of which a frozen experiment leaves one."""
        frozen, retired = self.state.frozen_to, self.state.retired
        numbers = None if labels is None else sorted({self.arm(label, "among") for label in labels})
        if numbers is not None and retired.intersection(numbers):
            out = ", ".join(repr(self.state.labels[i]) for i in numbers if i in retired)
            refuse(f"among must hold no retired arm, got {out}")
        if frozen is None:
            return numbers
        if numbers is not None and frozen not in numbers:
            why = f"the experiment is frozen to {self.state.labels[frozen]!r}, which is not among those asked for"
            raise RequestError("not-running", why)
        return [frozen]

    def row(self, decision: str | None) -> Row:
        """The decision of that name."""
        seq = seq_of(decision or "")
        row = None if seq is None else self.decisions.get(seq)
        if row is None or not hmac.compare_digest((decision or "").encode(), self.id_of(row).encode()):
            raise RequestError("not-found", f"there is no decision {decision!r}; is it one of another service?")
        return row

    def id_of(self, row: Row) -> str:
        """What a decision is called outside."""
        return decision_id(self.experiment, row)

    def try_first(self, act: Callable[[Agent], object]) -> None:
        """Whether the agent can do it, tried on a copy, since an error halfway would cost a rebuild."""
        try:
            act(self.state.agent.copy())
        except PrudentError as error:
            refuse(str(error))


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
    parts = _ID.fullmatch(decision)
    return None if parts is None else int(parts[1])


def seq_of(decision: str) -> int | None:
    """The number of the event that made the decision, if it looks like one."""
    parts = _ID.fullmatch(decision)
    return None if parts is None else int(parts[2])


def key_digest(purpose: str, key: str) -> bytes:
    """A key as it is stored. Keys for different purposes do not meet."""
    return hashlib.blake2b(key.encode(), digest_size=DIGEST, person=purpose.encode()[:16]).digest()


def unit_digest(experiment: Experiment, unit: str) -> bytes:
    """A unit as it is stored: without the experiment's salt nobody can tell who it was."""
    return hmac.digest(experiment.salt, unit.encode(), "sha256")[:DIGEST]


def check_words(parameter: str, text: str) -> None:
    """Refuse text that the log cannot hold."""
    try:
        check_text("request", parameter, text)
    except PrudentError as error:
        refuse(str(error))


def refuse(detail: str) -> NoReturn:
    """A value is not allowed."""
    raise RequestError("invalid", detail)


def conflict(detail: str) -> NoReturn:
    """It does not fit the present state."""
    raise RequestError("conflict", detail)
