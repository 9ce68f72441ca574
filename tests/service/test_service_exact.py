"""The service chooses the arms of a simulation and of an agent: nothing on the way changes a decision."""

import math

import msgspec
import numpy as np
import pytest

from helpers.agents import ALL, COINS, KEEPERS, LAWS, N_ARMS, risk_of
from prudent import Agent, PrudentError
from prudent.arms.sampling import draw
from prudent.engine.compiled import stepper
from prudent.engine.python.propensities import uses_chance
from prudent.engine.record import FINE, Record, Statistics, write_down
from prudent.policies.binding import bind
from prudent.policies.contract import Setting, policies
from prudent.service import messages as m
from prudent.service.log.state import ExperimentState, LogError
from prudent.service.log.store import open_store
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work.service import Service
from prudent.service.work.transaction import Command

ROUNDS = 80
LABELS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory):
    """A service for all tests, which tells them apart by the names of experiments."""
    service = Service(open_store(str(tmp_path_factory.mktemp("exact") / "prudent.db"), relaxed=True)).start()
    yield service
    service.close()


def opened(service, policy, **more):
    """A new experiment with this policy, and the agent of the same settings."""
    about = {"horizon": ROUNDS, "seed": 5, "scale": 1.0, "risk": str(risk_of(policy)), "floor": 0.0, **more}
    name = f"e{len(service.store.experiments())}"
    service.create(decoded({"name": name, "arms": LABELS, "policy": policy, **about}))
    return name, Agent(policy, LABELS, **about)


def given(service, name, *requests):
    """The answers to commands that arrive together: requests, or pairs of a decision and its reward."""
    commands = [
        Command(name, m.Tell(one[1]), decision=one[0]) if isinstance(one, tuple) else Command(name, one)
        for one in requests
    ]
    return together(service, commands)


def draws(policy):
    """Whether a policy uses chance. The service then draws more, for the probabilities of decisions."""
    risk = str(risk_of(policy))
    return uses_chance(type(Agent(policy, LABELS, ROUNDS, scale=1.0, risk=risk)._ready.policy))


def together(service, commands):
    """The answers to commands that share a transaction."""
    return service.write(lambda: service.writer.carry_out(commands))


@pytest.mark.parametrize("policy", [name for name in (*ALL, *KEEPERS) if not draws(name)])
def test_driven_with_a_simulations_rewards_it_chooses_the_same_arms(sqlite, policy):
    """Policy, rewards and twins share the stream of the engine; every statistic of every round is the same number."""
    made, laws = policies.parse(policy), COINS if policy in KEEPERS else LAWS
    ready = bind(made, Setting(N_ARMS, risk_of(policy), ROUNDS))
    simulated, live = Record.empty(1, ROUNDS, N_ARMS), Record.empty(1, ROUNDS, N_ARMS)
    rounds, rng = np.arange(1, ROUNDS + 1), np.random.Generator(np.random.PCG64(np.random.SeedSequence(5)))
    assert stepper(ready, ROUNDS)(laws, 0, rounds, simulated, np.zeros(1, bool), rng) == FINE

    name, _ = opened(sqlite, policy)
    (asked,) = given(sqlite, name, m.Ask())
    agent = sqlite.writer._state(sqlite.store.experiment(name)).agent  # the one that the service asks, not a copy
    for t in range(ROUNDS):
        (decision,) = asked.decisions
        told, state = (
            (decision.decision, draw(laws, LABELS.index(decision.arm), agent._rng)),
            m.BODIES["pause"]("to look"),
        )
        assert [type(one) for one in given(sqlite, name, told, state)] == [m.Recorded, m.Status]
        _, pulls, mean, variance, *_ = zip(*agent.estimates(), strict=True)
        known = Statistics(np.array(pulls), *(np.array([x or 0.0 for x in values]) for values in (mean, variance)))
        write_down(live, 0, t, known, laws, 0, agent._rng)
        _, asked = given(sqlite, name, m.BODIES["resume"]("go on"), m.Ask())
    for part, values in simulated._asdict().items():
        assert np.array_equal(values, getattr(live, part)), part


def drive(service, policy, steps, seed, **more):
    """Groups of asks, some among few arms, rewards late and out of order, data from outside, arms that come and go.

    The agent hears the same in the same order. Where it refuses, the service must refuse too. Returns how many arms
    were compared.
    """
    name, agent = opened(service, policy, **more)
    rng, waiting, compared = np.random.default_rng(seed), [], 0
    rewards = [0.0, 1.0] if policy in KEEPERS else [0.1, 0.35, 0.6, 1.0]
    for step in range(steps):
        requests, told = [], []
        for _ in range(rng.integers(1, 4)):
            among = [str(arm) for arm in rng.choice(agent.arms, 2)] if rng.random() < 0.3 else None
            requests.append((m.Ask(among=among), lambda among=among: agent.decide(among)))
        for place in sorted(rng.permutation(len(waiting))[: rng.integers(0, 5)], reverse=True):
            decision, arm = waiting.pop(place)
            if rng.random() < 0.1:
                told.append((Command(name, m.Withdraw(), decision=decision), lambda arm=arm: agent.withdraw(arm)))
            else:
                reward = float(rng.choice(rewards))
                command = Command(name, m.Tell(reward), decision=decision)
                told.append((command, lambda arm=arm, reward=reward: agent.tell(arm, reward)))
        if step % 7 == 3:
            arm, key = str(rng.choice(agent.arms)), f"{step}"
            known = m.TellMany([m.Told(1.0, arm=arm, key=key)])
            requests.append((known, lambda arm=arm: agent.tell(arm, 1.0, asked=False)))
        if step % 11 == 5:
            requests.append((m.BODIES["add"](f"new {step}", "why not"), lambda step=step: agent.add_arm(f"new {step}")))
        if step % 11 == 9:
            arm = str(rng.choice(agent.arms))
            requests.append((m.BODIES["retire"](arm, "enough"), lambda arm=arm: agent.retire(arm)))
        both = [(Command(name, request), act) for request, act in requests] + told
        order = rng.permutation(len(both))
        answers = together(service, [both[i][0] for i in order])
        for i, answer in zip(order, answers, strict=True):
            try:
                found = both[i][1]()
            except PrudentError:
                assert isinstance(answer, RequestError), answer
                continue
            assert not isinstance(answer, RequestError), answer
            if isinstance(answer, m.Decisions):
                (decision,) = answer.decisions
                assert (decision.arm, decision.propensity) == found
                waiting.append((decision.decision, found.arm))
                compared += 1
    assert service.view(name).state.agent.to_json() == agent.to_json()
    return compared, service.verify(name)


@pytest.mark.parametrize("policy", [*ALL, *KEEPERS])
def test_late_rewards_subsets_and_arms_that_come_and_go_are_as_with_an_agent(sqlite, policy):
    compared, verified = drive(sqlite, policy, 40, 3)
    assert compared >= 40
    assert verified.ok, verified


@pytest.mark.parametrize("policy", ["mv-lcb", "thompson", "exp-exp", "cvar-ucb"])
def test_on_both_databases(service, policy):
    compared, verified = drive(service, policy, 60, 4, floor=0.05, cap=0.9)
    assert compared >= 60
    assert verified.ok, verified


@pytest.mark.parametrize("support", [[0.0, math.inf], [-math.inf, 0.0]])
def test_a_support_that_json_cannot_hold_is_refused(sqlite, support):
    """The experiment would be there, and could never be read again."""
    with pytest.raises(PrudentError, match="support must be finite"):
        opened(sqlite, "ucb1", support=support)


def test_an_experiment_older_than_probabilities_goes_on_as_it_was(sqlite):
    spec = decoded({"name": "older", "arms": LABELS, "policy": "thompson", "seed": 5, "support": [0, 1]})
    older = msgspec.structs.replace(spec.settled(), floor=None)
    with sqlite.store.transaction():
        sqlite.writer._add(older, 0)
    agent = Agent("thompson", LABELS, seed=5, support=(0, 1))
    for _ in range(20):
        (asked,) = given(sqlite, "older", m.Ask())
        (decision,) = asked.decisions
        assert (decision.arm, decision.propensity) == agent.decide()
        given(sqlite, "older", (decision.decision, 1.0))
        agent.tell(decision.arm, 1.0)
    assert sqlite.verify("older").ok
    assert sqlite.create(spec) == (sqlite.view("older").status, False)


def test_a_probability_that_was_altered_is_found(sqlite):
    name, _ = opened(sqlite, "ucb1", floor=0.2)
    for _ in range(4):
        given(sqlite, name, m.Ask())
    experiment = sqlite.store.experiment(name)
    event = sqlite.store.events(experiment.id, 3, 1)[0][0]
    state = ExperimentState(decoded(experiment.spec))
    for before, _ in sqlite.store.events(experiment.id, 0, 3):
        state.apply(before)
    assert state.copy().apply(event) == event
    with pytest.raises(LogError, match=r"event 4 has the probability 0.25; the policy gives 0\.\d"):
        state.apply(event._replace(value=0.25))
