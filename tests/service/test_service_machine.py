"""Every verb, in any order, against a model: which answer, what state, how many of each, and a log without gaps.

`PRUDENT_EXAMPLES=2000 pytest tests/service/test_service_machine.py` looks for longer.
"""

import os
import shutil
import tempfile

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from helpers.service.clock import Clock
from helpers.service.experiment_model import Choice, Model
from prudent.service import messages as m
from prudent.service.log.store import open_store
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work.service import Service
from prudent.service.work.transaction import Command

EXAMPLES = int(os.environ.get("PRUDENT_EXAMPLES", "100"))
KEYS = st.none() | st.sampled_from(["k1", "k2", "k3"])
ARMS = ["A", "B", "C", "D", "E"]
AMONG = st.sampled_from([None, None, None, None, ["A"], ["B", "C"], ["A", "C"], ["D"]])
REWARDS = st.sampled_from([0.0, 0.0, 0.5, 0.5, 1.0, 2.0])
METRICS = st.sampled_from([None, None, None, None, {"delay": 0.5}, {"other": 0.5}])
BASE = {"name": "e", "arms": ["A", "B", "C"], "support": [0, 1], "seed": 3}
AT_THE_END = ("archive", "restore", "delete")
"""Verbs for stopped experiments, which have tests of their own (test_service_archive)."""

WINDOW = {"window": 1, "default": 0.25}
SPECS = [
    {"policy": "mv-lcb(rho=1)", "horizon": 500, "fallback": "A"},
    {"policy": "thompson", "scale": 1, "metrics": {"delay": {"support": [0, 1]}}, "rewards": WINDOW},
    {"policy": "round-robin", "risk": "mean", "rewards": {"window": 1}, "sticky": True, "fallback": "B"},
    {"policy": "ucb1", "rewards": {**WINDOW, "count": "at-once"}},
    {"policy": "exp-exp", "horizon": 100, "risk": "mean-variance(rho=1)", "sticky": True},
]


def model_of(spec):
    rewards = spec.get("rewards", {})
    return Model(
        list(BASE["arms"]),
        sticky=spec.get("sticky", False),
        window=1000 if "window" in rewards else None,
        default=rewards.get("default"),
        at_once="count" in rewards,
        fallback=spec.get("fallback"),
        metrics=tuple(spec.get("metrics", ())),
        batches=not (spec.get("sticky") or rewards or "metrics" in spec),
    )


class Machine(RuleBasedStateMachine):
    """A service that is asked for anything, and the model beside it."""

    def __init__(self):
        super().__init__()
        self.folder, self.clock = tempfile.mkdtemp(), Clock()
        self.open()

    def open(self):
        store = open_store(f"{self.folder}/prudent.db", relaxed=True)
        self.service = Service(store, self.clock, patience=0.0)

    @initialize(spec=st.sampled_from(SPECS))
    def create(self, spec):
        self.model = model_of(spec)
        self.service.writer.create(decoded({**BASE, **spec}), 0)

    def run(self, request, **about):
        """The answer, or the kind of the refusal."""
        (answer,) = self.service.writer.carry_out([Command("e", request, **about)])
        return answer.kind if isinstance(answer, RequestError) else answer

    def keyed(self, request, key, expect):
        """What is expected of a request with a key, and what came; `expect` says it for a new key."""
        used = self.model.used(type(request).__name__, key, request)
        expected, answer = used or expect(), self.run(request, key=key)
        if isinstance(expected, str) or isinstance(answer, str):
            assert answer == expected
            return None, None
        assert bool(answer.again) == (expected[0] == "again")
        return expected, answer

    def learn(self, request, key, answer):
        """The key stands for this from now on."""
        if key is not None:
            self.model.keys[type(request).__name__, key] = request, answer

    @rule(unit=st.sampled_from([None, "x", "y", "z"]), among=AMONG, count=st.sampled_from([1, 1, 1, 3]), key=KEYS,
          later=st.sampled_from([False, False, False, True]))  # fmt: skip
    def ask(self, unit, among, count, key, later):
        request = m.Ask(unit, among, count, "later" if later else "now")
        expected, answer = self.keyed(request, key, lambda: self.model.ask(unit, among, count))
        if expected is None:
            return
        kind, what = expected
        names = [decision.decision for decision in answer.decisions]
        if kind == "again":
            assert names == what
        elif kind == "fallback":
            assert {(one.decision, one.arm) for one in answer.decisions} == {(None, what)}
            return
        else:
            assert len(answer.decisions) == count
            assert {decision.arm for decision in answer.decisions} <= what
            due = None if later or self.model.window is None else self.clock() + self.model.window
            for decision in answer.decisions:
                self.model.choices[decision.decision] = Choice(decision.arm, "waiting" if later else "open", due)
                self.model.happened(decision.arm, "asked")
            self.learn(request, key, names)
            if self.model.sticky:
                self.model.units[unit] = names[0]
        for decision in answer.decisions:
            self.check(decision)

    def check(self, decision):
        """A decision as it is shown is the one of the model."""
        known = self.model.choices[decision.decision]
        shown = decision.arm, decision.state, decision.due, decision.reward, decision.metrics
        assert shown == (known.arm, known.state, known.due, known.value, known.metrics)

    def some(self, place):
        """The name of a decision, the newest at 0."""
        names = list(self.model.choices)
        return names[-1 - place % len(names)]

    @precondition(lambda self: self.model.choices)
    @rule(place=st.integers(0, 2), value=REWARDS, metrics=METRICS)
    def tell(self, place, value, metrics):
        name = self.some(place)
        expected = self.model.tell(self.model.choices[name], value, metrics, self.clock())
        answer = self.run(m.Tell(value, metrics), decision=name)
        if isinstance(expected, str):
            assert answer == expected
        else:
            assert (answer.arm, answer.reward) == (self.model.choices[name].arm, value)
            assert answer.again == (expected[0] == "again")
            assert (answer.counted == "now") == (self.model.window is None or self.model.at_once)

    @rule(given=st.lists(st.tuples(st.integers(0, 5) | st.sampled_from(ARMS), REWARDS, st.sampled_from("pqr")),
                         min_size=1, max_size=4))  # fmt: skip
    def tell_many(self, given):
        given = [one for one in given if isinstance(one[0], str) or self.model.choices]
        rewards, expected = [], []
        for which, value, key in given:
            if isinstance(which, int):
                name = self.some(which)
                rewards.append(m.Told(value, decision=name))
                expected.append(self.model.tell(self.model.choices[name], value, None, self.clock()))
            else:
                rewards.append(m.Told(value, arm=which, key=key))
                expected.append(self.outside(which, value, key))
        if not rewards:
            return
        status = {"new": 201, "again": 200, "invalid": 422, "key-reused": 422, "window-closed": 410}
        wanted = [status.get(one if isinstance(one, str) else one[0], 409) for one in expected]
        assert [one.status for one in self.run(m.TellMany(rewards)).results] == wanted

    def outside(self, arm, value, key):
        if arm not in self.model.arms or value > 1.0:
            return "invalid"
        used = self.model.used("outside", key, (arm, value))
        if used is None:
            self.model.keys["outside", key] = (arm, value), None
            self.model.happened(arm, "outside")
        return used or ("new", None)

    @precondition(lambda self: self.model.choices)
    @rule(place=st.integers(0, 2), verb=st.sampled_from([m.Activate, m.Withdraw]))
    def use_or_not(self, place, verb):
        name = self.some(place)
        act = self.model.activate if verb is m.Activate else self.model.withdraw
        expected, answer = act(self.model.choices[name], self.clock()), self.run(verb(), decision=name)
        if isinstance(expected, str):
            assert answer == expected
        else:
            self.check(answer)

    @rule(
        verb=st.sampled_from(["resume", *sorted(m.BODIES.keys() - {"stop", *AT_THE_END})]),
        arm=st.sampled_from(ARMS),
        key=KEYS,
    )
    def change(self, verb, arm, key):
        body = m.BODIES[verb]
        request = body(arm, "why") if "arm" in body.__struct_fields__ else body("why")
        expected, answer = self.keyed(request, key, lambda: self.model.change(verb, arm))
        if expected is not None:
            self.check_status(answer)
            if expected[0] == "new":
                self.learn(request, key, None)

    @rule(seldom=st.integers(0, 15))
    def stop(self, seldom):
        if seldom == 7:
            expected, answer = self.model.change("stop", None), self.run(m.BODIES["stop"]("why"))
            assert answer == expected if isinstance(expected, str) else answer.status == "stopped"

    def check_status(self, shown):
        assert (shown.status, shown.frozen_to, shown.seq) == (self.model.status, self.model.frozen, self.model.events)
        assert shown.arms == [arm for arm in self.model.arms if arm not in self.model.retired]

    @rule(count=st.integers(1, 20), among=AMONG, key=KEYS)
    def split(self, count, among, key):
        request = m.Split(count, among)
        expected, answer = self.keyed(request, key, lambda: self.model.split(among))
        if expected is None:
            return
        if expected[0] == "again":
            assert (answer.batch, answer.arms, answer.seed) == expected[1]
            return
        assert sum(answer.arms.values()) == count
        assert set(answer.arms) <= expected[1]
        self.model.splits[answer.batch] = answer.arms, None
        for arm, number in answer.arms.items():
            self.model.tally[arm, "asked"] += number
        self.model.events += 1
        self.learn(request, key, (answer.batch, answer.arms, answer.seed))

    @precondition(lambda self: self.model.splits)
    @rule(
        place=st.integers(0, 1), arm=st.sampled_from("ABC"), count=st.integers(1, 2), mean=st.sampled_from([0.5, 0.75])
    )
    def merge(self, place, arm, count, mean):
        batch = list(self.model.splits)[-1 - place % len(self.model.splits)]
        given = {arm: m.Statistics(count, mean, 0.0)}
        expected, answer = self.model.merge(batch, given), self.run(m.Merge(given), decision=batch)
        if isinstance(expected, str):
            assert answer == expected
        else:
            assert (answer.rewards, answer.again) == ({arm: count}, expected[0] == "again")
            assert answer.unused == sum(self.model.splits[batch][0].values()) - count
        for verb in (m.Tell(0.5), m.Withdraw(), m.Activate()):
            assert self.run(verb, decision=batch) == "conflict"

    @rule(count=st.integers(1, 3), key=KEYS)
    def fall_back(self, count, key):
        request = m.Fallbacks(count)
        fresh = ("new", None) if self.model.fallback else "conflict"
        expected, _ = self.keyed(request, key, lambda: fresh)
        if expected == fresh:
            self.model.events += 1
            self.learn(request, key, None)

    @rule(seconds=st.sampled_from([0.5, 1.0]), sweep=st.sampled_from([False, False, True]))
    def time_passes(self, seconds, sweep):
        self.clock.advance(seconds)
        if sweep:
            while self.service.writer.close_windows("e"):
                pass
            self.model.close_windows(self.clock())

    @rule(kept=st.booleans())
    def restart(self, kept):
        """With a snapshot of the end, or from what was kept before."""
        if not kept:
            self.service.writer.forget()
        self.service.close()
        self.open()

    @invariant()
    def nothing_is_lost_or_counted_twice(self):
        if not hasattr(self, "model"):
            return
        _, state = self.service.writer.look("e")
        assert state.seq == self.model.events
        for label, tally in zip(state.labels, state.tally, strict=True):
            for what in ("asked", "told", "defaulted", "expired", "withdrawn", "outside"):
                assert getattr(tally, what) == self.model.tally[label, what], (label, what)
        counted = Counted(self.model)
        for known in state.agent.estimates():
            assert (known.pulls, known.open_asks) == counted[known.arm]

    def teardown(self):
        try:
            if hasattr(self, "model"):
                self.check_the_end()
        finally:
            self.service.close()
            shutil.rmtree(self.folder)

    def check_the_end(self):
        for decision in self.service.decisions("e", 0, 10_000):
            self.check(decision)
        found = self.service.verify("e")
        assert (found.ok, found.events) == (True, self.model.events), found


class Counted(dict):
    """How many rewards of each arm the policy knows, and how many decisions it waits for."""

    def __init__(self, model):
        super().__init__(dict.fromkeys(model.arms, (0, 0)))
        for arm in model.arms:
            waits = sum(one.arm == arm and one.state == "told" for one in model.choices.values())
            told, asked, outside, defaulted, expired, withdrawn = (
                model.tally[arm, what] for what in ("told", "asked", "outside", "defaulted", "expired", "withdrawn")
            )
            self[arm] = (
                told - waits + outside + defaulted,
                asked - told + waits - defaulted - expired - withdrawn,
            )


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=EXAMPLES, stateful_step_count=40)
