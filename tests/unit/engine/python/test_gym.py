"""Gymnasium both ways: our bandits for their agents, their environments for our policies."""

import subprocess
import sys

import numpy as np
import pytest

from helpers.learners import EXP3
from prudent import Bandit, Bernoulli, PrudentError, simulate

gymnasium = pytest.importorskip("gymnasium", reason="needs gymnasium, of the extra gym")
COINS = Bandit([Bernoulli(0.2), Bernoulli(0.8)])
MADE = "prudent.engine.python.gym:prudent/Bandit-v0"


def test_a_bandit_passes_gymnasiums_check():
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make(MADE, arms=COINS, risk="mean", horizon=9)
    check_env(env.unwrapped, skip_render_check=True)
    _, info = env.reset(seed=1)
    assert info == {}
    steps = [env.step(0) for _ in range(9)]
    assert steps[-1][4]["gap"] == pytest.approx(0.6)
    assert [truncated for *_, truncated, _ in steps] == [False] * 8 + [True]


def test_a_wrong_action_or_horizon_is_explained():
    env = gymnasium.make(MADE, arms=["bernoulli(0.2)"], disable_env_checker=True).unwrapped
    env.reset(seed=1)
    with pytest.raises(PrudentError, match="action must be an arm's number from 0 to 0, got 1"):
        env.step(1)
    with pytest.raises(PrudentError, match="horizon must be a whole number from 1"):
        gymnasium.make(MADE, arms=COINS, horizon=0)


def test_rewards_have_the_law_of_the_arm_and_the_seed_decides():
    env = gymnasium.make(MADE, arms=COINS).unwrapped
    drawn = []
    for seed in (3, 3, 4):
        env.reset(seed=seed)
        drawn.append([env.step(1)[1] for _ in range(400)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert abs(np.mean(drawn[0] + drawn[2]) - 0.8) < 6.0 * (0.16 / 800) ** 0.5


def test_a_foreign_loop_reaches_the_regret_of_the_same_learner():
    """EXP3 driven by Gymnasium's own loop on our environment, and in `simulate`."""
    rounds, runs = 200, 40
    theirs = []
    env = gymnasium.make(MADE, arms=COINS, risk="mean")
    for run in range(runs):
        learner, rng, lost = EXP3(0.2), np.random.default_rng(run), 0.0
        env.reset(seed=run)
        learner.start(env.action_space.n, rounds)
        for _ in range(rounds):
            action = learner.ask(rng)
            _, reward, _, _, info = env.step(action)
            learner.tell(action, reward)
            lost += info["gap"] / rounds
        theirs.append(lost)
    ours = simulate(COINS, EXP3(0.2), risk="mean", horizon=rounds, runs=runs).gap_regret()
    error = ((np.var(theirs) + np.var(ours)) / runs) ** 0.5
    assert abs(np.mean(theirs) - ours.mean()) < 6.0 * error


def test_rivers_evaluation_drives_our_environment_to_our_regret():
    bandits = pytest.importorskip("river.bandit", reason="river is not installed")
    stats = pytest.importorskip("river.stats", reason="river is not installed")
    rounds, runs = 150, 60
    env = gymnasium.make(MADE, arms=COINS, horizon=rounds)
    trace = bandits.evaluate([bandits.UCB(delta=1, seed=1)], env, reward_stat=stats.Mean(), n_episodes=runs, seed=1)
    theirs = [row["reward_stat"] for row in trace if row["step"] == rounds - 1]
    ours = simulate(COINS, "ucb1", risk="mean", horizon=rounds, runs=runs, engine="interpreted").reward_mean()
    assert len(theirs) == runs
    assert abs(np.mean(theirs) - ours.mean()) < 6.0 * ((np.var(theirs) + np.var(ours)) / runs) ** 0.5


class Corridor(gymnasium.Env):
    """Actions −1, 0 and 1; an episode has three steps."""

    action_space = gymnasium.spaces.Discrete(3, start=-1)
    observation_space = gymnasium.spaces.Discrete(1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 3
        return 0, {}

    def step(self, action):
        assert self.left > 0, "the episode is over"
        self.left -= 1
        return 0, action + 0.1 * self.np_random.random(), self.left == 0, False, {}


def test_any_discrete_environment_can_be_played_on():
    runs = simulate(Corridor(), "round-robin", risk="mean", horizon=30, runs=3, replay=True)
    assert runs.pulls.tolist() == [[10, 10, 10]] * 3
    assert runs.mean == pytest.approx(np.tile([-0.95, 0.05, 1.05], (3, 1)), abs=0.05)
    assert len(np.unique(runs.mean)) == 9  # each run has its seed
    assert runs.regret() == pytest.approx(1.0, abs=0.1)
    ours = gymnasium.make(MADE, arms=COINS)
    assert simulate(ours, "round-robin", risk="mean", horizon=10, runs=2).pulls.sum() == 20


def test_other_actions_are_refused():
    env = Corridor()
    env.action_space = gymnasium.spaces.Box(0.0, 1.0)
    with pytest.raises(PrudentError, match="action_space must be Discrete, got Box"):
        simulate(env, "ucb1", risk="mean", horizon=5, runs=1)


def test_without_gymnasium_an_error_says_what_to_install():
    code = "import sys; sys.modules['gymnasium'] = None; import prudent.engine.python.gym"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert "pip install '.[gym]'" in shown
