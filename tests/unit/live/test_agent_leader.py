"""Whether to stop: which arms are excluded, how long it may take, and probabilities of being best under a model."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import beta, binom, norm, t

from prudent import Agent, MeanVariance, PrudentError, RiskMeasure

RATES = {"old": 0.2, "new": 0.8, "other": 0.3}


def trial(rounds, rates=RATES, seed=0, policy="round-robin", **settings):
    """Every arm in turn, with successes and failures."""
    agent = Agent(policy, list(rates), **{"support": (0, 1), "risk": "mean", **settings})
    rng = np.random.default_rng(seed)
    for turn in range(rounds):
        arm = list(rates)[turn % len(rates)]
        agent.tell(arm, rng.random() < rates[arm], asked=False)
    return agent


def told(agent, rewards):
    for arm, several in rewards.items():
        for reward in several:
            agent.tell(arm, reward, asked=False)
    return agent


# The leader


def test_nothing_is_known_at_first():
    found = trial(0).leader()
    assert found == (None, False, ("old", "new", "other"), (), 0.95, None, None)
    assert str(found) == "Nothing can be said yet, because no arm in play has a reward."


def test_arms_are_excluded_one_by_one_until_one_is_left():
    agent = trial(150)
    found = agent.leader()
    assert found.arm == "new"
    assert found.excluded == ("old",)
    assert found.left == ("new", "other")
    assert not found.decided
    assert found.cost == agent.estimates()[1].cost
    assert found.rounds > 0
    assert str(found).startswith("new is ahead with an estimated cost of −0.")
    assert "Excluded with 95 % confidence: old. Still possible: new and other." in str(found)
    found = trial(400).leader(0.99)
    assert found[:6] == ("new", True, ("new",), ("old", "other"), 0.99, 0.0)
    assert str(found) == "new is best: every other arm in play is excluded with 99 % confidence. You may stop."


@pytest.mark.parametrize("risk", ["mean", "mean-variance(rho=1)", "cvar(0.5)"])
def test_exclusion_is_what_the_differences_say_with_a_share_for_every_rival(risk):
    """One side of an interval of each of two rivals: together the failure of one interval."""
    told_apart = set()
    for rounds in (60, 90, 120, 144, 150, 240, 400):
        agent = trial(rounds, risk=risk)
        known = agent.differences("new")
        found = agent.leader().excluded
        assert found == tuple(each.arm for each in known if each.cost is not None and each.cost.low > 0.0)
        told_apart.add(len(found))
    assert len(told_apart) > 1


def test_coins_are_told_apart_as_soon_by_a_cost_as_by_the_mean():
    """With ρ = 1 the cost −p² falls as p rises, and a policy for two values knows that p is all there is."""
    for rounds in range(60, 400, 20):
        by_cost = trial(rounds, policy="bernoulli-mvts(rho=1)", risk="mean-variance(rho=1)").leader(foresee=False)
        assert by_cost.excluded == trial(rounds).leader(foresee=False).excluded


def test_costs_are_compared_not_means():
    """The steady arm has the smaller mean and the smaller mean-variance."""
    rng = np.random.default_rng(1)
    agent = Agent("round-robin", ["steady", "wild"], support=(0, 1), risk=MeanVariance(0.1))
    told(agent, {"steady": rng.beta(200, 220, 800), "wild": rng.integers(0, 2, 800) * 0.5 + 0.25})
    assert agent.estimates()[0].mean < agent.estimates()[1].mean
    assert agent.leader().arm == "steady"
    assert agent.leader().decided


def test_a_retired_arm_is_no_rival_but_has_its_share():
    agent = trial(150)
    agent.retire("other")
    found = agent.leader()
    assert found[:4] == ("new", True, ("new",), ("old",))
    agent.retire("old")
    assert str(agent.leader()) == "new is the only arm in play."
    agent = trial(78)
    agent.retire("other")
    assert agent.differences("new", 0.9)[0].cost.low > 0.0  # with one rival, and a side for itself, it would be decided
    assert not agent.leader().decided


def test_an_arm_without_rewards_is_never_excluded():
    agent = trial(400)
    agent.add_arm("newest")
    found = agent.leader()
    assert found.left == ("new", "newest")
    assert found.rounds is None
    assert str(found).endswith("How long a decision will take cannot be said.")


def test_the_forecast_is_where_the_intervals_separate_if_all_goes_on():
    """The rewards so far, again and again in the same shares: the trial is decided after about as many as foretold."""
    pattern = {"old": [0.0, 0.0, 1.0, 0.0, 0.0], "new": [1.0, 0.0, 1.0, 0.0, 1.0]}
    agent = told(Agent("round-robin", ["old", "new"], support=(0, 1), risk="mean"), pattern)
    foretold = agent.leader().rounds
    more = 0
    while not agent.leader().decided:
        told(agent, pattern)
        more += 10
    assert 0 <= more - foretold < 10
    assert f"a decision takes about {float(f'{foretold:.2g}'):,.0f} more rounds." in str(
        told(Agent("round-robin", ["old", "new"], support=(0, 1), risk="mean"), pattern).leader()
    )


def test_equal_estimates_have_no_decision_in_sight():
    agent = told(Agent("ucb1", 2, support=(0, 1)), {0: [0.0, 1.0, 1.0], 1: [1.0, 0.0, 1.0]})
    found = agent.leader()
    assert found[:2] == (0, False)
    assert found.rounds == math.inf
    assert "arm 0 is ahead" in str(found)
    assert str(found).endswith("The estimates are so close that no decision is in sight.")


def test_a_measure_that_reads_every_reward_has_no_forecast():
    rng = np.random.default_rng(2)
    agent = Agent("round-robin", ["a", "b"], support=(0, 1), risk="cvar(0.5)")
    told(agent, {"a": rng.beta(20, 60, 6), "b": rng.beta(60, 20, 6)})
    assert agent.leader().arm == "b"
    assert agent.leader().rounds is None


@dataclass(frozen=True)
class Range(RiskMeasure):
    """Nobody knows intervals of it."""

    name = "range"
    by_moments = True

    def cost(self, law):
        return law.support[1] - law.support[0]

    def weigh(self, values, weights):
        return values[-1] - values[0]

    def estimate(self, mean, variance, rewards):
        return variance


def test_a_measure_without_intervals_excludes_nothing():
    agent = told(Agent("round-robin", 2, support=(0, 1), risk=Range()), {0: [0.5] * 90, 1: [0.0, 1.0] * 45})
    found = agent.leader()
    assert (found.arm, found.excluded, found.rounds) == (0, (), None)


def test_looking_uses_no_random_numbers_and_changes_nothing():
    agent = trial(60)
    before = agent.to_json()
    assert agent.leader() == agent.leader()
    assert agent.posterior() == agent.posterior()
    assert agent.to_json() == before


@pytest.mark.parametrize(
    ("settings", "level", "message"),
    [
        ({}, 0.95, r"leader: the agent's support must be bounded, got \(-inf, inf\); pass Agent\(…, support="),
        ({"support": (0, 1)}, 95, r"leader: level must lie in \(0, 1\), got 95; for 95 % confidence pass 0.95"),
    ],
)
def test_what_cannot_be_answered_is_refused(settings, level, message):
    with pytest.raises(PrudentError, match=message):
        Agent("ucb1", 2, **settings, scale=1).leader(level)


def first_exclusions(rates, seed):
    """Arms that some look during a trial excludes, one look after every twentieth round."""
    agent = Agent("epsilon-greedy(rho=inf, epsilon=0.3)", list(rates), seed=seed, support=(0, 1))
    rng, excluded = np.random.default_rng(seed), set()
    for rounds in range(100):
        arm = agent.ask()
        agent.tell(arm, rng.random() < rates[arm])
        if rounds % 20 == 19:
            excluded.update(agent.leader(0.5).excluded)
    return excluded


@pytest.mark.slow
def test_the_best_arm_is_seldom_excluded_whenever_one_looks():
    runs = 60
    wrong = sum("best" in first_exclusions({"best": 0.6, "second": 0.55}, seed) for seed in range(runs))
    assert wrong <= binom.isf(1e-9, runs, 0.5)


# The posterior


def test_of_successes_and_failures_it_is_that_of_beta_laws():
    agent = told(Agent("ucb1", ["a", "b"], support=(0, 1)), {"a": [True] * 7 + [False] * 5, "b": [1.0] * 4 + [0.0] * 8})
    grid = (np.arange(20_000) + 0.5) / 20_000
    exact = float(np.mean(beta(8, 6).pdf(grid) * beta(5, 9).cdf(grid)))
    found = agent.posterior()
    assert found.best["a"] == pytest.approx(exact, abs=6.0 * 0.005)
    assert sum(found.best.values()) == pytest.approx(1.0)
    assert str(found).startswith(
        "Probability of being best, if rewards are one of two values and every rate was equally"
    )
    assert "a 88 %, b 12 %. This is no guarantee" in str(found)


def test_losses_of_0_and_1_are_two_values_too():
    """The probabilities and the forecast of an agent speak of one model, and of the same arm."""
    losses = {"a": [1.0] * 5 + [0.0] * 7, "b": [1.0] * 8 + [0.0] * 4}
    agent = Agent("mv-lcb(rho=0.5)", ["a", "b"], 100, support=(0, 1), larger_is_better=False)
    found = told(agent, losses).posterior()
    assert (
        found.model
        == agent.forecast().model
        == "rewards are one of two values and every rate was equally likely at first"
    )
    gains = {arm: [1.0 - loss for loss in several] for arm, several in losses.items()}
    agent = told(Agent("mv-lcb(rho=0.5)", ["a", "b"], 100, support=(0, 1)), gains)
    assert agent.posterior().best == pytest.approx(found.best, abs=6.0 * 0.005 * math.sqrt(2.0))


def test_of_other_rewards_it_is_that_of_gaussian_ones():
    """The mean of one arm has Student's law around its average; the other arm is known nearly without error."""
    agent = Agent("ucb1", ["a", "b"], scale=1)
    told(agent, {"a": [1.0, 2.0, 4.0, 5.0], "b": 2.0 + np.linspace(-1e-3, 1e-3, 100)})
    scale = math.sqrt(10.0 / 3.0 / 4.0)
    assert agent.posterior().best["a"] == pytest.approx(t(3).cdf(1.0 / scale), abs=6.0 * 0.005)
    assert abs(norm.cdf(1.0 / scale) - t(3).cdf(1.0 / scale)) > 6.0 * 0.005
    assert "Gaussian" in agent.posterior().model


def test_the_risk_of_the_agent_decides_what_is_best():
    rewards = {"steady": np.linspace(0.4, 0.5, 30), "wild": np.linspace(0.0, 1.0, 30)}
    for risk, best in (("mean", "wild"), ("variance", "steady")):
        agent = told(Agent("round-robin", list(rewards), risk=risk), rewards)
        assert agent.posterior().best[best] > 0.75


def test_units_do_not_matter():
    rewards = {"a": [1.0, 2.0, 4.0, 5.0], "b": [0.5, 2.0, 3.0, 3.5]}
    plain = told(Agent("round-robin", list(rewards), risk=MeanVariance(2.0)), rewards)
    scaled = {arm: 8.0 * np.array(several) for arm, several in rewards.items()}
    other = told(Agent("round-robin", list(rewards), risk=MeanVariance(16.0)), scaled)
    assert plain.posterior() == other.posterior()


def test_retired_arms_have_no_part():
    agent = told(Agent("ucb1", ["a", "b", "c"], scale=1), {"a": [0.0, 1.0, 1.0], "b": [0.0, 0.0, 1.0], "c": [1.0] * 50})
    agent.retire("c")
    assert list(agent.posterior().best) == ["a", "b"]


def test_an_arm_without_rewards_may_have_any_success_rate():
    agent = told(Agent("ucb1", ["a", "b"], scale=1), {"a": [0.0, 1.0]})
    assert agent.posterior().best == pytest.approx({"a": 0.5, "b": 0.5}, abs=6.0 * 0.005)


@pytest.mark.parametrize(
    ("risk", "rewards", "message"),
    [
        ("mean", {}, "no arm in play has a reward"),
        ("mean", {"a": [0.5, 0.6, 0.7], "b": [0.5, 0.6]}, "b must have at least 3 rewards that are not all the same"),
        ("mean", {"a": [0.5] * 3, "b": [0.5, 0.6, 0.7]}, "a must have at least 3 rewards that are not all the same"),
        ("cvar(0.1)", {"a": [0.5], "b": [0.5]}, "depends on more than mean and variance"),
    ],
)
def test_where_there_is_no_model_it_says_why(risk, rewards, message):
    found = told(Agent("round-robin", ["a", "b"], risk=risk), rewards).posterior()
    assert found.best is None
    assert message in str(found)
    assert str(found).startswith("No probabilities of being best: ")


def test_who_is_ahead_is_the_same_without_the_forecast():
    agent = Agent("mv-lcb(rho=1)", ["A", "B"], 1000, support=(0, 1))
    for i in range(20):
        agent.tell("A", 0.1 + 0.001 * i, asked=False)
        agent.tell("B", 0.2, asked=False)
    whole = agent.leader()
    assert whole.rounds > 0.0
    assert agent.leader(foresee=False) == whole._replace(rounds=None)
