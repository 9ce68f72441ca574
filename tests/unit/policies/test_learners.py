"""Learners, which are policies with a memory: in simulations, studies, agents and the conformance check."""

import math
import pickle
from functools import partial

import numpy as np
import pytest

from helpers.learners import EXP3, Gradient
from helpers.page_code import defined_in
from prudent import Agent, Bandit, Bernoulli, MeanVariance, PrudentError, simulate
from prudent.base.description import described
from prudent.engine.python.environments import Drawn
from prudent.engine.python.rounds import Episode, rounds_of
from prudent.policies.contract import spec
from prudent.study import Cell, Study, run
from prudent.testing import ConformanceError, check_policy

COINS = Bandit([Bernoulli(0.2), Bernoulli(0.8)])


class InTurn:
    def start(self, n_arms, horizon):
        self.n_arms, self.t = n_arms, -1

    def ask(self, rng):
        self.t += 1
        return self.t % self.n_arms

    def tell(self, arm, reward):
        pass


@pytest.mark.parametrize("learner", [EXP3(), Gradient()], ids=["exp3", "gradient"])
def test_examples_learn_and_keep_the_contract(learner):
    runs = simulate(COINS, learner, risk="mean", horizon=300, runs=20)
    assert (runs.best_share() > 0.5).mean() >= 0.9
    assert runs.regret().mean() < 0.15  # half of what pulling at random loses
    assert runs.policy is learner
    assert vars(learner).keys() == {"gamma"} or vars(learner).keys() == {"step"}  # its copies have learnt, not it
    check_policy(learner, arms=(2, 3), horizon=30, rewards=(0.0, 1.0))


def test_exp3_keeps_its_bound_where_the_best_arm_changes():
    """Its regret against the best fixed arm is at most 2√(e−1) √(nK log K) with its γ (Auer et al. 2002, Corollary
    3.2), also where the arm ahead turns bad."""
    n, k = 1_000, 2

    class Turning:
        n_arms = 2

        def reset(self, rng):
            self.t = 0

        def pull(self, arm):
            self.t += 1
            return float(arm == (self.t > 0.4 * n))

    gamma = min(1.0, math.sqrt(k * math.log(k) / ((math.e - 1) * n)))
    asked = {"risk": "mean", "horizon": n, "replay": True}
    runs = simulate(Turning(), EXP3(gamma), runs=10, **asked)
    bound = 2 * math.sqrt(math.e - 1) * math.sqrt(n * k * math.log(k)) / n
    assert runs.regret().mean() <= bound
    assert simulate(Turning(), "fixed-arm(0)", runs=1, **asked).regret() == pytest.approx([0.2])


def test_the_same_runs_as_the_policy_of_the_same_rule():
    runs = simulate(COINS, InTurn(), risk="mean", horizon=31, runs=4)
    ours = simulate(COINS, "round-robin", risk="mean", horizon=31, runs=4, engine="interpreted")
    assert (runs.pulls == ours.pulls).all()


def test_an_agent_runs_a_learner_as_a_simulation_does():
    asked = Episode(Drawn(COINS), EXP3(0.3), 2, [80], 1, None, None, None, False, 0, "")
    arms, rewards, _ = rounds_of(asked, 0)
    agent = Agent(EXP3(0.3), arms=["a", "b"], horizon=80, risk="mean")
    agent._rng = asked.rng("learner", 0)
    for arm, reward in zip(arms, rewards, strict=True):
        assert agent.ask() == "ab"[arm]
        agent.tell("ab"[arm], reward)
    assert [known.pulls for known in agent.estimates()] == np.bincount(arms).tolist()
    copied, loaded = agent.copy(), pickle.loads(pickle.dumps(agent))
    expected = [copied.ask() for _ in range(20)]
    assert [loaded.ask() for _ in range(20)] == expected
    copied.tell("a", 1.0, asked=False)
    assert copied._ready.policy.log_weights[0] > agent._ready.policy.log_weights[0]
    assert sum(agent.split(300).values()) == 300
    assert "memory of its own" in agent.no_forecast()


def test_rewards_of_losses_are_told_as_rewards():
    agent = Agent(Gradient(), arms=2, risk="mean", larger_is_better=False)
    agent.tell(agent.ask(), 5.0)
    assert agent._ready.policy.baseline == -5.0


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        (lambda agent: agent.add_arm(), "cannot be added or retired"),
        (lambda agent: agent.retire(0), "cannot be added or retired"),
        (lambda agent: agent.ask(among=[1]), "chooses among all of its arms"),
        (lambda agent: agent.to_json(), "EXP3 has a memory of its own; save the agent with pickle"),
        (lambda agent: agent.merge(0, 3, 0.5, 0.1, asked=False), "EXP3 needs every reward"),
        (lambda agent: Agent(EXP3(), arms=2), "none was given; pass risk="),
        (lambda agent: Agent(EXP3(), arms=2, risk="mean", scale=2.0), "scale must be left out for a learner"),
        (lambda agent: Agent(EXP3, arms=2, risk="mean"), r"pass EXP3\(\), not EXP3"),
    ],
)
def test_what_an_agent_of_a_learner_cannot_do(deed, message):
    with pytest.raises(PrudentError, match=message):
        deed(Agent(EXP3(), arms=2, risk="mean"))


@pytest.mark.parametrize("arm", [2, -1, 0.5, None, "0"])
def test_an_arm_that_is_not_there_is_an_error(arm):
    learner = InTurn()
    learner.ask = lambda rng: arm
    with pytest.raises(PrudentError, match="InTurn: ask must return the arm's number, a number from 0 to 1, got"):
        simulate(COINS, learner, risk="mean", horizon=5, runs=1)


def test_a_scale_is_not_for_learners():
    with pytest.raises(PrudentError, match="scale must be left out for a learner"):
        simulate(COINS, EXP3(), risk="mean", horizon=5, runs=1, scale=2.0)


def test_a_study_takes_learners(tmp_path):
    study = Study({"coins": COINS}, [EXP3(), EXP3(0.2)], ["mean"], [30], runs=5, keep="runs")
    store = run(study, tmp_path)
    table = store.table()
    assert table["policy"].to_list() == ["EXP3", "EXP3(gamma=0.2)"]
    assert table["engine"].to_list()[1] == "auto"
    runs = simulate(COINS, EXP3(0.2), risk="mean", horizon=30, runs=5)
    assert table["regret"][1] == runs.regret().mean()
    stored = store.runs([study.cells[1].cell])[0]
    assert (stored.pulls == runs.pulls).all()
    assert stored.engine == "interpreted"
    assert run(study, tmp_path).table().equals(table)


def test_the_key_of_a_cell_knows_the_learner():
    def key(learner):
        return Cell(COINS, MeanVariance(1.0), learner, 10).key()

    class Other(EXP3):
        def tell(self, arm, reward):
            pass

    Other.__name__, Other.__qualname__ = EXP3.__name__, EXP3.__qualname__
    hidden = EXP3()
    hidden.secret = 1.0
    keys = [key(EXP3()), key(EXP3(0.2)), key(Other()), key(hidden)]
    assert len(set(keys)) == 4
    assert key(EXP3()) == keys[0]


def test_a_study_says_what_a_learner_cannot():
    for settings in ({"engine": "leaping"}, {"scale": 2.0}):
        with pytest.raises(PrudentError, match="EXP3 is a learner: it runs interpreted"):
            _ = Study({"coins": COINS}, [EXP3()], ["mean"], [30], runs=5, **settings).cells
    with pytest.raises(PrudentError, match=r"pass EXP3\(\), not EXP3"):
        _ = Study({"coins": COINS}, [EXP3], ["mean"], [30], runs=5).cells


class Shared(InTurn):
    """Remembers in its class."""

    told: list = []  # noqa: RUF012

    def ask(self, rng):
        return len(self.told) % self.n_arms

    def tell(self, arm, reward):
        self.told.append(reward)


class OwnDice(InTurn):
    def ask(self, rng):
        return int(np.random.default_rng().integers(self.n_arms))


class Impatient(InTurn):
    """Takes it for granted that a reward comes at once."""

    def start(self, n_arms, horizon):
        super().start(n_arms, horizon)
        self.open = 0

    def ask(self, rng):
        self.open += 1
        if self.open > 1:
            raise ValueError("where is the reward?")
        return super().ask(rng)

    def tell(self, arm, reward):
        self.open -= 1


class Short(InTurn):
    def tell(self, arm):
        pass


class Generating(InTurn):
    def __init__(self):
        self.arms = (arm for arm in range(9))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Shared(), "equal streams must give equal runs"),
        (OwnDice(), "equal streams must give equal runs"),
        (Impatient(), "rewards 1 late: must run, but raised ValueError"),
        (Short(), r"tell must take \(arm, reward\)"),
        (Generating(), "must be sent to other processes"),
    ],
    ids=["shared", "own dice", "impatient", "short", "generating"],
)
def test_the_check_catches_broken_learners(learner, message):
    with pytest.raises(ConformanceError, match=message):
        check_policy(learner, arms=(3,), horizon=20)


def test_a_learner_is_known_by_its_class_and_parameters():
    class Wide:
        def __init__(self, table, rate=1.0, start=None, inner=None):
            self.table, self.rate, self._start, self.inner = table, rate, start, inner

    assert spec(EXP3()) == "EXP3"
    assert described(Wide([1, "a", {2}], inner=EXP3(0.5))) == "Wide(table=[1, 'a', [2]], inner=EXP3(gamma=0.5))"
    assert described(Wide(np.arange(2.0), rate=np.float64(1.0))) == "Wide(table=array([0.0, 1.0]))"
    assert described(Wide(lambda: 0, rate=2)) == "Wide(table=<lambda>, rate=2)"
    assert described(Wide({"a": object()})) == "Wide(table={'a': object})"
    long = described(Wide(list(range(1000))))
    assert len(long) < 60
    assert long != described(Wide(list(range(1, 1001))))
    assert described(partial(math.hypot, 3.0)) == "hypot(3.0)"
    assert described(EXP3(0.5).ask) == "EXP3(gamma=0.5).ask"


def same_mean(ours, theirs):
    """Whether two samples may have one mean; wrong in 2e-9 of cases."""
    error = math.hypot(np.std(ours) / len(ours) ** 0.5, np.std(theirs) / len(theirs) ** 0.5)
    return abs(np.mean(ours) - np.mean(theirs)) < 6.0 * error


def test_the_adapter_for_river_runs_its_policies():
    bandits = pytest.importorskip("river.bandit", reason="river is not installed")
    learner = defined_in("researchers/worlds.md", "River")(bandits.UCB(delta=1))
    asked = {"risk": "mean", "horizon": 150, "runs": 60}
    theirs, ours = simulate(COINS, learner, **asked), simulate(COINS, "ucb1", **asked, engine="interpreted")
    assert same_mean(ours.gap_regret(), theirs.gap_regret())
    draws = simulate(COINS, defined_in("researchers/worlds.md", "River")(bandits.EpsilonGreedy(0.5)), **asked)
    assert len(np.unique(draws.pulls[:, 0])) > 10  # every run has its own dice
    late = simulate(COINS, learner, risk="mean", horizon=50, runs=2, delay=10)
    assert late.pulls.sum() == 100


def test_the_adapter_for_mabwiser_runs_its_policies():
    mab = pytest.importorskip("mabwiser.mab", reason="MABWiser is not installed")
    learner = defined_in("researchers/worlds.md", "MABWiser")(mab.LearningPolicy.UCB1(alpha=1))
    runs = simulate(COINS, learner, risk="mean", horizon=60, runs=5, workers=1)
    assert runs.best_share().mean() > 0.6
    assert simulate(COINS, learner, risk="mean", horizon=20, runs=1, delay=5).pulls.sum() == 20


def test_the_learners_of_the_page_are_those_of_the_tests():
    for mine in (EXP3(0.3), Gradient(0.3)):
        theirs = defined_in("researchers/worlds.md", type(mine).__name__)(0.3)
        runs = [simulate(COINS, learner, risk="mean", horizon=40, runs=2) for learner in (mine, theirs)]
        assert (runs[0].pulls == runs[1].pulls).all()


def test_methods_that_do_not_take_what_they_are_given_are_named():
    class Deaf(InTurn):
        def ask(self):
            return 0

    with pytest.raises(PrudentError, match=r"Deaf: ask does not take what it is given .*def ask\(self, rng\)"):
        simulate(COINS, Deaf(), risk="mean", horizon=5, runs=1)
