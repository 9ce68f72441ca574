"""`Agent`'s verbs, answered by the service."""

import os
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, cast

from .delivery import MAX_ENTRIES, Delivery, Lost, log, new_key
from .edge import Batch
from .shapes import DECISION, RECORDED, RESULT, STATUS, File, Lines, ServiceError, Shape, fits
from .wire import Wire, key_of, text, whole


class Decision(NamedTuple):
    """An arm to use, and the probability with which it was taken, if it is known. Without an id it is the fallback arm,
    which does not count; `why` says why."""

    id: str | None
    arm: str
    state: str = "open"
    at: int | None = None
    due: int | None = None
    reward: float | None = None
    metrics: dict[str, float] | None = None
    why: str | None = None
    propensity: float | None = None

    @property
    def counted(self) -> bool:
        """Whether the experiment knows this decision, so that its reward counts."""
        return self.id is not None


class Client:
    """An experiment of a service, for programs. Threads may share one client.

    Every change has a key that is made before the first try, so that what arrives twice counts once. Requests are
    tried again while the service does not answer or is busy. Rewards that cannot be delivered wait, and go with the
    next request that succeeds, or with `close`.

    Parameters
    ----------
    url, token
        Where the service is, and the text that `prudent trial token` printed.
    experiment
        The name of the experiment; only `experiments` needs none.
    timeout, retries
        Seconds that a call may take with all its tries, and how often a request is tried again.
    fallback
        The arm to use when the service is away. With it `ask` never raises a `ServiceError`: whatever comes in place of
        a decision, the answer is this arm, and `why` says the reason. Such decisions are not counted. The service is
        told later how many there were; what it refused itself, such as a token, is logged as an error instead.
    waiting
        How many undelivered rewards are kept; beyond that the oldest are dropped.
    """

    def __init__(
        self,
        url: str,
        token: str,
        experiment: str | None = None,
        *,
        timeout: float = 10.0,
        retries: int = 5,
        fallback: str | None = None,
        waiting: int = 10_000,
    ) -> None:
        for name, given in (("experiment", experiment), ("fallback", fallback)):
            if given is not None:
                text("Client", name, given)
        whole("Client", "waiting", waiting, 0)
        self._use(Wire(url, token, timeout, retries), experiment, fallback, waiting)

    @classmethod
    def through(cls, wire: Any, experiment: str | None = None) -> "Client":
        """A client whose requests go another way than over HTTP: `wire` has the methods of `Wire`."""
        client = cls.__new__(cls)
        client._use(wire, experiment, None, 0)
        return client

    def _use(self, wire: Any, experiment: str | None, fallback: str | None, waiting: int) -> None:
        self.experiment, self.fallback = experiment, fallback
        self._delivery = Delivery(wire, self._path("") if experiment else "", waiting)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Deliver what waits, and close the connections; what is lost then is logged, and is in `lost`."""
        self._delivery.close()

    @property
    def lost(self) -> Lost:
        """What did not reach the policy so far."""
        return self._delivery.lost

    def ask(
        self,
        unit: str | None = None,
        among: Sequence[str] | None = None,
        activate: Literal["now", "later"] = "now",
        key: str | None = None,
    ) -> Decision:
        """The arm to use now, for this `unit`, and of those in `among`. `key` is your own name for the request."""
        return self._ask(1, unit, among, activate, key)[0]

    def ask_many(
        self,
        count: int,
        among: Sequence[str] | None = None,
        activate: Literal["now", "later"] = "now",
        unit: str | None = None,
    ) -> list[Decision]:
        """The arms of several decisions."""
        whole("ask_many", "count", count, 1)
        sizes = [min(MAX_ENTRIES, count - first) for first in range(0, count, MAX_ENTRIES)]
        return [decision for size in sizes for decision in self._ask(size, unit, among, activate, None)]

    def tell(
        self, /, decision: Decision | str, reward: float, metrics: Mapping[str, float] | None = None, **more: float
    ) -> dict[str, Any] | None:
        """The reward of a decision, and other numbers measured with it: `tell(decision, 1, latency=0.2)`. Those whose
        names Python does not take go into a dictionary, `tell(decision, 1, {"load time": 0.2})`.

        None if it could not be delivered and waits, or if the decision does not count.
        """
        entry = self._entry(decision, reward, {**(metrics or {}), **more} or None)
        if entry is None:
            return None
        body = {name: value for name, value in entry.items() if name != "decision"}
        try:
            return self._change("PUT", f"/v1/decisions/{_quoted(entry['decision'])}/reward", body, shape=RECORDED)
        except ServiceError as error:
            if not error.away or not self.experiment:
                raise
            self._delivery.wait([entry], error)
            return None

    def tell_many(self, rewards: Iterable[Any]) -> list[dict[str, Any] | None]:
        """Many rewards: pairs (decision, reward), triples with metrics, or dictionaries as the API takes them, for
        instance {"arm": "A", "reward": 0.7, "key": "patient 17"} for one from outside.

        A result for each, with its status and perhaps its problem; None where `tell` would return it.
        """
        entries = [dict(each) if isinstance(each, Mapping) else self._entry(*each) for each in rewards]
        results: list[dict[str, Any] | None] = [None] * len(entries)
        places = [i for i, entry in enumerate(entries) if entry is not None]
        for first in range(0, len(places), MAX_ENTRIES):
            part = places[first : first + MAX_ENTRIES]
            sent = [cast("dict[str, Any]", entries[i]) for i in part]
            try:
                shape = {"results": (RESULT, len(sent))}
                answer = self._change("POST", self._path("/rewards"), {"rewards": sent}, shape=shape)
            except ServiceError as error:
                if not error.away:
                    raise
                self._delivery.wait(sent, error)
                continue
            for i, result in zip(part, answer["results"], strict=True):
                results[i] = result
        return results

    def activate(self, decision: Decision | str) -> Decision:
        """A decision asked for with activate="later" is used now."""
        return self._about(decision, "activate")

    def withdraw(self, decision: Decision | str) -> Decision:
        """A decision was not used, and no reward will come."""
        return self._about(decision, "withdraw")

    def decision(self, id: str) -> Decision:
        """A decision by its id."""
        return _decision(self._delivery.call("GET", f"/v1/decisions/{_quoted(id)}", shape=DECISION).said)

    def batch(self, count: int, among: Sequence[str] | None = None) -> Batch:
        """The next `count` decisions, to be made by this program itself; see `Batch`."""
        whole("batch", "count", count, 1)
        body = {"count": count} | ({} if among is None else {"among": _names("batch", among)})
        shape = {"batch": str, "arms": lambda arms: _divides(arms, count), "seed": int}
        made = self._change("POST", self._path("/batches"), body, key=new_key(), shape=shape)
        return Batch(made["batch"], made["arms"], made["seed"], self.report)

    def report(self, batch: Batch) -> dict[str, Any]:
        """The merged rewards of a batch, which count once however often they are sent."""
        return self._change("PUT", f"/v1/batches/{_quoted(batch.id)}", {"arms": batch.merged()}, shape={"batch": str})

    def create(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Create an experiment, or find the same one there; its name is that of the client unless the spec has one."""
        named = {} if self.experiment is None else {"name": self.experiment}
        return self._change("POST", "/v1/experiments", named | dict(spec), shape=STATUS)

    def make_token(
        self,
        scopes: Sequence[str],
        experiments: Sequence[str] | None = None,
        expires: int | None = None,
        note: str = "",
    ) -> dict[str, Any]:
        """A token, whose text is shown this once; `expires` in milliseconds since 1970."""
        given = {"experiments": None if experiments is None else list(experiments), "expires": expires, "note": note}
        body = {"scopes": list(scopes)} | {name: value for name, value in given.items() if value}
        return self._change("POST", "/v1/tokens", body, shape={"token": str})

    def tokens(self) -> list[dict[str, Any]]:
        """All tokens, without their secrets."""
        return cast("list[dict[str, Any]]", self._delivery.call("GET", "/v1/tokens", shape=[dict]).said)

    def revoke(self, token: str) -> None:
        """End a token; by its id, the eight letters in its middle."""
        self._delivery.call("DELETE", f"/v1/tokens/{_quoted(token)}")

    def make_webhook(
        self,
        url: str,
        events: Sequence[str] = ("guardrail", "alarm", "state"),
        experiments: Sequence[str] | None = None,
        note: str = "",
    ) -> dict[str, Any]:
        """A receiver that is told what happens from now on; its secret is shown this once."""
        named = {} if experiments is None else {"experiments": list(experiments)}
        body = {"url": url, "events": list(events), "note": note, **named}
        return self._change("POST", "/v1/webhooks", body, shape={"secret": str})

    def webhooks(self) -> list[dict[str, Any]]:
        """All receivers of webhooks, without their secrets, and whether they answer."""
        return cast("list[dict[str, Any]]", self._delivery.call("GET", "/v1/webhooks", shape=[dict]).said)

    def remove_webhook(self, webhook: str) -> None:
        """Tell a receiver nothing more; by its id."""
        self._delivery.call("DELETE", f"/v1/webhooks/{_quoted(webhook)}")

    def experiments(self) -> list[dict[str, Any]]:
        """All experiments that the token may see, in short."""
        return cast("list[dict[str, Any]]", self._delivery.call("GET", "/v1/experiments", shape=[STATUS]).said)

    def show(self) -> dict[str, Any]:
        """The experiment: its state and its spec."""
        return self._read("", STATUS)

    def estimates(self, level: float = 0.95, control: str | None = None) -> dict[str, Any]:
        """What is known of every arm and of the whole, with intervals that stay valid however often you look; with a
        control, by default that of the experiment, also by how much every arm differs from it."""
        against = "" if control is None else f"&control={_quoted(control)}"
        return self._read(f"/estimates?level={float(level)!r}{against}", {"arms": [dict], "summary": dict})

    def state(self) -> str:
        """What `Agent.from_json` takes."""
        return self._delivery.call("GET", self._path("/state"), shape={"format": str}).body.decode()

    def events(self, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """The log after an event; for the next page pass the `seq` of the last."""
        whole("events", "after", after, 0)
        path = self._path(f"/events?after={after}&limit={whole('events', 'limit', limit, 1)}")
        return cast("list[dict[str, Any]]", self._delivery.call("GET", path, shape=Lines({"seq": int})).said)

    def export(self, path: str | os.PathLike[str], format: Literal["csv", "parquet", "ndjson"] = "csv") -> None:
        """Write all decisions with their rewards into a file, which is there only when it is whole."""
        self._write(path, f"/export?format={_quoted(format)}", format)

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Write the report for whoever decides into a file of HTML, which is there only when it is whole."""
        self._write(path, "/report", "html")

    def _write(self, path: str | os.PathLike[str], what: str, kind: str) -> None:
        address = self._path(what)
        part = Path(f"{os.fspath(path)}.{new_key()}.part")
        try:
            with part.open("xb") as file:
                self._delivery.call("GET", address, shape=File(f"{self.experiment}.{kind}", file))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def verify(self) -> dict[str, Any]:
        """Replay the whole log, and compare."""
        return self._change("POST", self._path("/verify"), shape={"ok": bool, "events": int})

    def change(self, /, verb: str, reason: str, **named: str | None) -> dict[str, Any]:
        """Change the experiment by a verb of the API, such as those below, and what else it names."""
        body = {"reason": reason} | {name: text for name, text in named.items() if text is not None}
        return self._change("POST", self._path(f"/{_quoted(verb)}"), body, key=new_key(), shape=STATUS)

    def pause(self, reason: str) -> dict[str, Any]:
        """Answer with the fallback arm, or not at all, until resumed."""
        return self.change("pause", reason)

    def resume(self, reason: str) -> dict[str, Any]:
        """Go on after a pause or a freeze."""
        return self.change("resume", reason)

    def freeze(self, arm: str, reason: str) -> dict[str, Any]:
        """Give everybody this arm until resumed; rewards still count."""
        return self.change("freeze", reason, arm=arm)

    def stop(self, reason: str) -> dict[str, Any]:
        """End the experiment for good."""
        return self.change("stop", reason)

    def add_arm(self, arm: str, reason: str) -> dict[str, Any]:
        """A new arm."""
        return self.change("arms", reason, arm=arm)

    def retire(self, arm: str, reason: str, fallback: str | None = None) -> dict[str, Any]:
        """Never choose this arm again. If it is the fallback arm, name another one."""
        return self.change("retire", reason, arm=arm, fallback=fallback)

    def archive(self, reason: str) -> dict[str, Any]:
        """Take a stopped experiment out of the list."""
        return self.change("archive", reason)

    def restore(self, reason: str) -> dict[str, Any]:
        """Take it back out of the archive."""
        return self.change("restore", reason)

    def delete(self, reason: str) -> dict[str, Any]:
        """Delete a stopped experiment for good; that it was there, and the reason, stay."""
        return self.change("delete", reason)

    def forget(self, reason: str) -> dict[str, Any]:
        """Forget who the units were."""
        return self.change("forget", reason)

    def _ask(
        self, count: int, unit: str | None, among: Sequence[str] | None, activate: str, key: str | None
    ) -> list[Decision]:
        """Decisions of one request; those of the fallback arm if nobody answers."""
        given = {"unit": unit, "among": None if among is None else _names("ask", among)}
        body = {"count": count, "activate": activate} | {name: x for name, x in given.items() if x is not None}
        path, key = self._path("/decisions"), new_key() if key is None else key_of("ask", key)
        if self.fallback is not None and self._delivery.rests:
            return self._fallen_back(count, "the service did not answer a moment ago")
        try:
            made = self._change("POST", path, body, key=key, shape={"decisions": (DECISION, count)})
        except ServiceError as error:
            if self.fallback is None:
                raise
            return self._fallen_back(count, str(error), error)
        return [_decision(each) for each in made["decisions"]]

    def _fallen_back(self, count: int, why: str, error: ServiceError | None = None) -> list[Decision]:
        """The fallback arm. The service counts such decisions only if it could not answer, not if it would not."""
        if error is None or error.away:
            self._delivery.fell_back(count, None if error is None else why)
        elif error.kind != "not-running":  # a person has paused it; anything else is a mistake that somebody must see
            log.error("decisions are answered with the fallback arm, since the service refuses to make any: %s", why)
        return [Decision(None, cast("str", self.fallback), "fallback", why=why)] * count

    def _entry(
        self, decision: Decision | str, reward: float, metrics: Mapping[str, float] | None = None
    ) -> dict[str, Any] | None:
        """A reward as the API takes it; None, and counted, if the decision does not count."""
        id = decision.id if isinstance(decision, Decision) else decision
        if id is None:
            self._delivery.not_counted()
            return None
        return {"decision": id, "reward": reward} | ({} if metrics is None else {"metrics": dict(metrics)})

    def _about(self, decision: Decision | str, verb: str) -> Decision:
        """Activate or withdraw; a decision that does not count stays as it is."""
        id = decision.id if isinstance(decision, Decision) else decision
        if id is None:
            return cast("Decision", decision)
        return _decision(self._change("POST", f"/v1/decisions/{_quoted(id)}/{verb}", {}, new_key(), DECISION))

    def _read(self, what: str, shape: Shape) -> dict[str, Any]:
        return cast("dict[str, Any]", self._delivery.call("GET", self._path(what), shape=shape).said)

    def _change(
        self, method: str, path: str, body: Any = None, key: str | None = None, shape: Shape = None
    ) -> dict[str, Any]:
        return cast("dict[str, Any]", self._delivery.call(method, path, body, key, shape).said)

    def _path(self, what: str) -> str:
        if not self.experiment:
            raise ValueError('Client: this needs the name of an experiment; pass Client(url, token, "name")')
        return f"/v1/experiments/{_quoted(self.experiment)}{what}"


def _quoted(name: str) -> str:
    return urllib.parse.quote(text("Client", "a name or an id", name), safe="", errors="replace")


def _divides(arms: Any, count: int) -> bool:
    """Whether these are arms with their shares of so many decisions."""
    if not isinstance(arms, dict) or not fits(list(arms.values()), [int]):
        return False
    return min(arms.values(), default=0) >= 0 and sum(arms.values()) == count


def _names(owner: str, among: Any) -> list[str]:
    names = list(among) if isinstance(among, Iterable) and not isinstance(among, str) else [None]
    return [text(owner, "each arm of among", name) for name in names]


def _decision(answer: Mapping[str, Any]) -> Decision:
    """A decision as the service describes it; members that this client does not know are passed over."""
    known = {name: answer[name] for name in Decision._fields if name in answer}
    return Decision(**{"id": answer["decision"], **known})
