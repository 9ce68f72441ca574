"""Who is told of what happens: targets of webhooks, which an administrator names.

The database holds the secret of each, since messages are signed with it; it is shown once.
"""

import base64
import secrets
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from prudent.service.log.store import Store
from prudent.service.messages import Answer, Name, Request
from prudent.service.problems import RequestError
from prudent.service.spec import check_text
from prudent.service.verbs import VERBS
from prudent.service.work.post import check_address

MOST = 20
"""Targets of one service: each has a thread while messages wait."""

Group = Literal["guardrail", "alarm", "state", "decision"]
USUAL: tuple[Group, ...] = ("guardrail", "alarm", "state")
KINDS: dict[str, tuple[str, ...]] = {
    "guardrail": ("guardrail",),
    "alarm": ("changed",),
    "state": ("created", *(verb.event for verb in VERBS)),
    "decision": ("asked", "split"),
}
"""The kinds of events of each group: a guardrail acted, the rewards of an arm have changed, a person or a guardrail
changed the experiment, an arm was chosen."""


class NewWebhook(Request):
    """Where to tell what happens: events of these groups, of all experiments or of some. What happened before is not
    told."""

    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    events: Annotated[list[Group], Meta(min_length=1, max_length=4)] = msgspec.field(default_factory=lambda: [*USUAL])
    experiments: Annotated[list[Name], Meta(min_length=1, max_length=1000)] | None = None
    note: Annotated[str, Meta(max_length=200)] = ""


class WebhookInfo(Answer):
    """A target. `failures` are attempts since the last one that succeeded, `trouble` is what came of the last, `again`
    when the next may be made. A target that answered 410 is `gone`, and is told nothing more."""

    id: str
    url: str
    events: list[str]
    created: int
    experiments: list[str] | None = None
    note: str = ""
    failures: int = 0
    trouble: str = ""
    again: int | None = None
    gone: int | None = None


class MadeWebhook(WebhookInfo, kw_only=True):
    """A new target. Its secret is shown this once."""

    secret: str


class Target(NamedTuple):
    """A row of its table. Of several services one sends: the `holder`, until that moment."""

    id: str
    url: str
    secret: bytes
    events: str
    experiments: str
    note: str
    created: int
    failures: int = 0
    trouble: str = ""
    again: int = 0
    gone: int | None = None
    holder: str = ""
    until: int = 0

    @property
    def kinds(self) -> list[str]:
        """The kinds of events that it is told."""
        return [kind for group in self.events.split() for kind in KINDS[group]]

    def covers(self, experiment: str) -> bool:
        """Whether it is told of this experiment."""
        return self.experiments == "*" or experiment in self.experiments.split()

    def info(self) -> WebhookInfo:
        """What may be shown of it."""
        names = None if self.experiments == "*" else self.experiments.split()
        again = self.again if self.failures and self.gone is None else None
        told = self.failures, self.trouble, again, self.gone
        return WebhookInfo(self.id, self.url, self.events.split(), self.created, names, self.note, *told)


class Webhooks:
    """The targets of a database. `write` lets the thread that writes do something, and waits for it; `private` allows
    receivers on this machine and in its network."""

    def __init__(
        self, store: Store, write: Callable[[Callable[[], Any]], Any], clock: Callable[[], int], *, private: bool
    ) -> None:
        self.store, self._write, self._clock, self.private = store, write, clock, private

    def all(self) -> list[Target]:
        """Every target."""
        rows = self.store.read(f"SELECT {', '.join(Target._fields)} FROM webhook ORDER BY created, id")
        return [Target(row[0], row[1], bytes(row[2]), *row[3:]) for row in rows]

    def create(self, asked: NewWebhook) -> MadeWebhook:
        """A new target, which is told what happens from now on."""
        check_address(asked.url, private=self.private)
        check_text("webhook", "note", asked.note)
        names = "*" if asked.experiments is None else " ".join(sorted(set(asked.experiments)))
        groups = " ".join(sorted(set(asked.events)))
        target = Target(
            secrets.token_hex(8), asked.url, secrets.token_bytes(32), groups, names, asked.note, self._clock()
        )

        def insert() -> None:
            with self.store.transaction():
                ((many,),) = self.store.database.execute("SELECT COUNT(*) FROM webhook")
                if many >= MOST:
                    raise RequestError("conflict", f"there are {many} webhooks already, and at most {MOST}")
                marks = ", ".join("?" * len(target))
                self.store.database.execute(
                    f"INSERT INTO webhook ({', '.join(target._fields)}) VALUES ({marks})", *target
                )
                self.store.database.execute(
                    "INSERT INTO webhook_position (webhook, experiment, seq) SELECT ?, id, seq FROM experiment",
                    target.id,
                )

        self._write(insert)
        secret = f"whsec_{base64.b64encode(target.secret).decode()}"
        return MadeWebhook(**msgspec.structs.asdict(target.info()), secret=secret)

    def remove(self, name: str) -> None:
        """Tell a target nothing more, from now on."""
        if name not in {target.id for target in self.all()}:
            raise RequestError("not-found", "there is no such webhook")

        def delete() -> None:
            with self.store.transaction():
                self.store.database.execute("DELETE FROM webhook WHERE id = ?", name)
                self.store.database.execute("DELETE FROM webhook_position WHERE webhook = ?", name)

        self._write(delete)
