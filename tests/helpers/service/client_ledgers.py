"""Clients that write down what they were told, and the comparison of that with the log."""

import contextlib
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from helpers.service.http_workers import HTTPLine
from helpers.service.workers import Line, line_to
from prudent.service.log.replay import catch_up, newest
from prudent.service.log.rows import DIGEST
from prudent.service.log.state import ExperimentState
from prudent.service.log.store import Experiment, Store
from prudent.service.log.verify import verify
from prudent.service.spec import decoded
from prudent.service.work.transaction import decision_id, key_digest

SPEC = {"arms": ["A", "B", "C"], "policy": "mv-lcb(rho=1)", "horizon": 100_000, "support": [0, 1], "seed": 1}
PLAIN = {**SPEC, "name": "plain", "policy": "thompson", "floor": 0.05, "cap": 0.8}
WINDOWED = {**SPEC, "name": "windowed", "rewards": {"window": 0.2, "default": 0}}
WINDOWED |= {"metrics": {"rest": {"support": [0, 1]}}}
"""Clients report 1 minus the reward as another metric with it."""

TRY_AGAIN = {"unavailable", "busy"}


class Client(threading.Thread):
    """Asks, tells, and repeats itself, until `stop`. `address` says where a worker is now.

    `asked` are acknowledged decisions by their key, `told` acknowledged rewards by decision, `outside` by key. `wrong`
    is what should not have been answered.
    """

    def __init__(self, address: Any, number: int, specs: Any = (PLAIN, WINDOWED), most: int = 10**9) -> None:
        super().__init__(daemon=True)
        self.address, self.number, self.most = address, number, most
        self.names = [spec["name"] for spec in specs]
        self.chance = random.Random(number)
        self.stop = threading.Event()
        self.asked: dict[tuple[str, str], Any] = {}
        self.told: dict[tuple[str, str], float] = {}
        self.outside: dict[tuple[str, str], float] = {}
        self.wrong: list[Any] = []
        self.tries = self.answers = 0
        self._line: Line | HTTPLine | None = None

    def run(self) -> None:
        count = 0
        while not self.stop.is_set() and count < self.most:
            count += 1
            with contextlib.suppress(StopIteration):
                self._round(self.chance.choice(self.names), f"{self.number}-{count}")
        if self._line is not None:
            self._line.close()

    def call(self, kind: str, experiment: str, **parts: Any) -> Any:
        """An answer, however often it takes; `StopIteration` if there is none before the end."""
        while not self.stop.is_set():
            self.tries += 1
            try:
                self._line = line_to(self.address()) if self._line is None else self._line
                answer = self._line.call(kind, experiment, **parts)
            except OSError:
                if self._line is not None:
                    self._line.close()
                self._line = None
                time.sleep(0.01)
                continue
            if isinstance(answer, dict) and answer.get("problem") in TRY_AGAIN:
                time.sleep(0.005)
                continue
            self.answers += 1
            return answer
        raise StopIteration

    def _round(self, name: str, key: str) -> None:
        """A decision and its reward, and now and then something that was said before."""
        decisions = self._ask(name, key, 3 if self.chance.random() < 0.05 else 1)
        for decision in decisions:
            self._tell(name, decision["decision"], self.chance.random())
        if self.chance.random() < 0.1 and self.asked:
            (old, old_key), (count, _) = self.chance.choice(list(self.asked.items()))
            self._ask(old, old_key, count)
        if self.chance.random() < 0.1 and self.told:
            (old, decision), reward = self.chance.choice(list(self.told.items()))
            self._tell(old, decision, reward)
        if self.chance.random() < 0.05:
            self._bring(name, key)

    def _ask(self, name: str, key: str, count: int) -> Any:
        answer = self.call("Ask", name, body={"count": count}, key=key)
        if "problem" in answer:
            self.wrong.append(answer)
            return []
        made = [(one["decision"], one["arm"], one["propensity"]) for one in answer["decisions"]]
        if self.asked.setdefault((name, key), (count, made)) != (count, made):
            self.wrong.append((key, made))
        return answer["decisions"]

    def _tell(self, name: str, decision: str, reward: float) -> None:
        more = {"metrics": {"rest": 1.0 - reward}} if name == WINDOWED["name"] else {}
        answer = self.call("Tell", name, body={"reward": reward, **more}, decision=decision)
        if "problem" not in answer:
            if (self.told.setdefault((name, decision), reward), answer["reward"]) != (reward, reward):
                self.wrong.append(answer)
        elif answer["problem"] != "window-closed" or (name, decision) in self.told:
            self.wrong.append(answer)

    def _bring(self, name: str, key: str) -> None:
        reward = self.chance.random()
        answer = self.call("TellMany", name, body={"rewards": [{"arm": "B", "key": key, "reward": reward}]})
        if answer["results"][0]["status"] not in (200, 201):
            self.wrong.append(answer)
        self.outside[name, key] = reward


def check(store: Store, clients: list[Client]) -> int:
    """Nothing is lost, nothing is there twice, a replay gives the same state, byte for byte; the number of events."""
    assert [one for client in clients for one in client.wrong] == []
    total = 0
    for experiment in store.experiments():
        verified = verify(store, experiment)
        assert verified.ok, verified
        total += verified.events
        _check_log(store, experiment, clients)
    return total


def _check_log(store: Store, experiment: Experiment, clients: list[Client]) -> None:
    """The log of one experiment against what clients were told."""
    log = [event for event, _ in store.events(experiment.id, 0, experiment.seq)]
    keys = {event.key[:DIGEST]: event for event in log if event.key is not None}
    assert len(keys) == sum(event.key is not None for event in log), "a key was used twice"
    told = {event.decision: event.value for event in log if event.kind == "told"}
    assert len(told) == sum(event.kind == "told" for event in log), "a decision has two rewards"
    labels = msgspec.json.decode(experiment.arms)
    for client in clients:
        for (name, key), (_, made) in list(client.asked.items()):
            if name == experiment.name:
                first = keys[key_digest("Ask", key)].seq
                logged = [log[first - 1 + i] for i in range(len(made))]
                assert made == [(decision_id(experiment, event), labels[event.arm], event.value) for event in logged]
        for (name, decision), reward in list(client.told.items()):
            assert name != experiment.name or told[int(decision.split("-")[1])] == reward, "a reward is lost"
        for (name, key), reward in list(client.outside.items()):
            assert name != experiment.name or keys[key_digest("outside", key)].value == reward, "a reward is lost"
    _check_state(store, experiment, log)


def _check_state(store: Store, experiment: Experiment, log: list[Any]) -> None:
    """The state, from the newest snapshot and from the beginning, against a count of the log."""
    whole, quick = ExperimentState(decoded(experiment.spec)), newest(store, experiment)
    for state in (whole, quick):
        catch_up(store, state, experiment)
    assert quick.to_json() == whole.to_json()
    counting = ("counted", "defaulted") if whole.spec.waits else ("told",)
    ends = Counter(event.decision for event in log if event.kind in (*counting, "expired"))
    assert set(ends.values()) <= {1}, "a decision was counted twice"
    pulls = Counter(event.arm for event in log if event.kind in (*counting, "outside"))
    assert [known.pulls for known in whole.agent.estimates()] == [pulls[arm] for arm in range(len(whole.labels))]
    for name in whole.spec.metrics:
        values = [(event.arm, event.details["metrics"][name], event.value) for event in log if event.kind == "counted"]
        assert all(value == 1.0 - reward for _, value, reward in values), "a metric is not the one that was told"
        counts = Counter(arm for arm, _, _ in values)
        assert [known[name].pulls for known in whole.metrics] == [counts[arm] for arm in range(len(whole.labels))]
    states = dict(store.read("SELECT seq, state FROM decision WHERE experiment = ?", experiment.id))
    becomes = {"asked": "open", "counted": "done", "told": "told" if whole.spec.waits else "done"}
    expected = {
        event.decision: becomes.get(event.kind, event.kind) for event in log if event.kind in (*becomes, "defaulted")
    }
    assert states == expected


def integrity(path: str | Path) -> str:
    """What SQLite says about its file."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
