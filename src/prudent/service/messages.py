"""What is asked of the service, and what it answers: the bodies of the API, one class each.

Requests refuse members that they do not know. Decisions and experiments are named by text; arms by their names; times
are milliseconds since 1970, as in the log.
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from prudent.service import verbs
from prudent.service.verbs import VERBS, Verb

NAME = "[a-z0-9][a-z0-9-]{0,62}"
"""Names of experiments, as a pattern that must match the whole."""

# Python's $ matches before a last line end too; that of JSON Schema does not, and it has no other mark.
Name = Annotated[str, Meta(pattern=rf"^{NAME}\Z", extra_json_schema={"pattern": f"^{NAME}$"})]
Label = Annotated[str, Meta(min_length=1, max_length=200)]
Reason = Annotated[str, Meta(min_length=1, max_length=1000)]
Unit = Annotated[str, Meta(min_length=1, max_length=500)]
Id = Annotated[str, Meta(min_length=1, max_length=80)]
Key = Annotated[str, Meta(min_length=1, max_length=200)]
Metrics = Annotated[dict[Label, float], Meta(max_length=50)]
Count = Annotated[int, Meta(ge=1, le=1000)]
Counting = Literal["now", "when the window closes"]


class Request(Struct, forbid_unknown_fields=True):
    """A body of a request."""


class Ask(Request):
    """Which arm to use now? `unit` is whom or what it is for. `later` decisions wait to be activated."""

    unit: Unit | None = None
    among: Annotated[list[Label], Meta(min_length=1, max_length=10_000)] | None = None
    count: Count = 1
    activate: Literal["now", "later"] = "now"


class Tell(Request):
    """The reward of a decision, and other numbers that were measured with it."""

    reward: float | bool
    metrics: Metrics | None = None


class Told(Request):
    """One of many rewards: of a decision, or with `arm` and `key` one from outside, such as old data."""

    reward: float | bool
    decision: Id | None = None
    arm: Label | None = None
    key: Key | None = None
    metrics: Metrics | None = None


class TellMany(Request):
    """Up to 1,000 rewards at once; each has its own result."""

    rewards: Annotated[list[Told], Meta(min_length=1, max_length=1000)]


class Track(Request):
    """The reward of the decision of a sticky unit."""

    unit: Unit
    reward: float | bool
    metrics: Metrics | None = None


class Activate(Request):
    """The decision was used after all: its window begins."""


class Withdraw(Request):
    """The decision was not used, and no reward will come."""


class Split(Request):
    """How are the next `count` decisions to be divided over the arms? For a program that decides by itself."""

    count: Annotated[int, Meta(ge=1, le=10_000_000)]
    among: Annotated[list[Label], Meta(min_length=1, max_length=10_000)] | None = None


class Statistics(Request):
    """Rewards of one arm, merged: how many, their mean, their variance (divided by the count)."""

    count: Annotated[int, Meta(ge=1, le=10_000_000)]
    mean: float
    variance: float


class Merge(Request):
    """The rewards of a batch, an entry for each arm that was used. What was not used is taken back."""

    arms: Annotated[dict[Label, Statistics], Meta(max_length=10_000)]


class Fallbacks(Request):
    """So many times a client answered with the fallback arm by itself, because the service was away."""

    count: Annotated[int, Meta(ge=1, le=10_000_000)]


class Change(Request):
    """A change of an experiment by a person, with a reason."""

    verb: ClassVar[Verb]
    if TYPE_CHECKING:
        reason: str


def body_of(verb: Verb) -> type[Change]:
    """The body of a verb in the API: what it names, and the reason."""
    needed: list[tuple[str, Any]] = [(field.name, Label) for field in verb.fields if field.kind != "other"]
    optional: list[tuple[str, Any, Any]] = [
        (field.name, Label | None, None) for field in verb.fields if field.kind == "other"
    ]
    body = msgspec.defstruct(
        verb.body,
        [*needed, ("reason", Reason), *optional],
        bases=(Change,),
        namespace={"__doc__": verb.meaning, "verb": verb},
        module=__name__,
        forbid_unknown_fields=True,
    )
    return cast("type[Change]", body)


BODIES = {verb.name: body_of(verb) for verb in VERBS}
"""The body of each verb by its name."""


class Answer(Struct, omit_defaults=True):
    """A body of an answer."""


class Decision(Answer):
    """An arm to use, and the probability with which it was taken. Without an id it is the fallback arm, which is not
    counted; `why` says why."""

    decision: str | None
    arm: str
    state: str
    due: int | None = None
    reward: float | None = None
    metrics: dict[str, float] | None = None
    why: str | None = None
    at: int | None = None
    propensity: float | None = None


class Decisions(Answer):
    """The decisions of one request; `again` if they had been made before."""

    decisions: list[Decision]
    again: bool = False


class Recorded(Answer):
    """A reward that is recorded; `counted` says since when or from when the policy sees it."""

    decision: str | None
    arm: str
    reward: float
    counted: Counting
    again: bool = False


class Result(Answer):
    """Of one of many rewards: the status that it would have had alone, and what went wrong, if so."""

    status: int
    recorded: Recorded | None = None
    problem: dict[str, Any] | None = None


class Results(Answer):
    """One for each reward, in their order, and how many of them were refused."""

    results: list[Result]
    refused: int = 0


class Batch(Answer):
    """How to divide the next decisions: how many for each arm, and a seed for their order."""

    batch: str
    arms: dict[str, int]
    seed: int
    again: bool = False


class Merged(Answer):
    """A batch whose rewards are recorded: how many of each arm, and how many were taken back."""

    batch: str
    rewards: dict[str, int]
    unused: int
    again: bool = False


class Status(Answer):
    """An experiment in short, after a change or in a list."""

    experiment: str
    status: verbs.Status
    seq: int
    at: int
    arms: list[str]
    frozen_to: str | None = None
    again: bool | UnsetType = UNSET
