"""The exact engine against every policy's sequences of rewards, and the engines that simulate against the exact one.

The weights of the exact engine are the same for all probabilities of rewards, so the order of two coins does not enter
them; it enters the comparison of engines.
"""

import numpy as np
import pytest
from scipy import stats

from helpers.exact_states import counted, enumerated
from prudent import Agent, Bandit, Bernoulli, PrudentError, simulate
from prudent.policies.contract import policies

pytestmark = pytest.mark.slow  # every policy is compiled

RISKS = ("mean-variance(rho=0.5)", "cvar(alpha=0.4)", "var(alpha=0.4)", "mean-cvar(alpha=0.4)", "entropic(lam=1)")
REFUSED = {
    *("b-cvts", "cvar-ts", "m-cvts", "mvts", "npts", "npts-sg", "rho-mts", "srts", "vts"),
    *("discounted", "sliding-window"),
}
"""Those that draw at random by themselves, or numbers whose comparison is not known exactly."""

DRAWN = {
    *("bernoulli-mv-kg", "bernoulli-mvts", "bernoulli-thompson", "epsilon-greedy", "mts", "random-arm", "thompson"),
}
"""Those that draw declared numbers or tell their chances: compared with fractions and quadrature in
tests/unit/engine/exact, and below with what they play."""


def exact(policy, n_arms, horizon):
    """The first risk that the policy serves, and its results; or what the last one is refused with."""
    for risk in RISKS:
        try:
            coins = Bandit([Bernoulli(0.5)] * n_arms)
            return risk, simulate(coins, policy, risk=risk, horizon=horizon, engine="exact")
        except PrudentError as error:
            refusal = str(error)
    return refusal, None


@pytest.mark.parametrize("n_arms", [2, 3])
@pytest.mark.parametrize("policy", policies.names())
def test_every_policy_reaches_the_states_of_all_sequences(policy, n_arms):
    n = 8 if n_arms == 2 else 9
    risk, found = exact(policy, n_arms, n)
    assert (found is None) == (policy in REFUSED), risk
    if found is not None and policy not in DRAWN:
        assert counted(found, n_arms) == enumerated(policy, risk, (0.0, 1.0), n_arms, n)


FALSE_ALARM = 1e-6
"""Of each comparison, whose statistic has a χ² distribution if as many runs are expected in a class as this."""

EXPECTED = 12.0


def misfit(pulls, distribution):
    """P(a χ² at least as large as that of these pulls) if the distribution is theirs."""
    runs, kinds = len(pulls), distribution.values
    seen = np.array([(pulls == value).sum() for value in kinds])
    assert seen.sum() == runs, "a number of pulls that cannot be"
    classes, waiting = [], np.zeros(2)
    for count, chance in zip(seen, distribution.probabilities, strict=True):
        waiting += count, runs * chance
        if waiting[1] >= EXPECTED:
            classes.append(waiting)
            waiting = np.zeros(2)
    if not classes:
        return 1.0
    classes[-1] = classes[-1] + waiting
    got, expected = np.array(classes).T
    return float(stats.chi2.sf(((got - expected) ** 2 / expected).sum(), max(len(classes) - 1, 1)))


PAIRS = (((0.95, 0.9), 0.0), ((0.3, 0.7), 0.0), ((0.2, 0.4), 0.5))
LEAPING = ("anytime-mv-lcb", "best-of-both", "bernoulli-thompson", "exp-exp", "mv-dsee", "mv-lcb", "prudent")
STEPPED = ("bernoulli-mv-imed", "bernoulli-mvts", "kl-ucb", "mv-imed", "mv-lcb(c=1)", "thompson(sd=1)", "ucb1")
STEPPED += ("bernoulli-mv-kg", "epsilon-greedy", "random-arm")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("policy", LEAPING + STEPPED)
def test_engines_follow_the_exact_distribution(policy, pair, order):
    """102 cells: a correct program fails in one of them with a probability of about 1.5e-4."""
    p, rho = pair
    asked = {"risk": f"mean-variance(rho={rho})", "horizon": 60}
    coins = Bandit([Bernoulli(each) for each in p[::order]])
    known = simulate(coins, policy, **asked, engine="exact").pulls[0]
    for engine in ("stepping", "leaping") if policy in LEAPING else ("stepping",):
        runs = simulate(coins, policy, **asked, runs=20_000, seed=order + 1, engine=engine)
        assert misfit(runs.pulls[:, 0], known) > FALSE_ALARM, engine


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("policy", ["ucb1", "bernoulli-thompson", "exp-exp", "mv-imed"])
def test_what_runs_interpreted_follows_the_exact_distribution(policy, order):
    """A batch of one round, a delay of none, an environment, and an agent that is asked and told."""
    p, asked = (0.3, 0.7)[::order], {"risk": "mean-variance(rho=0)", "horizon": 24}
    coins, runs = Bandit([Bernoulli(each) for each in p]), 250
    known = simulate(coins, policy, **asked, engine="exact").pulls[0]
    for other in ({"batch": 1}, {"delay": 0}, {"engine": "interpreted"}):
        played = simulate(coins, policy, **asked, runs=runs, seed=order + 1, **other)
        assert misfit(played.pulls[:, 0], known) > FALSE_ALARM, other
    pulls, rng = np.zeros(runs), np.random.default_rng(order + 1)
    for run in range(runs):
        agent = Agent(policy, arms=["a", "b"], support=(0, 1), seed=run, **asked)
        for _ in range(24):
            arm = agent.ask()
            agent.tell(arm, float(rng.random() < p["ab".index(arm)]))
            pulls[run] += arm == "a"
    assert misfit(pulls, known) > FALSE_ALARM
