"""Learning a mix: what each feedback shows, the outcome of a run, and that it repeats."""

import json

import numpy as np
import pytest

from prudent import EmpiricalJoint, MultivariateGaussian, PortfolioBandit, PrudentError, simulate_portfolio
from prudent.portfolio import (
    MCETE,
    MCUCB,
    Even,
    MCEmpirical,
    PortfolioPolicy,
    SingleArm,
    portfolio_policies,
    report,
    simulation,
    solve,
)
from prudent.portfolio.laws import Block
from prudent.portfolio.policies.base import Brief, Observation, Pairs
from prudent.portfolio.policies.mc_ete import covariance_of_pairs, mean_of_pairs, pair_design
from prudent.results.rates import bootstrap_slope

MEAN, SPREAD = [0.5, 0.3, 0.1], [[1.0, 0.3, 0.0], [0.3, 0.6, -0.1], [0.0, -0.1, 0.4]]
BANDIT = PortfolioBandit(MultivariateGaussian(MEAN, SPREAD))
POLICIES = ["mc-empirical", "mc-ucb", "mc-ete", "even", "single-arm(arm=1)", "vertices"]


class Spy(PortfolioPolicy):
    """Plays given mixes and keeps what it is shown."""

    name = "spy"

    def __init__(self, feedback, mixes, rounds=4):
        self.feedback, self.mixes, self.rounds, self.shown = feedback, mixes, rounds, []

    def __str__(self):
        return "spy"

    def play(self, brief):
        for mix in self.mixes:
            self.shown.append((yield np.array(mix), self.rounds))


def spied(mix, feedback="full", rounds=4):
    return simulate_portfolio(BANDIT, Spy(feedback, [mix], rounds), horizon=10, runs=1)


@pytest.mark.parametrize(("feedback", "arms"), [("full", [0, 1, 2]), ("semi-bandit", [0, 2]), ("bandit", [])])
def test_each_feedback_shows_what_it_may_and_no_more(feedback, arms):
    spy = Spy(feedback, [[0.5, 0.0, 0.5]] * 3)
    simulate_portfolio(BANDIT, spy, horizon=9, runs=1)
    assert spy.shown[0].arms.tolist() == arms
    assert np.shape(spy.shown[0].block.mean) == ((len(arms),) if arms else ())
    assert spy.shown[0].block.rounds == 4


@pytest.mark.parametrize(("c", "whole"), [(0.01, True), (1.0, False)])
def test_mc_ucb_takes_off_as_much_of_its_widths_as_leaves_a_covariance(c, whole):
    """Ĉ − θ w wᵀ and μ̂ + b of its docstring, with θ = 1 if that is positive semi-definite, else the largest θ."""
    spread, rounds, t = np.array([[1.0, 0.3], [0.3, 0.5]]), np.array([[400.0, 100.0], [100.0, 200.0]]), 500
    seen = Pairs(2)
    seen.rounds, seen.scatter, seen.means = rounds, spread * rounds, np.array([[0.2, 9.0], [9.0, 0.1]])
    mean, covariance = MCUCB(c=c)._optimistic(seen, np.array([0.5, 0.5]), t)
    assert mean == pytest.approx([0.2, 0.1] + c * np.sqrt(2 * np.diag(spread) * np.log(t) / [400, 200]))
    width = np.sqrt(2 * c * np.diag(spread) * np.sqrt(t * np.log(t)) / 100)  # each was seen beside the other 100 times
    taken = (spread - covariance) / np.outer(width, width)
    assert taken == pytest.approx(np.full((2, 2), taken[0, 0]))
    assert taken[0, 0] == pytest.approx(1.0) if whole else taken[0, 0] < 0.9
    least = np.linalg.eigvalsh(covariance)[0]
    assert least > 0.1 if whole else least == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_result_does_not_depend_on_the_workers(policy):
    settings = {"horizon": 200, "runs": 60, "seed": 3, "snapshots": [50]}
    one, many = (simulate_portfolio(BANDIT, policy, workers=workers, **settings) for workers in (1, 3))
    assert (one.regret() == many.regret()).all()
    assert (one.at(50).weights == many.at(50).weights).all()
    assert len(np.unique(one.reward_mean)) == 60


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("rho", [0.0, 2.0, np.inf])
def test_every_mix_is_feasible_and_pseudo_regret_is_not_negative(policy, rho):
    runs = simulate_portfolio(BANDIT, policy, rho=rho, horizon=300, runs=3, snapshots=[5, 40])
    for snapshot in runs.history:
        assert snapshot.weights.sum(1) == pytest.approx(1.0)
        assert snapshot.weights.min() >= 0.0
        assert snapshot.pseudo_regret().min() >= -1e-12
    assert str(portfolio_policies.parse(policy)) == policy
    assert runs.summary()["policy"] == policy


@pytest.mark.parametrize("policy", ["mc-empirical", "mc-ucb", "mc-ete"])
def test_rewards_that_never_vary_are_learned(policy):
    sure = PortfolioBandit(MultivariateGaussian([0.1, 0.2], np.zeros((2, 2))))
    runs = simulate_portfolio(sure, policy, horizon=500, runs=2)
    assert runs.weights.tolist() == [[0.0, 1.0]] * 2


def test_the_weights_of_a_run_are_no_exploration():
    """MC-ETE plays single arms and pairs at many of these rounds; what it holds best is even, then an estimate."""
    runs = simulate_portfolio(BANDIT, "mc-ete", horizon=300, runs=1, snapshots=range(1, 301))
    held = np.array([snapshot.weights[0] for snapshot in runs.history])
    assert held[:12] == pytest.approx(1.0 / 3.0)
    assert not ((held[12:] == 0.5).sum(1) == 2).any()
    assert len(np.unique(held, axis=0)) > 10


def test_progress_counts_every_run():
    for workers in (1, 2):
        finished = []
        simulate_portfolio(BANDIT, "even", horizon=5, runs=120, workers=workers, progress=finished.append)
        assert sum(finished) == 120


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_tells_of_parts_of_a_run_where_it_takes_long(monkeypatch, workers):
    monkeypatch.setattr("prudent.portfolio.simulation.PROGRESS_SECONDS", 0.0)
    told = []
    simulate_portfolio(BANDIT, "mc-empirical", horizon=200, runs=3, workers=workers, progress=told.append)
    assert sum(told) == pytest.approx(3.0)
    assert len(told) > 3 * 50


MANY_ARMS = PortfolioBandit(EmpiricalJoint(np.random.default_rng(5).normal(size=(30, 40)) + np.linspace(0, 1, 40)))


@pytest.mark.parametrize("policy", ["mc-empirical", "mc-ucb", "mc-ete", "even"])
@pytest.mark.parametrize("upper", [None, 0.1])
def test_many_arms_are_learned_as_few_are(monkeypatch, policy, upper):
    """What is left out or not looked at where arms are many, here 40 and more than 8, changes nothing but rounding."""
    settings = {"horizon": 400, "runs": 1, "workers": 1, "snapshots": [30], "rho": 0.3}
    settings["upper"] = None if policy == "mc-ete" else upper
    expected = simulate_portfolio(MANY_ARMS, policy, **settings)
    for module in ("program", "policies.mc_ucb", "laws"):
        monkeypatch.setattr(f"prudent.portfolio.{module}.MANY_ARMS", 8)
    found = simulate_portfolio(MANY_ARMS, policy, **settings)
    for one, other in zip(found.history, expected.history, strict=True):
        assert one.weights == pytest.approx(other.weights, abs=1e-6)
        assert one.regret() == pytest.approx(other.regret(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("arms", [3, 250])
def test_a_law_of_many_arms_has_its_covariance(arms):
    root = np.random.default_rng(arms).normal(size=(arms, 2 * arms))
    law = MultivariateGaussian(np.zeros(arms), root @ root.T)
    assert law._root @ law._root.T == pytest.approx(law.covariance, rel=1e-9, abs=1e-9 * arms)


def test_facts_are_plain_numbers_and_none_is_missing():
    for rho in (0.0, np.inf):
        learned = report.learn(BANDIT, horizon=50, runs=1, rho=rho)
        facts = report.facts(learned)
        assert facts.pop("rho") == rho
        json.dumps(facts, allow_nan=False)


def test_limits_and_short_selling_reach_the_policies():
    tight = simulate_portfolio(BANDIT, "mc-ucb", rho=1.0, horizon=300, runs=2, upper=0.4)
    assert tight.weights.max() <= 0.4
    short = simulate_portfolio(BANDIT, "mc-empirical", rho=5.0, horizon=3000, runs=2, short=True)
    assert short.weights.min() < 0.0
    assert short.best.weights.min() < 0.0


def test_a_single_run_written_out_by_hand():
    """The outcome of a run against its definitions, on rewards drawn one by one with the same stream."""
    rows = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [2.0, 1.0, 0.0]])
    bandit = PortfolioBandit(EmpiricalJoint(np.repeat(rows, 20, axis=0)))
    drawn = []
    sample = bandit.law.sample
    bandit.law.sample = lambda rng, size: drawn.append(sample(rng, size)) or drawn[-1]
    mixes = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    runs = simulate_portfolio(bandit, Spy("full", mixes), rho=0.5, horizon=8, runs=1)
    rewards = np.concatenate(drawn)
    best = bandit.optimal(0.5)
    played = np.repeat(mixes, 4, axis=0)
    y, twin = (played * rewards).sum(1), rewards @ best.weights
    assert runs.regret()[0] == pytest.approx((y.var() - 0.5 * y.mean()) - (twin.var() - 0.5 * twin.mean()), rel=1e-12)
    assert runs.gap[0] == pytest.approx(np.mean([bandit.cost(x, 0.5) - best.cost for x in mixes]), rel=1e-12)
    assert runs.exploration[0] == pytest.approx((played @ bandit.law.mean).var(), rel=1e-12)
    assert runs.average_weights[0] == pytest.approx(played.mean(0))


def test_pairs_pool_the_rounds_that_showed_both():
    rng = np.random.default_rng(0)
    rows, seen = rng.normal(size=(12, 3)), Pairs(3)
    shown = [([0, 1, 2], rows[:5]), ([0, 2], rows[5:9]), ([1, 2], rows[9:])]
    for arms, part in shown:
        x = part[:, arms]
        centred = x - x.mean(0)
        block = type(BANDIT.law.block(rng, 1))(len(x), x.mean(0), centred.T @ centred)
        seen.add(Observation(np.array(arms), block))
    assert seen.rounds.tolist() == [[9, 5, 9], [5, 8, 8], [9, 8, 12]]
    assert seen.mean == pytest.approx([rows[:9, 0].mean(), rows[[*range(5), 9, 10, 11], 1].mean(), rows[:, 2].mean()])
    assert seen.covariance[0, 2] == pytest.approx(np.cov(rows[:9, [0, 2]].T, ddof=0)[0, 1])


def test_the_design_of_pairs_recovers_every_covariance():
    design, spread = np.array(list(pair_design(3))), np.array(SPREAD)
    variances = np.einsum("ki,ij,kj->k", design, spread, design)
    assert covariance_of_pairs(variances, 3) == pytest.approx(spread)
    assert mean_of_pairs(design @ MEAN, 3) == pytest.approx(MEAN)


@pytest.mark.parametrize("arms", [1, 2, 5, 40])
def test_means_are_fitted_to_the_design_by_least_squares(arms):
    means = np.random.default_rng(arms).normal(size=arms * (arms + 1) // 2)
    expected = np.linalg.lstsq(np.array(list(pair_design(arms))), means)[0]
    assert mean_of_pairs(means, arms) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("limits", [{}, {"upper": 0.5}, {"upper": [0.1, 0.2, 0.9, 0.3]}, {"upper": 0.25}])
@pytest.mark.parametrize("short", [False, True])
def test_the_even_mix_is_the_one_of_least_variance_among_equal_arms(limits, short):
    expected = solve(np.eye(4), np.zeros(4), 0.0, short=short, **limits).weights
    assert Brief(4, 1.0, 10, limits.get("upper"), short).even() == pytest.approx(expected, abs=1e-12)


def test_a_power_law_has_its_own_slope():
    rounds = [10, 100, 1000]
    slope = bootstrap_slope(rounds, [np.full(5, n**-0.4) for n in rounds])
    assert (slope.value, slope.low, slope.high) == pytest.approx((-0.4, -0.4, -0.4))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: simulate_portfolio(BANDIT, "mc-ete", horizon=10, runs=1, upper=0.5), "upper limits forbid"),
        (lambda: simulate_portfolio(BANDIT, "mc-ete", horizon=10, runs=1, short=True), "short selling"),
        (lambda: simulate_portfolio(BANDIT, "mc-ucb", horizon=10, runs=1, short=True), "give upper limits"),
        (lambda: simulate_portfolio(BANDIT, "mc-ubc", horizon=10, runs=1), "did you mean mc-ucb"),
        (lambda: simulate_portfolio(BANDIT, "mc-empirical", horizon=10, runs=1, upper=0.2), "sum to at least 1"),
        (
            lambda: simulate_portfolio(BANDIT, SingleArm(3), horizon=10, runs=1),
            "arm must be a whole number from 0 to 2",
        ),
        (lambda: simulate_portfolio(BANDIT, Even(), horizon=10, runs=1, rho=-1), "rho must lie in"),
        (lambda: simulate_portfolio(BANDIT, None, horizon=10, runs=1), "must be a portfolio policy"),
        (lambda: simulate_portfolio(BANDIT, Even(), horizon=10, runs=1).at(5), "snapshots 10, got 5"),
        (lambda: simulate_portfolio(BANDIT, Even(), horizon=10, runs=1).regret_slope(), "two snapshots"),
        (lambda: simulate_portfolio(BANDIT, "vertices(policy='exp-exp')", horizon=10, runs=1), "no score"),
        (lambda: simulate_portfolio(BANDIT.law, "even", horizon=10, runs=1), "bandit must be a PortfolioBandit"),
        (lambda: simulate_portfolio(BANDIT, "vertices", horizon=10, runs=1, upper=0.5), "within the limits"),
        (lambda: spied([1.0, 1.0, 0.0]), "3 weights that sum to 1"),
        (lambda: spied([np.nan, 1.0, 0.0]), "3 weights that sum to 1"),
        (lambda: spied([0.5, 0.5]), "3 weights that sum to 1"),
        (lambda: spied([2.0, -1.0, 0.0]), "within the limits"),
        (lambda: spied([1.0, 0.0, 0.0]), "without end"),
        (lambda: spied([1.0, 0.0, 0.0], rounds=0), "rounds must be a whole number at least 1, got 0"),
        (lambda: spied([1.0, 0.0, 0.0], feedback="ful"), "feedback must be one of full, semi-bandit, bandit"),
        (lambda: MCEmpirical(growth=-1), "growth must lie in"),
        (lambda: MCUCB(c=-1), "c must lie in"),
        (lambda: MCETE(growth=2), "growth must lie in"),
    ],
)
def test_bad_questions_are_rejected(call, words):
    with pytest.raises(PrudentError, match=words):
        call()


def test_progress_within_a_run_is_told_after_a_while_and_at_its_end(monkeypatch):
    told, clock = [], iter([0.0, 0.1, 5.0, 5.1, 5.2])
    monkeypatch.setattr(simulation.time, "monotonic", lambda: next(clock))
    teller = simulation._Teller(told.append, 100)
    monkeypatch.setattr(simulation, "PROGRESS_SECONDS", 1.0)
    assert [teller(0, 10), teller(0, 40), teller(40, 60), teller(40, 100)] == [0, 40, 40, 100]
    assert told == [0.4, 0.6]


def test_vertices_look_again_after_every_round():
    """As the policy does on single arms: it never asks for two rounds at once."""
    play = portfolio_policies.parse("vertices").play(Brief(3, 1.0, 100))
    weights, rounds = next(play)
    for _ in range(20):
        assert (rounds, np.sort(weights).tolist()) == (1, [0.0, 0.0, 1.0])
        reward = np.array(float(weights[0]))
        weights, rounds = play.send(Observation(np.empty(0, np.int64), Block(1, reward, np.zeros(()))))
