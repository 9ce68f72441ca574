"""Claims of sections 6 and 7: the discussion of risk within and across runs, and the conclusions."""

import math
from functools import cache

import numpy as np
from scipy.stats import binom

from prudent import (
    MVLCB,
    Bandit,
    Bernoulli,
    CVaR,
    Empirical,
    Gaussian,
    MeanVariance,
    RandomArm,
    RoundRobin,
    Runs,
    Semivariance,
    VaR,
    period_cost,
    simulate,
    theory,
)
from prudent.base.text import number
from prudent.paper.claims.definitions import GAUSSIAN, agreement
from prudent.paper.claims.experiments import near_the_worst
from prudent.paper.claims.ledger import (
    Evidence,
    above,
    at_most,
    below,
    claim,
    exactly,
    judged,
    known,
    listed,
    near,
    on,
    regrets,
)  # fmt: skip
from prudent.paper.claims.mv_lcb import ENDS, ucb_cells
from prudent.paper.making import point
from prudent.paper.problems import FIGURE_2, ZERO_ONE
from prudent.results.rates import end_slope
from prudent.risk.base import RiskMeasure

IN_TURN = point(ZERO_ONE, RoundRobin(), 0.0, 1_000)
PAIRS = 100


@claim("section 6", "A₁ (arms in turn) has high variability and regret within a run, and no variance across runs.")
@on(IN_TURN)
def in_turn(runs: Runs) -> Evidence:
    """Variance within and across runs, arms 0 and 1, n = 1,000; the regret beside the largest possible."""
    within, regret, across = runs.reward_variance(), runs.regret(), runs.across_variance()
    most = theory.largest_regret(0.0)
    text = f"within {within.mean()}, across {across}, regret {regret.mean()} of at most {most}"
    return judged(text, exactly(most, [*within, *regret]), exactly(0.0, across))


@claim("section 6", "A₂ (one random arm for good) has none within a run, no regret, and high variance across runs.")
@on(point(ZERO_ONE, RandomArm(), 0.0, 1_000))
def one_arm(runs: Runs) -> Evidence:
    """Variance within and across runs, deterministic arms 0 and 1, n = 1,000."""
    within, regret, across = runs.reward_variance(), runs.regret(), runs.across_variance()
    text = f"within {within.mean()}, across {across:.3f}, regret {regret.mean()}"
    return judged(text, exactly(0.0, [*within, *regret]), above(0.2, across))


@claim("section 6", "A₁ has a very small standard regret.")
@on(IN_TURN)
def small_standard_regret(runs: Runs) -> Evidence:
    """n (largest mean − mean reward) at n = 1,000, against √n; no algorithm has more than n."""
    n = runs.horizon
    loss = n * (float(runs.bandit.means.max()) - float(runs.reward_mean().mean()))
    return judged(f"it is {loss:g} of n = {n:,}", at_most(math.sqrt(n), loss))


@claim("section 7", "Controlling the variance over multiple runs does not control the variability over a single run.")
@on(IN_TURN)
def runs_and_run(runs: Runs) -> Evidence:
    """A₁: the variance across runs and the least within one, arms 0 and 1 in turn, n = 1,000; none on [0, 1] is larger
    than 1/4."""
    across, within = runs.across_variance(), float(runs.reward_variance().min())
    return judged(f"across {across}, within {within}", exactly(0.0, across), exactly(0.25, within))


_WORST_UCB, _WORST_EXP_EXP = ucb_cells()[: -len(ENDS)], near_the_worst((10**4, 10**8), (0.0, 0.25, 0.5, 1.0, 2.0))


@claim("abstract, section 7", "The problem is harder than that of the mean, due in part to an exploration risk.")
@on(*_WORST_UCB, *_WORST_EXP_EXP)
def intrinsically_harder(*found: Runs) -> Evidence:
    """Proved: no policy has a worst case below the order n^(−1/3) (Vakili and Zhao, 2016), and for the mean n^(−1/2) is
    reached. Seen: the slope of UCB's largest regret, n = 10⁴ to 10⁶, ρ = ∞, that of ExpExp's, n = 10⁴ to 10⁸, ρ = 0,
    and the share of the exploration risk in the latter at the end."""
    ucb = np.array([runs.gap_regret().mean() for runs in found[: len(_WORST_UCB)]]).reshape(len(ENDS), -1).max(1)
    ours, ends = found[len(_WORST_UCB) :], (10**4, 10**8)
    worst = regrets(ours).reshape(2, -1)
    last = ours[worst.shape[1] + int(worst[1].argmax())]
    share = float(last.exploration_risk().mean() / last.regret().mean())
    slopes = end_slope(ENDS, ucb), end_slope(ends, worst.max(1))
    proved = [theory.lower_bound_rates(last.bandit, str(last.risk), n)[1].printed for n in ends]
    least = end_slope(ends, np.array([known(rate) for rate in proved]))
    mean, risky = slopes
    text = f"proved n^{least:.3f} at best; seen n^{risky:.3f}, and n^{mean:.3f} for the mean; "
    text += f"exploration risk is {share:.0%} of the regret"
    return judged(text, near(-1 / 3, 0.03, [least, slopes[1]]), near(-0.5, 0.06, slopes[0]), above(0.1, share))


@claim("section 7", "On easy problems MV-LCB has a regret of order O(√(K/n)).")
@on(*[point(FIGURE_2, MVLCB(), 0.0, n) for n in (10**7, 10**8, 10**9)])
def conclusions_rate(*found: Runs) -> Evidence:
    """Regret times √(n/K), n = 10⁷, 10⁸ and 10⁹, Figure 2's arms: it must not grow; and the slope on log-log axes."""
    values, n = regrets(found), np.array([runs.horizon for runs in found])
    scaled, slope = values * np.sqrt(n / 2.0), end_slope(n, values)
    text = f"√(n/K) R is {listed(scaled, 2)}; sharper, R falls as n^{slope:.2f}"
    return judged(text, at_most(0.0, np.diff(scaled), of="every step of the first"))


@claim("section 7", "ExpExp achieves the same worst-case rate K/n^(1/3) over all problems.")
@on(*near_the_worst((10**4, 10**8), (0.0, 0.25, 0.5, 1.0, 2.0)))
def exp_exp_rate(*found: Runs) -> Evidence:
    """The slope of its worst regret over gaps of order n^(−1/3), from n = 10⁴ to 10⁸."""
    worst = regrets(found).reshape(2, 5).max(1)
    slope = end_slope((10**4, 10**8), worst)
    return judged(f"slope {slope:.3f}, from {listed(worst)}", near(-1 / 3, 0.03, slope))


@cache
def least_worst_case(horizon: int) -> float:
    """No policy has a smaller largest regret on two coins, ρ = 0: proved in whole numbers."""
    return theory.minimax(horizon).check()[0]


@cache
def worst_case(policy: str, horizon: int) -> float:
    """The largest regret of a policy on a grid of pairs of coins in either order, ρ = 0, exactly."""
    coins = Bandit([Bernoulli(0.5)] * 2)
    played = simulate(coins, policy, risk=MeanVariance(0.0), horizon=horizon, engine="exact").risk_surface(41)
    return float((played.regret + played.regret.T).max() / 2.0)


@claim("section 7", "Open in the paper: whether a policy has a better worst case than ExpExp.")
def better_worst_case() -> Evidence:
    """Two coins, ρ = 0, n = 16, 32 and 64: the least worst case of all policies, between two ends proved in whole
    numbers (docs: minimax), its slope, and ExpExp's over it. In order there is none better (Vakili and Zhao, 2016)."""
    horizons = (16, 32, 64)
    least = [least_worst_case(n) for n in horizons]
    ratios = [worst_case("exp-exp", n) / low for n, low in zip(horizons, least, strict=True)]
    slope = end_slope(horizons, np.array(least))
    text = f"no policy is below {listed(least)}, which falls as n^{slope:.2f}; ExpExp is at {listed(ratios)} times that"
    return judged(
        text,
        below(-0.4, slope, of="a better order, the slope"),
        part=[above(1.5, ratios, of="a better constant, each ratio")],
    )


def skewed(mean: float, variance: float) -> Empirical:
    """One value in ten far above the others, with this mean and variance."""
    low = math.sqrt(variance / 9.0)
    return Empirical([mean - low] * 9 + [mean + 9.0 * low])


@claim("section 7", "By expected utility the mean-variance is justified only if arms are Gaussian.")
def gaussianity() -> Evidence:
    """1,000 pairs of arms of random means and variances: the share that the mean-variance orders as an exponential
    utility with absolute risk aversion 2/ρ does, ρ = 0.5; Gaussian arms, arms with two values, and arms with one value
    in ten far above the others."""
    coin, skew = (np.array([-1.0, 1.0]), np.ones(2)), (skewed(0.0, 1.0).values, np.ones(10))
    gaussian, two, other = (agreement(shape, 0.5, 4.0) for shape in (GAUSSIAN, coin, skew))
    text = f"{gaussian:.1%} of Gaussian pairs, {two:.1%} of those with two values, {other:.1%} of skewed ones"
    return judged(text, exactly(1.0, gaussian), below(0.99, [two, other]))


@claim("section 7", "The mean-variance violates monotonicity: it is not a coherent measure of risk.")
def not_monotone() -> Evidence:
    """A reward that is never smaller and yet costs more, ρ = 1."""
    risk = MeanVariance(1.0)
    sure, better = risk.cost(ZERO_ONE.arms[0]), risk.cost(Empirical([0.0, 4.0]))
    return judged(f"always 0 costs {sure:g}; 0 or 4 by a fair coin costs {better:g}", above(sure, better))


@claim("section 7", "The variance is symmetric: it counts deviations above the mean like those below.")
def symmetric() -> Evidence:
    """Rewards with one value far above the others, and their mirror image: variances, and semivariances below 0."""
    up = skewed(0.0, 1.0)
    down = Empirical(-up.values)
    (v_up, v_down), (s_up, s_down) = ([r.cost(up), r.cost(down)] for r in (MeanVariance(0.0), Semivariance(0.0)))
    text = f"variance {v_up:g} and {v_down:g}; semivariance {s_up:.3f} and {s_down:.3f}"
    return judged(text, near(v_down, 1e-12, v_up), above(2.0, s_down / s_up, of="the latter over the former"))


@claim("section 7", "The distribution function can be reliably estimated, the quantile with more difficulty.")
def quantile_is_harder() -> Evidence:
    """n = 101 and 10,001 fair coins, exact: the error of the distribution function that is exceeded with probability
    0.05, beside Massart's bound for every law, and the probability that the estimated median is off by 1."""
    errors, bounds, off = [], [], []
    for n in (101, 10_001):
        ones = np.arange(n + 1)
        error, mass = np.abs(ones / n - 0.5), binom.pmf(ones, n, 0.5)
        order = np.argsort(error)
        errors.append(float(error[order][np.searchsorted(mass[order].cumsum(), 0.95)]))
        bounds.append(math.sqrt(math.log(2.0 / 0.05) / (2.0 * n)))
        # The median of this law is 0 by definition; the sample's is 1 as soon as most coins are.
        true = Bernoulli(0.5).quantile(0.5)
        off.append(float(mass[np.abs((ones > n / 2) - true) == 1.0].sum()))
    return judged(
        f"error {listed(errors)}, bound {listed(bounds)}; median off with probability {listed(off)}",
        at_most(1.0, np.divide(errors, bounds), of="every error over its bound"),
        below(0.2, errors[1] / errors[0], of="the errors' ratio"),
        above(0.4, off, of="each probability"),
    )


@claim("section 7", "The value at risk violates the rules of a coherent measure.")
def var_not_coherent() -> Evidence:
    """Two independent loans, each lost with probability 0.04: the value at risk at 5 % of each and of both together,
    from the law of their sum; subadditivity asks that both together cost no more than the sum."""
    risk, lost = VaR(0.05), 0.04
    one = risk.cost(Bernoulli(1.0 - lost)) + 1.0  # counted from the promised 1, and 2 for both
    both = risk.weigh(np.arange(3.0), binom.pmf(np.arange(3), 2, 1.0 - lost)) + 2.0
    return judged(f"each {one:g}, both {both:g}", above(1e-12, both - 2.0 * one, of="both minus each twice"))


def axioms(risk: RiskMeasure) -> dict[str, float]:
    """By how much each axiom of coherence is violated at most, on pairs of rewards on 12 common states."""
    rng = np.random.default_rng(7)
    worst = dict.fromkeys(("translation", "homogeneity", "monotonicity", "subadditivity"), -math.inf)
    for _ in range(PAIRS):
        weights, x, y = rng.dirichlet(np.ones(12)), rng.normal(size=12).round(1), rng.standard_t(3, 12).round(1)
        one, other, moved, tripled, larger, both = (
            float(risk.weigh(values[order], weights[order]))
            for values in (x, y, x + 0.7, 3.0 * x, np.maximum(x, y), x + y)
            for order in [np.argsort(values, kind="stable")]
        )
        found = {
            "translation": abs(moved - (one - 0.7)),
            "homogeneity": abs(tripled - 3.0 * one),
            "monotonicity": larger - one,
            "subadditivity": both - one - other,
        }
        worst = {name: max(worst[name], value) for name, value in found.items()}
    return worst


@claim("section 7", "The conditional value at risk is a coherent measure of risk.")
def cvar_coherent() -> Evidence:
    """The four axioms on 100 pairs of rewards with 12 common states, α = 0.05, 0.25 and 0.6: by how much each is
    violated at most; the same of the value at risk."""
    worst = [axioms(CVaR(alpha)) for alpha in (0.05, 0.25, 0.6)]
    largest = {name: max(found[name] for found in worst) for name in worst[0]}
    other = max(axioms(VaR(0.25)).values())
    text = ", ".join(f"{name} {number(value, 1)}" for name, value in largest.items())
    text += f"; the value at risk up to {number(other)}"
    return judged(text, below(1e-12, list(largest.values()), of="each of the four"))


@claim("section 7", "Over n rounds the variance of the sum is n times one round's; the value at risk is not.")
def multi_period() -> Evidence:
    """100 rewards of an arm with values 1, 2 and 5: the law of their sum by convolution, its variance and its value at
    risk at 5 % over those of one reward."""
    one, n = np.array([0.0, 0.3, 0.5, 0.0, 0.0, 0.2]), 100
    many = np.ones(1)
    for _ in range(n):
        many = np.convolve(many, one)
    ratios = []
    for risk in (MeanVariance(0.0), VaR(0.05)):
        whole, single = (risk.weigh(np.arange(len(law), dtype=float), law) for law in (many, one))
        ratios.append(whole / single)
    text = f"variance × {number(ratios[0], 6)}, value at risk × {number(ratios[1], 6)}"
    return judged(text, near(n, 1e-9, ratios[0]), above(1.0, abs(ratios[1] - n), of="the latter's distance from it"))


@claim("section 7", "The arm of smallest one-round risk may not be the best over n rounds.")
def best_over_rounds() -> Evidence:
    """Two Gaussian arms, the value at risk at 5 % of one reward and of the sum of 100."""
    arms, risk = (Gaussian(0.0, 0.01), Gaussian(0.5, 1.0)), VaR(0.05)
    one, many = ([period_cost(law, risk, n).cost for law in arms] for n in (1, 100))
    text = f"one round: {one[0]:.2f} and {one[1]:.2f}; a hundred: {many[0]:.1f} and {many[1]:.1f}"
    return judged(text, below(one[1], one[0]), above(many[1], many[0]))
