"""Claims of section 4 and appendix C: ExpExp, the length of its exploration, and Theorem 2."""

import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import binom

from prudent import MVLCB, Bandit, Bernoulli, Deterministic, ExpExp, MeanVariance, Runs, theory
from prudent.paper.claims import printed
from prudent.paper.claims.ledger import Evidence, claim, judged, judged_over, listed, mean_se, on, pm, regrets
from prudent.paper.claims.mv_lcb import telling
from prudent.paper.making import point
from prudent.paper.problems import ALGORITHMS, CONFIGURATION_1, FIGURE_2, ZERO_ONE, grid_bandit
from prudent.policies.exp_exp import RULES
from prudent.policies.helpers import exploring_pulls
from prudent.rates import end_slope
from prudent.text import number

RISK = MeanVariance(0.0)
WAYS = ("uniform", "successive-rejects", "ucb-e")
HARD = [
    *[Bandit([Bernoulli(low), Bernoulli(high)]) for low, high in ((0.02, 0.98), (0.05, 0.9), (0.1, 0.8))],
    Bandit([Bernoulli(0.02), *[Bernoulli(0.97)] * 4]),
]
"""Means as far apart as can be, which exploring pays for, and gaps near the worst; elsewhere Theorem 2 is vacuous."""

TAUS = (4, 20, 100, 500, 2_500, 10_000)
TRADE_OFF = [point(grid_bandit(0.4, 0.2), ExpExp(tau=tau), 0.0, 10_000) for tau in TAUS]
"""ExpExp with explorations of every length, where Δ = 0.05 and Γ = 1.1."""

APART = Bandit([Deterministic(1.0), *[Deterministic(0.0)] * 4])
EASY_AT = (10_000, 250_000, 10**7, 3 * 10**7, 10**8)
LONG_RUN = (10**7, 10**8, 10**9)


def below_theorem(rule: str, found: tuple[Runs, ...]) -> Evidence:
    """The mean pseudo-regret of each cell beside Theorem 2 with this rule: the one that comes closest is shown."""
    bounds = [theory.theorem2(runs.bandit, RISK, runs.horizon, rule) for runs in found]
    shares = [float(r.pseudo_regret().mean()) / (b.printed or 1.0) for r, b in zip(found, bounds, strict=True)]
    closest = int(np.argmax(shares))
    runs, bound = found[closest], bounds[closest]
    shown = f"closest is {pm(runs.pseudo_regret())} with {len(runs.bandit)} arms"
    text = f"{shown}, {shares[closest]:.0%} of {bound.printed:.3f}; {number(bound.limit[0], 3)} is possible"
    return judged(telling(*bounds) and shares[closest] <= 1.0, text)


@claim("Theorem 2", "For ρ = 0, ExpExp with τ = K(n/14)^(2/3) has expected pseudo-regret at most 2K/n^(1/3).")
@on(*[point(bandit, ExpExp(), 0.0, 10_000) for bandit in HARD])
def theorem_2(*found: Runs) -> Evidence:
    """The mean over runs on pairs of Bernoulli arms with gaps near the worst or means far apart, and on five arms,
    n = 10,000."""
    return below_theorem("theorem", found)


@claim("Theorem 2", "The same for any ρ and any distributions on [0, 1].")
@on(point(Bandit(ZERO_ONE.arms[::-1]), ExpExp(), 20.0, 10_000))
def theorem_2_any_rho(runs: Runs) -> Evidence:
    """Deterministic arms 1 and 0, ρ = 20, n = 10,000."""
    measured = float(runs.pseudo_regret().mean())
    bound = theory.theorem2(runs.bandit, MeanVariance(20.0), 10_000)
    above, corrected = bound.printed or 0.0, bound.corrected or 0.0
    text = f"pseudo-regret {measured:.4f}; printed {above:.4f}, corrected {corrected:.4f}, possible "
    text += number(bound.limit[0], 3)
    return judged(measured <= above, text, corrected=measured <= corrected < bound.limit[0])


@claim("section 4", "The gap part of the regret asks for a τ long enough to find the best arm, and else short.")
@on(*TRADE_OFF)
def tau_and_gap(*found: Runs) -> Evidence:
    """The gap part of the pseudo-regret, and how often the best arm was kept, for τ = 4 … 10,000 = n; Δ = 0.05."""
    gap = np.array([runs.pseudo_regret_parts().gap.mean() for runs in found])
    kept = [float((runs.pulls[:, 0] > runs.pulls[:, 1]).mean()) for runs in found[:-1]]
    lowest = int(gap.argmin())
    ok = (
        0 < lowest < len(TAUS) - 1
        and bool(2.0 * gap[lowest] < min(gap[0], gap[-1]))
        and bool((np.diff(kept) >= 0).all())
    )
    text = f"{listed(gap)} for τ = {listed(TAUS)}: least at τ = {TAUS[lowest]:,}"
    return judged(ok, f"{text}; the best arm is kept in {listed(100.0 * np.array(kept))} % of runs")


@claim("section 4", "The exploration part is least with τ as small as possible; τ = 0 would leave none.")
@on(*TRADE_OFF)
def tau_and_exploration(*found: Runs) -> Evidence:
    """The exploration part of the pseudo-regret for τ = 4 … 10,000 = n, and its slope in τ between the two least."""
    parts = [float(runs.pseudo_regret_parts().exploration.mean()) for runs in found]
    slope = end_slope(TAUS[:2], parts[:2])
    ok = bool((np.diff(parts) > 0.0).all()) and abs(slope - 1.0) < 0.01
    return judged(ok, f"{listed(parts)} for τ = {listed(TAUS)}; as τ^{slope:.2f} near 0")


@claim("section 4, Remark 1", "ExpExp performs worse than MV-LCB on easy problems.")
@on(*[point(FIGURE_2, policy, 0.0, n) for policy in ALGORITHMS.values() for n in EASY_AT])
def worse_on_easy(*found: Runs) -> Evidence:
    """Regret on Figure 2's arms, with c = 5, at n = 10,000, 250,000 (the largest that the paper shows), 10⁷, 3·10⁷,
    10⁸."""
    ours, other = regrets(found).reshape(2, -1)
    return judged_over(EASY_AT, list(ours < other), f"MV-LCB {listed(ours, 2)}; ExpExp {listed(other, 2)}")


@claim("section 4, Remark 1; section 7", "On easy problems the regret of MV-LCB decreases as O(log n / n).")
@on(*[point(FIGURE_2, MVLCB(), 0.0, n) for n in LONG_RUN])
def log_rate(*found: Runs) -> Evidence:
    """Regret times n/log n on Figure 2's arms, n = 10⁷, 10⁸, 10⁹: whether it levels off."""
    n = np.array(LONG_RUN)
    scaled = regrets(found) * n / np.log(n)
    early, late = scaled[1:] / scaled[:-1] - 1.0
    return judged(
        abs(late) < 0.03 and late < early, f"n R/log n is {listed(scaled)}: it grows by {early:.1%}, then by {late:.1%}"
    )


@claim("section 4, Remark 2", "Exploring by Successive Rejects or UCB-E instead of uniformly improves ExpExp.")
@on(*[point(CONFIGURATION_1, ExpExp(explore=way), 1.0, 25_000) for way in WAYS])
def better_exploration(*found: Runs) -> Evidence:
    """Regret on configuration 1, ρ = 1, n = 25,000, by the three ways to explore."""
    values = [runs.regret() for runs in found]
    (base, error), *others = [mean_se(v) for v in values]
    ok = all(mean + 2 * (e + error) < base for mean, e in others)
    return judged(ok, ", ".join(f"{way} {pm(v)}" for way, v in zip(WAYS, values, strict=True)))


@claim("appendix C", "ExpExp keeps a worse arm with probability at most 2 exp(−(τ/K)Δ²), for ρ = 0.")
def wrong_arm() -> Evidence:
    """The exact probability that the worse of two Bernoulli arms has the smaller or an equal variance after m = 20, 80
    and 320 rewards of each, for all pairs from 50 successes where the bound is below 1: how many times the printed
    exponent it has at least."""
    ps, least = np.linspace(0.01, 0.99, 50), math.inf
    gap = (ps * (1.0 - ps)) - (ps * (1.0 - ps))[:, None]
    for each in (20, 80, 320):
        ones = np.arange(each + 1)
        order = np.argsort(ones * (each - ones), kind="stable")
        variance = (ones * (each - ones))[order]
        mass = binom.pmf(ones[order], each, ps[:, None])
        up_to = np.concatenate([np.zeros((len(ps), 1)), mass.cumsum(1)], axis=1)
        not_above = up_to[:, np.searchsorted(variance, variance, side="right")]
        probability, bound = mass @ not_above.T, printed.wrong_arm(each, gap)  # [better, worse]
        asked = (gap > 0.0) & (bound < 1.0)
        least = min(least, float((np.log(probability[asked] / 2.0) / np.log(bound[asked] / 2.0)).min()))
    return judged(least >= 1.0, f"at least {least:.2f} times the printed exponent")


@claim("appendix C", "The exploration part of ExpExp's pseudo-regret is at most 2τ/n.")
@on(point(APART, ExpExp(), 0.0, 10_000))
def exploring_part(runs: Runs) -> Evidence:
    """Five deterministic arms, 1, 0, 0, 0, 0, n = 10,000."""
    tau = 5 * exploring_pulls(10_000, 5, RULES["theorem"])
    measured, said = float(runs.pseudo_regret_parts().exploration.mean()), printed.exploring(tau, 10_000)
    half, twice = float(runs.exploration_risk("eq-regret3").mean()), 2.0 * said
    text = f"measured {measured:.4f}, {half:.4f} with eq. regret3's factor; 2τ/n = {said:.4f}, twice {twice:.4f}"
    return judged(measured <= said, text, corrected=measured <= twice)


@claim("appendix C", "The worst gap, at which Δ exp(−(τ/K)Δ²) is largest, is √(K/2τ).")
def worst_gap() -> Evidence:
    """The maximum found numerically, K = 2 and 5, τ = 100 and 10⁴; the largest relative difference of the gap."""
    far = 0.0
    for arms, tau in ((2, 100), (2, 10**4), (5, 100), (5, 10**4)):
        said = printed.worst_gap(tau, arms)
        found = minimize_scalar(
            lambda d, m=tau / arms: -d * math.exp(-m * d * d),
            bounds=(0.0, 1.0),
            method="bounded",
            options={"xatol": 1e-9},
        )
        far = max(far, abs(found.x / said - 1.0))
    return judged(far < 1e-4, f"relative difference at most {number(far, 2)}")


@claim("appendix C", "The worst-case regret of ExpExp is then at most 2τ/n + K^(3/2)/√τ.")
def worst_regret() -> Evidence:
    """2τ/n + 2(K−1)Δ exp(−(τ/K)Δ²) at the worst of 10,000 gaps over that bound, K = 2, 5, 15 and n = 10⁴, 10⁶, each
    with τ = K(n/14)^(2/3) and K(n/4)^(2/3)."""
    shares = []
    for arms in (2, 5, 15):
        for n in (10**4, 10**6):
            for rule in RULES.values():
                each = exploring_pulls(n, arms, rule)
                gaps = np.linspace(0.0, 1.0, 10_001)
                worst = printed.exploring(arms * each, n) + (arms - 1) * float(
                    (gaps * printed.wrong_arm(each, gaps)).max()
                )
                shares.append(worst / printed.worst_regret(arms * each, arms, n))
    return judged(max(shares) <= 1.0, f"between {min(shares):.2f} and {max(shares):.2f} times the bound")


@claim("appendix C", "τ = K(n/4)^(2/3) minimises 2τ/n + K^(3/2)/√τ, which then is at most 3K/n^(1/3).")
def appendix_tau() -> Evidence:
    """The minimum found numerically, K = 5, n = 10⁶, and K/n^(1/3) times what."""
    k, n = 5, 10**6
    found = minimize_scalar(printed.worst_regret, args=(k, n), bounds=(1, n), method="bounded").x
    tau = printed.best_tau(n, k)
    constant = printed.worst_regret(tau, k, n) * n ** (1 / 3) / k
    ok = abs(found / tau - 1.0) < 1e-3 and constant <= 3.0
    return judged(ok, f"minimum at {found:,.0f}, rule {tau:,.0f}; constant {constant:.2f}")


@claim("appendix C", "With that τ the expected pseudo-regret of ExpExp is at most 3K/n^(1/3), for ρ = 0.")
@on(*[point(bandit, ExpExp(rule="appendix"), 0.0, 100_000) for bandit in HARD])
def appendix_bound(*found: Runs) -> Evidence:
    """The mean over runs on the arms of Theorem 2, n = 100,000."""
    return below_theorem("appendix", found)
