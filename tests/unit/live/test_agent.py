"""The live agent asks what the engine would choose, prices what it was told, and refuses what makes no sense."""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from helpers.agents import ALL, COINS, HORIZON, KEEPERS, LAWS, N_ARMS, NAMES, Worst, play, rewards, risk_of
from helpers.careless_policies import IdlePolicy
from prudent import MVLCB, UCB1, Agent, CVaR, Entropic, MeanVariance, PrudentError, VaR
from prudent.arms.sampling import draw
from prudent.engine.compiled import stepper
from prudent.engine.record import FINE, Record, Statistics, write_down
from prudent.policies.binding import bind, served_risk
from prudent.policies.contract import Setting, policies

# The agent and the engine


class Median(NamedTuple):
    """Asks for every reward; the clock and chance have a say too."""

    noise: float = 0.3

    def score(self, arm, t, rng, rewards):
        return -rewards[len(rewards) // 2] - self.noise * rng.random() / len(rewards) ** (1.0 / t)


@pytest.mark.parametrize("policy", [*ALL, *KEEPERS, Median(), Worst()], ids=str)
def test_driven_with_a_simulations_rewards_it_chooses_the_same_arms(policy):
    """Policy, rewards and twins share one stream; every statistic after every round is the same number."""
    made = policies.parse(policy) if isinstance(policy, str) else policy
    laws, risk = COINS if policy in KEEPERS else LAWS, served_risk(made)
    ready = bind(made, Setting(N_ARMS, risk, HORIZON))
    simulated, live = Record.empty(1, HORIZON, N_ARMS), Record.empty(1, HORIZON, N_ARMS)
    rounds = np.arange(1, HORIZON + 1)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(5)))
    assert stepper(ready, HORIZON)(laws, 0, rounds, simulated, np.zeros(1, bool), rng) == FINE

    agent = Agent(policy, N_ARMS, HORIZON, seed=5, risk=risk, scale=1)
    for t in range(HORIZON):
        arm = agent.ask()
        agent.tell(arm, draw(laws, arm, agent._rng))
        _, pulls, mean, variance, *_ = zip(*agent.estimates(), strict=True)
        known = Statistics(np.array(pulls), *(np.array([x or 0.0 for x in values]) for values in (mean, variance)))
        write_down(live, 0, t, known, laws, 0, agent._rng)
    for name, values in simulated._asdict().items():
        assert np.array_equal(values, getattr(live, name)), name


# Estimates


def test_estimates_price_the_told_rewards_and_draw_nothing():
    agent = Agent("epsilon-greedy", 3, risk="mean-variance(rho=2)")
    before = agent.to_json()
    assert agent.estimates() == [(i, 0, None, None, None, 0, False) for i in range(3)]
    assert agent.to_json() == before
    for value in (0.0, 1.0):
        agent.tell(1, value, asked=False)
    assert agent.estimates()[1] == (1, 2, 0.5, 0.25, 0.25 - 2 * 0.5, 0, False)


def test_the_risk_defaults_to_the_one_the_policy_serves():
    assert Agent("mv-lcb(rho=0.5)", 2, 10, scale=1).risk == MeanVariance(0.5)
    assert Agent("ucb1", 2, scale=1).risk == MeanVariance(math.inf)
    assert Agent("cvar-ucb(alpha=0.1)", 2, 10, scale=1).risk == CVaR(0.1)
    assert Agent("quantile-ucb", 2, 10, scale=1).risk == VaR()
    assert Agent("entropic-lcb(lam=3)", 2, 10, scale=1).risk == Entropic(3.0)
    assert Agent("npts(risk=cvar(0.2))", 2, scale=1).risk == CVaR(0.2)


# Bad input


class Undefined(NamedTuple):
    def score(self, arm):
        return math.nan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": 0}, "arms must be a whole number from 1 to 1000000"),
        ({"arms": 2.5}, "arms must be a whole number"),
        ({"horizon": 0}, "horizon must be"),
        ({"horizon": None}, "needs the horizon"),
        ({"horizon": 1}, "at least the number of arms, 2"),
        ({"seed": -1}, "seed must be"),
        ({"policy": "mvlcb"}, "did you mean mv-lcb"),
        ({"policy": ("not", "a", "policy")}, "NamedTuple"),
        ({"policy": "fixed-arm(arm=2)"}, "arm 2 must be there"),
        ({"risk": "mean-varianse"}, "did you mean mean-variance"),
        ({"support": (1, 0)}, "low < high"),
        ({"support": (0, math.nan)}, "low < high"),
        ({"support": 1}, r"pair \(low, high\)"),
        ({"support": (0, "1")}, "support must be a number"),
    ],
)
def test_bad_settings_stop_at_the_door(change, message):
    with pytest.raises(PrudentError, match=message):
        Agent(**({"policy": MVLCB(), "arms": 2, "horizon": 10, "risk": "variance", "scale": 1} | change))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda agent: agent.tell(0, 1.5), r"reward must lie in \[0, 1\], got 1.5; the agent's support"),
        (lambda agent: agent.tell(0, math.nan), "got nan"),
        (lambda agent: agent.tell(0, math.inf), "got inf"),
        (lambda agent: agent.tell(0, "1"), "must be a number"),
        (lambda agent: agent.tell(0, None), "must be a number"),
        (lambda agent: agent.tell(3, 0.5), "arm must be a whole number from 0 to 2, got 3; arms are numbered from 0"),
        (lambda agent: agent.tell(-1, 0.5), "arm must be"),
        (lambda agent: agent.tell("a", 0.5), "arm must be"),
        (lambda agent: agent.tell(1, 0.5), "arm 1 has no open ask; .*asked=False"),
        (lambda agent: agent.ask(among=[]), "at least one arm"),
        (lambda agent: agent.ask(among=[7]), "from 0 to 2"),
        (lambda agent: agent.ask(among=[0, 2]), r"no retired arm, got \[0, 2\]; in play are \[0, 1\]"),
        (lambda agent: agent.ask(among=1), "must be a list"),
        (lambda agent: agent.ask(among="01"), "must be a list"),
        (lambda agent: agent.ask(among=[True, False]), "arm must be"),
        (lambda agent: agent.retire(2), "retired already"),
        (lambda agent: agent.retire(9), "from 0 to 2"),
    ],
)
def test_bad_calls_are_refused_and_change_nothing(call, message):
    agent = Agent("mv-lcb", 3, horizon=3, support=(0, 1), risk="mean-variance(rho=1)")
    agent.retire(2)
    assert agent.ask() == 0
    before = agent.to_json()
    with pytest.raises(PrudentError, match=message):
        call(agent)
    assert agent.to_json() == before
    assert agent.ask() == 1


@pytest.mark.parametrize("policy", [name for name in NAMES if "range" in policies.get(name).factory._fields])
def test_a_range_comes_from_the_support_unless_it_was_given(policy):
    assert Agent(policy, 2, horizon=10, support=(-1, 2), risk=risk_of(policy)).policy.range == 3.0
    given = Agent(f"{policy}(range=2)", 2, horizon=10, support=(-1, 2), risk=risk_of(policy))
    assert given.policy.range == 2.0
    assert Agent(policy, 2, horizon=10, support=(-1, 2), scale=7, risk=risk_of(policy)).policy.range == 7.0
    for support in (None, (0, math.inf)):
        with pytest.raises(PrudentError, match=rf"{policy}: range is not known here; give the length .* support="):
            Agent(policy, 2, horizon=10, support=support, risk=risk_of(policy))


@pytest.mark.parametrize("policy", [name for name in NAMES if "sd" in policies.get(name).factory._fields])
def test_no_standard_deviation_is_larger_than_half_the_support(policy):
    assert Agent(policy, 2, horizon=10, support=(-50, 400), risk=risk_of(policy)).policy.sd == 225.0
    with pytest.raises(PrudentError, match=rf"{policy}: sd is not known here; give about the largest standard"):
        Agent(policy, 2, horizon=10, support=None, risk=risk_of(policy))


UNSAID = {
    "mv-lcb": r"mv-lcb needs rho, which has the unit of rewards; pass risk='mean-variance\(rho=…\)', in your unit",
    "entropic-lcb": r"entropic-lcb needs lam, which has the unit of rewards; pass risk='entropic\(lam=…\)'",
    "round-robin": r"round-robin serves any risk, and none was given; pass risk='mean-variance\(rho=…\)', or",
}


@pytest.mark.parametrize("policy", UNSAID)
def test_what_has_a_unit_is_not_guessed(policy):
    with pytest.raises(PrudentError, match=f"Agent: {UNSAID[policy]}"):
        Agent(policy, 2, 10, support=(0, 1), risk=None)


@pytest.mark.parametrize("scale", [0, -1, math.inf, "auto", None.__class__])
def test_a_scale_is_a_number(scale):
    with pytest.raises(PrudentError, match="Agent: scale must"):
        Agent("ucb1", 2, scale=scale)


def test_more_arms_than_rounds_are_refused():
    agent = Agent("mv-lcb", 3, horizon=3, scale=1, risk="mean-variance(rho=1)")
    before = agent.to_json()
    with pytest.raises(PrudentError, match="at least the number of arms, 4"):
        agent.add_arm()
    assert agent.to_json() == before


def test_the_last_arm_cannot_be_retired():
    with pytest.raises(PrudentError, match="last one in play"):
        Agent("ucb1", 1, scale=1).retire(0)


def test_rewards_too_large_to_square_are_refused():
    agent = Agent("ucb1", 1, scale=1)
    agent.tell(0, 1e200, asked=False)
    with pytest.raises(PrudentError, match="too large"):
        agent.tell(0, -1e200, asked=False)
    assert agent.estimates()[0][:4] == (0, 1, 1e200, 0.0)


@pytest.mark.parametrize(
    ("policy", "message"), [(Undefined(), "not a number"), (IdlePolicy(), "its phase chose no arm")]
)
def test_a_broken_policy_is_named(policy, message):
    agent = Agent(policy, 2, scale=1, risk=risk_of(policy))
    for arm in (0, 1):
        agent.tell(arm, 0.5, asked=False)
    with pytest.raises(PrudentError, match=f"{type(policy).__name__}: .*{message}"):
        agent.ask()


def test_agents_with_one_seed_are_one():
    first, second = (
        play(Agent("epsilon-greedy(epsilon=1)", 5, seed=1, risk="mean-variance(rho=1)"), 50, lambda: 0.0)
        for _ in range(2)
    )
    assert first == second
    assert first != play(Agent("epsilon-greedy(epsilon=1)", 5, seed=2, risk="mean-variance(rho=1)"), 50, lambda: 0.0)
    assert any(a != b for a, b in pairwise(first[5:]))


def test_it_introduces_itself():
    agent = Agent(UCB1(range=2.0), 3, risk=risk_of(UCB1(range=2.0)))
    play(agent, 5, rewards(0))
    agent.ask()
    assert repr(agent) == "<Agent: ucb1(range=2.0), 3 arms, 5 rewards, 1 open asks>"


@pytest.mark.parametrize("flag", ["no", "False", "", 0, 1, None, [], np.array([True])])
def test_flags_are_flags(flag):
    with pytest.raises(PrudentError, match="Agent: remember must be True or False, got"):
        Agent("ucb1", 1, remember=flag, scale=1)
    agent = Agent("ucb1", 1, scale=1)
    agent.ask()
    with pytest.raises(PrudentError, match="tell: asked must be True or False, got"):
        agent.tell(0, 0.5, asked=flag)
    assert agent.estimates()[0].pulls == 0


@pytest.mark.parametrize("reward", ["0.5", None, 1j, np.complex64(1), np.ones(1), [0.5]])
def test_what_is_no_reward_is_refused(reward):
    with pytest.raises(PrudentError, match="tell: reward must be a number, got"):
        Agent("ucb1", 1, scale=1).tell(0, reward, asked=False)


def test_truth_values_are_the_rewards_1_and_0():
    for kind in (bool, np.bool_, lambda value: np.array(value)[()]):
        agent, plain = Agent("ucb1", 1, support=(0, 1)), Agent("ucb1", 1, support=(0, 1))
        for success in (True, False, True):
            agent.tell(0, kind(success), asked=False)
            plain.tell(0, float(success), asked=False)
        assert agent.to_json() == plain.to_json()
    with pytest.raises(PrudentError, match=r"reward must lie in \[2, 3\], got 1"):
        Agent("round-robin", 1, support=(2, 3), risk="mean-variance(rho=1)").tell(0, True, asked=False)


@pytest.mark.parametrize("arms", [10**6 + 1, 10**7, 10**18, 10**400, 1e300])
def test_absurdly_many_arms_are_refused_at_once(arms):
    with pytest.raises(PrudentError, match="Agent: arms must be a whole number from 1 to 1000000, got"):
        Agent("mv-lcb", arms, horizon=10**8, scale=1, risk="mean-variance(rho=1)")


@pytest.mark.parametrize("policy", [None, 5, object(), MVLCB, (1.0, 2.0), b"ucb1"])
def test_what_is_no_policy_is_refused(policy):
    with pytest.raises(PrudentError, match="policy must be"):
        Agent(policy, 2, horizon=10, scale=1, risk=risk_of(policy))


def test_a_score_beyond_floats_is_named():
    agent = Agent("entropic-lcb", 1, 10, scale=1, risk="entropic(lam=1)")
    agent.tell(0, -1e100, asked=False)
    with pytest.raises(PrudentError, match=r"entropic-lcb.*: its score of arm 0, .* is not a number"):
        agent.ask()


def test_a_cost_beyond_floats_is_infinite():
    agent = Agent("round-robin", 1, risk="exponential-utility")
    agent.tell(0, -1e4, asked=False)
    assert agent.estimates()[0].cost == math.inf
