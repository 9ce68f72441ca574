"""Claims the paper reads off its simulations (section 5 and appendix D), and its conclusions."""

from collections.abc import Sequence

import numpy as np

from prudent import MVLCB, Bandit, ExpExp, MeanVariance, Runs
from prudent.paper import configurations
from prudent.paper.claims.ledger import OUTSIDE, Evidence, claim, judged, on, regrets
from prudent.paper.making import point
from prudent.paper.problems import ALGORITHMS, CONFIGURATION_1, CONFIGURATION_2, CONFIGURATIONS, FIGURE_2, grid_bandit
from prudent.rates import end_slope
from prudent.study import Labelled
from prudent.theory import theorem1_expectation

RHOS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0)
BOTH = ALGORITHMS.values()
EASY = {n: point(FIGURE_2, MVLCB(), 0.0, n) for n in (5_000, 25_000, 250_000, 10**6, 10**8)}
"""MV-LCB on the arms of Figure 2, left."""


@claim("Figure 2, left", "The regret of MV-LCB tends to zero as n grows.")
@on(*[EASY[n] for n in (5_000, 25_000, 250_000, 10**8)])
def tends_to_zero(*found: Runs) -> Evidence:
    """Regret at n = 5,000 … 250,000, and on to 10⁸."""
    values = regrets(found)
    return judged(bool((np.diff(values) < 0.0).all()), ", ".join(f"{r:.2g}" for r in values))


@claim("Figure 2, left", "Its two parts decrease at the same rate.")
@on(EASY[10**6], EASY[10**8])
def same_rate(*found: Runs) -> Evidence:
    """Slopes on log-log axes of the gap part and of the exploration part from n = 10⁶ to 10⁸."""
    horizons, parts = [runs.horizon for runs in found], [runs.regret_parts() for runs in found]
    slopes = [end_slope(horizons, [part[i].mean() for part in parts]) for i in range(2)]
    return judged(abs(slopes[0] - slopes[1]) < 0.02, f"slopes {slopes[0]:.3f} (gap) and {slopes[1]:.3f} (exploration)")


@claim("section 5, footnote", "The results extend to the Gaussian arms of the experiments.")
@on(EASY[250_000])
def gaussian_arms(runs: Runs) -> Evidence:
    """Rewards of Figure 2's arms outside [0, 1], and the printed Theorem 1 beside the measured pseudo-regret."""
    inside = min(law.cdf(1.0) - law.cdf(0.0) for law in FIGURE_2.arms)
    bound = theorem1_expectation(FIGURE_2, MeanVariance(0.0), 250_000)
    mean = float(runs.pseudo_regret().mean())
    found = f"measured {mean:.4f}, printed bound {bound.printed:.3f}"
    text = f"only {inside:.0%} of an arm's rewards lie in [0, 1]; {found}"
    return judged(mean <= (bound.printed or 0.0), text) if inside == 1.0 else Evidence(OUTSIDE, text)


@claim("Figure 2, right", "The worst-case regret of MV-LCB stabilises to a constant.")
@on(*[point(grid_bandit(0.4, 0.25), MVLCB(), 0.0, n) for n in (10**4, 10**6, 10**8)])
def constant_worst_case(*found: Runs) -> Evidence:
    """Equal variances, Γ = 1.1, n = 10⁴, 10⁶, 10⁸, against Γ²/4."""
    ok = all(abs(r / 0.3025 - 1.0) < 0.02 for r in regrets(found))
    return judged(ok, ", ".join(f"{r:.4f}" for r in regrets(found)) + "; Γ²/4 = 0.3025")


def near_the_worst(horizons: Sequence[int], multiples: Sequence[float]) -> list[Labelled]:
    """ExpExp at Γ = 1.1 and gaps of order n^(−1/3), the gap changing fastest."""
    gaps = [(n, min(0.25, multiple * n ** (-1 / 3))) for n in horizons for multiple in multiples]
    return [point(grid_bandit(0.4, 0.25 - gap), ExpExp(), 0.0, n) for n, gap in gaps]


@claim("Figure 2, right", "The worst-case regret of ExpExp keeps decreasing.")
@on(*near_the_worst((10**3, 10**5, 10**7), (0.0, 0.25, 1.0, 4.0)))
def decreasing_worst_case(*found: Runs) -> Evidence:
    """The largest regret over gaps of order n^(−1/3) at Γ = 1.1, n = 10³, 10⁵, 10⁷."""
    worst = regrets(found).reshape(3, 4).max(1)
    return judged(worst[0] > 2 * worst[1] > 4 * worst[2], ", ".join(f"{r:.4f}" for r in worst))


@claim("appendix D.1", "On simple problems (large Δ) MV-LCB converges to zero regret faster than ExpExp.")
@on(*[point(grid_bandit(0.4, 0.0), policy, 0.0, n) for policy in BOTH for n in (50, 2_500, 250_000)])
def faster_on_simple(*found: Runs) -> Evidence:
    """Δ = 0.25, Γ = 1.1 at n = 50, 2,500, 250,000, MV-LCB with c = 5 against ExpExp."""
    ours, other = regrets(found).reshape(2, 3)
    shown = "; ".join(f"{a:.2g} against {b:.2g}" for a, b in zip(ours, other, strict=True))
    return judged(ours[-1] < other[-1], f"MV-LCB against ExpExp: {shown}")


@claim("appendix D.1", "At Δ = 0 MV-LCB has a regret that does not decrease with n, while ExpExp's slowly does.")
@on(*[point(grid_bandit(0.4, 0.25), policy, 0.0, n) for policy in BOTH for n in (1_000, 250_000)])
def equivalent_arms(*found: Runs) -> Evidence:
    """Equal variances, Γ = 1.1, n = 1,000 and 250,000."""
    ours, other = regrets(found).reshape(2, 2)
    ok = abs(ours[1] / ours[0] - 1.0) < 0.05 and other[1] < 0.5 * other[0]
    return judged(ok, f"MV-LCB {ours[0]:.3f} and {ours[1]:.3f}, ExpExp {other[0]:.3f} and {other[1]:.3f}")


@claim("appendix D.2", "A subset of the 15 arms is dominated: best for no ρ.")
def dominated() -> Evidence:
    """The arms that lie above the lower envelope of the lines σ² − ρμ, in exact arithmetic."""
    one, two = (len(configurations.dominated(bandit)) for bandit in CONFIGURATIONS.values())
    return judged(one > 0 and two > 0, f"{one} arms of configuration 1, {two} of configuration 2")


@claim("appendix D.2", "Configuration 2 always has a higher complexity than configuration 1.")
def more_complex() -> Evidence:
    """Σ1/Δ² of both on 100,001 values of ρ in [0, 10]."""
    rhos = np.linspace(0.0, 10.0, 100_001)
    one, two = (configurations.complexity(bandit, rhos) for bandit in CONFIGURATIONS.values())
    share = float((one > two).mean())
    return judged(share == 0.0, f"configuration 1 is the more complex on {share:.1%} of the range, around its ties")


def over_rho(bandit: Bandit, *horizons: int) -> list[Labelled]:
    """Both algorithms at every ρ and these horizons, the horizon changing fastest."""
    return [point(bandit, policy, rho, n) for policy in BOTH for rho in RHOS for n in horizons]


def wins(found: Sequence[Runs]) -> list[int]:
    """For how many values of ρ MV-LCB has the smaller regret, in each stretch of its runs and as many of ExpExp."""
    ours, other = regrets(found).reshape(-1, 2, len(RHOS)).swapaxes(0, 1)
    return [int(count) for count in (ours < other).sum(1)]


@claim("appendix D.2", "On both configurations both algorithms approach the best arm as n grows, for every ρ.")
@on(*over_rho(CONFIGURATION_1, 1_000, 250_000), *over_rho(CONFIGURATION_2, 1_000, 250_000))
def approach(*found: Runs) -> Evidence:
    """Regret at n = 1,000 and 250,000 for nine values of ρ."""
    early, late = regrets(found).reshape(-1, 2).T
    largest = max(late / early)
    return judged(largest < 0.9, f"the largest ratio of late to early regret is {largest:.2f}")


@claim("appendix D.2", "On configuration 1 MV-LCB outperforms ExpExp and converges faster.")
@on(*over_rho(CONFIGURATION_1, 2_500), *over_rho(CONFIGURATION_1, 250_000))
def easy_configuration(*found: Runs) -> Evidence:
    """For how many of nine values of ρ its regret is smaller, at n = 2,500 and 250,000, c = 5."""
    early, late = wins(found)
    return judged(late == len(RHOS), f"for {early} of {len(RHOS)} values at n = 2,500, for {late} at n = 250,000")


@claim("appendix D.2", "On configuration 2 ExpExp eventually does better for some values of ρ.")
@on(*over_rho(CONFIGURATION_2, 250_000))
def hard_configuration(*found: Runs) -> Evidence:
    """For how many of nine values of ρ ExpExp's regret is smaller, n = 250,000."""
    other = len(RHOS) - wins(found)[0]
    return judged(other > 0, f"for {other} of {len(RHOS)} values at n = 250,000")


@claim("section 7", "On easy problems MV-LCB has a regret of order √(K/n).")
@on(EASY[10**6], EASY[10**8])
def conclusions_rate(*found: Runs) -> Evidence:
    """The slope on log-log axes from n = 10⁶ to 10⁸, Figure 2's arms, against −1/2."""
    slope = end_slope([runs.horizon for runs in found], regrets(found))
    return judged(abs(slope + 0.5) < 0.1, f"slope {slope:.2f}: it falls much faster, as O(log n/n) says", slope < -0.6)


@claim("section 7", "ExpExp achieves the same worst-case rate K/n^(1/3) over all problems.")
@on(*near_the_worst((10**4, 10**8), (0.0, 0.25, 0.5, 1.0, 2.0)))
def exp_exp_rate(*found: Runs) -> Evidence:
    """The slope of its worst regret over gaps of order n^(−1/3), from n = 10⁴ to 10⁸."""
    slope = end_slope((10**4, 10**8), regrets(found).reshape(2, 5).max(1))
    return judged(abs(slope + 1 / 3) < 0.05, f"slope {slope:.3f}")
