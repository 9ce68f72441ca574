"""Claims of section 4 and appendix C: ExpExp, the length of its exploration, and Theorem 2."""

import math
from itertools import product

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import binom

from prudent import MVLCB, Bandit, Bernoulli, Deterministic, ExpExp, MeanVariance, Runs, theory
from prudent.base.text import number
from prudent.paper.claims import printed
from prudent.paper.claims.ledger import (
    Evidence,
    above,
    at_most,
    below,
    claim,
    judged,
    judged_over,
    known,
    listed,
    mean_se,
    near,
    on,
    pm,
    regrets,
)  # fmt: skip
from prudent.paper.claims.mv_lcb import telling
from prudent.paper.making import point
from prudent.paper.problems import ALGORITHMS, CONFIGURATION_1, FIGURE_2, ZERO_ONE, grid_bandit
from prudent.policies.exp_exp import RULES
from prudent.policies.helpers import exploring_pulls
from prudent.results.rates import end_slope

RISK = MeanVariance(0.0)
WAYS = ("uniform", "successive-rejects", "ucb-e")
_HARD = [
    *[Bandit([Bernoulli(low), Bernoulli(high)]) for low, high in ((0.02, 0.98), (0.05, 0.9), (0.1, 0.8))],
    Bandit([Bernoulli(0.02), *[Bernoulli(0.97)] * 4]),
]
"""Means as far apart as can be, which exploring pays for, and gaps near the worst; elsewhere Theorem 2 is vacuous."""

_TAUS = (4, 20, 100, 500, 2_500, 10_000)
_TRADE_OFF = [point(grid_bandit(0.4, 0.2), ExpExp(tau=tau), 0.0, 10_000) for tau in _TAUS]
"""ExpExp with explorations of every length, where Δ = 0.05 and Γ = 1.1."""

APART = Bandit([Deterministic(1.0), *[Deterministic(0.0)] * 4])
_EASY_HORIZONS = (10_000, 250_000, 10**7, 3 * 10**7, 10**8)
_LONG_HORIZONS = (10**7, 10**8, 10**9)


def _below_theorem(rule: str, found: tuple[Runs, ...]) -> Evidence:
    """The mean pseudo-regret of each cell beside Theorem 2 with this rule: the one that comes closest is shown."""
    bounds = [theory.theorem2(runs.bandit, RISK, runs.horizon, rule) for runs in found]
    shares = [float(r.pseudo_regret().mean()) / known(b.printed) for r, b in zip(found, bounds, strict=True)]
    closest = int(np.argmax(shares))
    runs, bound = found[closest], bounds[closest]
    shown = f"closest is {pm(runs.pseudo_regret())} with {len(runs.bandit)} arms"
    text = f"{shown}, {shares[closest]:.0%} of {bound.printed:.3f}; {number(bound.limit[0], 3)} is possible"
    return judged(text, telling(*bounds), at_most(1.0, shares, of="every share"))


@claim("Theorem 2", "For ρ = 0, ExpExp with τ = K(n/14)^(2/3) has expected pseudo-regret at most 2K/n^(1/3).")
@on(*[point(bandit, ExpExp(), 0.0, 10_000) for bandit in _HARD])
def theorem_2(*found: Runs) -> Evidence:
    """The mean over runs on pairs of Bernoulli arms with gaps near the worst or means far apart, and on five arms,
    n = 10,000."""
    return _below_theorem("theorem", found)


@claim("Theorem 2", "The same for any ρ and any distributions on [0, 1].")
@on(point(ZERO_ONE, ExpExp(), 20.0, 10_000))
def theorem_2_any_rho(runs: Runs) -> Evidence:
    """Deterministic arms 0 and 1, ρ = 20, n = 10,000. The worse one comes first, so whoever sees no means keeps it."""
    measured = float(runs.pseudo_regret().mean())
    bound = theory.theorem2(runs.bandit, str(runs.risk), runs.horizon)
    said, corrected = known(bound.printed), known(bound.corrected)
    text = f"pseudo-regret {measured:.4f}; printed {said:.4f}, corrected {corrected:.4f}, possible "
    text += number(bound.limit[0], 3)
    mended = [at_most(corrected, measured), below(bound.limit[0], corrected, of="the bound")]
    return judged(text, at_most(said, measured), corrected=mended)


@claim("section 4", "The gap part of the regret asks for a τ long enough to find the best arm, and else short.")
@on(*_TRADE_OFF)
def tau_and_gap(*found: Runs) -> Evidence:
    """The gap part of the pseudo-regret, and how often the best arm was kept, for τ = 4 … 10,000 = n; Δ = 0.05."""
    gap = np.array([runs.pseudo_regret_parts().gap.mean() for runs in found])
    kept = [float((runs.pulls[:, 0] > runs.pulls[:, 1]).mean()) for runs in found[:-1]]
    lowest = int(gap.argmin())
    text = f"{listed(gap)} for τ = {listed(_TAUS)}: least at τ = {_TAUS[lowest]:,}"
    return judged(
        f"{text}; the best arm is kept in {listed(100.0 * np.array(kept))} % of runs",
        below(0.5, gap[lowest] / gap[[0, -1]], of="the least over both ends"),
        at_most(0.0, -np.diff(kept), of="losses of the best arm by more exploring"),
    )


@claim("section 4", "The exploration part is least with τ as small as possible; τ = 0 would leave none.")
@on(*_TRADE_OFF)
def tau_and_exploration(*found: Runs) -> Evidence:
    """The exploration part of the pseudo-regret for τ = 4 … 10,000 = n, and its slope in τ between the two least."""
    parts = [float(runs.pseudo_regret_parts().exploration.mean()) for runs in found]
    slope = end_slope(_TAUS[:2], parts[:2])
    text = f"{listed(parts)} for τ = {listed(_TAUS)}; as τ^{slope:.2f} near 0"
    return judged(text, above(0.0, np.diff(parts), of="every step"), near(1.0, 0.01, slope, of="the power"))


@claim("section 4, Remark 1", "ExpExp performs worse than MV-LCB on easy problems.")
@on(*[point(FIGURE_2, policy, 0.0, n) for policy in ALGORITHMS.values() for n in _EASY_HORIZONS])
def worse_on_easy(*found: Runs) -> Evidence:
    """Regret on Figure 2's arms, with c = 5, at n = 10,000, 250,000 (the largest that the paper shows), 10⁷, 3·10⁷,
    10⁸."""
    ours, other = regrets(found).reshape(2, len(_EASY_HORIZONS))
    return judged_over(_EASY_HORIZONS, list(ours < other), f"MV-LCB {listed(ours, 2)}; ExpExp {listed(other, 2)}")


@claim("section 4, Remark 1; section 7", "On easy problems the regret of MV-LCB decreases as O(log n / n).")
@on(*[point(FIGURE_2, MVLCB(), 0.0, n) for n in _LONG_HORIZONS])
def log_rate(*found: Runs) -> Evidence:
    """Regret times n/log n on Figure 2's arms, n = 10⁷, 10⁸, 10⁹: whether it levels off."""
    n = np.array(_LONG_HORIZONS)
    scaled = regrets(found) * n / np.log(n)
    early, late = scaled[1:] / scaled[:-1] - 1.0
    text = f"n R/log n is {listed(scaled)}: it grows by {early:.1%}, then by {late:.1%}"
    return judged(text, near(0.0, 0.03, late, of="the latter"), below(early, late))


@claim("section 4, Remark 2", "Exploring by Successive Rejects or UCB-E instead of uniformly improves ExpExp.")
@on(*[point(CONFIGURATION_1, ExpExp(explore=way), 1.0, 25_000) for way in WAYS])
def better_exploration(*found: Runs) -> Evidence:
    """Regret on configuration 1, ρ = 1, n = 25,000, by the three ways to explore."""
    values = [runs.regret() for runs in found]
    (base, error), *others = [mean_se(v) for v in values]
    text = ", ".join(f"{way} {pm(v)}" for way, v in zip(WAYS, values, strict=True))
    upper = [mean + 2.0 * (e + error) for mean, e in others]
    return judged(f"{text}; with twice both errors {listed(upper, 2)}", below(base, upper))


@claim("appendix C", "ExpExp keeps a worse arm with probability at most 2 exp(−(τ/K)Δ²), for ρ = 0.")
def wrong_arm() -> Evidence:
    """The exact probability that the worse of two Bernoulli arms has the smaller or an equal variance after m = 20, 80
    and 320 rewards of each, for all pairs from 50 successes where the bound is below 1: how many times the printed
    exponent it has at least."""
    ps, ms, least, pairs = np.linspace(0.01, 0.99, 50), (20, 80, 320), [], []
    gap = (ps * (1.0 - ps)) - (ps * (1.0 - ps))[:, None]
    for each in ms:
        ones = np.arange(each + 1)
        mass, variance = binom.pmf(ones, each, ps[:, None]), ones * (each - ones)
        not_above = (variance <= variance[:, None]).astype(float)  # of the better, of the worse
        probability, bound = mass @ not_above @ mass.T, printed.wrong_arm(each, gap)
        asked = (gap > 0.0) & (bound < 1.0)
        least.append(float((np.log(probability[asked] / 2.0) / np.log(bound[asked] / 2.0)).min()))
        pairs.append(int(asked.sum()))
    text = f"at least {listed(least, 4)} times the printed exponent for m = {listed(ms)}, of {listed(pairs)} pairs"
    return judged(text, above(1.0, least))


@claim("appendix C", "The exploration part of ExpExp's pseudo-regret is at most 2τ/n.")
@on(point(APART, ExpExp(), 0.0, 10_000))
def exploring_part(runs: Runs) -> Evidence:
    """Five deterministic arms, 1, 0, 0, 0, 0, n = 10,000."""
    tau = len(runs.bandit) * exploring_pulls(runs.horizon, len(runs.bandit), RULES["theorem"])
    measured, said = float(runs.pseudo_regret_parts().exploration.mean()), printed.exploring(tau, runs.horizon)
    half, twice = float(runs.exploration_risk("eq-regret3").mean()), 2.0 * said
    text = f"measured {measured:.4f}, {half:.4f} with eq. regret3's factor; 2τ/n = {said:.4f}, twice {twice:.4f}"
    return judged(text, at_most(said, measured), corrected=[at_most(twice, measured)])


@claim("appendix C", "The worst gap, at which Δ exp(−(τ/K)Δ²) is largest, is √(K/2τ).")
def worst_gap() -> Evidence:
    """The maximum found numerically, K = 2 and 5, τ = 100 and 10⁴; the largest relative difference of the gap."""
    said, far = [], []
    for arms, tau in product((2, 5), (100, 10**4)):
        said.append(printed.worst_gap(tau, arms))
        found = minimize_scalar(
            lambda d, m=tau / arms: -d * math.exp(-m * d * d),
            bounds=(0.0, 1.0),
            method="bounded",
            options={"xatol": 1e-9},
        )
        far.append(abs(found.x / said[-1] - 1.0))
    return judged(f"{listed(said)}; relative difference at most {number(max(far), 2)}", below(1e-4, far))


@claim("appendix C", "The worst-case regret of ExpExp is then at most 2τ/n + K^(3/2)/√τ.")
def worst_regret() -> Evidence:
    """2τ/n + 2(K−1)Δ exp(−(τ/K)Δ²) at the worst of 10,000 gaps over that bound, K = 2, 5, 15 and n = 10⁴, 10⁶, each
    with τ = K(n/14)^(2/3) and K(n/4)^(2/3)."""
    shares, gaps, ks, horizons = [], np.linspace(0.0, 1.0, 10_001), (2, 5, 15), (10**4, 10**6)
    for arms, n, rule in product(ks, horizons, RULES.values()):
        each = exploring_pulls(n, arms, rule)
        keeping = (arms - 1) * float((gaps * printed.wrong_arm(each, gaps)).max())
        shares.append((printed.exploring(arms * each, n) + keeping) / printed.worst_regret(arms * each, arms, n))
    text = f"{listed(shares)} times the bound for K = {listed(ks)}, n = {listed(horizons)}"
    return judged(text, at_most(1.0, shares))


@claim("appendix C", "τ = K(n/4)^(2/3) minimises 2τ/n + K^(3/2)/√τ, which then is at most 3K/n^(1/3).")
def appendix_tau() -> Evidence:
    """The minimum found numerically, K = 5, n = 10⁶, and K/n^(1/3) times what."""
    k, n = 5, 10**6
    found = minimize_scalar(printed.worst_regret, args=(k, n), bounds=(1, n), method="bounded").x
    tau = printed.best_tau(n, k)
    constant = printed.worst_regret(tau, k, n) * n ** (1 / 3) / k
    text = f"minimum at {found:,.0f}, rule {tau:,.0f}; constant {constant:.2f}"
    return judged(text, near(1.0, 1e-3, found / tau, of="their ratio"), at_most(3.0, constant))


@claim("appendix C", "With that τ the expected pseudo-regret of ExpExp is at most 3K/n^(1/3), for ρ = 0.")
@on(*[point(bandit, ExpExp(rule="appendix"), 0.0, 100_000) for bandit in _HARD])
def appendix_bound(*found: Runs) -> Evidence:
    """The mean over runs on the arms of Theorem 2, n = 100,000."""
    return _below_theorem("appendix", found)
