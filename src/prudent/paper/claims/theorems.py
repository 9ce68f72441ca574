"""Claims of the paper's lemmas, theorems and remarks (sections 3 and 4, appendix)."""

import math

import numpy as np
from scipy.optimize import minimize_scalar

from prudent import MVLCB, UCB1, AnytimeMVLCB, Bandit, Bernoulli, BernsteinMVLCB, ExpExp, MeanVariance, Runs, theory
from prudent.paper.claims.ledger import CORRECTED, FAILS, HOLDS, Evidence, claim, judged, mean_se, on, pm, regrets
from prudent.paper.making import point
from prudent.paper.problems import ALGORITHMS, CONFIGURATION_1, FIGURE_2, ZERO_ONE
from prudent.policies.base import Arm, Setting
from prudent.theory import Bound

WAYS = ("uniform", "successive-rejects", "ucb-e")
EASY = Bandit([Bernoulli(0.98), Bernoulli(0.5)])
"""Rewards in [0, 1] with a large gap of variances, as the theorems assume."""

RISK = MeanVariance(0.0)
LONG = point(EASY, MVLCB(), 0.0, 100_000)
OF_LONG = (EASY, RISK, 100_000)
"""The cell of Theorem 1 and what follows from it."""


@claim("Lemma 1", "With probability 1 − δ the regret exceeds the pseudo-regret by at most the stated terms.")
@on(point(EASY, MVLCB(), 0.0, 2_000))
def lemma_1(runs: Runs) -> Evidence:
    """The frequency of violations at δ = 0.05 over runs of MV-LCB on [0, 1] arms."""
    bound = theory.lemma1(EASY, RISK, 2_000, 0.05).printed or 0.0
    rate = float((runs.regret() > runs.pseudo_regret() + bound).mean())
    return judged(rate <= 0.05, f"violated in {rate:.2%} of {len(runs)} runs, allowed 5 %; the terms are {bound:.3f}")


def _paths(law: Bernoulli, length: int, runs: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, and the running means and variances of many sequences of rewards."""
    rewards = law.sample(np.random.default_rng(seed), runs * length).reshape(runs, length)
    count = np.arange(1, length + 1)
    mean = rewards.cumsum(1) / count
    return count, mean, mean * (1.0 - mean)


@claim("Lemma 2", "All empirical mean-variances stay within (5+ρ)√(log(1/δ)/2s), except with probability 6nKδ.")
@on(samples=True)
def lemma_2(runs: int, seed: int) -> Evidence:
    """One Bernoulli arm, ρ = 1, 200 samples, δ such that 6nδ = 0.6: how often some s violates it."""
    delta = 0.6 / (6 * 200)
    count, mean, variance = _paths(Bernoulli(0.3), 200, runs, seed)
    off = np.abs(variance - mean - (0.21 - 0.3)) >= 6.0 * np.sqrt(math.log(1 / delta) / (2 * count))
    rate = float(off.any(1).mean())
    return judged(rate <= 0.6, f"violated in {rate:.2%} of {runs} sequences, allowed 60 %")


@claim("section 3, Remark 1", "MV-LCB becomes UCB1 as ρ → ∞.")
def becomes_ucb1() -> Evidence:
    """Scores of the anytime version with a = 4, divided by ρ = 10⁹, against UCB1's."""
    arms = [Arm(s, m, v) for s in (1, 7, 400) for m in (0.1, 0.9) for v in (0.0, 0.2)]
    far = max(abs(AnytimeMVLCB(rho=1e9).score(a, 500) / 1e9 - UCB1().score(a, 500)) for a in arms)
    return judged(far < 1e-6, f"largest difference {far:.1e}")


@claim("section 3, commented Remark 2", "An index with (σ̂ + √(log(1/δ)/2s))² is a lower bound on the mean-variance.")
@on(samples=True)
def commented_bernstein(runs: int, seed: int) -> Evidence:
    """How often it lies above the true variance (ρ = 0, δ = 0.01, 50 samples), and the corrected index."""
    delta, s = 0.01, 50
    _, mean, variance = _paths(Bernoulli(0.5), s, runs, seed)
    unbiased = variance[:, -1] * s / (s - 1)
    printed = float(((np.sqrt(unbiased) + math.sqrt(math.log(1 / delta) / (2 * s))) ** 2 > 0.25).mean())
    index = BernsteinMVLCB(rho=0.0, delta=delta)
    ours = [index.score(Arm(s, m, v)) > 0.25 for m, v in zip(mean[:, -1], variance[:, -1], strict=True)]
    text = f"above it in {printed:.0%} of samples, allowed 1 %; corrected: {np.mean(ours):.0%}"
    return judged(printed <= delta, text, corrected=False)


@claim("appendix B", "A worse arm is pulled at most 2(5+ρ)² log(1/δ)/Δ² + 1 times, except with probability 6nKδ.")
@on(LONG)
def pulls(runs: Runs) -> Evidence:
    """MV-LCB with δ = 1/n² on [0, 1] arms, n = 100,000: the most pulls of the worse arm."""
    bound = theory.pulls_bound(*OF_LONG).corrected or math.inf
    most = int(runs.pulls[:, 1].max())
    return judged(most <= bound, f"at most {most:,} pulls in {len(runs)} runs; the bound is {bound:,.0f}")


def _against(bound: Bound, value: float, shown: str, why: str = "") -> Evidence:
    """A measured value, as it is shown, beside its bound."""
    text = f"{shown}; printed {bound.printed:.3g}, corrected {bound.corrected:.3g}{why}"
    return judged(value <= (bound.printed or 0.0), text)


@claim(
    "Theorem 1, high probability", "The pseudo-regret of MV-LCB stays below the bound, except with probability 6nKδ."
)
@on(LONG)
def theorem_1_probability(runs: Runs) -> Evidence:
    """The largest pseudo-regret over runs against the bound, [0, 1] arms."""
    top = runs.pseudo_regret().max()
    return _against(theory.theorem1_high_probability(*OF_LONG), top, f"largest {top:.4f}", " (b²/2 for b²)")


@claim("Theorem 1, expectation", "The expected pseudo-regret of MV-LCB with δ = 1/n² stays below the bound.")
@on(LONG)
def theorem_1(runs: Runs) -> Evidence:
    """The mean over runs against the bound, [0, 1] arms."""
    ours = runs.pseudo_regret()
    return _against(theory.theorem1_expectation(*OF_LONG), ours.mean(), f"measured {pm(ours)}")


@claim("appendix B, corollary", "The expected regret of MV-LCB stays below the bound.")
@on(LONG)
def corollary_holds(runs: Runs) -> Evidence:
    """The mean over runs against the bound, [0, 1] arms."""
    ours = runs.regret()
    return _against(theory.corollary(*OF_LONG), ours.mean(), f"measured {pm(ours)}")


@claim("section 3, Remark 1 (the bound)", "The regret decreases as O(log² n / n).")
@on(*[point(FIGURE_2, MVLCB(), 0.0, n) for n in (10**6, 10**7, 10**8)])
def remark_1(*found: Runs) -> Evidence:
    """Regret times n/log n and n/log² n on Figure 2's arms, n = 10⁶, 10⁷, 10⁸: which of them levels off."""
    n = np.array([runs.horizon for runs in found])
    one = regrets(found) * n / np.log(n)
    two = one / np.log(n)
    tight, level = two[2] > 0.95 * two[1], abs(one[2] / one[1] - 1.0) < 0.05
    verdict = HOLDS if tight else CORRECTED if level else FAILS
    shown = ", ".join(f"{x:.0f}" for x in one)
    return Evidence(verdict, f"n R/log n is {shown}: it levels off, so the rate is O(log n/n), as the conclusions say")


@claim("section 3, Remark 2", "Two deterministic arms: pulled equally often, regret Γ²/4 whatever n.")
@on(*[point(ZERO_ONE, MVLCB(), 0.0, n) for n in (10**2, 10**4, 10**6)])
def remark_2(*found: Runs) -> Evidence:
    """Arms 0 and 1, ρ = 0, n = 10², 10⁴, 10⁶."""
    largest = [float(runs.regret().max()) for runs in found]
    return judged(set(largest) == {0.25}, f"regret {largest}")


@claim("section 3, Remark 2", "There the index is √(log(1/δ)/s).")
def remark_2_index() -> Evidence:
    """The index of Figure 1 with a variance of 0, ρ = 0, δ = 0.01, s = 10, against the printed one."""
    printed = math.sqrt(math.log(100.0) / 10)
    index = MVLCB(rho=0.0, delta=0.01).tuned(Setting(2, RISK)).score(Arm(10, 0.0, 0.0))
    right = -5.0 * math.sqrt(math.log(100.0) / 20)
    text = f"it is {index:.3f}, not {printed:.3f}: minus (5+ρ)√(log(1/δ)/2s)"
    return judged(abs(index - printed) < 1e-12, text, corrected=abs(index - right) < 1e-12)


@claim("Theorem 2", "For ρ = 0, ExpExp with τ = K(n/14)^(2/3) has expected pseudo-regret at most 2K/n^(1/3).")
@on(*[point(Bandit([Bernoulli(0.95), Bernoulli(p)]), ExpExp(), 0.0, 10_000) for p in (0.5, 0.6, 0.7, 0.8, 0.9)])
def theorem_2(*found: Runs) -> Evidence:
    """The largest mean over Bernoulli pairs whose gap is near the worst, n = 10,000."""
    worst = max(float(runs.pseudo_regret().mean()) for runs in found)
    bound = theory.theorem2(EASY, RISK, 10_000).printed or 0.0
    return judged(worst <= bound, f"largest {worst:.4f}, bound {bound:.4f}")


@claim("Theorem 2", "The same for any ρ and any distributions on [0, 1].")
@on(point(Bandit(ZERO_ONE.arms[::-1]), ExpExp(), 20.0, 10_000))
def theorem_2_any_rho(runs: Runs) -> Evidence:
    """Deterministic arms 1 and 0, ρ = 20, n = 10,000."""
    measured = float(runs.pseudo_regret().mean())
    bound = theory.theorem2(runs.bandit, MeanVariance(20.0), 10_000)
    printed, corrected = bound.printed or 0.0, bound.corrected or 0.0
    text = f"pseudo-regret {measured:.4f}; printed {printed:.4f}, corrected {corrected:.4f}"
    return judged(measured <= printed, text, corrected=measured <= corrected)


@claim("appendix C", "τ = K(n/4)^(2/3) minimises 2τ/n + K^(3/2)/√τ, which then is at most 3K/n^(1/3).")
def appendix_tau() -> Evidence:
    """The minimum found numerically, K = 5, n = 10⁶."""
    k, n = 5, 10**6
    found = minimize_scalar(lambda t: 2 * t / n + k**1.5 / math.sqrt(t), bounds=(1, n), method="bounded").x
    tau = k * (n / 4) ** (2 / 3)
    constant = (2 * tau / n + k**1.5 / math.sqrt(tau)) * n ** (1 / 3) / k
    ok = abs(found / tau - 1.0) < 1e-3 and constant <= 3.0
    return judged(ok, f"minimum at {found:,.0f}, rule {tau:,.0f}; constant {constant:.2f} ≤ 3")


@claim("Theorem 2", "Its constant 2 follows from the appendix's bound with τ = K(n/14)^(2/3).")
def constant_of_theorem_2() -> Evidence:
    """2τ/n + K^(3/2)/√τ at that τ, in units of K/n^(1/3)."""
    constant = 2 / 14 ** (2 / 3) + 14 ** (1 / 3)
    return judged(constant <= 2.0, f"it gives {constant:.2f}; at ρ = 0 the theorem is still true (docs/theory.md)")


@claim("section 4, Remark 1", "ExpExp performs worse than MV-LCB on easy problems.")
@on(*[point(FIGURE_2, policy, 0.0, n) for policy in ALGORITHMS.values() for n in (10**4, 10**6, 10**7)])
def worse_on_easy(*found: Runs) -> Evidence:
    """Regret on Figure 2's arms, n = 10⁴ … 10⁷, with c = 5."""
    pairs = regrets(found).reshape(2, 3).T
    shown = "; ".join(f"{ours:.2g} against {other:.2g}" for ours, other in pairs)
    return judged(all(ours < other for ours, other in pairs), f"MV-LCB against ExpExp at 10⁴, 10⁶, 10⁷: {shown}")


@claim("section 4, Remark 2", "Exploring by Successive Rejects or UCB-E instead of uniformly improves ExpExp.")
@on(*[point(CONFIGURATION_1, ExpExp(explore=way), 1.0, 25_000) for way in WAYS])
def better_exploration(*found: Runs) -> Evidence:
    """Regret on configuration 1, ρ = 1, n = 25,000, by the three ways to explore."""
    values = [runs.regret() for runs in found]
    (base, error), *others = [mean_se(v) for v in values]
    ok = all(mean + 2 * (e + error) < base for mean, e in others)
    return judged(ok, ", ".join(f"{way} {pm(v)}" for way, v in zip(WAYS, values, strict=True)))
