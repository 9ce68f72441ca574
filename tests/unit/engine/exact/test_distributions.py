"""Distributions of the exact engine against fractions, sums over all that may happen, and what is known of them."""

import math
from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product, zip_longest
from typing import NamedTuple

import numpy as np
import pytest
from scipy import integrate, stats

from prudent import Bandit, Bernoulli, CVaR, Deterministic, Empirical, MeanVariance, PrudentError, exact, simulate
from prudent.results.regret import expected_regret

HALF = Fraction(1, 2)


def cost(ones, n, rho):
    mean = Fraction(ones, n)
    return mean * (1 - mean) - rho * mean


def tosses(n, p):
    return {k: math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)}


def in_fractions(pull, p, rho, n):
    """The distributions of the regret and of the pulls of arm 0, for coins, in fractions.

    `pull` gives the probabilities of the arms from the counts ((ones, zeros), …) of each arm.
    """
    states = {tuple((0, 0) for _ in p): Fraction(1)}
    for _ in range(n):
        following = defaultdict(Fraction)
        for state, weight in states.items():
            for arm, share in enumerate(pull(state)):
                for one in (0, 1):
                    ones, zeros = state[arm]
                    then = (*state[:arm], (ones + one, zeros + 1 - one), *state[arm + 1 :])
                    following[then] += weight * share * (p[arm] if one else 1 - p[arm])
        states = following
    best = min(range(len(p)), key=lambda i: p[i] * (1 - p[i]) - rho * p[i])
    regret, pulls = defaultdict(Fraction), defaultdict(Fraction)
    for state, weight in states.items():
        total, (ones, zeros) = sum(arm[0] for arm in state), state[best]
        pulls[sum(state[0])] += weight
        for more, chance in tosses(n - ones - zeros, p[best]).items():
            regret[cost(total, n, rho) - cost(ones + more, n, rho)] += weight * chance
    return regret, pulls


def same(found, wanted):
    wanted = dict(sorted((float(x), float(w)) for x, w in wanted.items() if w > 0))
    assert found.values == pytest.approx(list(wanted), rel=1e-12, abs=1e-14)
    assert found.probabilities == pytest.approx(list(wanted.values()), rel=1e-11, abs=0.0)


def lowest_index(state):
    """Each arm once, then the smallest p̂(1 − p̂) − ½p̂ − ⅓/s, ties to the lowest number."""
    scores = []
    for ones, zeros in state:
        s = ones + zeros
        scores.append(-math.inf if s == 0 else cost(ones, s, HALF) - Fraction(1, 3 * s))
    best = min(range(len(state)), key=lambda i: (scores[i], i))
    return [Fraction(i == best) for i in range(len(state))]


class LowestIndex(NamedTuple):
    """The same for the engine."""

    def score(self, arm):
        return arm.variance - 0.5 * arm.mean - 1.0 / (3.0 * arm.pulls)


def multiplied(one, other):
    """The coefficients of the product of two polynomials."""
    found = [Fraction(0)] * (len(one) + len(other) - 1)
    for (i, a), (j, b) in product(enumerate(one), enumerate(other)):
        found[i + j] += a * b
    return found


def integral(polynomial, low, high):
    return sum(c * (high ** (k + 1) - low ** (k + 1)) / (k + 1) for k, c in enumerate(polynomial))


@cache
def beta_density(ones, zeros):
    """The density of Beta(ones + 1, zeros + 1)."""
    scale = (ones + zeros + 1) * math.comb(ones + zeros, ones)
    return [Fraction(0)] * ones + [Fraction(scale * math.comb(zeros, k) * (-1) ** k) for k in range(zeros + 1)]


def below(ones, zeros):
    """The distribution function of Beta(ones + 1, zeros + 1)."""
    return [Fraction(0)] + [c / (k + 1) for k, c in enumerate(beta_density(ones, zeros))]


def largest_mean(state):
    """Thompson sampling: an arm not yet pulled, else the probability that its beta number is the largest."""
    if (0, 0) in state:
        return [Fraction(i == state.index((0, 0))) for i in range(len(state))]
    shares = []
    for i, own in enumerate(state):
        integrand = beta_density(*own)
        for j, other in enumerate(state):
            integrand = multiplied(integrand, below(*other)) if i != j else integrand
        shares.append(integral(integrand, Fraction(0), Fraction(1)))
    assert sum(shares) == 1
    return shares


def smallest_variance(state):
    """The probability that θ(1 − θ) is the smaller one, for two beta numbers: that θ is farther from ½."""
    if (0, 0) in state:
        return [Fraction(i == state.index((0, 0))) for i in range(2)]
    density, inner = beta_density(*state[0]), below(*state[1])
    reflected = [Fraction(0)]
    power = [Fraction(1)]
    for c in inner:  # F(1 − x)
        reflected = [a + c * b for a, b in zip_longest(reflected, power, fillvalue=Fraction(0))]
        power = multiplied(power, [Fraction(1), Fraction(-1)])
    between = [a - b for a, b in zip_longest(reflected, inner, fillvalue=Fraction(0))]  # P(x < θ₂ < 1 − x)
    integrand = multiplied(density, between)
    share = integral(integrand, Fraction(0), HALF) - integral(integrand, HALF, Fraction(1))
    return [share, 1 - share]


def cheapest(state):
    costs = [cost(ones, ones + zeros, HALF) for ones, zeros in state]
    return costs.index(min(costs))


def sure(state, arm):
    return [Fraction(i == arm) for i in range(len(state))]


def in_turn(pull):
    """Each arm once, and then as the policy says."""
    return lambda state: sure(state, state.index((0, 0))) if (0, 0) in state else pull(state)


def epsilon_greedy(state):
    return [Fraction(1, 10 * len(state)) + Fraction(9, 10) * (i == cheapest(state)) for i in range(len(state))]


def random_arm(state):
    pulled = [i for i, counts in enumerate(state) if counts != (0, 0)]
    return sure(state, pulled[0]) if pulled else [Fraction(1, len(state))] * len(state)


def explored_twice(state):
    """ExpExp with two pulls an arm: then the cheapest one to the end."""
    pulls = [sum(counts) for counts in state]
    if min(pulls) < 2:
        return sure(state, pulls.index(min(pulls)))
    return sure(state, pulls.index(max(pulls)) if max(pulls) > 2 else cheapest(state))


def lowest(scores):
    """Ties, which 50 digits leave no doubt about, go to the lowest number."""
    return next(i for i, score in enumerate(scores) if score <= min(scores) + Decimal("1e-40"))


def decimal(fraction):
    return Decimal(fraction.numerator) / fraction.denominator


def mv_lcb(state):
    """Its logarithm is that of δ = 1/n², n = 8 for two arms and 6 for three."""
    log = 2 * Decimal(8 if len(state) == 2 else 6).ln()
    sizes = [sum(counts) for counts in state]
    widths = [Decimal("1.5") * (log / (2 * s)).sqrt() for s in sizes]
    costs = [decimal(cost(ones, s, HALF)) for (ones, _), s in zip(state, sizes, strict=True)]
    return sure(state, lowest([c - width for c, width in zip(costs, widths, strict=True)]))


def ucb1(state):
    log = Decimal(sum(map(sum, state)) + 1).ln()
    return sure(state, lowest([-Decimal(ones) / (ones + f) - (2 * log / (ones + f)).sqrt() for ones, f in state]))


COINS = {2: (Fraction(3, 10), Fraction(7, 10)), 3: (Fraction(1, 5), Fraction(1, 2), Fraction(9, 10))}
POLICIES = {
    "own class": (LowestIndex(), lowest_index, 8, 6),
    "bernoulli-thompson": ("bernoulli-thompson", largest_mean, 8, 5),
    "bernoulli-mvts": ("bernoulli-mvts(rho=0)", smallest_variance, 8, 0),
    "epsilon-greedy": ("epsilon-greedy", in_turn(epsilon_greedy), 8, 6),
    "random-arm": ("random-arm", random_arm, 8, 6),
    "exp-exp": ("exp-exp(tau=4)", explored_twice, 8, 0),
    "mv-lcb": ("mv-lcb(c=1)", in_turn(mv_lcb), 8, 6),
    "ucb1": ("ucb1", in_turn(ucb1), 8, 6),
}


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("n_arms", [2, 3])
@pytest.mark.parametrize("name", POLICIES)
def test_pulls_and_regret_are_those_of_fractions(name, n_arms, order):
    policy, pull, *rounds = POLICIES[name]
    if not (n := rounds[n_arms - 2]):
        pytest.skip("written out for two arms")
    p = COINS[n_arms][::order]
    with localcontext() as digits:
        digits.prec = 50
        regret, pulls = in_fractions(pull, p, HALF, n)
    found = simulate(coins(p), policy, risk=MeanVariance(0.5), horizon=n, engine="exact")
    same(found.regret(), regret)
    same(found.pulls[0], pulls)


def coins(p):
    return Bandit([Bernoulli(float(each)) for each in p])


@pytest.mark.parametrize("n_arms", [2, 3])
def test_normal_numbers_are_the_smallest_with_the_probability_that_quadrature_gives(n_arms):
    def pull(state):
        if (0, 0) in state:
            return [float(i == state.index((0, 0))) for i in range(len(state))]
        laws = [stats.norm(-ones / (ones + zeros), 1.0 / math.sqrt(ones + zeros)) for ones, zeros in state]

        def density(x, i):
            return laws[i].pdf(x) * math.prod(laws[j].sf(x) for j in range(len(laws)) if j != i)

        return [
            integrate.quad(density, -12.0, 12.0, args=(i,), epsabs=1e-13, points=(-1.0, 0.0))[0]
            for i in range(len(laws))
        ]

    n = 4 if n_arms == 3 else 6
    p = tuple(map(float, COINS[n_arms]))
    _, pulls = in_fractions(pull, p, 0.5, n)
    found = simulate(coins(p), "thompson(sd=1)", risk=MeanVariance(0.5), horizon=n, engine="exact")
    assert found.pulls[0].probabilities == pytest.approx([w for _, w in sorted(pulls.items()) if w > 0], rel=1e-9)


def test_a_fixed_allocation_has_the_regret_of_the_closed_form():
    bandit = Bandit([Empirical([0.0, 1.0, 4.0]), Bernoulli(0.3), Deterministic(0.5)])
    found = simulate(bandit, "round-robin", risk=MeanVariance(0.7), horizon=12, engine="exact")
    wanted = expected_regret(np.array([4, 4, 4]), bandit.means, bandit.variances, 2, MeanVariance(0.7))
    assert found.regret().mean() == pytest.approx(wanted, rel=1e-12)
    assert found.gap_regret().values == pytest.approx([np.mean(bandit.gaps(MeanVariance(0.7)))])


def test_tiny_tails_have_all_their_digits():
    found = simulate(coins((0.001, 0.999)), "fixed-arm(arm=1)", risk="mean", horizon=110, engine="exact")
    assert found.reward_mean().cdf(0.0) == pytest.approx(1e-3**110, rel=1e-10)
    assert found.cost().tail(0.0) == pytest.approx(1e-3**110, rel=1e-10)
    assert found.cost().tail(-1.0) == pytest.approx(1.0)


def test_the_cost_may_be_any_measure_of_all_rewards_received():
    p, risk = 0.3, CVaR(alpha=0.25)
    found = simulate(coins((p, p)), "fixed-arm", risk=risk, horizon=9, engine="exact")
    wanted = sum(
        math.comb(9, k) * p**k * (1 - p) ** (9 - k) * risk.sample_cost([1] * k + [0] * (9 - k)) for k in range(10)
    )
    assert found.cost().mean() == pytest.approx(wanted, rel=1e-12)
    assert found.cost("mean").mean() == pytest.approx(-p)


def test_the_surface_has_the_regret_of_each_pair_of_coins():
    asked = {"risk": MeanVariance(0.5), "horizon": 20, "engine": "exact"}
    surface = simulate(coins((0.5, 0.5)), "mv-lcb(c=1)", **asked).risk_surface(points=11)
    for i, j in [(0, 10), (3, 7), (7, 3), (5, 5), (10, 9)]:
        p = surface.p[i], surface.p[j]
        assert surface.regret[i, j] == pytest.approx(
            simulate(coins(p), "mv-lcb(c=1)", **asked).regret().mean(), abs=1e-13
        )
    assert surface.worst()[0] == surface.regret.max() == surface.table()["regret"].max()


def test_tables_have_the_distributions_in_figures():
    found = simulate(coins((0.2, 0.7)), "exp-exp", risk=MeanVariance(1.0), horizon=30, engine="exact")
    assert found.summary()["regret"] == found.regret().mean()
    assert found.table()["mean"].to_list()[0] == found.regret().mean()
    assert found.regret().table()["at least"][0] == pytest.approx(1.0)
    assert found.plot().get_xlabel() == "regret"
    assert found.plot("best_share", tail=True).get_yscale() == "log"
    assert found.risk_surface(5).plot().get_title() == "exp-exp"
    assert "30 rounds" in repr(found)


class Drawn(NamedTuple):
    """It pulls an arm at random, and does not tell its chances."""

    def phase(self, arms, t, chosen, rng):
        chosen[:] = False
        chosen[int(rng.random() < 0.5)] = True
        return 1


class Wrong(NamedTuple):
    """Chances that are none."""

    def phase(self, arms, t, chosen, rng):
        return 1

    def chances(self, arms, t, chances):
        chances[:] = 0.4


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"policy": "m-cvts(alpha=0.5)"}, "draws at random by itself"),
        ({"policy": Drawn()}, "draws at random by itself"),
        ({"policy": Wrong()}, "Wrong.*chances must be at least 0 and add up to 1"),
        ({"policy": "mvts"}, "InverseGamma and Normal"),
        ({"policy": ["ucb1", "mv-lcb"]}, "one bandit and one policy"),
        ({"bandit": Bandit(["gaussian(0, 1)", "bernoulli(0.5)"])}, "at most 5 different values"),
        ({"horizon": 5_000}, "GiB of memory"),
        ({"batch": 5}, "has no batch"),
        ({"delay": 3}, "has no delay"),
        ({"keep": "trajectory"}, "has no keep"),
    ],
)
def test_what_is_not_known_exactly_is_refused_with_the_reason(changed, words):
    asked = {"bandit": coins((0.2, 0.7)), "policy": "mv-lcb", "risk": MeanVariance(1.0), "horizon": 20}
    with pytest.raises(PrudentError, match=words):
        simulate(**{**asked, **changed}, engine="exact")


def test_other_engines_still_want_runs():
    with pytest.raises(PrudentError, match="runs"):
        simulate(coins((0.2, 0.7)), "mv-lcb", risk=MeanVariance(1.0), horizon=20)


def test_a_distribution_counts_equal_values_together():
    found = exact.Distribution.of([0.3, 0.1 + 0.2, 1.0], [0.25, 0.25, 0.5])
    assert len(found) == 2
    assert (found.cdf(0.3), found.tail(0.3), found.quantile(0.5)) == (0.5, 1.0, 0.3)
    with pytest.raises(PrudentError, match="as many finite numbers"):
        exact.Distribution.of([1.0], [0.5, 0.5])
