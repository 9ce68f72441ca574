"""The simulation against one that draws round by round and keeps every reward. False-alarm rates are at most 1e-6."""

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

from prudent import EmpiricalJoint, MultivariateGaussian, PortfolioBandit, simulate_portfolio
from prudent.portfolio import Block, Brief, Explore, Observation, PortfolioPolicy, portfolio_policies

MEAN, SPREAD = np.array([0.5, 0.2]), np.array([[1.0, 0.3], [0.3, 0.6]])
ROOT = np.linalg.cholesky(SPREAD)
ROWS = np.random.default_rng(7).gamma(2.0, size=(9, 2))
RHO, HORIZON, RUNS = 1.5, 60, 800
FEEDBACK = {"mc-empirical(growth=0.3)": "full", "mc-ucb(growth=0.3)": "semi-bandit", "mc-ete(growth=0.3)": "bandit"}


def gaussian_round(rng):
    return MEAN + ROOT @ rng.standard_normal(2)


def row(rng):
    return ROWS[rng.integers(len(ROWS))]


def moments(rewards):
    centred = rewards - rewards.mean(0)
    return Block(len(rewards), rewards.mean(0), centred.T @ centred)


def naive_run(rng, draw, policy, best):
    """Regret and last mix of one run: every reward is drawn, kept, and enters the definition of the regret."""
    stretches = portfolio_policies.parse(policy).play(Brief(2, RHO, HORIZON))
    decision = mix, rounds = next(stretches)
    rewards, mixes, since, held = [], [], 0, np.array([0.5, 0.5])
    while True:
        held = held if isinstance(decision, Explore) else mix
        rewards.append(draw(rng))
        mixes.append(mix)
        if len(rewards) == HORIZON:
            break
        if len(rewards) - since == rounds:
            shown, since = np.array(rewards[since:]), len(rewards)
            if FEEDBACK[policy] == "bandit":
                seen = Observation(np.array([], dtype=int), moments(shown @ mix))
            else:
                arms = np.flatnonzero(mix) if FEEDBACK[policy] == "semi-bandit" else np.arange(2)
                seen = Observation(arms, moments(shown[:, arms]))
            decision = mix, rounds = stretches.send(seen)
    received, twin = np.einsum("ti,ti->t", rewards, mixes), np.array(rewards) @ best
    return (received.var() - RHO * received.mean()) - (twin.var() - RHO * twin.mean()), held[0]


GAUSSIAN, EMPIRICAL = (MultivariateGaussian(MEAN, SPREAD), gaussian_round), (EmpiricalJoint(ROWS), row)
CASES = [(*GAUSSIAN, policy) for policy in FEEDBACK] + [(*EMPIRICAL, "mc-ucb(growth=0.3)")]


@pytest.mark.slow
@pytest.mark.parametrize(("law", "draw", "policy"), CASES)
def test_blocks_leave_the_law_of_regret_and_mix_alone(law, draw, policy):
    """Kolmogorov–Smirnov at 3e-7 each on the true regret and on the last mix."""
    runs = simulate_portfolio(PortfolioBandit(law), policy, rho=RHO, horizon=HORIZON, runs=RUNS, seed=5)
    rng = np.random.default_rng(6)
    regret, weight = np.transpose([naive_run(rng, draw, policy, runs.best.weights) for _ in range(RUNS)])
    assert ks_2samp(runs.regret(), regret).pvalue > 3e-7
    assert ks_2samp(runs.weights[:, 0].round(9), weight.round(9)).pvalue > 3e-7


class StayIfLucky(PortfolioPolicy):
    """The first arm for half of the rounds; for the rest too, if it paid more than its mean."""

    name, feedback = "stay-if-lucky", "bandit"

    def __str__(self):
        return self.name

    def play(self, brief):
        seen = yield np.array([1.0, 0.0]), brief.horizon // 2
        yield (np.array([1.0, 0.0]) if seen.block.mean > MEAN[0] else np.array([0.0, 1.0])), brief.horizon


def test_what_parts_the_regret_from_its_pseudo_regret():
    """E[R] = E[gap + exploration] − 2 E[m ε] − E[v − v*]/n, with m the mean of x_tᵀμ, ε of the noise, v of x_tᵀCx_t.

    The term in m ε is there because a mix depends on earlier noise. Two-sided at 1e-7.
    """
    bandit = PortfolioBandit(MultivariateGaussian(MEAN, SPREAD))
    runs = simulate_portfolio(bandit, StayIfLucky(), rho=RHO, horizon=HORIZON, runs=20_000, seed=8)
    of_mixes = runs.average_weights @ MEAN
    noise = runs.reward_mean - of_mixes
    variance = runs.gap + runs.best.cost + RHO * of_mixes
    apart = 2.0 * of_mixes * noise + (variance - runs.best.variance) / HORIZON
    error = runs.regret() - runs.pseudo_regret() + apart
    limit = norm.isf(5e-8) * error.std() / np.sqrt(len(runs))
    assert abs(error.mean()) < limit < apart.mean()  # nor is what is tested lost in the noise
