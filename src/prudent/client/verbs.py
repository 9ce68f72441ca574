"""`Agent`'s verbs, answered by the service."""

import json
import os
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, cast

from .delivery import MOST, Delivery, Lost, new_key
from .edge import Batch
from .wire import ServiceError, Wire


class Decision(NamedTuple):
    """An arm to use. Without an id it is the fallback arm, which does not count; `why` says why."""

    id: str | None
    arm: str
    state: str = "open"
    at: int | None = None
    due: int | None = None
    reward: float | None = None
    metrics: dict[str, float] | None = None
    why: str | None = None

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
        The arm to use when the service is away. With it `ask` never raises for want of a service; such decisions are
        not counted, and the service is told later how many there were.
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
        if waiting < 0:
            raise ValueError(f"Client: waiting must be 0 or more, got {waiting}")
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
        if count < 1:
            raise ValueError(f"ask_many: count must be 1 or more, got {count}")
        sizes = [min(MOST, count - first) for first in range(0, count, MOST)]
        return [decision for size in sizes for decision in self._ask(size, unit, among, activate, None)]

    def tell(
        self, decision: Decision | str, reward: float, metrics: Mapping[str, float] | None = None
    ) -> dict[str, Any] | None:
        """The reward of a decision, and other numbers measured with it.

        None if it could not be delivered and waits, or if the decision does not count.
        """
        entry = self._entry(decision, reward, metrics)
        if entry is None:
            return None
        body = {name: value for name, value in entry.items() if name != "decision"}
        try:
            return self._change("PUT", f"/v1/decisions/{_quoted(entry['decision'])}/reward", body)
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
        for first in range(0, len(places), MOST):
            part = places[first : first + MOST]
            sent = [cast("dict[str, Any]", entries[i]) for i in part]
            try:
                found = self._change("POST", self._path("/rewards"), {"rewards": sent})["results"]
            except ServiceError as error:
                if not error.away:
                    raise
                self._delivery.wait(sent, error)
                continue
            for i, result in zip(part, found, strict=True):
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
        return _decision(self._delivery.call("GET", f"/v1/decisions/{_quoted(id)}").json())

    def batch(self, count: int, among: Sequence[str] | None = None) -> Batch:
        """The next `count` decisions, to be made by this program itself; see `Batch`."""
        body = {"count": count} | ({} if among is None else {"among": list(among)})
        made = self._change("POST", self._path("/batches"), body, key=new_key())
        return Batch(made["batch"], made["arms"], made["seed"], self.report)

    def report(self, batch: Batch) -> dict[str, Any]:
        """The merged rewards of a batch, which count once however often they are sent."""
        return self._change("PUT", f"/v1/batches/{_quoted(batch.id)}", {"arms": batch.merged()})

    def create(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Create an experiment, or find the same one there; its name is that of the client unless the spec has one."""
        named = {} if self.experiment is None else {"name": self.experiment}
        return self._change("POST", "/v1/experiments", named | dict(spec))

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
        return self._change("POST", "/v1/tokens", body)

    def tokens(self) -> list[dict[str, Any]]:
        """All tokens, without their secrets."""
        return cast("list[dict[str, Any]]", self._delivery.call("GET", "/v1/tokens").json())

    def revoke(self, token: str) -> None:
        """End a token; by its id, the eight letters in its middle."""
        self._delivery.call("DELETE", f"/v1/tokens/{_quoted(token)}")

    def experiments(self) -> list[dict[str, Any]]:
        """All experiments that the token may see, in short."""
        return cast("list[dict[str, Any]]", self._delivery.call("GET", "/v1/experiments").json())

    def show(self) -> dict[str, Any]:
        """The experiment: its state and its spec."""
        return self._read("")

    def estimates(self, level: float = 0.95) -> dict[str, Any]:
        """What is known of every arm and of the whole, with intervals that stay valid however often you look."""
        return self._read(f"/estimates?level={level!r}")

    def state(self) -> str:
        """What `Agent.from_json` takes."""
        return self._delivery.call("GET", self._path("/state")).body.decode()

    def events(self, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """The log after an event; for the next page pass the `seq` of the last."""
        lines = self._delivery.call("GET", self._path(f"/events?after={after}&limit={limit}")).body.splitlines()
        return [json.loads(line) for line in lines]

    def export(self, path: str | os.PathLike[str], format: Literal["csv", "parquet", "ndjson"] = "csv") -> None:
        """Write all decisions with their rewards into a file, which is there only when it is whole."""
        self._write(path, f"/export?format={format}")

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Write the report for whoever decides into a file of HTML, which is there only when it is whole."""
        self._write(path, "/report")

    def _write(self, path: str | os.PathLike[str], what: str) -> None:
        part = Path(f"{os.fspath(path)}.part")
        try:
            with part.open("wb") as file:
                self._delivery.call("GET", self._path(what), into=file)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def verify(self) -> dict[str, Any]:
        """Replay the whole log, and compare."""
        return self._change("POST", self._path("/verify"))

    def pause(self, reason: str) -> dict[str, Any]:
        """Answer with the fallback arm, or not at all, until resumed."""
        return self._manage("pause", reason)

    def resume(self, reason: str) -> dict[str, Any]:
        """Go on after a pause or a freeze."""
        return self._manage("resume", reason)

    def freeze(self, arm: str, reason: str) -> dict[str, Any]:
        """Give everybody this arm until resumed; rewards still count."""
        return self._manage("freeze", reason, arm)

    def stop(self, reason: str) -> dict[str, Any]:
        """End the experiment for good."""
        return self._manage("stop", reason)

    def add_arm(self, arm: str, reason: str) -> dict[str, Any]:
        """A new arm."""
        return self._manage("arms", reason, arm)

    def retire(self, arm: str, reason: str, fallback: str | None = None) -> dict[str, Any]:
        """Never choose this arm again. If it is the fallback arm, name another one."""
        return self._manage("retire", reason, arm, fallback)

    def forget(self, reason: str) -> dict[str, Any]:
        """Forget who the units were."""
        return self._manage("forget", reason)

    def _ask(
        self, count: int, unit: str | None, among: Sequence[str] | None, activate: str, key: str | None
    ) -> list[Decision]:
        """Decisions of one request; those of the fallback arm if nobody answers."""
        given = {"unit": unit, "among": None if among is None else list(among)}
        body = {"count": count, "activate": activate} | {name: x for name, x in given.items() if x is not None}
        path = self._path("/decisions")
        if self.fallback is not None and self._delivery.rests:
            return self._fallen_back(count, "the service did not answer a moment ago")
        try:
            made = self._change("POST", path, body, key=key or new_key())
        except ServiceError as error:
            if self.fallback is None or not (error.away or error.kind == "not-running"):
                raise
            return self._fallen_back(count, str(error), error)
        return [_decision(each) for each in made["decisions"]]

    def _fallen_back(self, count: int, why: str, error: ServiceError | None = None) -> list[Decision]:
        """The fallback arm. The service counts such decisions only if it could not answer, not if it would not."""
        if error is None or error.away:
            self._delivery.fell_back(count, None if error is None else why)
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
        return _decision(self._change("POST", f"/v1/decisions/{_quoted(id)}/{verb}", {}, key=new_key()))

    def _manage(self, verb: str, reason: str, arm: str | None = None, fallback: str | None = None) -> dict[str, Any]:
        given = {"reason": reason, "arm": arm, "fallback": fallback}
        body = {name: text for name, text in given.items() if text is not None}
        return self._change("POST", self._path(f"/{verb}"), body, key=new_key())

    def _read(self, what: str) -> dict[str, Any]:
        return cast("dict[str, Any]", self._delivery.call("GET", self._path(what)).json())

    def _change(self, method: str, path: str, body: Any = None, key: str | None = None) -> dict[str, Any]:
        return cast("dict[str, Any]", self._delivery.call(method, path, body, key).json())

    def _path(self, what: str) -> str:
        if not self.experiment:
            raise ValueError('Client: this needs the name of an experiment; pass Client(url, token, "name")')
        return f"/v1/experiments/{_quoted(self.experiment)}{what}"


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _decision(answer: Mapping[str, Any]) -> Decision:
    """A decision as the service describes it; members that this client does not know are passed over."""
    known = {name: answer[name] for name in Decision._fields if name in answer}
    return Decision(**{"id": answer["decision"], **known})
