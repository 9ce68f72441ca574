"""Experiments as feature flags: OpenFeature's remote evaluation protocol (OFREP), and its tracking events as rewards.

A sticky experiment is a flag of the same name. `targetingKey` is the unit, arms are variants. Other experiments are no
flags: programs evaluate a flag as often as they like, and each evaluation would be another decision.
"""

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from starlette.responses import Response

from prudent.service import messages as m
from prudent.service.http.routes import JSON, Call
from prudent.service.log.store import DELETED, Store
from prudent.service.problems import RequestError
from prudent.service.spec import Spec, decoded

MOST = 100
"""Flags of one bulk evaluation: each is a decision, and nobody sends a hundred requests at once."""

LONGEST_UNIT = 500
"""Characters of a `targetingKey`, as of a unit."""

LONGEST_DETAILS = 1000
"""Characters of a sentence that says what is wrong."""

NEEDED = "context.targetingKey must be given: it is the unit that the decision is for"

CODES = {"not-found": "FLAG_NOT_FOUND", "not-json": "PARSE_ERROR", "invalid": "PARSE_ERROR"}
"""OpenFeature's code of each kind of problem; GENERAL for all others."""


class Evaluation(Struct):
    """For whom a flag is evaluated. Members that we do not know are those of another version of the protocol."""

    context: dict[str, Any] = msgspec.field(default_factory=dict)


class TrackingEvent(Struct):
    """Something that a unit did, as OpenFeature's `track` tells it. `details.value` is the reward; other details are
    metrics if the experiment has metrics of these names."""

    event: m.Label
    context: dict[str, Any] = msgspec.field(default_factory=dict)
    details: dict[str, Any] = msgspec.field(default_factory=dict)


class Evaluated(m.Answer):
    """The value of a flag: the label of the arm, or what it reads as if all arms are numbers, or true and false."""

    key: str
    value: bool | int | float | str
    variant: str
    reason: str
    metadata: dict[str, bool | float | str]


class OneOfAll(m.Answer):
    """A flag with its value, or why it has none."""

    key: str
    value: bool | int | float | str | None = None
    variant: str | None = None
    reason: str | None = None
    metadata: dict[str, bool | float | str] | None = None
    errorCode: str | None = None  # noqa: N815 - the protocol's names
    errorDetails: str | None = None  # noqa: N815
    type: str | None = None


class FlagFailure(m.Answer):
    """Why a flag has no value; the program uses its own default. `type` is the address of the kind of problem."""

    errorCode: str  # noqa: N815
    errorDetails: str  # noqa: N815
    type: str
    key: str | None = None

    @classmethod
    def of(cls, flag: str, problem: RequestError) -> "FlagFailure":
        """What went wrong, in the protocol's words."""
        code = problem.extra.get("code", CODES.get(problem.kind, "GENERAL"))
        return cls(code, problem.detail[:LONGEST_DETAILS], f"/problems/{problem.kind}", flag or None)

    @staticmethod
    def status(ours: int) -> int:
        """The status in place of ours, since the protocol has fewer."""
        return 400 if ours in (409, 422) else ours


class Evaluations(m.Answer):
    """Every flag that the token is for."""

    flags: list[OneOfAll]


class Tracked(m.Result, kw_only=True):
    """What became of an event in one experiment."""

    experiment: str


class AllTracked(m.Answer):
    """Of each experiment that takes this event; `refused` are those in which it did not become a reward."""

    results: list[Tracked]
    refused: int = 0


class Flag(NamedTuple):
    """What is constant of an experiment: how its arms read as values, and which event is its reward."""

    name: str
    spec: Spec
    kind: type

    @property
    def event(self) -> str:
        """The tracking event that is its reward."""
        return self.spec.rewards.event or self.name

    def value(self, arm: str) -> bool | int | float | str:
        """The value that an arm stands for; its label if that does not read as the first arms do."""
        read = _read(arm, self.kind)
        return arm if read is None else read


class Flags:
    """The experiments of a database that are flags. Their specs never change, so that each is read once."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._known: dict[str, Flag] = {}
        self._last = 0

    def refresh(self) -> None:
        """Read those that are new."""
        with self._lock:
            for number, name, text in self._store.read(
                "SELECT id, name, spec FROM experiment WHERE id > ? AND status <> ? ORDER BY id", self._last, DELETED
            ):
                spec = decoded(text)
                if spec.sticky:
                    self._known[name] = Flag(name, spec, kind_of(spec.arms))
                self._last = number

    async def of(self, call: Call) -> list[Flag]:
        """Those that the token is for, by name."""
        await asyncio.to_thread(self.refresh)
        names = await asyncio.to_thread(self._store.names)  # without deleted ones
        known = [self._known[name] for name in names if name in self._known]
        return sorted(flag for flag in known if call.token is None or call.token.covers(flag.name))

    async def one(self, name: str) -> Flag:
        """The one of this name."""
        if name not in self._known:
            await asyncio.to_thread(self.refresh)
        if name not in self._known:
            raise RequestError("not-found", f"there is no sticky experiment {name!r}, and only these are flags")
        return self._known[name]


def kind_of(arms: list[str]) -> type:
    """As what all these labels read: true or false, whole numbers, numbers, or else text."""
    kinds = (bool, int, float)
    return next((kind for kind in kinds if all(_read(arm, kind) is not None for arm in arms)), str)


def _read(label: str, kind: type) -> Any:
    try:
        return None if kind is str else msgspec.json.decode(label, type=kind)
    except msgspec.DecodeError:
        return None


def unit_of(context: Mapping[str, Any]) -> str:
    """The unit of a context."""
    unit = context.get("targetingKey")
    if unit in (None, ""):
        raise RequestError("invalid", NEEDED, code="TARGETING_KEY_MISSING")
    if not isinstance(unit, str) or len(unit) > LONGEST_UNIT:
        words = f"context.targetingKey must be text of at most {LONGEST_UNIT} characters"
        raise RequestError("invalid", words, code="INVALID_CONTEXT")
    return unit


def ask_of(flag: Flag, context: Mapping[str, Any]) -> m.Ask:
    """What is asked for a unit with this context."""
    return m.Ask(unit=unit_of(context))


async def evaluate(call: Call) -> Evaluated:
    """Evaluate a flag for a unit (OFREP), which always gets the same arm."""
    return await _evaluated(call, await call.service.flags.one(call.experiment))


async def _evaluated(call: Call, flag: Flag) -> Evaluated:
    made = await call.service.do(flag.name, ask_of(flag, call.body.context), by=call.by)
    (one,) = made.decisions
    about = {"decision": one.decision, "propensity": one.propensity, "why": one.why}
    known = {name: value for name, value in about.items() if value is not None}
    reason = "DISABLED" if one.decision is None else "SPLIT"
    return Evaluated(flag.name, flag.value(one.arm), one.arm, reason, known)


async def evaluate_all(call: Call) -> Response:
    """Evaluate every flag that the token is for (OFREP). The ETag changes with the values."""
    unit_of(call.body.context)
    flags = await call.service.flags.of(call)
    if len(flags) > MOST:
        words = f"this token is for {len(flags):,} flags, and at most {MOST} are evaluated at once"
        raise RequestError("invalid", f"{words}; use a token for some experiments")
    found = await asyncio.gather(*(_evaluated(call, flag) for flag in flags), return_exceptions=True)
    body = msgspec.json.encode(Evaluations([_one_of_all(flag, one) for flag, one in zip(flags, found, strict=True)]))
    tag = f'"{hashlib.blake2b(body, digest_size=16).hexdigest()}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    return Response(status_code=304, headers=headers) if call.has(tag) else Response(body, 200, headers, JSON)


def _one_of_all(flag: Flag, found: Evaluated | BaseException) -> OneOfAll:
    """A flag without a value is one of the answers, unless the service cannot answer at all."""
    if isinstance(found, BaseException):
        if not isinstance(found, RequestError) or found.status >= 500:
            raise found
        return OneOfAll(**msgspec.structs.asdict(FlagFailure.of(flag.name, found)))
    return OneOfAll(**msgspec.structs.asdict(found))


async def track(call: Call) -> Response:
    """Report an event of a unit: the reward of its decision in each experiment that takes this event. Once: the first
    event of a unit counts. The status is 207 if any experiment refused it."""
    told: TrackingEvent = call.body
    unit = unit_of(told.context)
    flags = [flag for flag in await call.service.flags.of(call) if flag.event == told.event]
    answer = AllTracked([await _tracked(call, flag, unit, told.details) for flag in flags])
    answer.refused = sum(result.problem is not None for result in answer.results)
    return Response(msgspec.json.encode(answer), 207 if answer.refused else 200, media_type=JSON)


async def _tracked(call: Call, flag: Flag, unit: str, details: Mapping[str, Any]) -> Tracked:
    try:
        reward = reward_of(flag, details)
        metrics = {name: _number(name, details[name]) for name in flag.spec.metrics if name in details}
        recorded = await call.service.do(flag.name, m.Track(unit, reward, metrics or None), by=call.by)
    except RequestError as problem:
        if problem.status >= 500:
            raise
        return Tracked(problem.status, problem=problem.as_dict(), experiment=flag.name)
    return Tracked(200 if recorded.again else 201, recorded, experiment=flag.name)


def reward_of(flag: Flag, details: Mapping[str, Any]) -> float:
    """The value of an event; one without a value is a 1 where rewards lie between 0 and 1."""
    if details.get("value") is not None:
        return _number("value", details["value"])
    if flag.spec.support != (0.0, 1.0):
        raise RequestError("invalid", "details.value must be given, because rewards do not lie between 0 and 1")
    return 1.0


def _number(name: str, value: Any) -> float:
    with contextlib.suppress(OverflowError):  # a whole number of hundreds of digits
        if isinstance(value, bool | int | float):
            return float(value)
    raise RequestError("invalid", f"details.{name} must be a number")
