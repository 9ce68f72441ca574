"""The verbs with which people change an experiment, a row each.

The bodies and routes of the API, the commands of `prudent trial`, the controls of the page and the words of the log
follow from this table. What only one verb checks stands in `work/changes.py`; the client, which may be copied, is
written by hand. Nothing is imported here that an installation without the service lacks, since the commands need it.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Status = Literal["running", "paused", "frozen", "stopped", "archived", "deleted"]
GOING: tuple[Status, ...] = ("running", "paused", "frozen")
"""The states of an experiment that has not ended."""

PLAYING: tuple[Status, ...] = ("running", "frozen")
"""The states in which arms are given to units."""

ENDED: tuple[Status, ...] = ("stopped", "archived")
"""The states of one that has."""


class Field(NamedTuple):
    """What a verb names beside its reason: an `arm` in play, a `new` arm, or an `other` arm in play if it is needed."""

    name: str
    kind: Literal["arm", "new", "other"]


@dataclass(frozen=True)
class Verb:
    """A change of an experiment by a person, who says why.

    `name` is that of the command and of the form on the page, `path` the end of the address in the API, `body` the name
    of what is sent there. `event` is the kind of the event that it makes, which is told in the words of `said`, and
    `leads_to` the state of the experiment after it, if that changes. It is allowed in `states`. `meaning` is what it
    does, for the API; people are told that, or a `hint`. `by_people` says whether they have a command and a control,
    `forgets_units` whether nobody can tell afterwards who the units were, and `erases` whether nothing is left but this
    event.
    """

    name: str
    event: str
    states: tuple[Status, ...]
    meaning: str
    said: str
    leads_to: Status | None = None
    fields: tuple[Field, ...] = ()
    title: str = ""
    hint: str = ""
    path: str = ""
    body: str = ""
    created: bool = False  # the answer has the status 201
    by_people: bool = True
    forgets_units: bool = False
    erases: bool = False

    def __post_init__(self) -> None:
        """Write out what is as usual."""
        usual = {
            "title": self.name.capitalize(),
            "hint": self.meaning,
            "path": self.name,
            "body": self.name.capitalize(),
        }
        for name, text in usual.items():
            object.__setattr__(self, name, getattr(self, name) or text)


VERBS: tuple[Verb, ...] = (
    Verb(
        "resume",
        "resumed",
        ("paused", "frozen"),
        "Go on after a pause or a freeze.",
        "Resumed{because}",
        leads_to="running",
    ),
    Verb(
        "pause",
        "paused",
        ("running", "frozen"),
        "Answer with the fallback arm, or not at all, until resumed.",
        "Paused{because}",
        leads_to="paused",
    ),
    Verb(
        "freeze",
        "frozen",
        GOING,
        "Give everybody this arm until resumed; rewards still count.",
        "Frozen to {arm}{because}",
        leads_to="frozen",
        fields=(Field("arm", "arm"),),
    ),
    Verb(
        "retire",
        "arm-retired",
        GOING,
        "Never choose this arm again; late rewards are still recorded. If it is the fallback arm, name another one.",
        "{arm} was retired{because}{fallback}",
        fields=(Field("arm", "arm"), Field("fallback", "other")),
        title="Retire an arm",
    ),
    Verb(
        "add",
        "arm-added",
        GOING,
        "A new arm.",
        "{arm} was added{because}",
        fields=(Field("arm", "new"),),
        title="Add an arm",
        hint="Add a new arm, which is tried at once.",
        path="arms",
        body="AddArm",
        created=True,
    ),
    Verb(
        "stop",
        "stopped",
        GOING,
        "End the experiment for good. Rewards of open decisions are still recorded.",
        "Stopped{because}",
        leads_to="stopped",
    ),
    Verb(
        "archive",
        "archived",
        ("stopped",),
        "Take it out of the list. Nothing is lost, and it can be restored.",
        "Archived{because}",
        leads_to="archived",
    ),
    Verb(
        "restore",
        "restored",
        ("archived",),
        "Take it back out of the archive.",
        "Taken out of the archive{because}",
        leads_to="stopped",
    ),
    Verb(
        "delete",
        "deleted",
        ENDED,
        "Delete the log, decisions and pictures for good. What stays is the name, that it was deleted, when and why.",
        "Deleted{because}",
        leads_to="deleted",
        erases=True,
    ),
    Verb(
        "forget",
        "forgotten",
        (*GOING, *ENDED),
        "Forget who the units were. Nobody is recognised afterwards, so that sticky units are decided anew.",
        "Who the units were was forgotten{because}",
        by_people=False,
        forgets_units=True,
    ),
)
EVENT_OF = {verb.name: verb.event for verb in VERBS}
