"""The upper bounds of the paper: Lemmas 1 and 2, Theorem 1 and its remarks for MV-LCB, Theorem 2 for ExpExp."""

import math

import numpy as np

from prudent.bandit import Bandit
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_integer, shown
from prudent.base.text import number, page
from prudent.policies.exp_exp import RULES
from prudent.policies.helpers import exploring_pulls
from prudent.risk.mean_variance import MeanVariance
from prudent.theory.bound import PSEUDO, Bound, Condition, Instance, largest_regret, over

_REGRET = "the regret of rewards in this interval"


def lemma2(bandit: Bandit, risk: MeanVariance | str, horizon: int, delta: float | None = None) -> Bound:
    """P(some arm's MV̂ after some s ≤ n samples is off by (5+ρ)√(log(1/δ)/2s) or more) ≤ 6nKδ."""
    instance = Instance.of("lemma2", bandit, risk, horizon, delta)
    events = instance.horizon * instance.n_arms * instance.delta
    return Bound(
        "Lemma 2",
        "P(some |MV̂ − MV| ≥ (5+ρ)√(log(1/δ)/2s))",
        "[Sani12], Lemma 2 (l:ch.mean-var)",
        6.0 * events,
        2.0 * events,
        "true as printed; bounded differences of MV̂ itself need 2 events per arm and round, not 6",
        needs=(instance.bounded,),
        limit=(1.0, "a probability"),
    )


def pulls_bound(
    bandit: Bandit, risk: MeanVariance | str, horizon: int, delta: float | None = None, arm: int | None = None
) -> Bound:
    """T_i ≤ b² log(1/δ)/(2Δ_i²) + 1 with b = 2(5+ρ), for one arm (from 0) or for all but the best together."""
    instance = Instance.of("pulls_bound", bandit, risk, horizon, delta)
    log_term = math.log(1.0 / instance.delta)
    printed = over(instance.b**2 * log_term, instance.gaps**2) + 1.0
    corrected = most_pulls(instance, log_term)
    who = "pulls of all arms but the best"
    if arm is not None:
        arm = check_integer("pulls_bound", "arm", arm, low=0, high=instance.n_arms - 1, hint="arms count from 0")
        who = f"pulls of {bandit.names[arm]}"
        # Nothing but the horizon limits how often the best arm is pulled.
        best, n = bandit.best(risk), instance.horizon
        printed, corrected = (np.insert(pulls, best, n)[[arm]] for pulls in (printed, corrected))
    return Bound(
        "Pulls bound",
        f"{who}, except with probability {number(instance.failure, 3)}",
        "[Sani12], proof of Theorem 1 (App. B) and the lemma commented out in sec. 3.2 (l:expected)",
        float(printed.sum()),
        min(float(corrected.sum()), float(instance.horizon)),
        "b²/2 for b², as in the proof, and never more than n",
        needs=(instance.bounded,),
        needs_as_printed=(instance.unique,),
        needs_of_horizon=(instance.informative, instance.playable),
        limit=(float(instance.horizon), "the number of pulls"),
    )


def theorem1_high_probability(
    bandit: Bandit, risk: MeanVariance | str, horizon: int, delta: float | None = None
) -> Bound:
    """Pseudo-regret of MV-LCB run with δ, except with probability 6nKδ (Theorem 1, first half)."""
    instance = Instance.of("theorem1_high_probability", bandit, risk, horizon, delta)
    log_term = math.log(1.0 / instance.delta)
    return Bound(
        "Theorem 1, high probability",
        f"pseudo-regret of MV-LCB, except with probability {number(instance.failure, 3)}",
        "[Sani12], Theorem 1 (thm:mvlcb.regret)",
        _printed(instance, log_term),
        _pseudo_regret_at(instance, most_pulls(instance, log_term)),
        "the proof's own pulls put into Definition 3 (b²/2 for b², at most n); then no gap need be above 0",
        needs=(instance.bounded,),
        needs_as_printed=(instance.unique,),
        needs_of_horizon=(instance.informative, instance.playable),
        limit=(instance.largest_pseudo_regret, PSEUDO),
    )


def theorem1_expectation(bandit: Bandit, risk: MeanVariance | str, horizon: int) -> Bound:
    """E[pseudo-regret] of MV-LCB run with δ = 1/n² (Theorem 1, second half)."""
    instance = Instance.of("theorem1_expectation", bandit, risk, horizon)
    n, log_term = instance.horizon, 2.0 * math.log(instance.horizon)
    printed = _printed(instance, log_term) + (12.0 + 6.0 * instance.rho) * instance.n_arms / n
    corrected = _pseudo_regret_at(instance, most_pulls(instance, log_term))
    corrected += instance.largest_pseudo_regret * 2.0 * instance.n_arms / n
    return Bound(
        "Theorem 1, expectation",
        "expected pseudo-regret of MV-LCB",
        "[Sani12], Theorem 1 (thm:mvlcb.regret)",
        printed,
        corrected,
        "the proof's own pulls put into Definition 3; plus 2nKδ times these arms' largest pseudo-regret",
        needs=(instance.bounded,),
        needs_as_printed=(instance.unique,),
        needs_of_horizon=(instance.playable,),
        limit=(instance.largest_pseudo_regret, PSEUDO),
    )


def theorem1_sharp(bandit: Bandit, risk: MeanVariance | str, horizon: int) -> Bound:
    """Theorem 1 in expectation for MVLCB.sharp(): width (1+ρ)√(log(1/δ)/2s) around the unbiased variance, δ = 1/n²."""
    instance = Instance.of("theorem1_sharp", bandit, risk, horizon)
    n, k = instance.horizon, instance.n_arms
    # The index needs two pulls, hence at least 2 in place of 1.
    pulls = np.maximum(most_pulls(instance, 2.0 * math.log(n), c=1.0), min(2, n))
    return Bound(
        "Theorem 1 for the sharp width",
        "expected pseudo-regret of sharp MV-LCB",
        f"{page('theory')}; not in the paper",
        None,
        _pseudo_regret_at(instance, pulls) + instance.largest_pseudo_regret * 2.0 * k / n,
        "1+ρ in place of 5+ρ",
        needs=(instance.bounded,),
        needs_of_horizon=(Condition(f"n ≥ 2K: {n} ≥ {2 * k}", n >= 2 * k),),
        limit=(instance.largest_pseudo_regret, PSEUDO),
    )


def corollary(bandit: Bandit, risk: MeanVariance | str, horizon: int) -> Bound:
    """E[regret] of MV-LCB run with δ = 1/n²: Theorem 1 and Lemma 1 on one event, else the largest regret."""
    instance = Instance.of("corollary", bandit, risk, horizon)
    n, k, rho = instance.horizon, instance.n_arms, instance.rho
    log_term = 2.0 * math.log(n)
    printed = _printed(instance, log_term) + excess(instance, log_term, printed=True) + (0.25 + rho) * 6.0 * k / n
    corrected = _pseudo_regret_at(instance, most_pulls(instance, log_term)) + excess(instance, log_term)
    corrected += largest_regret(rho) * (4.0 * n * k + 2.0 * (k - 1)) / n**2
    return Bound(
        "Corollary",
        "expected regret of MV-LCB",
        "[Sani12], App. B, after the proof of Theorem 1",
        printed,
        corrected,
        "Theorem 1 and Lemma 1 as corrected; 4nK + 2(K−1) events, the twins among them",
        needs=(instance.bounded,),
        needs_as_printed=(instance.unique,),
        needs_of_horizon=(instance.playable,),
        limit=(largest_regret(rho, instance.span), _REGRET),
    )


def lemma1(bandit: Bandit, risk: MeanVariance | str, horizon: int, delta: float | None = None) -> Bound:
    """regret − pseudo-regret of any policy, except with probability δ (δ is here the whole probability of failure)."""
    instance = Instance.of("lemma1", bandit, risk, horizon, delta)
    n, k, level = instance.horizon, instance.n_arms, instance.delta
    return Bound(
        "Lemma 1",
        f"regret − pseudo-regret of any policy, except with probability {number(level, 3)}",
        "[Sani12], Lemma 1 (l:psuedo.regret)",
        excess(instance, math.log(6.0 * n * k / level), printed=True),
        excess(instance, math.log((4.0 * n * k + 2.0 * (k - 1)) / level)),
        "true as printed, though the proof leaves out the twins; 4(K−1) for 4√2 K, K−1 for K under the root",
        needs=(instance.bounded,),
        needs_of_horizon=(Condition(f"0 < δ < 1: {number(level, 3)}", level < 1.0),),
        limit=(largest_regret(instance.rho, instance.span), _REGRET),
    )


def remark1_rate(bandit: Bandit, risk: MeanVariance | str, horizon: int) -> Bound:
    """Theorem 1 without constants and b: K/Δ log n/n + K² Γ²/Δ⁴ log²n/n, with the largest Γ and the smallest Δ."""
    instance = Instance.of("remark1_rate", bandit, risk, horizon)
    n, widest, arms_log = instance.horizon, instance.widest, instance.n_arms * math.log(instance.horizon)
    smallest = instance.gaps.min(initial=math.inf, keepdims=True)
    first = over(arms_log / n, smallest)
    middle = over(arms_log / n * widest, smallest**2)
    last = over(arms_log**2 / n * widest, smallest**4)
    return Bound(
        "Remark 1, rate",
        "expected pseudo-regret of MV-LCB, up to a constant",
        "[Sani12], Remark 1 after Theorem 1",
        (first + last).item(),
        (first + middle + last / n).item(),
        "log²n/n² for log²n/n; the term K Γ²/Δ² log n/n, covered before, is added: O(log n/n) in all",
        needs=(instance.bounded, instance.unique),
        remark="a rate; its constant grows with b²",
    )


def worst_case(bandit: Bandit, risk: MeanVariance | str, horizon: int) -> Bound:
    """Remark 2: on two deterministic arms, ρ = 0, MV-LCB's indices depend only on the pulls; it alternates, and its
    regret is exactly T₁T₂Γ²/n², with Γ here the largest difference of two means."""
    instance = Instance.of("worst_case", bandit, risk, horizon)
    n, widest = instance.horizon, instance.widest
    constant = instance.n_arms == 2 and not bandit.variances.any()
    return Bound(
        "Remark 2, worst case",
        "regret of MV-LCB on two deterministic arms as far apart as these, ρ = 0",
        "[Sani12], Remark 2 after Theorem 1",
        0.25 * widest,
        (n // 2) * (n - n // 2) / n**2 * widest,
        "an odd n splits unevenly, (n²−1)Γ²/4n²; the printed index should read −(5+ρ)√(log(1/δ)/2s)",
        needs=(Condition("two deterministic arms", constant), Condition("ρ = 0", instance.rho == 0.0)),
        remark="does not decrease with n, as on any bandit whose best arms tie and have different means",
    )


def most_pulls(instance: Instance, log_term: float, c: float = 5.0) -> Array:
    """min(n, 2(c+ρ)² L/Δ_i² + 1) for the arms other than the best; c = 5 is the paper's, c = 1 the sharp constant."""
    pulls = over(2.0 * (c + instance.rho) ** 2 * log_term, instance.gaps**2) + 1.0
    return np.minimum(pulls, float(instance.horizon))


def _pseudo_regret_at(instance: Instance, pulls: Array) -> float:
    """Definition 3 with at most `pulls` of each arm but the best, and at most n of the best."""
    share = pulls / instance.horizon
    cross = share @ instance.between @ share
    return float(share @ instance.gaps + 4.0 * share @ instance.from_best + 2.0 * cross)


def excess(instance: Instance, log_term: float, *, printed: bool = False) -> float:
    """(5+ρ)√(2mL/n) + cmL/n, Lemma 1's distance between regret and pseudo-regret; m = K, c = 4√2 or m = K−1, c = 4."""
    arms, factor = (instance.n_arms, 4.0 * math.sqrt(2.0)) if printed else (instance.n_arms - 1, 4.0)
    per_round = arms * log_term / instance.horizon
    return (5.0 + instance.rho) * math.sqrt(2.0 * per_round) + factor * per_round


def _printed(instance: Instance, log_term: float) -> float:
    """The right-hand side of Theorem 1 in high probability, with L = log(1/δ)."""
    n, scaled = instance.horizon, instance.b**2 * log_term
    gap = over(scaled, instance.gaps).sum()
    exploration = 4.0 * over(scaled * instance.from_best, instance.gaps**2).sum()
    cross = 2.0 / n * over(scaled**2 * instance.between, np.outer(instance.gaps, instance.gaps) ** 2).sum()
    return float((gap + exploration + cross + 5.0 * instance.n_arms) / n)


PRINTED = {
    "theorem": (2.0, "Theorem 2", "ExpExp", "Theorem 2 (thm:ee.regret)"),
    "appendix": (3.0, "Theorem 2, appendix", 'ExpExp, rule="appendix"', "App. C, last line"),
}
"""The constant before K/n^{1/3}, with τ = K(n/14)^{2/3} in sec. 4 and τ = K(n/4)^{2/3} in App. C; then its names."""

EXPLORING = 4.25
"""A gap is at most 1/4 + ρ, and Definition 3 counts the variance of the means, which is at most 1, four times."""


def theorem2(bandit: Bandit, risk: MeanVariance | str, horizon: int, rule: str = "theorem") -> Bound:
    """E[pseudo-regret] of ExpExp, whatever the arms: 2K/n^{1/3}, or 3K/n^{1/3} with the appendix's τ."""
    if not isinstance(rule, str) or rule not in PRINTED:
        raise PrudentError(f"theorem2: rule must be one of {', '.join(PRINTED)}, got {shown(rule)}")
    instance = Instance.of("theorem2", bandit, risk, horizon)
    n, k, rho = instance.horizon, instance.n_arms, instance.rho
    each = exploring_pulls(n, k, RULES[rule])
    constant, name, policy, where = PRINTED[rule]
    printed = constant * k / n ** (1.0 / 3.0)
    corrected = explore_then_commit(n, k, rho, each) if each else None
    safe = rho == 0.0 or (corrected is not None and corrected <= printed)
    return Bound(
        name,
        f"expected pseudo-regret of {policy}",
        f"[Sani12], {where}",
        printed,
        corrected,
        "the deviation, bias and gaps of the mean-variance for those of the variance; m as it is rounded",
        needs=(instance.bounded,),
        needs_as_printed=(Condition("ρ = 0, or the corrected value is no larger", safe),),
        needs_of_horizon=(instance.playable,),
        limit=(instance.largest_pseudo_regret, PSEUDO),
    )


def explore_then_commit(horizon: int, n_arms: int, rho: float, each: int) -> float:
    """(4.25+ρ)(K−1)m/n + (1 − Km/n)(K−1) times the cost of a wrong arm, for m pulls each (docs: theory).

    The first term is the price of exploring, the second that of committing to a wrong arm.
    """
    committed = 1.0 - n_arms * each / horizon
    return (n_arms - 1) * ((EXPLORING + rho) * each / horizon + committed * wrong_arm(rho, each))


def wrong_arm(rho: float, each: int) -> float:
    """(1+ρ)/√(2em) + β, β = 1/(4m) if ρ > 0 and 0 if not: the largest gap times the chance to commit to its arm."""
    bias = 0.25 / each if rho > 0.0 else 0.0
    return (1.0 + rho) / math.sqrt(2.0 * math.e * each) + bias
