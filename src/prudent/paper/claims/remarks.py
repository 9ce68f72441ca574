"""What is no claim of the paper and yet worth checking: sentences its source keeps as comments, steps it leaves out."""

import math

import numpy as np
from scipy.stats import binom

from prudent import (
    Bandit,
    Bernoulli,
    BernsteinMVLCB,
    CVaR,
    Deterministic,
    Empirical,
    MeanVariance,
    Runs,
    sequence_cost,
    theory,
)  # fmt: skip
from prudent.base.text import number
from prudent.paper.claims import printed
from prudent.paper.claims.definitions import GAUSSIAN, agreement
from prudent.paper.claims.ledger import (
    Evidence,
    above,
    at_most,
    below,
    exactly,
    judged,
    known,
    listed,
    near,
    on,
    remark,
)  # fmt: skip
from prudent.paper.claims.mv_lcb import HORIZON, LONG, PLACES, telling
from prudent.policies.contract import Arm
from prudent.policies.exp_exp import RULES


@remark("section 2, footnote", "Arrow and Pratt's absolute risk aversion, for Gaussian rewards, is 2/ρ.")
def arrow_pratt() -> Evidence:
    """1,000 pairs of Gaussian arms, ρ = 0.7: the share that the mean-variance orders as the expected utility −exp(−Ax)
    does, with A = 2/ρ and with 1/ρ."""
    twice, once = (agreement(GAUSSIAN, 0.7, factor / 0.7) for factor in (2.0, 1.0))
    return judged(f"{twice:.1%} of pairs with 2/ρ, {once:.1%} with 1/ρ", exactly(1.0, twice), below(0.99, once))


@remark("section 3, commented out", "An index with (σ̂ + √(log(1/δ)/2s))² is a lower bound on the mean-variance.")
def commented_bernstein() -> Evidence:
    """The exact probability that it exceeds the mean-variance of a Bernoulli arm of success 1/2, ρ = 0, δ = 0.01,
    50 rewards; and that of the corrected index (docs: theory), which subtracts where this one adds."""
    delta, s, cost = 0.01, 50, 0.25
    ones = np.arange(s + 1)
    mean, mass = ones / s, binom.pmf(ones, s, 0.5)
    variance = mean * (1.0 - mean)
    said = printed.commented_index(np.sqrt(variance * s / (s - 1)), mean, s, 0.0, delta)
    index = BernsteinMVLCB(rho=0.0, delta=delta, range=1.0)
    ours = np.array([index.score(Arm(s, m, v)) for m, v in zip(mean, variance, strict=True)])
    over, mended = (float(mass[scores > cost].sum()) for scores in (said, ours))
    text = f"above it with probability {number(over, 6)}; corrected {number(mended, 1)}"
    return judged(text, at_most(2.0 * delta, over))


@remark("section 3, commented out", "A worse arm is pulled at most b² log(1/δ)/Δ² + 1 times, b = 2(5+ρ).")
@on(*LONG)
def commented_pulls(*found: Runs) -> Evidence:
    """The most pulls of worse arms over runs of MV-LCB, n = 10⁷, on two [0, 1] arms, ρ = 0, and on three, ρ = 1; and
    how many times the bound of the proof that is."""
    shares, ratios, bounds = [], [], []
    for runs, (bandit, risk) in zip(found, PLACES, strict=True):
        for arm in set(range(len(bandit))) - {bandit.best(risk)}:
            bound = theory.pulls_bound(bandit, risk, HORIZON, arm=arm)
            said, proved = known(bound.printed), known(bound.corrected)
            shares.append(int(runs.pulls[:, arm].max()) / said)
            ratios.append(said / proved)
            bounds.append(bound)
    text = f"{listed(shares, 2)} of it; it is {listed(ratios)} times the bound of the proof"
    return judged(text, telling(*bounds), at_most(1.0, shares))


@remark("section 3, commented out", "As ρ → ∞ the bound of MV-LCB coincides with the average regret bound of UCB.")
def comparison_with_ucb() -> Evidence:
    """Theorem 1 over ρ at ρ = 10⁶, for arms of means 1 and 1/2: what log n is multiplied by, from n = 10⁷ to 10⁹, and
    the 8/Δ of UCB1, Δ a difference of means."""
    bandit, rho, ends = Bandit([Deterministic(1.0), Bernoulli(0.5)]), 1e6, (10**7, 10**9)
    bounds = [known(theory.theorem1_expectation(bandit, MeanVariance(rho), n).printed) * n / rho for n in ends]
    slope, ucb = (bounds[1] - bounds[0]) / math.log(ends[1] / ends[0]), 8.0 / float(np.ptp(bandit.means))
    text = f"log n is multiplied by {slope:.4f}, and by {ucb:g} in that of UCB1"
    return judged(f"{text}, from n = {listed(ends)}", near(1.0, 1e-3, slope / ucb, of="their ratio"))


@remark("Theorem 2", "Its constant 2 follows from the appendix's bound with τ = K(n/14)^(2/3).")
def constant_of_theorem_2() -> Evidence:
    """2τ/n + K^(3/2)/√τ at that τ, in units of K/n^(1/3), K = 5, n = 10⁶; with the τ of the appendix; and the corrected
    Theorem 2 at ρ = 0."""
    n, k = 10**6, 5
    units = n ** (1 / 3) / k
    constants = [printed.worst_regret(k * (n / rule) ** (2 / 3), k, n) * units for rule in RULES.values()]
    bound = theory.theorem2(Bandit([Bernoulli(0.5), *[Bernoulli(0.9)] * (k - 1)]), MeanVariance(0.0), n)
    proved = known(bound.corrected) * units
    text = f"n = {n:,}, K = {k}: it gives {constants[0]:.2f}, {constants[1]:.2f} with the appendix's τ; a repaired"
    text += f" proof gives {proved:.2f}"
    return judged(text, at_most(2.0, constants[0]))


@remark(
    "section 7, commented out", "By the mean-variance the best sequence of arms is a single arm; else it may be none."
)
def best_sequences() -> Evidence:
    """The costs of all sequences of four rewards of two arms, −10 or else 7 nine times as likely, −5 or else 8 three
    times as likely, by convolution: the mean-variance at ρ = 0, 1 and 10, and the CVaR at 5 %."""
    arms = Bandit([Empirical([-10.0] + [7.0] * 9), Empirical([-5.0] + [8.0] * 3)])
    lost, shown = [], []
    rhos = (0.0, 1.0, 10.0)
    for risk in (*map(MeanVariance, rhos), CVaR(0.05)):
        costs = [sequence_cost(arms, risk, (k, 4 - k)) for k in range(5)]
        lost.append(min(costs[0], costs[4]) - min(costs))
        shown.append(number(lost[-1], 3))
    together = f"the best arm alone costs {', '.join(shown[:-1])} more by the mean-variance at ρ = {listed(rhos)}"
    together += f", {shown[-1]} by the CVaR"
    return judged(together, below(1e-9, lost[:-1]), above(1.0, lost[-1]))
