"""MV-LCB in theory: its confidence event (Lemma 2), its pulls, Theorem 1, and the paper's remarks on it."""

import math

import numpy as np

from prudent.bandit import Bandit
from prudent.errors import check_integer
from prudent.risk import MeanVariance
from prudent.theory.bound import Array, Bound, Condition, Problem, judge, largest_regret, over

PSEUDO = "the pseudo-regret of these arms"
PAPER_CONSTANT = 5.0
SHARP_CONSTANT = 1.0


def lemma2(bandit: Bandit, risk: MeanVariance, horizon: int, delta: float | None = None) -> Bound:
    """P(some arm's MV̂ after some s ≤ n samples is off by (5+ρ)√(log(1/δ)/2s) or more) ≤ 6nKδ.

    Bounded differences of MV̂ as one function, (1+ρ)/s for each sample, give 2nKδ already at the width
    (1+ρ)√(log(1/δ)/2s) plus the bias 1/(4s), and the paper's 5 covers both.
    """
    problem = Problem.of("lemma2", bandit, risk, horizon)
    level = problem.level("lemma2", delta)
    events = problem.horizon * problem.n_arms * level
    return judge(
        "Lemma 2",
        "P(some |MV̂ − MV| ≥ (5+ρ)√(log(1/δ)/2s))",
        "[Sani12], Lemma 2 (l:ch.mean-var)",
        6.0 * events,
        2.0 * events,
        correction="true as printed; bounded differences of MV̂ itself need 2 events per arm and round, not 6",
        conditions=(problem.bounded, problem.informative(level)),
        limit=1.0,
        limit_is="a probability",
    )


def pulls_bound(
    bandit: Bandit, risk: MeanVariance, horizon: int, delta: float | None = None, arm: int | None = None
) -> Bound:
    """T_i ≤ b² log(1/δ)/(2Δ_i²) + 1 with b = 2(5+ρ), for one arm (from 0) or for all but the best together.

    The printed value is that of the lemma commented out in sec. 3.2, which lacks the 2; the proof of Theorem 1 has it.
    """
    problem = Problem.of("pulls_bound", bandit, risk, horizon)
    level = problem.level("pulls_bound", delta)
    log_term = math.log(1.0 / level)
    printed = over(_b(problem.rho) ** 2 * log_term, problem.gaps**2) + 1.0
    corrected = most_pulls(problem, log_term)
    who = "pulls of all arms but the best"
    if arm is not None:
        arm = check_integer("pulls_bound", "arm", arm, low=0, high=problem.n_arms - 1, hint="arms count from 0")
        best = bandit.best(risk)
        who = f"pulls of {bandit.names[arm]}"
        # Nothing but the horizon limits how often the best arm is pulled.
        printed, corrected = (np.insert(values, best, problem.horizon)[[arm]] for values in (printed, corrected))
    return judge(
        "Pulls bound",
        f"{who}, except with probability {_failure(problem, level):.3g}",
        "[Sani12], proof of Theorem 1 (App. B) and the lemma commented out in sec. 3.2 (l:expected)",
        float(printed.sum()),
        min(float(corrected.sum()), float(problem.horizon)),
        correction="b²/2 for b², as in the proof, and never more than n",
        conditions=(problem.bounded, problem.informative(level), problem.playable),
        as_printed=(problem.unique,),
        limit=float(problem.horizon),
        limit_is="the number of pulls",
    )


def theorem1_high_probability(bandit: Bandit, risk: MeanVariance, horizon: int, delta: float | None = None) -> Bound:
    """Pseudo-regret of MV-LCB run with δ, except with probability 6nKδ (Theorem 1, first half)."""
    problem = Problem.of("theorem1_high_probability", bandit, risk, horizon)
    level = problem.level("theorem1_high_probability", delta)
    log_term = math.log(1.0 / level)
    return judge(
        "Theorem 1, high probability",
        f"pseudo-regret of MV-LCB, except with probability {_failure(problem, level):.3g}",
        "[Sani12], Theorem 1 (thm:mvlcb.regret)",
        _printed(problem, log_term),
        pseudo_regret_at(problem, most_pulls(problem, log_term)),
        correction="the proof's own pulls put into Definition 3 (b²/2 for b², at most n); then no gap need be above 0",
        conditions=(problem.bounded, problem.informative(level), problem.playable),
        as_printed=(problem.unique,),
        limit=problem.largest_pseudo_regret,
        limit_is=PSEUDO,
    )


def theorem1_expectation(bandit: Bandit, risk: MeanVariance, horizon: int) -> Bound:
    """E[pseudo-regret] of MV-LCB run with δ = 1/n² (Theorem 1, second half)."""
    problem = Problem.of("theorem1_expectation", bandit, risk, horizon)
    n, log_term = problem.horizon, 2.0 * math.log(problem.horizon)
    printed = _printed(problem, log_term) + (12.0 + 6.0 * problem.rho) * problem.n_arms / n
    corrected = pseudo_regret_at(problem, most_pulls(problem, log_term))
    corrected += problem.largest_pseudo_regret * 2.0 * problem.n_arms / n
    return judge(
        "Theorem 1, expectation",
        "expected pseudo-regret of MV-LCB",
        "[Sani12], Theorem 1 (thm:mvlcb.regret)",
        printed,
        corrected,
        correction="the proof's own pulls put into Definition 3; plus 2nKδ times these arms' largest pseudo-regret",
        conditions=(problem.bounded, problem.playable),
        as_printed=(problem.unique,),
        limit=problem.largest_pseudo_regret,
        limit_is=PSEUDO,
    )


def theorem1_sharp(bandit: Bandit, risk: MeanVariance, horizon: int) -> Bound:
    """Theorem 1 in expectation for MVLCB.sharp(): width (1+ρ)√(log(1/δ)/2s) around the unbiased variance, δ = 1/n².

    Not in the paper. The index needs two pulls, hence at least 2 in place of 1.
    """
    problem = Problem.of("theorem1_sharp", bandit, risk, horizon)
    n, k = problem.horizon, problem.n_arms
    pulls = np.maximum(most_pulls(problem, 2.0 * math.log(n), SHARP_CONSTANT), min(2, n))
    return judge(
        "Theorem 1 for the sharp width",
        "expected pseudo-regret of sharp MV-LCB",
        "docs/theory.md; not in the paper",
        None,
        pseudo_regret_at(problem, pulls) + problem.largest_pseudo_regret * 2.0 * k / n,
        correction="1+ρ in place of 5+ρ",
        conditions=(problem.bounded, Condition(f"n ≥ 2K: {n} ≥ {2 * k}", n >= 2 * k)),
        limit=problem.largest_pseudo_regret,
        limit_is=PSEUDO,
    )


def corollary(bandit: Bandit, risk: MeanVariance, horizon: int) -> Bound:
    """E[regret] of MV-LCB run with δ = 1/n²: Theorem 1 and Lemma 1 on one event, else the largest regret."""
    problem = Problem.of("corollary", bandit, risk, horizon)
    n, k, rho = problem.horizon, problem.n_arms, problem.rho
    log_term = 2.0 * math.log(n)
    printed = _printed(problem, log_term) + printed_excess(problem, log_term) + (0.25 + rho) * 6.0 * k / n
    corrected = pseudo_regret_at(problem, most_pulls(problem, log_term)) + corrected_excess(problem, log_term)
    corrected += largest_regret(rho) * (4.0 * n * k + 2.0 * (k - 1)) / n**2
    return judge(
        "Corollary",
        "expected regret of MV-LCB",
        "[Sani12], App. B, after the proof of Theorem 1",
        printed,
        corrected,
        correction="Theorem 1 and Lemma 1 as corrected; 4nK + 2(K−1) events, the twins among them",
        conditions=(problem.bounded, problem.playable),
        as_printed=(problem.unique,),
        limit=largest_regret(rho, problem.span),
        limit_is="the regret of rewards in this interval",
    )


def lemma1(bandit: Bandit, risk: MeanVariance, horizon: int, delta: float | None = None) -> Bound:
    """regret − pseudo-regret of any policy, except with probability δ (δ is here the whole probability of failure).

    The event of the proof leaves out the twins, which deviate as well. Each needs one more event, at s = T_i. With
    these 4nK + 2(K−1) events are enough, no more than the 6nK printed.
    """
    problem = Problem.of("lemma1", bandit, risk, horizon)
    level = problem.level("lemma1", delta)
    n, k = problem.horizon, problem.n_arms
    return judge(
        "Lemma 1",
        f"regret − pseudo-regret of any policy, except with probability {level:.3g}",
        "[Sani12], Lemma 1 (l:psuedo.regret)",
        printed_excess(problem, math.log(6.0 * n * k / level)),
        corrected_excess(problem, math.log((4.0 * n * k + 2.0 * (k - 1)) / level)),
        correction="true as printed, though the proof leaves out the twins; 4(K−1) for 4√2 K, K−1 for K under the root",
        conditions=(problem.bounded, Condition(f"0 < δ < 1: {level:.3g}", level < 1.0)),
        limit=largest_regret(problem.rho, problem.span),
        limit_is="the regret of rewards in this interval",
    )


def remark1_rate(bandit: Bandit, risk: MeanVariance, horizon: int) -> Bound:
    """The rate of Theorem 1, constants (and b) left out: K/Δ log n/n + K² Γ²/Δ⁴ log²n/n as printed.

    Theorem 1's last term has 1/n², so log²n/n² is correct. It no longer covers the middle term, K Γ²/Δ² log n/n, which
    must therefore be written. Γ is the largest difference of two means, Δ the smallest gap.
    """
    problem = Problem.of("remark1_rate", bandit, risk, horizon)
    n, k = problem.horizon, problem.n_arms
    smallest = problem.gaps.min(initial=math.inf, keepdims=True)
    first = over(k * math.log(n) / n, smallest)
    middle = over(k * math.log(n) / n * _widest(problem), smallest**2)
    last = over((k * math.log(n)) ** 2 / n * _widest(problem), smallest**4)
    return judge(
        "Remark 1, rate",
        "expected pseudo-regret of MV-LCB, up to a constant",
        "[Sani12], Remark 1 after Theorem 1",
        (first + last).item(),
        (first + middle + last / n).item(),
        correction="log²n/n² for log²n/n; the term K Γ²/Δ² log n/n, covered before, is added: O(log n/n) in all",
        conditions=(problem.bounded, problem.unique),
        note="a rate; its constant grows with b²",
    )


def worst_case(bandit: Bandit, risk: MeanVariance, horizon: int) -> Bound:
    """Remark 2: on two deterministic arms, ρ = 0, MV-LCB's indices depend only on the pulls; it alternates, and its
    regret is exactly T₁T₂Γ²/n², with Γ here the largest difference of two means."""
    problem = Problem.of("worst_case", bandit, risk, horizon)
    n, widest = problem.horizon, _widest(problem)
    constant = problem.n_arms == 2 and not bandit.variances.any()
    return judge(
        "Remark 2, worst case",
        "regret of MV-LCB on two deterministic arms as far apart as these, ρ = 0",
        "[Sani12], Remark 2 after Theorem 1",
        0.25 * widest,
        (n // 2) * (n - n // 2) / n**2 * widest,
        correction="an odd n splits unevenly, (n²−1)Γ²/4n²; the printed index should read −(5+ρ)√(log(1/δ)/2s)",
        conditions=(Condition("two deterministic arms", constant), Condition("ρ = 0", problem.rho == 0.0)),
        note="does not decrease with n, as on any bandit whose best arms tie and have different means",
    )


def most_pulls(problem: Problem, log_term: float, c: float = PAPER_CONSTANT) -> Array:
    """min(n, 2(c+ρ)² L/Δ_i² + 1) for the arms other than the best.

    When the last pull of arm i came, after s = T_i − 1 others, MV_i − 2(c+ρ)√(L/2s) ≤ B_i ≤ B_* ≤ MV_*.
    """
    pulls = over(2.0 * (c + problem.rho) ** 2 * log_term, problem.gaps**2) + 1.0
    return np.minimum(pulls, float(problem.horizon))


def pseudo_regret_at(problem: Problem, pulls: Array) -> float:
    """Definition 3 with at most `pulls` of each arm but the best, and at most n of the best."""
    n = problem.horizon
    share = pulls / n
    cross = share @ problem.between @ share
    return float(share @ problem.gaps + 4.0 * share @ problem.from_best + 2.0 * cross)


def printed_excess(problem: Problem, log_term: float) -> float:
    """(5+ρ)√(2KL/n) + 4√2 KL/n, Lemma 1's distance between regret and pseudo-regret."""
    per_round = problem.n_arms * log_term / problem.horizon
    return (PAPER_CONSTANT + problem.rho) * math.sqrt(2.0 * per_round) + 4.0 * math.sqrt(2.0) * per_round


def corrected_excess(problem: Problem, log_term: float) -> float:
    """(5+ρ)√(2(K−1)L/n) + 4(K−1)L/n: only K−1 arms have a gap, and (x+y)² ≤ 2x² + 2y² costs no √2."""
    per_round = (problem.n_arms - 1) * log_term / problem.horizon
    return (PAPER_CONSTANT + problem.rho) * math.sqrt(2.0 * per_round) + 4.0 * per_round


def _printed(problem: Problem, log_term: float) -> float:
    """The right-hand side of Theorem 1 in high probability, with L = log(1/δ)."""
    n, scaled = problem.horizon, _b(problem.rho) ** 2 * log_term
    gap = over(scaled, problem.gaps).sum()
    exploration = 4.0 * over(scaled * problem.from_best, problem.gaps**2).sum()
    cross = 2.0 / n * over(scaled**2 * problem.between, np.outer(problem.gaps, problem.gaps) ** 2).sum()
    return float((gap + exploration + cross + 5.0 * problem.n_arms) / n)


def _b(rho: float) -> float:
    return 2.0 * (PAPER_CONSTANT + rho)


def _failure(problem: Problem, level: float) -> float:
    return 6.0 * problem.horizon * problem.n_arms * level


def _widest(problem: Problem) -> float:
    """The largest Γ²."""
    return float(max(problem.from_best.max(initial=0.0), problem.between.max(initial=0.0)))
