"""The state of an experiment: what its events so far add up to.

`apply` is the only way in which it changes, for a new event and for one that is read back from the log. The agent is
asked again on a replay, and must give the arm that the log holds.
"""

import copy
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from prudent.base.json_text import sealed, unsealed
from prudent.engine.python.arm import ArmState, include_reward
from prudent.live.agent import Agent
from prudent.live.drift import Mark, Marks
from prudent.service.log.events import KINDS, START, Details, Event, body_of, chained
from prudent.service.spec import Spec
from prudent.service.verbs import VERBS, Status

FORMAT, VERSION = "prudent experiment", 1
"""Of what `to_json` writes; a snapshot of another version is not read, and the log is replayed instead."""


STATUS_AFTER = {verb.event: verb.leads_to for verb in VERBS if verb.leads_to is not None}


class LogError(Exception):
    """The log does not fit together: somebody altered it, or this is another version of the software."""


@dataclass(slots=True)
class Tally:
    """What became of the decisions of an arm. `told` are rewards that were reported, whether counted yet or not."""

    asked: int = 0
    told: int = 0
    defaulted: int = 0
    expired: int = 0
    withdrawn: int = 0
    outside: int = 0


class ExperimentState:
    """An experiment after some events. `fired` are the guardrails that have acted, as (rail, arm); `changed` says of
    each arm whose rewards have changed what has; `marks` are its statistics at earlier times."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.rails = [guardrail.rail() for guardrail in spec.guardrails]
        self.agent: Agent = spec.agent()
        self.labels = list(spec.arms)
        self.numbers = {label: i for i, label in enumerate(self.labels)}
        self.retired: set[int] = set()
        self.status: Status = "running"
        self.frozen_to: int | None = None
        self.fallback = spec.fallback
        self.seq, self.at, self.chain = 0, 0, START
        self.tally = [Tally() for _ in self.labels]
        self.metrics = [{name: ArmState() for name in spec.metrics} for _ in self.labels]
        self.marks = [Marks() for _ in self.labels]
        self.changed: dict[int, Details] = {}
        self.fired: set[tuple[int, int]] = set()
        self.fell_back = 0

    def apply(self, event: Event) -> Event:
        """Take an event in. An event that makes a decision and does not say yet which comes back with it."""
        if event.seq != self.seq + 1:
            raise LogError(f"event {self.seq + 1} is missing: after {self.seq} comes {event.seq}")
        if event.at < self.at:
            raise LogError(f"event {event.seq} has an earlier time than the one before it")
        event = _EFFECTS[event.kind](self, event) or event
        self.seq, self.at, self.chain = event.seq, event.at, chained(self.chain, event)
        return event

    def _asked(self, event: Event) -> Event:
        among = None if event.body is None else event.details.get("among")
        label, propensity = self.agent.decide(among and [self.labels[i] for i in among])
        arm = self.numbers[label]
        self.tally[arm].asked += 1
        if event.arm is None:
            return event._replace(arm=arm, decision=event.seq, value=propensity)
        if event.arm != arm:
            raise LogError(f"event {event.seq} gave arm {event.arm}; the policy gives {arm}")
        if event.value != propensity:
            raise LogError(f"event {event.seq} has the probability {event.value}; the policy gives {propensity}")
        return event

    def _told(self, event: Event) -> None:
        self.tally[arm_of(event)].told += 1
        if not self.spec.waits:
            self._count(event)

    def _defaulted(self, event: Event) -> None:
        self.tally[arm_of(event)].defaulted += 1
        self._count(event)

    def _count(self, event: Event) -> None:
        arm, reward = arm_of(event), event.value
        assert reward is not None
        self.agent.tell(self.labels[arm], reward, asked=event.kind != "outside")
        self.marks[arm].include(self.agent.kept(self.labels[arm]))
        if event.body is not None:  # other numbers that came with the reward
            for name, value in event.details.get("metrics", {}).items():
                include_reward(self.metrics[arm][name], value, *self.spec.metrics[name].support)

    def _outside(self, event: Event) -> None:
        self.tally[arm_of(event)].outside += 1
        self._count(event)

    def _expired(self, event: Event) -> None:
        self.tally[arm_of(event)].expired += 1
        self.agent.withdraw(self.labels[arm_of(event)])

    def _withdrawn(self, event: Event) -> None:
        self.tally[arm_of(event)].withdrawn += 1
        self.agent.withdraw(self.labels[arm_of(event)])

    def _split(self, event: Event) -> Event:
        details = event.details
        among = details.get("among")
        given = self.agent.split(details["count"], among and [self.labels[i] for i in among])
        counts = [given.get(label, 0) for label in self.labels]
        if details.get("arms", counts) != counts:
            raise LogError(f"event {event.seq} divided a batch as {details['arms']}; the policy gives {counts}")
        for tally, count in zip(self.tally, counts, strict=True):
            tally.asked += count
        return event._replace(decision=event.seq, body=body_of({**details, "arms": counts}))

    def _merged(self, event: Event) -> None:
        for arm, (unused, count, mean, variance) in enumerate(event.details["arms"]):
            if count > 0:
                self.agent.merge(self.labels[arm], count, mean, variance)
                self.marks[arm].include(self.agent.kept(self.labels[arm]))
            if unused > 0:
                self.agent.withdraw(self.labels[arm], unused)
            self.tally[arm].told += count
            self.tally[arm].withdrawn += unused

    def _fell_back(self, event: Event) -> None:
        self.fell_back += event.details["count"]

    def _arm_added(self, event: Event) -> None:
        label = event.details["arm"]
        self.agent.add_arm(label)
        self.numbers[label] = len(self.labels)
        self.labels.append(label)
        self.tally.append(Tally())
        self.marks.append(Marks())
        self.metrics.append({name: ArmState() for name in self.spec.metrics})

    def _arm_retired(self, event: Event) -> None:
        self.agent.retire(self.labels[arm_of(event)])
        self.retired.add(arm_of(event))
        self.fallback = event.details.get("fallback", self.fallback)

    def _changed(self, event: Event) -> None:
        self.changed[arm_of(event)] = event.details

    def _guardrail(self, event: Event) -> None:
        self.fired.add((event.details["rail"], arm_of(event)))

    def _moved(self, event: Event) -> None:
        """To another status by a person or a guardrail; of these only a freeze names an arm."""
        self.status, self.frozen_to = STATUS_AFTER[event.kind], event.arm

    def _nothing(self, event: Event) -> None:
        """Created, activated and forgotten change nothing that a policy sees."""

    def to_json(self) -> str:
        """The whole state, the same text for the same state."""
        parts = {
            "seq": self.seq,
            "at": self.at,
            "chain": self.chain.hex(),
            "status": self.status,
            "frozen_to": self.frozen_to,
            "fallback": self.fallback,
            "labels": self.labels,
            "retired": sorted(self.retired),
            "tally": [asdict(tally) for tally in self.tally],
            "metrics": [{name: _plain(arm) for name, arm in arms.items()} for arms in self.metrics],
            "marks": [arm.marks for arm in self.marks],
            "changed": sorted(self.changed.items()),
            "fired": sorted(self.fired),
            "fell_back": self.fell_back,
            "agent": self.agent.to_json(),
        }
        return sealed(FORMAT, VERSION, parts)

    @classmethod
    def from_json(cls, spec: Spec, text: str) -> "ExperimentState":
        """The state whose `to_json` this is."""
        parts = unsealed(FORMAT, VERSION, text)
        state = cls(spec)
        state.seq, state.at, state.chain = parts["seq"], parts["at"], bytes.fromhex(parts["chain"])
        state.status, state.frozen_to, state.labels = parts["status"], parts["frozen_to"], parts["labels"]
        state.fallback = parts["fallback"]
        state.numbers = {label: i for i, label in enumerate(state.labels)}
        state.retired, state.fell_back = set(parts["retired"]), parts["fell_back"]
        state.tally = [Tally(**tally) for tally in parts["tally"]]
        state.metrics = [{name: _arm(arm) for name, arm in arms.items()} for arms in parts["metrics"]]
        state.marks = [Marks(Mark(*mark) for mark in marks) for marks in parts["marks"]]
        state.changed = dict(parts["changed"])
        state.fired = {(rail, arm) for rail, arm in parts["fired"]}
        state.agent = Agent.from_json(parts["agent"])
        return state

    @property
    def past_horizon(self) -> bool:
        """Whether more decisions were made than the policy was planned for."""
        return self.spec.horizon is not None and sum(tally.asked for tally in self.tally) > self.spec.horizon

    def copy(self) -> "ExperimentState":
        """For reading, while this one goes on."""
        view = copy.copy(self)
        view.agent = self.agent.copy()
        view.labels, view.numbers = list(self.labels), dict(self.numbers)
        view.retired, view.fired, view.changed = set(self.retired), set(self.fired), dict(self.changed)
        view.marks = [Marks(arm.marks) for arm in self.marks]
        view.tally, view.metrics = copy.deepcopy((self.tally, self.metrics))
        return view


_EFFECTS: dict[str, Callable[[ExperimentState, Event], Event | None]] = {
    **dict.fromkeys(KINDS, ExperimentState._nothing),
    **dict.fromkeys(STATUS_AFTER, ExperimentState._moved),
    "asked": ExperimentState._asked,
    "told": ExperimentState._told,
    "counted": ExperimentState._count,
    "defaulted": ExperimentState._defaulted,
    "expired": ExperimentState._expired,
    "withdrawn": ExperimentState._withdrawn,
    "outside": ExperimentState._outside,
    "split": ExperimentState._split,
    "merged": ExperimentState._merged,
    "fell-back": ExperimentState._fell_back,
    "arm-added": ExperimentState._arm_added,
    "arm-retired": ExperimentState._arm_retired,
    "changed": ExperimentState._changed,
    "guardrail": ExperimentState._guardrail,
}
"""What each kind of event does to the state."""


def arm_of(event: Event) -> int:
    """The number of the arm of an event that has one."""
    assert event.arm is not None
    return event.arm


def _plain(arm: ArmState) -> Details:
    """What is known of a metric, as JSON."""
    ledger = None if arm.ledger is None else arm.ledger.tolist()
    return {"pulls": arm.pulls, "mean": arm.mean, "variance": arm.variance, "ledger": ledger}


def _arm(parts: Details) -> ArmState:
    ledger = None if parts["ledger"] is None else np.array(parts["ledger"])
    return ArmState(pulls=parts["pulls"], mean=parts["mean"], variance=parts["variance"], ledger=ledger)
