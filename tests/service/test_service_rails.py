"""Guardrails in a running experiment: they act with the reward that proves it, once, and nothing takes it back."""

import numpy as np
import pytest
from scipy.stats import binom

from prudent.service import messages as m
from prudent.service.log.state import ExperimentState
from prudent.service.log.store import Experiment
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work import watch
from prudent.service.work.transaction import Transaction
from prudent.service.work.writer import Command, perform

SPEC = {
    "name": "e",
    "arms": ["A", "B"],
    "policy": "round-robin",
    "risk": "mean-variance(rho=1)",
    "support": [0, 1],
    "seed": 1,
    "metrics": {"delay": {"support": [0, 10]}},
}
MEAN = {"watch": "mean", "below": 0.4, "then": "retire"}


def experiment(service, *rails, **more):
    service.create(decoded({**SPEC, "guardrails": list(rails), **more}))


def give(service, arm, value, count, delay=None, start=0):
    """Rewards from outside in one request. After how many of them a guardrail fires, and the events of that."""
    values = [value] if isinstance(value, float) else value
    metrics = None if delay is None else {"delay": delay}
    numbers = range(start, start + count)
    told = [m.Told(values[i % len(values)], arm=arm, key=f"{arm}{i}", metrics=metrics) for i in numbers]
    before = service.view("e").state.seq
    assert {one.status for one in service.run("e", m.TellMany(told)).results} == {201}
    events = [event for event in service.events("e", before, 2 * count) if event["kind"] != "changed"]
    kinds = [event["kind"] for event in events]
    if "guardrail" not in kinds:
        assert len(events) == count
        return None, []
    place = kinds.index("guardrail")
    assert len(events) == count + 2
    return place, events[place - 1 : place + 2]


@pytest.mark.parametrize(
    ("rail", "value", "delay"),
    [
        (MEAN, 0.1, None),
        ({"watch": "mean", "above": 0.6, "then": "retire"}, 0.9, None),
        ({"watch": "mean", "metric": "delay", "above": 4, "then": "retire"}, 0.5, 8.0),
        ({"watch": "variance", "above": 0.1, "then": "retire"}, [0.0, 1.0], None),
        ({"watch": "variance", "metric": "delay", "below": 5, "then": "retire"}, 0.5, 8.0),
        ({"watch": "cost", "above": -0.3, "then": "retire"}, [0.0, 0.2], None),
        ({"watch": "quantile", "q": 0.5, "below": 0.4, "then": "retire"}, [0.1, 0.2, 0.9], None),
    ],
)
def test_every_kind_of_limit_is_watched(service, rail, value, delay):
    """The reward, the guardrail and what it does follow each other, at one time."""
    experiment(service, rail, remember=rail["watch"] == "quantile")
    assert give(service, "B", 0.5, 20, 1.0) == (None, [])  # nothing yet
    count, events = give(service, "A", value, 400, delay)
    assert count is not None
    assert [(event["kind"], event.get("label")) for event in events] == [
        ("outside", "A"), ("guardrail", "A"), ("arm-retired", "A"),
    ]  # fmt: skip
    assert len({event["at"] for event in events}) == 1
    assert events[1]["body"]["reason"] == events[2]["body"]["reason"]
    assert service.view("e").status.arms == ["B"]
    if rail["watch"] != "mean":
        assert count % 50 == 0
    assert give(service, "A", value, 100, delay, start=400) == (None, [])
    assert service.verify("e").ok


def test_what_is_asked_after_the_reward_in_the_same_transaction_sees_it(service):
    experiment(service, MEAN, metrics={})
    many = m.TellMany([m.Told(0.0, arm="A", key=f"{i}") for i in range(100)])
    both = [Command("e", many), Command("e", m.Ask(count=10))]
    told, asked = service.write(lambda: service.writer.carry_out(both))
    assert {one.status for one in told.results} == {201}
    assert {one.arm for one in asked.decisions} == {"B"}


def test_if_the_transaction_fails_neither_reward_nor_action_happened(service):
    experiment(service, MEAN, metrics={})
    many = [m.Told(0.0, arm="A", key=f"{i}") for i in range(100)]

    def fail(step):
        if step == "before commit":
            raise RuntimeError

    service.writer.step = fail
    with pytest.raises(RequestError):
        service.run("e", m.TellMany(many))
    service.writer.step = lambda step: None
    assert (service.view("e").state.seq, service.view("e").state.fired) == (1, set())
    service.run("e", m.TellMany(many))
    assert service.view("e").state.fired == {(0, 0)}


@pytest.mark.parametrize(
    ("then", "status", "kind"),
    [({"then": "freeze", "to": "B"}, "frozen", "frozen"), ({"then": "pause"}, "paused", "paused"),
     ({"then": "stop"}, "stopped", "stopped")],
)  # fmt: skip
def test_it_acts_once_and_never_takes_it_back(service, then, status, kind):
    experiment(service, {**MEAN, **then})
    count, events = give(service, "A", 0.0, 100)
    assert [event["kind"] for event in events] == ["outside", "guardrail", kind]
    give(service, "A", 1.0, 200, start=100)
    assert service.view("e").status.status == status
    if status != "stopped":
        service.run("e", m.BODIES["resume"]("looked into it"))
        assert give(service, "A", 0.0, 300, start=300) == (None, [])
        assert service.view("e").status.status == "running"
        assert give(service, "B", 0.0, 100)[0] == count  # the other arm is watched as before


def test_the_last_arm_is_not_retired_but_the_experiment_paused(service):
    experiment(service, MEAN)
    assert [give(service, arm, 0.0, 100)[1][-1]["kind"] for arm in "AB"] == ["arm-retired", "paused"]
    assert service.view("e").status.arms == ["B"]


def test_what_cannot_be_done_pauses(service):
    """The policy needs arm 0, the reward must not be refused for it."""
    experiment(service, MEAN, policy="fixed-arm(arm=0)")
    assert give(service, "A", 0.0, 100)[1][-1]["kind"] == "paused"


def test_an_arm_added_later_has_its_part_of_the_error(service):
    """It is smaller for each that is added, so they need more rewards."""
    experiment(service, {**MEAN, "then": "pause"})
    needed = []
    for arm in ("A", "new", "newer"):
        if arm != "A":
            service.run("e", m.BODIES["resume"]("go on"))
            service.run("e", m.BODIES["add"](arm, "new"))
        needed.append(give(service, arm, 0.0, 200)[0])
    assert needed == sorted(set(needed))


@pytest.mark.parametrize(("more", "whole"), [({}, 1.0), ({"metrics": {}}, 0.5)])
def test_all_rails_and_arms_together_have_the_stated_error(service, monkeypatch, more, whole):
    """Half of it where merged rewards may come too (an experiment without metrics), since these have bounds as well.
    A rail for each arm keeps a third of its share for arms that may be added to two."""
    given = []
    monkeypatch.setattr(watch, "_fires", lambda *told: given.append(told[3]))
    experiment(service, MEAN, {"watch": "mean", "above": 0.9, "arm": "A", "then": "pause"}, error=0.02, **more)
    for arm in ("A", "B"):
        give(service, arm, 0.5, 1)
    assert given == pytest.approx([0.02 * whole * part for part in (1 / 6, 1 / 2, 1 / 6, 0.0)])


def test_rewards_that_wait_are_watched_when_they_are_counted(service, clock):
    experiment(service, MEAN, rewards={"window": 60, "default": 0})
    asked = service.run("e", m.Ask(count=60, among=["A"])).decisions
    assert len(asked) == 60
    clock.advance(60)
    service.close_windows()
    kinds = [event["kind"] for event in service.events("e", 61, 200)]
    place = kinds.index("guardrail")
    assert kinds[place + 1] == "arm-retired"
    assert set(kinds[:place] + kinds[place + 2 :]) == {"defaulted"}


def test_merged_rewards_are_watched(service):
    experiment(service, MEAN, metrics={})
    batch = service.run("e", m.Split(400))
    service.run("e", m.Merge({"A": m.Statistics(200, 0.1, 0.01)}), decision=batch.batch)
    assert [event["kind"] for event in service.events("e", 2, 9)] == ["merged", "guardrail", "arm-retired"]
    assert service.verify("e").ok


def lives(rails, draw, arms, rounds, number):
    """In how many of so many experiments a guardrail fires; `draw` gives a reward and a delay."""
    spec = decoded({**SPEC, "arms": arms, "guardrails": rails, "error": 0.2}).settled()
    row = Experiment(1, "e", "", "", b"secret", b"salt", 0, 0, b"", "running")
    fired = 0
    for life in range(number):
        rng = np.random.default_rng([9, life])
        work = Transaction(row, ExperimentState(spec), 0)
        work.record("created", 0, {"spec": {}})
        told = []
        for number_of in range(rounds):
            for arm in arms:
                reward, delay = draw(rng)
                told.append(m.Told(reward, arm=arm, key=f"{arm}{number_of}", metrics={"delay": delay}))
        results = perform(work, Command("e", m.TellMany(told))).results
        assert {one.status for one in results} == {201}
        fired += bool(work.state.fired)
    return fired


RAILS = [
    {"watch": "mean", "below": 0.5, "then": "pause"},
    {"watch": "mean", "above": 0.5, "arm": "A", "then": "pause"},
    {"watch": "mean", "metric": "delay", "above": 5, "then": "pause"},
    {"watch": "variance", "above": 0.25 - 1e-9, "then": "pause"},
]


def test_exactly_at_the_limit_they_fire_no_more_often_than_the_error_says():
    """All rails, arms and times together; a false alarm of this test has a probability of at most 10⁻⁹."""

    def at_limit(rng):
        return float(rng.random() < 0.5), 10.0 * float(rng.random() < 0.5)

    def beyond(rng):
        return float(rng.random() < 0.2), 10.0 * float(rng.random() < 0.8)

    assert lives(RAILS, at_limit, ["A", "B"], 50, 100) <= binom.isf(1e-9, 100, 0.2)
    assert lives(RAILS, beyond, ["A", "B"], 50, 10) == 10
