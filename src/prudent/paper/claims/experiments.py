"""Claims the paper reads off its simulations (section 5 and appendix D), and its conclusions."""

import math
from itertools import pairwise

import numpy as np

from prudent.arms.continuous import Gaussian
from prudent.bandit import Bandit
from prudent.paper.claims.definitions import play
from prudent.paper.claims.ledger import OUTSIDE, Evidence, claim, judged, mean_se
from prudent.paper.measure import Desk
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATION_2, FIGURE_2, grid_bandit
from prudent.policies.base import Policy
from prudent.policies.exp_exp import ExpExp
from prudent.policies.mv_lcb import MVLCB
from prudent.risk.mean_variance import MeanVariance
from prudent.theory import theorem1_expectation

RHOS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0)


def regrets(desk: Desk, bandit: Bandit, policy: Policy, rho: float, horizons: tuple[int, ...]) -> list[float]:
    """Mean regret at each horizon."""
    return [float(play(desk, bandit, policy, rho, n).regret().mean()) for n in horizons]


@claim("Figure 2, left", "The regret of MV-LCB tends to zero as n grows.")
def tends_to_zero(desk: Desk) -> Evidence:
    """Regret at n = 5,000 … 250,000, and on to 10⁸."""
    found = regrets(desk, FIGURE_2, MVLCB(), 0.0, (5_000, 25_000, 250_000, 10**8))
    return judged(all(b < a for a, b in pairwise(found)), ", ".join(f"{r:.2g}" for r in found))


@claim("Figure 2, left", "Its two parts decrease at the same rate.")
def same_rate(desk: Desk) -> Evidence:
    """Slopes on log-log axes of the gap part and of the exploration part from n = 10⁶ to 10⁸."""
    runs = [play(desk, FIGURE_2, MVLCB(), 0.0, n).regret_parts() for n in (10**6, 10**8)]
    slopes = [math.log(b.mean() / a.mean()) / math.log(100) for a, b in zip(runs[0][:2], runs[1][:2], strict=True)]
    return judged(abs(slopes[0] - slopes[1]) < 0.02, f"slopes {slopes[0]:.3f} (gap) and {slopes[1]:.3f} (exploration)")


@claim("section 5, footnote", "The results extend to the Gaussian arms of the experiments.")
def gaussian_arms(desk: Desk) -> Evidence:
    """Rewards of Figure 2's arms outside [0, 1], and the printed Theorem 1 beside the measured pseudo-regret."""
    inside = min(law.cdf(1.0) - law.cdf(0.0) for law in FIGURE_2.arms)
    bound = theorem1_expectation(FIGURE_2, MeanVariance(0.0), 250_000)
    mean, _ = mean_se(play(desk, FIGURE_2, MVLCB(), 0.0, 250_000).pseudo_regret())
    text = (
        f"only {inside:.0%} of an arm's rewards lie in [0, 1]; measured {mean:.4f}, printed bound {bound.printed:.3f}"
    )
    return judged(mean <= (bound.printed or 0.0), text) if inside == 1.0 else Evidence(OUTSIDE, text)


@claim("Figure 2, right", "The worst-case regret of MV-LCB stabilises to a constant.")
def constant_worst_case(desk: Desk) -> Evidence:
    """Equal variances, Γ = 1.1, n = 10⁴, 10⁶, 10⁸, against Γ²/4."""
    found = regrets(desk, grid_bandit(0.4, 0.25), MVLCB(), 0.0, (10**4, 10**6, 10**8))
    ok = all(abs(r / 0.3025 - 1.0) < 0.02 for r in found)
    return judged(ok, ", ".join(f"{r:.4f}" for r in found) + "; Γ²/4 = 0.3025")


@claim("Figure 2, right", "The worst-case regret of ExpExp keeps decreasing.")
def decreasing_worst_case(desk: Desk) -> Evidence:
    """The largest regret over gaps of order n^(−1/3) at Γ = 1.1, n = 10³, 10⁵, 10⁷."""
    worst = []
    for n in (10**3, 10**5, 10**7):
        gaps = (0.0, 0.25 * n ** (-1 / 3), n ** (-1 / 3), min(0.25, 4 * n ** (-1 / 3)))
        worst.append(max(regrets(desk, grid_bandit(0.4, 0.25 - gap), ExpExp(), 0.0, (n,))[0] for gap in gaps))
    return judged(worst[0] > 2 * worst[1] > 4 * worst[2], ", ".join(f"{r:.4f}" for r in worst))


@claim("appendix D.1", "On simple problems (large Δ) MV-LCB converges to zero regret faster than ExpExp.")
def faster_on_simple(desk: Desk) -> Evidence:
    """Δ = 0.25, Γ = 1.1 at n = 50, 2,500, 250,000, MV-LCB with c = 5 against ExpExp."""
    bandit, horizons = grid_bandit(0.4, 0.0), (50, 2_500, 250_000)
    ours, other = (regrets(desk, bandit, policy, 0.0, horizons) for policy in (MVLCB(), ExpExp()))
    shown = "; ".join(f"{a:.2g} against {b:.2g}" for a, b in zip(ours, other, strict=True))
    return judged(ours[-1] < other[-1], f"MV-LCB against ExpExp: {shown}")


@claim("appendix D.1", "At Δ = 0 MV-LCB has a regret that does not decrease with n, while ExpExp's slowly does.")
def equivalent_arms(desk: Desk) -> Evidence:
    """Equal variances, Γ = 1.1, n = 1,000 and 250,000."""
    ours, other = (regrets(desk, grid_bandit(0.4, 0.25), p, 0.0, (1_000, 250_000)) for p in (MVLCB(), ExpExp()))
    ok = abs(ours[1] / ours[0] - 1.0) < 0.05 and other[1] < 0.5 * other[0]
    return judged(ok, f"MV-LCB {ours[0]:.3f} and {ours[1]:.3f}, ExpExp {other[0]:.3f} and {other[1]:.3f}")


@claim("appendix D.2", "A subset of the 15 arms is dominated: best for no ρ.")
def dominated(desk: Desk) -> Evidence:
    """The arms that are best for some ρ in a fine grid of [0, 1000]."""
    rhos = np.concatenate([np.linspace(0.0, 10.0, 20_001), np.geomspace(10.0, 1_000.0, 2_000)])
    never = []
    for bandit in (CONFIGURATION_1, CONFIGURATION_2):
        costs = bandit.variances - rhos[:, None] * bandit.means
        never.append(15 - len(np.unique(costs.argmin(1))))
    return judged(never[0] > 0 and never[1] > 0, f"{never[0]} arms of configuration 1, {never[1]} of configuration 2")


@claim("appendix D.2", "Configuration 2 always has a higher complexity than configuration 1.")
def more_complex(desk: Desk) -> Evidence:
    """Σ1/Δ² of both on 100,001 values of ρ in [0, 10]."""
    rhos = np.linspace(0.0, 10.0, 100_001)
    values = []
    for bandit in (CONFIGURATION_1, CONFIGURATION_2):
        costs = np.sort(bandit.variances - rhos[:, None] * bandit.means, axis=1)
        with np.errstate(divide="ignore"):
            values.append((1.0 / (costs[:, 1:] - costs[:, :1]) ** 2).sum(1))
    share = float((values[0] > values[1]).mean())
    return judged(share == 0.0, f"configuration 1 is the more complex on {share:.1%} of the range, around its ties")


@claim("appendix D.2", "On both configurations both algorithms approach the best arm as n grows, for every ρ.")
def approach(desk: Desk) -> Evidence:
    """Regret at n = 1,000 and 250,000 for nine values of ρ."""
    shrink = []
    for bandit in (CONFIGURATION_1, CONFIGURATION_2):
        for policy in (MVLCB(), ExpExp()):
            pairs = [regrets(desk, bandit, policy, rho, (1_000, 250_000)) for rho in RHOS]
            shrink.append(max(late / early for early, late in pairs))
    return judged(max(shrink) < 0.9, f"the largest ratio of late to early regret is {max(shrink):.2f}")


def _better(desk: Desk, bandit: Bandit, horizon: int) -> int:
    """For how many values of ρ MV-LCB has the smaller regret."""
    pairs = [[regrets(desk, bandit, p, rho, (horizon,))[0] for p in (MVLCB(), ExpExp())] for rho in RHOS]
    return sum(ours < other for ours, other in pairs)


@claim("appendix D.2", "On configuration 1 MV-LCB outperforms ExpExp and converges faster.")
def easy_configuration(desk: Desk) -> Evidence:
    """For how many of nine values of ρ its regret is smaller, at n = 2,500 and 250,000, c = 5."""
    early, late = (_better(desk, CONFIGURATION_1, n) for n in (2_500, 250_000))
    return judged(late == len(RHOS), f"for {early} of {len(RHOS)} values at n = 2,500, for {late} at n = 250,000")


@claim("appendix D.2", "On configuration 2 ExpExp eventually does better for some values of ρ.")
def hard_configuration(desk: Desk) -> Evidence:
    """For how many of nine values of ρ ExpExp's regret is smaller, n = 250,000."""
    other = len(RHOS) - _better(desk, CONFIGURATION_2, 250_000)
    return judged(other > 0, f"for {other} of {len(RHOS)} values at n = 250,000")


@claim("section 7", "On easy problems MV-LCB has a regret of order √(K/n).")
def conclusions_rate(desk: Desk) -> Evidence:
    """The slope on log-log axes from n = 10⁶ to 10⁸, Figure 2's arms, against −1/2."""
    early, late = regrets(desk, FIGURE_2, MVLCB(), 0.0, (10**6, 10**8))
    slope = math.log(late / early) / math.log(100)
    return judged(abs(slope + 0.5) < 0.1, f"slope {slope:.2f}: it falls much faster, as O(log n/n) says", slope < -0.6)


@claim("section 7", "ExpExp achieves the same worst-case rate K/n^{1/3} over all problems.")
def exp_exp_rate(desk: Desk) -> Evidence:
    """The slope of its worst regret over gaps of order n^(−1/3), from n = 10⁴ to 10⁸."""
    worst = []
    for n in (10**4, 10**8):
        gaps = np.array([0.0, 0.25, 0.5, 1.0, 2.0]) * n ** (-1 / 3)
        arms = [Bandit([Gaussian(1.5, 0.25 - gap), Gaussian(0.4, 0.25)]) for gap in gaps]
        worst.append(max(regrets(desk, bandit, ExpExp(), 0.0, (n,))[0] for bandit in arms))
    slope = math.log(worst[1] / worst[0]) / math.log(10**4)
    return judged(abs(slope + 1 / 3) < 0.05, f"slope {slope:.3f}")
