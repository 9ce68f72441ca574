"""The Bayes-optimal policy against published values, fractions and all policies that there are."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from prudent import Agent, Bandit, CVaR, MeanVariance, Optimal, PrudentError, simulate
from prudent.compile.types import as_compiled
from prudent.engine.exact.forward import layer_of_table
from prudent.engine.exact.lattice import Lattice
from prudent.engine.exact.pair import last_layer_of_pair
from prudent.policies.contract import Arms, Setting, policies
from prudent.policies.optimal import Recomputed, best_plan, costs_of_totals, on_one_scale
from prudent.risk.base import risks

MEAN = risks.parse("mean")
HALF = Fraction(1, 2)
COINS = Bandit(["bernoulli(0.25)", "bernoulli(0.5)"])


def test_the_published_value_of_sixty_rounds():
    """BinaryBandit's README: `DP_2_action_lin(60)` expects 38.562343246635564 successes under uniform priors."""
    assert -60.0 * Optimal().expected_cost(MEAN, 60) == pytest.approx(38.562343246635564, rel=1e-13)


def test_the_published_moments_of_sixty_rounds():
    """Ibid.: `DP_2_NS(60, 0.3, 0.5)`, where ties are decided at random: (27.667781619675154, 23.650456467947016)."""
    n = 60
    value, _, _ = best_plan(n, (1.0, 1.0), (), tuple(-np.arange(n + 1) / n))
    assert value == pytest.approx(-38.562343246635564 / n, rel=1e-13)
    p, q = 0.3, 0.5
    ones = np.add.outer(np.arange(n + 1), np.arange(n + 1))
    law = _law_with_ties_at_random(n, p, q)
    mean = (law * ones).sum()
    assert law.sum() == pytest.approx(1.0, rel=1e-12)
    assert mean == pytest.approx(27.667781619675154, rel=1e-12)
    assert (law * (ones - mean) ** 2).sum() == pytest.approx(23.650456467947016, rel=1e-10)


def _law_with_ties_at_random(n, p, q):
    """P(s₁ ones of the first coin, s₂ of the second), by a recursion of its own."""
    values = np.zeros((n + 2, n + 2, n + 2))
    shares = []
    for t in range(n - 1, -1, -1):
        n1, s1, s2 = np.ogrid[: t + 1, : t + 1, : t + 1]
        first, second = (s1 + 1.0) / (n1 + 2.0), (s2 + 1.0) / (t - n1 + 2.0)
        at = values[: t + 2, : t + 2, : t + 2]
        one = first * (1.0 + at[1:, 1:, :-1]) + (1.0 - first) * at[1:, :-1, :-1]
        other = second * (1.0 + at[:-1, :-1, 1:]) + (1.0 - second) * at[:-1, :-1, :-1]
        shares.append(np.where(abs(one - other) < 1e-12, 0.5, one > other))
        fits = (s1 <= n1) & (s2 <= t - n1)
        values = np.zeros((t + 2, t + 2, t + 2))
        values[:-1, :-1, :-1] = np.where(fits, np.maximum(one, other), 0.0)
    law = np.zeros((n + 1, n + 1, n + 1))
    law[0, 0, 0] = 1.0
    for share in shares[::-1]:
        t = len(share)
        given, kept = law[:t, :t, :t] * share, law[:t, :t, :t] * (1.0 - share)
        law = np.zeros_like(law)
        law[1 : t + 1, 1 : t + 1, :t] += p * given
        law[1 : t + 1, :t, :t] += (1 - p) * given
        law[:t, :t, 1 : t + 1] += q * kept
        law[:t, :t, :t] += (1 - q) * kept
    return law.sum(0)


def in_fractions(n, cost, seen):
    """The least expected cost, from the probability `seen` of counts ((ones, zeros), (ones, zeros)), in one order."""

    @cache
    def value(*counts):
        if sum(counts) == n:
            return seen(*counts) * cost(counts[0] + counts[2])
        after = [value(*(x + (i == j) for j, x in enumerate(counts))) for i in range(4)]
        return min(after[0] + after[1], after[2] + after[3])

    return value(0, 0, 0, 0)


def mixed(pairs):
    total = sum(weight for _, _, weight in pairs)

    def seen(a, b, c, d):
        return sum(w * p**a * (1 - p) ** b * q**c * (1 - q) ** d for p, q, w in pairs) / total

    return seen


PAIRS = ((Fraction(1, 4), HALF, Fraction(2)), (Fraction(7, 8), HALF, Fraction(1)), (HALF, Fraction(0), Fraction(1)))
AS_FLOATS = tuple(tuple(float(x) for x in pair) for pair in PAIRS)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_value_is_that_of_fractions(n):
    def cost(ones):
        mean = Fraction(ones, n)
        return mean * (1 - mean) - Fraction(1, 4) * mean

    wanted = in_fractions(n, cost, mixed(PAIRS))
    assert Optimal(pairs=AS_FLOATS).expected_cost(MeanVariance(0.25), n) == pytest.approx(float(wanted), rel=1e-13)


def test_a_quantile_of_the_ones_is_as_large_as_any_policy_makes_it():
    n, alpha = 8, Fraction(1, 4)
    reached = [in_fractions(n, lambda ones, k=k: Fraction(ones < k), mixed(PAIRS)) <= alpha for k in range(n + 1)]
    found = Optimal(pairs=AS_FLOATS, quantile=0.25).expected_cost(MEAN, n)
    assert -found == max(k for k, it_is in enumerate(reached) if it_is)
    assert not all(reached)


def test_other_costs_are_those_of_the_rewards_in_their_unit():
    cvar = CVaR(0.3)
    found = costs_of_totals(cvar, 10, -1.0, 3.0)
    wanted = [cvar.sample_cost([3.0] * k + [-1.0] * (10 - k)) for k in range(11)]
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize("coins", [COINS, Bandit(["bernoulli(0.5)", "bernoulli(0.25)"])])
def test_what_engines_play_has_the_value(coins):
    """Under a prior of one pair in this order the policy knows the coins, and its cost is the value."""
    pairs = ((*coins.means, 1.0),)
    found = simulate(coins, Optimal(pairs=pairs), risk="mean-variance(rho=0.5)", horizon=12, engine="exact")
    assert found.cost().mean() == pytest.approx(Optimal(pairs=pairs).expected_cost(MeanVariance(0.5), 12), rel=1e-12)


def test_the_weights_of_the_table_are_those_of_its_chances():
    """The pass for tables against the one for policies that tell their chances, which looks every decision up."""
    n = 9
    ready = Optimal(low=0.0, high=1.0, risk=MeanVariance(0.0)).tuned(Setting(2, MeanVariance(0.0), n))
    lattice = Lattice([np.array([0.0, 1.0])] * 2, n)
    layer, wanted = layer_of_table(ready, n), last_layer_of_pair("optimal", as_compiled(ready), lattice)
    assert layer.keys() == wanted.keys()
    for allocation, weights in wanted.items():
        assert layer[allocation] == pytest.approx(weights, abs=1e-14)


@pytest.mark.parametrize("pairs", [(), AS_FLOATS])
def test_what_is_computed_when_it_is_due_is_what_the_table_says(pairs):
    n, rng, risk = 24, np.random.default_rng(3), MeanVariance(0.0)
    for prior in ((1.0, 1.0), (2.0, 1.0, 1.0, 3.0)):
        table = Optimal(prior=prior, pairs=pairs, low=0.0, high=1.0, risk=risk).tuned(Setting(2, risk, n))
        costs = on_one_scale(tuple(costs_of_totals(risk, n, 0.0, 1.0))).costs
        later = Recomputed(prior, pairs, costs, 0.0, 1.0)
        for _ in range(60):
            n1 = rng.integers(0, (t := rng.integers(0, n)) + 1)
            ones = rng.integers(0, n1 + 1), rng.integers(0, t - n1 + 1)
            means = np.array([s / max(k, 1) for s, k in zip(ones, (n1, t - n1), strict=True)])
            arms = Arms(np.array([n1, t - n1]), means, *(np.zeros(2) for _ in range(3)), np.empty((2, 0)))
            assert later.pulled(arms) == table.pulled(arms)


def test_an_agent_for_many_rounds_needs_no_table():
    agent = Agent(Optimal(), ["a", "b"], horizon=401, support=(0, 1), risk="mean", seed=1)
    assert agent.ask() == "a"
    for _ in range(300):
        agent.tell("a", 0.0, asked=False)
    assert Agent.from_json(agent.to_json()).ask() == "b"


def test_an_agent_decides_as_the_table_says_after_it_was_saved():
    agent = Agent(Optimal(prior=(2.0, 1.0)), ["a", "b"], horizon=30, support=(0, 1), risk="mean", seed=1)
    for reward in (0, 0, 1, 0, 1, 1, 0, 0):
        agent.tell(agent.ask(), reward)
    again = Agent.from_json(agent.to_json())
    assert again.ask() == agent.ask()


def test_dollars_instead_of_ones_change_no_choice():
    def arms_of(low, high):
        agent = Agent(Optimal(), 2, horizon=40, support=(low, high), risk="mean", seed=1)
        rng, found = np.random.default_rng(5), []
        for _ in range(40):
            found.append(agent.ask())
            agent.tell(found[-1], high if rng.random() < 0.4 + 0.2 * found[-1] else low)
        return found

    assert arms_of(0, 1) == arms_of(-50, 150)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Optimal(prior=(1.0,)), "two or four numbers"),
        (lambda: Optimal(prior=(1.0, 0.0)), "above 0"),
        (lambda: Optimal(pairs=((0.5, 1.5, 1.0),)), "probabilities and a weight"),
        (lambda: Optimal(pairs=((0.5, 0.5),)), "probabilities and a weight"),
        (lambda: Optimal(quantile=1.0), "quantile must lie in"),
        (lambda: Optimal(low=0.0, high=1.0, risk=MEAN).tuned(Setting(3, MEAN, 30)), "it is for two arms, got 3"),
        (lambda: Optimal(low=0.0, high=1.0, risk=MEAN).tuned(Setting(2, MEAN, 1_001)), "horizon must"),
        (lambda: Optimal(low=0.0, high=1.0, risk=MEAN).tuned(Setting(2, MEAN)), "needs the horizon"),
        (lambda: simulate(COINS, "optimal", risk="mean", horizon=401, runs=1), "at most 400 here, got 401"),
    ],
)
def test_what_it_cannot_serve_is_refused(make, words):
    with pytest.raises(PrudentError, match=words):
        make()


def test_it_is_read_from_text_and_written_again():
    pairs = ((0.25, 0.5, 1.0), (0.5, 0.25, 1.0))
    for given in (Optimal(prior=(2.0, 1.0)), Optimal(pairs=pairs, quantile=0.25)):
        text = policies.spec(given)
        again = policies.parse(text)
        assert policies.spec(again).replace("[", "(").replace("]", ")") == text.replace("[", "(").replace("]", ")")
        assert again.expected_cost(MEAN, 9) == given.expected_cost(MEAN, 9)
    agent = Agent(policies.spec(Optimal(pairs=pairs)), ["a", "b"], horizon=9, support=(0, 1), risk="mean")
    assert agent.ask() == Agent.from_json(agent.to_json()).ask()
