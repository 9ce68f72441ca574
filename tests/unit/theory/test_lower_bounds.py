"""The constant that no learning policy beats, and the divergences it is made of, against minima found in other ways."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from helpers.random_divergences import divergences_of, random_problems
from prudent import (
    MVLCB,
    Bandit,
    Bernoulli,
    Beta,
    CVaR,
    Deterministic,
    Empirical,
    Gaussian,
    MeanVariance,
    Mixture,
    PrudentError,
    Uniform,
    simulate,
)
from prudent.confidence import divergence
from prudent.confidence.finite_divergence import finite
from prudent.theory import asymptotic_bound, bounds, divergences, least_divergence, lower_bound

MEAN = MeanVariance(math.inf)
FINE = {"xatol": 1e-10}
RISKS = (MeanVariance(0.0), MeanVariance(0.3), MeanVariance(4.0), MEAN, CVaR(0.3), CVaR(0.8))
VALUES = np.array([-0.2, 0.1, 0.5, 1.1])


def law_of(counts):
    return Empirical(np.repeat(VALUES, counts))


def searched(counts, cost, risk):
    """The least divergence over all laws on the four values: the best of a grid on the simplex, then a search there."""
    weights = np.array(counts) / sum(counts)
    seen = weights > 0.0

    def divergence_to(q):
        return float((weights[seen] * np.log(weights[seen] / np.maximum(q[seen], 1e-12))).sum())

    parts = np.array([(i, j, k) for i in range(21) for j in range(21 - i) for k in range(21 - i - j)]) / 20.0
    grid = 0.999 * np.column_stack([parts, 1.0 - parts.sum(1)]) + 0.00025
    cheap = [q for q in grid if risk.weigh(VALUES, q) <= cost]
    limits = (
        {"type": "eq", "fun": lambda q: q.sum() - 1.0},
        {"type": "ineq", "fun": lambda q: cost - risk.weigh(VALUES, q / q.sum())},
    )
    found = []
    for start in sorted(cheap, key=divergence_to)[:12:4]:
        options = {"ftol": 1e-12, "maxiter": 300}
        result = minimize(divergence_to, start, bounds=[(1e-9, 1.0)] * 4, constraints=limits, options=options)
        if risk.weigh(VALUES, result.x / result.x.sum()) <= cost + 1e-7:
            found.append(result.fun)
    return min(found)


@pytest.mark.parametrize("risk", RISKS, ids=str)
@pytest.mark.parametrize("counts", [(3, 2, 1, 1), (1, 4, 0, 2), (2, 0, 3, 0)], ids=str)
def test_the_dual_is_the_least_divergence_on_finitely_many_values(risk, counts):
    law = law_of(counts)
    own, best = risk.cost(law), min(risk.weigh(VALUES[i : i + 1], np.ones(1)) for i in range(4))
    cost = own - 0.4 * (own - best)
    least = least_divergence(law, cost, risk, values=VALUES)
    assert least == pytest.approx(searched(counts, cost, risk), rel=2e-4)
    # With more laws to choose from the least is no larger, and with no more than these it is larger if there are fewer.
    within = least_divergence(law, cost, risk, support=(-0.2, 1.1))
    assert within <= least * (1.0 + 1e-9)
    assert least_divergence(law, cost, risk, support=(-0.2, 2.0)) <= within * (1.0 + 1e-9)


@given(st.floats(0.02, 0.98), st.sampled_from([0.0, 0.3, 1.0, 4.0, math.inf]), st.floats(0.01, 0.95))
@settings(max_examples=25)
def test_on_two_values_the_dual_is_the_closed_form(p, rho, share):
    """K has two valleys there, one on each side of p."""
    risk = MeanVariance(rho)
    own = risk.cost(Bernoulli(p))
    cost = own - share * (own - (-rho if rho < math.inf else -1.0))
    closed = divergence.bernoulli(p, cost, rho)
    assert least_divergence(Bernoulli(p), cost, risk) == closed
    assert least_divergence(Bernoulli(p), cost, risk, values=[0, 1]) == pytest.approx(closed, rel=1e-7, abs=1e-12)


@given(st.sampled_from(RISKS), st.floats(1e-3, 1e3), st.floats(-2.0, 2.0), st.booleans())
@settings(max_examples=20)
def test_units_and_shifts_change_no_divergence(risk, unit, shift, finite):
    law, square = law_of((3, 2, 1, 1)), isinstance(risk, MeanVariance) and risk is not MEAN
    own = risk.cost(law)
    cost = own - 0.3 * (own - risk.weigh(VALUES[-1:], np.ones(1)))
    other = Empirical(unit * (law.values + shift))
    scaled = risk.times(unit)
    moved = scaled.cost(other) - (unit**2 if square else unit) * (own - cost)
    model, moved_model = (
        ({"values": VALUES}, {"values": np.unique(other.values)})
        if finite
        else ({"support": (-1, 2)}, {"support": (unit * (shift - 1), unit * (shift + 2))})
    )
    assert least_divergence(other, moved, scaled, **moved_model) == pytest.approx(
        least_divergence(law, cost, risk, **model), rel=1e-6
    )


@pytest.mark.parametrize("risk", [MeanVariance(0.5), MEAN, CVaR(0.3)], ids=str)
def test_a_continuous_law_is_the_limit_of_its_quantiles(risk):
    law = Beta(2.0, 3.0)
    cost = risk.cost(law) - 0.1
    fine = Empirical([law.quantile((i + 0.5) / 500) for i in range(500)])
    assert least_divergence(law, cost, risk, support=(0, 1)) == pytest.approx(
        least_divergence(fine, cost, risk, support=(0, 1)), rel=4e-3
    )


@pytest.mark.parametrize(("law", "alpha", "cost"), [(Beta(2.0, 2.0), 0.05, -0.3), (Beta(4.0, 2.0), 0.1, -0.5)], ids=str)
def test_of_a_cvar_six_digits_are_right(law, alpha, cost):
    """Against 20,000 quantiles: g_b has a kink, at which the rule of integration must be split."""
    rewards = law.tail((np.arange(20_000) + 0.5) / 20_000)

    def dual(b):
        h, top = np.maximum(b - rewards, 0.0) / alpha - b - cost, 1.0 / (b + cost)
        found = minimize_scalar(lambda x: -np.log1p(x * h).mean(), bounds=(0.0, top), method="bounded", options=FINE)
        return -found.fun

    least = minimize_scalar(dual, bounds=(0.01 - cost, 0.99), method="bounded", options=FINE).fun
    assert least_divergence(law, cost, CVaR(alpha), support=(0, 1)) == pytest.approx(least, rel=2e-6)


def test_a_known_divergence_of_a_continuous_law():
    """Of the uniform law for the mean m: max E log(1 + λ(m − X)), an integral with a closed form."""
    m = 0.6

    def dual(x):
        high, low = 1.0 + x * m, 1.0 - x * (1.0 - m)
        return (high * math.log(high) - low * math.log(low)) / x - 1.0

    best = max(dual(x) for x in np.linspace(1e-3, 1.0 / (1.0 - m) - 1e-9, 200_001))
    assert least_divergence(Uniform(0.0, 1.0), -m, MEAN, support=(0, 1)) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("rho", [0.0, 0.3, 4.0, math.inf])
def test_the_divergence_that_policies_use_on_finitely_many_values_is_the_same(rho):
    for counts in ((3, 2, 1, 1), (1, 4, 0, 2), (2, 0, 3, 0)):
        cost = MeanVariance(rho).cost(law_of(counts)) - 0.05
        k = least_divergence(law_of(counts), cost, MeanVariance(rho), values=VALUES)
        assert finite(VALUES, np.array(counts, dtype=float), cost, rho) == pytest.approx(k, rel=1e-7)


def test_long_samples_are_taken_in_pieces(monkeypatch):
    law, given = law_of((3, 2, 1, 1)), {"risk": MeanVariance(0.3), "support": (-1, 2)}
    whole = least_divergence(law, 0.0, **given)
    monkeypatch.setattr(divergences, "_MAX_NUMBERS", 40)
    assert least_divergence(law, 0.0, **given) == pytest.approx(whole, rel=1e-12)


def test_a_mixture_is_taken_part_by_part():
    """Half of it at 0 or 1: the same as a sample of it that has these values and quantiles of the rest."""
    mixture = Mixture(["bernoulli(0.3)", "uniform(0, 1)"], [0.5, 0.5])
    sample = Empirical([*[0.0] * 350, *[1.0] * 150, *((np.arange(500) + 0.5) / 500)])
    for risk in (MeanVariance(1.0), MEAN):
        k = [least_divergence(law, risk.cost(mixture) - 0.1, risk, support=(0, 1)) for law in (mixture, sample)]
        assert k[0] == pytest.approx(k[1], rel=1e-4)


def test_cheap_values_far_apart():
    """Each may be what the cheap law rests on, in a stretch of means of its own: here the value 7 of nine."""
    law = Empirical([0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8])
    risk = MeanVariance(0.0)
    least = least_divergence(law, 0.01, risk, values=range(9))
    # Nearly all mass on 7, the rest q shared so that q(7 − x)² sums to 0.01; a bound from both sides is enough.
    assert 2.0 < least < least_divergence(law, 0.005, risk, values=range(9))
    assert least_divergence(Empirical([0, 8, 8]), 0.01, risk, values=[0, 8]) == pytest.approx(
        divergence.bernoulli(2 / 3, 0.01 / 64, 0.0), rel=1e-6
    )


NEARLY_CONSTANT = (
    ((0.0, 0.34, 1.0), (0, 995, 5), 4.4e-4, 0.0, 0.0040111),
    ((0.0, 0.34, 1.0), (0, 995, 5), -0.0028, 0.01, 0.0027693),
    ((0.001, 0.06, 0.096, 0.315, 0.527), (0, 1, 0, 399, 0), -0.03133, 0.1, 9.2583e-5),
)
"""Arms whose cheap laws lie within a small distance of one value, with K from a fine grid of centres."""


@pytest.mark.parametrize(("values", "counts", "cost", "rho", "k"), NEARLY_CONSTANT)
def test_the_divergence_of_a_nearly_constant_arm_is_that_of_the_nearest_law(values, counts, cost, rho, k):
    policy, bound = (found() for found in divergences_of((np.array(values), np.array(counts, dtype=float), cost, rho)))
    assert policy == pytest.approx(bound, rel=1e-9)
    assert policy == pytest.approx(k, rel=2e-3)


def test_a_search_does_not_step_over_a_valley():
    """Near 15 it is the lowest; from the value 28 twice the way to the nearest law's mean leads into that near 6."""
    values, counts = np.array([1.641, 28.141, 88.722, 95.297, 96.55]), np.array([995.0, 0.0, 1.0, 0.0, 4.0])
    policy, bound = (found() for found in divergences_of((values, counts, -427.5951375069417, 94.909)))
    assert policy == pytest.approx(bound, rel=1e-9) == pytest.approx(0.1487012, rel=1e-6)


def test_policy_and_lower_bound_agree_on_random_problems():
    """`python benchmarks/imed.py divergence` prints the same for 100,000 problems."""
    for problem in random_problems(seed=1, count=400):
        policy, bound = (found() for found in divergences_of(problem))
        assert policy == pytest.approx(bound, rel=1e-9, abs=1e-12), problem


@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_what_is_cheap_enough_has_divergence_0_and_what_cannot_be_is_infinitely_far(risk):
    law = law_of((1, 1, 1, 1))
    for model in ({"values": VALUES}, {"support": (-0.2, 1.1)}):
        assert least_divergence(law, risk.cost(law), risk, **model) == 0.0
        least = min(risk.weigh(VALUES[i : i + 1], np.ones(1)) for i in range(4))
        assert least_divergence(law, least - 0.01, risk, **model) == math.inf


def test_the_constant_is_what_pulls_cost_over_what_they_tell(figure_2):
    for rho in (0.0, 1.0, 10.0):
        risk = MeanVariance(rho)
        best, gaps = figure_2.best(risk), figure_2.gaps(risk)
        other, law = 1 - best, figure_2.arms[1 - best]
        k = divergence.gaussian(law.mean, law.variance, risk.cost(figure_2.arms[best]), rho)
        found = asymptotic_bound(figure_2, risk)
        assert found.divergences[[best, other]] == pytest.approx([0.0, k])
        assert found.prices[[best, other]] == pytest.approx([0.0, gaps[other] + 0.25])
        assert found.constant == pytest.approx((gaps[other] + 0.25) / k)
        assert found.regret(1_000) == pytest.approx(found.constant * math.log(1_000) / 1_000)
        bound = lower_bound(figure_2, risk, 1_000)
        assert bound.value == found.regret(1_000)
        assert bound.applies
        assert bound in bounds(figure_2, risk, 1_000)


def test_only_the_gap_counts_for_the_mean_and_for_other_measures(figure_2):
    assert asymptotic_bound(figure_2, "mean").prices == pytest.approx([0.0, 0.5])
    assert asymptotic_bound(figure_2, "mean").constant == pytest.approx(1.0 / math.log(1.0 + 0.25 / 0.25))
    coins = Bandit([Bernoulli(0.9), Bernoulli(0.5)])
    found = asymptotic_bound(coins, CVaR(0.5))
    assert found.prices == pytest.approx([0.0, 0.8])
    # The mean of the worst half is (p − ½)/½ for p above ½, so that only the mean counts here.
    assert found.constant == pytest.approx(0.8 / divergence.bernoulli(0.5, -0.9, math.inf), rel=1e-6)
    assert "gap regret" in lower_bound(coins, CVaR(0.5), 10).quantity


def test_each_arm_may_have_a_family_of_its_own():
    mixed = Bandit([Gaussian(1.0, 0.1), Bernoulli(0.5), Deterministic(0.0)])
    found = asymptotic_bound(mixed, MeanVariance(1.0))
    assert found.divergences[1] == divergence.bernoulli(0.5, -0.9, 1.0)
    assert found.divergences[2] == math.inf
    assert found.constant == pytest.approx(found.prices[1] / found.divergences[1])
    assert "it says nothing about arm 3" in lower_bound(mixed, MeanVariance(1.0), 100).note
    # Among all laws on the unit interval a constant may be taken for something better.
    coins = Bandit([Bernoulli(0.9), Deterministic(0.5)])
    assert asymptotic_bound(coins, "mean").constant == 0.0
    assert asymptotic_bound(coins, "mean", support=(0, 1)).divergences[1] == pytest.approx(math.log(5.0))


def test_ties():
    apart = Bandit([Bernoulli(0.2), Bernoulli(0.8), Bernoulli(0.5)])
    assert asymptotic_bound(apart, MeanVariance(0.0)).constant == math.inf
    assert not lower_bound(apart, MeanVariance(0.0), 100).applies
    twins = Bandit([Gaussian(0.0, 1.0), Gaussian(0.0, 1.0), Gaussian(0.0, 2.0)])
    assert asymptotic_bound(twins, MeanVariance(0.0)).constant == pytest.approx(2.0 / (math.log(0.5) + 1.0))
    assert not lower_bound(Bandit([Bernoulli(0.2)]), MeanVariance(0.0), 100).applies


def test_a_list_of_results_says_why_there_is_no_value():
    beta = Bandit([Beta(2.0, 2.0), Beta(4.0, 2.0)])
    row = bounds(beta, MeanVariance(1.0), 100)[-3]
    assert row.value is None
    assert row.note.startswith("no K is known for the family of beta(2.0, 2.0)")
    row = bounds(beta, MeanVariance(1.0), 100, support=(0, 1))[-3]
    assert row.value == pytest.approx(asymptotic_bound(beta, MeanVariance(1.0), support=(0, 1)).regret(100))
    assert "all laws on [0, 1]" in row.note


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"law": Beta(2.0, 2.0)}, r"no K is known for the family of beta\(2.0, 2.0\).*pass support"),
        ({"law": Gaussian(0.0, 1.0), "risk": CVaR(0.1)}, "no K is known for the family of gaussian"),
        ({"law": Gaussian(0.0, 1.0), "support": (0, 1)}, "support must hold all rewards of gaussian"),
        ({"law": Beta(2.0, 2.0), "support": (0, math.inf)}, "support must have finite ends"),
        ({"law": Beta(2.0, 2.0), "values": [0, 1]}, "values must hold all rewards of beta"),
        ({"law": Bernoulli(0.5), "values": [0, 1], "support": (0, 1)}, "two models, got both"),
        ({"law": Bernoulli(0.5), "values": [0, math.nan]}, "values must be one or more finite numbers"),
        ({"law": Bernoulli(0.5), "risk": "var(0.1)"}, "risk must be a mean-variance or a cvar, got var"),
    ],
)
def test_refusals_say_what_to_pass(given, words):
    with pytest.raises(PrudentError, match=words):
        least_divergence(**{"cost": -2.0, "risk": MeanVariance(1.0), **given})


def test_the_regret_is_pulls_times_prices_less_what_the_mean_of_all_rewards_explains(figure_2):
    """n R_n = Σ T_i (Δ_i + Γ²) − n(X̄ − μ*)² + σ*² in expectation, for every policy: here for one that adapts a lot."""
    risk = MeanVariance(1.0)
    runs = simulate(figure_2, MVLCB(c=0.2), risk=risk, horizon=300, runs=4_000, seed=5)
    prices, best = asymptotic_bound(figure_2, risk).prices, figure_2.best(risk)
    law, total = figure_2.arms[best], (runs.pulls * runs.mean).sum(1) / 300
    right = runs.pulls @ prices - 300 * (total - law.mean) ** 2 + law.variance
    differences = 300 * runs.regret() - right
    assert abs(differences.mean()) < 5.5 * differences.std() / math.sqrt(4_000)
    without = 300 * runs.regret() - runs.pulls @ figure_2.gaps(risk)
    assert without.mean() > 10.0 * without.std() / math.sqrt(4_000)
