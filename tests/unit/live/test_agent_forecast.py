"""Forecasts of a live experiment: the engine that goes on from given statistics, what is drawn, and what is said."""

import numpy as np
import pytest
from scipy.stats import binom, kstest

from prudent import MVIMED, MVLCB, Agent, AnytimeMVLCB, MeanVariance
from prudent.arms.sampling import include
from prudent.engine.leap.blocks import Sources
from prudent.engine.python.arm import ArmState
from prudent.engine.record import FINE, Past, RecordOfArms, Statistics
from prudent.engine.resumed import can_leap, laws_of_runs, resume, resumed_kernel
from prudent.live import forecast as forecasting
from prudent.live.beliefs import Drawn, draw_beliefs, two_values
from prudent.live.evidence import Evidence
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting, policies
from prudent.policies.units import units_of_support

RISK = MeanVariance(1.0)
POLICIES = {"mv-lcb": MVLCB(rho=1.0, c=1.0, unbiased=True, range=1.0), "anytime": AnytimeMVLCB(rho=1.0, range=1.0)}
POLICIES["mv-imed"] = MVIMED(rho=1.0)


def ready(name, horizon=2000):
    return bind(POLICIES[name], Setting(2, RISK, horizon))


def laws(runs, means, variances, values=None):
    """The same for every run."""
    mean, variance = (np.repeat([part], runs, 0) for part in (means, variances))
    if values is None:
        none = np.empty((runs, len(means), 0))
        return Sources(mean, variance, np.zeros(len(means), np.int64), none, none)
    value = np.tile(np.array(values), (runs, len(means), 1))
    return Sources(mean, variance, np.full(len(means), 2), value, np.stack([1.0 - mean, mean], 2))


def at(runs, pulls, means, variances, elapsed):
    """The same past for every run, in no phase."""
    rows = (np.array(pulls, np.int64), np.array(means, float), np.array(variances, float))
    every = np.ones(len(pulls), bool)
    return Past(*(np.repeat(row[None], runs, 0) for row in rows), elapsed, np.zeros(len(pulls), np.int64), every, every)


@pytest.mark.parametrize("name", POLICIES)
def test_going_on_is_what_the_policy_does_from_these_statistics(name):
    """On arms without variance, chance plays no part; the scores are those of the policy's own method."""
    policy, elapsed = ready(name), 57
    pulls, means, variances = [20, 30], [0.4, 0.5], [0.02, 0.09]
    fixed, more = [0.3, 0.6], np.array([1, 7, 200])
    past = at(1, pulls, means, variances, elapsed)
    found = resume(policy, name, laws(1, fixed, [0.0, 0.0]), past, more, leaping=False, seed=0)
    for t in range(elapsed + 1, elapsed + 201):
        best_cost = min(RISK.stats_cost(np.array(means), np.array(variances)))
        given = {"anytime": (t,), "mv-imed": (best_cost,)}.get(name, ())
        scores = [policy.score(Arm(*arm), *given) for arm in zip(pulls, means, variances, strict=True)]
        i = int(np.argmin(scores))
        pulls[i] += 1
        means[i], variances[i] = include(pulls[i], means[i], variances[i], fixed[i])
        for place in np.flatnonzero(more == t - elapsed):
            assert found.pulls[0, place].tolist() == pulls
            assert found.mean[0, place] == pytest.approx(means, rel=1e-12)
            assert found.variance[0, place] == pytest.approx(variances, rel=1e-12)


@pytest.mark.parametrize("policy", ["thompson", "mvts"])
def test_a_policy_that_draws_goes_on_compiled_as_interpreted(policy):
    """Its draws stand in line in the kernel, which Numba then simplifies."""
    known = bind(policies.parse(policy), Setting(2, RISK, 200, units_of_support((0.0, 1.0))))
    blocks, past = laws(3, [0.3, 0.6], [0.05, 0.02]), at(3, [4, 0], [0.4, 0.0], [0.02, 0.0], 4)
    found = []
    for interpreted in (False, True):
        record, rng = RecordOfArms.empty(3, 3, 2), np.random.default_rng(5)
        loop = resumed_kernel(known, blocks, past, leaping=False, interpreted=interpreted)
        assert loop(laws_of_runs(blocks), 0, np.array([1, 7, 150]), record, np.zeros(1, bool), rng) == FINE
        found.append(record)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("policy", ["exp-exp", "prudent"])
@pytest.mark.parametrize("rounds", [7, 60])
def test_a_policy_of_phases_goes_on_as_the_agent_does(policy, rounds):
    """From the middle of a phase and from the end of exploring, on arms without variance."""
    agent, fixed, rng = Agent(policy, 3, 300, risk=RISK), [0.3, 0.6, 0.5], np.random.default_rng(2)
    for _ in range(rounds):
        arm = agent.ask()
        agent.tell(arm, fixed[arm] + 0.2 * rng.standard_normal())
    known, more = agent._arms, np.array([1, 20, 100])
    start = Statistics._make(np.array([[getattr(arm, name) for arm in known]]) for name in Statistics._fields)
    past = forecasting.past_of(known, start, rounds)
    found = resume(agent._ready.policy, policy, laws(1, fixed, [0.0] * 3), past, more, leaping=False, seed=0)
    for t in range(1, 101):
        arm = agent.ask()
        agent.tell(arm, fixed[arm])
        for place in np.flatnonzero(more == t):
            assert found.pulls[0, place].tolist() == [each.pulls for each in agent.estimates()]
            assert found.variance[0, place] == pytest.approx([each.variance for each in agent.estimates()], rel=1e-9)
    assert "will then be ahead" in str(told(Agent(policy, ["A", "B"], 600, risk=RISK), NOISE).forecast())


def test_an_arm_without_a_reward_goes_first():
    for leaping in (False, True):
        found = resume(
            ready("mv-lcb"),
            "mv-lcb",
            laws(3, [0.2, 0.9], [0.01, 0.01]),
            at(3, [50, 0], [0.2, 0.0], [0.01, 0.0], 50),
            np.array([2, 500]),
            leaping=leaping,
            seed=0,
        )
        assert (found.pulls[:, 0] == [50, 2]).all()
        assert (found.pulls[:, 1].sum(1) == 550).all()


@pytest.mark.parametrize("values", [None, (0.0, 1.0)], ids=["Gaussian", "two values"])
def test_leaping_and_stepping_go_on_alike(values):
    runs, means = 400, [0.45, 0.55]
    variances = [0.08, 0.12] if values is None else [mean * (1.0 - mean) for mean in means]
    past = at(runs, [40, 60], [0.5, 0.5], [0.25, 0.25], 100)
    one, other = (
        resume(
            ready("mv-lcb"),
            "mv-lcb",
            laws(runs, means, variances, values),
            past,
            np.array([100, 1900]),
            leaping=leaping,
            seed=7,
        )
        for leaping in (False, True)
    )
    assert (one.pulls.sum(2) == [200, 2000]).all()
    assert (other.pulls.sum(2) == [200, 2000]).all()
    for place in (0, 1):
        for first, second in ((one.pulls, other.pulls), (one.mean, other.mean), (one.variance, other.variance)):
            both = np.concatenate([first[:, place, 0], second[:, place, 0]])
            spread = both.std() * np.sqrt(2.0 / runs)
            assert abs(first[:, place, 0].mean() - second[:, place, 0].mean()) < 5.0 * spread


def test_only_scores_that_need_no_clock_leap():
    assert can_leap(ready("mv-lcb"))
    assert not can_leap(ready("anytime"))


# What the rewards allow


def beliefs_of(arms, support, draws, rng):
    return draw_beliefs(Evidence(arms, RISK, support), draws, rng, forecasting.WEIGHT)


def played(rng, arms=3, pulls=40):
    """Laws drawn at random, and what their first rewards leave."""
    means, deviations = rng.normal(0.5, 0.2, arms), np.exp(rng.uniform(-2.5, -0.7, arms))
    rewards = [rng.normal(mean, deviation, pulls) for mean, deviation in zip(means, deviations, strict=True)]
    return means, deviations**2, [ArmState(None, pulls, float(x.mean()), float(x.var())) for x in rewards]


def test_drawn_laws_surround_the_truth_as_they_should():
    """The share of draws below the truth is uniform, for means and for variances; limit 1 in 10⁶."""
    rng, shares = np.random.default_rng(5), []
    for _ in range(300):
        means, variances, arms = played(rng)
        found = beliefs_of(arms, (-np.inf, np.inf), 200, rng)
        shares.append([(found.mean[:, 0] < means[0]).mean(), (found.variance[:, 0] < variances[0]).mean()])
    for column in np.array(shares).T:
        assert kstest(column, "uniform").pvalue > 1e-6


def test_draws_respect_the_support():
    arms = [ArmState(None, 5, 0.02, 0.0004), ArmState(None, 3, 0.98, 0.0001)]
    found = beliefs_of(arms, (0.0, 1.0), 2000, np.random.default_rng(0))
    assert (found.mean >= 0.0).all()
    assert (found.mean <= 1.0).all()
    assert (found.variance <= found.mean * (1.0 - found.mean) + 1e-15).all()
    assert found.values is None


def test_an_arm_whose_rewards_are_the_same_may_vary_as_the_others_do():
    arms = [ArmState(None, 4, 0.5, 0.0), ArmState(None, 50, 0.5, 0.04)]
    found = beliefs_of(arms, (-np.inf, np.inf), 500, np.random.default_rng(0))
    assert (found.variance[:, 0] > 0.0).all()
    assert np.median(found.variance[:, 0]) < 0.01


@pytest.mark.parametrize(
    ("support", "values"),
    [((0.0, 1.0), (0.0, 1.0)), ((-np.inf, np.inf), (-1.0, 0.0)), ((2.0, 6.0), (2.0, 6.0))],
)
def test_two_values_are_recognised(support, values):
    low, high = values
    arms = []
    for ones, pulls in ((3, 10), (7, 20)):
        rate = ones / pulls
        arms.append(ArmState(None, pulls, low + (high - low) * rate, (high - low) ** 2 * rate * (1.0 - rate)))
    found = beliefs_of(arms, support, 4000, np.random.default_rng(0))
    assert found.values == values
    # A uniform prior: after 3 of 10, the rate is Beta(4, 8).
    assert ((found.mean[:, 0] - low) / (high - low)).mean() == pytest.approx(4 / 12, abs=0.01)
    one_off = ArmState(None, 10, arms[0].mean, 0.9 * arms[0].variance)
    assert beliefs_of([one_off, arms[1]], support, 10, np.random.default_rng(0)).values is None
    assert two_values(Evidence([ArmState(None, 9, low, 0.0)], RISK, support)) is None


# Calibration, on a small scale


def transforms(change, experiments=80, draws=100, third=30, rest=300):
    """Where the truth lies among the futures of regret and cost, after ten rewards of each arm."""
    rng, found = np.random.default_rng(11), []
    agent = Agent(POLICIES["mv-lcb"], 3, third + rest, risk=RISK)
    for number in range(experiments):
        means, variances, arms = played(rng, pulls=third // 3)
        truth = Drawn(means[None], variances[None], None)
        allowed = change(beliefs_of(arms, agent.support, draws, rng), arms)
        futures, true = (
            forecasting.futures(agent._ready, Evidence(arms, RISK, agent.support), rest, some, leaping=False, seed=seed)
            for some, seed in ((allowed, number), (truth, 10_000 + number))
        )
        for part, other in ((futures.regret, true.regret), (futures.cost, true.cost)):
            found.append((part[:, -1] < other[0, -1]).mean())
    return np.array(found).reshape(experiments, 2)


def outside(shares):
    """How many truths lie outside of what holds 90 % of the futures."""
    return int((abs(shares - 0.5) > 0.45).sum())


def test_forecasts_are_calibrated():
    """Limits of 1 in 10⁶; `benchmarks/forecast.py` is the long version, with other engines and laws."""
    for shares in transforms(lambda laws, arms: laws).T:
        assert kstest(shares, "uniform").pvalue > 1e-6
        assert outside(shares) <= binom.isf(1e-6, len(shares), 0.1)


def test_a_forecast_that_takes_means_for_the_truth_would_be_caught():
    def exact(laws, arms):
        return laws._replace(mean=np.repeat([[arm.mean for arm in arms]], len(laws.mean), 0))

    cost = transforms(exact)[:, 1]
    assert outside(cost) > binom.isf(1e-6, len(cost), 0.1)


# Agents


def told(agent, rewards):
    """Rewards from elsewhere, arm by arm."""
    for arm, values in rewards.items():
        for value in values:
            agent.tell(arm, value, asked=False)
    return agent


NOISE = {arm: [0.5 + 0.1 * (k % 5) + shift for k in range(30)] for arm, shift in (("A", 0.0), ("B", -0.3))}


def agent_of(**more):
    return told(Agent(POLICIES["mv-lcb"], ["A", "B"], **{"horizon": 600, "risk": RISK, **more}), NOISE)


def test_a_forecast_says_how_the_experiment_may_end():
    agent = agent_of()
    before = agent.to_json()
    found = agent.forecast()
    assert agent.to_json() == before
    assert found == agent.forecast()
    assert (found.why, found.rewards, found.rounds, found.draws) == ("", 60, 600, 1000)
    assert list(found.regret) == sorted(found.regret)
    assert list(found.cost) == sorted(found.cost)
    assert (found.fan[0][0], found.fan[-1]) == (60, (600, found.regret))
    a, b = found.arms
    assert (a.arm, b.arm) == ("A", "B")
    assert a.best + b.best == pytest.approx(1.0)
    assert a.share + b.share == pytest.approx(1.0)
    assert a.best > 0.99
    assert found.right > 0.99
    assert "After 600 rounds the regret per round will lie between" in str(found)
    assert "A will then be ahead with probability above 99 %" in str(found)


def test_the_regret_now_is_that_of_the_summary():
    """Its cost is known; only the smallest cost of an arm is not."""
    agent = agent_of()
    (_, now), *_ = agent.forecast().fan
    best = min(each.cost for each in agent.estimates())
    assert now[3] == pytest.approx(agent.summary().cost - best, abs=0.02)
    assert now[0] < now[6]


def test_without_a_horizon_as_many_rounds_again():
    agent = told(Agent(POLICIES["anytime"], ["A", "B"], risk=RISK), NOISE)
    assert agent.forecast().rounds == 120
    assert agent.forecast(rounds=30).rounds == 90


def test_open_asks_are_answered_and_retired_arms_count_for_the_past():
    agent = agent_of()
    asked = [agent.ask() for _ in range(40)]
    found = agent.forecast()
    assert found.fan[0][0] == 100
    assert found.rounds == 600
    assert sum(arm.share for arm in found.arms) == pytest.approx(1.0)
    for arm in asked:
        agent.withdraw(arm)
    agent.retire("B")
    found = agent.forecast()
    assert [(arm.arm, arm.best, arm.share) for arm in found.arms] == [("A", 1.0, 1.0)]
    # 30 of 600 rewards are B's: their mean is 0.3 lower, and they are the whole regret.
    share = 30 / 600
    assert found.regret[3] == pytest.approx(0.3 * share + 0.09 * share * (1.0 - share), abs=0.003)


def test_outcomes_of_which_less_is_better_have_the_same_forecast():
    mirrored = Agent(POLICIES["mv-lcb"], ["A", "B"], 600, risk=RISK, larger_is_better=False)
    told(mirrored, {arm: [-value for value in values] for arm, values in NOISE.items()})
    assert mirrored.forecast() == agent_of().forecast()


def test_many_rounds_are_leapt_or_cut_short(monkeypatch):
    monkeypatch.setattr(forecasting, "MAX_STEPS", 400_000)
    monkeypatch.setattr(forecasting, "MAX_ROUNDS", 4_000)
    some = agent_of(horizon=1_060).forecast()
    assert (some.draws, some.rounds) == (400, 1_060)
    leaping = agent_of(horizon=5_000).forecast()
    assert (leaping.draws, leaping.rounds) == (500, 4_060)
    stepping = told(Agent(POLICIES["anytime"], ["A", "B"], 5_000, risk=RISK), NOISE).forecast()
    assert (stepping.draws, stepping.rounds) == (200, 2_060)


def test_rewards_too_large_to_square_have_no_forecast():
    agent = Agent(MVLCB(range=1e150), ["A", "B"], 600, risk=RISK)
    told(agent, {arm: [value * 1e154 for value in values] for arm, values in NOISE.items()})
    assert "measure them in larger units" in agent.forecast().why


@pytest.mark.parametrize(
    ("policy", "risk", "rewards", "why"),
    [
        ("mv-lcb(range=1)", RISK, {}, "A and B have fewer than 3 rewards"),
        ("mv-lcb(range=1)", RISK, {"A": [0.1, 0.2, 0.3], "B": [0.1]}, "B has fewer than 3 rewards"),
        ("mv-lcb(range=1)", RISK, {"A": [0.1] * 3, "B": [0.2] * 3}, "are all the same so far"),
        ("mv-lcb(range=1)", RISK, {"A": [0.1] * 50, "B": [0.2] * 60}, "the planned rounds are over"),
        ("cvar-ucb(alpha=0.1, high=1)", "cvar(alpha=0.1)", {}, "reads every reward"),
        ("ucb1(range=1)", "cvar(alpha=0.1)", {}, "depends on more than mean and variance"),
    ],
)
def test_where_there_is_none_the_reason_is_said(policy, risk, rewards, why):
    agent = told(Agent(policy, ["A", "B"], 100, risk=risk), rewards)
    found = agent.forecast()
    assert why in found.why
    assert found.why == agent.no_forecast()
    assert str(found) == f"No forecast: {found.why}."
