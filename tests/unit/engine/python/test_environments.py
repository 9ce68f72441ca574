"""Environments of one's own in `simulate`: the same runs, compared where there is something to compare with."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest

from prudent import Agent, Bandit, Deterministic, FixedArm, Gaussian, PrudentError, simulate
from prudent.engine.python import simulation
from prudent.engine.python.environments import world_of
from prudent.engine.python.policies import Acting
from prudent.engine.python.rounds import Episode, rounds_of, statistics
from prudent.results.comparison import _are_paired

COINS = {"risk": "mean", "horizon": 40, "runs": 3}


def noisy(arm, rng):
    return rng.normal(0.2 * arm, 1.0)


class Tired:
    """An arm gives less the more often it was pulled; arm 1 starts higher and tires faster."""

    n_arms = 2

    def __init__(self, rate=0.1):
        self.rate = rate
        self.pulled = [0, 0]

    def reset(self, rng):
        self.rng = rng

    def pull(self, arm):
        self.pulled[arm] += 1
        return (1.0 + arm) * math.exp(-self.rate * arm * (self.pulled[arm] - 1))


class Listens:
    """Notes what it is told, and when; pulls arms in turn."""

    heard = []  # noqa: RUF012, since it outlives the copies

    def start(self, n_arms, horizon):
        self.n_arms, self.t = n_arms, 0

    def ask(self, rng):
        self.t += 1
        return (self.t - 1) % self.n_arms

    def tell(self, arm, reward):
        self.heard.append((self.t, arm, reward))


@pytest.mark.parametrize("policy", ["mv-lcb(rho=1)", "exp-exp", "thompson", "npts(risk=cvar(0.5), best=9)"])
def test_a_policy_acts_as_it_does_in_an_agent(policy):
    risk = "cvar(0.5)" if "cvar" in policy else "mean-variance(rho=1)"
    runs = simulate(noisy, policy, risk=risk, horizon=60, runs=1, arms=3)
    acting = Acting(runs.policy, runs.risk, None)
    asked = Episode(world_of("t", noisy, 3, None).environment, acting, 3, [60], 1, None, None, None, False, 0, "")
    arms, rewards, _ = rounds_of(asked, 0)
    agent = Agent(policy, arms=3, horizon=60, risk=risk, scale=1.0)
    agent._rng = asked.rng("learner", 0)
    for arm, reward in zip(arms, rewards, strict=True):
        assert agent.ask() == arm
        agent.tell(arm, reward)
    assert runs.engine == "interpreted"
    assert runs.pulls.sum() == 60


def test_interpreted_runs_have_the_law_of_compiled_ones():
    bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    asked = {"risk": "mean-variance(rho=1)", "horizon": 100}
    slow = simulate(bandit, "mv-lcb", **asked, runs=150, engine="interpreted")
    fast = simulate(bandit, "mv-lcb", **asked, runs=2_000)
    for name in ("regret", "gap_regret", "reward_variance", "best_share"):
        ours, theirs = (getattr(runs, name)() for runs in (slow, fast))
        error = math.hypot(ours.std() / len(ours) ** 0.5, theirs.std() / len(theirs) ** 0.5)
        assert abs(ours.mean() - theirs.mean()) <= 6.0 * error  # 2e-9 each
    assert slow.policy == fast.policy


def test_results_depend_on_neither_workers_nor_other_runs(monkeypatch):
    world = lambda arm, rng: rng.normal(arm, 1.0)  # noqa: E731, since a notebook's functions are like this
    told = []
    asked = {"risk": "mean-variance(rho=1)", "horizon": 30, "arms": 2, "replay": True}
    here = simulate(world, "thompson", **asked, runs=6, workers=1)
    monkeypatch.setattr(simulation, "PROCESSES_FROM_SECONDS", 0.0)
    there = simulate(world, "thompson", **asked, runs=6, workers=2, progress=told.append)
    fewer = simulate(world, "thompson", **asked, runs=2, workers=1)
    processes = simulate(lambda arm, rng: float(os.getpid()), "round-robin", **asked, runs=4, workers=2).mean[:, 0]
    assert processes[0] == os.getpid() != processes[-1]
    assert (here.mean == there.mean).all()
    assert (here.regret() == there.regret()).all()
    assert (here.mean[:2] == fewer.mean).all()
    assert sum(told) == 6
    assert len(np.unique(here.mean[:, 0])) == 6
    assert (simulate(world, "thompson", **asked, runs=2, seed=1, workers=1).mean != fewer.mean).all()


def test_every_run_starts_with_a_fresh_environment():
    runs = simulate(Tired(), FixedArm(1), **COINS)
    rewards = 2.0 * np.exp(-0.1 * np.arange(40))
    assert runs.mean[:, 1] == pytest.approx([rewards.mean()] * 3, rel=1e-12)
    assert runs.variance[:, 1] == pytest.approx([rewards.var()] * 3, rel=1e-12)
    assert runs.mean[:, 0].tolist() == [0.0] * 3


def test_replay_compares_with_the_best_fixed_arm_in_hindsight():
    rewards = {n: (2.0 * np.exp(-0.1 * np.arange(n))).mean() for n in (5, 40)}
    runs = simulate(Tired(), FixedArm(0), **COINS, snapshots=[5], replay=True)
    # After 5 rounds the arm that tires is the best one, after 40 the other.
    assert runs.at(5).regret() == pytest.approx([rewards[5] - 1.0] * 3, rel=1e-12)
    assert rewards[40] < 1.0
    assert runs.regret().tolist() == [0.0] * 3
    other = simulate(Tired(), FixedArm(1), **COINS, replay=True)
    assert other.regret() == pytest.approx([1.0 - rewards[40]] * 3, rel=1e-12)
    assert {"regret", "gap", "exploration"} <= other.measures().keys()
    assert "gap_regret" not in other.measures()


def test_replay_uses_the_random_numbers_of_the_run():
    runs = simulate(noisy, FixedArm(1), risk="variance", horizon=40, runs=5, arms=2, replay=True)
    alone = simulate(noisy, FixedArm(1), risk="variance", horizon=40, runs=5, arms=1 + 1)
    assert (runs.mean == alone.mean).all()
    costs = runs.cost()
    # The rewards of both arms are shifts of the same draws, so that they cost the same but for rounding.
    assert runs.regret() == pytest.approx(np.zeros(5), abs=1e-12)
    assert len(np.unique(costs)) == 5


def test_with_laws_all_is_computed():
    laws = Bandit([Gaussian(0.0, 1.0), Gaussian(0.2, 1.0)], names=["old", "new"])
    runs = simulate(noisy, FixedArm(0), risk="mean", horizon=500, runs=40, laws=laws)
    assert runs.gap_regret() == pytest.approx(0.2)
    assert abs(runs.regret().mean() - 0.2) < 6.0 * (2 / 500 / 40) ** 0.5
    assert runs.bandit.names == ("old", "new")
    best = simulate(noisy, FixedArm(1), risk="mean", horizon=50, runs=2, laws=laws)
    assert best.regret().tolist() == [0.0, 0.0]
    assert {"gap_regret", "best_share", "regret"} <= best.measures().keys()


def test_what_is_missing_is_said():
    runs = simulate(noisy, "ucb1(range=4)", **COINS, arms=["a", "b"])
    assert runs.cost().shape == (3,)
    assert runs.table().columns[-2:] == ["pulls of a", "pulls of b"]
    assert runs.summary()["regret"] is None
    for method in ("regret", "regret_parts"):
        with pytest.raises(PrudentError, match=r"pass simulate\(…, laws=Bandit.* replay=True"):
            getattr(runs, method)()
    for method in ("gap_regret", "best_share", "pseudo_regret", "mixture_regret"):
        with pytest.raises(PrudentError, match="laws of these arms are not known"):
            getattr(runs, method)()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arms": None}, "arms must say how many arms this environment has"),
        ({"arms": 0}, "arms must be a whole number from 1"),
        ({"arms": ["a", "a"]}, "arms must be different names"),
        ({"bandit": Tired}, r"pass Tired\(\), not Tired"),
        ({"bandit": lambda arm: 1.0}, r"must take \(arm, rng\)"),
        ({"bandit": 3}, "bandit must be a Bandit, a function"),
        ({"bandit": lambda arm, rng: math.nan}, "got nan from arm 0 in round 1"),
        ({"bandit": lambda arm, rng: "x"}, "got 'x' from arm 0 in round 1"),
        ({"engine": "leaping"}, "engine must be one of auto, interpreted"),
        ({"scale": "auto"}, "needs the laws of the arms"),
        ({"laws": Bandit(["bernoulli(0.5)"])}, "arms and laws must be as many, got 2 and 1"),
        ({"laws": 3}, "laws must be a Bandit"),
        ({"replay": True, "risk": "cvar(0.5)"}, "replay compares by mean and variance"),
        ({"policy": "kl-ucb"}, r"made for rewards in \[0, 1\]"),
        ({"policy": 3}, "policy must be a NamedTuple"),
        ({"delay": -1}, "delay must be a whole number"),
        ({"delay": "gaussian(1, 1)"}, "delay must not be negative"),
        ({"delay": lambda reward, rng: 0.5}, r"whole number of rounds from 0, or math.inf .* got 0.5"),
    ],
)
def test_mistakes_are_explained(given, message):
    asked = {"bandit": noisy, "policy": "ucb1(range=4)", "arms": 2, **COINS, **given}
    with pytest.raises(PrudentError, match=message):
        simulate(**asked)


def test_what_cannot_be_copied_is_explained():
    class Generating(Tired):
        def __init__(self):
            self.rewards = (1.0 for _ in range(9))

    with pytest.raises(PrudentError, match="each run needs a copy of it"):
        simulate(Generating(), "round-robin", **COINS)


@pytest.mark.parametrize(
    ("settings", "seen"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"delay": 2}, [3, 4, 5, 6]),
        ({"delay": lambda reward, rng: 4 * (reward < 0)}, [1, 3, 5, 6]),
        ({"delay": lambda reward, rng: math.inf if reward < 0 else 0}, [1, 3, 5]),
        ({"delay": Deterministic(2.9)}, [3, 4, 5, 6]),
        ({"batch": 3}, [3, 3, 3, 6, 6, 6]),
        ({"batch": 3, "delay": 1}, [3, 3, 6, 6, 6]),
    ],
)
def test_late_rewards_are_seen_in_their_time(settings, seen):
    Listens.heard.clear()
    runs = simulate(lambda arm, rng: 1.0 - 2.0 * arm, Listens(), risk="mean", horizon=7, runs=1, arms=2, **settings)
    assert [t for t, _, _ in Listens.heard] == seen
    assert runs.pulls.tolist() == [[4, 3]]  # late rewards are received all the same


def test_delays_of_a_law_are_random():
    Listens.heard.clear()
    simulate(noisy, Listens(), risk="mean", horizon=300, runs=1, arms=2, delay="poisson(3)")
    assert 290 <= len(Listens.heard) < 300


def test_statistics_of_segments_are_those_of_all():
    rng = np.random.default_rng(1)
    arms, rewards = rng.integers(0, 3, 200), rng.normal(5.0, 1.0, 200)
    arms[arms == 2] = 0
    pulls, mean, variance = statistics(arms, rewards, 3, [1, 7, 50, 200])
    for i, end in enumerate([1, 7, 50, 200]):
        for arm in (0, 1):
            some = rewards[:end][arms[:end] == arm]
            assert pulls[i, arm] == len(some)
            if len(some):
                assert (mean[i, arm], variance[i, arm]) == pytest.approx((some.mean(), some.var()), rel=1e-12)
    assert pulls[-1, 2] == mean[-1, 2] == variance[-1, 2] == 0


def test_trajectories_and_common_random_numbers():
    asked = {"risk": "mean", "horizon": 30, "runs": 4, "arms": 2}
    runs = simulate(noisy, "ucb1(range=4)", **asked, keep=2, snapshots="log")
    arms, rewards, _ = runs.trajectory()
    assert arms.shape == rewards.shape == (2, 30)
    assert runs.at(10).trajectory().arms.shape == (2, 10)
    assert rewards.mean(1) == pytest.approx(runs.reward_mean()[:2], rel=1e-12)
    assert runs.cost("cvar(alpha=0.1)") == pytest.approx(-np.sort(rewards)[:, :3].mean(1), rel=1e-12)
    both = [simulate(noisy, FixedArm(arm), **asked, common=True) for arm in (0, 1)]
    assert both[1].mean[:, 1] - both[0].mean[:, 0] == pytest.approx(0.2, rel=1e-9)
    apart = [simulate(noisy, FixedArm(arm), **asked) for arm in (0, 1)]
    assert apart[1].mean[:, 1] - apart[0].mean[:, 0] != pytest.approx(0.2, rel=1e-3)


def test_on_a_bandit_the_pulls_of_an_arm_have_common_rewards():
    bandit, names = Bandit([Gaussian(0.0, 1.0)] * 2), ("fixed-arm(1)", "round-robin")
    asked = {"risk": "mean", "horizon": 20, "runs": 2, "common": True, "engine": "interpreted"}
    alone, turns = (simulate(bandit, name, **asked, keep="trajectory") for name in names)
    assert (alone.trajectory().rewards[:, :10] == turns.trajectory().rewards[:, 1::2]).all()
    assert simulate(bandit, list(names), **asked).table()["paired"].to_list() == [True, True]
    assert not _are_paired(alone, replace(turns, engine="stepping"))  # which draws in another way


def test_policies_and_learners_are_compared_on_an_environment():
    asked = {"risk": "mean", "horizon": 20, "runs": 3, "arms": 2, "replay": True}
    table = simulate(noisy, {"sure": "fixed-arm(0)", "in turn": Listens()}, **asked, common=True).table()
    assert table["policy"].to_list() == ["sure", "in turn"]
    assert table["regret"].to_list() == pytest.approx([0.2, 0.1], rel=1e-9)
