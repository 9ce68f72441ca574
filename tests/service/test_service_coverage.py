"""Live intervals hold with windows, defaults and sticky units; without waiting for the window they do not.

`benchmarks/service_coverage.py` does the same with 10,000 experiments; here it is compared with the service itself.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from helpers.service.clock import Clock
from prudent import Agent, MeanVariance
from prudent.engine.python.arm import ArmState, include_reward
from prudent.live.guardrails import Rail, fires
from prudent.service import messages as m
from prudent.service.log.store import open_store
from prudent.service.spec import decoded
from prudent.service.work.service import Service
from prudent.service.work.transaction import Command

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/service_coverage.py"))
FALSE_ALARM = 1e-9


def served(folder, spec, units, outcome, window, at_once):
    """A service that lives through a story, a moment a second; the rewards that it counts, and its agent."""
    clock = Clock()
    service = Service(open_store(str(folder / f"{at_once}.db"), relaxed=True), clock, patience=0.0)
    rewards = {"window": window, "default": 0, "count": "at-once" if at_once else "closed"}
    service.writer.create(decoded({"name": "e", "sticky": True, "rewards": rewards, "support": [0, 1], **spec}), 0)
    reports = {}
    for moment, unit in enumerate([*units, *[None] * window]):
        service.writer.close_windows("e")
        commands = [Command("e", m.Tell(1.0), decision=name) for name in reports.pop(moment, [])]
        commands += [] if unit is None else [Command("e", m.Ask(unit=f"{unit}"))]
        answers = service.writer.carry_out(commands)
        if unit is not None and not answers[-1].again:
            (decision,) = answers[-1].decisions
            success, delay = outcome(unit, int(decision.arm))
            if success and delay < window:
                reports.setdefault(moment + delay, []).append(decision.decision)
        clock.advance(1)
    service.writer.close_windows("e")
    kinds = ("told", "defaulted") if at_once else ("counted", "defaulted")
    counted = [(event.arm, event.value) for event, _ in service.store.events(1, 0, 10_000) if event.kind in kinds]
    agent = service.writer.look("e")[1].agent
    service.close()
    return counted, agent


@pytest.mark.parametrize("at_once", [False, True])
def test_the_script_counts_as_the_service_does(tmp_path, at_once):
    rng = np.random.default_rng(3)
    policy, arms, risk, window = "mv-lcb(c=1)", ["0", "1"], "mean-variance(rho=1)", 20
    for _ in range(3):
        told = SCRIPT["story"](rng, 120, (0.3, 0.6))
        spec = {"arms": arms, "policy": policy, "risk": risk, "horizon": 120, "seed": 4}

        def outcome(unit, arm, told=told):
            return told.successes[unit, arm], int(told.delays[unit, arm])

        counted, agent = served(tmp_path, spec, told.units.tolist(), outcome, window, at_once)
        same = Agent(policy, 2, 120, 4, risk=risk, support=(0, 1))
        assert counted == list(SCRIPT["follow"](same, told, window, at_once=at_once))
        assert [e[1:] for e in agent.estimates()] == [e[1:] for e in same.estimates()]
        for file in tmp_path.iterdir():
            file.unlink()


@pytest.mark.parametrize("at_once", [False, True])
def test_the_order_of_one_arm_is_that_of_the_service(tmp_path, at_once):
    rng, window, n = np.random.default_rng(4), 25, 150
    successes, delays = rng.random(n) < 0.3, rng.geometric(1 / 10, n)
    spec = {"arms": ["0"], "policy": "round-robin", "risk": "mean"}
    counted, _ = served(tmp_path, spec, range(n), lambda unit, _: (successes[unit], int(delays[unit])), window, at_once)
    values = SCRIPT["in_order"](successes, delays, window, at_once=at_once)
    assert [value for _, value in counted] == values.tolist()


def test_the_formula_for_successes_is_the_interval():
    """It says which means the agent's interval has left out at some time."""
    agent, rng, values = Agent("round-robin", 1, risk="mean", support=(0, 1)), np.random.default_rng(5), []
    low, high = 0.0, 1.0
    for _ in range(60):
        values.append(float(rng.random() < 0.75))
        agent.tell(0, values[-1], asked=False)
        ends = agent.intervals(0.95)[0].mean
        low, high = max(low, ends.low), min(high, ends.high)
    for mean, missed in ((low + 1e-9, False), (low - 1e-9, True), (high - 1e-9, False), (high + 1e-9, True)):
        assert SCRIPT["ever_missed"](np.array(values), mean) == missed


def test_intervals_hold_when_rewards_wait_for_their_windows():
    number = 300
    missed = SCRIPT["experiments"](np.random.default_rng(6), number, 60, 20)
    assert len(missed) == 6
    for name, count in missed.items():
        assert count <= binom.isf(FALSE_ALARM, number, 0.05), name


def test_at_once_they_miss_and_closed_they_do_not():
    runs, rng = 40, np.random.default_rng(7)
    assert SCRIPT["one_arm"](rng, 0.3, 500, runs, at_once=True) >= 36
    assert SCRIPT["one_arm"](rng, 0.3, 500, runs, at_once=False) <= binom.isf(FALSE_ALARM, runs, 0.05)


def test_the_formula_for_guardrails_is_that_of_the_service():
    """It fires at the reward at which the state's own check does."""
    rng, failure = np.random.default_rng(8), 0.01
    for p in (0.2, 0.5, 0.9):
        values, arm, fired = (rng.random(120) < p).astype(float), ArmState(), None
        for number, value in enumerate(values.tolist(), 1):
            include_reward(arm, value, 0.0, 1.0)
            if fired is None and fires(Rail("mean", above=0.1), arm, MeanVariance(), failure, (0.0, 1.0)):
                fired = number
        assert fired == SCRIPT["first_fired"](values, 0.1, failure)
